"""The one exit every row leaves by: rights, the plan's window, freshness; then the bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from almanac.api.endpoint import Context
from almanac.api.params import DAY_SECONDS, day_of
from almanac.store.covered import cover
from almanac.store.directory import SeriesInfo, SeriesRights
from almanac.store.fragments import END, MASKED, NAMES, UNIT, filled, masked
from almanac.store.pages import KNOWN, LINEAGE, MARKED, PERIOD, SERIES, Found
from almanac.store.reading import Row, View
from almanac.store.runs import Run

_MASKED = MASKED.encode()
_WITHHELD = NAMES + _MASKED + UNIT
_OF_SERIES = itemgetter(SERIES, LINEAGE)
_FRESHNESS = {status: f'"{status}"'.encode() for status in ("fresh", "stale", "unknown")}


class _Wrapping(NamedTuple):
    """What is the same for all rows of a series: whether values are withheld, the parts by the marks they stand at, and a
    digest of the parts.
    """

    withheld: bool
    names: bytes
    unit: bytes
    tail: bytes
    end: bytes
    digest: bytes


#: Exits of one state of the store that are kept, and series that each remembers: some 1 KB each.
_EXITS, _SERIES_HELD = 16, 1_024


class Exit:
    """Renders rows as they may be seen of one state of the store, on one day."""

    def __init__(self, view: View, version: int, asked_as_of: int | None, today: date) -> None:
        self._view = view
        self._version = version
        self._as_of = asked_as_of
        self._today = today
        self._fresh: dict[int, str] = {}
        self._wrappings: dict[tuple[int, int, bool], _Wrapping] = {}

    @classmethod
    def of(cls, ctx: Context) -> Exit:
        """For a request: freshness is judged at its `as_of`, else at the moment its walk is pinned to.

        What is learnt for one request is kept for the next, for as long as the state of the store lasts.
        """
        asked, exits = ctx.params.get("as_of"), ctx.view.exits
        key = (ctx.version, asked, (ctx.at if asked is None else asked) // DAY_SECONDS)
        found: Exit | None = exits.get(key)
        if found is None:
            if len(exits) >= _EXITS:
                exits.clear()
            found = exits[key] = cls(ctx.view, ctx.version, asked, day_of(ctx.at if asked is None else asked))
        return found

    def freshness(self, series: SeriesInfo) -> str:
        found = self._fresh.get(series.number)
        if found is None:
            if len(self._fresh) >= _SERIES_HELD:
                self._fresh.clear()
            found = self._fresh[series.number] = self._view.freshness(series, self._version, self._as_of, self._today)
        return found

    def rights(self, row: Row) -> SeriesRights:
        return self._view.directory.row_rights(row.series, row.lineage)

    def rows(self, rows: Iterable[Row], *, lineage: bool) -> list[bytes]:
        """Each row as a JSON object. `lineage`: with `derivedFrom`, the 21st field."""
        return [self.row(row, lineage=lineage) for row in rows]

    def row(self, row: Row, *, lineage: bool) -> bytes:
        wrapping = self._wrapping(row.series.number, row.lineage, lineage)
        text = row.marked
        if wrapping.withheld:
            text = masked(text, self._covered(row.series.number, row.period, row.known), _MASKED)
        return filled(text, 1, *wrapping[1:5])

    def _covered(self, series: int, period: int, known: int) -> bytes:
        return b'{"id":"%s"' % cover(self._view.directory.series(series).id, period, known).encode()

    def found(self, found: Sequence[Found], *, lineage: bool) -> tuple[bytes, bytes]:
        """Rows as the database gave them, as JSON objects with commas between; and what their bytes follow from, see `runs`."""
        return self.runs(
            [self._run(number, own, rows) for (number, own), rows in groupby(found, key=_OF_SERIES)], lineage=lineage
        )

    def _run(self, number: int, own: int, rows: Iterable[Found]) -> Run:
        """Neighbouring rows of one series, as this request may see them."""
        directory = self._view.directory
        if directory.row_rights(directory.series(number), own).withheld:
            texts = [masked(row[MARKED], self._covered(number, row[PERIOD], row[KNOWN]), _MASKED) for row in rows]
        else:
            texts = [row[MARKED] for row in rows]
        text = END.join(texts)
        return Run(number, own, len(texts), text, text)

    def runs(self, runs: Iterable[Run], *, lineage: bool) -> tuple[bytes, bytes]:
        """Runs of rows as JSON objects with commas between, and what their bytes follow from.

        The first is what `rows` would give, joined. The second is short and tells apart any two pages that the same
        question may bring, in one epoch of the store: an ETag is made of it. Values that may not be sent are the
        caller's to mask; a run that has one is refused.
        """
        pieces: list[bytes] = []
        seal: list[bytes] = []
        for number, own, count, text, told in runs:
            withheld, names, unit, tail, end, digest = self._wrapping(number, own, lineage)
            if withheld and text.count(_WITHHELD) != count:
                raise RuntimeError(f"values of {self._view.directory.series(number).id} were about to be sent")
            pieces.append(filled(text, count, names, unit, tail, end))
            seal += (digest, told)
        return b",".join(pieces), b"".join(seal)

    def _wrapping(self, number: int, own: int, lineage: bool) -> _Wrapping:
        held = self._wrappings.get((number, own, lineage))
        if held is None:
            directory = self._view.directory
            series = directory.series(number)
            rights = directory.row_rights(series, own)
            parts = (
                series.names + (self._lineage(series, own) if lineage else b""),
                series.unit,
                series.tail + rights.credit + _FRESHNESS[self.freshness(series)] + series.metadata,
                rights.encoded,
            )
            if len(self._wrappings) >= _SERIES_HELD:
                self._wrappings.clear()
            digest = hashlib.blake2b(b"\0".join(parts), digest_size=16).digest()
            held = self._wrappings[number, own, lineage] = _Wrapping(rights.withheld, *parts, digest)
        return held

    def _lineage(self, series: SeriesInfo, own: int) -> bytes:
        if not own:
            return series.derived_from
        names = self._view.directory.lineage(own)
        return b',"derivedFrom":[' + b",".join(b'"%s"' % name.encode() for name in names) + b"]"
