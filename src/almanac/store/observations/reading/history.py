"""The values of one series before a reading: the newest few, or a stretch of years, as known at a moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from itertools import islice
from typing import NamedTuple

from almanac.domain.observations import AHEAD
from almanac.domain.periods import lowest_key
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.selection import EVER, standing
from almanac.store.observations.reading.series_info import SeriesInfo


class Past(NamedTuple):
    """One number of a series. `period` is a key, `known` unix seconds. `withheld`: it may be neither sent nor counted."""

    period: int
    value: float
    known: int
    lineage: int
    withheld: bool


class PastNumbers(NamedTuple):
    """Numbers of a series over some years, newest first. `oldest`: key of the period of the last."""

    values: list[float]
    oldest: int


def newest(
    view: View, series: SeriesInfo, period: int, *, version: int, as_of: int | None, limit: int = 2
) -> list[Past]:
    """
    The newest numbers of a series up to a period (a key), itself included, newest first; at most `limit`.

    As known at `as_of` (unix seconds), where that is given. Forecasts, texts and withdrawn values are left out.
    """
    return list(islice(_walk(view, series, 0, period, version, as_of), limit))


def before(view: View, series: SeriesInfo, since: date, period: int, *, version: int, as_of: int) -> PastNumbers | None:
    """
    Read the numbers of all periods before `period` that end on `since` or later, newest first, as known at `as_of`.

    None where there are none, or where one of them may be neither sent nor counted.
    """
    values: list[float] = []
    oldest, seen = 0, -1
    asked = _bind(series, lowest_key(since), period - 1, version, as_of)
    # Ten years of days are thousands of rows, of mostly one lineage: no object is made for each.
    for of, value, lineage, flags, _ in view.execute(_STATES, asked):
        if value is not None and not flags & AHEAD:
            if lineage != seen:
                if view.directory.row_rights(series, lineage).withheld:
                    return None
                seen = lineage
            values.append(value)
            oldest = of
    return PastNumbers(values, oldest) if values else None


def of_vintages(
    view: View, series: SeriesInfo, rows: Iterable[tuple[int, int, float | None, int, int]], since: date, period: int,
    *, as_of: int,
) -> PastNumbers | None:  # fmt: skip
    """`before`, from vintages that were read already: period, knowledge time, value, flags and lineage, by the first two."""
    lowest = lowest_key(since)
    last = {row[0]: row for row in rows if lowest <= row[0] < period and row[1] <= as_of}
    told = [row for row in reversed(last.values()) if row[2] is not None and not row[3] & AHEAD]
    if not told or any(view.directory.row_rights(series, lineage).withheld for lineage in {row[4] for row in told}):
        return None
    return PastNumbers([row[2] for row in told if row[2] is not None], told[-1][0])


def _walk(view: View, series: SeriesInfo, low: int, high: int, version: int, as_of: int | None) -> Iterator[Past]:
    """Numbers of the periods between two keys, inclusive, newest first."""
    found = view.scan(_STATES, _bind(series, low, high, version, as_of))  # there may be many, of which few are wanted
    for period, value, lineage, flags, known in found:
        if value is not None and not flags & AHEAD:
            yield Past(period, value, known, lineage, view.directory.row_rights(series, lineage).withheld)


def _bind(series: SeriesInfo, low: int, high: int, version: int, as_of: int | None) -> tuple[int, ...]:
    """What `_STATES` is asked with."""
    return series.topic, series.number, low, high, version, EVER if as_of is None else as_of


#: The state of each period; bound are topic, series, the periods between which they are, version and moment.
_STATES = (
    "SELECT x.period, x.value, x.lineage, x.flags, x.known_at FROM vintages x WHERE x.topic = ?1 AND x.series = ?2"
    f" AND x.period BETWEEN ?3 AND ?4 AND {standing('?5', '?6')} ORDER BY x.period DESC"
)
