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


def newest(
    view: View, series: SeriesInfo, period: int, *, version: int, as_of: int | None, limit: int = 2
) -> list[Past]:
    """
    The newest numbers of a series up to a period (a key), itself included, newest first; at most `limit`.

    As known at `as_of` (unix seconds), where that is given. Forecasts, texts and withdrawn values are left out.
    """
    return list(islice(_walk(view, series, 0, period, version, as_of), limit))


def before(view: View, series: SeriesInfo, since: date, period: int, *, version: int, as_of: int) -> list[Past]:
    """The same of all periods before `period` that end on `since` or later, newest first, as known at `as_of`."""
    return list(_walk(view, series, lowest_key(since), period - 1, version, as_of))


def _walk(view: View, series: SeriesInfo, low: int, high: int, version: int, as_of: int | None) -> Iterator[Past]:
    """Numbers of the periods between two keys, inclusive, newest first."""
    known_by = _EVER if as_of is None else as_of
    values = (series.topic, series.number, low, high, version, known_by)
    # Ten years of a series have few lineages, mostly one.
    shut: dict[int, bool] = {}
    for period, value, lineage, flags, known in view.execute(_STATES, values):
        if value is not None and not flags & FORECAST:
            if lineage not in shut:
                shut[lineage] = view.directory.row_rights(series, lineage).withheld
            yield Past(period, value, known, lineage, shut[lineage])


#: The last state of each period: where `max` picks a row, SQLite takes the other columns from it.
_STATES = (
    "SELECT period, value, lineage, flags, max(known_at) FROM vintages"
    " WHERE topic = ?1 AND series = ?2 AND period BETWEEN ?3 AND ?4"
    " AND from_version <= ?5 AND to_version > ?5 AND known_at <= ?6 GROUP BY period ORDER BY period DESC"
)
