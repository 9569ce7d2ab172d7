"""iCalendar (RFC 5545) as publishers use it for their release schedules: entries with an exact time, or a day.

Names of zones are often not IANA's (`US-Eastern`, `Eastern Standard Time`). One that nobody knows is refused: an hour
matters. What a calendar says itself of its zones is not read.
"""

from __future__ import annotations

import re
import warnings
from calendar import month_name
from collections.abc import Mapping
from datetime import date, datetime
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
_STATUSES = {"": "scheduled", "CONFIRMED": "scheduled", "TENTATIVE": "tentative", "CANCELLED": "canceled"}
_MOST = 100_000
_MONTHS = tuple(month_name)[1:]
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
    parsed.meet(
        (str(part.name) for part in calendar.subcomponents if part.name not in {"VEVENT", "VTIMEZONE"}), "component"
    )
    found: dict[str, CalendarEntry] = {}
    for event in calendar.walk("VEVENT"):
        entry = _entry(event, calendar, where)
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


def _entry(event: Mapping[str, Any], calendar: Calendar, where: str) -> CalendarEntry:
    """Read one entry. Raises SourceChanged."""
    uid = _text(event, "UID", f"an entry of {where}")
    where = f"{where}: {uid}"
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
    moment, day, zone = _start(start, str(calendar.get("X-WR-TIMEZONE", "")), where)
    return CalendarEntry(
        uid=uid,
        release=release,
        start=moment,
        day=day,
        zone=zone,
        precision="day" if moment is None else "minute",
        status="canceled" if str(calendar.get("METHOD", "")).upper() == "CANCEL" else _STATUSES[status],
        sequence=int(sequence),
        last_modified=None if modified is None else instant(modified.dt),
        url=str(event["URL"]) if event.get("URL") else None,
        period=period,
    )


def _start(start: Any, own: str, where: str) -> tuple[int | None, date, str]:
    """Return the instant (None: only the day is stated), day and zone; `own` is the zone of the calendar, if it states one."""
    stated = getattr(start, "dt", None)
    if not isinstance(stated, datetime):
        if not isinstance(stated, date):
            raise SourceChanged(f"{where}: DTSTART {strict.shown(str(start))} is not a time")
        return None, stated, _zone(own or "UTC", where)
    name = str(start.params.get("TZID", ""))
    if not name and stated.tzinfo is not None:  # written with a Z
        zone = _zone(own or "UTC", where)
        return instant(stated), stated.astimezone(ZoneInfo(zone)).date(), zone
    if not name and not own:
        raise SourceChanged(f"{where}: DTSTART {stated} has no zone, nor has the calendar")
    zone = _zone(name or own, where)
    # The wall clock alone: what the library makes of a zone's name may come from a calendar it read before.
    return instant(stated.replace(tzinfo=ZoneInfo(zone))), stated.date(), zone


def _zone(name: str, where: str) -> str:
    """Return the IANA name of a zone. Raises SourceChanged for a name that nobody knows."""
    known = name if name in available_timezones() else _NAMES.get(name) or WINDOWS_TO_OLSON.get(name)
    if known is None:
        raise SourceChanged(f"{where}: the zone {strict.shown(name)} is not known")
    return known


def _text(event: Mapping[str, Any], name: str, where: str) -> str:
    value = event.get(name)
    text = "" if value is None or isinstance(value, list) else " ".join(str(value).split())
    if not text:
        raise SourceChanged(f"{where} has no {name}")
    return text


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
