"""Which indicators are published together, whose calendars tell the days, and the meetings of central banks."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from almanac.catalog import checks
from almanac.catalog.records import Catalog, simulated_copy
from almanac.catalog.tables import packaged, read
from almanac.domain.releases import Release
from almanac.domain.times import instant


class _Releases(msgspec.Struct, frozen=True):
    release: tuple[Release, ...]


class Schedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one release of a calendar's source is about, by the publisher's own schedule: days by period."""

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


def parse(data: Mapping[str, Any], file: str = "") -> tuple[Release, ...]:
    """Return the releases of a read file, with their calendars. Raise CatalogError naming every culprit."""
    return read(data, _Releases, file, lambda table: checks.releases(table.release)).release


def check(releases: tuple[Release, ...], catalog: Catalog) -> Iterator[str]:
    """Yield what releases name that the catalogue does not have, one line each."""
    return (f"{where}: {what}" for where, what in checks.releases(releases, catalog))


def simulated(releases: tuple[Release, ...], sources: Collection[str]) -> tuple[Release, ...]:
    """Put simulated copies in place of the sources of releases' calendars, as far as there are any."""
    copy, found = functools.partial(simulated_copy, sources=sources), []
    for one in releases:
        calendars = tuple(
            msgspec.structs.replace(c, source=source) for c in one.calendars if (source := copy(c.source)) is not None
        )
        found.append(msgspec.structs.replace(one, calendars=calendars))
    return tuple(found)


def scheduled(releases: tuple[Release, ...], data: Mapping[str, Any], file: str = "") -> tuple[Release, ...]:
    """Add to releases what publishers' schedules say, from a read file. Raise CatalogError naming every culprit."""
    calendars = {(c.source, c.native): c for one in releases for c in one.calendars}
    plans = read(data, _Schedules, file, lambda table: checks.schedules(table.schedule, calendars)).schedule
    days = {(plan.source, plan.native): {day.toordinal(): name for name, day in plan.days.items()} for plan in plans}
    return tuple(
        msgspec.structs.replace(
            one,
            calendars=tuple(
                msgspec.structs.replace(c, schedule=days.get((c.source, c.native), {})) for c in one.calendars
            ),
        )
        for one in releases
    )


@functools.cache
def shipped() -> tuple[Release, ...]:
    """Return the releases of the package. Raise CatalogError."""
    names = ("events/releases.toml", "events/schedules.toml")
    return scheduled(parse(packaged(names[0]), names[0]), packaged(names[1]), names[1])


def meetings_of(data: Mapping[str, Any], file: str = "") -> Meetings:
    """Return the meetings of a read file. Raise CatalogError naming every culprit."""
    return read(data, Meetings, file, lambda table: checks.meetings(table.bank))


@functools.cache
def meetings() -> Meetings:
    """Return the meetings of the package. Raise CatalogError."""
    return meetings_of(packaged("events/meetings.toml"), "events/meetings.toml")
