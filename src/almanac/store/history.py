"""The values of one series before a reading: the newest few, or a stretch of years, as known at a moment."""

from __future__ import annotations

from typing import Any, NamedTuple

from almanac.domain.observations import FORECAST
from almanac.domain.periods import lowest_key
from almanac.store.directory import SeriesInfo
from almanac.store.reading import View


class Past(NamedTuple):
    """One number of a series. `period` is a key, `known` unix seconds. `withheld`: the number may not be sent or counted."""

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
    values: list[Any] = [series.topic, series.number, period, version]
    if as_of is not None:
        values.append(as_of)
    return _first(view, series, _NEWEST if as_of is None else _NEWEST_THEN, values, limit)


def before(view: View, series: SeriesInfo, since: int, period: int, *, version: int, as_of: int) -> list[Past]:
    """
    The numbers of a series in periods that end on or after a day (its ordinal) and come before `period` (a key), oldest first.

    As known at `as_of`, unix seconds.
    """
    low = since << _DAY_BITS
    found = view.db.execute(_STRETCH, (series.topic, series.number, period, version, as_of, low))
    return [past for row in found if (past := _past(view, series, row)) is not None]


def _first(view: View, series: SeriesInfo, sql: str, values: list[Any], limit: int) -> list[Past]:
    kept: list[Past] = []
    for row in view.db.execute(sql, values):
        past = _past(view, series, row)
        if past is not None:
            kept.append(past)
            if len(kept) == limit:
                break
    return kept


def _past(view: View, series: SeriesInfo, row: tuple[Any, ...]) -> Past | None:
    period, value, known, lineage, flags = row
    if value is None or flags & FORECAST:
        return None
    return Past(period, value, known, lineage, view.directory.row_rights(series, lineage).withheld)


#: Bits of a period's key below those of its last day.
_DAY_BITS = (lowest_key(date_one := __import__("datetime").date(1, 1, 1)) // date_one.toordinal()).bit_length() - 1
_OPEN = "from_version <= ?4 AND to_version > ?4"
