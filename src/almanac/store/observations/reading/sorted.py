"""
Rows in the order of a list: what the filters leave is read, and sorted where the table has another order.

No index serves a sort. A list by topic comes as the tables have it, and is read as far as a page needs; by any other column
all that is meant is gone through for each page, and the database keeps the first so many of it. How much that may be is
judged before (`Lists.check_room`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from almanac.store.engine.deadline import check_deadline
from almanac.store.engine.protocol import Database
from almanac.store.observations.reading.plan import Question
from almanac.store.observations.reading.rows import TOPIC, VINTAGE, ObservationRow, RowReader
from almanac.store.observations.reading.selection import (
    CELL_ORDER,
    NULLABLE,
    SORTS,
    Conditions,
    Position,
    in_order,
)

#: Columns of a place before those that tell the rows of a group apart: sort value, indicator, entity, frequency, period.
WIDTH = 5
#: Rows read beyond twice a page: half of the cells may have a row that gives way to another.
_SPARE = 16

_PLACE = itemgetter(slice(WIDTH))


class Group(NamedTuple):
    """Rows that share sort value and cell, and where they stand."""

    place: list[Any]
    rows: list[ObservationRow]


def groups(db: Database, reader: RowReader, wanted: Question, after: list[Any] | None, newest: int) -> Iterator[Group]:
    """Groups of rows in order, from the place `after` on, that group included. `newest`: the newest data version."""
    place, size = after, 2 * wanted.limit + _SPARE
    while True:
        check_deadline()
        sql, values = _query(wanted, place, newest)
        found = db.execute(sql, (*values, size)).fetchall()
        some = [(list(key), list(lines)) for key, lines in groupby(found, key=_PLACE)]
        # The last group may go on behind the last row: it is read again as a whole.
        last = some.pop()[0] if len(found) == size else None
        for here, lines in some:
            yield Group(here, [reader.vintage(line[WIDTH - 1 :]) for line in lines])
        if last is None:
            return
        place, size = last, 2 * size


def _query(wanted: Question, place: list[Any] | None, newest: int) -> tuple[str, list[Any]]:
    """The statement for rows from a place on; how many at most is bound behind the values."""
    selection, descending, column = wanted.selection, wanted.descending, SORTS[wanted.sort]
    query = Conditions()
    query.topics(selection)
    if wanted.version == newest:
        query.known_topics(selection)
    query.series(selection)
    query.periods(selection)
    query.known(selection)
    query.fiscal(selection)
    if wanted.history:
        query.pinned(wanted.version)
        query.add("x.known_at <= ?", wanted.moment)
    else:
        query.standing(wanted.version, wanted.moment)
    if place is not None and column is None:
        query.resume(Position(*place[1:WIDTH]), descending)
    elif place is not None and column is not None:
        _from(query, wanted.sort, column, place, descending)
    order = in_order(*((column,) if column is not None else ()), *CELL_ORDER, descending=descending)
    if wanted.sort in NULLABLE:
        order = f"{column} IS NULL, {order}"
    sql = (
        f"SELECT {column or '0'}, {TOPIC}, {VINTAGE} FROM topic t CROSS JOIN vintages x ON x.topic = t.topic"
        f" WHERE {query.where} ORDER BY {order} LIMIT ?"
    )
    return sql, query.values


def _from(query: Conditions, sort: str, column: str, place: list[Any], descending: bool) -> None:
    """Rows from a place on, itself included."""
    value, *cell = place
    beyond, tie = "<=" if descending else ">=", ", ".join(CELL_ORDER)
    if value is None:
        query.add(f"{column} IS NULL AND ({tie}) {beyond} (?, ?, ?, ?)", *cell)
        return
    nulls = f"{column} IS NULL OR " if sort in NULLABLE else ""  # they come last, either way
    query.add(f"({nulls}({column}, {tie}) {beyond} (?, ?, ?, ?, ?))", value, *cell)
