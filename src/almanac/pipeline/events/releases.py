"""Updating of the events of releases, meetings and policy rates from calendars and vintages."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from almanac.catalog.records import Catalog, CatalogError, simulated_copy
from almanac.catalog.releases import check, meetings, shipped, simulated
from almanac.domain.events import EventState, event_id
from almanac.domain.periods import Frequency
from almanac.domain.releases import Published, Release, ReleaseCalendar, ReleaseCalendarEntry, published
from almanac.domain.times import midnight
from almanac.pipeline.derive.derivation import Changes
from almanac.pipeline.events.rate_changes import rate_changes
from almanac.pipeline.events.release_states import (
    NOTICE,
    Announced,
    Planned,
    States,
    by_days,
    by_entries,
    in_state,
    meeting,
    meeting_states,
    notice_states,
    other_states,
    release_states,
)
from almanac.sources.base import Parsed
from almanac.store.engine.data_schema import meta, set_meta
from almanac.store.engine.protocol import Database
from almanac.store.events import events
from almanac.store.events import releases as store
from almanac.store.log.payloads import PayloadRow
from almanac.store.observations.writing.batch import Batch

#: Source of the meetings that ship with the package; its simulated copy is named after it.
BANKS = "central-bank-calendars"
_MEETING, _RATE = "policy_meeting", "policy_rate"
_ENTERED = "meetings"

#: Sets the states of events at a data version, and returns whether anything changed.
Put = Callable[[Database, int, Mapping[str, Sequence[EventState]]], bool]
#: States of the events of a source (None: of all), of a type, in a place.
_Group = tuple[States, str | None, str, str]


class ReleaseEvents:
    """
    The events of one store. `note` calendars, and `run` after derivation.

    Raises CatalogError if the table of releases does not fit the catalogue.
    """

    def __init__(
        self, catalog: Catalog, db: Database, orders: Mapping[str, Sequence[str]], *, simulated_world: bool
    ) -> None:
        problems = list(check(shipped(), catalog))
        if problems:
            raise CatalogError("\n".join(problems))
        self._catalog = catalog
        self._db = db
        self._orders = orders
        self._simulated = simulated_world
        #: The simulated calendar of meetings, or None.
        self._meetings = simulated_copy(BANKS, catalog.sources)
        self.releases: tuple[Release, ...] = simulated(shipped(), catalog.sources) if simulated_world else shipped()
        self._by_type = {one.type: one for one in self.releases}
        self._by_headline: dict[str, list[Release]] = {}
        for one in self.releases:
            self._by_headline.setdefault(one.headline, []).append(one)
        self._calendars: dict[str, list[tuple[Release, ReleaseCalendar]]] = {}
        for one in self.releases:
            for calendar in one.calendars:
                self._calendars.setdefault(calendar.source, []).append((one, calendar))
        self._touched: set[str] = set()

    def forget(self) -> None:
        """Discard what was noted by a batch that was undone."""
        self._touched.clear()

    # -- what calendars say ---------------------------------------------------------------------------------------------

    def note(self, row: PayloadRow, parsed: Parsed) -> None:
        """Store a payload's calendar entries. Its release days (`Parsed.release_dates`) are already in the store."""
        entries = []
        for one in parsed.calendar:
            fields = {name: getattr(one, name) for name in ("uid", "start", "zone", "status", "period", "url")}
            entries.append((one.release, ReleaseCalendarEntry(day=one.day.toordinal(), **fields)))
        if entries:
            store.put_entries(self._db, row, entries)
        if parsed.calendar or parsed.release_dates:
            self._touched.add(row.source)

    # -- events ---------------------------------------------------------------------------------------------------------

    def run(self, batch: Batch, changes: Changes) -> None:
        """Update events after changes of series and noted calendars, inside the batch that changed them."""
        for group in self._groups(changes, self._touched):
            self._replace(batch, *group)
        self._touched.clear()

    def recompute(self, batch: Batch, put: Put = events.replace) -> int:
        """
        Recompute every event and write the differences. Returns how many groups of events differed: 0 in a healthy
        store.

        `put` takes the arguments of `events.replace`, and may just compare.
        """
        every = store.series_of(self._db, {*self._by_headline, _RATE})
        groups = self._groups(every, {*self._calendars, *filter(None, [self._meetings])})
        return sum(self._replace(batch, *group, put) for group in groups)

    def _groups(self, changed_series: Iterable[str], sources: Collection[str]) -> Iterator[_Group]:
        """Yield the groups of events that depend on series, or on calendars of sources."""
        parts = {(release.type, c.country) for source in sources for release, c in self._calendars.get(source, ())}
        rates: set[str] = set()
        for series in changed_series:
            _, entity, indicator, frequency, *variant = series.split(":")
            if not variant:
                parts.update((release.type, entity) for release in self._by_headline.get(indicator, ()))
                if indicator == _RATE and frequency == Frequency.DAILY:
                    rates.add(series)
        for kind, entity in sorted(parts):
            release = self._by_type[kind]
            if release.exists_in(entity):
                yield self._of_release(release, entity), None, kind, entity
        for series in sorted(rates):
            source, entity, *_ = series.split(":")
            target = rate_changes(store.stated(self._db, series), source, self._place(entity))
            yield target, source, "policy_rate_change", entity
        for source in sorted(set(sources) & set(self._calendars)):
            # Calendar entries without a release of ours. A bare list of days makes no events.
            listed = self._calendars[source]
            place = self._place(listed[0][1].country)
            target = {}
            for native in sorted({*store.natives(self._db, source)} - {calendar.native for _, calendar in listed}):
                target |= notice_states(store.entries(self._db, source, native), source, native, place)
            yield target, source, NOTICE, place[0]
        if self._meetings is not None and self._meetings in sources:
            for bank in meetings().bank:
                entries = store.entries(self._db, self._meetings, bank.name)
                target = meeting_states(entries, self._meetings, bank.name, bank.name, bank.country)
                yield target, self._meetings, _MEETING, bank.country

    def _of_release(self, release: Release, entity: str) -> States:
        """Return the events of a release in one place, one per period, from all calendars and sources."""
        order = list(self._orders.get(release.headline, ()))
        #: Sources of the release's numbers by preference, each with its publications.
        out: dict[Frequency, list[tuple[str, list[Published]]]] = defaultdict(list)
        for data in sorted(
            store.sources_of(self._db, release.headline, entity),
            key=lambda source: (order.index(source) if source in order else len(order), source),
        ):
            for frequency in release.frequencies:
                series = f"{data}:{entity}:{release.headline}:{frequency.value}"
                vintages = store.stated(self._db, series)
                if vintages:
                    dated = all(vintage.released is not None for vintage in vintages)
                    messages = {} if dated else store.messages(self._db, series)
                    out[frequency].append((data, published(vintages, frequency, messages)))
                    break
        announced: dict[Frequency, Announced] = defaultdict(dict)
        target: States = {}
        spoken: set[int] = set()
        for calendar in release.calendars:
            if calendar.country != entity:
                continue
            came_out = [publication for _, publications in out[calendar.frequency] for publication in publications]
            entries = list(store.entries(self._db, calendar.source, calendar.native))
            found = by_entries(entries, calendar, came_out)
            days = store.days(self._db, calendar.source, calendar.native)
            plans = by_days(days, calendar, spoken) | found.by_period
            before = announced[calendar.frequency]
            announced[calendar.frequency] = {about: (calendar, states) for about, states in plans.items()} | before
            target |= other_states(release, self._place(entity), calendar, found.others)
            spoken.update(entry.day for _, entry in entries)
        for frequency in out.keys() | announced.keys():
            target |= release_states(release, self._place(entity), announced[frequency], out[frequency], frequency)
        return target

    def _replace(
        self, batch: Batch, target: States, source: str | None, kind: str, entity: str, put: Put = events.replace
    ) -> bool:
        """
        Replace the events of a source (None: of all), type and place. Existing events that are not in `target` are
        removed.
        """
        gone: States = {identifier: [] for identifier in store.events_of(self._db, source, kind, entity)}
        changed = put(self._db, batch.version, gone | target)
        if changed:
            batch.touch()
        return changed

    def _place(self, entity: str) -> tuple[str, str]:
        held = self._catalog.entities.get(entity)
        return entity, entity if held is None else held.name

    # -- meetings -------------------------------------------------------------------------------------------------------

    def meetings_differ(self) -> bool:
        """Return whether the stored meetings differ from the package's. A simulated world should have none of those."""
        return (meta(self._db, _ENTERED) or "") != self._digest()

    def write_meetings(self, batch: Batch) -> None:
        """
        Store the meetings that ship with the package, as part of a batch.

        In a simulated world they are removed: an empty store counts as a real one until it is filled.
        """
        held = meetings()
        known = midnight(held.entered.toordinal())
        for bank in held.bank:
            target: States = {}
            for day in () if self._simulated else bank.days:
                identifier = event_id(BANKS, bank.id, day.isoformat())
                status = "released" if day < held.entered else "scheduled"
                plan = Planned(known, bank.instant(day), "day" if bank.at is None else "minute", status, bank.page)
                event = meeting(identifier, BANKS, bank.name, bank.country, bank.zone)
                target[identifier] = [in_state(event, plan)]
            self._replace(batch, target, BANKS, _MEETING, bank.country)
        set_meta(self._db, _ENTERED, self._digest())

    def _digest(self) -> str:
        return "" if self._simulated else hashlib.sha256(msgspec.json.encode(meetings())).hexdigest()
