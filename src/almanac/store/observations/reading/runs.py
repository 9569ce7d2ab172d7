"""
An accelerator for SQLite: it joins the rows of a page itself, so that a run of neighbours comes back as one text.

Its plain twin is almanac.store.observations.reading.pages, which says what a page is and does for any engine; a test
compares the two. Nearly every page is of topics that have one series each; where a few compete for the cells of a topic,
SQLite chooses among them too. Where a page is of another kind (a value that may not be sent, bounds on when a row was
known, many short topics, rivals of which some are filtered out) `Runs.page` says so, and the twin finds the rows.
"""

from __future__ import annotations

import functools
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from almanac.domain.companies import is_company
from almanac.domain.periods import highest_key, lowest_key
from almanac.store.engine.protocol import Database
from almanac.store.observations.fragments import END, rendered
from almanac.store.observations.notes import body_sql
from almanac.store.observations.period_sql import STARTS_FROM_SQL
from almanac.store.observations.reading.directory import Directory
from almanac.store.observations.reading.selection import TOPIC_ORDER, Conditions, Selection, in_order

#: Topics looked at for one page. Beyond, one query over all of them costs less than one for each.
_TOPICS = 6
#: Series that may compete in a topic for the database to choose among them.
_RIVALS = 8
_PLANS_HELD = 20_000
#: No period key, knowledge time or version is as large.
_NEVER = 1 << 62


class Run(NamedTuple):
    """Neighbouring rows of one series: marked texts (almanac.store.observations.fragments) with `END` between them."""

    series: int
    #: Set of input series, where the rows have one of their own.
    lineage: int
    rows: int
    text: bytes
    #: What tells the run from any other that the same question may bring in another state of the store.
    validator: bytes


class _PlannedTopic(NamedTuple):
    number: int
    key: tuple[str, str, str]
    #: Its series, in no order; mostly one.
    series: tuple[int, ...]
    #: Every cell has one vintage, the one shown now: a past state is what of it was known by then.
    settled: bool


class _Plan(NamedTuple):
    """The topics a page is read from, in order. `whole`: there are no more that the selection allows."""

    topics: tuple[_PlannedTopic, ...]
    whole: bool
    #: Rows that the topics have now.
    rows: int


class _TopicRead(Struct, frozen=True):
    """What was read of one topic: how many rows, the last one's period, whether any has inputs of its own, and the runs."""

    rows: int
    last: int
    lineage: int
    runs: list[Run]
    #: Whether there are rows behind the last one; None: not known yet.
    more: bool | None = None


def _read_of(found: list[tuple[int, int, int, bytes]]) -> _TopicRead:
    """Rows one by one, as period, lineage, series and text."""
    if not found:
        return _TopicRead(0, 0, 0, [])
    runs = []
    for series, rows in groupby(found, key=_SERIES):
        texts = [text for _, _, _, text in rows]
        text = END.join(texts)
        runs.append(Run(series, 0, len(texts), text, text))
    return _TopicRead(len(found), found[-1][0], max([lineage for _, lineage, _, _ in found]), runs)


class _PeriodSpan(Struct, frozen=True):
    """Rows of one topic that are asked for: periods between two keys, both outside, and what else they must pass."""

    topic: _PlannedTopic
    above: int
    below: int
    #: The first day a period may start on, as an ordinal.
    start: int | None
    version: int
    as_of: int | None
    descending: bool

    @property
    def shape(self) -> tuple[bool, bool, bool]:
        """What the statement depends on."""
        return self.as_of is not None, self.start is not None, self.descending

    def bound(self, limit: int) -> tuple[int | None, ...]:
        """What it binds: ?1 to ?7."""
        return self.topic.number, self.above, self.below, self.version, self.as_of, self.start, limit


class Runs:
    """Pages of one state of the store. What is learnt of topics is kept for as long as the state lasts."""

    def __init__(self, db: Database, directory: Directory, version: int) -> None:
        self._db = db
        #: For the statement asked most: a cursor made anew each time costs more than running it.
        self._cursor = db.cursor()
        self._directory = directory
        self._version = version
        self._plans: dict[tuple[Any, ...], _Plan] = {}

    def page(
        self,
        selection: Selection,
        *,
        version: int,
        as_of: int | None,
        descending: bool,
        after: list[Any] | None,
        limit: int,
    ) -> tuple[list[Run], list[Any] | None] | None:
        """
        The rows that `Pages.found` would give, as runs, and the place to go on from; None: not a page of this kind.

        `after`: what an earlier call, of this or of `Pages.found`, returned.
        """
        if selection.observed_from is not None or selection.observed_to is not None or selection.empty:
            return None
        first = None if after is None else (after[0], after[1], after[2])
        plan = self._plan(selection, first, descending)
        if not plan.whole and plan.rows < limit:
            return None
        low, high, start = _bounds(selection)
        runs: list[Run] = []
        left = limit
        place: list[Any] | None = None
        for topic in plan.topics:
            above, below = low, high
            if after is not None and topic.key == first:
                above, below = (low, min(high, after[3])) if descending else (max(low, after[3]), high)
            # What a past state of settled cells is, the table of the present says; it has fewer rows, and these are written.
            then = as_of is not None and not (topic.settled and version == self._version)
            span = _PeriodSpan(topic, above, below, start, version, as_of, descending)
            if left:
                rivals = len(topic.series) > 1
                if rivals and selection.sources is not None:
                    return None
                read = self._then(span, left) if then else self._chosen(span, left) if rivals else self._now(span, left)
                if not read.rows:
                    continue
                if read.lineage:
                    return None
                runs += read.runs
                place = [*topic.key, read.last]
                left -= read.rows
                if left:
                    continue
                more = read.more
                if more is None:
                    more = self._any(replace(span, **{"below" if descending else "above": read.last}), then)
            else:
                more = self._any(span, then)
            if more:
                return runs, place
        return (runs, None) if plan.whole else None

    def _any(self, span: _PeriodSpan, then: bool) -> bool:
        """Whether there is any row in a span."""
        return bool(self._db.execute(_any(then, *span.shape), span.bound(1)).fetchall())

    def _now(self, span: _PeriodSpan, limit: int) -> _TopicRead:
        """The first rows of `current`, joined by the database."""
        rows, last, lineage, newest, text, more = self._cursor.execute(_now(*span.shape), span.bound(limit)).get
        # Rows of `current` are never changed, only ended. A page that has as many of them as before, up to the same
        # period, and none that came later is the page of before: else one would have left it, and either another came
        # in at its end, or there are fewer.
        return _TopicRead(
            rows,
            last,
            lineage,
            [Run(span.topic.series[0], 0, rows, text, b"%d %d %d" % (rows, last or 0, newest or 0))],
            bool(more),
        )

    def _chosen(self, span: _PeriodSpan, limit: int) -> _TopicRead:
        """The same of a topic with rivals: of each cell the row of the preferred series."""
        order = self._order(span)
        ranks = [number for place, series in enumerate(order) for number in (series, place)]
        found: list[Any] = self._db.execute(_chosen(len(order), *span.shape), (*span.bound(limit), *ranks)).fetchall()
        return _read_of([(period, lineage, series, text) for period, lineage, series, text, _ in found])

    def _then(self, span: _PeriodSpan, limit: int) -> _TopicRead:
        """The first cells of `vintages` that had a value then; rendered here, where it is not the value shown now."""
        rivals = len(span.topic.series)
        # Rows of so many cells at least, each cell whole: were the last one cut, there would be more cells than that.
        found: list[Any] = self._db.execute(_then(*span.shape), span.bound(limit * rivals)).fetchall()
        # Not every engine keeps the order of what it joins to.
        found.sort(key=_PLACE, reverse=span.descending)
        if rivals > 1:
            rank = {series: place for place, series in enumerate(self._order(span))}
            cells = groupby(found, key=_PERIOD)
            found = [min(rows, key=lambda row: rank[row[2]]) for _, rows in cells][:limit]
        series = self._directory.series
        return _read_of(
            [
                (period, lineage, number, text or rendered(series(number).id, period, *vintage))
                for period, lineage, number, text, *vintage in found
            ]
        )

    def _order(self, span: _PeriodSpan) -> list[int]:
        """Rivals, the preferred one first. One whose row has inputs of its own, and so other rights, ends the page."""
        return sorted(span.topic.series, key=lambda number: self._directory.preference_key(number, 0, span.version))

    def _plan(self, selection: Selection, first: tuple[str, str, str] | None, descending: bool) -> _Plan:
        """The topics from a place on, as far as each has one series whose values may be sent."""
        key = (
            selection.kind, selection.indicators, selection.entities, selection.sources, selection.frequency,
            selection.companies, first, descending,
        )  # fmt: skip
        held = self._plans.get(key)
        if held is None:
            if len(self._plans) >= _PLANS_HELD:
                self._plans.clear()
            held = self._plans[key] = self._planned(selection, first, descending)
        return held

    def _planned(self, selection: Selection, first: tuple[str, str, str] | None, descending: bool) -> _Plan:
        query = Conditions()
        query.topics(selection)
        if first is not None:
            query.from_topic(first, descending)
        found: list[tuple[Any, ...]] = self._db.execute(
            "SELECT t.topic, t.indicator, t.entity, t.frequency, count(*), max(s.series), sum(s.rows), count(*) FILTER (WHERE s.rows <> s.vintages)"
            f" FROM topic t CROSS JOIN series s ON s.topic = t.topic WHERE {query.where}"
            f" GROUP BY {in_order(*TOPIC_ORDER, descending=False)}, t.topic"
            f" ORDER BY {in_order(*TOPIC_ORDER, descending=descending)} LIMIT {_TOPICS + 1}",
            query.values,
        ).fetchall()
        topics: list[_PlannedTopic] = []
        rows = 0
        for number, indicator, entity, frequency, count, series, held, revised in found[:_TOPICS]:
            # A series that has no rows now may have had some at the version of an older cursor: it counts.
            rivals = (series,) if count == 1 else tuple(one for (one,) in self._db.execute(_SERIES_OF, (number,)))
            # Nor are a company's cells kept written, so that nothing could be joined.
            if (
                count > _RIVALS
                or is_company(entity)
                or any(self._directory.series(one).rights.withheld for one in rivals)
            ):
                return _Plan(tuple(topics), False, rows)
            topics.append(_PlannedTopic(number, (indicator, entity, frequency), rivals, not revised))
            rows += held
        return _Plan(tuple(topics), len(found) <= _TOPICS, rows)


def _bounds(selection: Selection) -> tuple[int, int, int | None]:
    """Period keys between which rows lie, both outside, and the first day a period may start on, as an ordinal."""
    low, high = -1, _NEVER
    if selection.ends_by is not None:
        high = highest_key(selection.ends_by) + 1
    if selection.ends_from is not None:
        low = lowest_key(selection.ends_from) - 1
    if selection.starts_from is None:
        return low, high, None
    return max(low, lowest_key(selection.starts_from) - 1), high, selection.starts_from.toordinal()


@functools.lru_cache
def _where(known: bool, starts: bool, above: str = "?2", below: str = "?3") -> str:
    """Rows of a span, which binds ?1 to ?6."""
    where = f"x.topic = ?1 AND x.period > {above} AND x.period < {below} AND x.from_version <= ?4 AND x.to_version > ?4"
    if known:
        where += " AND x.known_at <= ?5"
    return where + (f" AND {STARTS_FROM_SQL.format('x.period', '?6')}" if starts else "")


@functools.lru_cache
def _now(known: bool, starts: bool, descending: bool) -> str:
    last, way = ("min", " DESC") if descending else ("max", "")
    behind = {"below": "last"} if descending else {"above": "last"}
    # An order within an aggregate would be sorted; a limited subquery gives its rows in the order of the table.
    return (
        "SELECT rows, last, lineage, newest, text,"
        f" EXISTS(SELECT 1 FROM current x WHERE {_where(known, starts, **behind)})"
        f" FROM (SELECT count(*) AS rows, {last}(period) AS last, max(lineage) AS lineage, max(from_version) AS newest,"
        f" CAST(group_concat(marked, x'{END.hex()}') AS BLOB) AS text FROM (SELECT x.period, x.lineage, x.from_version, x.marked"
        f" FROM current x WHERE {_where(known, starts)} ORDER BY x.period{way} LIMIT ?7))"
    )


_PERIOD, _SERIES, _PLACE = itemgetter(0), itemgetter(2), itemgetter(0, 2)
_SERIES_OF = "SELECT series FROM series WHERE topic = ?"


@functools.lru_cache
def _chosen(rivals: int, known: bool, starts: bool, descending: bool) -> str:
    # With a single min(), SQLite takes the other columns from the row that has it: the preferred one of the cell.
    # Ranks are bound behind what a span binds.
    rank = f"CASE x.series {' '.join(f'WHEN ?{2 * n + 8} THEN ?{2 * n + 9}' for n in range(rivals))} END"
    return (
        f"SELECT x.period, x.lineage, x.series, x.marked, min({rank}) FROM current x WHERE {_where(known, starts)}"
        f" GROUP BY x.period ORDER BY x.period{' DESC' if descending else ''} LIMIT ?7"
    )


@functools.lru_cache
def _then(known: bool, starts: bool, descending: bool) -> str:
    # With a single max(), SQLite takes the other columns from the row that has it: the last vintage known by then.
    way = " DESC" if descending else ""
    return (
        f"SELECT v.period, v.lineage, v.series, c.marked, {_VINTAGE} FROM"
        f" (SELECT x.period, x.lineage, x.series, x.from_version, max(x.known_at) AS known_at, x.value, x.text, x.flags,"
        f" x.released_at, x.ingested_at, x.note FROM vintages x WHERE {_where(known, starts)}"
        f" GROUP BY x.period, x.series HAVING x.value IS NOT NULL OR x.text IS NOT NULL ORDER BY x.period{way}, x.series{way} LIMIT ?7) v"
        " LEFT JOIN current c ON c.topic = ?1 AND c.period = v.period AND c.series = v.series"
        " AND c.from_version = v.from_version AND c.known_at = v.known_at"
    )


#: In the order in which `rendered` takes them.
_VINTAGE = f"v.known_at, v.value, v.text, v.flags, v.released_at, v.ingested_at, {body_sql('v')}"


@functools.lru_cache
def _any(then: bool, known: bool, starts: bool, _: bool) -> str:
    """Whether there is any row."""
    if not then:
        return f"SELECT 1 FROM current x WHERE {_where(known, starts)} LIMIT ?7"
    return (
        f"SELECT 1 FROM (SELECT x.value, x.text, max(x.known_at) FROM vintages x WHERE {_where(known, starts)}"
        " GROUP BY x.period, x.series HAVING x.value IS NOT NULL OR x.text IS NOT NULL LIMIT ?7)"
    )
