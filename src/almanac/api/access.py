"""The one exit every row leaves by: rights, the plan's window, freshness; then the bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from almanac.api.endpoint import Context
from almanac.api.params import day_of
from almanac.store.covered import cover
from almanac.store.directory import SeriesInfo, SeriesRights
from almanac.store.fragments import HEAD, MASKED
from almanac.store.pages import Found
from almanac.store.reading import Row, View

_MASKED = MASKED.encode()
_FRESHNESS = {status: f'"{status}"'.encode() for status in ("fresh", "stale", "unknown")}


class Exit:
    """Renders rows as this request may see them. One per request."""

    def __init__(self, view: View, version: int, asked_as_of: int | None, today: date) -> None:
        self._view = view
        self._version = version
        self._as_of = asked_as_of
        self._today = today
        self._fresh: dict[int, str] = {}
        self._wrappings: dict[tuple[int, int], tuple[bytes, bytes, bytes, bytes, bytes]] = {}

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
        names, masked, unit, tail, end = self._wrapping(row.series.number, row.lineage, lineage=lineage)
        frag = row.frag
        head = self._covered(row.series.number, row.period, row.known) if masked else frag[:HEAD]
        return b"".join((head, names, masked or row.val, unit, frag[HEAD:], tail, row.extra, end[:-1]))

    def _covered(self, series: int, period: int, known: int) -> bytes:
        return b'{"id":"%s"' % cover(self._view.directory.series(series).id, period, known).encode()

    def joined(self, found: Sequence[Found], *, lineage: bool) -> tuple[bytes, bytes]:
        """Rows as the database gave them, as JSON objects with commas between, and what their bytes follow from.

        The first is what `rows` would give, joined. The second is a third as long and tells any two such pages apart:
        an ETag is made of it.
        """
        parts: list[bytes] = []
        seal: list[bytes] = []
        held = self._wrappings
        before = None
        names = masked = unit = tail = end = b""
        for _, period, number, own, known, val, frag, extra, *_ in found:
            if (number, own) != before:
                before = (number, own)
                wrapping = held.get(before)
                if wrapping is None:
                    wrapping = held[before] = self._wrapping(number, own, lineage=lineage)
                names, masked, unit, tail, end = wrapping
                seal += wrapping
            if masked:
                head, val = self._covered(number, period, known), masked
            else:
                head = frag[:HEAD]
            rest = frag[HEAD:]
            parts += (head, names, val, unit, rest, tail, extra, end)
            seal += (head, val, rest, extra)
        if parts:
            parts[-1] = parts[-1][:-1]
        return b"".join(parts), b"".join(seal)

    def _wrapping(self, number: int, own: int, *, lineage: bool) -> tuple[bytes, bytes, bytes, bytes, bytes]:
        """What is the same for all rows of a series here: between head and value, a mask or nothing, and so on to the end."""
        directory = self._view.directory
        series = directory.series(number)
        rights = directory.row_rights(series, own)
        tail = series.tail + rights.credit + _FRESHNESS[self.freshness(series)] + series.metadata
        names = series.names + (self._lineage(series, own) if lineage else b"")
        return names, _MASKED if rights.withheld else b"", series.unit, tail, rights.encoded + b","

    def _lineage(self, series: SeriesInfo, own: int) -> bytes:
        if not own:
            return series.derived_from
        names = self._view.directory.lineage(own)
        return b',"derivedFrom":[' + b",".join(b'"%s"' % name.encode() for name in names) + b"]"
