"""How large an answer is, reckoned before it is asked for: from periods, columns and how a publisher writes a value."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Self

from almanac.domain.periods import Frequency

#: Days to a period, of those that are no months. Days are those of the calendar, for some feeds have a row for each.
_DAYS = {Frequency.DAILY: 1, Frequency.WEEKLY: 7}
#: From when on an answer is reckoned where nothing says when its series begin: little is older.
FIRST_YEAR = 1950


@dataclass(frozen=True, slots=True)
class Size:
    """How large an answer is at most, as reckoned: values, the separators that bound a reader, and bytes."""

    values: int
    parts: int
    bytes: int

    @classmethod
    def of(cls, values: int, parts: int, width: int) -> Self:
        """So many values, each written with so many separators, in so many bytes."""
        return cls(values, values * parts, values * width)


def periods(frequencies: Iterable[Frequency], first: date | None, last: date) -> int:
    """Periods of all these frequencies that touch the days from `first` (None: from when little is older) to `last`."""
    begin = first or date(FIRST_YEAR, 1, 1)
    days = max(0, (last - begin).days) + 1
    months = max(0, (last.year - begin.year) * 12 + last.month - begin.month) + 1
    return sum(
        -(-days // _DAYS[one]) + (one is Frequency.WEEKLY) if one in _DAYS else -(-months // one.months) + 1
        for one in frequencies
    )


def newest_since(frequencies: Collection[Frequency], today: date) -> date:
    """
    From when on a series is asked each turn, where what is older comes on the slow round: the first of a year, so that the
    address stays the same for a year. Days and weeks from the year before, whose values hardly change once they are out;
    months and longer from three years before, so that the revisions of ordinary years come the day they are published.
    """
    years = 1 if all(one in _DAYS for one in frequencies) else 3
    return date(today.year - years, 1, 1)
