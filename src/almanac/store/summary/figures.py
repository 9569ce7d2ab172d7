"""Counts and bounds for reference records, from the figures kept with each series, without a scan of observations."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

import msgspec

from almanac.domain.periods import end_of, lowest_key
from almanac.store.engine.protocol import Queryable
from almanac.store.engine.sql_compat import in_list
from almanac.store.observations.reading.query import NO_COMPANY


class Figures(msgspec.Struct):
    """The totals of a group of series. Periods are given by their last days."""

    series: int = 0
    entities: int = 0
    rows: int = 0
    frequencies: list[str] = []
    first_period: date | None = None
    last_period: date | None = None


_ORDER = "ASQNMWD"
_BITS = " ".join(f"WHEN '{one}' THEN {1 << at}" for at, one in enumerate(_ORDER))
#: The existing frequencies, one bit each.
_LETTERS = f"sum(DISTINCT CASE t.frequency {_BITS} END)"
_COLUMNS = f"count(*), count(DISTINCT t.entity), sum(s.rows), {_LETTERS}, min(s.first_period), max(s.last_period)"


def by_indicator(db: Queryable, names: Iterable[str] | None = None) -> dict[str, Figures]:
    """Return the figures of each indicator that has rows."""
    return _grouped(db, "t.indicator", names)


def by_source(db: Queryable) -> dict[str, Figures]:
    """Return the figures of each source that has rows."""
    return _grouped(db, "s.source", None)


def _grouped(db: Queryable, column: str, names: Iterable[str] | None) -> dict[str, Figures]:
    wanted = None if names is None else list(names)
    condition = "" if wanted is None else f" AND {in_list(column, wanted)}"
    found = db.execute(
        f"SELECT {column}, {_COLUMNS} FROM series s JOIN topic t USING(topic) WHERE s.rows > 0{condition} GROUP BY {column}",
        wanted or (),
    )
    return {
        name: Figures(
            series, entities, rows, [letter for at, letter in enumerate(_ORDER) if letters >> at & 1],
            None if first is None else end_of(first), None if last is None else end_of(last),
        )
        for name, series, entities, rows, letters, first, last in found
    }  # fmt: skip


def entities_with(db: Queryable, indicator: str, ends_from: date | None) -> list[str]:
    """
    Return the entities for which an indicator has rows that end on or after `ends_from`, the start of a plan's window
    (None: any).
    """
    found = db.execute(
        "SELECT DISTINCT t.entity FROM series s JOIN topic t USING(topic) WHERE t.indicator = ? AND s.rows > 0"
        " AND s.last_period >= ?",
        (indicator, 0 if ends_from is None else lowest_key(ends_from)),
    )
    return [row[0] for row in found]


def of_companies(db: Queryable, indicators: Iterable[str]) -> bool:
    """Return whether any of the indicators has topics of companies."""
    sql = "SELECT 1 FROM topic WHERE indicator = ? AND entity BETWEEN 'company_' AND 'company_~' LIMIT 1"
    return any(db.execute(sql, (indicator,)).fetchall() for indicator in indicators)


def indicators_of_entities(db: Queryable, entity: str | None = None) -> dict[str, int]:
    """Return the number of indicators with rows by entity, for all entities or just one."""
    where, values = ("", ()) if entity is None else (" AND t.entity = ?", (entity,))
    return dict(
        db.execute(
            "SELECT t.entity, count(DISTINCT t.indicator) FROM series s JOIN topic t USING(topic)"
            f" WHERE s.rows > 0{where} GROUP BY t.entity",
            values,
        )
    )


def series_numbers(db: Queryable, column: str, name: str) -> list[int]:
    """Return the numbers of the series with vintages of an `entity` or a `source`, by series id."""
    where = {"entity": "t.entity", "source": "s.source"}[column]
    found = db.execute(
        f"SELECT s.series FROM series s JOIN topic t USING(topic) WHERE s.vintages > 0 AND {where} = ? ORDER BY s.id",
        (name,),
    )
    return [row[0] for row in found]


def derived_series(db: Queryable) -> list[tuple[str, str]]:
    """Return the derived series with vintages, except those of companies, as (indicator, series id)."""
    return list(
        db.execute(
            "SELECT indicator, id FROM series JOIN topic USING(topic)"
            f" WHERE kind = 'derived' AND vintages > 0 AND {NO_COMPANY.format('entity')}"
        )
    )


class Counted(NamedTuple):
    """A series and its figures. Periods are keys, times unix seconds; `rivals` are the numbers of all series of its topic."""

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
    """Return the series of an indicator that have vintages, sorted by id, optionally after one."""
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
