"""
Cells that are served otherwise than at an earlier data version, in the order of lists.

`change` leads to the topics and the spans of periods where something was written since; whether a cell's served state
differs is then read from its vintages, which are never dropped. So the work follows what changed, not the store.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from almanac.store.engine.deadline import check_deadline
from almanac.store.engine.sql_compat import number_list
from almanac.store.observations.reading.pages import ObservationRow, PreferredSeries, check_room, row_of
from almanac.store.observations.reading.query import (
    SERIES,
    TEXT,
    TOPIC_ORDER,
    VALUE,
    VINTAGE,
    Conditions,
    Found,
    ObservationQuery,
    in_order,
)
from almanac.store.observations.reading.reader import View
from almanac.store.observations.writing.dependents import WHOLE

#: Where more was noted than this, topics are gone through in order instead, each looked up: a page then ends the search.
_MANY = 20_000
#: So many topics are looked at together at first, and at most.
_AT_ONCE, _AT_ONCE_MOST = 256, 4_096


class _ChangedTopic(NamedTuple):
    """A topic with changes, and the span of period keys they lie in; high `WHOLE`: all its cells count as changed."""

    indicator: str
    entity: str
    frequency: str
    number: int
    low: int
    high: int


def read_changes(view: View, query: ObservationQuery, since: int) -> tuple[list[ObservationRow], list[Any] | None]:
    """
    Return rows of cells that changed after the data version `since`, as served now, and the position to go on from (None: that was all).

    A cell that is served no more has a row without a value, `withdrawn`. With `query.every` the series of a cell come one by one, else
    its preferred row. Raises TooBroadError, within bounds on knowledge, instead of the first page of what would take too long.
    """
    asked = query.filter
    if asked.empty:
        return [], None
    if query.after is None and asked.bounded:
        check_room(view, asked)
    low, high, fiscal = asked.observed_from, asked.observed_to, asked.fiscal
    rows: list[ObservationRow] = []
    position: list[Any] | None = None
    for row, place in _Changes(view, query, since).walk():
        known = (low is None or row.known >= low) and (high is None or row.known <= high)
        said = fiscal is None or (row.note is not None and any(words in row.note for words in fiscal.notes))
        if not (known and said):
            continue
        if len(rows) == query.limit:
            return rows, position
        rows.append(row)
        position = place
    return rows, None


class _Changes:
    """The changed cells of one query."""

    def __init__(self, view: View, query: ObservationQuery, since: int) -> None:
        self._view, self._metadata = view, view.directory
        self._query, self._filter, self._since, self._version = query, query.filter, since, query.version
        # A rebuild writes every vintage anew: what was served before it is not known any more, so every cell may differ.
        rebuilt: int = view.execute(
            "SELECT coalesce(max(version), 0) FROM version WHERE cause = 'rebuild' AND version <= ?", (query.version,)
        ).get
        self._forgotten = 0 < since < rebuilt
        #: The earliest version from `since` on of which the vintages tell.
        self._base = rebuilt if self._forgotten else since
        self._preferred_now = PreferredSeries(view.directory, query.version)
        self._preferred_then = PreferredSeries(view.directory, self._base)

    def walk(self) -> Iterator[tuple[ObservationRow, list[Any]]]:
        """Yield rows in order, each with its position."""
        after, every, descending = self._query.after, self._query.every, self._query.descending
        place = tuple(after) if after else None
        for topic in self._topics(place):
            names = topic[:3]
            begin, given = (place[3], place[4:]) if place is not None and names == place[:3] else (None, None)
            for period in self._periods(topic, begin):
                # Which series is preferred may change while a walk is pinned (rights are not): the cell was given.
                if period == begin and not every:
                    continue
                changed = self._changed(topic, period)
                ranked = [(self._metadata.rank_of(row.series, self._version), row) for row in changed]
                for rank, row in sorted(ranked, key=lambda pair: pair[0], reverse=descending):
                    if given and period == begin and (rank >= given if descending else rank <= given):
                        continue
                    yield row, [*names, period, *rank]

    # -- where ------------------------------------------------------------------------------------------------------

    def _topics(self, place: tuple[Any, ...] | None) -> Iterator[_ChangedTopic]:
        """Yield topics with changes, in the order of lists, from a place on."""
        span, descending = (self._since, self._version), self._query.descending
        where = Conditions()
        where.topics(self._filter)
        if place is not None:
            where.from_topic(place[:3], descending)
        order = f"ORDER BY {in_order(*TOPIC_ORDER, descending=descending)}"
        noted: int = self._view.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM change WHERE {_later('version')} LIMIT {_MANY}) AS noted", span
        ).get
        if noted < _MANY:
            sql = f"{_TOUCHED} SELECT {_NAMES}, u.low, u.high FROM touched u CROSS JOIN topic t ON t.topic = u.topic"
            changed_rows = self._view.scan(f"{sql} WHERE {where.where} {order}", (*span, *span, *where.values))
        else:
            sql = f"SELECT {_NAMES}, {_LOW}, {_HIGH} FROM topic t WHERE {where.where} {order}"
            changed_rows = self._view.scan(sql, (*span * 4, *where.values))
        changed = (_ChangedTopic(*row) for row in changed_rows if row[5] is not None)
        within = Conditions()
        within.periods(self._filter)
        within.known(self._filter)
        return self._near(changed, within) if within.values else changed

    def _near(self, topics: Iterator[_ChangedTopic], within: Conditions) -> Iterator[_ChangedTopic]:
        """Yield those of some topics that have a vintage within the bounds, as far as a page needs them: each row of a cell is one."""
        sql = f"SELECT DISTINCT x.topic FROM vintages x WHERE x.topic IN {number_list('?')} AND {within.where}"
        size = _AT_ONCE
        while chunk := list(islice(topics, size)):
            check_deadline()
            numbers = json.dumps([topic.number for topic in chunk])
            near = {number for (number,) in self._view.execute(sql, (numbers, *within.values))}
            yield from (topic for topic in chunk if topic.number in near)
            size = min(4 * size, _AT_ONCE_MOST)

    def _periods(self, topic: _ChangedTopic, begin: int | None) -> Iterator[int]:
        """Yield the periods of a topic in which a vintage came or ended after `since`; of a whole one all periods."""
        where = Conditions()
        where.add("x.topic = ?", topic.number)
        where.add("x.period BETWEEN ? AND ?", topic.low, topic.high)
        where.periods(self._filter)
        self._stated(where)
        if topic.high != WHOLE:
            where.add("(x.from_version > ? OR x.to_version <= ?)", self._since, self._version)
        if self._filter.bounded:
            near = Conditions()
            near.known(self._filter)
            near_too = near.where.replace("x.", "k.")
            where.add(f"EXISTS (SELECT 1 FROM vintages k WHERE {_SAME_CELL} AND {near_too})", *near.values)
        if begin is not None:
            where.add(f"x.period {'<=' if self._query.descending else '>='} ?", begin)
        order = in_order("x.period", descending=self._query.descending)
        sql = f"SELECT DISTINCT x.period FROM vintages x WHERE {where.where} ORDER BY {order}"
        for (period,) in self._view.scan(sql, where.values):
            yield period

    def _stated(self, where: Conditions) -> None:
        """Add that vintages are some that one of the two states may be made of."""
        where.add("x.from_version <= ? AND x.to_version > ?", self._version, self._since)
        if self._query.as_of is not None:
            where.add("x.known_at <= ?", self._query.as_of)

    # -- what -------------------------------------------------------------------------------------------------------

    def _changed(self, topic: _ChangedTopic, period: int) -> Iterator[ObservationRow]:
        """Yield the rows of a cell that are served otherwise than before: of each series, or the preferred one."""
        then, now = self._states(topic, period)
        whole = topic.high == WHOLE or self._forgotten  # counts as changed, though it is served as before
        if self._query.every:
            for number in then.keys() | now.keys():
                before, after = then.get(number), now.get(number)
                if after is not None and _has_value(after):
                    if whole or before is None or self._differ(before, after):
                        yield row_of(self._metadata, after)
                elif self._was_served(before, after):
                    yield self._gone(before, after)
            return
        served = [row for row in now.values() if _has_value(row)]
        served_then = [row for row in then.values() if _has_value(row)]
        if served:
            chosen = self._preferred_now.preferred(served)
            before = self._preferred_then.preferred(served_then) if served_then else None
            if whole or before is None or self._differ(before, chosen):
                yield row_of(self._metadata, chosen)
            return
        candidates = served_then or [row for row in now.values() if self._was_served(None, row)]
        if candidates:
            number = self._preferred_then.preferred(candidates)[SERIES]
            yield self._gone(then.get(number), now.get(number))

    def _states(self, topic: _ChangedTopic, period: int) -> tuple[dict[int, Found], dict[int, Found]]:
        """Return the last vintage of each series of a cell, by series, at `since` and at the version asked."""
        where = Conditions()
        where.add("x.topic = ? AND x.period = ?", topic.number, period)
        self._stated(where)
        sql = f"SELECT x.from_version, x.to_version, {VINTAGE} FROM vintages x WHERE {where.where} ORDER BY x.known_at"
        then: dict[int, Found] = {}
        now: dict[int, Found] = {}
        sources = self._filter.sources
        for row in self._view.execute(sql, where.values):
            number = row[SERIES]
            if sources is not None and self._metadata.series(number).source.id not in sources:
                continue
            if row[0] <= self._base < row[1]:
                then[number] = row
            if row[1] > self._version:
                now[number] = row
        return then, now

    def _differ(self, before: Found, after: Found) -> bool:
        """Return whether two vintages are served otherwise: not all that is stored of one shows."""
        if before[SERIES:] == after[SERIES:]:
            return False
        old, new = row_of(self._metadata, before), row_of(self._metadata, after)
        return (old.series.number, old.lineage, old.shown) != (new.series.number, new.lineage, new.shown)

    def _was_served(self, before: Found | None, after: Found | None) -> bool:
        """Return whether there was a row at `since` where there is none now; a withdrawal follows a value, so it tells too."""
        return (before is not None and _has_value(before)) or (self._forgotten and after is not None)

    def _gone(self, before: Found | None, after: Found | None) -> ObservationRow:
        """Return the withdrawal of a cell; where nothing is left of it, what it was at `since`, without its value."""
        if after is not None:
            return row_of(self._metadata, after)
        assert before is not None  # the caller found one or the other
        return row_of(self._metadata, before)._replace(value=None, text=None)


def _has_value(row: Found) -> bool:
    return row[VALUE] is not None or row[TEXT] is not None


_SAME_CELL = "k.topic = x.topic AND k.period = x.period"
_NAMES = "t.indicator, t.entity, t.frequency, t.topic"


def _later(column: str) -> str:
    """Return the condition that a data version is later than one, up to another: two values."""
    return f"{column} > ? AND {column} <= ?"


#: Topics with the spans noted for them; of indicators whose order of sources is another, all cells.
_TOUCHED = (
    "WITH touched(topic, low, high) AS MATERIALIZED (SELECT topic, min(low), max(high) FROM ("
    f"SELECT topic, low, high FROM change WHERE {_later('version')} UNION ALL"
    f" SELECT o.topic, 0, {WHOLE} FROM preference p CROSS JOIN topic o ON o.indicator = p.indicator WHERE {_later('p.from_version')}"
    ") AS spans GROUP BY topic)"
)
#: The same for one topic.
_OF_TOPIC = f"FROM change WHERE topic = t.topic AND {_later('version')}"
_REORDERED = f"t.indicator IN (SELECT indicator FROM preference WHERE {_later('from_version')})"
_LOW = f"CASE WHEN {_REORDERED} THEN 0 ELSE (SELECT min(low) {_OF_TOPIC}) END"
_HIGH = f"CASE WHEN {_REORDERED} THEN {WHOLE} ELSE (SELECT max(high) {_OF_TOPIC}) END"
