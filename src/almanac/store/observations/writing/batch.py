"""
Writing vintages: one `Batch` is one transaction and at most one data version.

`append` folds what a payload states of one series into what is stored; `replace` sets the served vintages of cells
outright (derivation, replay). Both leave rows alone that come out equal, so versions and ingestion times stay.
"""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

from almanac.domain.memory import uncollected
from almanac.domain.observations import ReportedValue, Vintage, checksum
from almanac.domain.reference import SeriesSpec
from almanac.domain.rights import Exposure
from almanac.store.engine.data_schema import meta, set_meta
from almanac.store.engine.protocol import Database
from almanac.store.engine.sql_compat import next_id
from almanac.store.engine.sqlite import OPEN
from almanac.store.log.payloads import FOLDED, PayloadRef
from almanac.store.observations import specs
from almanac.store.observations.ids import NAMED, found_by, series_hash
from almanac.store.observations.notes import Notes, body_sql
from almanac.store.observations.writing import lineages, series_figures
from almanac.store.observations.writing.dependents import NOTE_SQL, note_whole
from almanac.store.observations.writing.fold import History, by_period, fold

__all__ = ["Batch", "Handle", "History", "by_period", "fold"]

#: Cells this far apart on average are read one by one instead of in one range.
_SPARSE = 40


class Handle(NamedTuple):
    """A series as the writer knows it."""

    number: int
    id: str
    topic: int
    allowance_days: int
    is_new: bool
    lineage: int


class Batch:
    """One write transaction over the data database. Use as a context manager; an exception undoes all of it."""

    def __init__(self, connection: Database, now: int, cause: str, clock: Callable[[], int] | None = None) -> None:
        """`now`: unix seconds; `clock`: what they are at the end, where that may be long after."""
        self._db = connection
        self._clock = clock or (lambda: now)
        self._cause = cause
        self._handles: dict[str, Handle] = {}
        self._changed = False
        #: Whether what is told of series themselves differs from before: written once, however many there are.
        self._referred = False
        self._ending = contextlib.ExitStack()
        self._notes = Notes(connection)
        #: Between which periods cells of a topic changed.
        self._noted: dict[int, tuple[int, int]] = {}
        self._specs: dict[str, int] = {}
        #: Numbers of sets of inputs: most rows that name theirs by themselves name one of few.
        self._lineages: dict[tuple[str, ...], int] = {}
        #: Series made in this batch of which nothing has been written yet, and those that no payload has spoken of.
        self._empty: set[int] = set()
        self._unspoken: set[int] = set()
        #: Series of which all rows say something else from this version on, whether they move or not.
        self._restated: set[int] = set()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            stack.enter_context(uncollected())
            stack.enter_context(self._db.transaction())
            self.version = int(meta(self._db, "version") or 0) + 1
            stack.push(self._end)
            self._ending = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.__exit__(kind, error, trace)

    def _end(self, kind: type[BaseException] | None, *_: object) -> None:
        """Make what was written a data version, as the last step of the transaction."""
        if kind is None and self._changed:
            self._db.executemany(NOTE_SQL, [(topic, self.version, *span) for topic, span in self._noted.items()])
            if self._restated:
                note_whole(self._db, self.version, self._restated)
            # As late as can be: until it can be read, cursors are given to the version before, whose rows they will want.
            self._db.execute("INSERT INTO version VALUES(?, ?, ?)", (self.version, self._clock(), self._cause))
            if self._referred:
                set_meta(self._db, "reference", str(self.version))
            set_meta(self._db, "version", str(self.version))

    @property
    def changed(self) -> bool:
        """Return whether anything that is served differs from before."""
        return self._changed

    def touch(self) -> None:
        """Make this write a data version although no row moves (rights, order, reference records)."""
        self._changed = True

    def restate(self, series: Iterable[int]) -> None:
        """Let all cells of these series, and of those computed from them, count as changed (rights, unit, lineage)."""
        self._restated.update(series)

    # -- series -----------------------------------------------------------------------------------------------------

    def series(self, spec: SeriesSpec, kind: str, inputs: Sequence[str] | None = None) -> Handle:
        """
        Return the series of a specification, made if new; its stored specification follows the catalogue's.

        `inputs`: ids of the series every row is computed from; None for raw series and for lineage per row.
        """
        identifier = spec.id
        held = self._handles.get(identifier)
        if held is not None:
            return held
        number = specs.put(self._db, spec, self._specs)
        lineage = self.lineage(inputs) if inputs else 0
        allowance = _allowance(spec)
        found = self._db.execute(
            f"SELECT series, topic, spec, lineage FROM series WHERE {NAMED}", found_by(identifier)
        ).fetchone()
        if found is None:
            topic = self._topic(spec, kind)
            series = int(self._db.execute(f"SELECT {next_id('series', 'series')}").get)
            row = (series, identifier, topic, spec.source, number, lineage, series_hash(identifier))
            self._db.execute(_NEW_SERIES, row)
            handle = Handle(series, identifier, topic, allowance, True, lineage)
            self._empty.add(series)
            self._unspoken.add(series)
            self._reference_changed()
        else:
            handle = Handle(found[0], identifier, found[1], allowance, False, found[3])
            if found[2] != number or found[3] != lineage:
                self._db.execute(
                    "UPDATE series SET spec = ?, lineage = ? WHERE series = ?", (number, lineage, found[0])
                )
                self.restate([found[0]])
                self._reference_changed()
        self._handles[identifier] = handle
        return handle

    def existing(self, identifier: str) -> Handle:
        """Return a stored series. Raises KeyError if there is none."""
        held = self._handles.get(identifier)
        if held is None:
            found = self._db.execute(
                f"SELECT series, topic, lineage FROM series WHERE {NAMED}",
                found_by(identifier),
            ).fetchone()
            if found is None:
                raise KeyError(identifier)
            spec = specs.of(self._db, identifier)
            held = self._handles[identifier] = Handle(found[0], identifier, found[1], _allowance(spec), False, found[2])
        return held

    def _topic(self, spec: SeriesSpec, kind: str) -> int:
        key = (spec.indicator, spec.entity, spec.frequency.value)
        found = self._db.execute(
            "SELECT topic FROM topic WHERE indicator = ? AND entity = ? AND frequency = ?", key
        ).get
        if found is None:
            found = self._db.execute(f"SELECT {next_id('topic', 'topic')}").get
            self._db.execute("INSERT INTO topic VALUES(?, ?, ?, ?, ?)", (found, *key, kind))
        return int(found)

    def tighten(self, series: Handle, exposure: Exposure, reason: str) -> bool:
        """Record what the feed's own metadata says of a series' rights. Only ever tightens. True: that it did."""
        held: int = self._db.execute("SELECT exposure FROM series WHERE series = ?", (series.number,)).get
        if exposure > held:
            self._db.execute(
                "UPDATE series SET exposure = ?, reason = ? WHERE series = ?", (int(exposure), reason, series.number)
            )
            if not series.is_new:
                self.restate([series.number])
            self._reference_changed()
        return exposure > held

    def _reference_changed(self) -> None:
        """Note that the metadata which readers keep in memory are out of date from this version on."""
        self._referred = self._changed = True

    def lineage(self, inputs: Sequence[str]) -> int:
        """Return the number of a set of input series, in the order given."""
        wanted = tuple(inputs)
        held = self._lineages.get(wanted)
        if held is None:
            held = self._lineages[wanted] = lineages.put(self._db, inputs)
        return held

    def known_lineage(self, inputs: Sequence[str]) -> int | None:
        """Return the number of a set of input series; None if it has none yet."""
        return lineages.known(self._db, inputs)

    # -- vintages ---------------------------------------------------------------------------------------------------

    def append(
        self,
        series: Handle,
        payload: PayloadRef,
        statements: Sequence[ReportedValue],
        complete: tuple[int, int] | None,
        updated: int | None = None,
    ) -> list[int]:
        """
        Fold one payload's statements of one series in. Returns the period keys whose vintages changed, ascending.

        `updated`: of which state of the data the payload says it is; one older than a payload before it undoes nothing.
        """
        stated = by_period(statements)
        span = (min(stated), max(stated)) if stated else None
        if complete is not None:
            span = (min(span[0], complete[0]), max(span[1], complete[1])) if span else complete
        if span is None:
            return []
        held = self.history(series, span, only=None if complete else stated)
        is_past = self.is_past(series, updated)
        target = fold(held, payload, stated, complete, series.allowance_days, is_past=is_past)
        self.remember(series, payload, updated)
        return self._store(series, held, target)

    def replace(
        self, series: Handle, target: Mapping[int, list[Vintage]], held: Mapping[int, list[Vintage]] | None = None
    ) -> list[int]:
        """
        Make these the served vintages of these cells (an empty list: none). Returns the period keys that changed, ascending.

        `held`: what `history` gave of all of them, where the caller has read it; None: to be read.
        """
        if not target:
            return []
        if held is None:
            held = self.history(series, (min(target), max(target)), only=target)
        return self._store(series, held, target)

    def has_rows(self, series: Handle) -> bool:
        """Whether a series has an open vintage; one made in this batch may already have been written to in it."""
        if series.number in self._empty:
            return False
        return bool(self._db.execute("SELECT vintages FROM series WHERE series = ?", (series.number,)).get)

    def is_past(self, series: Handle, updated: int | None) -> bool:
        """Whether a payload that is folded in now says that it is of an older state of the data than one before it."""
        if updated is None or series.number in self._unspoken:
            return False
        newest: int | None = self._db.execute(_NEWEST_STATE, (series.number, FOLDED)).get
        return newest is not None and updated < newest

    def remember(self, series: Handle, payload: PayloadRef, updated: int | None = None) -> None:
        """Note that a payload spoke of a series, of which state of it, and the newest payload that did."""
        if series.number in self._unspoken:
            self._unspoken.remove(series.number)
            self._db.execute("INSERT INTO series_payload VALUES(?, ?, ?)", (series.number, payload.number, updated))
            self._db.execute("UPDATE series SET folded = ? WHERE series = ?", (payload.number, series.number))
            return
        self._db.execute(
            "INSERT INTO series_payload VALUES(?, ?, ?) ON CONFLICT(series, payload) DO UPDATE SET updated = excluded.updated",
            (series.number, payload.number, updated),
        )
        # Asked by itself: where tables are on several machines, none is changed by what another holds.
        if not self._db.execute(_FOLDED.format(">="), (series.number, *payload.order)).get:
            self._db.execute("UPDATE series SET folded = ? WHERE series = ?", (payload.number, series.number))

    def behind(self, series: Handle, payload: PayloadRef) -> bool:
        """Whether a payload is older than the newest one folded into a series, so that the series must be replayed."""
        if series.number in self._unspoken:
            return False
        return bool(self._db.execute(_FOLDED.format(">"), (series.number, *payload.order)).get)

    def payloads_of(self, series: Handle) -> list[int]:
        """Numbers of all payloads that ever spoke of a series."""
        return [
            row[0] for row in self._db.execute("SELECT payload FROM series_payload WHERE series = ?", (series.number,))
        ]

    def history(self, series: Handle, span: tuple[int, int], only: Iterable[int] | None = None) -> History:
        """Open vintages of a series, by period; of all cells in the span or of those named."""
        found: History = defaultdict(list)
        if series.number in self._empty:
            return found
        wanted = None if only is None else set(only)
        if wanted is not None and (span[1] - span[0]) >> 14 > _SPARSE * max(len(wanted), 8):
            cells: Iterable[tuple[int, int]] = ((period, period) for period in sorted(wanted))
        else:
            cells = (span,)
        for low, high in cells:
            for row in self._db.execute(_OPEN_ROWS, (series.topic, low, high, series.number)):
                if wanted is None or row[0] in wanted:
                    found[row[0]].append(Vintage._make(row[1:]))
        return found

    def numbers(
        self, series: Handle, span: tuple[int, int], no_release: int
    ) -> Iterator[tuple[int, int, float, int, int, int, int]]:
        """
        Open vintages of a series as plain numbers, ascending by period and knowledge time, for whole series at once.

        Period key, knowledge time, value (infinite: no number), release (or `no_release`), ingestion, flags, number of the
        note (0: none).
        """
        return self._db.execute(_NUMBERS, (math.inf, no_release, series.topic, *span, series.number))

    def note(self, number: int) -> str | None:
        """Text of a note by its number."""
        return self._notes.body(number)

    def _store(
        self, series: Handle, held: Mapping[int, list[Vintage]], target: Mapping[int, list[Vintage]]
    ) -> list[int]:
        """Write the difference between what is held and what shall be."""
        topic, place = series.topic, series.number
        version = self.version
        closed: list[tuple[Any, ...]] = []
        inserted: list[tuple[Any, ...]] = []
        #: Periods of which the latest vintage ended, and came, and what the new one is.
        ended: list[int] = []
        shown: list[tuple[int, Vintage]] = []
        changed: list[int] = []
        grown = 0
        for period in sorted(target):
            before, after = held.get(period, _NONE), target[period]
            if before == after:
                continue
            changed.append(period)
            was, now = until_next(before), until_next(after)
            closed += [(version, topic, period, place, one[0].known) for one in was if one not in now]
            for one in now:
                v, until = one
                if one in was:
                    continue
                inserted.append(
                    (topic, period, place, v.known, until, version, v.payload, v.value, v.text, v.flags, v.released,
                     v.ingested, self._notes.number(v.note), v.lineage)
                )  # fmt: skip
            grown += sum(checksum(period, one) for one in set(after).difference(before))
            grown -= sum(checksum(period, one) for one in set(before).difference(after))
            last_before = before[-1] if before else None
            last = after[-1] if after else None
            if last_before != last:
                if last_before is not None and not last_before.withdrawn:
                    ended.append(period)
                if last is not None and not last.withdrawn:
                    shown.append((period, last))
        if not changed:
            return changed
        self._changed = True
        low, high = self._noted.get(topic, (changed[0], changed[-1]))
        self._noted[topic] = min(low, changed[0]), max(high, changed[-1])
        if closed:
            self._db.executemany(_CLOSE_NEW, closed)
            self._db.executemany(_CLOSE, closed)
        self._empty.discard(place)
        self._db.insert("vintages", [(*row[:7], OPEN, *row[7:]) for row in inserted])
        moved = series_figures.MovedRows(closed, inserted, ended, shown, grown)
        series_figures.keep(self._db, topic, place, moved)
        return changed


def until_next(vintages: Sequence[Vintage]) -> list[tuple[Vintage, int | None]]:
    """Vintages of a cell, ascending, each with when the next one was known (None: there is none): until then it stood."""
    return list(zip(vintages, [*(one.known for one in vintages[1:]), None], strict=False))


def _allowance(spec: SeriesSpec) -> int:
    return spec.allowance_days or spec.frequency.allowance_days


_NEW_SERIES = "INSERT INTO series VALUES(?, ?, ?, ?, ?, ?, 0, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, ?)"
_OPEN_ROWS = (
    "SELECT period, known_at, value, text, flags, released_at, ingested_at, payload,"
    f" {body_sql('vintages')}, lineage FROM vintages"
    f" WHERE topic = ? AND period BETWEEN ? AND ? AND series = ? AND to_version = {OPEN} ORDER BY period, known_at"
)
_NUMBERS = (
    "SELECT period, known_at, coalesce(value, ?), coalesce(released_at, ?), ingested_at, flags, coalesce(note, 0) FROM vintages"
    f" WHERE topic = ? AND period BETWEEN ? AND ? AND series = ? AND to_version = {OPEN} ORDER BY period, known_at"
)
_NONE: list[Vintage] = []
# The version is bound, not written into the statements: then they are prepared once, not for every payload.
#: Whether the newest payload folded into a series comes after one, or is that.
_FOLDED = "SELECT 1 FROM series s JOIN payload p ON p.payload = s.folded WHERE s.series = ? AND (p.fetched_at, p.sha256) {} (?, ?)"
#: Of which state of the data the newest is of those that were folded.
_NEWEST_STATE = "SELECT max(y.updated) FROM series_payload y JOIN payload p ON p.payload = y.payload WHERE y.series = ? AND p.state = ?"
_THIS = "WHERE topic = ?2 AND period = ?3 AND series = ?4"
#: What this very batch wrote goes without a trace; what was there before is kept, ended at this version.
_CLOSE_NEW = f"DELETE FROM vintages {_THIS} AND known_at = ?5 AND from_version = ?1"
_CLOSE = f"UPDATE vintages SET to_version = ?1 {_THIS} AND known_at = ?5 AND to_version = {OPEN}"
