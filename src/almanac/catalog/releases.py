"""Releases: the indicators published together, the calendars that give their days, and the meetings of central banks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

import msgspec

from almanac.catalog import checks
from almanac.catalog.records import Catalog, simulated_copy
from almanac.catalog.tables import read
from almanac.domain.releases import Release, ReleaseCalendar
from almanac.domain.times import instant


class _Releases(msgspec.Struct, frozen=True):
    release: tuple[Release, ...]


class Schedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The publisher's own schedule of one release: its days by period."""

    source: str
    native: str
    #: The page of the publisher that says so.
    page: str
    days: dict[str, date]


class _Schedules(msgspec.Struct, frozen=True):
    """The schedules, and the day on which they were last brought into step with the publishers' pages."""

    entered: date
    schedule: tuple[Schedule, ...]


class Bank(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Meetings of one central bank that decide on its policy rate, by the day of the announcement."""

    id: str
    name: str
    country: str
    #: Page of the bank that lists them.
    page: str
    zone: str
    #: Hour of the announcement in `zone`, as the bank states it; None where it states none.
    at: time | None = None
    days: tuple[date, ...]

    def instant(self, day: date) -> int:
        """Return the unix seconds of an announcement; of one without an hour the first second of its day."""
        moment = datetime.combine(day, self.at or time(), tzinfo=UTC if self.at is None else ZoneInfo(self.zone))
        return instant(moment)


class Meetings(msgspec.Struct, frozen=True):
    """The list of meetings, and the day on which it was last brought into step with the banks' pages."""

    entered: date
    bank: tuple[Bank, ...]


def check(releases: tuple[Release, ...], catalog: Catalog) -> Iterator[str]:
    """Yield what releases name that the catalogue does not have, one line each."""
    return (f"{where}: {what}" for where, what in checks.releases(releases, catalog))


def simulated(releases: tuple[Release, ...], sources: Collection[str]) -> tuple[Release, ...]:
    """Put simulated copies in place of the sources of releases' calendars, as far as there are any."""

    def copy(calendar: ReleaseCalendar) -> ReleaseCalendar | None:
        source = simulated_copy(calendar.source, sources)
        return None if source is None else msgspec.structs.replace(calendar, source=source)

    return _with_calendars(releases, copy)


def _with_calendars(
    releases: Iterable[Release], change: Callable[[ReleaseCalendar], ReleaseCalendar | None]
) -> tuple[Release, ...]:
    """Return releases with each calendar changed; one that comes to None is left out."""
    return tuple(
        msgspec.structs.replace(release, calendars=tuple(filter(None, map(change, release.calendars))))
        for release in releases
    )


@functools.cache
def shipped() -> tuple[Release, ...]:
    """Return the releases of the package, with what publishers' schedules say. Raise CatalogError naming every culprit."""
    releases = read("events/releases.toml", _Releases, lambda table: checks.releases(table.release)).release
    calendars = {(c.source, c.native): c for release in releases for c in release.calendars}
    plans = read(
        "events/schedules.toml", _Schedules, lambda table: checks.schedules(table.schedule, calendars)
    ).schedule
    days = {(plan.source, plan.native): {day.toordinal(): name for name, day in plan.days.items()} for plan in plans}
    return _with_calendars(releases, lambda c: msgspec.structs.replace(c, schedule=days.get((c.source, c.native), {})))


@functools.cache
def meetings() -> Meetings:
    """Return the meetings of the package. Raise CatalogError naming every culprit."""
    return read("events/meetings.toml", Meetings, lambda table: checks.meetings(table.bank))
