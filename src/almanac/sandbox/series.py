"""What a simulated series is, how it is published and revised, and the rows that its feed holds on a given day."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

from almanac.domain.periods import Frequency
from almanac.sandbox.economy import Economy
from almanac.sandbox.formats import ArchiveRow
from almanac.sandbox.noise import Days, Floats, normals, on_business_day

#: No series but those of the load test begins earlier.
FIRST_PERIOD = date(2010, 1, 1)
#: Archives begin here: their first vintage holds the history as it stood on that day.
ARCHIVES_BEGIN = np.datetime64("2011-12-30")


@dataclass(frozen=True, slots=True)
class Publishing:
    """When the values of a series come out. Days that are no business days give way to the next one."""

    #: Days from the end of a period to its first publication.
    lag: int = 0
    #: Publications of one value: at the end of the period moved by so many months, plus the lag.
    months: tuple[int, ...] = (0,)
    #: Month of the yearly revision (with the publication for that month), and how many years revise a value. 0: none.
    benchmark: int = 0
    benchmarks: int = 0

    def schedule(self, ends: Days) -> list[Days]:
        """The publication days of each period, first to last."""
        days = [on_business_day(_moved(ends, months) + self.lag) for months in self.months]
        if self.benchmarks:
            year = ends.astype("datetime64[Y]")
            for ahead in range(1, self.benchmarks + 1):
                month = (year + ahead).astype("datetime64[M]") + self.benchmark
                days.append(on_business_day(month.astype("datetime64[D]") - 1 + self.lag))
        return days


def _moved(ends: Days, months: int) -> Days:
    """The last day of the month so many months after the one each period ends in; 0 keeps the day."""
    if not months:
        return ends
    return (ends.astype("datetime64[M]") + months + 1).astype("datetime64[D]") - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """One series of the simulated FRED feed: its place in the catalogue, its true path, and how it is published."""

    native: str
    indicator: str
    entity: str
    frequency: Frequency
    unit: str
    name: str
    path: Callable[[Economy], Floats]
    publishing: Publishing
    source: str = "sandbox-fred"
    digits: int = 2
    #: Size of the first publication's error: a fraction of the value, or (`additive`) in its unit. Later ones are smaller.
    error: float = 0.0
    additive: bool = False
    #: A snapshot lists values without their release days; an archive lists every vintage.
    snapshot: bool = False
    first: date = FIRST_PERIOD
    last: date | None = None
    #: It stops there without a word of its publisher: nothing says that it is discontinued.
    silent: date | None = None
    #: A snapshot that nobody asked for before this day: all of its history was loaded then.
    loaded: date | None = None
    #: Periods never published, by their first day.
    missing: frozenset[str] = frozenset()
    #: A period whose value is taken back, and the day it happens.
    withdrawn: tuple[str, str] | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)

    def line(self) -> dict[str, Any]:
        """The series in the catalogue's words."""
        ended = {"discontinued": True} if self.last else {}
        return {
            "native": self.native,
            "indicator": self.indicator,
            "entity": self.entity,
            "frequency": self.frequency.value,
            "unit": self.unit,
            "name": self.name,
            "seasonal_adjustment": "NSA",
            **ended,
            **self.extras,
        }

    def _within(self, economy: Economy, count: int) -> tuple[slice, Days, Days]:
        """Where the series lies on its axis, and first and last days of the periods of the whole axis."""
        starts, ends = (axis[:count] for axis in economy.periods(self.frequency))
        begin = int(np.searchsorted(starts, np.datetime64(self.first)))
        last = self.last or self.silent
        stop = count if last is None else int(np.searchsorted(starts, np.datetime64(last), side="right"))
        return slice(begin, stop), starts, ends

    def _written(self, values: Floats) -> list[str]:
        # Adding zero turns a negative zero, which rounding can leave, into zero.
        return [f"{value:.{self.digits}f}" for value in (np.round(values, self.digits) + 0.0).tolist()]

    def vintages(self, economy: Economy, until: date) -> list[ArchiveRow]:
        """All that was published by `until`, inclusive: (first day of the period, release day, value as printed)."""
        truth = self.path(economy)
        place, starts, ends = self._within(economy, len(truth))
        columns = []
        for number, released in enumerate(self.publishing.schedule(ends)):
            values = truth
            if self.error:
                miss = self.error * 0.6**number * normals(f"{self.native}/miss/{number}", len(truth))
                values = truth + miss if self.additive else truth * (1 + miss)
            known = (released <= np.datetime64(until))[place].tolist()
            days = np.maximum(released, ARCHIVES_BEGIN)[place].astype(str).tolist()
            columns.append(list(zip(days, self._written(values[place]), known, strict=True)))
        rows: list[ArchiveRow] = []
        for cell, when in enumerate(starts[place].astype(str).tolist()):
            if when not in self.missing:
                rows += self._cell(when, [column[cell] for column in columns], until)
        return rows

    def _cell(self, when: str, published: list[tuple[str, str, bool]], until: date) -> list[ArchiveRow]:
        found: list[ArchiveRow] = []
        # A yearly revision may come before the last of the monthly ones; on one day it comes after it.
        for day, value, known in sorted(published, key=lambda one: one[0]):
            if not known:
                continue
            if found and found[-1][1] == day:  # two on one day, or both before the archive: the later counts
                found.pop()
            if not found or found[-1][2] != value:
                found.append((when, day, value))
        if self.withdrawn and self.withdrawn[0] == when and self.withdrawn[1] <= until.isoformat():
            found = [row for row in found if row[1] < self.withdrawn[1]]
            found.append((when, self.withdrawn[1], "."))
        return found

    def listed(self, economy: Economy, start: date, until: date) -> tuple[list[str], list[str]]:
        """Dates and values of periods that begin on or after `start` and were published by `until`; `.` where missing."""
        truth = self.path(economy)
        place, starts, ends = self._within(economy, len(truth))
        released = self.publishing.schedule(ends)[0]
        chosen = (released <= np.datetime64(until))[place] & (starts[place] >= np.datetime64(start))
        dates = starts[place][chosen].astype(str).tolist()
        values = self._written(truth[place][chosen])
        return dates, ["." if when in self.missing else value for when, value in zip(dates, values, strict=True)]

    def rows(self, economy: Economy) -> int:
        """About how many rows the feed holds of it."""
        place, _, _ = self._within(economy, len(economy.periods(self.frequency)[0]))
        each: int = 1 if not self.error else len(self.publishing.months) + self.publishing.benchmarks
        periods: int = place.stop - place.start
        return periods * each
