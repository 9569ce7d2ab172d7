"""All that is stored of observations, read whole, for whoever checks it against what it was made from. Nothing is judged here."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

from almanac.domain.observations import Vintage
from almanac.store.engine.queryable import Queryable, Scannable
from almanac.store.engine.sqlite import OPEN
from almanac.store.observations.notes import body_sql


class StoredSeries(NamedTuple):
    """
    A series as its own line has it, with the kind of its topic.

    `entity`: whose it is. `hash`: what it is found by. `figures`: rows, vintages, first and last period (keys), first and last knowledge time (unix seconds).
    """

    number: int
    id: str
    topic: int
    kind: str
    entity: str
    hash: int
    lineage: int
    figures: tuple[int, int, int | None, int | None, int | None, int | None]


class CellKey(NamedTuple):
    """A cell of one series, by the integers that rows are in the order of. `period` is a key."""

    topic: int
    period: int
    series: int


class StoredVintage(NamedTuple):
    """A vintage with what is stored beside it: when the next one was known (unix seconds, None: there is none)."""

    vintage: Vintage
    until: int | None


class CurrentRow(NamedTuple):
    """An open row of `current`: times in unix seconds; `marked` its part rendered as JSON."""

    known: int
    released: int | None
    ingested: int
    flags: int
    lineage: int
    marked: bytes


class SupersededRow(NamedTuple):
    """A row of `superseded`: times in unix seconds, `until` excluded; `marked` its part rendered as JSON."""

    known: int
    until: int
    lineage: int
    marked: bytes


class Unnoted(NamedTuple):
    """A vintage of a series (its id) and period (a key) came or ended in a version, and `change` does not say so."""

    series: str
    period: int
    version: int


def misplaced(db: Queryable) -> Iterator[str]:
    """Ids of series that are not of the topic, or not as specified, that the id says."""
    yield from (identifier for (identifier,) in db.execute(_MISPLACED))


def topics_after(db: Queryable, topic: int) -> list[int]:
    """The next topics behind one that have series or rows, ascending: some dozens at most."""
    sql = "SELECT topic FROM topic WHERE topic > ? ORDER BY topic LIMIT 64"
    return [number for (number,) in db.execute(sql, (topic,))]


def series(db: Queryable, topic: int | None = None) -> Iterator[StoredSeries]:
    """Every series, or those of one topic."""
    sql, values = _of(_SERIES, topic)
    for number, identifier, own, kind, entity, hashed, lineage, *figures in db.execute(sql, values):
        yield StoredSeries(number, identifier, own, kind, entity, hashed, lineage, tuple(figures))


def lineages(db: Queryable) -> dict[int, list[str]]:
    """Number of a lineage → ids of its input series."""
    return {number: json.loads(inputs) for number, inputs in db.execute("SELECT lineage, inputs FROM lineage")}


def lineages_of_rows(db: Scannable) -> Iterator[tuple[str, int]]:
    """Each series id with each lineage that open vintages of it have of their own."""
    yield from db.execute(
        "SELECT DISTINCT id, v.lineage FROM vintages v JOIN series USING(series)"
        f" WHERE v.to_version = {OPEN} AND v.lineage > 0"
    )


def vintages(db: Scannable, topic: int | None = None) -> Iterator[tuple[CellKey, list[StoredVintage]]]:
    """Open vintages by cell, in the order of cells; of each ascending by knowledge time. Of all topics, or of one."""
    for cell, lines in itertools.groupby(db.scan(*_of(_VINTAGES, topic)), key=itemgetter(0, 1, 2)):
        yield CellKey(*cell), [StoredVintage(Vintage(*line[3:12]), *line[12:]) for line in lines]


def current(db: Scannable, topic: int | None = None) -> Iterator[tuple[CellKey, list[CurrentRow]]]:
    """Open rows of `current` by cell, in the order of cells. Of all topics, or of one."""
    for cell, lines in itertools.groupby(db.scan(*_of(_CURRENT, topic)), key=itemgetter(0, 1, 2)):
        yield CellKey(*cell), [CurrentRow(*line[3:]) for line in lines]


def superseded(db: Scannable, topic: int | None = None) -> Iterator[tuple[CellKey, list[SupersededRow]]]:
    """Rows of `superseded` by cell, in the order of cells; of each ascending by knowledge time. Of all topics, or of one."""
    for cell, lines in itertools.groupby(db.scan(*_of(_SUPERSEDED, topic)), key=itemgetter(0, 1, 2)):
        yield CellKey(*cell), [SupersededRow(*line[3:]) for line in lines]


def unnoted(db: Scannable) -> Iterator[Unnoted]:
    """Changes that were not noted."""
    return map(Unnoted._make, db.scan(_UNNOTED))


def _of(sql: str, topic: int | None) -> tuple[str, tuple[int, ...]]:
    """A statement for all topics, or for one."""
    return (sql.format("TRUE"), ()) if topic is None else (sql.format("topic = ?"), (topic,))


_SERIES = (
    "SELECT series, id, topic, kind, entity, hash, lineage, rows, vintages, first_period, last_period, first_known, last_known"
    " FROM series JOIN topic USING(topic) WHERE {}"
)
_MISPLACED = (
    "WITH named AS (SELECT s.id, s.source, p.body, t.*, coalesce(':' || p.variant, '') AS variant"
    " FROM series s JOIN topic t USING(topic) LEFT JOIN spec p USING(spec)) SELECT id FROM named"
    " WHERE id <> source || ':' || entity || ':' || indicator || ':' || frequency || variant"
    " OR (source, indicator, frequency) IS NOT (json_extract(body, '$.source'), json_extract(body, '$.indicator'),"
    " json_extract(body, '$.frequency'))"
)
_VINTAGES = (
    "SELECT topic, period, series, known_at, value, text, flags, released_at, ingested_at, payload,"
    f" {body_sql('vintages')}, lineage, until"
    f" FROM vintages WHERE to_version = {OPEN} AND {{}} ORDER BY topic, period, series, known_at"
)
_CURRENT = (
    "SELECT topic, period, series, known_at, released_at, ingested_at, flags, lineage, marked"
    f" FROM current WHERE to_version = {OPEN} AND {{}} ORDER BY topic, period, series"
)
_SUPERSEDED = (
    "SELECT topic, period, series, known_at, until, lineage, marked"
    " FROM superseded WHERE {} ORDER BY topic, period, series, known_at"
)
_UNNOTED = (
    "SELECT s.id, v.period, v.version FROM (SELECT topic, period, series, from_version AS version FROM vintages UNION ALL"
    f" SELECT topic, period, series, to_version FROM vintages WHERE to_version < {OPEN}) v JOIN series s USING(series)"
    " LEFT JOIN change c ON c.topic = v.topic AND c.version = v.version"
    " WHERE c.version IS NULL OR v.period NOT BETWEEN c.low AND c.high"
)
