"""
An accelerator for SQLite: it joins the rows of a page itself, so that a run of neighbours comes back as one text.

Its plain twin is almanac.store.observations.reading.pages, which says what a page is and does for any engine; a test
compares the two. Nearly every page is of topics that have one series each; where a few compete for the cells of a topic,
SQLite chooses among them too. Where a page is of another kind (a value that may not be sent, bounds on when a row was
known, many short topics, rivals of which some are filtered out) `Runs.page` says so, and the twin finds the rows.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from almanac.domain.companies import is_company
from almanac.domain.fragments import END, rendered
from almanac.domain.periods import highest_key, lowest_key
from almanac.store.engine.protocol import Database
from almanac.store.observations.reading.directory import Directory
from almanac.store.observations.reading.selection import TOPIC_ORDER, Conditions, Selection, in_order
from almanac.store.observations.spans.period_spans import NEVER, PeriodSpan, PlannedTopic

#: Topics looked at for one page. Beyond, one query over all of them costs less than one for each.
_TOPICS = 6
#: Series that may compete in a topic for the database to choose among them.
_RIVALS = 8
_PLANS_HELD = 20_000


class Run(NamedTuple):
    """Neighbouring rows of one series: marked texts (almanac.domain.fragments) with `END` between them."""

    series: int
    #: Set of input series, where the rows have one of their own.
    lineage: int
    rows: int
    text: bytes
    #: What tells the run from any other that the same question may bring in another state of the store.
    validator: bytes


class _Plan(NamedTuple):
    """The topics a page is read from, in order. `whole`: there are no more that the selection allows."""

    topics: tuple[PlannedTopic, ...]
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
        first = _topic_of(after)
        plan = self._plan(selection, first, descending)
        if not plan.whole and plan.rows < limit:
            return None
        bounds = _bounds(selection)
        runs: list[Run] = []
        left = limit
        place: list[Any] | None = None
        for topic in plan.topics:
            span = self._span(topic, selection.kind, bounds, version, as_of, descending, after)
            if left:
                rivals = len(topic.series) > 1
                if rivals and selection.sources is not None:
                    return None
                read = (
                    self._then(span, left)
                    if span.is_past
                    else self._chosen(span, left)
                    if rivals
                    else self._now(span, left)
                )
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
                    more = self._any(replace(span, **{"below" if descending else "above": read.last}))
            else:
                more = self._any(span)
            if more:
                return runs, place
        return (runs, None) if plan.whole else None

    def ask_ahead(
        self,
        selection: Selection,
        *,
        version: int,
        as_of: int | None,
        descending: bool,
        after: list[Any] | None,
        limit: int,
    ) -> bool:
        """Have the database begin with what `page` will ask it first. False: that is not known without asking it."""
        plan = self._plans.get(_plan_key(selection, _topic_of(after), descending))
        if plan is None or not plan.topics or (not plan.whole and plan.rows < limit):
            return False
        span = self._span(plan.topics[0], selection.kind, _bounds(selection), version, as_of, descending, after)
        if span.is_past:
            self._db.ask_ahead(*span.then(limit))
        elif len(span.topic.series) == 1:
            self._db.ask_ahead(*span.now(limit))
        elif selection.sources is None:
            self._db.ask_ahead(*span.chosen(limit, self._order(span)))
        else:
            return False
        return True

    def _span(
        self,
        topic: PlannedTopic,
        kind: str | None,
        bounds: tuple[int, int, int | None],
        version: int,
        as_of: int | None,
        descending: bool,
        after: list[Any] | None,
    ) -> PeriodSpan:
        """What a page reads of a topic, from the place on that a walk has got to."""
        above, below, start = bounds
        if after is not None and topic.key == _topic_of(after):
            above, below = (above, min(below, after[3])) if descending else (max(above, after[3]), below)
        newest, raw = version == self._version, kind == "raw"
        return PeriodSpan(topic, above, below, start, version, newest, as_of, descending, raw)

    def _any(self, span: PeriodSpan) -> bool:
        """Whether there is any row in a span."""
        return bool(self._db.execute(*span.any()).fetchall())

    def _now(self, span: PeriodSpan, limit: int) -> _TopicRead:
        """The first rows of `current`, joined by the database."""
        rows, last, lineage, newest, text, more = self._cursor.execute(*span.now(limit)).get
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

    def _chosen(self, span: PeriodSpan, limit: int) -> _TopicRead:
        """Read the first cells of a topic with rivals: of each the row of the preferred series."""
        found: list[Any] = self._db.execute(*span.chosen(limit, self._order(span))).fetchall()
        return _read_of([(period, lineage, series, text) for period, lineage, series, text, _ in found])

    def _then(self, span: PeriodSpan, limit: int) -> _TopicRead:
        """The first cells of a past state that had a value then; of an older version rendered here, where it is not the value shown now."""
        if span.newest:
            return self._past(span, limit)
        rivals = len(span.topic.series)
        found: list[Any] = self._db.execute(*span.then(limit)).fetchall()
        # Not every engine keeps the order of what it joins to.
        found.sort(key=_PLACE, reverse=span.descending)
        if rivals > 1:
            found = self._preferred(span, found)[:limit]
        own = self._directory.ids.row_part
        return _read_of(
            [
                (period, lineage, number, text or rendered(own(period, vintage[0]), period, *vintage))
                for period, lineage, number, text, *vintage in found
            ]
        )

    def _past(self, span: PeriodSpan, limit: int) -> _TopicRead:
        """Read the first cells of a past state at the newest version, where all rows are written already."""
        rivals = len(span.topic.series)
        if rivals == 1:
            rows, last, lineage, text = self._db.execute(*span.then(limit)).get
            return _TopicRead(rows, last, lineage, [Run(span.topic.series[0], 0, rows, text, text)] if rows else [])
        found: list[Any] = self._db.execute(*span.then(limit)).fetchall()
        return _read_of(self._preferred(span, found)[:limit])

    def _preferred(self, span: PeriodSpan, found: list[Any]) -> list[Any]:
        """Of each cell the row of the preferred series. Rows begin with period, lineage and series; those of a cell follow each other."""
        rank = {series: place for place, series in enumerate(self._order(span))}
        return [min(rows, key=lambda row: rank[row[2]]) for _, rows in groupby(found, key=_PERIOD)]

    def _order(self, span: PeriodSpan) -> list[int]:
        """Rivals, the preferred one first. One whose row has inputs of its own, and so other rights, ends the page."""
        return sorted(span.topic.series, key=lambda number: self._directory.preference_key(number, 0, span.version))

    def _plan(self, selection: Selection, first: tuple[str, str, str] | None, descending: bool) -> _Plan:
        """The topics from a place on, as far as each has one series whose values may be sent."""
        key = _plan_key(selection, first, descending)
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
        topics: list[PlannedTopic] = []
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
            topics.append(PlannedTopic(number, (indicator, entity, frequency), rivals, not revised))
            rows += held
        return _Plan(tuple(topics), len(found) <= _TOPICS, rows)


def _plan_key(selection: Selection, first: tuple[str, str, str] | None, descending: bool) -> tuple[Any, ...]:
    """What the topics of a page depend on."""
    return (
        selection.kind, selection.indicators, selection.entities, selection.sources, selection.frequency,
        selection.companies, selection.countries, first, descending,
    )  # fmt: skip


def _topic_of(after: list[Any] | None) -> tuple[str, str, str] | None:
    """The topic that a walk has got to."""
    return None if after is None else (after[0], after[1], after[2])


def _bounds(selection: Selection) -> tuple[int, int, int | None]:
    """Period keys between which rows lie, both outside, and the first day a period may start on, as an ordinal."""
    low, high = -1, NEVER
    if selection.ends_by is not None:
        high = highest_key(selection.ends_by) + 1
    if selection.ends_from is not None:
        low = lowest_key(selection.ends_from) - 1
    if selection.starts_from is None:
        return low, high, None
    return max(low, lowest_key(selection.starts_from) - 1), high, selection.starts_from.toordinal()


_PERIOD, _SERIES, _PLACE = itemgetter(0), itemgetter(2), itemgetter(0, 2)
_SERIES_OF = "SELECT series FROM series WHERE topic = ?"
