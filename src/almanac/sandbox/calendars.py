"""The calendars of the simulated world, as iCalendar: releases to the minute, and meetings of central banks.

Some entries are moved, some canceled, those far ahead are tentative. All of it follows from the day of the capture.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import numpy as np

from almanac.catalog.releases import Bank, meetings
from almanac.domain.periods import Frequency, add_months
from almanac.domain.times import wire_time
from almanac.sandbox.country_series import RELEASES
from almanac.sandbox.feeds import PendingResponse
from almanac.sandbox.formats import MONTHS
from almanac.sandbox.series import Publishing

RELEASE_DAYS, MEETINGS = "sandbox-bls-calendar", "sandbox-central-bank-calendars"
_URLS = {
    RELEASE_DAYS: "https://www.bls.gov/schedule/news_release/bls.ics",
    MEETINGS: "https://www.bls.gov/simulated/meetings.ics",
}
#: Names in the calendar → releases of the simulated FRED.
_NAMED = {
    "Consumer Price Index": 10,
    "Producer Price Index": 46,
    "Employment Situation": 50,
    "Job Openings and Labor Turnover Survey": 192,
    "Employment Cost Index": 11,
}
#: Names in the calendar of what brings no numbers that are served here, and how it is published.
_OTHERS = {
    "Real Earnings": (Frequency.MONTHLY, Publishing(lag=14)),
    "Productivity and Costs": (Frequency.QUARTERLY, Publishing(lag=36)),
    "County Employment and Wages": (Frequency.QUARTERLY, Publishing(lag=155)),
}
_NEW_YORK = "America/New_York"
_MEETING_MONTHS = (1, 3, 4, 6, 7, 9, 10, 12)
_QUARTERLY = (3, 6, 9, 12)
_ORDINALS = ("1st", "2nd", "3rd", "4th")
#: Days that a calendar lists behind and ahead of its capture; from how many ahead it is not sure; when moves are told.
_BEHIND, _AHEAD, _UNSURE, _TOLD = 200, 400, 300, 100


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
    """Both calendars: on the first day of each half-year from 2016 on, and now."""
    today = datetime.fromtimestamp(now, UTC).date()
    days = [date(year, month, 1) for year in range(2016, today.year + 1) for month in (1, 7)]
    moments = [moment for day in days if (moment := int(datetime.combine(day, time(6), tzinfo=UTC).timestamp())) < now]
    for moment in [*moments, now]:
        day = datetime.fromtimestamp(moment, UTC).date()
        for source, url in _URLS.items():
            yield PendingResponse(source, url, moment, "text/calendar", functools.partial(_page, source, day, moment))


def _page(source: str, day: date, moment: int) -> bytes:
    return _ics(_releases(day) if source == RELEASE_DAYS else _meetings(day), day, moment)


def _releases(day: date) -> Iterator[_Entry]:
    first, last = day - timedelta(days=_BEHIND), day + timedelta(days=_AHEAD)
    named = [
        (name, str(number), RELEASES[number].frequency, RELEASES[number].publishing) for name, number in _NAMED.items()
    ]
    others = [(name, name.lower().replace(" ", "-"), *published) for name, published in _OTHERS.items()]
    for name, code, frequency, publishing in named + others:
        for end, out in _days(frequency, publishing, first, last):
            quarterly = end.month % 3 == 0
            yield _Entry(
                uid=f"{code}-{end}@example.org",
                summary=f"{name} for {_about(end, frequency)}",
                day=out,
                at=time(10) if code == "192" else time(8, 30),
                zone=_NEW_YORK,
                before=out + timedelta(days=2) if code == "10" and quarterly else None,
                canceled=code == "192" and quarterly and out > day,
            )


def _days(frequency: Frequency, publishing: Publishing, first: date, last: date) -> Iterator[tuple[date, date]]:
    """Periods, by their last day, that are first published from one day to another; and when."""
    step = frequency.months
    start = date(first.year - 1, 1, 1)
    for count in range(0, 48, step):
        end = add_months(start, count + step) - timedelta(days=1)
        out: date = publishing.schedule(np.array([end], dtype="datetime64[D]"))[0][0].astype(object)
        if first <= out <= last:
            yield end, out


def _about(end: date, frequency: Frequency) -> str:
    if frequency is Frequency.QUARTERLY:
        return f"{_ORDINALS[end.month // 3 - 1]} quarter {end.year}"
    return f"{MONTHS[end.month - 1]} {end.year}"


def _meetings(day: date) -> Iterator[_Entry]:
    first, last = day - timedelta(days=_BEHIND), day + timedelta(days=_AHEAD)
    for place, bank in enumerate(meetings().bank):
        for year in range(first.year, last.year + 1):
            for month in _QUARTERLY if bank.id == "snb" else _MEETING_MONTHS:
                entry = _meeting(bank, place, year, month)
                if first <= entry.day <= last:
                    yield entry


def _meeting(bank: Bank, place: int, year: int, month: int) -> _Entry:
    start = date(year, month, 1)
    # The third Wednesday, or Thursday with every other bank.
    day = start + timedelta(days=(2 + place % 2 - start.weekday()) % 7 + 14)
    moved = month in {6, 12} and (year + place) % 3 == 0
    return _Entry(
        uid=f"{bank.id}-{year}-{month:02}@example.org",
        summary=bank.name,
        day=day + timedelta(days=7) if moved else day,
        at=bank.at,
        zone=bank.zone,
        before=day if moved else None,
        canceled=month in {4, 9} and (year + place) % 4 == 1,
    )


def _ics(entries: Iterator[_Entry], day: date, moment: int) -> bytes:
    """The calendar as it stood on a day: moves and cancellations are told a while ahead, what is far is not sure."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Simulated//Calendar//EN"]
    for entry in entries:
        left = (entry.day - day).days
        told = left <= _TOLD
        shown = entry.before if entry.before is not None and not told else entry.day
        status = "CANCELLED" if entry.canceled and told else "TENTATIVE" if left > _UNSURE else "CONFIRMED"
        start = (
            f"DTSTART;VALUE=DATE:{shown:%Y%m%d}"
            if entry.at is None
            else f"DTSTART;TZID={entry.zone}:{datetime.combine(shown, entry.at):%Y%m%dT%H%M%S}"
        )
        stamp = wire_time(moment).replace("-", "").replace(":", "")
        lines += [
            "BEGIN:VEVENT", f"UID:{entry.uid}", f"DTSTAMP:{stamp}", f"SEQUENCE:{int(told)}", f"SUMMARY:{entry.summary}", start,
            f"STATUS:{status}", "END:VEVENT",
        ]  # fmt: skip
    return "".join(f"{line}\r\n" for line in (*lines, "END:VCALENDAR")).encode()
