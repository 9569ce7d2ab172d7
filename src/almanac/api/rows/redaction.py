"""What every row passes on its way out: rights, freshness, lineage; then the bytes."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Iterable
from datetime import date
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from cachetools import LRUCache

from almanac.api.contract.endpoint import Context
from almanac.api.contract.params import day_of
from almanac.domain.fragments import END, SeriesParts, filled, masked
from almanac.domain.times import DAY_SECONDS
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.rows import ObservationRow
from almanac.store.observations.reading.series_info import SeriesInfo, SeriesRights

_FRESHNESS = {status: f'"{status}"'.encode() for status in ("fresh", "stale", "unknown")}


#: The series of a row and the lineage of its own, from which its wrapping follows; and its own parts.
_BY_SERIES, _MARKED = attrgetter("series.number", "lineage"), attrgetter("marked")


class _Wrapping(NamedTuple):
    """What is the same for all rows of a series: whether values are withheld, its parts, and a digest of them."""

    withheld: bool
    parts: SeriesParts
    digest: bytes


#: Redactions that are kept of one view, and the series that each remembers: some 1 KB each.
_REDACTIONS = 16
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
        """Return what tells the redaction of a request from any other of the same state: version, `as_of` as asked, and day."""
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

    def page(self, rows: Iterable[ObservationRow], *, lineage: bool) -> tuple[bytes, bytes]:
        """
        Rows as JSON objects with commas between, neighbours of one series rendered at once; and what their bytes follow from.

        The second is shorter, and tells apart any two pages that the same question may bring, in one epoch of the store: an ETag
        is made of it.
        """
        pieces: list[bytes] = []
        validator: list[bytes] = []
        for (number, own), some in groupby(rows, key=_BY_SERIES):
            wrapping = self._wrapping(number, own, lineage)
            texts = list(map(_MARKED, some))
            if wrapping.withheld:
                texts = list(map(masked, texts))
            text = END.join(texts)
            pieces.append(filled(text, len(texts), wrapping.parts))
            validator += (wrapping.digest, text)
        return b",".join(pieces), b"".join(validator)

    def row(self, row: ObservationRow, *, lineage: bool) -> bytes:
        wrapping = self._wrapping(row.series.number, row.lineage, lineage)
        text = row.marked
        if wrapping.withheld:
            text = masked(text)
        return filled(text, 1, wrapping.parts)

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


def redaction_of(ctx: Context) -> Redaction:
    """
    Find or make the redaction of a request: freshness is judged at its `as_of`, else at the moment its walk is pinned to.

    It is kept with the view, whose thread alone may read with it.
    """
    kept: LRUCache[tuple[int, int | None, int], Redaction] | None = ctx.view.own.get("redactions")
    if kept is None:
        kept = ctx.view.own["redactions"] = LRUCache(_REDACTIONS)
    asked, key = ctx.params.get("as_of"), Redaction.key(ctx)
    redaction = kept.get(key)
    if redaction is None:
        redaction = kept[key] = Redaction(ctx.view, ctx.version, asked, day_of(ctx.at if asked is None else asked))
    return redaction
