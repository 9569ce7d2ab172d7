"""
Native codes that succeed or repeat one another within one series of one source.

A publisher that moves a series to another code (a new data set, a re-based index) continues it. Each code of the
series then speaks for its own stretch of reference periods: from its `from_date` to the day before the next code's.
A code with `copy_of` repeats the numbers of another, over the other's stretch; it may be slower or shorter, so what
it leaves out is never taken for a withdrawal. The record of the series is that of its newest code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from almanac.domain.observations import ReportedValue
from almanac.domain.periods import highest_key, lowest_key
from almanac.domain.reference import SeriesSpec

#: What all codes of one series must agree on: a series says each of these once.
AGREED = ("unit", "scale", "seasonal_adjustment", "annualized", "curve_type", "compounding", "exposure")


class Stretch(NamedTuple):
    """For what a native code speaks: of which series, and of periods ending from `first` to `last` (None: no bound)."""

    series: SeriesSpec
    first: date | None
    last: date | None
    copy: bool

    @property
    def is_whole(self) -> bool:
        """Tell whether this native code alone speaks for the series."""
        return self.first is None and self.last is None and not self.copy

    def clip(
        self, statements: Sequence[ReportedValue], complete: tuple[int, int] | None
    ) -> tuple[Sequence[ReportedValue], tuple[int, int] | None]:
        """Restrict a payload's statements and its span of completeness to the stretch of this code."""
        if self.first is None and self.last is None:
            return statements, None if self.copy else complete
        low = 0 if self.first is None else lowest_key(self.first)
        high = highest_key(date.max if self.last is None else self.last)
        kept = [statement for statement in statements if low <= statement.period <= high]
        if complete is None or self.copy:
            return kept, None
        span = max(complete[0], low), min(complete[1], high)
        return kept, span if span[0] <= span[1] else None


def stretches(natives: Mapping[str, SeriesSpec]) -> dict[str, Stretch]:
    """Return the stretch of every native code of one source. The codes must have passed the checks."""
    found: dict[str, Stretch] = {}
    for codes in by_series(natives).values():
        owners = sorted((spec for spec in codes if spec.copy_of is None), key=start)
        for spec, after in zip(owners, [*owners[1:], None], strict=True):
            last = None if after is None else start(after) - timedelta(days=1)
            found[spec.native] = Stretch(owners[-1], spec.from_date, last, copy=False)
        for spec in codes:
            if spec.copy_of is not None:
                found[spec.native] = found[spec.copy_of]._replace(copy=True)
    return found


def start(spec: SeriesSpec) -> date:
    """Return the first day for which a native code speaks."""
    return spec.from_date or date.min


def by_series(natives: Mapping[str, SeriesSpec]) -> dict[str, list[SeriesSpec]]:
    """Return the native codes of a source by the series that they make."""
    found: dict[str, list[SeriesSpec]] = {}
    for spec in natives.values():
        found.setdefault(spec.id, []).append(spec)
    return found
