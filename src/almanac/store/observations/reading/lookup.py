"""One observation by its id, and all that is known of its cell: what provenance is made of."""

from __future__ import annotations

from typing import Any, NamedTuple

from almanac.domain.companies import is_company
from almanac.domain.observations import Vintage
from almanac.store.engine.protocol import Queryable
from almanac.store.engine.sqlite import OPEN
from almanac.store.log.payloads import PayloadRow, by_number
from almanac.store.observations.ids import place
from almanac.store.observations.notes import body_sql
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.rows import ObservationRow, RowReader
from almanac.store.observations.reading.series_info import SeriesInfo

_COLUMNS = f"period, series, known_at, released_at, ingested_at, flags, lineage, value, text, {body_sql('vintages')}"


class StoredRow(NamedTuple):
    """A row and the payload it was read from (0 for a derived one)."""

    row: ObservationRow
    payload: int


def by_id(view: View, identifier: str) -> StoredRow | None:
    """The open row that an id names, else the one closed last; None where none ever stood at its place, and for no id."""
    parts = place(identifier)
    if parts is None:
        return None
    found = view.execute(
        f"SELECT {_COLUMNS}, payload FROM vintages JOIN (SELECT topic AS t, series AS s FROM series WHERE hash = ?) AS named"
        " ON topic = t AND series = s WHERE period = ? AND known_at = ? ORDER BY to_version DESC LIMIT 1",
        parts,
    ).fetchone()
    if found is None:
        return None
    return StoredRow(RowReader(view.directory).vintage(found[:-1]), found[-1])


def cell(view: View, series: SeriesInfo, period: int) -> list[ObservationRow]:
    """Open vintages of one cell of one series, ascending by knowledge time."""
    rows = RowReader(view.directory)
    found = view.execute(
        f"SELECT {_COLUMNS} FROM vintages WHERE topic = ? AND period = ? AND series = ? AND to_version = {OPEN} ORDER BY known_at",
        (series.topic, period, series.number),
    )
    return [rows.vintage(columns) for columns in found]


def history(db: Queryable, series: SeriesInfo, low: int, high: int) -> dict[int, list[Vintage]]:
    """Open vintages of a series whose period keys lie in a span, by period, ascending by knowledge time."""
    found: dict[int, list[Vintage]] = {}
    sql = (
        "SELECT period, known_at, value, text, flags, released_at, ingested_at, payload,"
        f" {body_sql('vintages')}, lineage FROM vintages"
        f" WHERE topic = ? AND period BETWEEN ? AND ? AND series = ? AND to_version = {OPEN} ORDER BY period, known_at"
    )
    for row in db.execute(sql, (series.topic, low, high, series.number)):
        found.setdefault(row[0], []).append(Vintage(*row[1:]))
    return found


def payload_of(db: Queryable, number: int) -> PayloadRow | None:
    """The payload a row was read from; None for a derived one."""
    return by_number(db, number) if number else None


def brought_withheld(db: Queryable, payload: int, series: SeriesInfo) -> bool:
    """
    Whether the payload that a row of a series was read from stated any series that is stricter than its source.

    Looked for among the series of that source; where that has those of every company, among the company's own.
    """
    entity = series.spec.entity
    if is_company(entity):
        found = db.execute(_STRICTER_OF_COMPANY, (entity, series.source.id, payload))
    else:
        found = db.execute(_STRICTER, (series.source.id, payload))
    return bool(found.fetchall())


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
    """(id, connector, connector version, started, finished) of a run."""
    return db.execute(
        "SELECT run, connector, connector_version, started_at, finished_at FROM run WHERE run = ?", (run,)
    ).fetchone()
