"""Which indicators are published together, whose calendars tell the days, and the meetings of central banks."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, date, datetime, time
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import msgspec

from almanac.catalog.lines import plain
from almanac.catalog.records import Catalog, CatalogError, simulated_copy
from almanac.domain.periods import Frequency, Period
from almanac.domain.releases import Release, ReleaseCalendar
from almanac.domain.times import instant


class _Date(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    type: str
    native: str
    frequency: Frequency
    after_days: int | None = None
    estimates: int = 1


class _Calendar(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    source: str
    country: str
    zone: str
    dates: tuple[_Date, ...]


class _Release(Release, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A release as the catalogue's file has it: the headline is not among the indicators, and calendars are tables of their own."""


class _Schedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one release of a calendar's source is about, by the publisher's own schedule: days by period."""

    source: str
    native: str
    #: The page of the publisher that says so.
    page: str
    days: dict[str, date]


class _Schedules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The schedules, and the day on which they were last brought into step with the publishers' pages."""

    entered: date
    schedule: tuple[_Schedule, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    release: tuple[_Release, ...]
    calendar: tuple[_Calendar, ...]


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
        """Unix seconds of an announcement; of one without an hour the first second of its day."""
        moment = datetime.combine(day, self.at or time(), tzinfo=UTC if self.at is None else ZoneInfo(self.zone))
        return instant(moment)


class Meetings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The list of meetings, and the day on which it was last brought into step with the banks' pages."""

    entered: date
    bank: tuple[Bank, ...]


def parse(data: Mapping[str, Any]) -> tuple[Release, ...]:
    """Releases with their calendars, from a read file. Raises CatalogError naming every culprit."""
    try:
        read = msgspec.convert(plain(data), _File)
    except msgspec.ValidationError as error:
        raise CatalogError(f"releases: {error}") from None
    problems = list(_problems(read))
    if problems:
        raise CatalogError("\n".join(problems))
    return tuple(
        _complete(
            one,
            tuple(
                ReleaseCalendar(
                    source=calendar.source,
                    native=dated.native,
                    country=calendar.country,
                    frequency=dated.frequency,
                    after_days=dated.after_days,
                    zone=calendar.zone,
                    estimates=dated.estimates,
                )
                for calendar in read.calendar
                for dated in calendar.dates
                if dated.type == one.type
            ),
        )
        for one in read.release
    )


def _complete(written: _Release, calendars: tuple[ReleaseCalendar, ...]) -> Release:
    fields = msgspec.structs.asdict(written)
    return Release(**fields | {"indicators": (written.headline, *written.indicators), "calendars": calendars})


def _problems(read: _File) -> Iterator[str]:
    types = [one.type for one in read.release]
    yield from (f"release {name} is there twice" for name in sorted({t for t in types if types.count(t) > 1}))
    for one in read.release:
        if one.only_countries and one.except_countries:
            yield f"release {one.type}: only_countries and except_countries exclude each other"
        if one.calendars:
            yield f"release {one.type}: calendars are tables of their own"
        if not one.frequencies:
            yield f"release {one.type}: needs frequencies"
    for calendar in read.calendar:
        if calendar.zone not in available_timezones():
            yield f"calendar {calendar.source}: unknown zone {calendar.zone}"
        natives = [dated.native for dated in calendar.dates]
        yield from (
            f"calendar {calendar.source}: {name} is there twice"
            for name in sorted({n for n in natives if natives.count(n) > 1})
        )
        for dated in calendar.dates:
            if dated.type not in types:
                yield f"calendar {calendar.source} {dated.native}: unknown release {dated.type}, allowed are {', '.join(types)}"


def check(releases: tuple[Release, ...], catalog: Catalog) -> Iterator[str]:
    """What releases name that the catalogue does not have, one line each."""
    for one in releases:
        yield from (
            f"release {one.type}: unknown indicator {slug}" for slug in one.indicators if slug not in catalog.indicators
        )
        places = (*one.only_countries, *one.except_countries, *(c.country for c in one.calendars))
        yield from (f"release {one.type}: unknown entity {name}" for name in places if name not in catalog.entities)
        named = {c.source for c in one.calendars}
        yield from (
            f"release {one.type}: unknown source {name}" for name in sorted(named) if name not in catalog.sources
        )


def simulated(releases: tuple[Release, ...], sources: Collection[str]) -> tuple[Release, ...]:
    """Put simulated copies in place of the sources of releases' calendars, as far as there are any."""
    copy, found = functools.partial(simulated_copy, sources=sources), []
    for one in releases:
        calendars = tuple(
            msgspec.structs.replace(c, source=source) for c in one.calendars if (source := copy(c.source)) is not None
        )
        found.append(msgspec.structs.replace(one, calendars=calendars))
    return tuple(found)


def scheduled(releases: tuple[Release, ...], data: Mapping[str, Any]) -> tuple[Release, ...]:
    """Add to releases what publishers' schedules say, from a read file. Raises CatalogError naming every culprit."""
    try:
        read = msgspec.convert(data, _Schedules)
    except msgspec.ValidationError as error:
        raise CatalogError(f"schedules: {error}") from None
    calendars = {(c.source, c.native): c for one in releases for c in one.calendars}
    problems = [told for one in read.schedule for told in _schedule_problems(one, calendars)]
    if problems:
        raise CatalogError("\n".join(problems))
    found = {
        (one.source, one.native): {day.toordinal(): name for name, day in one.days.items()} for one in read.schedule
    }
    return tuple(
        msgspec.structs.replace(
            one,
            calendars=tuple(
                msgspec.structs.replace(c, schedule=found.get((c.source, c.native), {})) for c in one.calendars
            ),
        )
        for one in releases
    )


def _schedule_problems(one: _Schedule, calendars: Mapping[tuple[str, str], ReleaseCalendar]) -> Iterator[str]:
    calendar = calendars.get((one.source, one.native))
    if calendar is None:
        yield f"schedule {one.source} {one.native}: no calendar has it"
        return
    if len(set(one.days.values())) < len(one.days):
        yield f"schedule {one.source} {one.native}: one day for two periods"
    for name, day in one.days.items():
        try:
            period = Period.parse(name)
        except ValueError:
            yield f"schedule {one.source} {one.native}: {name} is not a period"
            continue
        if Period.ending(period.end, calendar.frequency) != period or period.end >= day:
            yield f"schedule {one.source} {one.native}: {name} is not a {calendar.frequency.word} period over by {day}"


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("data", "events", name).read_text("utf-8"))


@functools.cache
def shipped() -> tuple[Release, ...]:
    """The releases of the package. Raises CatalogError."""
    return scheduled(parse(_read("releases.toml")), _read("schedules.toml"))


def meetings_of(data: Mapping[str, Any]) -> Meetings:
    """Meetings, from a read file. Raises CatalogError naming every culprit."""
    try:
        read = msgspec.convert(data, Meetings)
    except msgspec.ValidationError as error:
        raise CatalogError(f"meetings: {error}") from None
    problems = []
    for bank in read.bank:
        if bank.zone not in available_timezones():
            problems.append(f"bank {bank.id}: unknown zone {bank.zone}")
        if list(bank.days) != sorted(set(bank.days)):
            problems.append(f"bank {bank.id}: its days must ascend, each once")
    if problems:
        raise CatalogError("\n".join(problems))
    return read


@functools.cache
def meetings() -> Meetings:
    """The meetings of the package. Raises CatalogError."""
    return meetings_of(_read("meetings.toml"))
