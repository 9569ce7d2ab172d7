"""
What the rows of one topic are asked by, joined or chosen by the database (almanac.store.observations.reading.runs).

Each binds ?1 to ?7: topic, periods between which rows lie, version, `as_of`, first day, and how many rows at most.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from almanac.domain.fragments import END
from almanac.store.observations.notes import body_sql
from almanac.store.observations.period_sql import STARTS_FROM_SQL


class Shape(NamedTuple):
    """What a statement depends on: each test of a row that is left out is a tenth of finding it."""

    known: bool
    starts: bool
    newest: bool
    descending: bool
    raw: bool


@functools.lru_cache
def _where(shape: Shape, above: str = "?2", below: str = "?3") -> str:
    """Rows of a span, which binds ?1 to ?6."""
    where = f"{_cells(shape, above, below)} AND x.to_version > ?4"
    if not shape.newest:
        where += " AND x.from_version <= ?4"
    return where + (" AND x.known_at <= ?5" if shape.known else "")


@functools.lru_cache
def _cells(shape: Shape, above: str, below: str) -> str:
    """Rows of the span's cells, of any version and whenever they were known."""
    where = f"x.topic = ?1 AND x.period > {above} AND x.period < {below}"
    return where + (f" AND {STARTS_FROM_SQL.format('x.period', '?6')}" if shape.starts else "")


@functools.lru_cache
def now(shape: Shape) -> str:
    """The first rows of `current`, joined: how many, the last one's period, whether any has inputs of its own, the newest's
    version, the text, and whether there are more.
    """
    last, way = ("min", " DESC") if shape.descending else ("max", "")
    behind = {"below": "last"} if shape.descending else {"above": "last"}
    lineage = "0" if shape.raw else "max(lineage)"
    # An order within an aggregate would be sorted; a limited subquery gives its rows in the order of the table.
    return (
        "SELECT rows, last, lineage, newest, text,"
        f" EXISTS(SELECT 1 FROM current x WHERE {_where(shape, **behind)})"
        f" FROM (SELECT count(*) AS rows, {last}(period) AS last, {lineage} AS lineage, max(from_version) AS newest,"
        f" CAST(group_concat(marked, x'{END.hex()}') AS BLOB) AS text FROM (SELECT x.period, x.lineage, x.from_version, x.marked"
        f" FROM current x WHERE {_where(shape)} ORDER BY x.period{way} LIMIT ?7))"
    )


@functools.lru_cache
def chosen(rivals: int, shape: Shape) -> str:
    """The first cells of `current`, of each the row of the series of the least rank; ranks are bound behind ?7."""
    # With a single min(), SQLite takes the other columns from the row that has it: the preferred one of the cell.
    rank = f"CASE x.series {' '.join(f'WHEN ?{2 * n + 8} THEN ?{2 * n + 9}' for n in range(rivals))} END"
    return (
        f"SELECT x.period, x.lineage, x.series, x.marked, min({rank}) FROM current x WHERE {_where(shape)}"
        f" GROUP BY x.period ORDER BY x.period{' DESC' if shape.descending else ''} LIMIT ?7"
    )


@functools.lru_cache
def _past(shape: Shape, columns: str, above: str = "?2", below: str = "?3") -> str:
    """What was known by ?5 of a span's rows, at the newest version, in order: of `current`, and of what has been superseded since."""
    read = (
        f"SELECT {columns} FROM current x WHERE {_where(shape, above, below)} UNION ALL SELECT {columns} FROM superseded x"
        f" WHERE {_cells(shape, above, below)} AND x.known_at <= ?5 AND x.until > ?5"
    )
    return f"{read} ORDER BY period{' DESC' if shape.descending else ''} LIMIT ?7"


@functools.lru_cache
def past(shape: Shape) -> str:
    """The first rows known by then, at the newest version, joined: how many, the last one's period, whether any has inputs of its
    own, and the text.
    """
    last = "min" if shape.descending else "max"
    lineage = "0" if shape.raw else "max(lineage)"
    return (
        f"SELECT count(*) AS rows, {last}(period) AS last, {lineage} AS lineage,"
        f" CAST(group_concat(marked, x'{END.hex()}') AS BLOB) AS text"
        f" FROM ({_past(shape, 'x.period, x.lineage, x.marked')})"
    )


@functools.lru_cache
def past_chosen(shape: Shape) -> str:
    """Rows known by ?5, one by one, of all series of the topic."""
    return _past(shape, "x.period, x.lineage, x.series, x.marked")


@functools.lru_cache
def then(shape: Shape) -> str:
    """The first cells of `vintages`, of each series the last vintage known by then, where it has a value."""
    # With a single max(), SQLite takes the other columns from the row that has it: the last vintage known by then.
    way = " DESC" if shape.descending else ""
    return (
        f"SELECT v.period, v.lineage, v.series, c.marked, {_VINTAGE} FROM"
        f" (SELECT x.period, x.lineage, x.series, x.from_version, max(x.known_at) AS known_at, x.value, x.text, x.flags,"
        f" x.released_at, x.ingested_at, x.note FROM vintages x WHERE {_where(shape)}"
        f" GROUP BY x.period, x.series HAVING x.value IS NOT NULL OR x.text IS NOT NULL ORDER BY x.period{way}, x.series{way} LIMIT ?7) v"
        " LEFT JOIN current c ON c.topic = ?1 AND c.period = v.period AND c.series = v.series"
        " AND c.from_version = v.from_version AND c.known_at = v.known_at"
    )


#: In the order in which `rendered` takes them.
_VINTAGE = f"v.known_at, v.value, v.text, v.flags, v.released_at, v.ingested_at, {body_sql('v')}"


@functools.lru_cache
def exists(past: bool, shape: Shape) -> str:
    """Whether there is any row."""
    if not past:
        return f"SELECT 1 FROM current x WHERE {_where(shape)} LIMIT ?7"
    if shape.newest:
        return f"SELECT 1 FROM ({_past(shape, 'x.period')})"
    return (
        f"SELECT 1 FROM (SELECT x.value, x.text, max(x.known_at) FROM vintages x WHERE {_where(shape)}"
        " GROUP BY x.period, x.series HAVING x.value IS NOT NULL OR x.text IS NOT NULL LIMIT ?7)"
    )
