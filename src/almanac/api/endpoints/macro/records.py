"""Shapes of indicators, series and provenance, for the machine-readable description."""

from __future__ import annotations

from typing import Annotated, Literal

from almanac.api.contract.records import Record, RowRights
from almanac.api.rows.observation import DerivedObservation
from almanac.domain import fields
from almanac.domain.fields import Time, says
from almanac.domain.reference import INDICATOR_CATEGORIES

_FirstPeriod = Annotated[Time | None, says("Last day of its oldest period. Null: there are no values.")]
_LastPeriod = Annotated[Time | None, says("Last day of its newest period, forecasts aside. Null: there are no values.")]


class IndicatorSchema(Record):
    """A concept with one meaning everywhere."""

    id: fields.IndicatorId
    slug: Annotated[str, says("Its name in filters and paths.", "cpi_inflation_yoy")]
    name: Annotated[str, says("Its name for people.", "Consumer price inflation")]
    description: Annotated[str, says("What it measures, and how.")]
    category: Annotated[str, says("Its subject.", enum=INDICATOR_CATEGORIES)]
    kind: Annotated[Literal["raw", "derived"], says("Published by a source, or computed here by a formula.")]
    unit: Annotated[
        str | None,
        says(
            "What its values count. Null: its series differ in it (each has its own, or its own currency), or it is a score."
        ),
    ]
    currency: Annotated[
        str | None,
        says("ISO 4217 code of the currency of `unit`. Null: it is no money, or each series has its own.", "USD"),
    ]
    unit_label: Annotated[str | None, says("The unit in words. Null: its series differ in it.", "%")]
    frequencies: Annotated[list[fields.FrequencyWord], says("Frequencies that there are values of.")]
    seasonal_adjustment: Annotated[str | None, says("SA or NSA, if part of its meaning. Null: its series say.", "NSA")]
    formula: Annotated[str | None, says("How it is computed. Null: it is published.")]
    inputs: Annotated[list[str], says("Ids of the indicators it is computed from; empty for a raw one.")]
    preferred_providers: Annotated[list[str], says("Ids of providers, the one whose values are preferred first.")]
    aliases: Annotated[list[str], says("Other names that filters take, publishers' own among them.")]
    screenable: Annotated[bool, says("Whether a screener's filter may name it.")]
    series_count: Annotated[int, says("How many series have values of it.")]
    entity_count: Annotated[int, says("How many entities have values of it.")]
    first_period: _FirstPeriod
    last_period: _LastPeriod


class SeriesSchema(Record):
    """One indicator of one entity at one frequency from one source."""

    id: fields.SeriesId
    indicator_id: fields.IndicatorId
    entity_id: fields.EntityId
    source_id: fields.SourceId
    provider_id: fields.ProviderId
    native_id: Annotated[str, says("The publisher's own code of the series; of a computed one the indicator's slug.")]
    name: Annotated[str, says("What the series is, in words.")]
    frequency: fields.FrequencyWord
    unit: fields.Unit
    currency: fields.Currency
    preferred: Annotated[bool, says("Whether its rows come first among the sources of the same indicator and entity.")]
    first_period: _FirstPeriod
    last_period: Annotated[Time | None, says("Last day of its newest period. Null: it has no values now.")]
    observation_count: Annotated[int, says("How many periods have a value now.")]
    vintage_count: Annotated[int, says("How many published states of its periods are kept.")]
    vintages_from: Annotated[Time | None, says("The oldest knowledge time among them. Null: there are none.")]
    last_observed_at: Annotated[Time | None, says("The newest knowledge time among them. Null: there are none.")]
    freshness_status: fields.FreshnessStatus
    rights: Annotated[RowRights, says("What may be done with its values.")]


class DerivedIndicatorEntity(Record):
    """An entity that a derived indicator has data for."""

    entity_id: fields.EntityId
    name: Annotated[str, says("Name of the entity.")]


class ProvenanceInput(Record):
    """One input of a derived value, as known when the value was. Its unit is that of its series."""

    observation_id: fields.ObservationId
    series_id: fields.SeriesId
    period_start: fields.PeriodStart
    period_end: fields.PeriodEnd
    observed_at: fields.ObservedAt
    value_numeric: Annotated[float | None, says("The value, in its series' unit. Null: a text, none, not shown.")]
    value_text: Annotated[str | None, says("The value of an indicator of words. Null: a number, none, or not shown.")]
    value_withheld: Annotated[bool, says("True: the value is not shown.")]
    reason: Annotated[str | None, says("Its rights, or `outside_plan_history` (before the plan's). Null: shown.")]


class ProvenancePayload(Record):
    """The raw response a value was read from."""

    sha256: Annotated[str, says("Hash of its bytes, in hexadecimal.")]
    url: Annotated[fields.Uri, says("The address it was fetched from, without keys.")]
    fetched_at: Annotated[Time, says("When it was fetched.")]
    media_type: Annotated[str, says("Its content type.", "application/xml")]
    bytes: Annotated[int, says("Its length in bytes.")]


class ProvenanceRun(Record):
    """The run that took a payload in."""

    id: Annotated[str, says("Id of the run.")]
    started_at: Annotated[Time, says("When it began.")]
    finished_at: Annotated[Time | None, says("When it ended. Null: it has not, or was cut off.")]
    connector: Annotated[str, says("The connector that read the payload.", "us-treasury")]
    version: Annotated[int, says("Version of that connector.")]


class Provenance(Record):
    """Where one observation comes from, down to the raw bytes."""

    observation: Annotated[DerivedObservation, says("The observation itself.")]
    vintages: Annotated[list[DerivedObservation], says("All known states of its cell, oldest first.")]
    formula: Annotated[str | None, says("How it is computed. Null: it is published.")]
    inputs: Annotated[list[ProvenanceInput], says("What it was computed from; empty for a published value.")]
    payload: Annotated[ProvenancePayload | None, says("The response it was read from. Null: computed, or withheld.")]
    run: Annotated[ProvenanceRun | None, says("The run that took the response in. Null: it is computed here.")]
    verified: Annotated[bool | None, says("Whether it comes out equal when computed again. Null: published or hidden.")]
