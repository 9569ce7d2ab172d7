"""Days, times and periods as text. Nothing here reads a clock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal

from markupsafe import Markup

from almanac.domain.periods import Frequency, Period
from almanac.domain.releases import period_name
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
    """Return an aware UTC time of what a record says, or an address. Raises ValueError for a text that is no time."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    try:
        return value.astimezone(UTC) if value.tzinfo is not None else value.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError(f"{value.isoformat()} lies outside of the calendar") from error


def day_of(value: Moment) -> date:
    """Return the day, UTC, of what a record says."""
    return moment_of(value).date()


def day(value: Moment) -> str:
    """Return `20 Nov 2026`, in one piece: a narrow cell must not break it."""
    found = day_of(value)
    return f"{found.day}{NBSP}{_month(found)}"


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
    return f"{found:%H:%M}"


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


def years_before(value: date, years: int) -> date:
    """Return the same day so many years earlier; of 29 February the 28th."""
    year = max(value.year - years, 1)
    try:
        return value.replace(year=year)
    except ValueError:
        return value.replace(year=year, day=28)


def read_day(text: str) -> date:
    """Return a day as people type it: `2024-04-30`. Raises ValueError with the sentence for the page."""
    match = _TYPED_DAY.fullmatch(text.strip())
    try:
        if match is not None:
            return date(*(int(part) for part in match.groups()))
    except ValueError:
        pass
    raise ValueError(f"“{text.strip()}” is not a date. Write year, month, day: 2024-04-30")


_FREQUENCIES = {f.value: f for f in Frequency} | {f.word: f for f in Frequency}
_NOUNS = {
    Frequency.ANNUAL: ("year", "years"),
    Frequency.SEMIANNUAL: ("half-year", "half-years"),
    Frequency.QUARTERLY: ("quarter", "quarters"),
    Frequency.NINE_MONTHS: ("nine-month period", "nine-month periods"),
    Frequency.MONTHLY: ("month", "months"),
    Frequency.WEEKLY: ("week", "weeks"),
    Frequency.DAILY: ("day", "days"),
}


def frequency_of(text: str) -> Frequency:
    """Return the frequency of a record, a letter or a word. Raises ValueError for another text."""
    if text not in _FREQUENCIES:
        raise ValueError(f"{text!r} is no frequency; there are {', '.join(_FREQUENCIES)}")
    return _FREQUENCIES[text]


def noun(frequency: Frequency, count: int = 1) -> str:
    """`quarter`, `quarters`: what a period of this frequency is called."""
    return _NOUNS[frequency][count != 1]


def period_of(start: Moment | None, end: Moment) -> Period:
    """Return the period of a record's `periodStart` and `periodEnd`."""
    return Period(None if start is None else day_of(start), day_of(end))


def period(start: Moment | None, end: Moment, frequency: str | None = None) -> str:
    """
    Return a record's period: `2026 Q3`, `Oct 2026`, `2026`, `2026 H1`, `20 Nov 2026`; a week by its last day.

    One that is none of its calendar's (a fiscal quarter) says how long it is and when it ends. `frequency`: None where
    the record has none; its length then tells.
    """
    return notation(period_of(start, end), None if frequency is None else frequency_of(frequency))


def of_row(row: Mapping[str, Any]) -> str:
    """
    Return the period of an observation; of a company's, what the company calls it, where that is another name than the calendar's:
    `2024 Q3 (fiscal Q4 2024)`.
    """
    text, told = period(row["periodStart"], row["periodEnd"], row["frequency"]), row.get("metadata") or {}
    year, part = told.get("fiscalYear"), told.get("fiscalPeriod")
    if year is None or part is None:
        return text
    whole = part == "FY"
    if text == (str(year) if whole else f"{year}{NBSP}{part}"):
        return text
    return f"{text} (fiscal{NBSP}{'' if whole else f'{part}{NBSP}'}{year})"


@lru_cache(4096)
def notation(span: Period, frequency: Frequency | None = None) -> str:
    """Write a period in its own notation: `2024 Q3`."""
    end = span.end
    if span.start is None or frequency in {Frequency.DAILY, Frequency.WEEKLY} or span.start == end:
        return day(end)
    found = _regular(span)
    if found is None:
        # Of a period that ends within a month its last day.
        whole = end == date.max or (end + timedelta(days=1)).day == 1
        return f"{_length(span)}{NBSP}to{NBSP}{_month(end) if whole else day(end)}"
    if found is Frequency.ANNUAL:
        return str(end.year)
    if found is Frequency.SEMIANNUAL:
        return f"{end.year}{NBSP}H{end.month // 6}"
    if found is Frequency.QUARTERLY:
        return f"{end.year}{NBSP}Q{end.month // 3}"
    return _month(end)


def _month(day: date) -> str:
    return f"{SHORT_MONTHS[day.month - 1]}{NBSP}{day.year}"


def code(span: Period, frequency: Frequency | None = None) -> str:
    """Write a period as addresses and the interface's `period` have it: `2026-Q3`; of an irregular one its last day."""
    found = None if frequency in {Frequency.DAILY, Frequency.WEEKLY} else _regular(span)
    return period_name(span.key, found or Frequency.DAILY)


def written(text: str) -> str:
    """Return a period that the interface has as a text (`2026-Q3`, of an event or a release) in our notation; any other as it is."""
    try:
        return notation(Period.parse(text))
    except ValueError:
        return text


def event_title(text: str) -> str:
    """Return an event's title with the period that ends it (`France: Consumer prices, 2026-10`) in words: `October 2026`, `2026 Q3`."""
    name, comma, last = text.rpartition(", ")
    if not comma or not _PERIOD_CODE.fullmatch(last):
        return text
    try:
        span = Period.parse(last)
    except ValueError:
        return text
    if _regular(span) is Frequency.MONTHLY:
        return f"{name}, {MONTHS[span.end.month - 1]}{NBSP}{span.end.year}"
    return f"{name}, {notation(span)}"


def fiscal(year: int, part: str = "FY") -> str:
    """Return the fiscal period of a statement: `FY2025`, `Q3 FY2025`."""
    return f"FY{year}" if part == "FY" else f"{part}{NBSP}FY{year}"


def between(first: str, last: str, *, tight: bool = False) -> str:
    """`2016 Q1 to 2026 Q3`; in tight places with an en dash."""
    return first if first == last else f"{first}{'–' if tight else ' to '}{last}"


#: A period as the interface ends a title with it; a bare year is left as it is, for it reads the same.
_PERIOD_CODE = re.compile(r"[0-9]{4}-(?:[0-9]{2}(?:-[0-9]{2})?|[QS][1-4])")


def _regular(span: Period) -> Frequency | None:
    """Return the calendar that a period is one of: a calendar year, half, quarter or month; else None."""
    if span.start is None:
        return None
    for frequency in (Frequency.MONTHLY, Frequency.QUARTERLY, Frequency.SEMIANNUAL, Frequency.ANNUAL):
        if span.end.month % frequency.months == 0 and Period.ending(span.end, frequency) == span:
            return frequency
    return None


def _length(span: Period) -> str:
    """About how long a period is: `3 months`, a year as `year`, less than a month in days."""
    days = (span.end - (span.start or span.end)).days + 1
    months = round(days / 30.44)
    if months == 12:
        return "year"
    return f"{months}{NBSP}months" if months > 1 else "month" if days > 26 else f"{days}{NBSP}days"
