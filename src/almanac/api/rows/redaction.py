"""The one exit of observations: rights, freshness and lineage of every row, then its JSON."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from datetime import date
from typing import Any

import msgspec
from cachetools import LRUCache

from almanac.api.contract.endpoint import Context
from almanac.api.contract.params import day_of
from almanac.domain.numbers import plain
from almanac.domain.observations import DAY, FORECAST, PROJECTION, QUALITY, quality, status
from almanac.domain.periods import wire_period
from almanac.domain.times import DAY_SECONDS, cached_wire_time
from almanac.store.observations.ids import known_part, period_part
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.rows import ObservationRow
from almanac.store.observations.reading.series_info import SeriesInfo, SeriesRights

_encode = msgspec.json.Encoder().encode


class Observation(msgspec.Struct, rename="camel", gc=False):
    """A row on the wire: the 20 fields of the interface in their order, `derived_from` among them where it is asked for."""

    id: str
    entity_id: str
    indicator_id: str
    source_id: str
    provider_id: str
    derived_from: tuple[str, ...] | msgspec.UnsetType
    value_numeric: float | None
    value_text: str | None
    unit: str | None
    frequency: str
    period_start: str | None
    period_end: str
    observed_at: str
    released_at: str | None
    ingested_at: str
    revision_status: str
    source_url: str | None
    attribution: str
    freshness_status: str
    metadata: msgspec.Raw
    rights: msgspec.Raw


class _Shared:
    """Fields that rows of one series and lineage share on the wire."""

    def __init__(
        self,
        series: SeriesInfo,
        rights: SeriesRights,
        freshness: str,
        metadata: dict[str, Any],
        inputs: tuple[str, ...],
    ) -> None:
        spec = series.spec
        self.withheld = rights.withheld
        self.id = f"obs_{series.id_part}"
        self.names = (spec.entity, f"indicator_{spec.indicator}", series.source.id, series.source.provider)
        self.inputs = inputs
        self.unit, self.frequency, self.page = series.unit, spec.frequency.word, series.page
        self.attribution, self.freshness = rights.attribution, freshness
        self.rights = msgspec.Raw(rights.encoded)
        self._metadata = _encode(metadata)[:-1]
        #: Metadata and revision status of rows by what they follow from.
        self.ends: dict[tuple[int, str | None, bool, bool], tuple[str, msgspec.Raw]] = {}

    def end(self, flags: int, note: str | None, unreleased: bool, withdrawn: bool) -> tuple[str, msgspec.Raw]:
        """Make and remember `revisionStatus` and `metadata` of a row."""
        own: dict[str, Any] = {}
        if not unreleased:
            own["releasePrecision"] = "day" if flags & DAY else "instant"
        if flags & FORECAST:
            own["forecast"] = True
        if flags & PROJECTION:
            own["projection"] = True
        if withdrawn:
            own["withdrawn"] = True
        elif flags & QUALITY:
            own["quality"] = quality(flags)
        # Something of the series is always there for these to follow.
        more = [text[1:-1] for text in (_encode(own), (note or "").encode()) if len(text) > len("{}")]
        metadata = msgspec.Raw(b",".join([self._metadata, *more]) + b"}")
        if len(self.ends) >= _SERIES_HELD:
            self.ends.clear()
        revision = status(flags)
        self.ends[flags, note, unreleased, withdrawn] = revision, metadata
        return revision, metadata


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
        self._shared: dict[tuple[int, int], _Shared] = {}

    @staticmethod
    def key(ctx: Context) -> tuple[int, int | None, int]:
        """Return what tells the redaction of a request from any other of the same state: version, `as_of` as asked, and day."""
        asked = ctx.params.get("as_of")
        return (ctx.version, asked, (ctx.at if asked is None else asked) // DAY_SECONDS)

    def freshness(self, series: SeriesInfo) -> str:
        """Return `freshnessStatus` of a series."""
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
        """Return the rights of a row."""
        return self._directory.row_rights(row.series, row.lineage)

    def page(self, rows: Iterable[ObservationRow], *, lineage: bool) -> list[Observation]:
        """Return rows as they may be seen. `lineage`: with `derivedFrom`, the 21st field."""
        return [self.observation(row, lineage=lineage) for row in rows]

    def rows(self, rows: Iterable[ObservationRow], *, lineage: bool) -> list[bytes]:
        """Return each row as a JSON object."""
        return [_encode(self.observation(row, lineage=lineage)) for row in rows]

    def observation(self, row: ObservationRow, *, lineage: bool) -> Observation:
        """Return a row as it may be seen: a value that may not be sent is left out here, before anything is encoded."""
        series, period, known, released, ingested, flags, own, value, text, note = row
        shared = self._shared.get((series.number, own)) or self._share(series, own)
        key = (flags, note, released is None, value is None and text is None)
        revision, metadata = shared.ends.get(key) or shared.end(*key)
        if shared.withheld:
            value = text = None
        entity, indicator, source, provider = shared.names
        start, end = wire_period(period)
        observed = cached_wire_time(known)
        return Observation(
            f"{shared.id}{period_part(period)}{known_part(known)}",
            entity,
            indicator,
            source,
            provider,
            shared.inputs if lineage else msgspec.UNSET,
            None if value is None else plain(value),
            text,
            shared.unit,
            shared.frequency,
            start,
            end,
            observed,
            None if released is None else observed if released == known else cached_wire_time(released),
            cached_wire_time(ingested),
            revision,
            shared.page,
            shared.attribution,
            shared.freshness,
            metadata,
            shared.rights,
        )

    def _share(self, series: SeriesInfo, own: int) -> _Shared:
        directory = self._directory
        rights = directory.row_rights(series, own)
        inputs = directory.lineage(own) if own else series.inputs
        if len(self._shared) >= _SERIES_HELD:
            self._shared.clear()
        shared = _Shared(series, rights, self.freshness(series), directory.row_metadata(series, own), inputs)
        self._shared[series.number, own] = shared
        return shared


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
