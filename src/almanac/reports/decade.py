"""
The ten years before a reading, and its place among them: one rule for briefs and release summaries. Pure.

A place is given only if all ten years are known and the number has no trend. Their values are those known at the
reading's vintage, so the same value has the same place everywhere.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from almanac.domain.numbers import mean_difference, significant
from almanac.domain.periods import Frequency, end_of
from almanac.domain.releases import NEAR_DAYS

YEARS = 10
#: Units without a trend, so that a place among ten years means something.
LEVEL_FREE = frozenset({"percent", "percentage_points", "points", "ratio", "months"})
#: One in this many periods may be missing, for example a month that was never surveyed.
_ONE_IN = 10
#: Business days and weeks in ten years.
_PERIODS = {Frequency.DAILY: 2_600, Frequency.WEEKLY: 520}
#: Days in the shortest month.
_SHORTEST = 28


class Decade(NamedTuple):
    """Values of a series over the ten years before a reading. `oldest` is the key of the first period among them."""

    values: Sequence[float]
    oldest: int


class DecadePlace(NamedTuple):
    """
    The place of a value among others that do not include it, to twelve significant digits.

    `z_score` is (value - mean) / sd, with n - 1 in the sd; None if all others are equal. `percentile` is the mid-rank
    100·(below + equal/2)/n.
    """

    z_score: float | None = None
    percentile: float | None = None


def begins(period: int) -> date:
    """Return the earliest period end that a reading is compared with: the same day ten years earlier."""
    end = end_of(period)
    # The end of a month ten years ago may fall on another day, because of February.
    day = min(end.day, 28) if end.month == 2 else end.day
    return end.replace(year=max(1, end.year - YEARS), day=day)


def is_whole(past: Decade, period: int, frequency: Frequency) -> bool:
    """Return whether the ten years are known: their first period, and at least nine of ten periods."""
    late = (end_of(past.oldest) - begins(period)).days
    step = {Frequency.DAILY: NEAR_DAYS, Frequency.WEEKLY: 7}.get(frequency, frequency.months * _SHORTEST)
    periods = _PERIODS.get(frequency) or YEARS * 12 // frequency.months
    return late < step and len(past.values) * _ONE_IN >= periods * (_ONE_IN - 1)


def standing(value: float, unit: str | None, period: int, frequency: Frequency, past: Decade | None) -> DecadePlace:
    """
    Return the place of a reading among its ten years. It is empty if the years are not whole or the unit's numbers have
    a trend.
    """
    if past is None or unit not in LEVEL_FREE or not is_whole(past, period, frequency):
        return DecadePlace()
    return place(value, past.values)


def place(value: float, among: Sequence[float]) -> DecadePlace:
    """Return the place of a number among at least two others."""
    count = len(among)
    mean = math.fsum(among) / count
    spread = math.sqrt(math.fsum((one - mean) ** 2 for one in among) / (count - 1))
    # Equal numbers leave at most a spread of rounding errors, so compare them directly.
    z_score = significant(mean_difference([value], among) / spread) if min(among) != max(among) else None
    ordered = sorted(among)
    middle = (bisect_left(ordered, value) + bisect_right(ordered, value)) / 2
    return DecadePlace(z_score, significant(100 * middle / count))
