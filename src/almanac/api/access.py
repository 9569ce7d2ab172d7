"""The one exit every row leaves by: rights, the plan's window, freshness; then the bytes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from almanac.api.endpoint import Context
from almanac.api.params import day_of
from almanac.store.directory import SeriesInfo, SeriesRights
from almanac.store.fragments import HEAD, MASKED
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
        series, frag = row.series, row.frag
        rights = series.rights if not row.lineage else self.rights(row)
        return b"".join(
            (
                frag[:HEAD],
                series.names,
                self._lineage(row) if lineage else b"",
                _MASKED if rights.withheld else row.val,
                series.unit,
                frag[HEAD:],
                series.tail,
                rights.credit,
                _FRESHNESS[self.freshness(series)],
                series.metadata,
                row.extra,
                rights.encoded,
            )
        )

    def _lineage(self, row: Row) -> bytes:
        if not row.lineage:
            return row.series.derived_from
        names = self._view.directory.lineage(row.lineage)
        return b',"derivedFrom":[' + b",".join(b'"%s"' % name.encode() for name in names) + b"]"
