"""
Which cells are served otherwise than at an earlier data version, in the order of lists.

`change` leads to the topics and the spans of periods where something was written since; whether a cell's served state
differs is then told from its vintages, which are never dropped. So the work follows what changed, not the store.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from almanac.store.engine.deadline import check_deadline
from almanac.store.engine.sql_compat import number_list
from almanac.store.observations.reading.choose import Origin
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.rows import VINTAGE, ObservationRow, RowReader, cut
from almanac.store.observations.reading.selection import TOPIC_ORDER, Conditions, Selection, already_given, in_order
from almanac.store.observations.writing.dependents import WHOLE

#: Where more was noted than this, topics are gone through in order instead, each looked up: a page then ends the search.
_MANY = 20_000

#: So many topics are looked at together at first, and at most.
_AT_ONCE, _AT_ONCE_MOST = 256, 4_096

#: A vintage as found: from_version, to_version, then the columns `VINTAGE`.
_VintageRow = tuple[Any, ...]
_SERIES_AT, _LINEAGE_AT, _VALUE_AT, _TEXT_AT = 3, 8, 9, 10
#: Columns that say what a series served: from the knowledge time to the note.
_STATE = slice(4, 12)


class _ChangedTopic(NamedTuple):
    """A topic with changes, and the span of period keys they lie in; high `WHOLE`: all its cells count as changed."""

    indicator: str
    entity: str
    frequency: str
    number: int
    low: int
    high: int


class Changes:
    """The cells that changed after `since`, up to `version`, as known at `as_of` (None: as served without it)."""

    def __init__(self, view: View, selection: Selection, since: int, version: int, as_of: int | None) -> None:
        self._db = view
        self._directory = view.directory
        self._rows = RowReader(view.directory)
        self._selection = selection
        self._since, self._version, self._as_of = since, version, as_of
        # A rebuild writes every vintage anew: what was served before it is not known any more, so every cell may differ.
        rebuilt: int = self._db.execute(
            "SELECT coalesce(max(version), 0) FROM version WHERE cause = 'rebuild' AND version <= ?", (version,)
        ).get
        self._forgotten = 0 < since < rebuilt
        #: The earliest version from `since` on of which the vintages tell.
        self._base = rebuilt if self._forgotten else since

    def page(
        self, *, every: bool, descending: bool, after: list[Any] | None, limit: int
    ) -> tuple[list[ObservationRow], list[Any] | None]:
        """
        Rows as served now, and the place to go on from (None: that was all).

        A cell that is served no more has a row without a value, `withdrawn`. `every`: the series of a cell one by one,
        else its preferred row. Raises TooBroadError, within bounds on knowledge, instead of the first page of what would
        take too long.
        """
        if self._selection.empty:
            return [], None
        if after is None and self._selection.bounded:
            self._db.check_room(self._selection)
        return cut(self._walk(every, descending, after), self._selection, limit)

    def _walk(
        self, every: bool, descending: bool, after: list[Any] | None
    ) -> Iterator[tuple[ObservationRow, list[Any]]]:
        place = tuple(after) if after else None
        for topic in self._topics(descending, place):
            here = topic[:3]
            begin = place[3] if place is not None and here == place[:3] else None
            for period in self._periods(topic, descending, begin):
                changed = self._every(topic, period) if every else self._preferred(topic, period)
                # Which series takes the place may change while a walk is pinned (rights are not): the cell was given.
                if period == begin and not every:
                    continue
                ranked = sorted(
                    ((self._rank(row), row) for row in changed), key=lambda pair: pair[0], reverse=descending
                )
                for rank, row in ranked:
                    if period == begin and place is not None and already_given(rank, place[4:], descending):
                        continue
                    yield row, [*here, period, *rank]

    # -- where ------------------------------------------------------------------------------------------------------

    def _topics(self, descending: bool, place: tuple[Any, ...] | None) -> Iterator[_ChangedTopic]:
        """Topics with changes, in the order of lists, from a place on."""
        span = (self._since, self._version)
        query = Conditions()
        query.topics(self._selection)
        if place is not None:
            query.from_topic(place[:3], descending)
        order = f"ORDER BY {in_order(*TOPIC_ORDER, descending=descending)}"
        noted: int = self._db.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM change WHERE {_later('version')} LIMIT {_MANY}) AS noted", span
        ).get
        if noted < _MANY:
            sql = f"{_TOUCHED} SELECT {_NAMES}, u.low, u.high FROM touched u CROSS JOIN topic t ON t.topic = u.topic"
            found = self._db.scan(f"{sql} WHERE {query.where} {order}", (*span, *span, *query.values))
        else:
            sql = f"SELECT {_NAMES}, {_LOW}, {_HIGH} FROM topic t WHERE {query.where} {order}"
            found = self._db.scan(sql, (*span * 4, *query.values))
        changed = (_ChangedTopic(*row) for row in found if row[5] is not None)
        within = self._within()
        return self._near(changed, within) if within.values else changed

    def _near(self, topics: Iterator[_ChangedTopic], within: Conditions) -> Iterator[_ChangedTopic]:
        """Those of some topics that have a vintage within the bounds, as far as a page needs them: what a cell gives is one of its vintages."""
        sql = f"SELECT DISTINCT x.topic FROM vintages x WHERE x.topic IN {number_list('?')} AND {within.where}"
        size = _AT_ONCE
        while some := list(islice(topics, size)):
            check_deadline()
            numbers = json.dumps([one.number for one in some])
            near = {topic for (topic,) in self._db.execute(sql, (numbers, *within.values))}
            yield from (one for one in some if one.number in near)
            size = min(4 * size, _AT_ONCE_MOST)

    def _periods(self, topic: _ChangedTopic, descending: bool, begin: int | None) -> Iterator[int]:
        """Periods of a topic in which a vintage came or ended after `since`; of a whole one all periods."""
        query = Conditions()
        query.add("x.topic = ?", topic.number)
        query.add("x.period BETWEEN ? AND ?", topic.low, topic.high)
        query.periods(self._selection)
        self._stated(query)
        if topic.high != WHOLE:
            query.add("(x.from_version > ? OR x.to_version <= ?)", self._since, self._version)
        if self._selection.bounded:
            near = Conditions()
            near.known(self._selection)
            near_too = near.where.replace("x.", "k.")
            query.add(f"EXISTS (SELECT 1 FROM vintages k WHERE {_SAME_CELL} AND {near_too})", *near.values)
        if begin is not None:
            query.add(f"x.period {'<=' if descending else '>='} ?", begin)
        order = in_order("x.period", descending=descending)
        sql = f"SELECT DISTINCT x.period FROM vintages x WHERE {query.where} ORDER BY {order}"
        for (period,) in self._db.scan(sql, query.values):
            yield period

    def _within(self) -> Conditions:
        """Vintages within the bounds on periods and knowledge."""
        query = Conditions()
        query.periods(self._selection)
        query.known(self._selection)
        return query

    def _stated(self, query: Conditions) -> None:
        """Vintages that one of the two states may be made of."""
        query.add("x.from_version <= ? AND x.to_version > ?", self._version, self._since)
        if self._as_of is not None:
            query.add("x.known_at <= ?", self._as_of)

    # -- what -------------------------------------------------------------------------------------------------------

    def _states(self, topic: _ChangedTopic, period: int) -> tuple[dict[int, _VintageRow], dict[int, _VintageRow]]:
        """The last vintage of each series of a cell, by series, at `since` and at the version asked."""
        query = Conditions()
        query.add("x.topic = ? AND x.period = ?", topic.number, period)
        self._stated(query)
        sql = f"SELECT x.from_version, x.to_version, {VINTAGE} FROM vintages x WHERE {query.where} ORDER BY x.known_at"
        then: dict[int, _VintageRow] = {}
        now: dict[int, _VintageRow] = {}
        sources = self._selection.sources
        for found in self._db.execute(sql, query.values):
            number = found[_SERIES_AT]
            if sources is not None and self._directory.series(number).source.id not in sources:
                continue
            if found[0] <= self._base < found[1]:
                then[number] = found
            if found[1] > self._version:
                now[number] = found
        return then, now

    def _every(self, topic: _ChangedTopic, period: int) -> Iterator[ObservationRow]:
        """The series of a cell that changed, each with what it serves now."""
        then, now = self._states(topic, period)
        for number in then.keys() | now.keys():
            before, after = then.get(number), now.get(number)
            if after is not None and _alive(after):
                if self._all(topic) or before is None or self._differ(before, after):
                    yield self._rows.vintage(after[2:])
            elif self._was_served(before, after):
                yield self._gone(before, after)

    def _preferred(self, topic: _ChangedTopic, period: int) -> Iterator[ObservationRow]:
        """The preferred row of a cell, if it is another than before, or says something else."""
        then, now = self._states(topic, period)
        served = [found for found in now.values() if _alive(found)]
        held = [found for found in then.values() if _alive(found)]
        if served:
            chosen = self._prefer(served, self._version)
            before = self._prefer(held, self._base) if held else None
            if self._all(topic) or before is None or self._differ(before, chosen):
                yield self._rows.vintage(chosen[2:])
            return
        candidates = held or [found for found in now.values() if self._was_served(None, found)]
        if candidates:
            number = self._prefer(candidates, self._base)[_SERIES_AT]
            yield self._gone(then.get(number), now.get(number))

    def _all(self, topic: _ChangedTopic) -> bool:
        """Whether cells of a topic count as changed that are served as before."""
        return topic.high == WHOLE or self._forgotten

    def _differ(self, before: _VintageRow, after: _VintageRow) -> bool:
        """Whether two vintages are served otherwise: not all that is stored of one shows."""
        if before[_SERIES_AT] == after[_SERIES_AT] and before[_STATE] == after[_STATE]:
            return False
        old, new = self._rows.vintage(before[2:]), self._rows.vintage(after[2:])
        return (old.series.number, old.lineage, old.shown) != (new.series.number, new.lineage, new.shown)

    def _was_served(self, before: _VintageRow | None, after: _VintageRow | None) -> bool:
        """Whether there was a row at `since` where there is none now; a withdrawal follows a value, so it tells too."""
        return (before is not None and _alive(before)) or (self._forgotten and after is not None)

    def _gone(self, before: _VintageRow | None, after: _VintageRow | None) -> ObservationRow:
        """The withdrawal of a cell; where nothing is left of it, what it was at `since`, without its value."""
        if after is not None:
            return self._rows.vintage(after[2:])
        assert before is not None  # the caller found one or the other
        return self._rows.vintage(before[2:])._replace(value=None, text=None)

    def _prefer(self, found: list[_VintageRow], version: int) -> _VintageRow:
        return self._db.preference.preferred(found, version, _origin)

    def _rank(self, row: ObservationRow) -> tuple[int, str, str]:
        return self._directory.rank_of(row.series, self._version)


def _origin(found: _VintageRow) -> Origin:
    return found[_SERIES_AT], found[_LINEAGE_AT]


def _alive(found: _VintageRow) -> bool:
    return found[_VALUE_AT] is not None or found[_TEXT_AT] is not None


_SAME_CELL = "k.topic = x.topic AND k.period = x.period"
_NAMES = "t.indicator, t.entity, t.frequency, t.topic"


def _later(column: str) -> str:
    """A data version later than one, up to another: two values."""
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
