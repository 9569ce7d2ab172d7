"""
Reading observations: one streaming query answers `preferred`, `as_of` and a pinned data version together.

The order of a list is (indicator, entity, frequency, period): the unique index of `topic`, then the clustering of
`current` and `vintages`, so nothing is sorted and the query stops at the page's end. A cell has few series, so the
reader takes the whole cell and picks in memory, by rights now and the order of preference at the pinned version.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec

from almanac.domain.observations import FORECAST
from almanac.domain.periods import START_ORDINAL_SQL, end_of, freshness, highest_key, lowest_key
from almanac.store import sqlite
from almanac.store.directory import Directory, SeriesInfo
from almanac.store.fragments import extra_part, row_part, value_part


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows. None: no restriction; an empty tuple: nothing matches. Days are inclusive; times unix seconds."""

    kind: str | None = None
    indicators: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    sources: frozenset[str] | None = None
    frequency: str | None = None
    starts_from: date | None = None
    ends_by: date | None = None
    #: Periods must end on or after this day (a plan's window).
    ends_from: date | None = None
    observed_from: int | None = None
    observed_to: int | None = None

    @property
    def empty(self) -> bool:
        return self.indicators == () or self.entities == () or self.sources == frozenset()


class Row(NamedTuple):
    """One row of one series, its parts ready to be joined (almanac.store.fragments)."""

    series: SeriesInfo
    period: int
    known: int
    released: int | None
    ingested: int
    flags: int
    lineage: int
    val: bytes
    frag: bytes
    extra: bytes
    withdrawn: bool = False

    @property
    def id(self) -> str:
        return self.frag[7:37].decode()


class Place(NamedTuple):
    """Where a walk stands: the last cell given, and within it the last row (lists of several rows a cell)."""

    indicator: str
    entity: str
    frequency: str
    period: int
    source: str | None = None
    row: tuple[int, int, str] | None = None


#: Sort fields of an observation list: SQL over the row's columns. None: the default order.
SORTS: dict[str, str | None] = {
    "topic": None,
    "period_start": START_ORDINAL_SQL.format("x.period"),
    "period_end": "(x.period >> 14)",
    "observed_at": "x.known_at",
    "released_at": "x.released_at",
    "ingested_at": "x.ingested_at",
}


class Reader:
    """The data database, opened for reading by one process. `view()` is one consistent state of it."""

    def __init__(self, path: Path, busy_seconds: float = 5.0) -> None:
        self._path = path
        self._busy = busy_seconds
        self._connection: apsw.Connection | None = None
        self._directory: Directory | None = None
        self._newest: dict[tuple[int, int, int], int | None] = {}

    @contextlib.contextmanager
    def view(self) -> Iterator[View]:
        """One read transaction. Raises one of `sqlite.Unavailable` where the store cannot be read."""
        if self._connection is None:
            self._connection = sqlite.connect(self._path, read_only=True, busy_seconds=self._busy)
        db = self._connection
        db.execute("BEGIN")
        try:
            meta = dict(db.execute("SELECT k, v FROM meta"))
            reference = int(meta["reference"])
            if self._directory is None or self._directory.reference != reference:
                self._directory = Directory(db, reference)
            if len(self._newest) > 200_000:
                self._newest.clear()
            yield View(db, int(meta["version"]), meta["epoch"], self._directory, self._newest)
        finally:
            if db.in_transaction:
                db.execute("COMMIT")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class View:
    """One state of the store, read by one request."""

    def __init__(
        self, db: apsw.Connection, version: int, epoch: str, directory: Directory, newest: dict[Any, int | None]
    ) -> None:
        self.db = db
        self.version = version
        self.epoch = epoch
        self.directory = directory
        self._newest = newest

    # -- lists ------------------------------------------------------------------------------------------------------

    def page(
        self, selection: Selection, *, version: int, as_of: int | None, every: bool, sort: str, descending: bool,
        after: list[Any] | None, limit: int,
    ) -> tuple[list[Row], list[Any] | None]:  # fmt: skip
        """
        Rows of a list and the place to go on from (None: that was all).

        `every`: all series of a cell, else the preferred one. `after`: what an earlier call returned.
        """
        if selection.empty:
            return [], None
        if SORTS[sort] is None:
            stream = self._by_topic(selection, version, as_of, every, descending, after)
        else:
            stream = self._by_column(selection, version, as_of, every, sort, descending, after)
        rows: list[Row] = []
        place: list[Any] | None = None
        for row, here in stream:
            if not _observed_within(selection, row):
                continue
            if len(rows) == limit:
                return rows, place
            rows.append(row)
            place = here
        return rows, None

    def _by_topic(
        self,
        selection: Selection,
        version: int,
        as_of: int | None,
        every: bool,
        descending: bool,
        after: list[Any] | None,
    ) -> Iterator[tuple[Row, list[Any]]]:
        place = Place(*after) if after else None
        for key, period, candidates in self._cells(selection, version, as_of, descending, place):
            alive = [row for row in candidates if not row.withdrawn]
            if not alive:
                continue
            if not every:
                if place is not None and place[:4] == (*key, period):
                    continue
                yield self._prefer(alive, version), [*key, period]
                continue
            for row in sorted(alive, key=lambda r: self._rank(r, version), reverse=descending):
                if place is not None and place[:4] == (*key, period):
                    there = self.directory.rank(key[0], place.source or "", version)
                    here = self._rank(row, version)
                    if here <= there if not descending else here >= there:
                        continue
                yield row, [*key, period, row.series.source.id]

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
    ) -> tuple[list[Row], list[Any] | None]:
        """Every vintage of every cell, withdrawals too, in the order of cells, then of knowledge. As `page` otherwise."""
        if selection.empty:
            return [], None
        place = Place(*after) if after else None
        rows: list[Row] = []
        last: list[Any] | None = None
        for key, period, history in self._histories(selection, version, as_of, descending, place):
            newest: dict[int, Row] = {}
            for row in history:
                held = newest.get(row.series.number)
                if held is None or row.known > held.known:
                    newest[row.series.number] = row
            if not every:
                alive = [row for row in newest.values() if not row.withdrawn] or list(newest.values())
                chosen = self._prefer(alive, version).series.number
                history = [row for row in history if row.series.number == chosen]
            history.sort(key=lambda r: (self._rank(r, version), r.known, r.ingested, r.id), reverse=descending)
            for row in history:
                if place is not None and place[:4] == (*key, period) and place.row is not None:
                    there = (self.directory.rank(key[0], place.source or "", version), *place.row)
                    here = (self._rank(row, version), row.known, row.ingested, row.id)
                    if here <= there if not descending else here >= there:
                        continue
                if not _observed_within(selection, row):
                    continue
                if len(rows) == limit:
                    return rows, last
                rows.append(row)
                last = [*key, period, row.series.source.id, [row.known, row.ingested, row.id]]
        return rows, None

    def _cells(
        self, selection: Selection, version: int, as_of: int | None, descending: bool, place: Place | None
    ) -> Iterator[tuple[tuple[str, str, str], int, list[Row]]]:
        """Cells in order, each with the row of every series as known at the time asked (withdrawn ones too under as_of)."""
        for key, period, history in self._histories(selection, version, as_of, descending, place):
            if as_of is None:
                yield key, period, history
                continue
            latest: dict[int, Row] = {}
            for row in history:
                held = latest.get(row.series.number)
                if held is None or row.known > held.known:
                    latest[row.series.number] = row
            yield key, period, list(latest.values())

    def _histories(
        self, selection: Selection, version: int, as_of: int | None, descending: bool, place: Place | None
    ) -> Iterator[tuple[tuple[str, str, str], int, list[Row]]]:
        """Cells in order with all their rows: of `current` without as_of, of `vintages` up to as_of with it."""
        query = _Query()
        query.topics(selection)
        if place is not None:
            query.resume(place, descending)
        query.periods(selection)
        query.pinned(version)
        direction = "DESC" if descending else ""
        order = f"t.indicator {direction}, t.entity {direction}, t.frequency {direction}, x.period {direction}"
        if as_of is None:
            sql = f"SELECT {_TOPIC}, {_CURRENT} FROM topic t CROSS JOIN current x ON x.topic = t.topic WHERE {query.where} ORDER BY {order}"
            read = self._shown
        else:
            query.add("x.known_at <= ?", as_of)
            sql = (
                f"SELECT {_TOPIC}, {_VINTAGE}, {_BORROWED} FROM topic t CROSS JOIN vintages x ON x.topic = t.topic {_BORROW}"
                f" WHERE {query.where} ORDER BY {order}"
            )
            read = self._stated
        sources = selection.sources
        here: tuple[Any, ...] | None = None
        rows: list[Row] = []
        for found in self.db.execute(sql, query.values):
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
    ) -> Iterator[tuple[Row, list[Any]]]:
        """Rows by one of their columns, nulls last either way, then by the default order."""
        column = SORTS[sort]
        query = _Query()
        query.topics(selection)
        query.periods(selection)
        query.pinned(version)
        direction, beyond = ("DESC", "<") if descending else ("", ">")
        tie = "t.indicator, t.entity, t.frequency, x.period"
        if after:
            value, *rest = after[:5]
            if value is None:
                query.add(f"{column} IS NULL AND ({tie}) {beyond}= (?, ?, ?, ?)", *rest)
            else:
                query.add(f"({column} IS NULL OR ({column}, {tie}) {beyond}= (?, ?, ?, ?, ?))", value, *rest)
        order = f"{column} IS NULL, {column} {direction}, " + ", ".join(
            f"{part} {direction}" for part in tie.split(", ")
        )
        if as_of is None:
            sql = f"SELECT {column}, {_TOPIC}, {_CURRENT} FROM current x JOIN topic t ON t.topic = x.topic WHERE {query.where} ORDER BY {order}"
            read = self._shown
        else:
            query.add(
                "x.known_at <= ? AND (x.value IS NOT NULL OR x.text IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM vintages y"
                " WHERE y.topic = x.topic AND y.period = x.period AND y.series = x.series AND y.known_at > x.known_at"
                " AND y.known_at <= ? AND y.from_version <= ? AND y.to_version > ?)",
                as_of, as_of, version, version,
            )  # fmt: skip
            sql = (
                f"SELECT {column}, {_TOPIC}, {_VINTAGE}, {_BORROWED} FROM vintages x JOIN topic t ON t.topic = x.topic {_BORROW}"
                f" WHERE {query.where} ORDER BY {order}"
            )
            read = self._stated
        group: list[tuple[Row, list[Any]]] = []
        for found in self.db.execute(sql, query.values):
            row = read(found[4:])
            place = list(found[:5])
            if group and group[0][1] != place:
                yield from self._group(group, selection, version, as_of, every, descending, after)
                group = []
            group.append((row, place))
        yield from self._group(group, selection, version, as_of, every, descending, after)

    def _group(
        self, group: list[tuple[Row, list[Any]]], selection: Selection, version: int, as_of: int | None, every: bool,
        descending: bool, after: list[Any] | None,
    ) -> Iterator[tuple[Row, list[Any]]]:  # fmt: skip
        """Rows of one cell that share the sort value: the preferred one, or all in order of preference."""
        sources = selection.sources
        rows = [(row, place) for row, place in group if sources is None or row.series.source.id in sources]
        resumed = bool(after) and bool(rows) and after is not None and after[:5] == rows[0][1]
        if every:
            rows.sort(key=lambda pair: self._rank(pair[0], version), reverse=descending)
            for row, place in rows:
                if resumed and after is not None:
                    there = self.directory.rank(row.series.spec.indicator, after[5], version)
                    here = self._rank(row, version)
                    if here <= there if not descending else here >= there:
                        continue
                yield row, [*place, row.series.source.id]
            return
        if resumed:
            return
        for row, place in rows:
            if self._chosen(row, selection, version, as_of):
                yield row, place

    def _chosen(self, row: Row, selection: Selection, version: int, as_of: int | None) -> bool:
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
        return [found[0] for found in self.db.execute("SELECT series FROM series WHERE topic = ?", (topic,))]

    def _cell(self, selection: Selection, period: int, version: int, as_of: int | None) -> Iterator[list[Row]]:
        query = _Query()
        query.topics(selection)
        query.add("x.period = ?", period)
        query.pinned(version)
        if as_of is None:
            sql = f"SELECT {_CURRENT} FROM topic t CROSS JOIN current x ON x.topic = t.topic WHERE {query.where}"
            rows = [self._shown(found) for found in self.db.execute(sql, query.values)]
        else:
            query.add("x.known_at <= ?", as_of)
            sql = f"SELECT {_VINTAGE}, {_BORROWED} FROM topic t CROSS JOIN vintages x ON x.topic = t.topic {_BORROW} WHERE {query.where} ORDER BY x.known_at"
            latest = {found[1]: self._stated(found) for found in self.db.execute(sql, query.values)}
            rows = [row for row in latest.values() if not row.withdrawn]
        if selection.sources is not None:
            rows = [row for row in rows if row.series.source.id in selection.sources]
        if rows:
            yield rows

    # -- choice -----------------------------------------------------------------------------------------------------

    def _rank(self, row: Row, version: int) -> tuple[int, str]:
        return self.directory.rank(row.series.spec.indicator, row.series.source.id, version)

    def _prefer(self, rows: list[Row], version: int) -> Row:
        """The first in order of preference; a withheld row never wins over a public one."""
        if len(rows) == 1:
            return rows[0]
        return min(
            rows, key=lambda r: (self.directory.row_rights(r.series, r.lineage).withheld, self._rank(r, version))
        )

    # -- rows -------------------------------------------------------------------------------------------------------

    def _shown(self, found: tuple[Any, ...]) -> Row:
        period, number, known, released, ingested, flags, lineage, val, frag, extra = found
        return Row(self.directory.series(number), period, known, released, ingested, flags, lineage, val, frag, extra)

    def _stated(self, found: tuple[Any, ...]) -> Row:
        period, number, known, released, ingested, flags, lineage, value, text, note, val, frag, extra = found
        series = self.directory.series(number)
        withdrawn = value is None and text is None
        if frag is None:
            val = value_part(value, text).encode()
            frag = row_part(series.id, period, known, value, text, flags, released, ingested).encode()
            extra = extra_part(flags, released, note, withdrawn=withdrawn).encode()
        return Row(series, period, known, released, ingested, flags, lineage, val, frag, extra, withdrawn)

    # -- freshness --------------------------------------------------------------------------------------------------

    def newest_period(self, series: SeriesInfo, version: int, as_of: int | None) -> int | None:
        """Key of the newest period of a series that is no forecast, as known at the time asked."""
        key = (series.number, version, -1 if as_of is None else as_of)
        if key not in self._newest:
            if as_of is None:
                sql = (
                    "SELECT period FROM current WHERE topic = ? AND series = ? AND from_version <= ? AND to_version > ?"
                    f" AND flags & {FORECAST} = 0 ORDER BY period DESC LIMIT 1"
                )
                values: tuple[Any, ...] = (series.topic, series.number, version, version)
            else:
                sql = (
                    "SELECT x.period FROM vintages x WHERE x.topic = ? AND x.series = ? AND x.from_version <= ? AND x.to_version > ?"
                    f" AND x.known_at <= ? AND x.flags & {FORECAST} = 0 AND (x.value IS NOT NULL OR x.text IS NOT NULL)"
                    " AND NOT EXISTS (SELECT 1 FROM vintages y WHERE y.topic = x.topic AND y.period = x.period AND y.series = x.series"
                    "  AND y.known_at > x.known_at AND y.known_at <= ? AND y.from_version <= ? AND y.to_version > ?)"
                    " ORDER BY x.period DESC LIMIT 1"
                )
                values = (series.topic, series.number, version, version, as_of, as_of, version, version)
            self._newest[key] = self.db.execute(sql, values).get
        return self._newest[key]

    def freshness(self, series: SeriesInfo, version: int, as_of: int | None, today: date) -> str:
        """`freshnessStatus` of a series on a day."""
        if series.spec.discontinued:
            return "stale"
        newest = self.newest_period(series, version, as_of)
        allowance = series.spec.allowance_days or series.spec.frequency.allowance_days
        return freshness(None if newest is None else end_of(newest), today, allowance)


_TOPIC = "t.indicator, t.entity, t.frequency"
_COMMON = "x.period, x.series, x.known_at, x.released_at, x.ingested_at, x.flags, x.lineage"
_CURRENT = f"{_COMMON}, x.val, x.frag, x.extra"
_VINTAGE = f"{_COMMON}, x.value, x.text, x.note"
#: A vintage that is the one shown now is rendered already: most rows of a past state are.
_BORROWED = "c.val, c.frag, c.extra"
_BORROW = (
    "LEFT JOIN current c ON c.topic = x.topic AND c.period = x.period AND c.series = x.series"
    " AND c.from_version = x.from_version AND c.known_at = x.known_at"
)


class _Query:
    """Conditions and their values, in step."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.values: list[Any] = []

    def add(self, condition: str, *values: Any) -> None:
        self._parts.append(condition)
        self.values.extend(values)

    @property
    def where(self) -> str:
        return " AND ".join(self._parts) or "1"

    def topics(self, selection: Selection) -> None:
        if selection.kind is not None:
            self.add("t.kind = ?", selection.kind)
        self._among("t.indicator", selection.indicators)
        self._among("t.entity", selection.entities)
        if selection.frequency is not None:
            self.add("t.frequency = ?", selection.frequency)

    def _among(self, column: str, names: tuple[str, ...] | None) -> None:
        """One name may use the index; several are tested row by row (`+`), so that the index keeps the order of the list."""
        if names is None:
            return
        if len(names) == 1:
            self.add(f"{column} = ?", names[0])
        else:
            self.add(
                f"{column} BETWEEN ? AND ? AND +{column} IN ({', '.join('?' * len(names))})",
                min(names),
                max(names),
                *names,
            )

    def periods(self, selection: Selection) -> None:
        if selection.ends_by is not None:
            self.add("x.period <= ?", highest_key(selection.ends_by))
        lower = max((day for day in (selection.ends_from, selection.starts_from) if day is not None), default=None)
        if lower is not None:
            self.add("x.period >= ?", lowest_key(lower))
        if selection.starts_from is not None:
            self.add(f"{START_ORDINAL_SQL.format('x.period')} >= ?", selection.starts_from.toordinal())

    def pinned(self, version: int) -> None:
        self.add("x.from_version <= ? AND x.to_version > ?", version, version)

    def resume(self, place: Place, descending: bool) -> None:
        """Go on at a cell, itself included: what of it was given already is told apart in memory."""
        beyond = "<=" if descending else ">="
        self.add(f"(t.indicator, t.entity, t.frequency) {beyond} (?, ?, ?)", *place[:3])
        edge = 1 << 62 if descending else 0
        self.add(
            f"x.period {beyond} CASE WHEN t.indicator = ? AND t.entity = ? AND t.frequency = ? THEN ? ELSE {edge} END",
            *place[:4],
        )


def _observed_within(selection: Selection, row: Row) -> bool:
    """`start_date` and `end_date` test the row that was chosen; they never make an older vintage appear."""
    return (selection.observed_from is None or row.known >= selection.observed_from) and (
        selection.observed_to is None or row.known <= selection.observed_to
    )
