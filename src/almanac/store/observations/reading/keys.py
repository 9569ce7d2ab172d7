"""
Keys of rows, in the order of a list: found first, as far as a page needs them; then the rows behind them.

A key is in every index of its table, so that most keys are found without looking at a row, and none is sorted with its
text. Which way leads to them soonest depends on what is asked: by an index in the order of the list; by that of knowledge
times, where few rows came to be known in the span asked for; or topic by topic.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice
from typing import Any

from almanac.store.engine.protocol import Database
from almanac.store.observations.reading.rows import BORROW, BORROWED, CURRENT, TOPIC, VINTAGE
from almanac.store.observations.reading.selection import (
    CELL_ORDER,
    LISTED,
    NOT_SUPERSEDED,
    NULLABLE,
    SORTS,
    Conditions,
    Position,
    Selection,
    in_order,
)
from almanac.store.observations.reading.walks import END, HALVES, PART, PARTS, SORTED, TooFewError, Touched, Walk
from almanac.store.observations.reading.wanted_keys import KEY, KEYS, WantedKeys, extent_of

#: So many rows at most are sorted rather than looked for topic by topic.
_FEW = 10_000
#: The same of rows that are found by the end of their periods.
_FEW_END = 3_000
_EVERY_PART = f"VALUES {', '.join(f'({part})' for part in range(PARTS))}"
#: Keys found at once: a page's and some to spare at first, then more each time.
_SPARE, _MOST = 16, 4_096

#: A row as found, after its place: the sort value, indicator, entity, frequency and period.
Placed = tuple[list[Any], tuple[Any, ...]]


class Keys:
    """Keys of one state of the store, whose newest version is `newest`."""

    def __init__(self, db: Database, newest: int) -> None:
        self._db = db
        self._newest = newest

    def rows(self, wanted: WantedKeys, after: list[Any] | None) -> Iterator[list[Placed]]:
        """
        Groups of rows that share sort value and cell, in order, from the place `after` on, that group included.

        Rows of `current` have the columns `CURRENT`, those of `vintages` `VINTAGE` and `BORROWED`.
        """
        size = wanted.limit + _SPARE
        way = self._way(wanted)
        place = after
        while True:
            found = self._keys(wanted, way, place, size)
            ended = len(found) < size
            group: list[Placed] = []
            for row in self._behind(wanted, found):
                if group and group[0][0] != row[0]:
                    yield group
                    group = []
                group.append(row)
            if ended:
                if group:
                    yield group
                return
            # The last group may go on behind the last key. It is found again as a whole, so what was found of it is left.
            last = list(found[-1][:KEY])
            if group and group[0][0] != last:
                yield group
            size = size * 2 if last == place else min(size * 2, _MOST)
            place = last

    def _way(self, wanted: WantedKeys) -> str | Touched:
        """By which index, `topics`, `sources` (their topics), `walk`, or what became known at few moments."""
        selection = wanted.selection
        named = (selection.indicators is not None) + (selection.entities is not None)
        if named < 2 and selection.bounded and self._few(wanted):
            return "known"
        if self.few_end(wanted.table, selection):
            return "ends"
        rows = None if named else self._of_sources(selection)
        if rows is not None and (SORTS[wanted.sort] is None or rows < 5 * _FEW):
            return "sources"
        if not named and selection.bounded and SORTS[wanted.sort] is None:
            touched = Walk(self._db, wanted).touched()
            if touched is not None:
                return touched
        if named or extent_of(self._db, selection).vintages < 5 * _FEW:
            return "topics"
        return "walk" if wanted.sort in SORTED else "end" if wanted.sort == "period_end" else "topics"

    def _few(self, wanted: WantedKeys) -> bool:
        """Whether few rows at all came to be known in the span asked for."""
        query = Conditions()
        query.add(HALVES)
        query.known(wanted.selection, wanted.as_of)
        counted: int = self._db.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {wanted.table} x INDEXED BY {wanted.table}_known"
            f" WHERE {query.where} LIMIT {_FEW})",
            query.values,
        ).get
        return counted < _FEW

    def _of_sources(self, selection: Selection) -> int | None:
        """How many vintages of the kind and frequency asked for there are of the sources; None where they have many series."""
        if selection.sources is None:
            return None
        named = sorted(selection.sources)
        own = f"FROM series s {{}} WHERE s.source IN ({', '.join('?' * len(named))})"
        many = self._db.execute(f"SELECT 1 {own.format('')} LIMIT 1 OFFSET {LISTED}", named).get
        if many is not None:
            return None
        query = Conditions()
        for column, name in (("kind", selection.kind), ("frequency", selection.frequency)):
            if name is not None:
                query.add(f"t.{column} = ?", name)
        topics = own.format("CROSS JOIN topic t ON t.topic = s.topic")
        rows: int = self._db.execute(
            f"SELECT coalesce(sum(s.vintages), 0) {topics} AND {query.where}", (*named, *query.values)
        ).get
        return rows

    def few_end(self, table: str, selection: Selection) -> bool:
        """Whether few rows at all are of periods that end in the span asked for."""
        span = selection.ends
        if span is None or (selection.indicators is not None and selection.entities is not None):
            return False
        query = Conditions()
        query.periods(selection)
        rows = f"FROM ({_EVERY_PART}) p CROSS JOIN {table} x INDEXED BY {table}_end"
        sql = f"SELECT 1 {rows} WHERE {PART} = p.column1 AND {END} BETWEEN ? AND ? AND {query.where} LIMIT 1 OFFSET {_FEW_END}"
        return self._db.execute(sql, (*span, *query.values)).get is None

    def _keys(
        self, wanted: WantedKeys, way: str | Touched, place: list[Any] | None, size: int
    ) -> list[tuple[Any, ...]]:
        """The first so many keys from a place on, with sort value and place before each."""
        if isinstance(way, Touched):
            return list(islice(Walk(self._db, wanted).of_touched(way, place), size))
        if way == "walk":
            try:
                return list(islice(Walk(self._db, wanted).keys(place), size))
            except TooFewError:
                way = "topics"
        if way == "sources" and SORTS[wanted.sort] is None:
            return list(islice(Walk(self._db, wanted).of_sources(place), size))
        selection, sort, descending = wanted.selection, wanted.sort, wanted.descending
        column = SORTS[sort]
        query = Conditions()
        query.topics(selection)
        query.periods(selection)
        query.known(selection, wanted.as_of)
        if way == "known":
            query.add(HALVES)
        if way == "topics" and selection.bounded and wanted.version == self._newest:
            query.known_topics(selection)
        if column is None and way in {"topics", "ends"}:
            if place is not None:
                query.resume(Position(*place[1:KEY]), descending)
        elif place is not None:
            _from(query, sort, column, place, descending)
        order = in_order(*((column,) if column is not None else ()), *CELL_ORDER, descending=descending)
        if sort in NULLABLE:
            order = f"{column} IS NULL, {order}"
        if way == "ends":
            query.add(f"{PART} = p.column1 AND {END} BETWEEN ? AND ?", *(selection.ends or ()))
            tables = (
                f"({_EVERY_PART}) p CROSS JOIN {wanted.table} x INDEXED BY {wanted.table}_end"
                " CROSS JOIN topic t ON t.topic = x.topic"
            )
        elif way == "sources":
            named = sorted(selection.sources or ())
            group = f"SELECT DISTINCT s.topic FROM series s WHERE s.source IN ({', '.join('?' * len(named))})"
            tables = (
                f"({group}) g CROSS JOIN topic t ON t.topic = g.topic CROSS JOIN {wanted.table} x ON x.topic = t.topic"
            )
            query.values[:0] = named
        elif way == "topics":
            tables = f"topic t CROSS JOIN {wanted.table} x ON x.topic = t.topic"
        else:
            tables = f"{wanted.table} x INDEXED BY {wanted.table}_{way} CROSS JOIN topic t ON t.topic = x.topic"
        columns = f"{column or '0'}, {TOPIC}, x.period, x.topic, {KEYS[wanted.table]}"
        if way == "end" and selection.ends_by is not None:
            query.add(f"{END} <= ?", selection.ends_by.toordinal())
        sql = f"SELECT {columns} FROM {tables} WHERE {query.where}"
        if way != "end":
            return self._db.execute(f"{sql} ORDER BY {order} LIMIT {size}", query.values).fetchall()
        # Each part of the index gives its keys in order, so the whole is their merging, by value and then by place.
        sql = f"{sql} AND {PART} = ? ORDER BY {order} LIMIT {size}"
        parts = [self._db.execute(sql, (*query.values, part)) for part in range(PARTS)]
        merged = heapq.merge(*parts, key=lambda key: key[:KEY], reverse=descending)
        return [key for key, _ in zip(merged, range(size), strict=False)]

    def _behind(self, wanted: WantedKeys, keys: list[tuple[Any, ...]]) -> Iterator[Placed]:
        """The rows behind keys, those of them that the state asked for has."""
        version, more = wanted.version, tuple[Any, ...]()
        if wanted.table == "current":
            sql, more = _SHOWN, (version,)
        elif wanted.history:
            sql, more = _STATED, (version,)
        else:
            sql, more = _STANDING, (version, wanted.as_of, version, version)
        bound = ((number, key[4], *key[KEY:], *more) for number, key in enumerate(keys))
        for number, *row in self._db.executemany(sql, bound):
            yield list(keys[number][:KEY]), tuple(row)


def _from(query: Conditions, sort: str, column: str | None, place: list[Any], descending: bool) -> None:
    """Rows from a place on, itself included."""
    value, *rest = place[:KEY]
    beyond, tie = "<" if descending else ">", ", ".join(CELL_ORDER)
    if column is None:
        query.add(f"({tie}) {beyond}= (?, ?, ?, ?)", *rest)
    elif value is None:
        query.add(f"{column} IS NULL AND ({tie}) {beyond}= (?, ?, ?, ?)", *rest)
    elif sort in NULLABLE:
        query.add(f"({column} IS NULL OR ({column}, {tie}) {beyond}= (?, ?, ?, ?, ?))", value, *rest)
    else:
        # The first term is what lets the index start there.
        query.add(f"{column} {beyond}= ? AND ({column}, {tie}) {beyond}= (?, ?, ?, ?, ?)", value, value, *rest)


#: Bound: a number to tell the key by, the period, and the key; then the version.
_SHOWN = (
    f"SELECT ?1, {CURRENT} FROM current x WHERE x.period = ?2 AND x.topic = ?3 AND x.series = ?4 AND x.from_version = ?5"
    " AND x.from_version <= ?6 AND x.to_version > ?6"
)
_STATED = (
    f"SELECT ?1, {VINTAGE}, {BORROWED} FROM vintages x {BORROW} WHERE x.period = ?2 AND x.topic = ?3 AND x.series = ?4"
    " AND x.known_at = ?5 AND x.from_version = ?6 AND x.from_version <= ?7 AND x.to_version > ?7"
)
_STANDING = f"{_STATED} AND (x.value IS NOT NULL OR x.text IS NOT NULL) AND {NOT_SUPERSEDED}"
