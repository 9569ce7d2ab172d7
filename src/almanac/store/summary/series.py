"""Series with their figures, for the list of an indicator's series."""

from __future__ import annotations

from typing import NamedTuple

from almanac.store.engine.protocol import Queryable


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
