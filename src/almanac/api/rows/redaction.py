"""The one exit of observations: rights, freshness and lineage of every row, then its JSON; and rights that stand beside other rows."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any

import msgspec

from almanac.api.contract.endpoint import Context, ListAnswer
from almanac.api.contract.params import day_of
from almanac.api.contract.records import RowRights
from almanac.api.rows.observation import DerivedObservation, Observation
from almanac.domain.numbers import plain
from almanac.domain.observations import DAY, FORECAST, PROJECTION, QUALITY, quality, status
from almanac.domain.periods import Period
from almanac.domain.rights import Exposure, effective
from almanac.domain.times import DAY_SECONDS, wire_day, wire_time
from almanac.store.observations.ids import known_part, period_part
from almanac.store.observations.reading.metadata import MetadataCache, SeriesInfo, SeriesRights
from almanac.store.observations.reading.pages import ObservationRow
from almanac.store.observations.reading.reader import View

#: Makes a row: its metadata and rights are encoded already, and `derived_from` is left out where it is UNSET.
_observation: Any = DerivedObservation
_encode = msgspec.json.Encoder().encode
_pack = msgspec.msgpack.Encoder().encode


class _RowFields:
    """Fields that rows of one series and lineage share on the wire, whenever they are asked for."""

    def __init__(self, directory: MetadataCache, series: SeriesInfo, lineage: int) -> None:
        spec, rights = series.spec, directory.row_rights(series, lineage)
        self.withheld = rights.withheld
        #: What the id begins with, entity, indicator, source, provider, inputs, unit, frequency, page and attribution.
        self.texts = (
            f"obs_{series.id_part}", spec.entity, f"indicator_{spec.indicator}", series.source.id, series.source.provider,
            directory.lineage(lineage) if lineage else series.inputs, series.unit, spec.frequency.word, series.page, rights.attribution,
        )  # fmt: skip
        self.rights = msgspec.Raw(rights.encoded)
        self._metadata = _encode(directory.row_metadata(series, lineage))[:-1]
        #: A digest of all these, for ETags.
        self.digest = hashlib.sha256(_encode((*self.texts, rights.encoded, self._metadata))).digest()
        #: Revision status and metadata of rows, and a digest of these, by what they follow from.
        self.ends: dict[tuple[int, str | None, bool, bool], tuple[str, msgspec.Raw, bytes]] = {}

    def end(self, flags: int, note: str | None, unreleased: bool, withdrawn: bool) -> tuple[str, msgspec.Raw, bytes]:
        """Make and remember `revisionStatus` and `metadata` of a row, and a digest of both."""
        # Something of the series is always there for these to follow.
        more = metadata_of_row(flags, note, unreleased, withdrawn)
        revision, metadata = status(flags), b",".join([self._metadata, *more]) + b"}"
        end = revision, msgspec.Raw(metadata), hashlib.sha256(revision.encode() + metadata).digest()[:_DIGEST_BYTES]
        if len(self.ends) >= _ENDS_HELD:
            self.ends.clear()
        self.ends[flags, note, unreleased, withdrawn] = end
        return end


def metadata_of_row(flags: int, note: str | None, unreleased: bool, withdrawn: bool) -> list[bytes]:
    """Return the members of `metadata` that a row has of its own, as parts of a JSON object."""
    objects = (_metadata_beside_note(flags, unreleased, withdrawn), (note or "").encode())
    return [text[1:-1] for text in objects if len(text) > len("{}")]


@lru_cache(maxsize=4_096)
def _metadata_beside_note(flags: int, unreleased: bool, withdrawn: bool) -> bytes:
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
    return _encode(own)


#: Of how many series and lineages the fields are remembered, some 1 KB each; and of each how many ends of rows.
_FIELDS_HELD, _ENDS_HELD = 2_048, 256
#: Of a digest, as many bytes as tell the few ends of a series apart.
_DIGEST_BYTES = 16


@dataclass
class Redaction:
    """Renders rows as they may be seen of one state of the store, on one day."""

    view: View
    version: int
    as_of: int | None
    today: date
    #: By the numbers of series and lineage; with `freshnessStatus`.
    _fields: dict[tuple[int, int], tuple[_RowFields, str]] = field(default_factory=dict)

    @staticmethod
    def key(ctx: Context) -> tuple[int, int | None, int]:
        """Return what tells the redaction of a request from any other of the same state: version, `as_of` as asked, and day."""
        asked = ctx.params.get("as_of")
        return (ctx.version, asked, (ctx.at if asked is None else asked) // DAY_SECONDS)

    def freshness(self, series: SeriesInfo) -> str:
        """Return `freshnessStatus` of a series."""
        return self.view.freshness(series, self.version, self.as_of, self.today)

    def freshness_of(self, series: Collection[SeriesInfo]) -> dict[int, str]:
        """Return `freshnessStatus` of several series, by their numbers."""
        newest = self.view.newest_periods(series, self.version, self.as_of)
        return {info.number: self.view.judged(info, newest[info.number], self.as_of, self.today) for info in series}

    def rights(self, row: ObservationRow) -> SeriesRights:
        """Return the rights of a row."""
        return self.view.directory.row_rights(row.series, row.lineage)

    def observation(self, row: ObservationRow, *, lineage: bool) -> Observation:
        """Return one row as it may be seen."""
        observation: Observation = self.answer([row], None, lineage=lineage).rows[0]  # type: ignore[assignment]
        return observation

    def answer(self, rows: Iterable[ObservationRow], following: list[Any] | None, *, lineage: bool) -> ListAnswer:
        """
        Return a page of rows as they may be seen: a value that may not be sent is left out here, before anything is encoded.

        What the rows are made of, for the ETag, is told after that too.
        """
        observations: list[Observation] = []
        parts: list[Any] = [lineage]
        last_series, last_own = None, -1
        for series, period, known, released, ingested, flags, own, value, text, note in rows:
            if series is not last_series or own != last_own:
                last_series, last_own = series, own
                fields, freshness = self._fields.get((series.number, own)) or self._fields_of(series, own)
                prefix, entity, indicator, source, provider, inputs, unit, frequency, page, attribution = fields.texts
                ends, withheld, rights = fields.ends, fields.withheld, fields.rights
                derived_from = inputs if lineage else msgspec.UNSET
                parts += (fields.digest, freshness)
            end = (flags, note, released is None, value is None and text is None)
            revision, metadata, digest = ends.get(end) or fields.end(*end)
            if withheld:
                value = text = None
            elif value is not None and value.is_integer():
                value = plain(value)
            parts += (period, known, released, ingested, value, text, digest)
            period_id, start, last = wire_period(period)
            known_id, observed = wire_moment(known)
            observation = _observation(
                f"{prefix}{period_id}{known_id}",
                entity,
                indicator,
                source,
                provider,
                value,
                text,
                unit,
                frequency,
                start,
                last,
                observed,
                None if released is None else observed if released == known else wire_moment(released)[1],
                wire_moment(ingested)[1],
                revision,
                page,
                attribution,
                freshness,
                metadata,
                rights,
                derived_from,
            )
            observations.append(observation)
        return ListAnswer(observations, following, parts=_pack(parts))

    def _fields_of(self, series: SeriesInfo, lineage: int) -> tuple[_RowFields, str]:
        key = (series.number, lineage)
        known: dict[tuple[int, int], _RowFields] = self.view.shared.setdefault("fields of rows", {})
        fields = known.get(key)
        if fields is None:
            fields = _RowFields(self.view.directory, series, lineage)
            if len(known) >= _FIELDS_HELD:
                known.clear()
            known[key] = fields
        freshness = self.view.freshness(series, self.version, self.as_of, self.today)
        self._fields[key] = fields, freshness
        return fields, freshness


@lru_cache(maxsize=65_536)
def wire_period(key: int) -> tuple[str, str | None, str]:
    """Return what a row says of its period: its part of the id, `periodStart` (None: an instant has none) and `periodEnd`."""
    period = Period.from_key(key)
    return period_part(key), None if period.start is None else wire_day(period.start), wire_day(period.end)


@lru_cache(maxsize=65_536)
def wire_moment(seconds: int) -> tuple[str, str]:
    """Return what a row says of a time: its part of the id, if it is the knowledge time, and the time itself. Neighbours share theirs."""
    return known_part(seconds), wire_time(seconds)


def redaction_of(ctx: Context) -> Redaction:
    """Return the redaction of a request: freshness is judged at its `as_of`, else at the moment its walk is pinned to."""
    asked = ctx.params.get("as_of")
    return Redaction(ctx.view, ctx.version, asked, day_of(ctx.at if asked is None else asked))


def of_row(rights: SeriesRights) -> RowRights:
    """Return the rights of a row, as the store knows them."""
    return _record(rights.exposure, rights.reason, rights.license, rights.license_class, rights.attribution)


def of_source(ctx: Context, name: str) -> RowRights:
    """Return the rights of a source as they are now, without tighter words of single series. A source that is not known is shut."""
    directory = ctx.view.directory
    source = directory.sources.get(name)
    if source is None:
        return _record(Exposure.blocked, f"the source '{name}' is not known any more", "unknown", "consent", "unknown")
    exposure = effective(source.rights, Exposure.public, directory.consents.get(name))
    reason = None
    if exposure is not Exposure.public:
        own = source.rights.reason if exposure == source.rights.exposure else None
        reason = own or source.rights.channel_reason or source.rights.reason
        reason = reason or f"{source.name} may not be redistributed"
    return _record(exposure, reason, source.rights.license, source.rights.asks_for, source.rights.attribution)


def _record(exposure: Exposure, reason: str | None, license_: str, license_class: str, attribution: str) -> RowRights:
    public = exposure is Exposure.public
    return RowRights(
        exposure=exposure.name,  # type: ignore[arg-type]  # the names of the enumeration are these
        redistributable=public,
        value_withheld=not public,
        reason=reason,
        license=license_,
        license_class=license_class,  # type: ignore[arg-type]  # the catalogue has these alone
        attribution=attribution,
    )
