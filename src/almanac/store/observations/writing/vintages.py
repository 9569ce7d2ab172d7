"""
Open vintages of series: read for many series at once, folded with what a payload states, and written as the difference between
what is stored and what shall be.

The figures of a series (rows, vintages, first and last period and knowledge time, sum of checksums) follow its rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from almanac.domain.observations import AHEAD, FINAL, ReportedValue, Vintage, checksum, number, settle
from almanac.store.engine.protocol import Database, Queryable
from almanac.store.engine.sqlite import OPEN
from almanac.store.log.payloads import PayloadRef
from almanac.store.observations.reading.query import body_sql
from almanac.store.observations.writing.numbering import NoteNumbers

#: Open vintages of cells: period → ascending by knowledge time.
History = dict[int, list[Vintage]]


class SeriesHandle(NamedTuple):
    """A stored series as the writer knows it. `lineage`: the set of input series that all rows share, 0 for none."""

    number: int
    id: str
    topic: int
    allowance_days: int
    is_new: bool
    lineage: int


class SeriesClaim(NamedTuple):
    """A payload's statements about one series: the values, and the span of period keys that it lists completely."""

    series: SeriesHandle
    statements: Sequence[ReportedValue]
    complete: tuple[int, int] | None = None
    #: When the publisher last updated the data, if stated.
    updated: int | None = None

    def span(self) -> tuple[int, int] | None:
        """Return the first and last period key that the payload speaks of, or None if it says nothing."""
        keys = [statement.period for statement in self.statements] + list(self.complete or ())
        return (min(keys), max(keys)) if keys else None


def by_period(statements: Iterable[ReportedValue]) -> dict[int, list[ReportedValue]]:
    """Statements by the cell they are about, in their order."""
    stated: dict[int, list[ReportedValue]] = defaultdict(list)
    for statement in statements:
        stated[statement.period].append(statement)
    return stated


def fold(
    held: Mapping[int, list[Vintage]],
    payload: PayloadRef,
    stated: dict[int, list[ReportedValue]],
    complete: tuple[int, int] | None,
    allowance_days: int,
    *,
    is_past: bool = False,
) -> History:
    """
    Return the served vintages of the cells that a payload states or withdraws, given those held before it.

    Inside `complete` a cell that has a value and is not listed is withdrawn at the payload's knowledge time. `is_past`: the
    payload is of an older state of the data than one before it, so it fills cells of which nothing is known, and changes no other.
    """
    target: History = {}
    if is_past:
        stated, complete = {period: lines for period, lines in stated.items() if not held.get(period)}, None
    for period, lines in stated.items():
        facts = held.get(period, [])
        fresh = [_vintage(line, payload, is_new=not facts) for line in lines]
        target[period] = settle([*facts, *fresh], period, allowance_days)
    if complete is not None:
        for period, facts in held.items():
            if complete[0] <= period <= complete[1] and period not in stated and facts and not facts[-1].withdrawn:
                gone = _vintage(ReportedValue(period, None), payload, is_new=False)
                target[period] = settle([*facts, gone], period, allowance_days)
    return target


def _vintage(line: ReportedValue, payload: PayloadRef, *, is_new: bool) -> Vintage:
    """Turn a statement into a vintage: never known later than it was here, a documented time for the first capture only."""
    ingested = payload.ingested_at
    known, released, flags = line.known, line.released, line.flags
    if line.first_only and not is_new:
        known, released, flags = None, None, flags & FINAL
    return Vintage(
        ingested if known is None else min(known, ingested),
        number(line.value),
        line.text,
        flags,
        None if released is None else min(released, ingested),
        ingested,
        payload.number,
        line.note,
    )


#: Cells this far apart on average are read one by one instead of in one range.
_SPARSE = 40


class Cells(NamedTuple):
    """Cells of a series to read: all in a span of period keys, both ends included, or only those named."""

    series: SeriesHandle
    span: tuple[int, int]
    only: Collection[int] | None = None

    def ranges(self) -> Iterable[tuple[int, int]]:
        """Return the ranges of period keys to read."""
        low, high = self.span
        if self.only is not None and (high - low) >> 14 > _SPARSE * max(len(self.only), 8):
            return ((period, period) for period in sorted(self.only))
        return (self.span,)


class Change(NamedTuple):
    """Cells of a series: what is stored of them and the vintages that shall be served. A cell with no vintages goes."""

    series: SeriesHandle
    stored: Mapping[int, list[Vintage]]
    target: Mapping[int, list[Vintage]]


def read(db: Database, wanted: Sequence[Cells]) -> list[History]:
    """Return the open vintages of cells of several series, by period ascending; those of a cell ascend by knowledge time."""
    keys = [
        (place, cells.series.topic, cells.series.number, low, high)
        for place, cells in enumerate(wanted)
        for low, high in cells.ranges()
    ]
    histories: list[History] = [{} for _ in wanted]
    for place, period, *vintage in sorted(db.seek(_OPEN_ROWS, keys)):
        only = wanted[place].only
        if only is None or period in only:
            histories[place].setdefault(period, []).append(Vintage._make(vintage))
    return histories


def periods(db: Queryable, topic: int, series: int, span: tuple[int, int]) -> set[int]:
    """Return the period keys of a series' cells that have a value, in a span whose ends are both included."""
    return {period for (period,) in db.execute(_PERIODS, (topic, *span, series))}


def until_next(vintages: Sequence[Vintage]) -> list[tuple[Vintage, int | None]]:
    """Return the vintages of a cell, ascending, each with when the next one was known (None: there is none)."""
    return list(zip(vintages, [*(vintage.known for vintage in vintages[1:]), None], strict=False))


class Difference:
    """Vintages of several series that one data version writes. Nothing is written before `write`."""

    def __init__(self, version: int) -> None:
        self._version = version
        self._closed: list[tuple[int, int, int, int, int]] = []
        self._inserted: list[tuple[SeriesHandle, int, Vintage, int | None]] = []
        #: By how much the figures of each series change, as `_GROW` binds them.
        self._grown: list[tuple[Any, ...]] = []
        #: Series of which vintages ended, so that the ends of what is left have to be looked up.
        self._shrunk: dict[SeriesHandle, None] = {}

    def add(self, change: Change) -> list[int]:
        """Add the difference of a series and return its period keys that change, ascending."""
        series, stored, target = change
        changed = [period for period in sorted(target) if stored.get(period, _NONE) != target[period]]
        if not changed:
            return changed
        #: Periods with another latest value, and those of them that aren't ahead; knowledge times of new vintages.
        shown, past, known = list[int](), list[int](), list[int]()
        ended = gone = total = 0
        for period in changed:
            before, after = stored.get(period, _NONE), target[period]
            was, now = until_next(before), until_next(after)
            closed = [
                (self._version, series.topic, period, series.number, vintage.known)
                for vintage, until in was
                if (vintage, until) not in now
            ]
            fresh = [(series, period, vintage, until) for vintage, until in now if (vintage, until) not in was]
            self._closed += closed
            self._inserted += fresh
            gone += len(closed)
            known += [vintage.known for _, _, vintage, _ in fresh]
            total += sum(checksum(period, vintage) for vintage in set(after).difference(before))
            total -= sum(checksum(period, vintage) for vintage in set(before).difference(after))
            if before[-1:] != after[-1:]:
                ended += sum(not vintage.withdrawn for vintage in before[-1:])
                shown += [period for vintage in after[-1:] if not vintage.withdrawn]
                past += [period for vintage in after[-1:] if not vintage.withdrawn and not vintage.flags & AHEAD]
        if gone:
            self._shrunk[series] = None
        self._grown.append(
            (
                series.number, len(shown) - ended, len(known) - gone, min(shown, default=None), max(past, default=None),
                min(known, default=None), max(known, default=None), total,
            )
        )  # fmt: skip
        return changed

    def write(self, db: Database, notes: NoteNumbers, written: set[int]) -> None:
        """Write all that was added. `written`: the numbers of series that were written to in this transaction; it grows."""
        # What this transaction wrote itself goes without a trace. What was there before is kept, ended at this version.
        fresh = [row for row in self._closed if row[3] in written]
        if fresh:
            db.executemany(_CLOSE_NEW, fresh)
        if self._closed:
            db.executemany(_CLOSE, self._closed)
        bodies = [vintage.note for _, _, vintage, _ in self._inserted]
        numbers = iter(notes.put(body for body in bodies if body is not None))
        db.insert(
            "vintages",
            [
                (series.topic, period, series.number, vintage.known, until, self._version, vintage.payload, OPEN,
                 vintage.value, vintage.text, vintage.flags, vintage.released, vintage.ingested,
                 None if vintage.note is None else next(numbers), vintage.lineage)
                for series, period, vintage, until in self._inserted
            ],
        )  # fmt: skip
        written.update(number for number, *_ in self._grown)
        db.executemany(_GROW, self._grown)
        if self._shrunk:
            # Read, then written: tables on different machines are not spoken of in one statement that writes.
            ends = {number: row for number, *row in db.seek(_ENDS, [(s.number, s.topic) for s in self._shrunk])}
            db.executemany(_SHRINK, [(*ends.get(s.number, _NO_ENDS), s.number) for s in self._shrunk])


_NONE: list[Vintage] = []
_NO_ENDS = (None, None, None, None)
_OPEN_ROWS = (
    "SELECT k.column1, x.period, x.known_at, x.value, x.text, x.flags, x.released_at, x.ingested_at, x.payload,"
    f" {body_sql('x')}, x.lineage FROM {{keys}}vintages x WHERE x.topic = k.column2 AND x.series = k.column3"
    f" AND x.period BETWEEN k.column4 AND k.column5 AND x.to_version = {OPEN}"
)
_PERIODS = (
    "SELECT period FROM vintages WHERE topic = ? AND period BETWEEN ? AND ? AND series = ?"
    f" AND to_version = {OPEN} AND until IS NULL AND (value IS NOT NULL OR text IS NOT NULL)"
)
# The version is bound, not written into the statements: then they are prepared once, not for every payload.
_THIS = "WHERE topic = ?2 AND period = ?3 AND series = ?4 AND known_at = ?5"
_CLOSE_NEW = f"DELETE FROM vintages {_THIS} AND from_version = ?1"
_CLOSE = f"UPDATE vintages SET to_version = ?1 {_THIS} AND to_version = {OPEN}"
#: Figures of a series after rows were added, of which any may be NULL.
_GROW = (
    "UPDATE series SET rows = rows + ?2, vintages = vintages + ?3, checksum = checksum + ?8,"
    " first_period = CASE WHEN first_period < ?4 THEN first_period ELSE coalesce(?4, first_period) END,"
    " last_period = CASE WHEN last_period > ?5 THEN last_period ELSE coalesce(?5, last_period) END,"
    " first_known = CASE WHEN first_known < ?6 THEN first_known ELSE coalesce(?6, first_known) END,"
    " last_known = CASE WHEN last_known > ?7 THEN last_known ELSE coalesce(?7, last_known) END WHERE series = ?1"
)
_SERVED = "x.until IS NULL AND (x.value IS NOT NULL OR x.text IS NOT NULL)"
_ENDS = (
    f"SELECT k.column1, min(CASE WHEN {_SERVED} THEN x.period END),"
    f" max(CASE WHEN {_SERVED} AND x.flags & {AHEAD} = 0 THEN x.period END), min(x.known_at), max(x.known_at)"
    f" FROM {{keys}}vintages x WHERE x.topic = k.column2 AND x.series = k.column1 AND x.to_version = {OPEN} GROUP BY k.column1"
)
_SHRINK = "UPDATE series SET first_period = ?1, last_period = ?2, first_known = ?3, last_known = ?4 WHERE series = ?5"
