"""The values of one series before a reading: the newest few, or a stretch of years, as known at a moment."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import islice
from typing import NamedTuple

from almanac.domain.observations import FORECAST
from almanac.domain.periods import lowest_key
from almanac.store.observations.reading.directory import SeriesInfo
from almanac.store.observations.reading.reader import View

#: Later than anything is known.
_EVER = 1 << 62


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
    The same of all periods before `period` that end on `since` or later, newest first, as known at `as_of`.

    None where there are none, or where one of them may be neither sent nor counted.
    """
    values: list[float] = []
    oldest, seen = 0, -1
    asked = _asked(series, lowest_key(since), period - 1, version, as_of)
    # Ten years of days are thousands of rows, of mostly one lineage: no object is made for each.
    for of, value, lineage, flags, _ in view.execute(_STATES, asked):
        if value is not None and not flags & FORECAST:
            if lineage != seen:
                if view.directory.row_rights(series, lineage).withheld:
                    return None
                seen = lineage
            values.append(value)
            oldest = of
    return PastNumbers(values, oldest) if values else None


def _walk(view: View, series: SeriesInfo, low: int, high: int, version: int, as_of: int | None) -> Iterator[Past]:
    """Numbers of the periods between two keys, inclusive, newest first."""
    found = view.scan(_STATES, _asked(series, low, high, version, as_of))  # there may be many, of which few are wanted
    for period, value, lineage, flags, known in found:
        if value is not None and not flags & FORECAST:
            yield Past(period, value, known, lineage, view.directory.row_rights(series, lineage).withheld)


def _asked(series: SeriesInfo, low: int, high: int, version: int, as_of: int | None) -> tuple[int, ...]:
    """What `_STATES` is asked with."""
    return series.topic, series.number, low, high, version, _EVER if as_of is None else as_of


#: The last state of each period: where `max` picks a row, SQLite takes the other columns from it.
_STATES = (
    "SELECT period, value, lineage, flags, max(known_at) FROM vintages"
    " WHERE topic = ?1 AND series = ?2 AND period BETWEEN ?3 AND ?4"
    " AND from_version <= ?5 AND to_version > ?5 AND known_at <= ?6 GROUP BY period ORDER BY period DESC"
)
