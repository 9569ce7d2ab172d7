"""
Walking observation lists, page by page: by topic (the order of the tables) or by a column.

The order of a list is (indicator, entity, frequency, period): the unique index of `topic`, then the clustering of
`current` and `vintages`, so nothing is sorted and the query stops at the page's end. A cell has few series, so the
reader takes the whole cell and picks in memory, by rights now and the order of preference at the pinned version.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from almanac.store.engine.protocol import Database
from almanac.store.observations.reading.choices import CELLS_AT_ONCE, Choices, ChosenSeries, is_chosen
from almanac.store.observations.reading.directory import Directory
from almanac.store.observations.reading.keys import Keys
from almanac.store.observations.reading.pages import Pages
from almanac.store.observations.reading.rows import (
    BORROW,
    BORROWED,
    CURRENT,
    TOPIC,
    VINTAGE,
    ObservationRow,
    RowReader,
    cut,
)
from almanac.store.observations.reading.runs import Runs
from almanac.store.observations.reading.selection import (
    CELL_ORDER,
    SORTS,
    Conditions,
    Position,
    Selection,
    already_given,
    in_order,
)
from almanac.store.observations.reading.states import merged, parts, walked
from almanac.store.observations.reading.walks import Walk
from almanac.store.observations.reading.wanted_keys import Extents, TooFewError, WantedKeys, apart, reachable


class Lists:
    """The lists of one state of the store."""

    def __init__(self, db: Database, directory: Directory, version: int, shared: dict[str, Any]) -> None:
        """`shared`: what follows from the state alone, which other threads that read it may know already."""
        self._db = db
        self._directory = directory
        self._rows = RowReader(directory)
        self.extents = Extents(db)
        self.pages = Pages(db, directory, version, self.extents, shared)
        self.runs = Runs(db, directory, version)
        self._keys = Keys(db, version, self.extents, shared)
        self._choices = Choices(db, directory, shared)

    def page(
        self, selection: Selection, *, version: int, as_of: int | None, every: bool, sort: str, descending: bool,
        after: list[Any] | None, limit: int,
    ) -> tuple[list[ObservationRow], list[Any] | None]:  # fmt: skip
        """
        Rows of a list and the place to go on from (None: that was all).

        `every`: all series of a cell, else the preferred one. `after`: what an earlier call returned.
        """
        if selection.empty:
            return [], None
        valued = SORTS[sort] is not None
        if not valued and not every and self.told_whole(selection, as_of):
            with contextlib.suppress(TooFewError):
                found, following = self.pages.found(
                    selection, version=version, as_of=as_of, descending=descending, after=after, limit=limit, whole=True
                )
                return self.pages.rows(found), following
        if valued or selection.bounded or not every or self.few_end(selection, as_of):
            split = [
                (part, reached)
                for part in walked(selection, as_of)
                for reached in apart(self.extents, reachable(self.extents, part.selection, part.as_of))
            ]
            share = -(-limit // max(1, len(split)))
            walks = [
                self._found(WantedKeys(part.table, reached, sort, version, part.as_of, descending, share), every, after)
                for part, reached in split
            ]
            return cut(merged(walks, valued=valued, descending=descending), selection, limit)
        walks = [
            self._by_topic(reachable(self.extents, part.selection, part.as_of), version, part.as_of, descending, after)
            for part in parts(selection, as_of)
        ]
        return cut(merged(walks, valued=False, descending=descending), selection, limit)

    def told_whole(self, selection: Selection, as_of: int | None) -> bool:
        """
        Whether `pages` finds the rows soonest, cell by cell: not where few have the periods asked for, or came to be known late.

        Of what was known by a day most has not been revised since.
        """
        return selection.observed_from is None and not self.few_end(selection, as_of)

    def few_end(self, selection: Selection, as_of: int | None) -> bool:
        """Whether the periods asked for end within days that few rows do: those are found by that."""
        reached = [
            (part.table, reachable(self.extents, part.selection, part.as_of)) for part in walked(selection, as_of)
        ]
        return all(self._keys.few_end(table, one) for table, one in reached)

    def touched(self, selection: Selection, as_of: int | None) -> list[int] | None:
        """Topics with vintages within the bounds on knowledge, where those came to be known at few moments, and in few topics."""
        found = Walk(self._db, self.extents, WantedKeys("vintages", selection, "topic", 0, as_of, False, 0)).touched()
        return None if found is None else list(found.topics)

    def _by_topic(
        self,
        selection: Selection,
        version: int,
        as_of: int | None,
        descending: bool,
        after: list[Any] | None,
    ) -> Iterator[tuple[ObservationRow, list[Any]]]:
        """Every series of every cell, in order of preference within it."""
        place = Position(*after) if after else None
        for key, period, candidates in self._cells(selection, version, as_of, descending, place):
            alive = [row for row in candidates if not row.withdrawn]
            for row in sorted(alive, key=lambda r: self._rank(r, version), reverse=descending):
                if place is not None and place[:4] == (*key, period):
                    last = self._directory.rank(key[0], place.source, place.variant, version)
                    if already_given(self._rank(row, version), last, descending):
                        continue
                yield row, [*key, period, *_name(row)]

    def cell_vintages(
        self,
        selection: Selection,
        *,
        version: int,
        as_of: int | None,
        every: bool,
        descending: bool,
        after: list[Any] | None,
        limit: int,
        sort: str = "topic",
    ) -> tuple[list[ObservationRow], list[Any] | None]:
        """
        Every vintage of every cell, withdrawals too: by `sort`, then in the order of cells, then of knowledge.

        As `page` otherwise. Not `every`: those of the series whose row is the preferred one.
        """
        if selection.empty:
            return [], None
        selection = reachable(self.extents, selection, as_of)
        if SORTS[sort] is not None or selection.bounded or self.few_end(selection, as_of):
            split = apart(self.extents, selection)
            share = -(-limit // max(1, len(split)))
            walks = [
                self._found(
                    WantedKeys("vintages", one, sort, version, as_of, descending, share, history=True), every, after
                )
                for one in split
            ]
            return cut(merged(walks, valued=SORTS[sort] is not None, descending=descending), selection, limit)
        return cut(self._vintages(selection, version, as_of, every, descending, after), selection, limit)

    def _vintages(
        self,
        selection: Selection,
        version: int,
        as_of: int | None,
        every: bool,
        descending: bool,
        after: list[Any] | None,
    ) -> Iterator[tuple[ObservationRow, list[Any]]]:
        """Every vintage of every cell, with its place."""
        place = Position(*after) if after else None
        for key, period, history in self._histories(selection, version, as_of, descending, place):
            if not every:
                newest = _newest(history)
                alive = [row for row in newest if not row.withdrawn] or newest
                chosen = self._prefer(alive, version).series.number
                history = [row for row in history if row.series.number == chosen]
            history.sort(key=lambda r: (self._rank(r, version), r.known, r.ingested, r.id), reverse=descending)
            for row in history:
                if place is not None and place[:4] == (*key, period) and place.known is not None:
                    last = (self._directory.rank(key[0], place.source, place.variant, version), place.known)
                    if already_given((self._rank(row, version), row.known), last, descending):
                        continue
                yield row, [*key, period, *_name(row), row.known]

    def _cells(
        self, selection: Selection, version: int, as_of: int | None, descending: bool, place: Position | None
    ) -> Iterator[tuple[tuple[str, str, str], int, list[ObservationRow]]]:
        """Cells in order, each with the row of every series as known at the time asked (withdrawn ones too under as_of)."""
        for key, period, history in self._histories(selection, version, as_of, descending, place):
            yield key, period, history if as_of is None else _newest(history)

    def _histories(
        self, selection: Selection, version: int, as_of: int | None, descending: bool, place: Position | None
    ) -> Iterator[tuple[tuple[str, str, str], int, list[ObservationRow]]]:
        """Cells in order with all their rows: of `current` without as_of, of `vintages` up to as_of with it."""
        query = Conditions()
        query.topics(selection)
        if place is not None:
            query.resume(place, descending)
        query.periods(selection)
        query.pinned(version)
        order = in_order(*CELL_ORDER, descending=descending)
        if as_of is None:
            sql = f"SELECT {TOPIC}, {CURRENT} FROM topic t CROSS JOIN current x ON x.topic = t.topic WHERE {query.where} ORDER BY {order}"
            read = self._rows.shown
        else:
            query.add("x.known_at <= ?", as_of)
            sql = (
                f"SELECT {TOPIC}, {VINTAGE}, {BORROWED} FROM topic t CROSS JOIN vintages x ON x.topic = t.topic {BORROW}"
                f" WHERE {query.where} ORDER BY {order}"
            )
            read = self._rows.stated
        sources = selection.sources
        here: tuple[Any, ...] | None = None
        rows: list[ObservationRow] = []
        # A page ends with its rows, of which there are as many as there are rows of the kind.
        for found in self._db.scan(sql, query.values):
            cell = found[:4]
            if cell != here:
                if rows and here is not None:
                    yield here[:3], here[3], rows
                here, rows = cell, []
            row = read(found[3:])
            if sources is None or row.series.source.id in sources:
                rows.append(row)
        if rows and here is not None:
            yield here[:3], here[3], rows

    # -- by a column, or within a span of knowledge -------------------------------------------------------------------

    def _found(
        self, wanted: WantedKeys, every: bool, after: list[Any] | None
    ) -> Iterator[tuple[ObservationRow, list[Any]]]:
        """Rows by one of their columns, nulls last either way, then by the default order; or by that alone."""
        # A place in the default order has no sort value before it.
        lead = 1 if SORTS[wanted.sort] is None else 0
        place = after if after is None or not lead else [0, *after]
        sources = wanted.selection.sources
        read = self._rows.shown if wanted.table == "current" else self._rows.stated
        found = self._keys.rows(wanted, place)
        while groups := list(islice(found, CELLS_AT_ONCE)):
            cells = [(group[0][0], [read(row) for _, row in group]) for group in groups]
            chosen = None if every else self._choices.of((row for _, rows in cells for row in rows), wanted)
            for here, rows in cells:
                if sources is not None:
                    rows = [row for row in rows if row.series.source.id in sources]
                given = place if place is not None and place[: len(here)] == here else None
                if given is None and len(rows) == 1:  # nearly always
                    if chosen is None or is_chosen(rows[0], chosen):
                        yield rows[0], [*here[lead:], *self._more(rows[0], wanted, every=every)]
                    continue
                for row, more in self._group(wanted, rows, chosen, given, len(here)):
                    yield row, [*here[lead:], *more]

    def _group(
        self,
        wanted: WantedKeys,
        rows: list[ObservationRow],
        chosen: ChosenSeries | None,
        given: list[Any] | None,
        width: int,
    ) -> Iterator[tuple[ObservationRow, list[Any]]]:
        """
        Rows of one cell that share the sort value, with what a place adds to tell them apart: the chosen one, or all (None).

        `given`: the place of the last that was given, where it was one of these; `width`: where that begins to tell.
        """
        every = chosen is None
        version, descending, history = wanted.version, wanted.descending, wanted.history
        if chosen is not None:
            if given is not None and not history:
                return
            rows = [row for row in rows if is_chosen(row, chosen)]
        keyed = [(self._order(row, version, history=history), row) for row in rows]
        last: tuple[Any, ...] | None = None
        if given is not None:
            indicator = rows[0].series.spec.indicator if rows else ""
            source, variant, *known = given[width:]
            last = (self._directory.rank(indicator, source, variant, version), *known)
        for key, row in sorted(keyed, key=lambda pair: pair[0], reverse=descending):
            if last is not None and already_given(key[: len(last)], last, descending):
                continue
            yield row, self._more(row, wanted, every=every)

    def _more(self, row: ObservationRow, wanted: WantedKeys, *, every: bool) -> list[Any]:
        """What tells a row from the others of its cell, in a place."""
        if wanted.history:
            return [*_name(row), row.known]
        return [*_name(row)] if every else []

    def _order(self, row: ObservationRow, version: int, *, history: bool) -> tuple[Any, ...]:
        """Where a row stands among those of its cell."""
        rank = self._rank(row, version)
        return (rank, row.known, row.ingested, row.id) if history else (rank,)

    # -- choice -----------------------------------------------------------------------------------------------------

    def _rank(self, row: ObservationRow, version: int) -> tuple[int, str, str]:
        return self._directory.rank_of(row.series, version)

    def _prefer(self, rows: list[ObservationRow], version: int) -> ObservationRow:
        """The first in order of preference; a withheld row never wins over a public one."""
        return min(rows, key=lambda row: self._directory.preference_key(row.series.number, row.lineage, version))


def _newest(history: Iterable[ObservationRow]) -> list[ObservationRow]:
    """Of a cell's vintages the last known of each series."""
    newest: dict[int, ObservationRow] = {}
    for row in history:
        before = newest.get(row.series.number)
        if before is None or row.known > before.known:
            newest[row.series.number] = row
    return list(newest.values())


def _name(row: ObservationRow) -> tuple[str, str]:
    """What tells a series from the others of its cell, in a cursor: a source may have several."""
    return row.series.source.id, row.series.spec.variant or ""
