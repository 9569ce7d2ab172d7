"""Shapes of events and release summaries, for the machine-readable description."""

from __future__ import annotations

from typing import Annotated

import msgspec

from almanac.api.contract.records import Record, RowRights
from almanac.domain import fields
from almanac.domain.events import Category, Precision, ServedStatus
from almanac.domain.fields import Time, says


class EventSchema(Record):
    """
    Something official that was or will be made public, as known from `observedAt`.

    Its numbers are null where there are none, where they may not be shown, and of a period that ends before the plan's
    window.
    """

    id: Annotated[str, says("Id of the event, which stays the same when it is moved.")]
    category: Annotated[Category, says("What kind of event it is.")]
    type: Annotated[str, says("Which release, form or action it is.", "consumer_prices", "10-K")]
    title: Annotated[str, says("What it is, in words.")]
    status: Annotated[
        ServedStatus,
        says(
            "Where it stands, as known at the moment asked. `unknown`: it was announced for a day that is past, and nothing "
            "says that it happened."
        ),
    ]
    occurred_at: Annotated[Time, says("When it happens; the first second of the day where `timePrecision` is day.")]
    time_precision: Annotated[Precision, says("Whether the time is known to the minute or to the day.")]
    time_zone: Annotated[str, says("IANA name of the zone the source states the time in.", "America/New_York")]
    entity_id: Annotated[fields.EntityId | None, says("The country, region or company it is about. Null: none.")]
    country: Annotated[str | None, says("Id of its country, a company's domicile. Null: unknown.", "country_usa")]
    indicator_id: Annotated[fields.IndicatorId | None, says("The indicator that is released. Null: it releases none.")]
    period: Annotated[str | None, says("The period it is about. Null: none.", "2026-10", "2026-Q3")]
    actual: Annotated[float | None, says("The first print, in `unit`, which stays for ever. Null: none, or not shown.")]
    revised_actual: Annotated[float | None, says("The first print as it is now. Null: it is the same, or not shown.")]
    previous: Annotated[
        float | None,
        says(
            "The period before, in `unit`, as it stood before the release, of one to come as it stands; of daily data the "
            "last day before, within ten. Null: none, or not shown."
        ),
    ]
    revised_previous: Annotated[float | None, says("The period before as it is now. Null: the same, or not shown.")]
    unit: Annotated[str | None, says("What the numbers count. Null: there are none.", "percent")]
    currency: fields.Currency
    form: Annotated[str | None, says("Form of a company's filing. Null: it is none.", "10-Q")]
    accession: Annotated[str | None, says("Accession number of that filing. Null: it is none.")]
    url: Annotated[fields.Uri | None, says("Where it is announced or filed. Null: not known.")]
    source_id: fields.SourceId
    provider_id: fields.ProviderId
    observed_at: fields.ObservedAt
    rights: Annotated[RowRights, says("What may be done with its numbers.")]


class ReleaseReading(Record):
    """One measure of a release, as known when it was out."""

    indicator_id: fields.IndicatorId
    unit: fields.Unit
    currency: fields.Currency
    actual: Annotated[float | None, says("What was released, in `unit`. Null: withheld, or none.")]
    previous: Annotated[float | None, says("The period before, in `unit`, as it stood before the release. Null: none.")]
    revised_previous: Annotated[float | None, says("What this release made of it, in `unit`. Null: nothing else.")]
    change: Annotated[float | None, says("`actual` less the period before as revised, in `unit`. Null: unknown.")]
    z_score_10y: Annotated[
        float | None,
        says(
            "How many standard deviations `actual` lies from the mean of the ten years before. Null: a number with a "
            "trend, or they are not all there or not reached."
        ),
    ] = msgspec.field(name="zScore10y")
    percentile_10y: Annotated[float | None, says("Its place among those ten years, 0 to 100. Null: as the score.")] = (
        msgspec.field(name="percentile10y")
    )
    observation_id: fields.ObservationId
    rights: Annotated[RowRights, says("What may be done with its numbers.")]


class ReleaseSummary(Record):
    """What one publication said, beside what was known before."""

    id: Annotated[str, says("Id of the summary: that of its event, with `rls_` in front.")]
    release: Annotated[str, says("Which release it is, the `type` of its event.", "consumer_prices")]
    name: Annotated[str, says("Name of the release.")]
    country: Annotated[str | None, says("Id of the country or region. Null: none in particular.", "country_usa")]
    entity_id: fields.EntityId
    period: Annotated[str, says("The period it is about.", "2026-10")]
    period_end: fields.PeriodEnd
    released_at: Annotated[Time, says("When it was out: the `occurredAt` of its event.")]
    observed_at: fields.ObservedAt
    source_id: fields.SourceId
    provider_id: fields.ProviderId
    headline: Annotated[str, says("What it said, in one sentence made by rule.")]
    readings: Annotated[list[ReleaseReading], says("What it said, measure by measure.")]
