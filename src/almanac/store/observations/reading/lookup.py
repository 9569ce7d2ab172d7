"""One observation by its id, and all that is known of its cell: what provenance is made of."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from almanac.domain.companies import is_company
from almanac.domain.observations import Vintage, observation_id
from almanac.store.engine.queryable import Queryable
from almanac.store.engine.sqlite import OPEN
from almanac.store.log.payloads import PayloadRow, by_number
from almanac.store.observations.id_hashes import candidates
from almanac.store.observations.notes import body_sql
from almanac.store.observations.reading.directory import SeriesInfo
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.rows import ObservationRow, RowReader
from almanac.store.observations.withheld_ids import place_of_withheld_id

ID_SHAPE = re.compile(r"obs_[a-z2-7]{26}")
_COLUMNS = (
    f"period, series, known_at, released_at, ingested_at, flags, lineage, value, text, {body_sql('vintages')}, NULL"
)


class RowPlace(NamedTuple):
    """What of a row decides who may read it, beside the rights of its value: entity id, kind, period key."""

    entity: str
    kind: str
    period: int


class StoredRow(NamedTuple):
    """A row and the payload it was read from (0 for a derived one)."""

    row: ObservationRow
    value: float | None
    text: str | None
    payload: int


def by_id(view: View, identifier: str, may_read: Callable[[RowPlace], bool]) -> StoredRow | None:
    """
    The open row an id names, else the one closed last; None where no row ever had it, its value is withheld, or whoever
    asks may not read what stands in its place.

    The id of such a row is a digest of what may not be told, and whoever guesses it must not learn so from how long the
    refusal takes. So as much is read, put together and judged where there is no such row: of another one, always the same,
    which stands in. A series that may not be read is not even loaded: whoever has never listed it would notice that.
    """
    if ID_SHAPE.fullmatch(identifier) is None:
        return None
    numbers = candidates(identifier)
    marks = ",".join("?" * len(numbers))
    named = view.execute(
        f"SELECT {_COLUMNS}, payload FROM vintages WHERE hash IN ({marks}) ORDER BY to_version DESC", numbers
    ).fetchall()
    other = view.execute(f"SELECT {_COLUMNS}, payload FROM vintages LIMIT 1").fetchall()
    meant = None
    for columns in named or other:
        series, place = _place(view, columns)
        allowed = may_read(place)
        if observation_id(series, place.period, columns[2], columns[7], columns[8]) == identifier:
            meant = columns if allowed else None
            break
    for columns in other if meant is None else [meant]:
        stored = _put_together(view, columns)
        withheld = view.directory.row_rights(stored.row.series, stored.row.lineage).withheld
        return None if meant is None or withheld else stored
    return None


def _place(view: View, columns: tuple[Any, ...]) -> tuple[str, RowPlace]:
    """Id of the series of a row, and where the row stands."""
    (found,) = view.execute(
        "SELECT s.id, t.entity, t.kind FROM series s CROSS JOIN topic t USING(topic) WHERE s.series = ?", (columns[1],)
    ).fetchall()
    return found[0], RowPlace(found[1], found[2], columns[0])


def _put_together(view: View, columns: tuple[Any, ...]) -> StoredRow:
    return StoredRow(RowReader(view.directory).stated(columns[:-1]), columns[7], columns[8], columns[-1])


def by_withheld_id(view: View, identifier: str, may_read: Callable[[RowPlace], bool]) -> StoredRow | None:
    """
    The open row that an id of a place leads to, where its value is withheld or whoever asks may not read it; else None.

    Only the place is in that id, so that what is said of such a row says nothing of its value.
    """
    number, period, known = place_of_withheld_id(identifier)
    found = view.execute(
        f"SELECT {_COLUMNS}, payload FROM vintages JOIN (SELECT topic AS t, series AS s FROM series WHERE hash = ?)"
        f" ON topic = t AND series = s WHERE period = ? AND known_at = ? AND to_version = {OPEN}",
        (number, period, known),
    ).fetchone()
    if found is None:
        return None
    stored = _put_together(view, tuple(found))
    row = stored.row
    place = RowPlace(row.series.spec.entity, row.series.kind, row.period)
    readable = may_read(place) and not view.directory.row_rights(row.series, row.lineage).withheld
    return None if readable else stored


def cell(view: View, series: SeriesInfo, period: int) -> list[ObservationRow]:
    """Open vintages of one cell of one series, ascending by knowledge time."""
    rows = RowReader(view.directory)
    found = view.execute(
        f"SELECT {_COLUMNS} FROM vintages WHERE topic = ? AND period = ? AND series = ? AND to_version = {OPEN} ORDER BY known_at",
        (series.topic, period, series.number),
    )
    return [rows.stated(columns) for columns in found]


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


def id_of(series: str, period: int, vintage: Vintage) -> str:
    """Id of a vintage of a cell."""
    return observation_id(series, period, vintage.known, vintage.value, vintage.text)


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
    " AND max(s.exposure, p.exposure) > 0"
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
