"""Shapes of observations, indicators and series, for the machine-readable description."""

from __future__ import annotations

from typing import Any, Literal

from almanac.api.contract.records import Freshness, Record, RowRights, Time


class Observation(Record):
    """A value of a series for a reference period, as known from a moment."""

    id: str
    entity_id: str
    indicator_id: str
    source_id: str
    provider_id: str
    value_numeric: float | None
    value_text: str | None
    unit: str | None
    frequency: str
    period_start: Time | None
    period_end: Time | None
    observed_at: Time
    released_at: Time | None
    ingested_at: Time
    revision_status: Literal["initial", "revised", "final", "unknown"]
    source_url: str | None
    attribution: str
    freshness_status: Freshness
    metadata: dict[str, Any]
    rights: RowRights


class DerivedObservation(Observation):
    """The same, with the ids of the series it was computed from."""

    derived_from: list[str]


class IndicatorSchema(Record):
    """A concept with one meaning everywhere."""

    id: str
    slug: str
    name: str
    description: str
    category: str
    kind: Literal["raw", "derived"]
    unit: str | None
    unit_label: str | None
    frequencies: list[str]
    seasonal_adjustment: str | None
    formula: str | None
    inputs: list[str]
    preferred_providers: list[str]
    aliases: list[str]
    screenable: bool
    series_count: int
    entity_count: int
    first_period: Time | None
    last_period: Time | None


class SeriesSchema(Record):
    """One indicator of one entity at one frequency from one source."""

    id: str
    indicator_id: str
    entity_id: str
    source_id: str
    provider_id: str
    native_id: str
    name: str
    frequency: str
    unit: str | None
    preferred: bool
    first_period: Time | None
    last_period: Time | None
    observation_count: int
    vintage_count: int
    vintages_from: Time | None
    last_observed_at: Time | None
    freshness_status: Freshness
    rights: RowRights


class DerivedIndicatorEntity(Record):
    """An entity that a derived indicator has data for."""

    entity_id: str
    name: str


class ProvenanceInput(Record):
    """One input of a derived value, as known when the value was."""

    observation_id: str
    series_id: str
    period_start: Time | None
    period_end: Time
    observed_at: Time
    value_numeric: float | None
    value_text: str | None
    value_withheld: bool
    reason: str | None


class ProvenancePayload(Record):
    """The raw response a value was read from."""

    sha256: str
    url: str
    fetched_at: Time
    media_type: str
    bytes: int


class ProvenanceRun(Record):
    """The run that took a payload in."""

    id: str
    started_at: Time
    finished_at: Time | None
    connector: str
    version: int


class Provenance(Record):
    """Where one observation comes from, down to the raw bytes."""

    observation: DerivedObservation
    vintages: list[DerivedObservation]
    formula: str | None
    inputs: list[ProvenanceInput]
    payload: ProvenancePayload | None
    run: ProvenanceRun | None
    verified: bool | None
