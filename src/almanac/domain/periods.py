"""
Reference periods: what a number is about, and how old it may grow before it is stale.

A period is a pair of inclusive days; `start` is absent for an instant (a balance sheet). In the store a period is
one integer, its *key*, which sorts by end, then by start with absent starts last:

    key = end.toordinal() << 14 | (16_382 - days from start to end, or 16_383 for an instant)
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Self

#: Bits below the last day: all set for an instant, or else the difference of the period's length to the longest.
SPAN_BITS = 14
INSTANT = (1 << SPAN_BITS) - 1
LONGEST = INSTANT - 1
#: Lowest and highest key: a span that holds every period.
EVERY_KEY = (0, 1 << 62)


class Frequency(StrEnum):
    """The frequency of a series. The letter is part of a series id, so it never changes."""

    ANNUAL = "A", "annual", 12, 600
    SEMIANNUAL = "S", "semiannual", 6, 400
    QUARTERLY = "Q", "quarterly", 3, 200
    NINE_MONTHS = "N", "nine_months", 9, 200
    MONTHLY = "M", "monthly", 1, 90
    WEEKLY = "W", "weekly", 0, 21
    DAILY = "D", "daily", 0, 10

    _value_: str
    #: The word for it: `monthly`.
    word: str
    #: Months in one period; 0 for weeks and days, which are counted in days.
    months: int
    #: Days after a period's end during which its value counts as fresh, unless a data set has its own limit.
    allowance_days: int
    #: 0 for the highest frequency. The latest reading prefers higher frequencies.
    rank: int

    # The defaults are only for the type checker, which takes the look-up `Frequency(letter)` for a call of this.
    def __new__(cls, letter: str, word: str = "", months: int = 0, allowance_days: int = 0) -> Self:
        member = str.__new__(cls, letter)
        member._value_ = letter
        member.word, member.months, member.allowance_days = word, months, allowance_days
        member.rank = "DWMQNSA".index(letter)
        return member


#: Accepted names of a frequency: the letter or the word.
FREQUENCY_NAMES: dict[str, Frequency] = {
    **{f.value.lower(): f for f in Frequency if f is not Frequency.NINE_MONTHS},
    **{f.word: f for f in Frequency if f is not Frequency.NINE_MONTHS},
}


@dataclass(frozen=True, slots=True, order=False)
class Period:
    """
    A reference period: inclusive days, `start` None for an instant.

    >>> Period.parse("2026-Q3").end
    datetime.date(2026, 9, 30)
    >>> Period.from_key(Period.parse("2026-10").key) == Period.parse("2026-10")
    True
    """

    start: date | None
    end: date

    @property
    def key(self) -> int:
        """
        The sortable integer that the store keeps. Raises ValueError if the span is too long for a key (44 years) or
        starts after its end.
        """
        return key_of(None if self.start is None else self.start.toordinal(), self.end.toordinal())

    @classmethod
    def from_key(cls, key: int) -> Period:
        start, end = days_of(key)
        return cls(None if start is None else date.fromordinal(start), date.fromordinal(end))

    @classmethod
    def ending(cls, end: date, frequency: Frequency) -> Period:
        """
        Return the period of a frequency that ends on `end`. For months and longer, it ends on the last day of that
        month.
        """
        if frequency is Frequency.DAILY:
            return cls(end, end)
        if frequency is Frequency.WEEKLY:
            return cls(end - timedelta(days=6), end)
        first = add_months(date(end.year, end.month, 1), 1 - frequency.months)
        return cls(first, date(end.year, end.month, calendar.monthrange(end.year, end.month)[1]))

    @classmethod
    def starting(cls, start: date, frequency: Frequency) -> Period:
        """Return the period of a frequency that begins on `start`."""
        if frequency is Frequency.DAILY:
            return cls(start, start)
        if frequency is Frequency.WEEKLY:
            return cls(start, start + timedelta(days=6))
        return cls(start, add_months(start, frequency.months) - timedelta(days=1))

    @classmethod
    def parse(cls, text: str) -> Period:
        """Parse `2026`, `2026-10`, `2026-Q3`, `2026-S1` or `2026-10-31`. Raises ValueError that lists the allowed forms."""
        match = _PERIOD_TEXT.fullmatch(text)
        if match is None:
            raise ValueError("a period is written 2026, 2026-Q3, 2026-10 or 2026-10-31")
        year = int(match["year"])
        if year < 1:
            raise ValueError("a period starts with a year from 0001 to 9999")
        if match["quarter"]:
            return cls.ending(date(year, 3 * int(match["quarter"]), 1), Frequency.QUARTERLY)
        if match["half"]:
            return cls.ending(date(year, 6 * int(match["half"]), 1), Frequency.SEMIANNUAL)
        if match["day"]:
            day = date(year, int(match["month"]), int(match["day"]))
            return cls(day, day)
        if match["month"]:
            return cls.ending(date(year, int(match["month"]), 1), Frequency.MONTHLY)
        return cls(date(year, 1, 1), date(year, 12, 31))

    def __str__(self) -> str:
        return f"{self.start or ''}..{self.end}"


_PERIOD_TEXT = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?:[Qq](?P<quarter>[1-4])|[Ss](?P<half>[12])|(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?))?"
)


def add_months(day: date, months: int) -> date:
    """Return the day `months` months later, or that month's last day if it is too short."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def key_of(start: int | None, end: int) -> int:
    """
    Return the key of a period from its first and last day as ordinals. `start` is None for an instant. Raises
    ValueError if the span is too long for a key or starts after its end.
    """
    if start is None:
        return end << SPAN_BITS | INSTANT
    if not 0 <= end - start <= LONGEST:
        raise ValueError(f"a period from {date.fromordinal(start)} to {date.fromordinal(end)} cannot be kept")
    return end << SPAN_BITS | (LONGEST - (end - start))


def days_of(key: int) -> tuple[int | None, int]:
    """Return the first day (None for an instant) and the last day, as ordinals, of a key's period. It inverts `key_of`."""
    end, code = key >> SPAN_BITS, key & INSTANT
    return None if code == INSTANT else end - (LONGEST - code), end


def end_of(key: int) -> date:
    """Return the last day of a key's period."""
    return date.fromordinal(key >> SPAN_BITS)


def start_of(key: int) -> date | None:
    """Return the first day of a key's period, or None for an instant."""
    return Period.from_key(key).start


def lowest_key(end: date) -> int:
    """Return the smallest key of any period that ends on `end`, as a lower bound for "ends on or after"."""
    return end.toordinal() << SPAN_BITS


def highest_key(end: date) -> int:
    """Return the largest key of any period that ends on `end`, as an upper bound for "ends on or before"."""
    return end.toordinal() << SPAN_BITS | INSTANT


def ordinal(key: int, frequency: Frequency) -> int:
    """
    Return the number of a period in its frequency's own calendar, so that a lag is a subtraction.

    For A, S, N, Q and M it counts months (the month of the end). For D and W it counts days (the end day), so a lag of
    one week is 7.
    """
    end = end_of(key)
    return end.year * 12 + end.month - 1 if frequency.months else end.toordinal()


def key_at(number: int, frequency: Frequency) -> int:
    """Return the key of the regular period with this number. It inverts `ordinal`."""
    if not frequency.months:
        return Period.ending(date.fromordinal(number), frequency).key
    year, month = divmod(number, 12)
    return Period.ending(date(year, month + 1, 1), frequency).key


def freshness(newest_end: date | None, today: date, allowance_days: int | None) -> str:
    """Return `fresh` or `stale`, counted in whole UTC days, or `unknown` if there is no period or allowance to judge by."""
    if newest_end is None or allowance_days is None:
        return "unknown"
    return "fresh" if (today - newest_end).days <= allowance_days else "stale"
