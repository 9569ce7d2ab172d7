"""Updating of the events of releases, meetings and policy rates from calendars and vintages."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

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
        self._put: Put = events.replace

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
        self._update(batch, changes, self._touched)
        self._touched.clear()

    def recompute(self, batch: Batch, put: Put = events.replace) -> int:
        """
        Recompute every event and write the differences. Returns how many groups of events differed: 0 in a healthy
        store.

        `put` takes the arguments of `events.replace`, and may just compare.
        """
        self._put = put
        try:
            every = store.series_of(self._db, {*self._by_headline, _RATE})
            return self._update(batch, every, {*self._calendars, *filter(None, [self._meetings])})
        finally:
            self._put = events.replace

    def _update(self, batch: Batch, changed_series: Iterable[str], sources: Collection[str]) -> int:
        """Update the events that depend on series, or on calendars of sources. Returns how many groups of events changed."""
        parts = {(release.type, c.country) for source in sources for release, c in self._calendars.get(source, ())}
        rates: set[str] = set()
        for series in changed_series:
            _, entity, indicator, frequency, *variant = series.split(":")
            if not variant:
                parts.update((release.type, entity) for release in self._by_headline.get(indicator, ()))
                if indicator == _RATE and frequency == Frequency.DAILY:
                    rates.add(series)
        changed = 0
        for kind, entity in sorted(parts):
            release = self._by_type[kind]
            if release.exists_in(entity):
                changed += self._release(batch, release, entity)
        for series in sorted(rates):
            source, entity, *_ = series.split(":")
            target = rate_changes(store.stated(self._db, series), source, self._place(entity))
            changed += self._replace(batch, target, source, "policy_rate_change", entity)
        for source in sorted(set(sources) & set(self._calendars)):
            changed += self._notices(batch, source)
        if self._meetings is not None and self._meetings in sources:
            changed += self._simulated_meetings(batch, self._meetings)
        return changed

    def _release(self, batch: Batch, release: Release, entity: str) -> int:
        """Update the events of a release in one place, one per period, from all calendars and sources."""
        out: dict[Frequency, list[tuple[str, list[Published]]]] = defaultdict(list)
        for data in self._sources(release.headline, entity):
            frequency, publications = self._published(release, entity, data)
            if frequency is not None:
                out[frequency].append((data, publications))
        announced: dict[Frequency, Announced] = defaultdict(dict)
        target: States = {}
        spoken: set[int] = set()
        for calendar in release.calendars:
            if calendar.country != entity:
                continue
            came_out = [one for _, publications in out[calendar.frequency] for one in publications]
            entries = list(store.entries(self._db, calendar.source, calendar.native))
            found = by_entries(entries, calendar, came_out)
            days = store.days(self._db, calendar.source, calendar.native)
            told = by_days(days, calendar, spoken) | found.by_period
            announced[calendar.frequency] = {about: (calendar, plans) for about, plans in told.items()} | announced[
                calendar.frequency
            ]
            target |= other_states(release, self._place(entity), calendar, found.others)
            spoken.update(entry.day for _, entry in entries)
        for frequency in out.keys() | announced.keys():
            target |= release_states(release, self._place(entity), announced[frequency], out[frequency], frequency)
        return self._replace(batch, target, None, release.type, entity)

    def _sources(self, headline: str, entity: str) -> list[str]:
        """Return the sources of a release's numbers, by preference."""
        order = list(self._orders.get(headline, ()))
        return sorted(
            store.sources_of(self._db, headline, entity),
            key=lambda source: (order.index(source) if source in order else len(order), source),
        )

    def _published(self, release: Release, entity: str, data: str) -> tuple[Frequency | None, list[Published]]:
        for frequency in release.frequencies:
            series = f"{data}:{entity}:{release.headline}:{frequency.value}"
            vintages = store.stated(self._db, series)
            if vintages:
                dated = all(one.released is not None for one in vintages)
                return frequency, published(vintages, frequency, {} if dated else store.messages(self._db, series))
        return None, []

    def _replace(self, batch: Batch, target: States, source: str | None, kind: str, entity: str) -> int:
        """
        Replace the events of a source (None: of all), type and place. Existing events that are not in `target` are
        removed.
        """
        gone: States = {identifier: [] for identifier in store.events_of(self._db, source, kind, entity)}
        if not self._put(self._db, batch.version, gone | target):
            return 0
        batch.touch()
        return 1

    def _place(self, entity: str) -> tuple[str, str]:
        held = self._catalog.entities.get(entity)
        return entity, entity if held is None else held.name

    def _notices(self, batch: Batch, source: str) -> int:
        """Update events for calendar entries without a release of ours. A bare list of days makes none."""
        listed = self._calendars[source]
        place = self._place(listed[0][1].country)
        ours = {calendar.native for _, calendar in listed}
        target: States = {}
        for native in store.natives(self._db, source):
            if native not in ours:
                target |= notice_states(store.entries(self._db, source, native), source, native, place)
        return self._replace(batch, target, source, NOTICE, place[0])

    # -- meetings -------------------------------------------------------------------------------------------------------

    def _simulated_meetings(self, batch: Batch, source: str) -> int:
        changed = 0
        for bank in meetings().bank:
            entries = store.entries(self._db, source, bank.name)
            target = meeting_states(entries, source, bank.name, bank.name, bank.country)
            changed += self._replace(batch, target, source, _MEETING, bank.country)
        return changed

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
