"""Single observations, their cells, and the past of one series: what provenance, briefs and releases are made of."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any, NamedTuple

from almanac.domain.companies import is_company
from almanac.domain.observations import AHEAD, Vintage
from almanac.domain.periods import lowest_key
from almanac.store.engine.protocol import Queryable
from almanac.store.engine.sqlite import OPEN
from almanac.store.observations.ids import place
from almanac.store.observations.reading.metadata import SeriesInfo
from almanac.store.observations.reading.pages import ObservationRow, row_of
from almanac.store.observations.reading.query import EVER, VINTAGE, body_sql, valid_at_sql
from almanac.store.observations.reading.reader import View


class StoredRow(NamedTuple):
    """A row and the payload it was read from (0 for a derived one)."""

    row: ObservationRow
    payload: int


def by_id(view: View, identifier: str) -> StoredRow | None:
    """Return the open row that an id names, else the one closed last; None where none ever stood at its place, and for no id."""
    parts = place(identifier)
    if parts is None:
        return None
    sql = (
        f"SELECT x.payload, x.topic, {VINTAGE} FROM series s CROSS JOIN vintages x ON x.topic = s.topic AND x.series = s.series"
        " WHERE s.hash = ? AND x.period = ? AND x.known_at = ? ORDER BY x.to_version DESC LIMIT 1"
    )
    columns = view.execute(sql, parts).fetchone()
    return None if columns is None else StoredRow(row_of(view.directory, columns), columns[0])


def cell(view: View, series: SeriesInfo, period: int) -> list[ObservationRow]:
    """Return the open vintages of one cell of one series, ascending by knowledge time."""
    sql = (
        f"SELECT x.payload, x.topic, {VINTAGE} FROM vintages x"
        f" WHERE x.topic = ? AND x.period = ? AND x.series = ? AND x.to_version = {OPEN} ORDER BY x.known_at"
    )
    return [row_of(view.directory, columns) for columns in view.execute(sql, (series.topic, period, series.number))]


def history(db: Queryable, series: SeriesInfo, low: int, high: int) -> dict[int, list[Vintage]]:
    """Return the open vintages of a series whose period keys lie in a span, by period, ascending by knowledge time."""
    vintages: dict[int, list[Vintage]] = {}
    sql = (
        "SELECT period, known_at, value, text, flags, released_at, ingested_at, payload,"
        f" {body_sql('vintages')}, lineage FROM vintages"
        f" WHERE topic = ? AND period BETWEEN ? AND ? AND series = ? AND to_version = {OPEN} ORDER BY period, known_at"
    )
    for period, *columns in db.execute(sql, (series.topic, low, high, series.number)):
        vintages.setdefault(period, []).append(Vintage(*columns))
    return vintages


# -- the past of a series -----------------------------------------------------------------------------------------------


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


def newest_numbers(
    view: View, series: SeriesInfo, period: int, *, version: int, as_of: int | None, limit: int = 2
) -> list[Past]:
    """
    Return the newest numbers of a series up to a period (a key), itself included, newest first; at most `limit`.

    As known at `as_of` (unix seconds), where that is given. Forecasts, texts and withdrawn values are left out.
    """
    values = (series.topic, series.number, 0, period, version, EVER if as_of is None else as_of)
    return [
        Past(of, value, known, lineage, view.directory.row_rights(series, lineage).withheld)
        for of, value, lineage, known in view.execute(f"{_NUMBERS} LIMIT {limit}", values)
    ]


def numbers_before(
    view: View, series: SeriesInfo, since: date, period: int, *, version: int, as_of: int
) -> PastNumbers | None:
    """
    Return the numbers of all periods before `period` that end on `since` or later, newest first, as known at `as_of`.

    None where there are none, or where one of them may be neither sent nor counted.
    """
    bound = (series.topic, series.number, lowest_key(since), period - 1, version, as_of)
    rows = view.execute(_NUMBERS, bound).fetchall()
    return _unless_withheld(view, series, [(of, value, lineage) for of, value, lineage, _ in rows])


def numbers_of_vintages(
    view: View, series: SeriesInfo, rows: Iterable[tuple[int, int, float | None, int, int]], since: date, period: int,
    *, as_of: int,
) -> PastNumbers | None:  # fmt: skip
    """Return what `numbers_before` does, from vintages that were read: period, knowledge time, value, flags and lineage, in this order."""
    lowest = lowest_key(since)
    last = {row[0]: row for row in rows if lowest <= row[0] < period and row[1] <= as_of}
    numbers = [
        (of, value, lineage)
        for of, _, value, flags, lineage in reversed(last.values())
        if value is not None and not flags & AHEAD
    ]
    return _unless_withheld(view, series, numbers)


def _unless_withheld(view: View, series: SeriesInfo, numbers: list[tuple[int, float, int]]) -> PastNumbers | None:
    """Return numbers (period, value, lineage); None where there are none, or one may not be sent."""
    lineages = {lineage for _, _, lineage in numbers}
    if not numbers or any(view.directory.row_rights(series, lineage).withheld for lineage in lineages):
        return None
    return PastNumbers([value for _, value, _ in numbers], numbers[-1][0])


#: Numbers of a series that are no forecasts, newest first; bound are topic, series, first and last period, version and moment.
_NUMBERS = (
    "SELECT x.period, x.value, x.lineage, x.known_at FROM vintages x WHERE x.topic = ?1 AND x.series = ?2"
    f" AND x.period BETWEEN ?3 AND ?4 AND {valid_at_sql('?5', '?6')} AND x.value IS NOT NULL AND x.flags & {AHEAD} = 0"
    " ORDER BY x.period DESC"
)


# -- where a row comes from ---------------------------------------------------------------------------------------------


def brought_withheld(db: Queryable, payload: int, series: SeriesInfo) -> bool:
    """
    Return whether the payload that a row of a series was read from stated any series that is stricter than its source.

    It is looked for among the series of that source; where that has those of every company, among the company's own.
    """
    entity = series.spec.entity
    if is_company(entity):
        rows = db.execute(_STRICTER_OF_COMPANY, (entity, series.source.id, payload))
    else:
        rows = db.execute(_STRICTER, (series.source.id, payload))
    return bool(rows.fetchall())


_STATED = (
    " AND (s.exposure > 0 OR p.exposure > 0)"
    " AND EXISTS (SELECT 1 FROM series_payload y WHERE y.series = s.series AND y.payload = ?) LIMIT 1"
)
_STRICTER = f"SELECT 1 FROM series s CROSS JOIN spec p USING(spec) WHERE s.source = ?{_STATED}"
_STRICTER_OF_COMPANY = (
    "SELECT 1 FROM topic t CROSS JOIN series s ON s.topic = t.topic CROSS JOIN spec p USING(spec)"
    f" WHERE t.entity = ? AND s.source || '' = ?{_STATED}"
)


def run_of(db: Queryable, run: str) -> tuple[Any, ...] | None:
    """Return id, connector, connector version, start and end of a run."""
    return db.execute(
        "SELECT run, connector, connector_version, started_at, finished_at FROM run WHERE run = ?", (run,)
    ).fetchone()
