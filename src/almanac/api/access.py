"""The one exit every row leaves by: rights, the plan's window, freshness; then the bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from itertools import groupby
from operator import itemgetter

from almanac.api.endpoint import Context
from almanac.api.params import day_of
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


class Exit:
    """Renders rows as this request may see them. One per request."""

    def __init__(self, view: View, version: int, asked_as_of: int | None, today: date) -> None:
        self._view = view
        self._version = version
        self._as_of = asked_as_of
        self._today = today
        self._fresh: dict[int, str] = {}
        self._wrappings: dict[tuple[int, int], tuple[bytes, bool, bytes, bytes, bytes]] = {}

    @classmethod
    def of(cls, ctx: Context) -> Exit:
        """For a request: freshness is judged at its `as_of`, else at the moment its walk is pinned to."""
        asked = ctx.params.get("as_of")
        return cls(ctx.view, ctx.version, asked, day_of(ctx.at if asked is None else asked))

    def freshness(self, series: SeriesInfo) -> str:
        found = self._fresh.get(series.number)
        if found is None:
            found = self._fresh[series.number] = self._view.freshness(series, self._version, self._as_of, self._today)
        return found

    def rights(self, row: Row) -> SeriesRights:
        return self._view.directory.row_rights(row.series, row.lineage)

    def rows(self, rows: Iterable[Row], *, lineage: bool) -> list[bytes]:
        """Each row as a JSON object. `lineage`: with `derivedFrom`, the 21st field."""
        return [self.row(row, lineage=lineage) for row in rows]

    def row(self, row: Row, *, lineage: bool) -> bytes:
        names, withheld, unit, tail, end = self._wrapping(row.series.number, row.lineage, lineage=lineage)
        text = row.marked
        if withheld:
            text = masked(text, self._covered(row.series.number, row.period, row.known), _MASKED)
        return filled(text, 1, names, unit, tail, end)

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
            names, withheld, unit, tail, end = self._wrapping(number, own, lineage=lineage)
            if withheld and text.count(_WITHHELD) != count:
                raise RuntimeError(f"values of {self._view.directory.series(number).id} were about to be sent")
            pieces.append(filled(text, count, names, unit, tail, end))
            seal += (names, unit, tail, end, told)
        return b",".join(pieces), b"".join(seal)

    def _wrapping(self, number: int, own: int, *, lineage: bool) -> tuple[bytes, bool, bytes, bytes, bytes]:
        """What is the same for all rows of a series here: after the head, whether values are withheld, and so on to the end."""
        held = self._wrappings.get((number, own))
        if held is None:
            directory = self._view.directory
            series = directory.series(number)
            rights = directory.row_rights(series, own)
            tail = series.tail + rights.credit + _FRESHNESS[self.freshness(series)] + series.metadata
            names = series.names + (self._lineage(series, own) if lineage else b"")
            held = self._wrappings[number, own] = (names, rights.withheld, series.unit, tail, rights.encoded)
        return held

    def _lineage(self, series: SeriesInfo, own: int) -> bytes:
        if not own:
            return series.derived_from
        names = self._view.directory.lineage(own)
        return b',"derivedFrom":[' + b",".join(b'"%s"' % name.encode() for name in names) + b"]"
