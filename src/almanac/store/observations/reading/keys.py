"""
Keys of rows, in the order of a list: found first, as far as a page needs them; then the rows behind them.

A key is in every index of its table, so that most keys are found without looking at a row, and none is sorted with its
text. Which way leads to them soonest depends on what is asked: by an index in the order of the list; by that of knowledge
times, where few rows came to be known in the span asked for; or topic by topic.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

from almanac.domain.times import day_at
from almanac.store.engine.protocol import Database
from almanac.store.observations.period_days import END, PART, PARTS
from almanac.store.observations.period_sql import LAGS, LEAST_LAGS
from almanac.store.observations.reading.lags import KNOWN_WITHIN, KnownSpan, known_spans, listed
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
from almanac.store.observations.reading.topic_rows import Key
from almanac.store.observations.reading.walks import SORTED, Touched, Walk
from almanac.store.observations.reading.wanted_keys import (
    FEW_EVER,
    KEY,
    KEYS,
    Extents,
    TooFewError,
    WantedKeys,
    ending,
)

#: So many rows at most are sorted rather than looked for topic by topic; of so many at most they are told by their periods.
_FEW, _TOLD = 10_000, 60_000
#: So many rows at most, evenly spread, are sorted by period where old ones come first of what became known lately.
_LATELY = 100_000
#: Where so many times as many would have come to be known, evenly spread, they are not counted.
_SPREAD = 4
#: The same of rows that are found by the end of their periods, and how many vintages a cell may have for one row there.
_FEW_END, _VINTAGES_EACH = 3_000, 4
#: Of so many spans of periods, and of knowledge times, it is remembered whether they have few rows.
_ENDS_HELD = 1_000
#: So many rows at most are taken aside whose periods lie far from when they were known; and orders in which that helps.
_ASIDE = 8_000
_BY_PERIOD = frozenset({"period_start", "period_end", "ingested_at"})
EVERY_PART = f"VALUES {', '.join(f'({part})' for part in range(PARTS))}"
#: Keys found at once: a page's and some to spare at first, then more each time.
_SPARE, _MOST = 16, 4_096

#: A row as found, after its place: the sort value, indicator, entity, frequency and period.
Placed = tuple[list[Any], tuple[Any, ...]]
_PLACE = itemgetter(slice(KEY))


class Keys:
    """Keys of one state of the store, whose newest version is `newest`."""

    def __init__(self, db: Database, newest: int, extents: Extents, shared: dict[str, Any]) -> None:
        self._db = db
        self._newest = newest
        self._extents = extents
        #: Of which periods few rows are, by table: it is asked for every page of a walk.
        self._few_ends: dict[tuple[Any, ...], bool] = shared.setdefault("few rows by end", {})
        #: The same of those known in spans: how many were looked at, and how many of them have periods that were asked for.
        self._known_counts: dict[tuple[Any, ...], tuple[int, int]] = shared.setdefault("rows by knowledge", {})

    def rows(self, wanted: WantedKeys, after: list[Any] | None) -> Iterator[list[Placed]]:
        """
        Groups of rows that share sort value and cell, in order, from the place `after` on, that group included.

        Rows of `current` have the columns `CURRENT`, those of `vintages` `VINTAGE` and `BORROWED`.
        """
        groups = groupby(self._keys(wanted, self._way(wanted), after), key=_PLACE)
        size, ended, given = wanted.share + _SPARE, False, 0
        while not ended:
            keys: list[Key] = []
            for _, group in groups:
                keys += group
                if len(keys) >= size:
                    break
            else:
                ended = True
            for _, rows in groupby(self._behind(wanted, keys), key=itemgetter(0)):
                yield list(rows)
            # A share that was too small is doubled.
            given += len(keys)
            size = min(max(size, given), _MOST)

    def _way(self, wanted: WantedKeys) -> str | Touched:
        """By which index, `topics`, `sources` (their topics), `walk`, or what became known at few moments."""
        selection = wanted.selection
        named = (selection.indicators is not None) + (selection.entities is not None)
        told = named < 2 and (selection.bounded or (SORTS[wanted.sort] is not None and wanted.as_of is not None))
        if told and self._few(wanted, _FEW):
            return "known"
        if self.few_end(wanted.table, selection):
            return "ends"
        rows = None if named else self._of_sources(selection)
        if rows is not None and (SORTS[wanted.sort] is None or rows < FEW_EVER):
            return "sources"
        if not named and selection.bounded and SORTS[wanted.sort] is None:
            touched = Walk(self._db, self._extents, wanted).touched()
            if touched is not None:
                return touched
        if told and self._few(wanted, _TOLD):
            return "known"
        if named or self._extents.of(selection).vintages < FEW_EVER:
            return "topics"
        if self._backwards(wanted):
            return "known"
        return "walk" if wanted.sort in SORTED else "topics"

    def _backwards(self, wanted: WantedKeys) -> bool:
        """Whether old periods come first of what became known lately: rows of those are few, and far between all others."""
        by_period = wanted.sort in {"period_start", "period_end"} and not wanted.descending
        return by_period and wanted.selection.observed_from is not None and self._spread(wanted) < _LATELY

    def _spread(self, wanted: WantedKeys) -> float:
        """How many rows would have come to be known in the span asked for, had they all done so evenly."""
        spans, whole = self._spans(wanted), self._extents.of(Selection())
        seconds = max((span.high for span in spans), default=0) - min((span.low for span in spans), default=0)
        return seconds / max(1, whole.last_known - whole.first_known) * whole.vintages

    def _few(self, wanted: WantedKeys, most: int) -> bool:
        """Whether few rows of the periods asked for came to be known in the span asked for, and of all periods not more than `most`."""
        spans = self._spans(wanted)
        if not spans:
            return True
        if self._spread(wanted) > _SPREAD * most:
            return False  # not even counted
        query = Conditions()
        query.periods(wanted.selection)
        asked = (wanted.table, most, query.where, *query.values, *spans)
        counted = self._known_counts.get(asked)
        if counted is None:
            if len(self._known_counts) >= _ENDS_HELD:
                self._known_counts.clear()
            sql = (
                f"SELECT count(*), coalesce(sum(told), 0) FROM (SELECT CASE WHEN {query.where} THEN 1 ELSE 0 END AS told FROM {listed(spans)} s"
                f" CROSS JOIN {wanted.table} x INDEXED BY {wanted.table}_known WHERE {KNOWN_WITHIN} LIMIT {most + 1})"
            )
            found = self._db.execute(sql, (*query.values, *chain.from_iterable(spans))).fetchone()
            counted = self._known_counts[asked] = found or (0, 0)
        return counted[0] <= most and counted[1] <= _FEW

    def _spans(self, wanted: WantedKeys) -> list[KnownSpan]:
        return known_spans(self._extents, wanted.selection, wanted.as_of)

    def _of_sources(self, selection: Selection) -> int | None:
        """How many vintages of the kind and frequency asked for there are of the sources; None where they have many series."""
        if selection.sources is None:
            return None
        named = sorted(selection.sources)
        own = f"FROM series s WHERE s.source IN ({', '.join('?' * len(named))})"
        many = self._db.execute(f"SELECT 1 {own} LIMIT 1 OFFSET {LISTED}", named).get
        return None if many is not None else self._extents.of(selection).vintages

    def few_end(self, table: str, selection: Selection) -> bool:
        """Whether few rows at all are of periods that end in the span asked for."""
        span = selection.ends
        if span is None or (selection.indicators is not None and selection.entities is not None):
            return False
        query = Conditions()
        query.periods(selection)
        rows = f"FROM ({EVERY_PART}) p CROSS JOIN {table} x INDEXED BY {table}_end"
        few = _FEW_END * (_VINTAGES_EACH if table == "vintages" else 1)
        sql = (
            f"SELECT 1 {rows} WHERE {PART} = p.column1 AND {END} BETWEEN ? AND ? AND {query.where} LIMIT 1 OFFSET {few}"
        )
        asked = (table, *span, *query.values)
        told = self._few_ends.get(asked)
        if told is None:
            if len(self._few_ends) >= _ENDS_HELD:
                self._few_ends.clear()
            told = self._few_ends[asked] = self._db.execute(sql, asked[1:]).get is None
        return told

    def _keys(self, wanted: WantedKeys, way: str | Touched, place: list[Any] | None) -> Iterator[Key]:
        """Keys from a place on, with sort value and place before each."""
        if way != "walk" or wanted.sort not in _BY_PERIOD:
            return self._nearest(wanted, way, place)
        spans, narrow = self._aside(wanted)
        found = self._nearest(wanted._replace(selection=narrow), way, place)
        if not spans:
            return found
        aside = iter(self._sorted(wanted, "known", place, None, spans=spans, beside=narrow))
        down = wanted.descending
        return heapq.merge(
            found, aside, key=lambda key: ((key[0] is None) != down, key[0] or 0, *key[1:KEY]), reverse=down
        )

    def _aside(self, wanted: WantedKeys) -> tuple[list[KnownSpan], Selection]:
        """
        Spans of the few rows whose periods lie far from when they were known, and where those of all others are.

        Old periods are not gone through for what is new, nor new ones for what was known long ago, on account of a few.
        """
        selection = wanted.selection
        by_lag: dict[int, list[KnownSpan]] = {}
        for span in self._spans(wanted):
            by_lag.setdefault(span.lag, []).append(span)
        spans: list[KnownSpan] = []

        left = _ASIDE

        def taken(lag: int) -> bool:
            nonlocal left
            here = by_lag.get(lag, [])
            count = self._count(wanted.table, here, left + 1) if here else 0
            if count > left:
                return False
            left -= count
            spans.extend(here)
            return True

        high = min((one for one in (selection.observed_to, wanted.as_of) if one is not None), default=None)
        narrow = selection
        if high is not None and taken(0):
            narrow = ending(narrow, to=day_at(high) + 1)
        for lag in reversed(range(1, LAGS)) if selection.observed_from is not None else ():
            if not taken(lag):
                break
            narrow = ending(narrow, since=day_at(selection.observed_from or 0) - LEAST_LAGS[lag - 1])
        return spans, narrow

    def _count(self, table: str, spans: list[KnownSpan], most: int) -> int:
        """How many rows there are in some spans, so many at most."""
        rows = f"FROM {listed(spans)} s CROSS JOIN {table} x INDEXED BY {table}_known WHERE {KNOWN_WITHIN} LIMIT ?"
        count: int = self._db.execute(
            f"SELECT count(*) FROM (SELECT 1 {rows})", (*chain.from_iterable(spans), most)
        ).get
        return count

    def _nearest(self, wanted: WantedKeys, way: str | Touched, place: list[Any] | None) -> Iterator[Key]:
        """The same by one way."""
        walk = Walk(self._db, self._extents, wanted)
        if isinstance(way, Touched):
            yield from walk.of_touched(way, place)
            return
        given: list[Key] = []
        if way == "walk":
            try:
                for key in walk.keys(place):
                    given = [*given, key] if given and _PLACE(given[0]) == _PLACE(key) else [key]
                    yield key
            except TooFewError:
                way, place = "topics", list(_PLACE(given[0])) if given else place
            else:
                return
        if way == "sources" and SORTS[wanted.sort] is None:
            yield from walk.of_sources(place)
            return
        spans = self._spans(wanted) if way == "known" else []
        if way == "known" and not spans:
            return
        # Not all that is found is given: to sort twice costs more than some to spare, and all is looked at for any. What is
        # in order already is read as far as it is needed.
        if SORTS[wanted.sort] is not None:
            size = 6 * (wanted.share + _SPARE)
        else:
            size = wanted.share + _SPARE if way == "topics" else 2 * (wanted.share + _SPARE)
        while True:
            found = self._sorted(wanted, way, place, size, spans=spans)
            if len(found) < size:
                yield from (key for key in found if key not in given)
                return
            # Its last group may go on behind the last key, and is found again as a whole.
            last = found[-1][:KEY]
            whole = [key for key in found if key[:KEY] != last]
            yield from (key for key in whole if key not in given)
            size, place = size * 2 if not whole else max(size, min(size * 2, _MOST)), list(last)

    def _sorted(
        self,
        wanted: WantedKeys,
        way: str,
        place: list[Any] | None,
        size: int | None,
        *,
        spans: list[KnownSpan],
        beside: Selection | None = None,
    ) -> list[tuple[Any, ...]]:
        """
        The same, by the database's own order or sorted by it. `size` None: all. `beside`: none of the periods that are
        asked for there.
        """
        selection, sort, descending = wanted.selection, wanted.sort, wanted.descending
        column = SORTS[sort]
        query = Conditions()
        # A row tells its own source; a topic is asked for its sources where it is not looked into otherwise.
        query.topics(selection, sources=way == "topics")
        query.periods(selection)
        query.known(selection, wanted.as_of)
        query.series(selection)
        if beside is not None:
            query.add("x.period NOT BETWEEN ? AND ?", *beside.keys)
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
                f"({EVERY_PART}) p CROSS JOIN {wanted.table} x INDEXED BY {wanted.table}_end"
                " CROSS JOIN topic t ON t.topic = x.topic"
            )
        elif way == "sources":
            named = sorted(selection.sources or ())
            group = f"SELECT DISTINCT s.topic FROM series s WHERE s.source IN ({', '.join('?' * len(named))})"
            tables = (
                f"({group}) g CROSS JOIN topic t ON t.topic = g.topic CROSS JOIN {wanted.table} x ON x.topic = t.topic"
            )
            query.values[:0] = named
        elif way == "known":
            tables = (
                f"{listed(spans)} s CROSS JOIN {wanted.table} x INDEXED BY {wanted.table}_known"
                " CROSS JOIN topic t ON t.topic = x.topic"
            )
            query.add(KNOWN_WITHIN)
            query.values[:0] = chain.from_iterable(spans)
        else:
            tables = f"topic t CROSS JOIN {wanted.table} x ON x.topic = t.topic"
        columns = f"{column or '0'}, {TOPIC}, x.period, x.topic, {KEYS[wanted.table]}"
        most = "" if size is None else f" LIMIT {size}"
        sql = f"SELECT {columns} FROM {tables} WHERE {query.where} ORDER BY {order}{most}"
        return self._db.execute(sql, query.values).fetchall()

    def _behind(self, wanted: WantedKeys, keys: list[tuple[Any, ...]]) -> Iterator[Placed]:
        """The rows behind keys, those of them that the state asked for has."""
        version, more = wanted.version, tuple[Any, ...]()
        if wanted.table == "current":
            sql, more = _SHOWN, (version,)
        elif wanted.history:
            sql, more = _STATED, (version,)
        else:
            sql, more = _STANDING, (version, wanted.as_of, version, version)
        bound = [(number, key[4], *key[KEY:], *more) for number, key in enumerate(keys)]
        for number, *row in self._db.seek(sql, bound):
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
    f"SELECT ?1, {CURRENT} FROM {{keys}}current x WHERE x.period = ?2 AND x.topic = ?3 AND x.series = ?4 AND x.from_version = ?5"
    " AND x.from_version <= ?6 AND x.to_version > ?6"
)
_STATED = (
    f"SELECT ?1, {VINTAGE}, {BORROWED} FROM {{keys}}vintages x {BORROW} WHERE x.period = ?2 AND x.topic = ?3 AND x.series = ?4"
    " AND x.known_at = ?5 AND x.from_version = ?6 AND x.from_version <= ?7 AND x.to_version > ?7"
)
_STANDING = f"{_STATED} AND (x.value IS NOT NULL OR x.text IS NOT NULL) AND {NOT_SUPERSEDED}"
