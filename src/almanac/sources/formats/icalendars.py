"""iCalendar (RFC 5545) as publishers use it for their release schedules: entries with an exact time, or a day.

Names of zones are often not IANA's (`US-Eastern`, `Eastern Standard Time`), and the calendar then says itself what it
means by them. A name that is known is read as what it is known for, and where the calendar's own rules say otherwise
for an entry, it is refused: one of the two is wrong, and an hour matters.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from icalendar import Calendar
from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

from almanac.domain.times import instant
from almanac.sources.base import CalendarEntry, Parsed, SourceChanged
from almanac.sources.formats import strict

#: Names of zones that are neither IANA's nor Microsoft's.
_NAMES = {
    "US-Eastern": "America/New_York",
    "US-Central": "America/Chicago",
    "US-Mountain": "America/Denver",
    "US-Pacific": "America/Los_Angeles",
    "Eastern Time": "America/New_York",
    "Eastern": "America/New_York",
}
#: Zones that a calendar's rules under a name nobody knows are compared with.
_CANDIDATES = ("America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "Europe/London", "UTC")
_STATUSES = {"": "scheduled", "CONFIRMED": "scheduled", "TENTATIVE": "tentative", "CANCELLED": "canceled"}
_MOST = 100_000
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_QUARTERS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}
_WHEN = (
    rf"(?:(?P<month>{'|'.join(_MONTHS)}) (?P<year>[0-9]{{4}})"
    rf"|(?P<quarter>{'|'.join(_QUARTERS)}) quarter (?:of )?(?P<quarter_year>[0-9]{{4}}))"
)
_NAMED = re.compile(rf"(?P<name>.+?)(?:,| -| –)? (?:for (?:the )?|\()?{_WHEN}\)?", re.IGNORECASE)
_TOLD = re.compile(rf"\b(?:for|of) (?:the )?{_WHEN}", re.IGNORECASE)


def entries(body: bytes, where: str, parsed: Parsed) -> list[CalendarEntry]:
    """
    Entries of a calendar, by uid; of several states of one uid the one with the highest sequence. Other parts of it are
    reported in `parsed`.

    Raises SourceChanged naming the entry: one without uid, name or start, in a zone nobody knows, that recurs, or of
    which two states claim to be the latest.
    """
    strict.bounded(body, b"\n", where)
    text = strict.text(body, "utf-8", where)
    if not text.rstrip().upper().endswith("END:VCALENDAR"):  # the library takes any end for the right one
        raise SourceChanged(f"{where} is not a calendar: it does not end with END:VCALENDAR")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what the library guesses about zones, which is not used
            calendar = Calendar.from_ical(text)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise SourceChanged(f"{where} is not a calendar: {strict.shown(str(error))}") from None
    if calendar.name != "VCALENDAR" or calendar.errors:
        raise SourceChanged(f"{where} is not a calendar: it starts with {calendar.name}, {calendar.errors}")
    reader = _Reader(calendar, where, parsed)
    found: dict[str, CalendarEntry] = {}
    for entry in map(reader.entry, (part for part in calendar.subcomponents if part.name == "VEVENT")):
        held = found.setdefault(entry.uid, entry)
        if len(found) > _MOST:
            raise SourceChanged(f"{where} has more than {_MOST} entries")
        if held is entry:
            continue
        if _state(held) == _state(entry) and held != entry:
            raise SourceChanged(f"{where}: {entry.uid} is there twice with sequence {entry.sequence}, and differs")
        found[entry.uid] = max(held, entry, key=_state)
    return [found[uid] for uid in sorted(found)]


def _state(entry: CalendarEntry) -> tuple[int, int]:
    return entry.sequence, entry.last_modified or 0


class _Reader:
    """Reads one calendar."""

    def __init__(self, calendar: Calendar, where: str, parsed: Parsed) -> None:
        self._calendar = calendar
        self._where = where
        self._rules: dict[str, Any] = {}
        for component in calendar.subcomponents:
            if component.name == "VTIMEZONE":
                self._rules[str(component.get("TZID", ""))] = component
            elif component.name != "VEVENT":
                parsed.meet([str(component.name)], "component")
        self._zones: dict[str, tuple[str, tzinfo]] = {}
        self._described: dict[str, tzinfo | None] = {}
        self._canceled = str(calendar.get("METHOD", "")).upper() == "CANCEL"

    def entry(self, event: Mapping[str, Any]) -> CalendarEntry:
        """Read one entry. Raises SourceChanged."""
        uid = _text(event, "UID", f"an entry of {self._where}")
        where = f"{self._where}: {uid}"
        errors = getattr(event, "errors", [])
        if errors:
            raise SourceChanged(f"{where}: {errors[0][0]}, {strict.shown(str(errors[0][1]))}")
        for name in ("RRULE", "RDATE", "RECURRENCE-ID"):
            if name in event:
                raise SourceChanged(f"{where} has {name}; entries that recur are not read")
        summary = _text(event, "SUMMARY", where)
        release, period = _period(summary, " ".join(str(event.get("DESCRIPTION", "")).split()))
        start = event.get("DTSTART")
        if start is None or isinstance(start, list):
            raise SourceChanged(f"{where} has {'no' if start is None else 'more than one'} DTSTART")
        status = str(event.get("STATUS", "")).upper()
        if status not in _STATUSES:
            raise SourceChanged(
                f"{where} has STATUS {strict.shown(status)}, known are {', '.join(filter(None, _STATUSES))}"
            )
        sequence, modified = event.get("SEQUENCE", 0), event.get("LAST-MODIFIED")
        if not isinstance(sequence, int) or sequence < 0:
            raise SourceChanged(f"{where} has SEQUENCE {strict.shown(str(sequence))}")
        changed = getattr(modified, "dt", None)
        if modified is not None and (not isinstance(changed, datetime) or changed.tzinfo is None):
            raise SourceChanged(f"{where} has LAST-MODIFIED {strict.shown(str(modified))}, expected an instant in UTC")
        moment, day, zone = self._start(start, where)
        return CalendarEntry(
            uid=uid,
            release=release,
            start=moment,
            day=day,
            zone=zone,
            precision="day" if moment is None else "minute",
            status="canceled" if self._canceled else _STATUSES[status],
            sequence=int(sequence),
            last_modified=None if modified is None else instant(modified.dt),
            url=str(event["URL"]) if event.get("URL") else None,
            period=period,
        )

    def _start(self, start: Any, where: str) -> tuple[int | None, date, str]:
        """Instant (None: only the day is stated), day and zone."""
        stated = getattr(start, "dt", None)
        own = str(self._calendar.get("X-WR-TIMEZONE", ""))
        if not isinstance(stated, datetime):
            if not isinstance(stated, date):
                raise SourceChanged(f"{where}: DTSTART {strict.shown(str(start))} is not a time")
            return None, stated, self._zone(own, where)[0] if own else "UTC"
        name = str(start.params.get("TZID", ""))
        if not name and stated.tzinfo is not None:  # written with a Z
            zone, rules = self._zone(own, where) if own else ("UTC", UTC)
            return instant(stated), stated.astimezone(rules).date(), zone
        if not name and not own:
            raise SourceChanged(f"{where}: DTSTART {stated} has no zone, nor has the calendar")
        zone, rules = self._zone(name or own, where)
        # The wall clock alone: what the library makes of a zone's name may come from a calendar it read before.
        wall = stated.replace(tzinfo=None)
        moment = wall.replace(tzinfo=rules)
        described = self._own(name or own, where)
        said = None if described is None else wall.replace(tzinfo=described).utcoffset()
        if said is not None and said != moment.utcoffset():
            raise SourceChanged(
                f"{where}: {wall} {name or own} is {_hours(said)} of UTC by the calendar, {_hours(moment.utcoffset())} in {zone}"
            )
        return instant(moment), wall.date(), zone

    def _zone(self, name: str, where: str) -> tuple[str, tzinfo]:
        """Return the IANA name of a zone, and its rules. Raises SourceChanged for a name that nothing explains."""
        if name not in self._zones:
            rules = self._rules.get(name)
            location = str(rules.get("X-LIC-LOCATION", "")) if rules is not None else ""
            # Some programs put their own address before the name: `/example.org/20240101_1/America/New_York`.
            tail = "/".join(name.split("/")[-2:]) if name.startswith("/") else name
            names = (_NAMES.get(name), WINDOWS_TO_OLSON.get(name), tail, location)
            known = next((one for one in names if one and one in available_timezones()), None)
            own = None if known else self._own(name, where)
            if known:
                self._zones[name] = known, ZoneInfo(known)
            elif own is not None:
                self._zones[name] = next((zone for zone in _CANDIDATES if _same(own, ZoneInfo(zone))), "UTC"), own
            else:
                raise SourceChanged(
                    f"{where}: the zone {strict.shown(name)} is not known, and the calendar does not describe it"
                )
        return self._zones[name]

    def _own(self, name: str, where: str) -> tzinfo | None:
        """Return a zone by the calendar's own rules, None where it has none of that name."""
        if name not in self._described:
            rules = self._rules.get(name)
            try:
                self._described[name] = None if rules is None else rules.to_tz(lookup_tzid=False)
            except Exception as error:  # the library raises what its parts raise
                raise SourceChanged(f"{where}: the zone {strict.shown(name)} is not described well: {error}") from None
        return self._described[name]


def _text(event: Mapping[str, Any], name: str, where: str) -> str:
    value = event.get(name)
    text = "" if value is None or isinstance(value, list) else " ".join(str(value).split())
    if not text:
        raise SourceChanged(f"{where} has no {name}")
    return text


def _same(one: tzinfo, other: tzinfo) -> bool:
    """Whether two zones agree in the middle of each month of five years."""
    days = [datetime(year, month, 15, 12) for year in range(2022, 2027) for month in range(1, 13)]  # noqa: DTZ001  (a wall clock)
    return all(day.replace(tzinfo=one).utcoffset() == day.replace(tzinfo=other).utcoffset() for day in days)


def _hours(offset: timedelta | None) -> str:
    seconds = 0 if offset is None else int(offset.total_seconds())
    return f"{'-' if seconds < 0 else '+'}{abs(seconds) // 3600:02}:{abs(seconds) // 60 % 60:02}"


def _period(summary: str, description: str) -> tuple[str, str | None]:
    """
    Name of a release and what it is about, where its title ends with it or its description says so.

    >>> _period("Consumer Price Index for October 2026", "")
    ('Consumer Price Index', '2026-10')
    """
    titled = _NAMED.fullmatch(summary)
    if titled is not None:
        return titled["name"], _written(titled)
    told = list(_TOLD.finditer(description))
    return summary, _written(told[0]) if len(told) == 1 else None


def _written(match: re.Match[str]) -> str:
    if match["month"]:
        return f"{match['year']}-{_MONTHS.index(match['month'].capitalize()) + 1:02}"
    return f"{match['quarter_year']}-Q{_QUARTERS[match['quarter'].lower()]}"
