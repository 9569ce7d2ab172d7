"""
Keys of rows in the order of a column: by when they were known, released or taken in, by first or last day.

No index has every row in one of these orders. Knowledge times are in parts by how long after its period a row was known,
and lead to releases too; last days are in parts by topic, and lead to first days, a usual number of days before; a table
of spans says what was taken in when. A stretch of values is looked for in all parts at once, as wide as brings few rows.
Many rows may share a value: those are walked topic by topic, which is their order, and never sorted.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from almanac.domain.periods import INSTANT, LONGEST, SPAN_BITS
from almanac.store.engine.patience import check
from almanac.store.engine.protocol import Database
from almanac.store.observations.period_days import END, ENDING, EVEN, LAST_SPAN, ODD, SPANS, START, ending
from almanac.store.observations.reading import windows
from almanac.store.observations.reading.lags import KNOWN_WITHIN, PART_KNOWN, KnownSpan, known_spans, listed
from almanac.store.observations.reading.rows import TOPIC
from almanac.store.observations.reading.selection import (
    CELL_ORDER,
    TOPIC_ORDER,
    Conditions,
    Position,
    Selection,
    in_order,
)
from almanac.store.observations.reading.topic_rows import TOPICS, Key, TopicRows
from almanac.store.observations.reading.wanted_keys import KEY, KEYS, Extents, WantedKeys
from almanac.store.observations.reading.windows import Windows

#: Seconds looked at at once at first, and at most.
_FIRST_SECONDS, _MOST_SECONDS = 21_600, 1 << 28
#: Days looked at at once, at most.
_YEARS = 4_096
#: So many moments at most are asked one by one which topics have rows known at them.
_MOMENTS = 16


class Touched(NamedTuple):
    """Topics with rows that came to be known in a span, of few moments: of each those, with the part of the index."""

    topics: dict[int, list[tuple[int, int]]]


class _Part(NamedTuple):
    """
    A part of an index in the order of a column: which, and what is true of its rows.

    `values`: bound for `own`.
    """

    name: str
    column: str
    own: str
    values: tuple[int, ...] = ()


class Walk:
    """One walk over the keys that are wanted, by one of the columns of `SORTED`."""

    def __init__(self, db: Database, extents: Extents, wanted: WantedKeys) -> None:
        self._db = db
        self._table, self._down = wanted.table, wanted.descending
        self._selection, self._as_of = wanted.selection, wanted.as_of
        self._sort = wanted.sort
        self._way, self._beyond = (" DESC", "<=") if wanted.descending else ("", ">=")
        self._keys = f"x.period, x.topic, {KEYS[wanted.table]}"
        self._rows = TopicRows(db, wanted)
        self._spans = known_spans(extents, self._selection, self._as_of)
        self._extent = extents.of(self._selection)
        self._whole = extents.of(Selection())
        self._windows = Windows(descending=wanted.descending, least=self._extent.vintages)

    def keys(self, place: Sequence[Any] | None) -> Iterator[Key]:
        """In order, nulls last either way, from a place on, itself included. Raises TooFewError on the way."""
        if place is None or place[0] is not None:
            yield from _VALUED[self._sort](self, place)
            place = None
        # An instant never starts on a day or later.
        if self._sort in _LACKING and (self._sort != "period_start" or self._selection.starts_from is None):
            what, condition = _LACKING[self._sort]
            topics = self._rows.topics("lacking", "g.what = ?", (what,), place)
            yield from self._rows.of_each(topics, condition, (), place, None)

    # -- by an index ------------------------------------------------------------------------------------------------

    def known(self, place: Sequence[Any] | None) -> Iterator[Key]:
        """By knowledge time."""
        return self._by_moment("x.known_at", self._spans, place)

    def released(self, place: Sequence[Any] | None) -> Iterator[Key]:
        """Rows known when they were released are by the one as by the other; the rest has an index of its own."""
        at_once = self._by_moment("x.released_at", [span for span in self._spans if span.at_once], place)
        return self._merged(
            (at_once, self._by_index(_Part("late", "x.released_at", "x.released_at <> x.known_at"), place))
        )

    def _merged(self, walks: Iterable[Iterator[Key]]) -> Iterator[Key]:
        return heapq.merge(*walks, key=lambda key: key[:KEY], reverse=self._down)

    def _by_moment(self, column: str, spans: Sequence[KnownSpan], place: Sequence[Any] | None) -> Iterator[Key]:
        """By knowledge time, which is the release of the spans' rows too: all parts of the index side by side."""
        rows = f"{self._table} x INDEXED BY {self._table}_known"
        joined = f"{rows} CROSS JOIN topic t ON t.topic = x.topic"

        def within(low: int, high: int) -> list[KnownSpan]:
            clipped = (span._replace(low=max(span.low, low), high=min(span.high, high)) for span in spans)
            return [span for span in clipped if span.low <= span.high]

        def some(low: int, high: int, here: Sequence[Any] | None) -> list[Key]:
            clipped = within(low, high)
            if not clipped:
                return []
            query = self._conditions(here, column, known=False)
            sql = f"SELECT {column}, {TOPIC}, {self._keys} FROM {listed(clipped)} s CROSS JOIN {joined}"
            bound = (*chain.from_iterable(clipped), *query.values)
            return self._db.execute(
                f"{sql} WHERE {KNOWN_WITHIN} AND {query.where} LIMIT {windows.CHUNK}", bound
            ).fetchall()

        def counted(low: int, high: int) -> int:
            clipped = within(low, high)
            if not clipped:
                return 0
            every = f"SELECT 1 FROM {listed(clipped)} s CROSS JOIN {rows} WHERE {KNOWN_WITHIN} LIMIT {windows.COUNTED}"
            return self._count(every, (*chain.from_iterable(clipped),))

        def shared(moment: int, here: Sequence[Any] | None) -> Iterator[Key]:
            parts = [_Part("known", "x.known_at", f"{PART_KNOWN} = ?", (span.part,)) for span in within(moment, moment)]
            return self._merged(self._shared(part, f"FROM {rows}", moment, here) for part in parts)

        density = self._whole.vintages / max(1, self._whole.last_known - self._whole.first_known)
        low, high = min((span.low for span in spans), default=1), max((span.high for span in spans), default=0)
        return self._windows.keys(
            low, high, place, some, shared, width=_FIRST_SECONDS, widest=_MOST_SECONDS, density=density, counted=counted
        )

    def _count(self, rows: str, values: Sequence[Any]) -> int:
        count: int = self._db.execute(f"SELECT count(*) FROM ({rows})", values).get
        return count

    def _by_index(self, part: _Part, place: Sequence[Any] | None) -> Iterator[Key]:
        """By the column of an index of few rows, which lie between two values."""
        column = part.column
        rows = f"FROM {self._table} x INDEXED BY {self._table}_{part.name}"
        edge = f"SELECT {column} {rows} WHERE {part.own} ORDER BY {column} {{}} LIMIT 1"
        low, high = (self._db.execute(edge.format(way)).get for way in ("", "DESC"))
        if low is None:
            return

        def some(low: int, high: int, here: Sequence[Any] | None) -> list[Key]:
            query = self._conditions(here, column)
            sql = f"SELECT {column}, {TOPIC}, {self._keys} {rows} CROSS JOIN topic t ON t.topic = x.topic"
            within = f"{part.own} AND {column} BETWEEN ? AND ? AND {query.where}"
            return self._db.execute(
                f"{sql} WHERE {within} LIMIT {windows.CHUNK}", (low, high, *query.values)
            ).fetchall()

        def shared(value: int, here: Sequence[Any] | None) -> Iterator[Key]:
            return self._shared(part, rows, value, here)

        yield from self._windows.keys(
            low, high, place, some, shared, width=high - low + 1, widest=high - low + 1, density=0
        )

    def _shared(self, part: _Part, rows: str, value: int, place: Sequence[Any] | None) -> Iterator[Key]:
        """Rows that share a value, more than are sorted. Which topics they are of, the index is asked leap by leap."""
        own, bound = f"{part.own} AND {part.column} = ?", (*part.values, value)
        query = self._rows.of_topics(place)
        numbers = self._leaps(rows, own, bound)
        if numbers is None:
            sql = f"SELECT {TOPIC}, t.topic FROM topic t WHERE EXISTS (SELECT 1 {rows} WHERE {own} AND x.topic = t.topic) AND {query.where}"
            values: tuple[Any, ...] = (*bound, *query.values)
            ask = self._db.scan
        else:
            sql = f"SELECT {TOPIC}, t.topic FROM json_each(?) g CROSS JOIN topic t ON t.topic = g.value WHERE {query.where}"
            values = (json.dumps(numbers), *query.values)
            ask = self._db.execute
        order = in_order(*TOPIC_ORDER, descending=self._down)
        topics = ask(f"{sql} ORDER BY {order}", values)
        return self._rows.of_each(topics, own, bound, place, value, rows)

    def _leaps(self, rows: str, own: str, values: Sequence[Any]) -> list[int] | None:
        """Topics of the rows of which something is true, by an index that has them in that order; None where they are many."""
        leap = f"SELECT x.topic {rows} WHERE {own}"
        found = self._db.execute(
            # It counts by itself: PostgreSQL takes no LIMIT in there.
            f"WITH RECURSIVE g(topic, n) AS (SELECT ({leap} ORDER BY x.topic LIMIT 1), 1 UNION ALL"
            f" SELECT ({leap} AND x.topic > g.topic ORDER BY x.topic LIMIT 1), g.n + 1 FROM g"
            f" WHERE g.topic IS NOT NULL AND g.n <= {TOPICS}) SELECT topic FROM g WHERE topic IS NOT NULL",
            (*values, *values),
        ).fetchall()
        return None if len(found) > TOPICS else [topic for (topic,) in found]

    # -- by topic, of few moments -------------------------------------------------------------------------------------

    def touched(self) -> Touched | None:
        """What became known in the span asked for, where it did so at few moments, and in few topics; else None."""
        rows = f"FROM {self._table} x INDEXED BY {self._table}_known"
        sql = f"SELECT x.known_at {rows} WHERE {PART_KNOWN} = ? AND x.known_at BETWEEN ? AND ? ORDER BY x.known_at LIMIT 1"
        moments: list[tuple[int, int]] = []
        for part, low, high in self._spans:
            while (moment := self._db.execute(sql, (part, low, high)).get) is not None:
                if len(moments) == _MOMENTS:
                    return None
                moments.append((part, moment))
                low = moment + 1
        topics: dict[int, list[tuple[int, int]]] = {}
        for pair in moments:
            numbers = self._leaps(rows, f"{PART_KNOWN} = ? AND x.known_at = ?", pair)
            if numbers is None:
                return None
            for topic in numbers:
                topics.setdefault(topic, []).append(pair)
            if len(topics) > TOPICS:
                return None
        return Touched(topics)

    def of_touched(self, touched: Touched, place: Sequence[Any] | None) -> Iterator[Key]:
        """Rows of those topics known at those moments, in the order of topics; their sort value is 0."""
        group = "(SELECT value AS topic FROM json_each(?))"
        own = f"{PART_KNOWN} = ? AND x.known_at = ?"
        rows = f"FROM {self._table} x INDEXED BY {self._table}_known"
        topics = list(self._rows.topics(group, "TRUE", (json.dumps(list(touched.topics)),), place))
        pairs = {pair for *_, topic in topics for pair in touched.topics[topic]}
        return self._merged(
            self._rows.of_each([one for one in topics if pair in touched.topics[one[-1]]], own, pair, place, 0, rows)
            for pair in sorted(pairs)
        )

    # -- by topic, of few sources -------------------------------------------------------------------------------------

    def of_sources(self, place: Sequence[Any] | None) -> Iterator[Key]:
        """Rows of the topics of the sources asked for, in their order; their sort value is 0."""
        named = sorted(self._selection.sources or ())
        group = f"(SELECT DISTINCT s.topic FROM series s WHERE s.source IN ({', '.join('?' * len(named))}))"
        return self._rows.of_each(self._rows.topics(group, "TRUE", named, place), "TRUE", (), place, 0)

    def ingested(self, place: Sequence[Any] | None) -> Iterator[Key]:
        """Moment by moment, and of each topic by topic. Nothing is taken in before it is known."""
        low, high = min((span.low for span in self._spans), default=1 << 62), 1 << 62
        if place is not None:
            low, high = (low, place[0]) if self._down else (max(low, place[0]), high)
        # One bound each way: of several the index would take any, and pass over what was looked at.
        sql = f"SELECT at FROM ingested WHERE at BETWEEN ? AND ? ORDER BY at{self._way} LIMIT 1"
        while True:
            check()
            value = self._db.execute(sql, (low, high)).get
            if value is None:
                return
            here = place if place is not None and place[0] == value else None
            topics = self._rows.topics("ingested", "g.at = ?", (value,), here, ", g.low, g.high")
            yield from self._rows.of_each(topics, "x.ingested_at = ?", (value,), here, value)
            low, high = (low, value - 1) if self._down else (value + 1, high)

    # -- by their first day -------------------------------------------------------------------------------------------

    def started(self, place: Sequence[Any] | None) -> Iterator[Key]:
        """Periods of an odd length have an index of their own."""
        return self._merged((self._by_index(_Part("odd", START, ODD), place), self._by_day(START, EVEN, place)))

    def ended(self, place: Sequence[Any] | None) -> Iterator[Key]:
        """As the index has it, but for its parts."""
        return self._by_day(END, "TRUE", place)

    def _by_day(self, column: str, own: str, place: Sequence[Any] | None) -> Iterator[Key]:
        """
        Rows by their first or last day, a few days at once. Periods of a usual length end a usual number of days after the first.

        As many days as bring few rows; a single day that brings many is walked topic by topic.
        """
        extent = self._extent
        usual = [(low, high) for low, high in SPANS if low <= extent.longest and high >= extent.shortest]
        after = usual if column == START else [(0, 0)]
        if not after:
            return iter(())
        ends = [key >> SPAN_BITS for key in self._selection.keys]

        def some(first: int, last: int, here: Sequence[Any] | None) -> list[Key]:
            where, values = ending(first, last, after, *ends)
            query = self._conditions(here, column, known=self._table != "current")
            if self._table == "current":
                self._known_behind(query)
            return self._db.execute(
                f"{where} SELECT {column}, {TOPIC}, {self._keys} FROM e CROSS JOIN p CROSS JOIN {self._table} x"
                f" INDEXED BY {self._table}_end CROSS JOIN topic t ON t.topic = x.topic"
                f" WHERE {ENDING} AND {column} BETWEEN ? AND ? AND {own} AND {query.where} LIMIT {windows.CHUNK}",
                (*values, first, last, *query.values),
            ).fetchall()

        def counted(first: int, last: int) -> int:
            where, values = ending(first, last, after, *ends)
            index = f"{self._table} x INDEXED BY {self._table}_end"
            every = f"SELECT 1 FROM e CROSS JOIN p CROSS JOIN {index} WHERE {ENDING} LIMIT {windows.COUNTED}"
            return self._count(f"{where} {every}", values)

        def single(day: int, here: Sequence[Any] | None) -> Iterator[Key]:
            return self._day(column, own, day, here)

        density = self._whole.vintages / max(1, (self._whole.high >> SPAN_BITS) - (self._whole.low >> SPAN_BITS))
        return self._windows.keys(
            *self._days, place, some, single, width=1, widest=_YEARS, density=density, counted=counted
        )

    def _known_behind(self, query: Conditions) -> None:
        """Bounds on knowledge that no index tells of: asked of those rows alone that are wanted otherwise."""
        own = Conditions()
        own.known(self._selection, self._as_of)
        if own.values:
            same = " AND ".join(f"y.{name} = x.{name}" for name in ("topic", "period", "series", "from_version"))
            query.add(f"EXISTS (SELECT 1 FROM current y WHERE {same} AND {own.where.replace('x.', 'y.')})", *own.values)

    @property
    def _days(self) -> tuple[int, int]:
        """Between which days those lie that are walked by: before and after them no row is that is asked for."""
        extent, lowest, highest = self._extent, *(key >> SPAN_BITS for key in self._selection.keys)
        if self._sort == "period_end":
            return max(lowest, extent.low >> SPAN_BITS), min(highest, extent.high >> SPAN_BITS)
        begins = self._selection.starts_from
        last = min(highest, extent.high >> SPAN_BITS) - extent.shortest
        return max(extent.first_day, 0 if begins is None else begins.toordinal()), last

    def _day(self, column: str, own: str, day: int, place: Sequence[Any] | None) -> Iterator[Key]:
        """Rows of a day, in the order of topics."""
        query = Conditions()
        query.topics(self._selection)
        if place is not None:
            query.resume(Position(*place[1:KEY]), self._down)
        query.periods(self._selection)
        query.known(self._selection, self._as_of)
        query.series(self._selection)
        last = day + (LAST_SPAN if column == START else 0)
        query.add(
            f"x.period BETWEEN ? AND ? AND {column} = ? AND {own}", day << SPAN_BITS, last << SPAN_BITS | INSTANT, day
        )
        sql = f"SELECT {day}, {TOPIC}, {self._keys} FROM topic t CROSS JOIN {self._table} x ON x.topic = t.topic"
        order = in_order(*CELL_ORDER, descending=self._down)
        yield from self._db.scan(f"{sql} WHERE {query.where} ORDER BY {order}", query.values)

    # -- conditions ---------------------------------------------------------------------------------------------------

    def _lengths(self, query: Conditions) -> None:
        """Periods as long as some of the frequency asked for are, or instants: what is neither is passed over without a look at its topic."""
        if self._selection.frequency is not None:
            length = f"{LONGEST} - (x.period & {INSTANT})"
            query.add(f"({length} BETWEEN ? AND ? OR {length} < 0)", self._extent.shortest, self._extent.longest)

    def _conditions(self, place: Sequence[Any] | None, column: str, *, known: bool = True) -> Conditions:
        """Rows wanted, from a place on where it is among them. Not `known`: whenever they came to be known."""
        query = Conditions()
        query.topics(self._selection, sources=False)
        query.series(self._selection)
        query.periods(self._selection)
        self._lengths(query)
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
    "period_end": Walk.ended,
}
_LACKING = {
    "released_at": ("release", "x.released_at IS NULL"),
    "period_start": ("start", f"(x.period & {INSTANT}) = {INSTANT}"),
}
#: Sort fields that rows are walked by.
SORTED = frozenset(_VALUED)
