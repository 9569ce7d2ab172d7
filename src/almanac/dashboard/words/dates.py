"""Days and times as people read them. All are UTC, which a page says once; `now` is always an argument."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from markupsafe import Markup

from almanac.domain.times import wire_time
from almanac.reports.wording import MONTHS

#: Stands between the parts of a day or a period, so that no line breaks there.
NBSP = "\N{NO-BREAK SPACE}"
#: Ours, for browsers do not agree on September.
SHORT_MONTHS = tuple(name[:3] for name in MONTHS)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TYPED_DAY = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
#: Relative words are for this long before and after now.
_NEAR = timedelta(hours=24)

#: What a record of the interface has for a time (RFC 3339), or what Python has.
Moment = str | date


def moment_of(value: Moment) -> datetime:
    """An aware UTC time of what a record says, or an address. Raises ValueError for a text that is no time."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    try:
        return value.astimezone(UTC) if value.tzinfo is not None else value.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError(f"{value.isoformat()} lies outside of the calendar") from error


def day_of(value: Moment) -> date:
    """The day, UTC, of what a record says."""
    return moment_of(value).date()


def day(value: Moment) -> str:
    """`20 Nov 2026`, in one piece: a narrow cell must not break it."""
    found = day_of(value)
    return f"{found.day}{NBSP}{SHORT_MONTHS[found.month - 1]}{NBSP}{found.year}"


def short_day(value: Moment) -> str:
    """`20 Nov`, where the year is said beside it; in one piece."""
    found = day_of(value)
    return f"{found.day}{NBSP}{SHORT_MONTHS[found.month - 1]}"


def long_day(value: Moment) -> str:
    """`Friday 20 November 2026`: the heading of a day."""
    found = day_of(value)
    return f"{_WEEKDAYS[found.weekday()]} {found.day} {MONTHS[found.month - 1]} {found.year}"


def day_code(value: Moment) -> str:
    """`2026-11-20`, as fields, addresses and code have it."""
    return day_of(value).isoformat()


def clock(value: Moment) -> str:
    """`10:00`."""
    found = moment_of(value)
    return f"{found.hour:02d}:{found.minute:02d}"


def moment(value: Moment) -> str:
    """`20 Nov 2026, 10:00`. The page says once that this is UTC."""
    return f"{day(value)}, {clock(value)}"


def relative(value: Moment, now: datetime) -> str | None:
    """`2 minutes ago`, `in 19 hours`, `now`; None for what is further away than 24 hours. Whole units, cut and not rounded."""
    away = moment_of(value) - now
    size = abs(away)
    if size > _NEAR:
        return None
    minutes = int(size.total_seconds()) // 60
    if minutes == 0:
        return "now"
    count, unit = (minutes, "minute") if minutes < 60 else (minutes // 60, "hour")
    words = f"{count} {unit}{'' if count == 1 else 's'}"
    return f"in {words}" if away > timedelta() else f"{words} ago"


def when(value: Moment, now: datetime) -> str:
    """Relative within 24 hours, else the day."""
    return relative(value, now) or day(value)


def time_tag(value: Moment, now: datetime | None = None, shown: Literal["day", "moment", "clock"] = "day") -> Markup:
    """`<time datetime="2026-11-20T10:00:00Z">20 Nov 2026</time>`; with `now` relative where it is near, with the whole time as title."""
    exact = _wire(value)
    text = {"day": day, "moment": moment, "clock": clock}[shown](value)
    near = None if now is None else relative(value, now)
    if near is None:
        return Markup('<time datetime="{}">{}</time>').format(exact, text)
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(exact, moment(value), near)


def clock_tag(value: Moment) -> Markup:
    """`<time datetime="2026-11-20T10:00:00Z" data-clock>10:00</time>`: UTC, beside which a script puts the reader's own zone."""
    return Markup('<time datetime="{}" data-clock>{}</time>').format(_wire(value), clock(value))


def _wire(value: Moment) -> str:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    return wire_time(int(moment_of(value).timestamp()))


def days_from(value: date, days: int) -> date:
    """So many days later, or earlier; the first or the last day of the calendar where it has none beyond."""
    return date.fromordinal(min(max(value.toordinal() + days, 1), date.max.toordinal()))


def read_day(text: str) -> date:
    """A day as people type it: `2024-04-30`. Raises ValueError with the sentence for the page."""
    match = _TYPED_DAY.fullmatch(text.strip())
    try:
        if match is not None:
            return date(*(int(part) for part in match.groups()))
    except ValueError:
        pass
    raise ValueError(f"“{text.strip()}” is not a date. Write year, month, day: 2024-04-30")
