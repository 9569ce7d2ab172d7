"""The one exit of observations: rights, freshness and lineage of every row, then its JSON; and rights that stand beside other rows."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from almanac.api.contract.endpoint import Context, ListAnswer
from almanac.api.contract.params import day_of
from almanac.api.contract.records import FiscalPart, Record, RowRights
from almanac.domain import fields
from almanac.domain.fields import Time, says
from almanac.domain.numbers import plain
from almanac.domain.observations import DAY, FORECAST, PROJECTION, QUALITY, quality, status
from almanac.domain.periods import Period, end_of
from almanac.domain.rights import Exposure, effective
from almanac.domain.times import wire_day, wire_time
from almanac.store.observations.ids import known_part, period_part
from almanac.store.observations.reading.metadata import RowOrigin, SeriesInfo, SeriesRights
from almanac.store.observations.reading.pages import ObservationRow
from almanac.store.observations.reading.query import LINEAGE, SERIES, Found
from almanac.store.observations.reading.reader import View


class ObservationMetadata(Record):
    """Details of a row beyond its fields. A key that does not apply is absent; others may come."""

    series_id: fields.SeriesId
    native_id: Annotated[str | UnsetType, says("The publisher's own code of the series.", "BC_10YEAR")] = UNSET
    currency: Annotated[str | UnsetType, says("ISO 4217 code of the currency of `unit`.", "USD")] = UNSET
    scale: Annotated[int | UnsetType, says("Power of ten that takes the value to `unit`, where not 0.")] = UNSET
    seasonal_adjustment: Annotated[str | UnsetType, says("SA, NSA (not adjusted), SAAR (annual rates).", "SA")] = UNSET
    annualized: Annotated[bool | UnsetType, says("True: a flow stated as if it went on for a year.")] = UNSET
    basis: Annotated[str | UnsetType, says("What an index is 100 in.", "2015=100")] = UNSET
    price_basis: Annotated[
        str | UnsetType, says("Whose prices a volume is in: `current`, or of which year and how linked.", "current")
    ] = UNSET
    composition: Annotated[str | UnsetType, says("Who belongs to an aggregate of countries.")] = UNSET
    curve_type: fields.CurveType | UnsetType = UNSET
    compounding: fields.Compounding | UnsetType = UNSET
    discontinued: Annotated[bool | UnsetType, says("True: the publisher has ended the series.")] = UNSET
    simulated: Annotated[bool | UnsetType, says("True: invented, or computed from what is invented.")] = UNSET
    release_precision: Annotated[
        Literal["day", "instant"] | UnsetType,
        says("Whether the publisher states the release to the day (known at its last second) or to the second."),
    ] = UNSET
    forecast: Annotated[bool | UnsetType, says("True: the period began after the knowledge time.")] = UNSET
    withdrawn: Annotated[bool | UnsetType, says("True: the publisher took the value back; it has none now.")] = UNSET
    quality: Annotated[
        Literal["warning", "failed"] | UnsetType,
        says(
            "Of a company's figure: a check of the statements it rests on does not hold (`/companies/{idOrLookup}/financials` "
            "says which), or two ways to its twelve months differ (`method`); screens and scores leave failed ones out. "
            "Absent: all that apply hold."
        ),
    ] = UNSET
    dataflow: Annotated[
        str | UnsetType,
        says(
            "Of a publisher that numbers the versions of a data set (IMF): the data set and the version in which the value was first read.",
            "IMF.RES:WEO(9.0.0)",
        ),
    ] = UNSET
    flags: Annotated[list[str] | UnsetType, says("Publisher's marks on the value or its inputs.", ["p"])] = UNSET
    reason: Annotated[
        Literal["two_bases"] | UnsetType, says("Of a computed value that was withdrawn: its inputs are on two bases.")
    ] = UNSET
    footnotes: Annotated[list[str] | UnsetType, says("The publisher's remarks on the value, as first seen.")] = UNSET
    projection: Annotated[bool | UnsetType, says("True: called a projection, or computed from one.")] = UNSET
    published_at: Annotated[
        str | UnsetType,
        says(
            "When the data set was last updated by its publisher, an instant or a day: a bound, not this value's release."
        ),
    ] = UNSET
    missing_periods: Annotated[int | UnsetType, says("Periods without a value in the window it is over.")] = UNSET
    peer_count: Annotated[int | UnsetType, says("How many other countries it was compared with.")] = UNSET
    accession: Annotated[str | UnsetType, says("Accession number of the filing that states the fact.")] = UNSET
    form: Annotated[str | UnsetType, says("Form of that filing.", "10-K")] = UNSET
    inconsistent: Annotated[bool | UnsetType, says("True: the filing states two values for the fact.")] = UNSET
    fiscal_year: Annotated[
        int | UnsetType, says("Of a company's figure: the fiscal year its period is of, as the company counts.", 2024)
    ] = UNSET
    fiscal_period: Annotated[
        FiscalPart | UnsetType,
        says("Of a company's figure: which part of that fiscal year the period is, whatever the calendar's.", "Q4"),
    ] = UNSET
    method: Annotated[
        str | UnsetType,
        says(
            "Of a line that no filing states, and of twelve months: how it was come by. `ttm_mismatch`: there are two ways to "
            "the twelve months, which differ by more than rounding (`quality` is a warning then).",
            "fy_minus_9m",
        ),
    ] = UNSET


class Observation(Record, gc=False):
    """A value of a series for a reference period, as known from a moment."""

    id: fields.ObservationId
    entity_id: fields.EntityId
    indicator_id: fields.IndicatorId
    source_id: fields.SourceId
    provider_id: fields.ProviderId
    value_numeric: Annotated[float | None, says("The value. Null: a text, withdrawn, or withheld (`rights` says).")]
    value_text: Annotated[str | None, says("The value of an indicator of words. Null: it is a number, or as above.")]
    unit: fields.Unit
    frequency: fields.FrequencyWord
    period_start: fields.PeriodStart
    period_end: fields.PeriodEnd
    observed_at: fields.ObservedAt
    released_at: Annotated[Time | None, says("The publisher's release time. Null: the feed states none.")]
    ingested_at: Annotated[Time, says("When this service fetched it.")]
    revision_status: fields.Revision
    source_url: Annotated[fields.Uri | None, says("Page to check the value on. Null: it is computed here.")]
    attribution: Annotated[str, says("What to write beside the value when showing it.")]
    freshness_status: fields.FreshnessStatus
    metadata: Annotated[ObservationMetadata, says("What else applies to the row.")]
    rights: Annotated[RowRights, says("What may be done with the value.")]


class DerivedObservation(Observation, gc=False):
    """A value that was computed, with the ids of the series it was computed from."""

    derived_from: Annotated[list[str], says("Ids of the series it was computed from; empty for a published value.")]


#: Makes a row: its metadata and rights are encoded already, and `derived_from` is left out where it is UNSET.
_observation: Any = DerivedObservation
_encode = msgspec.json.Encoder().encode
_pack = msgspec.msgpack.Encoder().encode


class _RowFields:
    """Fields that rows of one series and lineage share on the wire, whenever they are asked for."""

    def __init__(self, origin: RowOrigin) -> None:
        series, spec, rights = origin.series, origin.series.spec, origin.rights
        self.series, self.withheld = series, rights.withheld
        #: What the id begins with, entity, indicator, source, provider, unit, frequency, page, attribution and inputs.
        self.texts = (
            f"obs_{series.id_part}", spec.entity, f"indicator_{spec.indicator}", series.source.id, series.source.provider,
            series.unit, spec.frequency.word, series.page, rights.attribution, origin.inputs,
        )  # fmt: skip
        self.rights = msgspec.Raw(rights.encoded)
        self._metadata = _encode(origin.stated)[:-1]
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

    def freshness(self, series: SeriesInfo) -> str:
        """Return `freshnessStatus` of a series."""
        return self.view.freshness(series, self.version, self.as_of, self.today)

    def freshness_of(self, series: Collection[SeriesInfo]) -> dict[int, str]:
        """Return `freshnessStatus` of several series, by their numbers."""
        newest = self.view.newest_periods(series, self.version, self.as_of)
        ends = {number: None if key is None else end_of(key) for number, key in newest.items()}
        return {info.number: self.view.judged(info, ends[info.number], self.as_of, self.today) for info in series}

    def observation(self, row: ObservationRow, *, lineage: bool) -> Observation:
        """Return one row as it may be seen."""
        observation: Observation = self.answer([row.found], None, lineage=lineage).rows[0]  # type: ignore[assignment]
        return observation

    def answer(self, rows: Sequence[Found], following: list[Any] | None, *, lineage: bool) -> ListAnswer:
        """
        Return a page of rows as they may be seen: a value that may not be sent is left out here, before anything is encoded.

        What the rows are made of, for the ETag, is told after that too.
        """
        observations: list[Observation] = []
        parts: list[Any] = [lineage]
        known_fields: Mapping[tuple[int, int], _RowFields] = self.view.shared.setdefault("fields of rows", {})
        origins: dict[tuple[int, int], tuple[_RowFields, str]] = {}
        last = None
        for _, _, period, series, known, released, ingested, flags, own, value, text, note in rows:
            if (series, own) != last:
                last = series, own
                if last not in origins:
                    of_pair = known_fields.get(last)
                    if of_pair is None:
                        known_fields = self._fields_of(rows)
                        of_pair = known_fields[last]
                    judged = self.view.freshness(of_pair.series, self.version, self.as_of, self.today)
                    origins[last] = of_pair, judged
                fields, freshness = origins[last]
                prefix, entity, indicator, source, provider, unit, frequency, page, attribution, inputs = fields.texts
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
            period_id, start, until = wire_period(period)
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
                until,
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

    def _fields_of(self, rows: Sequence[Found]) -> dict[tuple[int, int], _RowFields]:
        """Return what rows have from their series and lineage; what is not remembered yet is read at once."""
        remembered: dict[tuple[int, int], _RowFields] = self.view.shared["fields of rows"]
        pairs = {(row[SERIES], row[LINEAGE]) for row in rows}
        fields = {pair: of_pair for pair in pairs if (of_pair := remembered.get(pair)) is not None}
        missing = list(pairs - fields.keys())
        for pair, origin in zip(missing, self.view.directory.origins(missing), strict=True):
            if len(remembered) >= _FIELDS_HELD:
                remembered.clear()
            fields[pair] = remembered[pair] = _RowFields(origin)
        return fields


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
        stated = source.rights.reason if exposure == source.rights.exposure else None
        reason = stated or source.rights.channel_reason or source.rights.reason
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
