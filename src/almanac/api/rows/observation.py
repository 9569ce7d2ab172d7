"""Observations as they leave: the shape that their JSON is written from, and their columns and description are read from."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, UnsetType

from almanac.api.contract.records import FiscalPart, Record, RowRights
from almanac.domain import fields
from almanac.domain.fields import Time, says


class ObservationMetadata(Record):
    """What applies to a row beyond its fields. A key that does not apply is absent; others may come."""

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

    derived_from: Annotated[
        tuple[str, ...], says("Ids of the series it was computed from; empty for a published value.")
    ]
