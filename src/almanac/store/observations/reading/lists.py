"""
Walking observation lists, page by page: by topic (the order of the tables) or by a column.

The order of a list is (indicator, entity, frequency, period): the unique index of `topic`, then the clustering of
`vintages`, so nothing is sorted and the query stops at the page's end. A cell has few series, so the reader takes the
whole cell and picks in memory, by rights now and the order of preference at the pinned version.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from operator import itemgetter
from typing import Any

from almanac.domain.periods import SPAN_BITS
from almanac.store.engine.protocol import Database
from almanac.store.engine.sql_compat import greatest, in_list, least
from almanac.store.observations.reading.choose import (
    CELLS_AT_ONCE,
    Choices,
    ChosenSeries,
    RowPreference,
    is_chosen,
)
from almanac.store.observations.reading.directory import Directory
from almanac.store.observations.reading.pages import Pages
from almanac.store.observations.reading.plan import MOST_SORTED, Question, ReadingPlan, Way, planned
from almanac.store.observations.reading.rows import ObservationRow, RowReader, cut
from almanac.store.observations.reading.selection import SORTS, Conditions, Selection, already_given
from almanac.store.observations.reading.sorted import WIDTH, groups

#: Of so many selections it is remembered how many vintages they mean.
_SELECTIONS_HELD = 1_000


class TooBroadError(Exception):
    """More vintages are meant than a list may go through, `rows` of them; `allowed` are so many."""

    def __init__(self, rows: int, allowed: int) -> None:
        super().__init__(f"{rows} vintages are meant, and no more than {allowed} are gone through")
        self.rows, self.allowed = rows, allowed


class Lists:
    """The lists of one state of the store."""

    def __init__(
        self, db: Database, directory: Directory, version: int, shared: dict[str, Any], most_sorted: int = MOST_SORTED
    ) -> None:
        """
        `shared`: what follows from the state alone, which other threads that read it may know already. `most_sorted`: so many
        vintages at most are gone through for a list in another order than the tables'.
        """
        self._db = db
        self._directory = directory
        self._newest_version = version
        #: So many vintages at most are gone through for one list.
        self.most_sorted = most_sorted
        self._reader = RowReader(directory)
        self.preference = RowPreference(directory, shared)
        self._pages = Pages(db, directory, self.preference)
        self._choices = Choices(db, directory, self.preference, shared)
        self._meant: dict[Selection, int] = shared.setdefault("vintages meant", {})

    def read(
        self, question: Question, plan: ReadingPlan | None = None
    ) -> tuple[list[ObservationRow], list[Any] | None]:
        """
        Rows of a list and the place to go on from (None: that was all). Raises TooBroadError instead of the first page of
        what would take too long. `plan`: that of the question, where it is made already.
        """
        selection = question.selection
        if selection.empty:
            return [], None
        plan = plan or planned(question)
        if plan.way is Way.CELLS:
            return self._pages.page(question)
        if plan.judged and question.after is None:
            self.check_room(selection)
        return cut(self._rows(question), selection, question.limit)

    def check_room(self, selection: Selection) -> None:
        """Raise TooBroadError where more vintages are meant than may be gone through."""
        meant = self.meant(selection)
        if meant > self.most_sorted:
            raise TooBroadError(meant, self.most_sorted)

    def meant(self, selection: Selection) -> int:
        """
        Count the vintages that a selection means, as told by what is counted of series: bounds on periods take the same share
        of them as of the days between the first period and the last.
        """
        meant = self._meant.get(selection)
        if meant is None:
            query = Conditions()
            query.topics(selection)
            if selection.observed_from is not None:
                query.add("s.last_known >= ?", selection.observed_from)
            if selection.observed_to is not None:
                query.add("s.first_known <= ?", selection.observed_to)
            if selection.sources is not None:
                named = sorted(selection.sources)
                query.add(in_list("s.source", named), *named)
            low, high = (key >> SPAN_BITS for key in selection.keys)
            sql = f"SELECT coalesce(sum({_SHARE}), 0) FROM topic t CROSS JOIN series s ON s.topic = t.topic WHERE {query.where}"
            meant = int(self._db.execute(sql, (high, low, *query.values)).get)
            if len(self._meant) >= _SELECTIONS_HELD:
                self._meant.clear()
            self._meant[selection] = meant
        return meant

    def _rows(self, wanted: Question) -> Iterator[tuple[ObservationRow, list[Any]]]:
        """Rows in order with their places: of each cell the preferred one, or all of them."""
        every, after = wanted.every, wanted.after
        # A place in the default order has no sort value before it.
        lead = 1 if SORTS[wanted.sort] is None else 0
        place = after if after is None or not lead else [0, *after]
        begin = None if place is None else place[:WIDTH]
        found = groups(self._db, self._reader, wanted, begin, self._newest_version)
        while some := list(islice(found, CELLS_AT_ONCE)):
            chosen = None if every else self._choices.of((row for group in some for row in group.rows), wanted)
            for here, rows in some:
                given = place if place is not None and place[:WIDTH] == here else None
                if given is None and len(rows) == 1:  # nearly always
                    if chosen is None or is_chosen(rows[0], chosen):
                        yield rows[0], [*here[lead:], *self._more(rows[0], wanted)]
                    continue
                for row, more in self._group(wanted, rows, chosen, given):
                    yield row, [*here[lead:], *more]

    def _group(
        self, wanted: Question, rows: list[ObservationRow], chosen: ChosenSeries | None, given: list[Any] | None
    ) -> Iterator[tuple[ObservationRow, list[Any]]]:
        """
        Rows of one cell that share the sort value, with what a place adds to tell them apart: the chosen one, or all (None).

        `given`: the place of the last that was given, where it was one of these.
        """
        if chosen is not None:
            if given is not None and not wanted.history:
                return
            rows = [row for row in rows if is_chosen(row, chosen)]
        last: tuple[Any, ...] | None = None
        if given is not None:
            source, variant, *known = given[WIDTH:]
            last = (self._directory.rank(given[1], source, variant, wanted.version), *known)
        keyed = [(self._order(row, wanted), row) for row in rows]
        for key, row in sorted(keyed, key=itemgetter(0), reverse=wanted.descending):
            if last is not None and already_given(key[: len(last)], last, wanted.descending):
                continue
            yield row, self._more(row, wanted)

    def _more(self, row: ObservationRow, wanted: Question) -> list[Any]:
        """What tells a row from the others of its cell, in a place: a source may have several series."""
        name = [row.series.source.id, row.series.spec.variant or ""]
        if wanted.history:
            return [*name, row.known]
        return name if wanted.every else []

    def _order(self, row: ObservationRow, wanted: Question) -> tuple[Any, ...]:
        """Where a row stands among those of its cell."""
        rank = self._directory.rank_of(row.series, wanted.version)
        return (rank, row.known, row.ingested, row.id) if wanted.history else (rank,)


_FIRST, _LAST = (f"(s.{edge} >> {SPAN_BITS})" for edge in ("first_period", "last_period"))
#: How many vintages of a series `s` have a period that ends between two days; bound are the last and the first of them.
_SHARE = (
    "CASE WHEN s.first_period IS NULL OR s.last_period IS NULL THEN s.vintages"
    f" WHEN s.vintages = 0 OR ?1 < ?2 OR ?1 < {_FIRST} OR {_LAST} < ?2 THEN 0"
    f" ELSE s.vintages * ({least('?1', _LAST)} - {greatest('?2', _FIRST)} + 1) / ({_LAST} - {_FIRST} + 1) END"
)
