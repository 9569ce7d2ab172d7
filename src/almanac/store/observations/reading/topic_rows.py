"""Rows of topics one after the other, each by period: how values are walked that many rows share, and few are wanted of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from almanac.domain.periods import EVERY_KEY
from almanac.store.engine.patience import check
from almanac.store.engine.protocol import Database
from almanac.store.observations.reading.rows import TOPIC
from almanac.store.observations.reading.selection import TOPIC_ORDER, Conditions, in_order
from almanac.store.observations.reading.wanted_keys import KEYS, WantedKeys

#: So many topics of a group are sorted by name; of more, all topics are gone through in that order.
TOPICS = 2_000
#: So many topics at most are looked at together, of which fewer rows than this are expected.
_AT_ONCE_MOST, _AT_ONCE_ROWS = 64, 500
#: Of so many rows or more of several topics none is looked at, and fewer topics are.
_TOO_MANY = 2_000
#: A row `x` of one of the topics given, between the periods given for it.
_GIVEN = "x.topic = g.column2 AND x.period BETWEEN g.column3 AND g.column4"
#: A key as found: the sort value, indicator, entity, frequency, period, topic, and the columns of `KEYS`.
Key = tuple[Any, ...]


class TopicRows:
    """Keys that are wanted, topic by topic."""

    def __init__(self, db: Database, wanted: WantedKeys) -> None:
        self._db = db
        self._table, self._down = wanted.table, wanted.descending
        self._selection, self._as_of = wanted.selection, wanted.as_of
        self._way = " DESC" if wanted.descending else ""
        self._keys = f"x.period, x.topic, {KEYS[wanted.table]}"

    def topics(
        self, group: str, own: str, values: Sequence[Any], place: Sequence[Any] | None, more: str = ""
    ) -> Iterator[Any]:
        """Names and numbers of those topics wanted that a table `g` has, in order, from that of a place on; and `more` columns."""
        query = self.of_topics(place)
        few = self._db.execute(f"SELECT 1 FROM {group} g WHERE {own} LIMIT 1 OFFSET {TOPICS}", values).get is None
        tables = f"{group} g CROSS JOIN topic t" if few else f"topic t CROSS JOIN {group} g"
        sql = f"SELECT {TOPIC}, t.topic{more} FROM {tables} WHERE g.topic = t.topic AND {own} AND {query.where}"
        ask = self._db.execute if few else self._db.scan
        return ask(f"{sql} ORDER BY {in_order(*TOPIC_ORDER, descending=self._down)}", (*values, *query.values))

    def of_each(
        self,
        topics: Iterable[Any],
        own: str,
        values: Sequence[Any],
        place: Sequence[Any] | None,
        value: Any,
        rows: str = "",
    ) -> Iterator[Key]:
        """
        Rows of topics one after the other, each by period; `value` is the sort value of all.

        `topics`: names and number of each, and between which periods the rows are where that is known. As many topics are
        looked at together as have few rows in all: most have one or two that are wanted.
        """
        waiting: Iterator[Any] = (one for one in map(self._bounded(place), topics) if one[4] <= one[5])
        at_once = 1
        while some := list(islice(waiting, at_once)):
            check()
            found = self._of_some(some, own, values, rows or f"FROM {self._table} x")
            if found is None:  # fewer topics, each of which may have more than a page needs
                waiting, at_once = chain(some, waiting), max(1, len(some) // 8)
                continue
            count = 0
            for number, *key in found:
                count += 1
                yield (value, *some[number][:3], *key)
            at_once = min(2 * at_once, _AT_ONCE_MOST) if count < _AT_ONCE_ROWS else max(1, at_once // 4)

    def _bounded(self, place: Sequence[Any] | None) -> Callable[[Any], tuple[Any, ...]]:
        """What narrows the periods of a topic to those asked for, and from a place on where it is of the topic."""
        lowest, highest = self._selection.keys
        names = None if place is None else tuple(place[1:4])

        def bounded(found: Any) -> tuple[Any, ...]:
            indicator, entity, frequency, topic, *span = found
            low, high = span or EVERY_KEY
            low, high = max(low, lowest), min(high, highest)
            if place is not None and (indicator, entity, frequency) == names:
                low, high = (low, min(high, place[4])) if self._down else (max(low, place[4]), high)
            return indicator, entity, frequency, topic, low, high

        return bounded

    def _of_some(
        self, some: Sequence[tuple[Any, ...]], own: str, values: Sequence[Any], rows: str
    ) -> Iterable[Any] | None:
        """Rows of some topics in order: which of them, the period, and the rest of the key. None: there are too many at once."""
        query = Conditions()
        query.add(own, *values)
        query.series(self._selection)
        query.starts(self._selection)
        query.known(self._selection, self._as_of)
        if len(some) == 1:  # there may be many, of which a page needs few
            sql = f"SELECT 0, {self._keys} {rows} WHERE x.topic = ? AND x.period BETWEEN ? AND ? AND {query.where}"
            return self._db.scan(f"{sql} ORDER BY x.period{self._way}", (*some[0][3:], *query.values))
        given = f"(VALUES {', '.join(f'({place}, ?, ?, ?)' for place in range(len(some)))}) g"
        sql = f"SELECT g.column1, {self._keys} FROM {given} CROSS JOIN {rows.removeprefix('FROM ')} WHERE {_GIVEN} AND {query.where} LIMIT {_TOO_MANY}"
        bound = chain.from_iterable(one[3:] for one in some)
        found = self._db.execute(sql, (*bound, *query.values)).fetchall()
        if len(found) == _TOO_MANY:
            return None
        return sorted(found, key=lambda key: (key[0], -key[1] if self._down else key[1]))

    def of_topics(self, place: Sequence[Any] | None) -> Conditions:
        query = Conditions()
        query.topics(self._selection)
        if place is not None:
            query.from_topic(place[1:4], self._down)
        return query
