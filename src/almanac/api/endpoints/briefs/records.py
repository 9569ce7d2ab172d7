"""The shape of a brief, for the machine-readable description."""

from __future__ import annotations

from typing import Annotated, Literal

from almanac.api.contract.records import Record, RowRights
from almanac.api.endpoints.calendar.records import EventSchema, ReleaseSummary
from almanac.domain import fields
from almanac.domain.fields import says


class BriefReading(Record):
    """The latest reading of one indicator, beside its past and its peers. Numbers are null where it is withheld."""

    indicator_id: fields.IndicatorId
    name: Annotated[str, says("Name of the indicator.")]
    value: Annotated[float | None, says("The latest reading, in `unit`. Null: withheld.")]
    unit: fields.Unit
    currency: fields.Currency
    period_end: fields.PeriodEnd
    previous: Annotated[float | None, says("The period before, in `unit`; of daily data a day within ten. Null: none.")]
    change: Annotated[float | None, says("`value` less `previous`, in `unit` (percentage points). Null: no previous.")]
    percentile10y: Annotated[
        float | None,
        says(
            "Mid-rank among the ten years before it, 0 to 100, as in `/release-summaries`. Null: a number with a trend, or "
            "they are not all there or not reached."
        ),
    ]
    peer_rank: Annotated[int | None, says("Place among countries with a fresh public value, 1 the top. Null: none.")]
    peer_count: Annotated[int | None, says("How many countries that are, itself one of them. Null: not ranked.")]
    freshness_status: fields.FreshnessStatus
    series_id: fields.SeriesId
    rights: Annotated[RowRights, says("What may be done with its numbers.")]


class BriefSection(Record):
    """One subject: what is to be said, and the readings it is said from."""

    key: Annotated[
        Literal["growth", "inflation", "labor", "rates", "external", "fiscal"], says("The subject, for programs.")
    ]
    title: Annotated[str, says("The subject, for people.")]
    text: Annotated[str, says("Sentences made by rule; each number is one of the readings, rounded, or of a date.")]
    readings: Annotated[list[BriefReading], says("What they are made from.")]


class Brief(Record):
    """A country in words."""

    entity_id: fields.EntityId
    name: Annotated[str, says("Name of the country or region.")]
    country: Annotated[str, says("Its ISO code: three letters, where it has them; EUR for the euro area.", "USA")]
    as_of: fields.AsOf
    headline: Annotated[str, says("The brief in one or two sentences, made by rule from its readings.")]
    sections: Annotated[list[BriefSection], says("Subject by subject.")]
    upcoming_events: Annotated[list[EventSchema], says("Releases and decisions that come next, the next one first.")]
    recent_releases: Annotated[list[ReleaseSummary], says("What was released of late, the newest first.")]
    derived_from: Annotated[list[str], says("Ids of the series of all readings.")]
