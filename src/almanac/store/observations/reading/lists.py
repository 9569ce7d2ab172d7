"""
Walking observation lists, page by page: by topic (the order of the tables) or by a column.

The order of a list is (indicator, entity, frequency, period): the unique index of `topic`, then the clustering of
`current` and `vintages`, so nothing is sorted and the query stops at the page's end. A cell has few series, so the
reader takes the whole cell and picks in memory, by rights now and the order of preference at the pinned version.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Any

from almanac.store.engine.protocol import Database
from almanac.store.observations.reading.directory import Directory
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
    NOT_SUPERSEDED,
    NULLABLE,
    SORTS,
    Conditions,
    Position,
    Selection,
    already_given,
    in_order,
)

#: Sort fields whose order an index gives.
_INDICES = {"period_end": "end", "observed_at": "known"}
#: The index by the end of periods is in sixteen parts by topic: a new series writes to its own part only, where its
#: periods are closer neighbours, instead of to a page for nearly each of its rows. Eight topics in a row share a part,
#: so that a new day of a source, which made its topics one after another, writes to few.
_PARTS = 16
_PART = f"(x.topic >> 3 & {_PARTS - 1})"


class Lists:
    """The lists of one state of the store."""

    def __init__(self, db: Database, directory: Directory, version: int) -> None:
        self._db = db
        self._directory = directory
        self._rows = RowReader(directory)
        self.pages = Pages(db, directory, version)
        self.runs = Runs(db, directory, version)

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
        if SORTS[sort] is None and not every:
            found, following = self.pages.found(
                selection, version=version, as_of=as_of, descending=descending, after=after, limit=limit, whole=True
            )
            return self.pages.rows(found), following
        if SORTS[sort] is None:
            stream = self._by_topic(selection, version, as_of, descending, after)
        else:
            stream = self._by_column(selection, version, as_of, every, sort, descending, after)
        return cut(stream, selection, limit)

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
    ) -> tuple[list[ObservationRow], list[Any] | None]:
        """Every vintage of every cell, withdrawals too, in the order of cells, then of knowledge. As `page` otherwise."""
        if selection.empty:
            return [], None
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
        for found in self._db.execute(sql, query.values):
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

    def _by_column(
        self,
        selection: Selection,
        version: int,
        as_of: int | None,
        every: bool,
        sort: str,
        descending: bool,
        after: list[Any] | None,
    ) -> Iterator[tuple[ObservationRow, list[Any]]]:
        """Rows by one of their columns, nulls last either way, then by the default order."""
        column = SORTS[sort]
        query = Conditions()
        query.topics(selection)
        query.periods(selection)
        query.pinned(version)
        beyond = "<" if descending else ">"
        tie = ", ".join(CELL_ORDER)
        if after:
            value, *rest = after[:5]
            if value is None:
                query.add(f"{column} IS NULL AND ({tie}) {beyond}= (?, ?, ?, ?)", *rest)
            elif sort in NULLABLE:
                query.add(f"({column} IS NULL OR ({column}, {tie}) {beyond}= (?, ?, ?, ?, ?))", value, *rest)
            else:
                # The first term is what lets the index start there.
                query.add(f"{column} {beyond}= ? AND ({column}, {tie}) {beyond}= (?, ?, ?, ?, ?)", value, value, *rest)
        order = in_order(str(column), *CELL_ORDER, descending=descending)
        if sort in NULLABLE:
            order = f"{column} IS NULL, {order}"
        # Few topics: their rows are sorted. All of them: the rows come in the order of the indices on the column.
        narrow = selection.indicators is not None or selection.entities is not None
        index = None if narrow else _INDICES.get(sort)
        if as_of is None:
            columns, tables = CURRENT, _tables("current", index, narrow=narrow)
            read = self._rows.shown
        else:
            query.add(
                f"x.known_at <= ? AND (x.value IS NOT NULL OR x.text IS NOT NULL) AND {NOT_SUPERSEDED}",
                as_of, as_of, version, version,
            )  # fmt: skip
            columns, tables = f"{VINTAGE}, {BORROWED}", f"{_tables('vintages', index, narrow=narrow)} {BORROW}"
            read = self._rows.stated
        sql = f"SELECT {column}, {TOPIC}, {columns} FROM {tables} WHERE {query.where}"
        stream: Iterator[tuple[Any, ...]]
        if index != "end":
            stream = self._db.execute(f"{sql} ORDER BY {order}", query.values)
        else:
            # Each part of the index gives its rows in order, so the whole is their merging, by value and then by place.
            sql = f"{sql} AND {_PART} = ? ORDER BY {order}"
            parts = [self._db.execute(sql, (*query.values, part)) for part in range(_PARTS)]
            stream = heapq.merge(*parts, key=lambda found: found[:5], reverse=descending)
        group: list[tuple[ObservationRow, list[Any]]] = []
        for found in stream:
            row = read(found[4:])
            place = list(found[:5])
            if group and group[0][1] != place:
                yield from self._group(group, selection, version, as_of, every, descending, after)
                group = []
            group.append((row, place))
        yield from self._group(group, selection, version, as_of, every, descending, after)

    def _group(
        self, group: list[tuple[ObservationRow, list[Any]]], selection: Selection, version: int, as_of: int | None, every: bool,
        descending: bool, after: list[Any] | None,
    ) -> Iterator[tuple[ObservationRow, list[Any]]]:  # fmt: skip
        """Rows of one cell that share the sort value: the preferred one, or all in order of preference."""
        sources = selection.sources
        rows = [(row, place) for row, place in group if sources is None or row.series.source.id in sources]
        resumed = bool(after) and bool(rows) and after is not None and after[:5] == rows[0][1]
        if every:
            rows.sort(key=lambda pair: self._rank(pair[0], version), reverse=descending)
            for row, place in rows:
                if resumed and after is not None:
                    last = self._directory.rank(row.series.spec.indicator, after[5], after[6], version)
                    if already_given(self._rank(row, version), last, descending):
                        continue
                yield row, [*place, *_name(row)]
            return
        if resumed:
            return
        for row, place in rows:
            if self._chosen(row, selection, version, as_of):
                yield row, place

    def _chosen(self, row: ObservationRow, selection: Selection, version: int, as_of: int | None) -> bool:
        """Whether a row is the preferred one of its whole cell, other sort values included."""
        spec = row.series.spec
        one = Selection(
            indicators=(spec.indicator,), entities=(spec.entity,), frequency=spec.frequency.value, sources=selection.sources,
        )  # fmt: skip
        for number in self._rivals(row.series.topic):
            if number != row.series.number:
                break
        else:
            return True
        for alive in self._cell(one, row.period, version, as_of):
            return self._prefer(alive, version).series.number == row.series.number
        return True

    def _rivals(self, topic: int) -> list[int]:
        return [found[0] for found in self._db.execute("SELECT series FROM series WHERE topic = ?", (topic,))]

    def _cell(
        self, selection: Selection, period: int, version: int, as_of: int | None
    ) -> Iterator[list[ObservationRow]]:
        query = Conditions()
        query.topics(selection)
        query.add("x.period = ?", period)
        query.pinned(version)
        if as_of is None:
            sql = f"SELECT {CURRENT} FROM topic t CROSS JOIN current x ON x.topic = t.topic WHERE {query.where}"
            rows = [self._rows.shown(found) for found in self._db.execute(sql, query.values)]
        else:
            query.add("x.known_at <= ?", as_of)
            sql = f"SELECT {VINTAGE}, {BORROWED} FROM topic t CROSS JOIN vintages x ON x.topic = t.topic {BORROW} WHERE {query.where} ORDER BY x.known_at"
            latest = {found[1]: self._rows.stated(found) for found in self._db.execute(sql, query.values)}
            rows = [row for row in latest.values() if not row.withdrawn]
        if selection.sources is not None:
            rows = [row for row in rows if row.series.source.id in selection.sources]
        if rows:
            yield rows

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


def _tables(rows: str, index: str | None, *, narrow: bool) -> str:
    """The join of topics and rows, with the outer table first; `index`: by which the rows are to be walked."""
    by = "" if index is None else f" INDEXED BY {rows}_{index}"
    outer, inner = ("topic t", f"{rows} x") if narrow else (f"{rows} x{by}", "topic t")
    return f"{outer} CROSS JOIN {inner} ON t.topic = x.topic"
