"""A reading as sentences want it: how it is told, and whether it moved by the size that is usual for it."""

from __future__ import annotations

from typing import NamedTuple

from almanac.domain.numbers import exact_sum
from almanac.domain.periods import Frequency, Period
from almanac.reports.brief_measures import MeasureSpec
from almanac.reports.wording import amount, decimals, rounded, span, within

#: A move of less than this many of its usual size is none worth a word; one of so many and more is a big one.
_NONE, _BIG = 0.5, 2.0
_UNITS = {
    "%": {"percent"}, "% of GDP": {"percent"}, "percentage points": {"percentage_points"}, "thousand": {"thousands"},
    "million US dollars": {"usd_millions"},
}  # fmt: skip


class Ranking(NamedTuple):
    """Place of a value among those of `of` countries, 1 the highest. `tied`: another has the same."""

    rank: int
    of: int
    tied: bool


class MeasureReading(NamedTuple):
    """
    The latest public reading of a measure. `period` and `previous_period` are keys.

    `freshness`: fresh, stale or unknown. `percentile`: 0 to 100. `usual`: the mean absolute move of its last ten years
    (`almanac.reports.moves`), None where that is not known. `revised`: the reading before came with another number than it
    had.
    """

    measure: MeasureSpec
    value: float
    unit: str | None
    period: int
    frequency: Frequency
    freshness: str
    previous: float | None = None
    previous_period: int | None = None
    percentile: float | None = None
    ranking: Ranking | None = None
    usual: float | None = None
    revised: bool = False
    #: Key of the period of the newest reading before it, where that is not the one before in time: nothing is compared with it.
    since: int | None = None
    #: Place of its sentence in the text: words that come again are varied by it.
    turn: int = 0

    @property
    def digits(self) -> int:
        """Decimals that its value and the one before are told with."""
        return decimals(self.measure.digits, self.value, *(() if self.previous is None else (self.previous,)))

    @property
    def told(self) -> float:
        """The value as it is told."""
        return rounded(self.value, self.measure.digits)

    @property
    def was(self) -> float:
        """The reading before as it is told; of none zero."""
        return rounded(self.previous or 0.0, self.measure.digits)

    @property
    def move(self) -> float:
        """How far it went since the reading before. A count of what came or went is a move itself."""
        if self.measure.kind == "count":
            return self.value
        return 0.0 if self.previous is None else exact_sum(self.value, -self.previous)

    @property
    def moved(self) -> bool:
        """Whether it went far enough to be said: by its own usual size, where that is not known by the last digit told."""
        least = 10.0**-self.measure.digits if self.usual is None else _NONE * self.usual
        return self.told != self.was and abs(self.move) >= least

    @property
    def big(self) -> bool:
        """Whether it went far more than it usually does."""
        return self.usual is not None and self.move != 0 and abs(self.move) >= _BIG * self.usual

    @property
    def size(self) -> str:
        """The value without its sign, with its unit."""
        return amount(abs(self.value), self.digits, self.measure.unit)

    @property
    def fits(self) -> bool:
        """Whether it is in the unit that the words for its measure are about."""
        wanted = _UNITS.get(self.measure.unit)
        return wanted is None or self.unit in wanted

    @property
    def when(self) -> str:
        """`in October 2026`."""
        return within(Period.from_key(self.period), self.frequency)

    @property
    def gap(self) -> str:
        """`; this is the first reading since 30 April 2024`: the end of a sentence that has nothing to compare with."""
        if self.since is None or self.previous is not None:
            return ""
        return f"; this is the first reading since {span(Period.from_key(self.since), self.frequency)}"

    def over(self) -> str:
        """`over the year to October 2026`: of a change over a year. A calendar year needs no more words."""
        if self.frequency is Frequency.ANNUAL:
            return self.when
        return f"over the year to {self.when.partition(' ')[2]}"
