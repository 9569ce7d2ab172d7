"""A simulated series: its true path, how it is published and revised, and the rows that its feed holds on a given day."""

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

#: The recipe of one true path, to be run on an economy when it is needed.
Path = Callable[[Economy], Floats]

FRED, LICENSED = "sandbox-fred", "sandbox-licensed"
#: No series but those of the load test begins earlier.
FIRST_PERIOD = date(2010, 1, 1)
#: Archives begin here: their first vintage holds the history as it stood on that day.
ARCHIVES_BEGIN = np.datetime64("2011-12-30")


def level(name: str, code: str, base: float, growth: float, beta: float, noise: float, months: int = 1) -> Path:
    """Return `Economy.trending`, averaged over so many months."""
    return lambda e: e.average(e.trending(name, code, base, growth, beta, noise), months)


def swing(name: str, code: str, centre: float, beta: float, spread: float, months: int = 1) -> Path:
    """Return `Economy.swinging`, averaged over so many months."""
    return lambda e: e.average(e.swinging(name, code, centre, beta, spread), months)


def bond(code: str, years: float, spread: float = 0.0) -> Path:
    """Return the yield of a maturity plus a spread, percent."""
    return lambda e: e.yields(code, years) + spread


def policy(code: str, spread: float = 0.0) -> Path:
    """Return the policy rate of each day plus a spread, percent."""
    return lambda e: e.policy(code) + spread


def prices(code: str, variant: str = "", *, seasonal: bool = False) -> Path:
    """Return a price index, 2015 = 100."""
    return lambda e: e.prices(code, variant, seasonal=seasonal)


@dataclass(frozen=True, slots=True)
class Publishing:
    """The schedule of a series' publications. Days that are no business days give way to the next one."""

    #: Days from the end of a period to its first publication.
    lag: int = 0
    #: Publications of one value: at the end of the period moved by so many months, plus the lag.
    months: tuple[int, ...] = (0,)
    #: Month of the yearly revision (with the publication for that month), and how many years revise a value. 0: none.
    benchmark: int = 0
    benchmarks: int = 0

    def schedule(self, ends: Days) -> list[Days]:
        """Return the publication days of each period, first to last."""
        days = []
        for months in self.months:
            # The last day of the month so many months after the one each period ends in; 0 keeps the day.
            moved = (ends.astype("datetime64[M]") + months + 1).astype("datetime64[D]") - 1 if months else ends
            days.append(on_business_day(moved + self.lag))
        for ahead in range(1, self.benchmarks + 1):
            month = (ends.astype("datetime64[Y]") + ahead).astype("datetime64[M]") + self.benchmark
            days.append(on_business_day(month.astype("datetime64[D]") - 1 + self.lag))
        return days


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedSeries:
    """One series of the simulated FRED feed: its place in the catalogue, its true path, and how it is published."""

    native: str
    indicator: str
    entity: str
    frequency: Frequency
    unit: str
    name: str
    path: Path
    publishing: Publishing
    source: str = FRED
    digits: int = 2
    #: Size of the first publication's error: a fraction of the value, or (`additive`) in its unit. Later ones are smaller.
    error: float = 0.0
    additive: bool = False
    #: A snapshot lists values without their release days; an archive lists every vintage.
    snapshot: bool = False
    first: date = FIRST_PERIOD
    last: date | None = None
    #: It stops there, and the publisher does not say that it is discontinued.
    silent: date | None = None
    #: A snapshot that nobody asked for before this day: all of its history was loaded then.
    loaded: date | None = None
    #: Periods never published, by their first day.
    missing: frozenset[str] = frozenset()
    #: A period whose value is taken back, and the day it happens.
    withdrawn: tuple[str, str] | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)

    def catalog_line(self) -> dict[str, Any]:
        """Return the series as the catalogue declares one."""
        line = {name: getattr(self, name) for name in ("native", "indicator", "entity", "unit", "name")}
        ended = {"discontinued": True} if self.last else {}
        return {**line, "frequency": self.frequency.value, "seasonal_adjustment": "NSA", **ended, **self.extras}

    def _within(self, economy: Economy, count: int) -> tuple[slice, Days, Days]:
        """Return the series' place on its axis, and first and last days of the periods of the whole axis."""
        starts, ends = (axis[:count] for axis in economy.periods(self.frequency))
        begin = int(np.searchsorted(starts, np.datetime64(self.first)))
        last = self.last or self.silent
        stop = count if last is None else int(np.searchsorted(starts, np.datetime64(last), side="right"))
        return slice(begin, stop), starts, ends

    def _written(self, values: Floats) -> list[str]:
        # Adding zero turns a negative zero, which rounding can leave, into zero.
        return [f"{value:.{self.digits}f}" for value in (np.round(values, self.digits) + 0.0).tolist()]

    def vintages(self, economy: Economy, until: date) -> list[ArchiveRow]:
        """Return all that was published by `until`, inclusive: (first day of the period, release day, value as printed)."""
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
        rows: list[ArchiveRow] = []
        # A yearly revision may come before the last of the monthly ones; on one day it comes after it.
        for day, value, known in sorted(published, key=lambda publication: publication[0]):
            if not known:
                continue
            if rows and rows[-1][1] == day:  # two on one day, or both before the archive: the later counts
                rows.pop()
            if not rows or rows[-1][2] != value:
                rows.append((when, day, value))
        if self.withdrawn and self.withdrawn[0] == when and self.withdrawn[1] <= until.isoformat():
            rows = [row for row in rows if row[1] < self.withdrawn[1]]
            rows.append((when, self.withdrawn[1], "."))
        return rows

    def snapshot_rows(self, economy: Economy, start: date, until: date) -> tuple[list[str], list[str]]:
        """Return dates and values of periods that begin on or after `start` and were published by `until`, `.` if missing."""
        truth = self.path(economy)
        place, starts, ends = self._within(economy, len(truth))
        released = self.publishing.schedule(ends)[0]
        chosen = (released <= np.datetime64(until))[place] & (starts[place] >= np.datetime64(start))
        dates = starts[place][chosen].astype(str).tolist()
        values = self._written(truth[place][chosen])
        return dates, ["." if when in self.missing else value for when, value in zip(dates, values, strict=True)]

    def estimated_rows(self, economy: Economy) -> int:
        """Return about how many rows the feed holds of it."""
        place, _, _ = self._within(economy, len(economy.periods(self.frequency)[0]))
        publications = len(self.publishing.months) + self.publishing.benchmarks if self.error else 1
        return int(place.stop - place.start) * publications
