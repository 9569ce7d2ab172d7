"""Raw facts of one company as the derivation of its statements reads them: all series at once, settled."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from almanac.domain.periods import lowest_key
from almanac.store.engine.protocol import Queryable
from almanac.store.engine.sqlite import OPEN
from almanac.store.observations.reading.query import body_sql


class StoredFact(NamedTuple):
    """
    One open vintage of a raw series. `series` is the series id, `period` a key.

    `variant`: the currency of money that is not in the company's main one.
    """

    series: str
    native: str
    frequency: str
    period: int
    known: int
    value: float | None
    released: int | None
    ingested: int
    flags: int
    note: str | None
    variant: str | None


def of(db: Queryable, entity: str, source: str) -> Iterator[StoredFact]:
    """Every open vintage, ascending by knowledge time within a cell."""
    return map(StoredFact._make, db.execute(_FACTS, (entity, source)))


_FACTS = (
    "SELECT s.id, p.native, t.frequency, v.period, v.known_at, v.value, v.released_at,"
    f" v.ingested_at, v.flags, {body_sql('v')}, p.variant FROM topic t CROSS JOIN series s ON s.topic = t.topic"
    " CROSS JOIN spec p USING(spec) CROSS JOIN vintages v ON v.topic = t.topic AND v.series = s.series"
    " WHERE t.entity = ? AND t.kind = 'raw' AND s.source || '' = ?"
    f" AND v.to_version = {OPEN} ORDER BY t.topic, v.period, v.series, v.known_at"
)


# What is appended to the source keeps either engine from the index on sources, which leads to every company there is: a
# planner without statistics, as PostgreSQL's is throughout a first load, would read all of it for each topic.


def series(db: Queryable, entity: str, source: str, kind: str) -> list[str]:
    """Return the ids of a company's series of one source, `raw` or `derived`."""
    rows = db.execute(
        "SELECT s.id FROM topic t CROSS JOIN series s ON s.topic = t.topic"
        " WHERE t.entity = ? AND t.kind = ? AND s.source || '' = ? ORDER BY s.series",
        (entity, kind, source),
    )
    return [identifier for (identifier,) in rows]


def payloads(db: Queryable, entity: str) -> list[int]:
    """Numbers of the payloads that ever stated a fact of a company."""
    found = db.execute(
        "SELECT DISTINCT p.payload FROM topic t CROSS JOIN series s ON s.topic = t.topic"
        " CROSS JOIN series_payload p ON p.series = s.series WHERE t.entity = ? AND t.kind = 'raw'",
        (entity,),
    )
    return [number for (number,) in found]


def missorted(db: Queryable) -> list[tuple[str, str | None, str]]:
    """Companies with facts kept as of another currency than their main one which are of it, or of any where they have none."""
    found = db.execute(
        "SELECT DISTINCT t.entity, c.currency, p.variant FROM company c JOIN topic t ON t.entity = c.entity"
        " JOIN series s ON s.topic = t.topic JOIN spec p USING(spec) WHERE t.kind = 'raw' AND s.vintages > 0"
        " AND p.variant IS NOT NULL AND (c.currency IS NULL OR p.variant = c.currency) ORDER BY t.entity, p.variant"
    )
    return [(entity, main, currency) for entity, main, currency in found]


def entities(db: Queryable) -> list[str]:
    """Companies of which any fact was ever stored."""
    found = db.execute(
        "SELECT DISTINCT entity FROM topic WHERE entity >= 'company_' AND entity < 'company`' ORDER BY entity"
    )
    return [entity for (entity,) in found]


class Stored(NamedTuple):
    """
    One derived value of a company as known at a moment: its indicator, frequency letter, period key and value.

    `variant` as in `StoredFact`; `lineage`: number of the set of series it came from, 0 for none.
    """

    indicator: str
    frequency: str
    period: int
    variant: str | None
    value: float
    lineage: int


def derived_values(db: Queryable, entity: str, source: str, first_day: int, at: int, version: int) -> list[Stored]:
    """Return derived values of a company for periods that end on or after a day (an ordinal), as known at a moment."""
    held: dict[tuple[str, str, int, str | None], tuple[float | None, int]] = {}
    for indicator, frequency, period, variant, value, lineage in db.execute(
        _DERIVED, (lowest_key(date.fromordinal(first_day)), at, version, version, entity, source)
    ):
        held[indicator, frequency, period, variant] = value, lineage  # ascending by knowledge time: the last one holds
    return [Stored(*key, value, lineage) for key, (value, lineage) in held.items() if value is not None]


_DERIVED = (
    "SELECT t.indicator, t.frequency, v.period, p.variant, v.value, v.lineage FROM topic t CROSS JOIN series s ON s.topic = t.topic"
    " CROSS JOIN spec p USING(spec) CROSS JOIN vintages v ON v.topic = t.topic AND v.period >= ?1 AND v.series = s.series"
    " WHERE v.known_at <= ?2 AND v.from_version <= ?3 AND v.to_version > ?4 AND t.entity = ?5 AND t.kind = 'derived'"
    " AND s.source || '' = ?6 ORDER BY t.topic, v.period, v.known_at"
)
