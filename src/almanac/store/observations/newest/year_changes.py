"""
Changes over one year: the latest reading of every entity less the value of its series for the period one year before it, each as
known at the same moment.

Both are of one series, and so of one source, frequency, unit, currency and basis. Where that series has no value for the
period a year before, or one that may not be sent, there is no change: none is made of what another source says.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from cachetools import LRUCache

from almanac.domain.numbers import exact_sum
from almanac.domain.observations import AHEAD, quality
from almanac.domain.periods import Frequency, add_months, days_of, end_of, highest_key, lowest_key
from almanac.store.observations.newest.columns import QUALITIES, Column, Readings
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.row_rights import withheld
from almanac.store.observations.reading.selection import EVER, HAS_VALUE, standing

#: Between a field and what of it is meant: `total_debt:change_1y`.
OVER_A_YEAR = ":change_1y"
_MONTHS = 12
#: Days before and after the day a year earlier within which the period then ends: fiscal years have whole weeks, months their
#: own lengths, and of daily data the last day before a holiday counts.
_BEFORE = {Frequency.DAILY: 7, Frequency.WEEKLY: 3}
_AFTER = {Frequency.DAILY: 0, Frequency.WEEKLY: 3}
_APART = 10
#: Days by which two periods of a year and of another may differ in length.
_LONGER = 10
#: Readings whose periods a year before end within so many days are looked up together.
_TOGETHER = 100
#: Columns kept at most.
_HELD = 64


class _Earlier(NamedTuple):
    """A value for a period a year before."""

    period: int
    value: float
    lineage: int
    known: int
    flags: int


class YearChanges:
    """Columns of changes of one process, made of its columns of readings, for all its threads."""

    def __init__(self, readings: Readings) -> None:
        self._readings = readings
        self._lock = threading.Lock()
        self._columns: LRUCache[tuple[Any, ...], Column] = LRUCache(_HELD)
        self._newest: dict[str, tuple[str, int]] = {}

    def warm(self, indicators: Iterable[str], state: tuple[str, int] | None) -> bool:
        """Whether today's changes of these indicators are at hand, of the state that is the newest."""
        with self._lock:
            return all(state is not None and self._newest.get(name) == state for name in indicators)

    def column(self, view: View, indicator: str, *, version: int, as_of: int | None) -> Column:
        """
        The changes of an indicator at a data version; as known at `as_of`, where that is given (unix seconds). Of each entity
        that has a latest reading, without a value where there is no change.

        A change is known since the later of its two values, and checks say of it what they say of the worse.
        """
        key = (indicator, view.epoch, version, view.directory.reference, as_of)
        with self._lock:
            held = self._columns.get(key)
        if held is None:
            newest = self._readings.column(view, indicator, version=version, as_of=as_of)
            held = _over_a_year(view, indicator, newest, version, as_of)
            with self._lock:
                self._columns[key] = held
                if as_of is None and version == view.version:
                    self._newest[indicator] = (view.epoch, version)
        return held


def _over_a_year(view: View, indicator: str, newest: Column, version: int, as_of: int | None) -> Column:
    earlier = _earlier(view, indicator, newest, version, as_of)
    origins = [(int(newest.series[row]), one.lineage) for row, one in earlier.items()]
    hidden = withheld(view, view.directory, origins, {})
    values = np.full(len(newest.values), np.nan)
    known, checked = newest.known.copy(), newest.quality.copy()
    for (row, one), origin in zip(earlier.items(), origins, strict=True):
        if origin not in hidden:
            values[row] = exact_sum(float(newest.values[row]), -one.value)
            known[row] = max(int(known[row]), one.known)
            checked[row] = max(int(checked[row]), QUALITIES.index(quality(one.flags)))
    return newest._replace(values=values, texts=(None,) * len(values), known=known, quality=checked)


def _earlier(view: View, indicator: str, newest: Column, version: int, as_of: int | None) -> dict[int, _Earlier]:
    """The value of each reading's series for the period a year before, by the place of the reading; of those that have one."""
    wanted: dict[int, tuple[int, date, date, date]] = {}
    for row in np.flatnonzero(~np.isnan(newest.values)).tolist():
        series = int(newest.series[row])
        frequency = view.directory.series(series).spec.frequency
        target = add_months(end_of(int(newest.periods[row])), -_MONTHS)
        first = date.fromordinal(target.toordinal() - _BEFORE.get(frequency, _APART))
        last = date.fromordinal(target.toordinal() + _AFTER.get(frequency, _APART))
        wanted[row] = (series, target, first, last)
    found: dict[int, list[_Earlier]] = defaultdict(list)
    groups: dict[int, list[int]] = defaultdict(list)
    for row, (_, target, _, _) in wanted.items():
        groups[target.toordinal() // _TOGETHER].append(row)
    for rows in groups.values():
        series_of = {wanted[row][0] for row in rows}
        bounds = (lowest_key(min(wanted[row][2] for row in rows)), highest_key(max(wanted[row][3] for row in rows)))
        asked = (indicator, version, EVER if as_of is None else as_of, *bounds)
        for series, *rest in view.execute(_WITHIN, asked):
            if series in series_of:
                found[series].append(_Earlier(*rest))
    chosen: dict[int, _Earlier] = {}
    for row, (series, target, first, last) in wanted.items():
        one = _nearest(found.get(series, ()), int(newest.periods[row]), target, first, last)
        if one is not None:
            chosen[row] = one
    return chosen


def _nearest(rows: Sequence[_Earlier], newest: int, target: date, first: date, last: date) -> _Earlier | None:
    """The row whose period ends nearest to a day, the earlier of two, within two days and as long as the newest."""
    fitting = [
        one
        for one in rows
        if first <= end_of(one.period) <= last and abs(_length(one.period) - _length(newest)) <= _LONGER
    ]
    return min(fitting, key=lambda one: (abs((end_of(one.period) - target).days), end_of(one.period)), default=None)


def _length(period: int) -> int:
    """Days of a period; 0 of an instant."""
    start, end = days_of(period)
    return 0 if start is None else end - start + 1


_WITHIN = (
    "SELECT x.series, x.period, x.value, x.lineage, x.known_at, x.flags FROM topic t CROSS JOIN vintages x ON x.topic = t.topic"
    f" WHERE t.indicator = ?1 AND x.period BETWEEN ?4 AND ?5 AND {standing('?2', '?3')} AND {HAS_VALUE.format('x')}"
    f" AND x.value IS NOT NULL AND x.flags & {AHEAD} = 0"
)
