"""
Writing vintages: one `Batch` is one transaction and at most one data version.

`append` folds what a payload states of one series into what is stored; `replace` sets the served vintages of cells
outright (derivation, replay). Both end by bringing `current` into step, and both leave rows alone that come out equal,
so ids, versions and ingestion times stay.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import apsw
import msgspec

from almanac.domain.observations import FORECAST, PAIR_VALUES, Statement, Vintage, observation_id
from almanac.domain.reference import SeriesSpec
from almanac.domain.rights import Exposure
from almanac.store import sqlite
from almanac.store.covered import series_hash
from almanac.store.fragments import extra_part, row_part, value_part
from almanac.store.sqlite import OPEN
from almanac.store.statements import History, PayloadRef, by_period, fold

__all__ = ["Batch", "Handle", "History", "PayloadRef", "by_period", "fold", "hash_of"]

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

    def __init__(self, connection: apsw.Connection, now: int, cause: str) -> None:
        self._db = connection
        self._now = now
        self._cause = cause
        self._handles: dict[str, Handle] = {}
        self._changed = False

    def __enter__(self) -> Self:
        self._db.execute("BEGIN IMMEDIATE")
        self.version = int(sqlite.meta(self._db, "version") or 0) + 1
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            return
        try:
            if self._changed:
                self._db.execute("INSERT INTO version VALUES(?, ?, ?)", (self.version, self._now, self._cause))
                sqlite.set_meta(self._db, "version", str(self.version))
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    @property
    def changed(self) -> bool:
        """Whether anything that is served differs from before."""
        return self._changed

    def touch(self) -> None:
        """Make this write a data version although no row moves (rights, order, reference records)."""
        self._changed = True

    # -- series -----------------------------------------------------------------------------------------------------

    def series(self, spec: SeriesSpec, kind: str, inputs: Sequence[str] | None = None) -> Handle:
        """
        The series of a specification, made if new; its stored specification follows the catalogue's.

        `inputs`: ids of the series every row is computed from; None for raw series and for lineage per row.
        """
        held = self._handles.get(spec.id)
        if held is not None:
            return held
        body = msgspec.json.encode(spec).decode()
        lineage = self.lineage(inputs) if inputs else 0
        allowance = spec.allowance_days or spec.frequency.allowance_days
        found = self._db.execute("SELECT series, topic, spec, lineage FROM series WHERE id = ?", (spec.id,)).fetchone()
        if found is None:
            topic = self._topic(spec, kind)
            self._db.execute(
                "INSERT INTO series VALUES(NULL, ?, ?, ?, ?, ?, 0, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, ?)",
                (spec.id, topic, spec.source, body, lineage, series_hash(spec.id)),
            )
            handle = Handle(self._db.last_insert_rowid(), spec.id, topic, allowance, True, lineage)
            self._reference_changed()
        else:
            handle = Handle(found[0], spec.id, found[1], allowance, False, found[3])
            if found[2] != body or found[3] != lineage:
                self._db.execute("UPDATE series SET spec = ?, lineage = ? WHERE series = ?", (body, lineage, found[0]))
                self._reference_changed()
        self._handles[spec.id] = handle
        return handle

    def existing(self, identifier: str) -> Handle:
        """A series that is there already. Raises KeyError otherwise."""
        held = self._handles.get(identifier)
        if held is None:
            found = self._db.execute(
                "SELECT series, topic, spec, lineage FROM series WHERE id = ?", (identifier,)
            ).fetchone()
            if found is None:
                raise KeyError(identifier)
            spec = msgspec.json.decode(found[2], type=SeriesSpec)
            allowance = spec.allowance_days or spec.frequency.allowance_days
            held = self._handles[identifier] = Handle(found[0], identifier, found[1], allowance, False, found[3])
        return held

    def _topic(self, spec: SeriesSpec, kind: str) -> int:
        key = (spec.indicator, spec.entity, spec.frequency.value)
        found = self._db.execute(
            "SELECT topic FROM topic WHERE indicator = ? AND entity = ? AND frequency = ?", key
        ).get
        if found is None:
            self._db.execute("INSERT INTO topic VALUES(NULL, ?, ?, ?, ?)", (*key, kind))
            found = self._db.last_insert_rowid()
        return int(found)

    def tighten(self, series: Handle, exposure: Exposure, reason: str) -> None:
        """Record what the feed's own metadata says of a series' rights. Only ever tightens."""
        held: int = self._db.execute("SELECT exposure FROM series WHERE series = ?", (series.number,)).get
        if exposure > held:
            self._db.execute(
                "UPDATE series SET exposure = ?, reason = ? WHERE series = ?", (int(exposure), reason, series.number)
            )
            self._reference_changed()

    def _reference_changed(self) -> None:
        """What readers hold in memory about series is out of date from this version on."""
        sqlite.set_meta(self._db, "reference", str(self.version))
        self._changed = True

    def lineage(self, inputs: Sequence[str]) -> int:
        """Number of a set of input series, in the order given."""
        text = json.dumps(list(inputs), separators=(",", ":"))
        found = self._db.execute("SELECT lineage FROM lineage WHERE inputs = ?", (text,)).get
        if found is None:
            self._db.execute("INSERT INTO lineage VALUES(NULL, ?)", (text,))
            found = self._db.last_insert_rowid()
        return int(found)

    # -- vintages ---------------------------------------------------------------------------------------------------

    def append(
        self, series: Handle, payload: PayloadRef, statements: Sequence[Statement], complete: tuple[int, int] | None
    ) -> list[int]:
        """Fold one payload's statements of one series in. Returns the period keys whose vintages changed, ascending."""
        stated = by_period(statements)
        span = (min(stated), max(stated)) if stated else None
        if complete is not None:
            span = (min(span[0], complete[0]), max(span[1], complete[1])) if span else complete
        if span is None:
            return []
        held = (
            {}
            if series.is_new and not self.has_rows(series)
            else self.history(series, span, only=None if complete else stated)
        )
        target = fold(held, payload, stated, complete, series.allowance_days)
        self.remember(series, payload)
        return self._store(series, held, target)

    def replace(self, series: Handle, target: Mapping[int, list[Vintage]]) -> list[int]:
        """Make these the served vintages of these cells (an empty list: none). Returns the period keys that changed, ascending."""
        if not target:
            return []
        held = (
            {}
            if series.is_new and not self.has_rows(series)
            else self.history(series, (min(target), max(target)), only=target)
        )
        return self._store(series, held, target)

    def has_rows(self, series: Handle) -> bool:
        """Whether a series has an open vintage; one made in this batch may already have been written to in it."""
        return bool(self._db.execute("SELECT vintages FROM series WHERE series = ?", (series.number,)).get)

    def remember(self, series: Handle, payload: PayloadRef) -> None:
        """Note that a payload spoke of a series, and the newest one that did."""
        self._db.execute("INSERT OR IGNORE INTO series_payload VALUES(?, ?)", (series.number, payload.number))
        self._db.execute(
            "UPDATE series SET folded_at = ?, folded_sha = ? WHERE series = ? AND (folded_at, folded_sha) IS NOT (?, ?)"
            " AND (folded_at IS NULL OR (folded_at, folded_sha) < (?, ?))",
            (*payload.order, series.number, *payload.order, *payload.order),
        )

    def behind(self, series: Handle, payload: PayloadRef) -> bool:
        """Whether a payload is older than the newest one folded into a series, so that the series must be replayed."""
        found = self._db.execute(
            "SELECT folded_at, folded_sha FROM series WHERE series = ?", (series.number,)
        ).fetchone()
        return found is not None and found[0] is not None and (found[0], found[1]) > payload.order

    def payloads_of(self, series: Handle) -> list[int]:
        """Numbers of all payloads that ever spoke of a series."""
        return [
            row[0] for row in self._db.execute("SELECT payload FROM series_payload WHERE series = ?", (series.number,))
        ]

    def history(self, series: Handle, span: tuple[int, int], only: Iterable[int] | None = None) -> History:
        """Open vintages of a series, by period; of all cells in the span or of those named."""
        found: History = defaultdict(list)
        wanted = None if only is None else set(only)
        if wanted is not None and (span[1] - span[0]) >> 14 > _SPARSE * max(len(wanted), 8):
            cells: Iterable[tuple[int, int]] = ((period, period) for period in sorted(wanted))
        else:
            cells = (span,)
        for low, high in cells:
            for row in self._db.execute(_OPEN_ROWS, (series.topic, low, high, series.number)):
                if wanted is None or row[0] in wanted:
                    found[row[0]].append(Vintage(*row[1:]))
        return found

    def numbers(
        self, series: Handle, span: tuple[int, int], no_release: int
    ) -> Iterator[tuple[int, int, float, int, int, int]]:
        """
        Open vintages of a series as plain numbers, ascending by period and knowledge time, for whole series at once.

        Period key, knowledge time, value (infinite: no number), release (or `no_release`), ingestion, flags.
        """
        return self._db.execute(_NUMBERS, (no_release, series.topic, *span, series.number))

    def _store(
        self, series: Handle, held: Mapping[int, list[Vintage]], target: Mapping[int, list[Vintage]]
    ) -> list[int]:
        """Write the difference between what is held and what shall be, and keep `current` in step."""
        closed: list[tuple[Any, ...]] = []
        inserted: list[tuple[Any, ...]] = []
        ended: list[tuple[Any, ...]] = []
        shown: list[tuple[Any, ...]] = []
        changed: list[int] = []
        cells = 0
        for period in sorted(target):
            before, after = held.get(period, []), target[period]
            if before == after:
                continue
            changed.append(period)
            identifier = ""
            for vintage in before:
                if vintage not in after:
                    closed.append((series.topic, period, series.number, vintage.known))
            for vintage in after:
                if vintage not in before:
                    identifier = observation_id(series.id, period, vintage.known, vintage.value, vintage.text)
                    inserted.append(self._row(series, period, vintage, identifier))
            last_before = before[-1] if before else None
            last_after = after[-1] if after else None
            if last_before != last_after:
                if last_before is not None and not last_before.withdrawn:
                    ended.append((series.topic, period, series.number))
                    cells -= 1
                if last_after is not None and not last_after.withdrawn:
                    if not inserted or inserted[-1][1] != period or inserted[-1][3] != last_after.known:
                        identifier = observation_id(
                            series.id, period, last_after.known, last_after.value, last_after.text
                        )
                    shown.append(self._shown(series, period, last_after, identifier))
                    cells += 1
        if not changed:
            return changed
        self._changed = True
        version = self.version
        if closed:
            self._db.executemany(f"DELETE FROM vintages {_THIS} AND known_at = ? AND from_version = {version}", closed)
            self._db.executemany(
                f"UPDATE vintages SET to_version = {version} {_THIS} AND known_at = ? AND to_version = {OPEN}", closed
            )
        self._db.executemany(f"INSERT INTO vintages VALUES(?,?,?,?,{version},?,{OPEN},?,?,?,?,?,?,?,?)", inserted)
        if ended:
            self._db.executemany(f"DELETE FROM current {_THIS} AND from_version = {version}", ended)
            self._db.executemany(f"UPDATE current SET to_version = {version} {_THIS} AND to_version = {OPEN}", ended)
        self._db.executemany(f"INSERT INTO current VALUES(?,?,?,{version},{OPEN},?,?,?,?,?,?,?,?)", shown)
        self._count(series, cells, inserted, len(closed))
        return changed

    @staticmethod
    def _row(series: Handle, period: int, vintage: Vintage, identifier: str) -> tuple[Any, ...]:
        return (
            series.topic, period, series.number, vintage.known, vintage.payload,
            vintage.value, vintage.text, vintage.flags, vintage.released, vintage.ingested, vintage.note, vintage.lineage,
            hash_of(identifier),
        )  # fmt: skip

    @staticmethod
    def _shown(series: Handle, period: int, v: Vintage, identifier: str) -> tuple[Any, ...]:
        return (
            series.topic, period, series.number, v.known, v.released, v.ingested, v.flags, v.lineage,
            value_part(v.value, v.text).encode(),
            row_part(identifier, period, v.known, v.flags, v.released, v.ingested).encode(),
            extra_part(v.flags, v.released, v.note).encode(),
        )  # fmt: skip

    def _count(self, series: Handle, cells: int, inserted: Sequence[tuple[Any, ...]], closed: int) -> None:
        """Keep the series' figures as rows come and go; only what may have shrunk is looked up."""
        place = (series.topic, series.number)
        ends = f"FROM current WHERE topic = ? AND series = ? AND to_version = {OPEN}"
        self._db.execute(
            f"UPDATE series SET rows = rows + ?, vintages = vintages + ?,"
            f" first_period = (SELECT period {ends} ORDER BY period LIMIT 1),"
            f" last_period = (SELECT period {ends} AND flags & {FORECAST} = 0 ORDER BY period DESC LIMIT 1)"
            f" WHERE series = ?",
            (cells, len(inserted) - closed, *place, *place, series.number),
        )
        if closed:
            bounds: Any = self._db.execute(
                f"SELECT min(known_at), max(known_at) FROM vintages WHERE topic = ? AND series = ? AND to_version = {OPEN}",
                place,
            ).fetchone()
            self._db.execute(
                "UPDATE series SET first_known = ?, last_known = ? WHERE series = ?", (*bounds, series.number)
            )
        elif inserted:
            low, high = min(row[3] for row in inserted), max(row[3] for row in inserted)
            self._db.execute(
                "UPDATE series SET first_known = min(coalesce(first_known, ?1), ?1), last_known = max(coalesce(last_known, ?2), ?2)"
                " WHERE series = ?3",
                (low, high, series.number),
            )


_OPEN_ROWS = (
    "SELECT period, known_at, value, text, flags, released_at, ingested_at, payload, note, lineage FROM vintages"
    f" WHERE topic = ? AND period BETWEEN ? AND ? AND series = ? AND to_version = {OPEN} ORDER BY period, known_at"
)
_NUMBERS = (
    "SELECT period, known_at, coalesce(value, 9e999), coalesce(released_at, ?), ingested_at, flags FROM vintages"
    f" WHERE topic = ? AND period BETWEEN ? AND ? AND series = ? AND to_version = {OPEN} ORDER BY period, known_at"
)
_THIS = "WHERE topic = ? AND period = ? AND series = ?"


def hash_of(identifier: str) -> int:
    """A 60-bit number for an observation id, from its first twelve base32 characters."""
    pair = PAIR_VALUES
    value = 0
    for place in range(4, 16, 2):
        value = value << 10 | pair[identifier[place : place + 2]]
    return value
