"""Shapes of providers, sources, countries and names of entities, for the machine-readable description."""

from __future__ import annotations

from typing import Literal

from almanac.api.contract.records import Freshness, Record, Time

Scheme = Literal["name", "former_name", "iso2", "iso3", "ticker", "cik", "lei", "slug", "other"]


class AliasSchema(Record):
    """One name of an entity. `validFrom`, `validTo`: first and last day it is known to have been used; null: not stated."""

    entity_id: str
    alias: str
    scheme: Scheme
    primary: bool
    valid_from: Time | None
    valid_to: Time | None
    source_id: str | None


class Candidate(Record):
    """An entity that a name may mean, with the name of it that was found."""

    entity_id: str | None
    type: Literal["country", "region", "company"] | None
    name: str | None
    slug: str | None
    matched_alias: str | None
    scheme: Scheme | None
    match: Literal["exact", "normalized", "fuzzy"]
    confidence: float


class Resolved(Candidate):
    """
    What a name means. `entityId` is null where several entities fit as well: all of them are in `candidates`, best first.

    `confidence`, from 0 to 1, says how sure it is that the first of them is meant.
    """

    candidates: list[Candidate]


class Country(Record):
    """A country or region."""

    id: str
    slug: str
    name: str
    iso_alpha2: str | None
    iso_alpha3: str | None
    kind: Literal["country", "region"]
    region: str | None
    income_group: str | None
    currency: str | None
    aliases: list[str]
    indicator_count: int
    rates_scope: bool
    freshness_status: Freshness


class ProviderSchema(Record):
    """A publisher."""

    id: str
    name: str
    kind: Literal["central_bank", "statistics_office", "treasury", "regulator", "multilateral", "service"]
    country: str | None
    homepage: str
    source_ids: list[str]
    attribution: str


class SourceRights(Record):
    """What a source's terms say."""

    exposure: Literal["public", "internal_only", "restricted", "blocked"]
    redistributable: bool
    reason: str | None
    license: str
    attribution: str
    commercial_use: str
    derivatives_allowed: bool
    modification_rule: str | None
    terms_url: str | None
    terms_read_on: str | None
    consent: dict[str, str] | None


class SourceSchema(Record):
    """One feed of a provider, with one licence."""

    id: str
    provider_id: str
    name: str
    description: str
    homepage: str
    license: str
    attribution: str
    rights: SourceRights
    frequencies: list[str]
    stores_vintages: bool
    series_count: int
    first_period: Time | None
    last_period: Time | None
    last_ingested_at: Time | None
    last_success_at: Time | None
    health: Literal["ok", "late", "failing", "never_run"]
    freshness_status: Freshness
