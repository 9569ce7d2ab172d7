"""Shapes of providers, sources, countries and names of entities, for the machine-readable description."""

from __future__ import annotations

from typing import Annotated, Literal

from almanac.api.contract.records import Record
from almanac.domain import fields
from almanac.domain.fields import Time, says

#: Schemes of names that are found, beside those of entities' own.
_Found = Annotated[
    Literal["name", "former_name", "iso2", "iso3", "ticker", "cik", "lei", "slug", "other", "native"],
    says("What kind of name that is: `native` is a publisher's code of a series of the entity. Null: as above."),
]
_Scheme = Annotated[
    Literal["name", "former_name", "iso2", "iso3", "ticker", "cik", "lei", "slug", "other"],
    says("What kind of name it is."),
]


class AliasSchema(Record):
    """One name of an entity."""

    entity_id: fields.EntityId
    alias: Annotated[str, says("The name.", "America")]
    scheme: _Scheme
    primary: Annotated[bool, says("Whether it is the main one of its kind.")]
    valid_from: Annotated[Time | None, says("First day it is known to have been used. Null: not stated.")]
    valid_to: Annotated[Time | None, says("Last day it is known to have been used. Null: not stated.")]
    source_id: Annotated[fields.SourceId | None, says("Source that states it. Null: it is the catalogue's.")]


class Candidate(Record):
    """An entity that a name may mean, with the name of it that was found."""

    entity_id: Annotated[fields.EntityId | None, says("The entity. Null: several fit as well, see the candidates.")]
    type: Annotated[Literal["country", "region", "company"] | None, says("What kind of entity it is. Null: as above.")]
    name: Annotated[str | None, says("Name of the entity. Null: as above.")]
    slug: Annotated[str | None, says("Its name in filters and paths. Null: as above.", "united-states")]
    matched_alias: Annotated[str | None, says("The name of it that was found. Null: as above.")]
    scheme: _Found | None
    match: Annotated[
        Literal["exact", "normalized", "fuzzy"],
        says("`exact`: letter by letter; `normalized`: but for case, accents and legal forms; `fuzzy`: by likeness."),
    ]
    confidence: Annotated[float, says("How sure it is that this one is meant, 0 to 1.")]


class Resolved(Candidate):
    """What a name means. `confidence` is of the first candidate."""

    candidates: Annotated[list[Candidate], says("At most five that it may mean, the best first.")]


class Country(Record):
    """A country or region."""

    id: fields.EntityId
    slug: Annotated[str, says("Its name in filters and paths.", "united-states")]
    name: Annotated[str, says("Its name.", "United States")]
    iso_alpha2: Annotated[str | None, says("ISO 3166-1 code of two letters. Null: it has none.", "US")]
    iso_alpha3: Annotated[str | None, says("ISO 3166-1 code of three letters. Null: it has none.", "USA")]
    kind: Annotated[Literal["country", "region"], says("A country, or several together.")]
    region: Annotated[str | None, says("Region by the World Bank. Null: none.", "North America")]
    income_group: Annotated[str | None, says("Income group by the World Bank. Null: none.", "High income")]
    currency: Annotated[str | None, says("ISO 4217 code, what `local_currency` is. Null: none of its own.", "USD")]
    aliases: Annotated[list[str], says("Other names, former ones too.")]
    indicator_count: Annotated[int, says("How many indicators have values of it.")]
    rates_scope: Annotated[bool, says("Whether /rates has it as a scope.")]
    freshness_status: Annotated[
        Literal["fresh", "stale", "unknown"],
        says(
            "`fresh` where at least half of its indicators are, those aside that their publishers ended; else `stale`."
        ),
    ]


class ProviderSchema(Record):
    """A publisher."""

    id: fields.ProviderId
    name: Annotated[str, says("Its name.")]
    kind: Annotated[
        Literal["central_bank", "statistics_office", "treasury", "regulator", "multilateral", "service"],
        says("What kind of body it is."),
    ]
    country: Annotated[str | None, says("Id of its country or region. Null: it has none.", "country_usa")]
    homepage: Annotated[fields.UriReference, says("Its web site; `/` of what is made here.")]
    source_ids: Annotated[list[str], says("Ids of its sources.")]
    attribution: Annotated[str, says("What to write beside its values when showing them.")]


class SourceRights(Record):
    """What a source's terms say."""

    exposure: fields.Exposure
    redistributable: Annotated[bool, says("Whether its values may be passed on.")]
    reason: Annotated[str | None, says("Why its values are withheld. Null: they are not.")]
    license: Annotated[str, says("The terms it is published under, by name.")]
    license_class: fields.LicenseClass
    attribution: Annotated[str, says("What to write beside its values when showing them.")]
    commercial_use: Annotated[str, says("What the terms say of commercial use.", "yes")]
    derivatives_allowed: Annotated[bool, says("Whether values computed from it may be passed on, though it may not.")]
    modification_rule: Annotated[str | None, says("What must be said of changed values. Null: nothing.")]
    terms_url: Annotated[fields.Uri | None, says("Where the terms are. Null: nowhere public.")]
    terms_read_on: Annotated[fields.Day | None, says("The day on which they were read. Null: not recorded.")]
    consent: Annotated[dict[str, str] | None, says("The consent on record: `by`, `on`, `reference`. Null: none.")]


class SourceSchema(Record):
    """One feed of a provider, with one licence."""

    id: fields.SourceId
    provider_id: fields.ProviderId
    name: Annotated[str, says("Its name.")]
    description: Annotated[str, says("What it holds.")]
    homepage: Annotated[fields.UriReference, says("Its page for people; `/` of what is made here.")]
    license: Annotated[str, says("The terms it is published under, by name.")]
    attribution: Annotated[str, says("What to write beside its values when showing them.")]
    rights: Annotated[SourceRights, says("What its terms say.")]
    frequencies: Annotated[list[fields.FrequencyWord], says("Frequencies of its series.")]
    stores_vintages: Annotated[bool, says("Whether the feed itself gives former states, with their times.")]
    series_count: Annotated[int, says("How many of its series have values.")]
    first_period: Annotated[Time | None, says("Last day of its oldest period. Null: it has no values.")]
    last_period: Annotated[Time | None, says("Last day of its newest period, forecasts aside. Null: it has no values.")]
    last_ingested_at: Annotated[Time | None, says("When something new of it was taken in last. Null: never.")]
    last_success_at: Annotated[Time | None, says("When it was read without an error last. Null: never.")]
    health: Annotated[
        Literal["ok", "late", "failing", "never_run"],
        says(
            "`late`: longer unread, or older, than it should be; `failing`: the last attempts failed, or the newest answer is set aside."
        ),
    ]
    freshness_status: fields.FreshnessStatus
