"""All that is stored of observations, read whole, for whoever checks it against what it was made from. Nothing is judged here."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

import msgspec

from almanac.domain.observations import Vintage
from almanac.store.engine.protocol import Queryable, Scannable
from almanac.store.engine.sqlite import OPEN
from almanac.store.observations.reading.query import body_sql


class StoredSeries(NamedTuple):
    """
    A series as its own line has it, with the kind of its topic.

    `entity`: whose it is. `hash`: what it is found by. `figures`: rows, vintages, first and last period (keys), first and last knowledge time (unix
    seconds), sum of checksums.
    """

    number: int
    id: str
    topic: int
    kind: str
    entity: str
    hash: int
    lineage: int
    figures: tuple[int, int, int | None, int | None, int | None, int | None, int]


class _Said(msgspec.Struct):
    """What a specification says of where its series belong."""

    source: str | None = None
    indicator: str | None = None
    frequency: str | None = None


_decode = msgspec.json.Decoder(_Said).decode


def misplaced(db: Queryable) -> Iterator[str]:
    """Ids of series that are not of the topic, or not as specified, that the id says."""
    specs = {number: (variant, _decode(body)) for number, variant, body in db.execute(_SPECS)}
    for number, identifier, source, *topic in db.execute(_PLACED):
        indicator, entity, frequency = topic
        variant, said = specs.get(number, (None, None))
        named = ":".join((source, entity, indicator, frequency, *([] if variant is None else [variant])))
        if identifier != named or said != _Said(source, indicator, frequency):
            yield identifier


def series(db: Queryable) -> Iterator[StoredSeries]:
    """Yield every series."""
    for row in db.execute(_SERIES):
        yield StoredSeries._make((*row[:7], row[7:]))


def lineages(db: Queryable) -> dict[int, list[str]]:
    """Return the ids of the input series of each lineage, by its number."""
    return {number: json.loads(inputs) for number, inputs in db.execute("SELECT lineage, inputs FROM lineage")}


def lineages_of_rows(db: Scannable) -> Iterator[tuple[str, int]]:
    """Each series id with each lineage that open vintages of it have of their own."""
    yield from db.execute(
        "SELECT DISTINCT id, v.lineage FROM vintages v JOIN series USING(series)"
        f" WHERE v.to_version = {OPEN} AND v.lineage > 0"
    )


def vintages(db: Scannable) -> Iterator[tuple[tuple[int, int, int], list[tuple[Vintage, int | None]]]]:
    """
    Yield open vintages by cell (topic, period and series), in the order of cells; those of a cell ascend by knowledge time.

    Beside each stands when the next one was known, as it is stored (unix seconds, None: there is none).
    """
    for cell, lines in itertools.groupby(db.scan(_VINTAGES), key=itemgetter(0, 1, 2)):
        yield cell, [(Vintage(*line[3:12]), line[12]) for line in lines]


def unnoted(db: Scannable) -> Iterator[tuple[str, int, int]]:
    """Yield series (its id), period (a key) and version of vintages that came or ended without a note in `change`."""
    return db.scan(_UNNOTED)


_SERIES = (
    "SELECT series, id, topic, kind, entity, hash, lineage, rows, vintages, first_period, last_period, first_known, last_known,"
    " checksum FROM series JOIN topic USING(topic)"
)
_SPECS = "SELECT spec, variant, body FROM spec"
_PLACED = "SELECT s.spec, s.id, s.source, t.indicator, t.entity, t.frequency FROM series s JOIN topic t USING(topic)"
_VINTAGES = (
    "SELECT topic, period, series, known_at, value, text, flags, released_at, ingested_at, payload,"
    f" {body_sql('vintages')}, lineage, until"
    f" FROM vintages WHERE to_version = {OPEN} ORDER BY topic, period, series, known_at"
)
_UNNOTED = (
    "SELECT s.id, v.period, v.version FROM (SELECT topic, period, series, from_version AS version FROM vintages UNION ALL"
    f" SELECT topic, period, series, to_version FROM vintages WHERE to_version < {OPEN}) v JOIN series s USING(series)"
    " LEFT JOIN change c ON c.topic = v.topic AND c.version = v.version"
    " WHERE c.version IS NULL OR v.period NOT BETWEEN c.low AND c.high"
)
