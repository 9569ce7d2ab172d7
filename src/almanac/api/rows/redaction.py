"""What every row passes on its way out: rights, freshness, lineage; then the bytes."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from almanac.api.contract.endpoint import Context
from almanac.domain.fragments import END, MASKED, SeriesParts, filled, masked
from almanac.domain.times import DAY_SECONDS
from almanac.store.observations.reading.pages import LINEAGE, MARKED, SERIES, PageRow
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.rows import ObservationRow
from almanac.store.observations.reading.runs import Run
from almanac.store.observations.reading.series_info import SeriesInfo, SeriesRights

_OF_SERIES = itemgetter(SERIES, LINEAGE)
_FRESHNESS = {status: f'"{status}"'.encode() for status in ("fresh", "stale", "unknown")}


def _series_of(row: ObservationRow) -> tuple[int, int]:
    """The series of a row and the lineage of its own: what its wrapping follows from."""
    return row.series.number, row.lineage


class _Wrapping(NamedTuple):
    """What is the same for all rows of a series: whether values are withheld, its parts, and a digest of them."""

    withheld: bool
    parts: SeriesParts
    digest: bytes


#: Series that a redaction remembers: some 1 KB each.
_SERIES_HELD = 1_024


class Redaction:
    """Renders rows as they may be seen of one state of the store, on one day."""

    def __init__(self, view: View, version: int, asked_as_of: int | None, today: date) -> None:
        #: Weakly: what is remembered of a state must not keep the state itself.
        self._view = weakref.ref(view)
        self._directory = view.directory
        self._version = version
        self._as_of = asked_as_of
        self._today = today
        self._fresh: dict[int, str] = {}
        self._wrappings: dict[tuple[int, int, bool], _Wrapping] = {}

    @staticmethod
    def key(ctx: Context) -> tuple[int, int | None, int]:
        """What tells the redaction of a request from any other of the same state: version, `as_of` as asked, and day."""
        asked = ctx.params.get("as_of")
        return (ctx.version, asked, (ctx.at if asked is None else asked) // DAY_SECONDS)

    def freshness(self, series: SeriesInfo) -> str:
        found = self._fresh.get(series.number)
        if found is None:
            if len(self._fresh) >= _SERIES_HELD:
                self._fresh.clear()
            view = self._view()
            if view is None:
                raise RuntimeError("the state of the store that these rows are of is closed")
            found = self._fresh[series.number] = view.freshness(series, self._version, self._as_of, self._today)
        return found

    def rights(self, row: ObservationRow) -> SeriesRights:
        return self._directory.row_rights(row.series, row.lineage)

    def rows(self, rows: Iterable[ObservationRow], *, lineage: bool) -> list[bytes]:
        """Each row as a JSON object. `lineage`: with `derivedFrom`, the 21st field."""
        return [self.row(row, lineage=lineage) for row in rows]

    def page(self, rows: Iterable[ObservationRow], *, lineage: bool) -> bytes:
        """Render rows as JSON objects with commas between; neighbours of one series are rendered at once."""
        pieces = []
        for (number, own), some in groupby(rows, key=_series_of):
            wrapping = self._wrapping(number, own, lineage)
            if wrapping.withheld:
                texts = [masked(row.marked) for row in some]
            else:
                texts = [row.marked for row in some]
            pieces.append(filled(END.join(texts), len(texts), wrapping.parts))
        return b",".join(pieces)

    def row(self, row: ObservationRow, *, lineage: bool) -> bytes:
        wrapping = self._wrapping(row.series.number, row.lineage, lineage)
        text = row.marked
        if wrapping.withheld:
            text = masked(text)
        return filled(text, 1, wrapping.parts)

    def found(self, found: Sequence[PageRow], *, lineage: bool) -> tuple[bytes, bytes]:
        """Rows as the database gave them, as JSON objects with commas between; and what their bytes follow from, see `runs`."""
        return self.runs(
            [self._run(number, own, rows) for (number, own), rows in groupby(found, key=_OF_SERIES)], lineage=lineage
        )

    def _run(self, number: int, own: int, rows: Iterable[PageRow]) -> Run:
        """Neighbouring rows of one series, as this request may see them."""
        directory = self._directory
        if directory.row_rights(directory.series(number), own).withheld:
            texts = [masked(row[MARKED]) for row in rows]
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
        validator: list[bytes] = []
        for number, own, count, text, told in runs:
            withheld, parts, digest = self._wrapping(number, own, lineage)
            if withheld and text.count(MASKED) != count:
                raise RuntimeError(f"values of {self._directory.series(number).id} were about to be sent")
            pieces.append(filled(text, count, parts))
            validator += (digest, told)
        return b",".join(pieces), b"".join(validator)

    def _wrapping(self, number: int, own: int, lineage: bool) -> _Wrapping:
        held = self._wrappings.get((number, own, lineage))
        if held is None:
            directory = self._directory
            series = directory.series(number)
            rights = directory.row_rights(series, own)
            parts = (
                series.id_part.encode(),
                series.names + (self._lineage(series, own) if lineage else b""),
                series.unit,
                series.tail + rights.credit + _FRESHNESS[self.freshness(series)] + directory.row_metadata(series, own),
                rights.encoded,
            )
            if len(self._wrappings) >= _SERIES_HELD:
                self._wrappings.clear()
            digest = hashlib.blake2b(b"\0".join(parts), digest_size=16).digest()
            held = self._wrappings[number, own, lineage] = _Wrapping(rights.withheld, SeriesParts.of(*parts), digest)
        return held

    def _lineage(self, series: SeriesInfo, own: int) -> bytes:
        if not own:
            return series.derived_from
        names = self._directory.lineage(own)
        return b',"derivedFrom":[' + b",".join(b'"%s"' % name.encode() for name in names) + b"]"
