"""
The calendars of the simulated world as iCalendar: releases to the minute, and meetings of central banks.

Some entries are moved, some canceled, those far ahead are tentative. All of it follows from the day of the capture.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import msgspec
import numpy as np

from almanac.catalog.releases import meetings
from almanac.domain.periods import Frequency, add_months
from almanac.domain.times import wire_time
from almanac.sandbox.data import table
from almanac.sandbox.feeds import PendingResponse
from almanac.sandbox.formats import MONTHS
from almanac.sandbox.fred_series import RELEASES
from almanac.sandbox.series import Publishing

RELEASE_DAYS, MEETINGS = "sandbox-bls-calendar", "sandbox-central-bank-calendars"
_URLS = {
    RELEASE_DAYS: "https://www.bls.gov/schedule/news_release/bls.ics",
    MEETINGS: "https://www.bls.gov/simulated/meetings.ics",
}
_MEETING_MONTHS = (1, 3, 4, 6, 7, 9, 10, 12)
_QUARTERLY = (3, 6, 9, 12)
_ORDINALS = ("1st", "2nd", "3rd", "4th")
#: Days that a calendar lists behind and ahead of its capture.
_BEHIND, _AHEAD = 200, 400
#: Entries are tentative from so many days ahead; moves and cancellations are announced so many days ahead.
_UNSURE, _ANNOUNCED = 300, 100


class _CalendarRelease(msgspec.Struct, frozen=True):
    """A release in the calendar: one of `RELEASES`, or one that brings no numbers that are served here."""

    name: str
    release: int = 0
    frequency: Frequency = Frequency.MONTHLY
    publishing: Publishing = Publishing()


@dataclass(frozen=True, slots=True)
class _Entry:
    uid: str
    summary: str
    day: date
    at: time | None
    zone: str
    #: The day it stood at before its move, if it is moved at all.
    before: date | None = None
    canceled: bool = False


def calendars(now: int) -> Iterator[PendingResponse]:
    """Yield both calendars: on the first day of each half-year from 2016 on, and `now`."""
    today = datetime.fromtimestamp(now, UTC).date()
    mornings = [datetime(year, month, 1, 6, tzinfo=UTC) for year in range(2016, today.year + 1) for month in (1, 7)]
    for moment in [*(int(morning.timestamp()) for morning in mornings if morning.timestamp() < now), now]:
        for source, url in _URLS.items():
            yield PendingResponse(source, url, moment, "text/calendar", functools.partial(_page, source, moment))


def _page(source: str, moment: int) -> bytes:
    """Write the entries around the day of a capture as they stood then."""
    today = datetime.fromtimestamp(moment, UTC).date()
    stamp = wire_time(moment).replace("-", "").replace(":", "")
    entries = _releases if source == RELEASE_DAYS else _meetings
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Simulated//Calendar//EN"]
    for entry in entries(today, today - timedelta(days=_BEHIND), today + timedelta(days=_AHEAD)):
        left = (entry.day - today).days
        announced = left <= _ANNOUNCED
        day = entry.before if entry.before is not None and not announced else entry.day
        status = "CANCELLED" if entry.canceled and announced else "TENTATIVE" if left > _UNSURE else "CONFIRMED"
        if entry.at is None:
            start = f"DTSTART;VALUE=DATE:{day:%Y%m%d}"
        else:
            start = f"DTSTART;TZID={entry.zone}:{datetime.combine(day, entry.at):%Y%m%dT%H%M%S}"
        lines += [
            "BEGIN:VEVENT", f"UID:{entry.uid}", f"DTSTAMP:{stamp}", f"SEQUENCE:{int(announced)}",
            f"SUMMARY:{entry.summary}", start, f"STATUS:{status}", "END:VEVENT",
        ]  # fmt: skip
    return "".join(f"{line}\r\n" for line in (*lines, "END:VCALENDAR")).encode()


def _releases(today: date, first: date, last: date) -> Iterator[_Entry]:
    """Yield the first publications of periods that fall between two days."""
    for entry in msgspec.convert(table("releases")["calendar"], list[_CalendarRelease]):
        release = RELEASES[entry.release] if entry.release else entry
        code = str(entry.release) if entry.release else entry.name.lower().replace(" ", "-")
        frequency, publishing = release.frequency, release.publishing
        for months in range(0, 48, frequency.months):
            end = add_months(date(first.year - 1, 1, 1), months + frequency.months) - timedelta(days=1)
            day: date = publishing.schedule(np.array([end], dtype="datetime64[D]"))[0][0].astype(object)
            if not first <= day <= last:
                continue
            quarterly = end.month % 3 == 0
            if frequency is Frequency.QUARTERLY:
                period = f"{_ORDINALS[end.month // 3 - 1]} quarter"
            else:
                period = MONTHS[end.month - 1]
            yield _Entry(
                uid=f"{code}-{end}@example.org",
                summary=f"{entry.name} for {period} {end.year}",
                day=day,
                at=time(10) if code == "192" else time(8, 30),
                zone="America/New_York",
                before=day + timedelta(days=2) if code == "10" and quarterly else None,
                canceled=code == "192" and quarterly and day > today,
            )


def _meetings(_: date, first: date, last: date) -> Iterator[_Entry]:
    """Yield the meetings of central banks between two days."""
    for place, bank in enumerate(meetings().bank):
        for year in range(first.year, last.year + 1):
            for month in _QUARTERLY if bank.id == "snb" else _MEETING_MONTHS:
                # The third Wednesday, or Thursday with every other bank.
                day = date(year, month, 1) + timedelta(days=(2 + place % 2 - date(year, month, 1).weekday()) % 7 + 14)
                moved = month in {6, 12} and (year + place) % 3 == 0
                held_on = day + timedelta(days=7) if moved else day
                if first <= held_on <= last:
                    yield _Entry(
                        uid=f"{bank.id}-{year}-{month:02}@example.org",
                        summary=bank.name,
                        day=held_on,
                        at=bank.at,
                        zone=bank.zone,
                        before=day if moved else None,
                        canceled=month in {4, 9} and (year + place) % 4 == 1,
                    )
