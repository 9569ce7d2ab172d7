"""Series with their figures, for the list of an indicator's series."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from almanac.store.engine.queryable import Queryable
from almanac.store.engine.words import among
from almanac.store.observations.reading.selection import Conditions, Selection


class Counted(NamedTuple):
    """A series and what it holds. Periods are keys, times unix seconds; `rivals` are all series of its topic."""

    number: int
    id: str
    source: str
    entity: str
    frequency: str
    rows: int
    vintages: int
    first_period: int | None
    last_period: int | None
    first_known: int | None
    last_known: int | None
    rivals: tuple[int, ...]


def of_indicator(db: Queryable, indicator: str, descending: bool, after: str | None) -> list[Counted]:
    """Series of an indicator that have vintages, by id, after one."""
    way, beyond = ("DESC", "<") if descending else ("", ">")
    condition = f"AND s.id {beyond} ?2" if after is not None else ""
    found = db.execute(
        "SELECT s.series, s.id, s.source, t.entity, t.frequency, s.rows, s.vintages, s.first_period, s.last_period,"
        " s.first_known, s.last_known,"
        " (SELECT string_agg(CAST(r.series AS TEXT), ',') FROM series r WHERE r.topic = s.topic AND r.vintages > 0)"
        f" FROM series s JOIN topic t USING(topic) WHERE t.indicator = ?1 AND s.vintages > 0 {condition} ORDER BY s.id {way}",
        (indicator, after) if after is not None else (indicator,),
    )
    return [Counted._make((*row[:11], tuple(int(number) for number in row[11].split(",")))) for row in found]


def indicators_of(db: Queryable, entity: str) -> list[str]:
    """Slugs of the indicators of which an entity has series with vintages."""
    found = db.execute(
        "SELECT DISTINCT t.indicator FROM topic t JOIN series s USING(topic) WHERE t.entity = ? AND s.vintages > 0"
        " ORDER BY t.indicator",
        (entity,),
    )
    return [row[0] for row in found]


class SeriesSpan(NamedTuple):
    """
    Series of one frequency together: keys of their first and last period, and since when the first value is known.

    The last one is that of a reading: None where there are forecasts alone.
    """

    frequency: str
    first_period: int
    last_period: int | None
    first_known: int


def spans(db: Queryable, selection: Selection) -> list[SeriesSpan]:
    """What there is of the indicators, entities, kind and sources selected, whatever the periods: by frequency letter."""
    query = Conditions()
    query.topics(msgspec.structs.replace(selection, frequency=None))
    if selection.sources is not None:
        query.add(among("s.source", selection.sources), *sorted(selection.sources))
    found = db.execute(
        "SELECT t.frequency, min(s.first_period), max(s.last_period), min(s.first_known) FROM topic t CROSS JOIN series s"
        f" ON s.topic = t.topic WHERE {query.where} AND s.vintages > 0 AND s.first_period IS NOT NULL GROUP BY t.frequency"
        " ORDER BY t.frequency",
        query.values,
    )
    return [SeriesSpan._make(row) for row in found]
