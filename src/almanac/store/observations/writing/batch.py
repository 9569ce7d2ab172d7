"""
Writing vintages: one `Batch` is one transaction and at most one data version.

`append` folds what a payload states of series into what is stored; `replace_all` sets the served vintages of cells
outright (derivation, replay). Both leave rows alone that come out equal, so versions and ingestion times stay. Each takes
many series at once, with the same few statements.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from types import TracebackType
from typing import Any, Self

import msgspec

from almanac.domain.memory import uncollected
from almanac.domain.observations import Vintage
from almanac.domain.reference import SeriesSpec
from almanac.domain.rights import Exposure
from almanac.store.engine.data_schema import meta, set_meta
from almanac.store.engine.protocol import Database
from almanac.store.engine.sql_compat import next_id
from almanac.store.engine.sqlite import OPEN
from almanac.store.log.payloads import FOLDED, PayloadRef
from almanac.store.observations import specs
from almanac.store.observations.ids import NAMED, found_by, series_hash
from almanac.store.observations.writing import vintages
from almanac.store.observations.writing.dependents import NOTE_SQL, note_whole
from almanac.store.observations.writing.numbering import LineageNumbers, NoteNumbers, SpecNumbers, TopicNumbers
from almanac.store.observations.writing.vintages import (
    Cells,
    Change,
    Difference,
    History,
    SeriesClaim,
    SeriesHandle,
    by_period,
    fold,
)

#: Statements that are folded together at most, because what is stored of their cells is in memory meanwhile.
_TOGETHER = 50_000


class Batch:
    """One write transaction over the data database. Use as a context manager; an exception undoes all of it."""

    def __init__(self, connection: Database, now: int, cause: str, clock: Callable[[], int] | None = None) -> None:
        """`now`: unix seconds; `clock`: what they are at the end, where that may be long after."""
        self._db = connection
        self._clock = clock or (lambda: now)
        self._cause = cause
        self._handles: dict[str, SeriesHandle] = {}
        self._changed = False
        #: Whether what is told of series themselves differs from before: written once, however many there are.
        self._referred = False
        self._ending = contextlib.ExitStack()
        #: Between which periods cells of a topic changed.
        self._noted: dict[int, tuple[int, int]] = {}
        self._notes = NoteNumbers(connection)
        self._specs = SpecNumbers(connection)
        self._lineages = LineageNumbers(connection)
        #: Series made in this batch of which nothing has been written yet, and those written to in it.
        self._empty: set[int] = set()
        self._written: set[int] = set()
        #: Fetch time and SHA-256 of the newest payload folded into each series; None: no payload has spoken of it.
        self._folded: dict[int, tuple[int, str] | None] = {}
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
            if self._noted:
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

    def series(self, spec: SeriesSpec, kind: str, inputs: Sequence[str] | None = None) -> SeriesHandle:
        """Return one series, as `put_series` does."""
        return self.put_series([spec], kind, [inputs])[0]

    def put_series(
        self, wanted: Sequence[SeriesSpec], kind: str, inputs: Sequence[Sequence[str] | None] | None = None
    ) -> list[SeriesHandle]:
        """
        Return the series of specifications, made if new; stored specifications follow the catalogue's.

        `inputs`: of each series the ids of the series that every row is computed from; None for raw series and for
        lineage per row.
        """
        sets = [None] * len(wanted) if inputs is None else inputs
        listed = [(spec.id, spec, of) for spec, of in zip(wanted, sets, strict=True)]
        fresh: dict[str, tuple[SeriesSpec, Sequence[str] | None]] = {}
        for key, spec, of in listed:
            if key not in self._handles:
                fresh.setdefault(key, (spec, of))
        if fresh:
            self._put_series(fresh, kind)
        return [self._handles[key] for key, _, _ in listed]

    def _put_series(self, wanted: Mapping[str, tuple[SeriesSpec, Sequence[str] | None]], kind: str) -> None:
        numbers = self._specs.put(msgspec.structs.replace(spec, entity="") for spec, _ in wanted.values())
        lineages = [self.lineage(inputs) if inputs else 0 for _, inputs in wanted.values()]
        stored = {row[0]: row[1:] for row in self._db.seek(_STORED, [found_by(identifier) for identifier in wanted])}
        missing: list[tuple[str, SeriesSpec, int, int]] = []
        moved: list[tuple[int, int, int]] = []
        for (identifier, (spec, _)), number, lineage in zip(wanted.items(), numbers, lineages, strict=True):
            if identifier not in stored:
                missing.append((identifier, spec, number, lineage))
                continue
            series, topic, old_number, old_lineage, *order = stored[identifier]
            if (old_number, old_lineage) != (number, lineage):
                moved.append((number, lineage, series))
            self._enter(SeriesHandle(series, identifier, topic, _allowance(spec), False, old_lineage), order)
        if moved:
            self._db.executemany("UPDATE series SET spec = ?, lineage = ? WHERE series = ?", moved)
            self.restate(series for _, _, series in moved)
            self._reference_changed()
        if missing:
            self._insert_series(missing, kind)

    def _insert_series(self, missing: Sequence[tuple[str, SeriesSpec, int, int]], kind: str) -> None:
        topics = TopicNumbers(self._db, kind).put(
            (spec.indicator, spec.entity, spec.frequency.value) for _, spec, _, _ in missing
        )
        first = int(self._db.execute(f"SELECT {next_id('series', 'series')}").get)
        rows = []
        for series, topic, (identifier, spec, number, lineage) in zip(count(first), topics, missing, strict=False):
            rows.append(
                (series, identifier, topic, spec.source, number, lineage, 0, None, None, 0, 0, None, None, None, None, 0,
                 series_hash(identifier))
            )  # fmt: skip
            self._enter(SeriesHandle(series, identifier, topic, _allowance(spec), True, lineage), (None, None))
            self._empty.add(series)
        self._db.insert("series", rows)
        self._reference_changed()

    def _enter(self, handle: SeriesHandle, order: Sequence[Any]) -> None:
        """Remember a series, and the order of the newest payload folded into it."""
        self._handles[handle.id] = handle
        self._folded[handle.number] = None if order[0] is None else (order[0], order[1])

    def existing(self, identifier: str) -> SeriesHandle:
        """Return a stored series. Raises KeyError if there is none."""
        if identifier not in self._handles:
            row = self._db.execute(_EXISTING, found_by(identifier)).fetchone()
            if row is None:
                raise KeyError(identifier)
            series, topic, lineage, body, *order = row
            allowance = _allowance(specs.read(body, ""))
            self._enter(SeriesHandle(series, identifier, topic, allowance, False, lineage), order)
        return self._handles[identifier]

    def tighten(self, series: SeriesHandle, exposure: Exposure, reason: str) -> bool:
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
        return self.lineages([inputs])[0]

    def lineages(self, sets: Iterable[Sequence[str]]) -> list[int]:
        """Return the numbers of sets of input series, in the order given."""
        return self._lineages.put(map(tuple, sets))

    def known_lineage(self, inputs: Sequence[str]) -> int | None:
        """Return the number of a set of input series; None if it has none yet."""
        return self._lineages.known([tuple(inputs)])[0]

    # -- vintages ---------------------------------------------------------------------------------------------------

    def append(self, payload: PayloadRef, claims: Sequence[SeriesClaim]) -> list[list[int]]:
        """
        Fold one payload's statements of several series in, in order. Returns the period keys that changed, ascending, of each.

        A claim that says when the data was updated, and is older than a payload before it, undoes nothing.
        """
        changed: list[list[int]] = []
        for group in _apart(claims):
            spoken = [(claim, span) for claim in group if (span := claim.span()) is not None]
            stated = [by_period(claim.statements) for claim, _ in spoken]
            held = self.histories(
                Cells(claim.series, span, None if claim.complete else lines.keys())
                for (claim, span), lines in zip(spoken, stated, strict=True)
            )
            changes = []
            for (claim, _), lines, history in zip(spoken, stated, held, strict=True):
                is_past = self.is_past(claim.series, claim.updated)
                target = fold(history, payload, lines, claim.complete, claim.series.allowance_days, is_past=is_past)
                changes.append(Change(claim.series, history, target))
            self.remember(payload, [claim for claim, _ in spoken])
            written = iter(self.replace_all(changes))
            changed += [[] if claim.span() is None else next(written) for claim in group]
        return changed

    def replace(self, series: SeriesHandle, target: Mapping[int, list[Vintage]]) -> list[int]:
        """Make these the served vintages of these cells (an empty list: none). Returns the period keys that changed, ascending."""
        if not target:
            return []
        held = self.history(series, (min(target), max(target)), only=target)
        return self.replace_all([Change(series, held, target)])[0]

    def has_rows(self, series: SeriesHandle) -> bool:
        """Return whether a series has an open vintage; one made in this batch may already have been written to in it."""
        if series.number in self._empty:
            return False
        return bool(self._db.execute("SELECT vintages FROM series WHERE series = ?", (series.number,)).get)

    def is_past(self, series: SeriesHandle, updated: int | None) -> bool:
        """Return whether a payload that is folded in now says that it is of an older state of the data than one before it."""
        if updated is None or self._folded[series.number] is None:
            return False
        newest: int | None = self._db.execute(_NEWEST_STATE, (series.number, FOLDED)).get
        return newest is not None and updated < newest

    def remember(self, payload: PayloadRef, claims: Iterable[SeriesClaim]) -> None:
        """Record of which series a payload spoke, of which state of each, and the newest payload that did."""
        rows = {claim.series.number: (claim.series.number, payload.number, claim.updated) for claim in claims}
        spoken = [row for number, row in rows.items() if self._folded[number] is not None]
        self._db.insert("series_payload", [row for number, row in rows.items() if self._folded[number] is None])
        if spoken:
            self._db.executemany(_SPOKEN, spoken)
        older = [number for number in rows if (order := self._folded[number]) is None or order < payload.order]
        if older:
            self._db.executemany(
                "UPDATE series SET folded = ? WHERE series = ?", [(payload.number, number) for number in older]
            )
        self._folded.update(dict.fromkeys(older, payload.order))

    def behind(self, series: SeriesHandle, payload: PayloadRef) -> bool:
        """Return whether a payload is older than the newest one folded into a series, so that the series must be replayed."""
        folded = self._folded[series.number]
        return folded is not None and folded > payload.order

    def history(self, series: SeriesHandle, span: tuple[int, int], only: Collection[int] | None = None) -> History:
        """Return the open vintages of a series, by period; of all cells in the span or of those named."""
        return self.histories([Cells(series, span, only)])[0]

    def histories(self, wanted: Iterable[Cells]) -> list[History]:
        """Return the open vintages of cells of several series, by period."""
        listed = list(wanted)
        read = iter(vintages.read(self._db, [cells for cells in listed if cells.series.number not in self._empty]))
        return [{} if cells.series.number in self._empty else next(read) for cells in listed]

    def numbers(
        self, series: SeriesHandle, span: tuple[int, int], no_release: int
    ) -> Iterator[tuple[int, int, float, int, int, int, int]]:
        """
        Open vintages of a series as plain numbers, ascending by period and knowledge time, for whole series at once.

        Period key, knowledge time, value (infinite: no number), release (or `no_release`), ingestion, flags, number of the
        note (0: none).
        """
        return self._db.execute(_NUMBERS, (math.inf, no_release, series.topic, *span, series.number))

    def note(self, number: int) -> str | None:
        """Return the text of a note by its number; None if there is none."""
        text: str | None = self._db.execute("SELECT body FROM note WHERE note = ?", (number,)).get
        return text

    def replace_all(self, changes: Sequence[Change]) -> list[list[int]]:
        """Make the targets of these changes the served vintages. Returns the period keys that changed, ascending, of each."""
        difference = Difference(self.version)
        every = [difference.add(change) for change in changes]
        for change, changed in zip(changes, every, strict=True):
            if changed:
                topic = change.series.topic
                low, high = self._noted.get(topic, (changed[0], changed[-1]))
                self._noted[topic] = min(low, changed[0]), max(high, changed[-1])
        if any(every):
            self._changed = True
            difference.write(self._db, self._notes, self._written)
            self._empty -= self._written
        return every


def _apart(claims: Iterable[SeriesClaim]) -> Iterator[list[SeriesClaim]]:
    """Yield claims in their order, in groups that name each series once and aren't large."""
    group: dict[int, SeriesClaim] = {}
    size = 0
    for claim in claims:
        if claim.series.number in group or size > _TOGETHER:
            yield list(group.values())
            group, size = {}, 0
        group[claim.series.number] = claim
        size += len(claim.statements)
    yield list(group.values())


def _allowance(spec: SeriesSpec) -> int:
    return spec.allowance_days or spec.frequency.allowance_days


_ORDER = "p.fetched_at, p.sha256"
_STORED = (
    f"SELECT s.id, s.series, s.topic, s.spec, s.lineage, {_ORDER} FROM {{keys}}series s"
    " LEFT JOIN payload p ON p.payload = s.folded WHERE s.hash = k.column1 AND s.id = k.column2"
)
_SPOKEN = (
    "INSERT INTO series_payload VALUES(?, ?, ?) ON CONFLICT(series, payload) DO UPDATE SET updated = excluded.updated"
)
_EXISTING = (
    f"SELECT s.series, s.topic, s.lineage, b.body, {_ORDER} FROM series s JOIN spec b USING(spec)"
    f" LEFT JOIN payload p ON p.payload = s.folded WHERE {NAMED}"
)
_NUMBERS = (
    "SELECT period, known_at, coalesce(value, ?), coalesce(released_at, ?), ingested_at, flags, coalesce(note, 0) FROM vintages"
    f" WHERE topic = ? AND period BETWEEN ? AND ? AND series = ? AND to_version = {OPEN} ORDER BY period, known_at"
)
#: Of which state of the data the newest is of those that were folded.
_NEWEST_STATE = "SELECT max(y.updated) FROM series_payload y JOIN payload p ON p.payload = y.payload WHERE y.series = ? AND p.state = ?"
