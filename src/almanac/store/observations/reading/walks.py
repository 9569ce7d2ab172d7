"""
Keys of rows in the order of a column that no index gives as it is: by when they were known, released or taken in, or by first day.

None of these orders has an index over every row. Most rows were released when they were known, and are found by that;
what a table of spans says of each ingestion is little; and a first day is a few days of periods before a last one, which
is indexed. Many rows may share a value: those are walked topic by topic, which is their order, and never sorted.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from almanac.domain.periods import INSTANT, LONGEST, SPAN_BITS
from almanac.store.engine.patience import check
from almanac.store.engine.protocol import Database
from almanac.store.observations.period_sql import END_ORDINAL_SQL
from almanac.store.observations.reading.rows import TOPIC
from almanac.store.observations.reading.selection import (
    CELL_ORDER,
    TOPIC_ORDER,
    Conditions,
    Position,
    in_order,
)
from almanac.store.observations.reading.wanted_keys import KEY, KEYS, WantedKeys, extent_of

#: So many rows are sorted at once at first, and at most; a value that more share is walked topic by topic.
_CHUNK, _MOST = 1_000, 32_000
#: Of so many rows in the order of an index at least one in a hundred should be wanted: else other ways are shorter.
_IN_VAIN, _RARE = 60_000, 100
#: So many topics of a group are sorted by name; of more, all topics are gone through in that order.
_TOPICS = 2_000
#: The index by the end of periods is in sixteen parts by topic: a new series writes to its own part only, where its
#: periods are closer neighbours, instead of to a page for nearly each of its rows. Eight topics in a row share a part,
#: so that a new day of a source, which made its topics one after another, writes to few.
PARTS = 16
PART = f"(x.topic >> 3 & {PARTS - 1})"
END = END_ORDINAL_SQL.format("x.period")
#: The first day of a period that is no instant, as the index of odd ones has it.
_START = f"(x.period >> {SPAN_BITS}) + (x.period & {INSTANT}) - {LONGEST}"
#: Days from the first to the last of nearly every period: of days, weeks, months, quarters of 13 and 14 weeks, halves,
#: three quarters, years of 52 and 53 weeks. All others are in an index of their own.
_SPANS = ((0, 0), (6, 6), (27, 30), (88, 91), (97, 97), (180, 183), (272, 274), (279, 279), (363, 365), (370, 370))
_REGULAR = ", ".join(str(days) for low, high in _SPANS for days in range(low, high + 1))
_ODD = f"(x.period & {INSTANT}) < {INSTANT} AND {LONGEST} - (x.period & {INSTANT}) NOT IN ({_REGULAR})"
_EVEN = f"{LONGEST} - (x.period & {INSTANT}) IN ({_REGULAR})"
#: First days looked at at once, at most.
_YEARS = 4_096
_LAST_SPAN = _SPANS[-1][1]

#: Whether a row was known when it was released: the index by knowledge time is in two halves by that.
_AT_ONCE = "(x.released_at IS x.known_at)"
HALVES = f"{_AT_ONCE} IN (0, 1)"

#: Later than any knowledge time.
_EVER = 1 << 62
#: So many moments at most are asked one by one which topics have rows known at them.
_MOMENTS = 16

#: A key as found: the sort value, indicator, entity, frequency, period, topic, and the columns of `KEYS`.
Key = tuple[Any, ...]


class Touched(NamedTuple):
    """Moments at which rows came to be known, in a span of few, and numbers of the topics they are of."""

    moments: tuple[int, ...]
    topics: tuple[int, ...]


class TooFewError(Exception):
    """Hardly any of the rows in this order are wanted: what is asked for is found sooner by topics, and sorted."""


class Walk:
    """One walk over the keys that are wanted, by one of the columns of `SORTED`."""

    def __init__(self, db: Database, wanted: WantedKeys) -> None:
        self._db = db
        self._table, self._down = wanted.table, wanted.descending
        self._selection, self._as_of = wanted.selection, wanted.as_of
        self._sort = wanted.sort
        self._way, self._beyond = (" DESC", "<=") if wanted.descending else ("", ">=")
        self._keys = f"x.period, x.topic, {KEYS[wanted.table]}"

    def keys(self, place: Sequence[Any] | None) -> Iterator[Key]:
        """In order, nulls last either way, from a place on, itself included. Raises TooFewError on the way."""
        if place is None or place[0] is not None:
            yield from _VALUED[self._sort](self, place)
            place = None
        if self._sort in _LACKING:
            what, condition = _LACKING[self._sort]
            for *names, topic in self._topics("lacking", "g.what = ?", (what,), place):
                for key in self._of_topic(condition, (), names, topic, place):
                    yield (None, *names, *key)

    # -- by an index ------------------------------------------------------------------------------------------------

    def known(self, place: Sequence[Any] | None) -> Iterator[Key]:
        """By knowledge time: the two halves of its index, merged."""
        return self._merged(self._by_index("x.known_at", "known", f"{_AT_ONCE} = {half}", place) for half in (0, 1))

    def released(self, place: Sequence[Any] | None) -> Iterator[Key]:
        """Rows known when they were released are by the one as by the other; the rest has an index of its own."""
        return self._merged(
            (
                self._by_index("x.known_at", "known", f"{_AT_ONCE} = 1", place),
                self._by_index("x.released_at", "late", "x.released_at <> x.known_at", place),
            )
        )

    def _merged(self, walks: Iterable[Iterator[Key]]) -> Iterator[Key]:
        return heapq.merge(*walks, key=lambda key: key[:KEY], reverse=self._down)

    def _by_index(self, column: str, index: str, own: str, place: Sequence[Any] | None) -> Iterator[Key]:
        """By a column an index begins with, `own` saying which part of it: as many values at once as few rows have."""
        query = Conditions()
        query.add(own)
        if index == "known":
            query.known(self._selection, self._as_of)
        rows = f"FROM {self._table} x INDEXED BY {self._table}_{index}"
        value = None if place is None else place[0]
        size, looked_at, found_here = _CHUNK, 0, 0
        while True:
            check()
            from_here = "" if value is None else f" AND {column} {self._beyond} ?"
            bound = (*query.values, *([] if value is None else [value]))
            ahead = f"SELECT {column} {rows} WHERE {query.where}{from_here} ORDER BY {column}{self._way} LIMIT 1 OFFSET"
            first = self._db.execute(f"{ahead} 0", bound).get
            if first is None:
                return
            edge = self._db.execute(f"{ahead} {size}", bound).get
            here = place if place is not None and place[0] == first else None
            if edge == first:
                yield from self._shared(column, rows, own, first, here)
                value = first - 1 if self._down else first + 1
                continue
            found = self._conditions(here, column, known=index != "known")
            found.add(own)
            found.add(f"{column} {self._beyond} ?", first)
            if edge is not None:
                found.add(f"{column} {'>' if self._down else '<'} ?", edge)
            elif index == "known":
                self._as_far(found)
            order = in_order(column, *CELL_ORDER, descending=self._down)
            sql = f"SELECT {column}, {TOPIC}, {self._keys} {rows} CROSS JOIN topic t ON t.topic = x.topic WHERE {found.where}"
            rows_here = self._db.execute(f"{sql} ORDER BY {order}", found.values).fetchall()
            yield from rows_here
            if edge is None:
                return
            looked_at, found_here = looked_at + size, found_here + len(rows_here)
            if looked_at > _IN_VAIN and found_here * _RARE < looked_at:
                raise TooFewError
            value, size = edge, min(2 * size, _MOST)

    def _shared(self, column: str, rows: str, own: str, value: int, place: Sequence[Any] | None) -> Iterator[Key]:
        """Rows that share a value, more than are sorted. Which topics they are of, the index is asked leap by leap."""
        leap = f"SELECT x.topic {rows} WHERE {own} AND {column} = ?1"
        group = (
            f"(WITH RECURSIVE g(topic) AS (SELECT ({leap} ORDER BY x.topic LIMIT 1) UNION ALL"
            f" SELECT ({leap} AND x.topic > g.topic ORDER BY x.topic LIMIT 1) FROM g WHERE g.topic IS NOT NULL)"
            " SELECT topic FROM g WHERE topic IS NOT NULL)"
        )
        query = self._of_topics(place)
        # Numbered, for the value is asked for twice; the others follow it.
        sql = f"SELECT {TOPIC}, t.topic FROM {group} g CROSS JOIN topic t ON t.topic = g.topic WHERE {query.where}"
        order = in_order(*TOPIC_ORDER, descending=self._down)
        for *names, topic in self._db.execute(f"{sql} ORDER BY {order}", (value, *query.values)).fetchall():
            for key in self._of_topic(f"{own} AND {column} = ?", (value,), names, topic, place, rows):
                yield (value, *names, *key)

    # -- by topic, of few moments -------------------------------------------------------------------------------------

    def touched(self) -> Touched | None:
        """What became known in the span asked for, where it did so at few moments, and in few topics; else None."""
        low, high = self._selection.observed_from, self._selection.observed_to
        high = min([one for one in (high, self._as_of) if one is not None], default=_EVER)
        rows = f"FROM {self._table} x INDEXED BY {self._table}_known WHERE {_AT_ONCE} = ?1"
        moments: set[int] = set()
        topics: set[int] = set()
        for half in (0, 1):
            moment: int | None = -1 if low is None else low - 1
            while True:
                sql = f"SELECT x.known_at {rows} AND x.known_at > ?2 AND x.known_at <= ?3 ORDER BY x.known_at LIMIT 1"
                moment = self._db.execute(sql, (half, moment, high)).get
                if moment is None:
                    break
                moments.add(moment)
                leap = f"SELECT x.topic {rows} AND x.known_at = ?2"
                found = self._db.execute(
                    f"WITH RECURSIVE g(topic) AS (SELECT ({leap} ORDER BY x.topic LIMIT 1) UNION ALL"
                    f" SELECT ({leap} AND x.topic > g.topic ORDER BY x.topic LIMIT 1) FROM g WHERE g.topic IS NOT NULL"
                    f") SELECT topic FROM g WHERE topic IS NOT NULL LIMIT {_TOPICS + 1}",
                    (half, moment),
                )
                topics.update(topic for (topic,) in found)
                if len(moments) > _MOMENTS or len(topics) > _TOPICS:
                    return None
        return Touched(tuple(sorted(moments)), tuple(sorted(topics)))

    def of_touched(self, touched: Touched, place: Sequence[Any] | None) -> Iterator[Key]:
        """Rows of those topics known at those moments, in the order of topics; their sort value is 0."""
        group = "(SELECT value AS topic FROM json_each(?))"
        own = f"{HALVES} AND x.known_at IN ({', '.join('?' * len(touched.moments))})"
        rows = f"FROM {self._table} x INDEXED BY {self._table}_known"
        for *names, topic in self._topics(group, "TRUE", (json.dumps(touched.topics),), place):
            for key in self._of_topic(own, touched.moments, names, topic, place, rows):
                yield (0, *names, *key)

    # -- by topic, of few sources ---------------------------------------------------------------------------------------

    def of_sources(self, place: Sequence[Any] | None) -> Iterator[Key]:
        """Rows of the topics of the sources asked for, in their order; their sort value is 0."""
        named = sorted(self._selection.sources or ())
        group = f"(SELECT DISTINCT s.topic FROM series s WHERE s.source IN ({', '.join('?' * len(named))}))"
        for *names, topic in self._topics(group, "TRUE", named, place):
            for key in self._of_topic("TRUE", (), names, topic, place):
                yield (0, *names, *key)

    # -- by when they were taken in -----------------------------------------------------------------------------------

    def ingested(self, place: Sequence[Any] | None) -> Iterator[Key]:
        """Moment by moment, and of each topic by topic."""
        value, beyond = (None, "TRUE") if place is None else (place[0], f"at {self._beyond} ?")
        while True:
            check()
            sql = f"SELECT at FROM ingested WHERE {beyond} ORDER BY at{self._way} LIMIT 1"
            value = self._db.execute(sql, () if value is None else (value,)).get
            if value is None:
                return
            here = place if place is not None and place[0] == value else None
            for *names, topic, low, high in self._topics("ingested", "g.at = ?", (value,), here, ", g.low, g.high"):
                condition = "x.period BETWEEN ? AND ? AND x.ingested_at = ?"
                for key in self._of_topic(condition, (low, high, value), names, topic, here):
                    yield (value, *names, *key)
            beyond = f"at {self._beyond[0]} ?"

    # -- by their first day -------------------------------------------------------------------------------------------

    def started(self, place: Sequence[Any] | None) -> Iterator[Key]:
        """Periods of an odd length have an index of their own."""
        return self._merged((self._by_index(_START, "odd", _ODD, place), self._by_span(place)))

    def _by_span(self, place: Sequence[Any] | None) -> Iterator[Key]:
        """
        Rows of periods of a usual length, a few first days at once: they end a usual number of days later.

        As many days as bring few rows; a single day that begins many is walked topic by topic.
        """
        extent = extent_of(self._db, self._selection)
        lowest, highest = extent.first_day, extent.high >> SPAN_BITS
        if self._selection.starts_from is not None:
            lowest = max(lowest, self._selection.starts_from.toordinal())
        if self._selection.ends_by is not None:
            highest = min(highest, self._selection.ends_by.toordinal())
        day = (highest if self._down else lowest) if place is None else place[0]
        # Whatever comes before the first that ends, or after the last that does, begins no row.
        day = min(day, highest) if self._down else max(day, lowest)
        width = 1
        while lowest <= day <= highest:
            check()
            first, last = (day - width + 1, day) if self._down else (day, day + width - 1)
            here = place if place is not None and first <= place[0] <= last else None
            where, values = _beginning(first, last)
            query = self._conditions(here, _START)
            some: list[Key] = self._db.execute(
                f"{where} SELECT {_START}, {TOPIC}, {self._keys} FROM e CROSS JOIN p CROSS JOIN {self._table} x"
                f" INDEXED BY {self._table}_end CROSS JOIN topic t ON t.topic = x.topic"
                f" WHERE {_FOUND} AND {query.where} LIMIT {_CHUNK}",
                (*values, first, last, *query.values),
            ).fetchall()
            if len(some) < _CHUNK:
                yield from sorted(some, key=lambda key: key[:KEY], reverse=self._down)
            elif width == 1:
                yield from self._day(day, here)
            else:
                width = max(1, width // 4)
                continue
            day = first - 1 if self._down else last + 1
            if 4 * len(some) < _CHUNK:
                width = min(2 * width, _YEARS)

    def _day(self, day: int, place: Sequence[Any] | None) -> Iterator[Key]:
        """Rows that begin on a day, in the order of topics."""
        query = Conditions()
        query.topics(self._selection)
        if place is not None:
            query.resume(Position(*place[1:KEY]), self._down)
        self._rows(query)
        low, high = day << SPAN_BITS, (day + _LAST_SPAN) << SPAN_BITS | INSTANT
        query.add(f"x.period BETWEEN ? AND ? AND {_START} = ? AND {_EVEN}", low, high, day)
        sql = f"SELECT {day}, {TOPIC}, {self._keys} FROM topic t CROSS JOIN {self._table} x ON x.topic = t.topic"
        order = in_order(*CELL_ORDER, descending=self._down)
        yield from self._db.execute(f"{sql} WHERE {query.where} ORDER BY {order}", query.values)

    # -- topic by topic -----------------------------------------------------------------------------------------------

    def _topics(
        self, group: str, own: str, values: Sequence[Any], place: Sequence[Any] | None, more: str = ""
    ) -> Iterator[Any]:
        """Names and numbers of those topics wanted that a table `g` has, in order, from that of a place on; and `more` columns."""
        query = self._of_topics(place)
        few = self._db.execute(f"SELECT 1 FROM {group} g WHERE {own} LIMIT 1 OFFSET {_TOPICS}", values).get is None
        tables = f"{group} g CROSS JOIN topic t" if few else f"topic t CROSS JOIN {group} g"
        sql = f"SELECT {TOPIC}, t.topic{more} FROM {tables} WHERE g.topic = t.topic AND {own} AND {query.where}"
        return self._db.execute(
            f"{sql} ORDER BY {in_order(*TOPIC_ORDER, descending=self._down)}", (*values, *query.values)
        )

    def _of_topic(
        self,
        own: str,
        values: Sequence[Any],
        names: Sequence[str],
        topic: int,
        place: Sequence[Any] | None,
        rows: str = "",
    ) -> Iterator[Any]:
        """Rows of a topic, by period: that, and the rest of their keys."""
        query = Conditions()
        query.add(f"{own} AND x.topic = ?", *values, topic)
        self._rows(query)
        if place is not None and list(names) == list(place[1:4]):
            query.add(f"x.period {self._beyond} ?", place[4])
        sql = f"SELECT {self._keys} {rows or f'FROM {self._table} x'} WHERE {query.where} ORDER BY x.period{self._way}"
        return self._db.execute(sql, query.values)

    # -- conditions ---------------------------------------------------------------------------------------------------

    def _of_topics(self, place: Sequence[Any] | None) -> Conditions:
        query = Conditions()
        query.topics(self._selection)
        if place is not None:
            query.from_topic(place[1:4], self._down)
        return query

    def _rows(self, query: Conditions) -> None:
        query.periods(self._selection)
        query.known(self._selection, self._as_of)

    def _as_far(self, query: Conditions) -> None:
        """The bound on knowledge time that a walk comes to last. Of two on one side the database may go by the wrong one."""
        low, high = self._selection.observed_from, self._selection.observed_to
        if self._as_of is not None:
            high = self._as_of if high is None else min(high, self._as_of)
        far = low if self._down else high
        if far is not None:
            query.add(f"x.known_at {'>=' if self._down else '<='} ?", far)

    def _conditions(self, place: Sequence[Any] | None, column: str, *, known: bool = True) -> Conditions:
        """Rows wanted, from a place on where it is among them. Not `known`: whenever they came to be known."""
        query = Conditions()
        query.topics(self._selection)
        query.periods(self._selection)
        if known:
            query.known(self._selection, self._as_of)
        if place is not None:
            query.add(f"({column}, {', '.join(CELL_ORDER)}) {self._beyond} (?, ?, ?, ?, ?)", *place[:KEY])
        return query


#: How rows are walked that have a value, and what is true of those that have none.
_VALUED = {
    "observed_at": Walk.known,
    "released_at": Walk.released,
    "ingested_at": Walk.ingested,
    "period_start": Walk.started,
}
_LACKING = {
    "released_at": ("release", "x.released_at IS NULL"),
    "period_start": ("start", f"(x.period & {INSTANT}) = {INSTANT}"),
}
#: Sort fields that rows are walked by.
SORTED = frozenset(_VALUED)

#: Rows that begin in a span of days, both included, by where they may end: what `_beginning` says.
_FOUND = f"{PART} = p.n AND {END} BETWEEN e.low AND e.high AND {_START} BETWEEN ? AND ? AND {_EVEN}"


def _beginning(first: int, last: int) -> tuple[str, list[int]]:
    """Where rows may end that begin in a span of days: `e`, and the parts of the index `p`."""
    spans: list[list[int]] = []
    for low, high in _SPANS:
        if spans and first + low <= spans[-1][1] + 1:
            spans[-1][1] = last + high
        else:
            spans.append([first + low, last + high])
    ends = ", ".join(["(?, ?)"] * len(spans))
    parts = ", ".join(f"({part})" for part in range(PARTS))
    return f"WITH e(low, high) AS (VALUES {ends}), p(n) AS (VALUES {parts})", [edge for span in spans for edge in span]
