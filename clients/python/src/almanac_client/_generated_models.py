"""Records and operations of the interface, as types.

Made by `make docs` from what the service declares: change it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field

from almanac_client._operations import Operation

if TYPE_CHECKING:
    CurveType = Literal["par", "spot", "benchmark", "bill", "unknown"]
    Compounding = Literal["semi_annual", "annual", "continuous", "simple", "unknown"]
    ReleasePrecision = Literal["day", "instant"]
    Quality = Literal["warning", "failed"]
    Reason = Literal["two_bases"]
    FiscalPeriod = Literal["FY", "Q1", "Q2", "Q3", "Q4", "H1", "H2"]
    Exposure = Literal["public", "internal_only", "restricted", "blocked"]
    LicenseClass = Literal["open", "attribution", "non-commercial", "consent"]
    Frequency = Literal["annual", "semiannual", "quarterly", "nine_months", "monthly", "weekly", "daily"]
    RevisionStatus = Literal["initial", "revised", "final", "unknown"]
    FreshnessStatus = Literal["fresh", "stale", "unknown"]
    Category = Literal[
        "inflation",
        "labor",
        "growth",
        "housing",
        "external",
        "income",
        "consumption",
        "rates",
        "money",
        "credit",
        "fiscal",
        "sentiment",
        "demographics",
        "fx",
        "commodities",
        "fundamentals",
    ]
    Kind = Literal["raw", "derived"]
    CountryKind = Literal["country", "region"]
    Type = Literal["country", "region", "company"]
    Scheme = Literal["name", "former_name", "iso2", "iso3", "ticker", "cik", "lei", "slug", "other", "native"]
    Match = Literal["exact", "normalized", "fuzzy"]
    AliasScheme = Literal["name", "former_name", "iso2", "iso3", "ticker", "cik", "lei", "slug", "other"]
    KeyFigureQuality = Literal["ok", "warning", "failed"]
    Basis = Literal["industry", "industry, revenue_ttm"]
    Status = Literal["passed", "failed", "not_applicable", "withheld"]
    StatementQualityStatus = Literal["ok", "warning", "failed", "withheld"]
    StatementFrequency = Literal["annual", "semiannual", "quarterly"]
    StatementBasis = Literal["reported", "derived", "mixed"]
    Tenor = Literal["2y", "5y", "10y", "30y"]
    Scope = Literal["AUS", "CAN", "CHE", "EUR", "GBR", "JPN", "USA"]
    Excluded = Literal["stale"]
    Name = Literal["2s10s", "5s30s"]
    Key = Literal["growth", "inflation", "labor", "rates", "external", "fiscal"]
    EventCategory = Literal[
        "macro_release",
        "central_bank",
        "issuer_filing",
        "issuer_disclosure",
        "regulator_notice",
        "corporate_action",
        "other",
    ]
    EventStatus = Literal["scheduled", "released", "revised", "rescheduled", "canceled", "tentative", "unknown"]
    TimePrecision = Literal["minute", "day"]
    ScreenerFieldType = Literal["number", "text"]
    Operators = Literal["gt", "lt", "gte", "lte", "eq", "in"]
    Health = Literal["ok", "late", "failing", "never_run"]
    ProviderKind = Literal["central_bank", "statistics_office", "treasury", "regulator", "multilateral", "service"]
else:
    # At run time any word is read: a later version may know more of them.
    CurveType = str
    Compounding = str
    ReleasePrecision = str
    Quality = str
    Reason = str
    FiscalPeriod = str
    Exposure = str
    LicenseClass = str
    Frequency = str
    RevisionStatus = str
    FreshnessStatus = str
    Category = str
    Kind = str
    CountryKind = str
    Type = str
    Scheme = str
    Match = str
    AliasScheme = str
    KeyFigureQuality = str
    Basis = str
    Status = str
    StatementQualityStatus = str
    StatementFrequency = str
    StatementBasis = str
    Tenor = str
    Scope = str
    Excluded = str
    Name = str
    Key = str
    EventCategory = str
    EventStatus = str
    TimePrecision = str
    ScreenerFieldType = str
    Operators = str
    Health = str
    ProviderKind = str

SortChoice = Literal["topic", "period_start", "period_end", "observed_at", "released_at", "ingested_at"]
LicenseChoice = Literal["open", "attribution", "non-commercial", "consent"]
FrequencyChoice = Literal[
    "A", "S", "Q", "M", "W", "D", "annual", "semiannual", "quarterly", "monthly", "weekly", "daily"
]
SourcesChoice = Literal["preferred", "all"]
OrderChoice = Literal["asc", "desc"]
KindChoice = Literal["raw", "derived"]
FreshnessChoice = Literal["fresh", "stale", "unknown"]
ObservationsVintagesSortChoice = Literal["topic", "observed_at"]
CategoryChoice = Literal[
    "inflation",
    "labor",
    "growth",
    "housing",
    "external",
    "income",
    "consumption",
    "rates",
    "money",
    "credit",
    "fiscal",
    "sentiment",
    "demographics",
    "fx",
    "commodities",
    "fundamentals",
]
IndicatorsListSortChoice = Literal["id", "relevance"]
TypeChoice = Literal["country", "region", "company"]
SchemeChoice = Literal["name", "former_name", "iso2", "iso3", "ticker", "cik", "lei", "slug", "other", "native"]
CompaniesListSortChoice = Literal[
    "name",
    "ticker",
    "score",
    "profitability",
    "growth",
    "strength",
    "efficiency",
    "quality",
    "piotroski_f",
    "altman_z2",
]
CompaniesFinancialsFrequencyChoice = Literal["annual", "quarterly"]
ScreenerScreenFreshnessChoice = Literal["fresh"]
QualityChoice = Literal["ok", "all"]
EventsListCategoryChoice = Literal[
    "macro_release",
    "central_bank",
    "issuer_filing",
    "issuer_disclosure",
    "regulator_notice",
    "corporate_action",
    "other",
]
StatusChoice = Literal["scheduled", "released", "revised", "rescheduled", "canceled", "tentative", "unknown"]
EventsListSortChoice = Literal["occurred_at"]


class ObservationMetadata(Struct, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """Details of a row beyond its fields. A key that does not apply is absent; others may come."""

    #: Id of the series: source, entity, indicator, frequency.
    series_id: str
    #: The publisher's own code of the series.
    native_id: str | None = None
    #: ISO 4217 code of the currency of `unit`.
    currency: str | None = None
    #: Power of ten that takes the value to `unit`, where not 0.
    scale: int | None = None
    #: SA, NSA (not adjusted), SAAR (annual rates).
    seasonal_adjustment: str | None = None
    #: True: a flow stated as if it went on for a year.
    annualized: bool | None = None
    #: What an index is 100 in.
    basis: str | None = None
    #: Whose prices a volume is in: `current`, or of which year and how linked.
    price_basis: str | None = None
    #: Who belongs to an aggregate of countries.
    composition: str | None = None
    #: What kind of curve or bond the yield is read from.
    curve_type: CurveType | None = None
    #: How the yield is compounded.
    compounding: Compounding | None = None
    #: True: the publisher has ended the series.
    discontinued: bool | None = None
    #: True: invented, or computed from what is invented.
    simulated: bool | None = None
    #: Whether the publisher states the release to the day (known at its last second) or to the second.
    release_precision: ReleasePrecision | None = None
    #: True: the period began after the knowledge time.
    forecast: bool | None = None
    #: True: the publisher took the value back; it has none now.
    withdrawn: bool | None = None
    #: Of a company's figure: a check of the statements it rests on does not hold (`/companies/{idOrLookup}/financials` says which), or two ways to its twelve months differ (`method`); screens and scores leave failed ones out. Absent: all that apply hold.
    quality: Quality | None = None
    #: Of a publisher that numbers the versions of a data set (IMF): the data set and the version in which the value was first read.
    dataflow: str | None = None
    #: Publisher's marks on the value or its inputs.
    flags: list[str] | None = None
    #: Of a computed value that was withdrawn: its inputs are on two bases.
    reason: Reason | None = None
    #: The publisher's remarks on the value, as first seen.
    footnotes: list[str] | None = None
    #: True: called a projection, or computed from one.
    projection: bool | None = None
    #: When the data set was last updated by its publisher, an instant or a day: a bound, not this value's release.
    published_at: str | None = None
    #: Periods without a value in the window it is over.
    missing_periods: int | None = None
    #: How many other countries it was compared with.
    peer_count: int | None = None
    #: Accession number of the filing that states the fact.
    accession: str | None = None
    #: Form of that filing.
    form: str | None = None
    #: True: the filing states two values for the fact.
    inconsistent: bool | None = None
    #: Of a company's figure: the fiscal year its period is of, as the company counts.
    fiscal_year: int | None = None
    #: Of a company's figure: which part of that fiscal year the period is, whatever the calendar's.
    fiscal_period: FiscalPeriod | None = None
    #: Of a line that no filing states, and of twelve months: how it was come by. `ttm_mismatch`: there are two ways to the twelve months, which differ by more than rounding (`quality` is a warning then).
    method: str | None = None


class RowRights(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """What may be done with a row's value."""

    #: Who may see the values; only `public` ones are sent.
    exposure: Exposure
    #: Whether the value may be passed on.
    redistributable: bool
    #: True: there is a value, and it is not sent.
    value_withheld: bool
    #: Why the value is withheld. Null: it is not.
    reason: str | None = None
    #: The terms it is published under, by name.
    license: str
    #: What the terms of the source ask for: nothing, its name, that it is not for money, or the owner's consent.
    license_class: LicenseClass
    #: What to write beside the value when showing it.
    attribution: str


class Observation(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A value of a series for a reference period, as known from a moment."""

    #: Id of the observation: made from its content, so that the same value keeps its id; of a row whose value may not be sent from its place alone.
    id: str
    #: Id of the country, region or company.
    entity_id: str
    #: Id of the indicator.
    indicator_id: str
    #: Id of the source, a feed of one provider under one licence.
    source_id: str
    #: Id of the provider, who publishes.
    provider_id: str
    #: The value. Null: a text, withdrawn, or withheld (`rights` says).
    value_numeric: float | None = None
    #: The value of an indicator of words. Null: it is a number, or as above.
    value_text: str | None = None
    #: What the numbers count: `percent`, `percentage_points`, `index`, `usd_billions`, of companies' money the ISO code (`usd`, `eur_per_share`). Null: a score, which has none.
    unit: str | None = None
    #: How often there is a value.
    frequency: Frequency
    #: First day of the period the number is about. Null: it is about one moment, the end (a balance sheet's).
    period_start: datetime | None = None
    #: Last day of the period the number is about.
    period_end: datetime
    #: Knowledge time: from when on it could be known. `as_of` compares with it.
    observed_at: datetime
    #: The publisher's release time. Null: the feed states none.
    released_at: datetime | None = None
    #: When this service fetched it.
    ingested_at: datetime
    #: `initial`: the first published state; `revised`: a later one; `final`: the publisher says so; `unknown`: the feed does not tell.
    revision_status: RevisionStatus
    #: Page to check the value on. Null: it is computed here.
    source_url: str | None = None
    #: What to write beside the value when showing it.
    attribution: str
    #: Whether the newest period of the series ended within the allowance of its frequency, of a policy rate whether its source was read within it: `fresh`, `stale`, or `unknown` where that cannot be judged.
    freshness_status: FreshnessStatus
    #: What else applies to the row.
    metadata: ObservationMetadata
    #: What may be done with the value.
    rights: RowRights


class DerivedObservation(Observation, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A value that was computed, with the ids of the series it was computed from."""

    #: Ids of the series it was computed from; empty for a published value.
    derived_from: list[str]


class ProvenanceInput(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """One input of a derived value, as known when the value was. Its unit is that of its series."""

    #: Id of the observation: made from its content, so that the same value keeps its id; of a row whose value may not be sent from its place alone.
    observation_id: str
    #: Id of the series: source, entity, indicator, frequency.
    series_id: str
    #: First day of the period the number is about. Null: it is about one moment, the end (a balance sheet's).
    period_start: datetime | None = None
    #: Last day of the period the number is about.
    period_end: datetime
    #: Knowledge time: from when on it could be known. `as_of` compares with it.
    observed_at: datetime
    #: The value, in its series' unit. Null: a text, none, not shown.
    value_numeric: float | None = None
    #: The value of an indicator of words. Null: a number, none, or not shown.
    value_text: str | None = None
    #: True: the value is not shown.
    value_withheld: bool
    #: Its rights, or `outside_plan_history` (before the plan's). Null: shown.
    reason: str | None = None


class ProvenancePayload(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The raw response a value was read from."""

    #: Hash of its bytes, in hexadecimal.
    sha256: str
    #: The address it was fetched from, without keys.
    url: str
    #: When it was fetched.
    fetched_at: datetime
    #: Its content type.
    media_type: str
    #: Its length in bytes.
    bytes: int


class ProvenanceRun(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The run that took a payload in."""

    #: Id of the run.
    id: str
    #: When it began.
    started_at: datetime
    #: When it ended. Null: it has not, or was cut off.
    finished_at: datetime | None = None
    #: The connector that read the payload.
    connector: str
    #: Version of that connector.
    version: int


class Provenance(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Provenance of one observation, down to the raw bytes."""

    #: The observation itself.
    observation: DerivedObservation
    #: All known states of its cell, oldest first.
    vintages: list[DerivedObservation]
    #: How it is computed. Null: it is published.
    formula: str | None = None
    #: What it was computed from; empty for a published value.
    inputs: list[ProvenanceInput]
    #: The response it was read from. Null: computed, or withheld.
    payload: ProvenancePayload | None = None
    #: The run that took the response in. Null: it is computed here.
    run: ProvenanceRun | None = None
    #: Whether it comes out equal when computed again. Null: published or hidden.
    verified: bool | None = None


class Indicator(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A concept with one meaning everywhere."""

    #: Id of the indicator.
    id: str
    #: Its name in filters and paths.
    slug: str
    #: Its name for people.
    name: str
    #: What it measures, and how.
    description: str
    #: Its subject.
    category: Category
    #: Published by a source, or computed here by a formula.
    kind: Kind
    #: What its values count. Null: its series differ in it (each has its own, or its own currency), or it is a score.
    unit: str | None = None
    #: ISO 4217 code of the currency of `unit`. Null: it is no money, or each series has its own.
    currency: str | None = None
    #: The unit in words. Null: its series differ in it.
    unit_label: str | None = None
    #: Frequencies that there are values of.
    frequencies: list[Frequency]
    #: SA or NSA, if part of its meaning. Null: its series say.
    seasonal_adjustment: str | None = None
    #: How it is computed. Null: it is published.
    formula: str | None = None
    #: Ids of the indicators it is computed from; empty for a raw one.
    inputs: list[str]
    #: Ids of providers, the one whose values are preferred first.
    preferred_providers: list[str]
    #: Other names that filters take, publishers' own among them.
    aliases: list[str]
    #: Whether a screener's filter may name it.
    screenable: bool
    #: How many series have values of it.
    series_count: int
    #: How many entities have values of it.
    entity_count: int
    #: Last day of its oldest period. Null: there are no values.
    first_period: datetime | None = None
    #: Last day of its newest period, forecasts aside. Null: there are no values.
    last_period: datetime | None = None


class Series(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """One indicator of one entity at one frequency from one source."""

    #: Id of the series: source, entity, indicator, frequency.
    id: str
    #: Id of the indicator.
    indicator_id: str
    #: Id of the country, region or company.
    entity_id: str
    #: Id of the source, a feed of one provider under one licence.
    source_id: str
    #: Id of the provider, who publishes.
    provider_id: str
    #: The publisher's own code of the series; of a computed one the indicator's slug.
    native_id: str
    #: What the series is, in words.
    name: str
    #: How often there is a value.
    frequency: Frequency
    #: What the numbers count: `percent`, `percentage_points`, `index`, `usd_billions`, of companies' money the ISO code (`usd`, `eur_per_share`). Null: a score, which has none.
    unit: str | None = None
    #: ISO 4217 code of the currency that the unit counts in. Null: the unit is no money.
    currency: str | None = None
    #: Whether its rows come first among the sources of the same indicator and entity.
    preferred: bool
    #: Last day of its oldest period. Null: there are no values.
    first_period: datetime | None = None
    #: Last day of its newest period. Null: it has no values now.
    last_period: datetime | None = None
    #: How many periods have a value now.
    observation_count: int
    #: How many published states of its periods are kept.
    vintage_count: int
    #: The oldest knowledge time among them. Null: there are none.
    vintages_from: datetime | None = None
    #: The newest knowledge time among them. Null: there are none.
    last_observed_at: datetime | None = None
    #: Whether the newest period of the series ended within the allowance of its frequency, of a policy rate whether its source was read within it: `fresh`, `stale`, or `unknown` where that cannot be judged.
    freshness_status: FreshnessStatus
    #: What may be done with its values.
    rights: RowRights


class DerivedIndicatorEntity(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """An entity that a derived indicator has data for."""

    #: Id of the country, region or company.
    entity_id: str
    #: Name of the entity.
    name: str


class Country(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A country or region."""

    #: Id of the country, region or company.
    id: str
    #: Its name in filters and paths.
    slug: str
    #: Its name.
    name: str
    #: ISO 3166-1 code of two letters. Null: it has none.
    iso_alpha2: str | None = None
    #: ISO 3166-1 code of three letters. Null: it has none.
    iso_alpha3: str | None = None
    #: A country, or several together.
    kind: CountryKind
    #: Region by the World Bank. Null: none.
    region: str | None = None
    #: Income group by the World Bank. Null: none.
    income_group: str | None = None
    #: ISO 4217 code, what `local_currency` is. Null: none of its own.
    currency: str | None = None
    #: Other names, former ones too.
    aliases: list[str]
    #: How many indicators have values of it.
    indicator_count: int
    #: Whether /rates has it as a scope.
    rates_scope: bool
    #: `fresh` where at least half of its indicators are, those aside that their publishers ended; else `stale`.
    freshness_status: FreshnessStatus


class Candidate(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """An entity that a name may mean, with the name of it that was found."""

    #: The entity. Null: several fit as well, see the candidates.
    entity_id: str | None = None
    #: What kind of entity it is. Null: as above.
    type: Type | None = None
    #: Name of the entity. Null: as above.
    name: str | None = None
    #: Its name in filters and paths. Null: as above.
    slug: str | None = None
    #: The name of it that was found. Null: as above.
    matched_alias: str | None = None
    #: What kind of name that is: `native` is a publisher's code of a series of the entity. Null: as above.
    scheme: Scheme | None = None
    #: `exact`: letter by letter; `normalized`: but for case, accents and legal forms; `fuzzy`: by likeness.
    match: Match
    #: How sure it is that this one is meant, 0 to 1.
    confidence: float


class Resolved(Candidate, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Meaning of a name. `confidence` is of the first candidate."""

    #: At most five that it may mean, the best first.
    candidates: list[Candidate]


class Alias(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """One name of an entity."""

    #: Id of the country, region or company.
    entity_id: str
    #: The name.
    alias: str
    #: What kind of name it is.
    scheme: AliasScheme
    #: Whether it is the main one of its kind.
    primary: bool
    #: First day it is known to have been used. Null: not stated.
    valid_from: datetime | None = None
    #: Last day it is known to have been used. Null: not stated.
    valid_to: datetime | None = None
    #: Source that states it. Null: it is the catalogue's.
    source_id: str | None = None


class CompanyScores(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """How a company stands among its peers on each pillar."""

    #: Place among its peers (`scorePeers`), 0 to 100. Null: it has none of the pillar's measures.
    profitability: float | None = None
    #: Place among its peers (`scorePeers`), 0 to 100. Null: it has none of the pillar's measures.
    growth: float | None = None
    #: Place among its peers (`scorePeers`), 0 to 100. Null: it has none of the pillar's measures.
    strength: float | None = None
    #: Place among its peers (`scorePeers`), 0 to 100. Null: it has none of the pillar's measures.
    efficiency: float | None = None
    #: Place among its peers (`scorePeers`), 0 to 100. Null: it has none of the pillar's measures.
    quality: float | None = None


class Company(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A company and its score, which is computed when asked."""

    #: Id of the country, region or company.
    entity_id: str
    #: Its name today.
    name: str
    #: Its ticker. Null: it has none, or is no longer listed.
    ticker: str | None = None
    #: Number at the U.S. SEC, ten digits. Null: none.
    cik: str | None = None
    #: Where its shares are listed. Null: not known.
    exchange: str | None = None
    #: Id of its country, the domicile. Null: not known.
    country: str | None = None
    #: Its sector today, from its industry code.
    sector: str
    #: Its industry today, as the regulator names it. Null: not known.
    industry: str | None = None
    #: Month and day its fiscal year ends on. Null: not known.
    fiscal_year_end: str | None = None
    #: Last day of its newest statement's period. Null: the plan reaches none.
    last_period_end: datetime | None = None
    #: Where it stands, 0 to 100, among the companies of its sector or, for a measure that fewer than ten of those have, among all. Null: too little is known.
    score: float | None = None
    #: The pillars of the score.
    scores: CompanyScores
    #: Piotroski's F, 0 to 9, of twelve months. Null: an input is missing.
    piotroski_f: float | None = None
    #: Altman's Z'' of the same months. Null: unknown, or not for its business.
    altman_z2: float | None = None
    #: Share of the score's measures that it has, 0 to 1.
    score_coverage: float
    #: Name and version of the model behind `score`.
    score_model: str


class FormerName(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A name a company had."""

    #: The name.
    name: str
    #: First day it was used. Null: not stated.
    from_: datetime | None = None
    #: Last day it was used. Null: not stated.
    to: datetime | None = None


class RelatedRegistrant(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Another registrant of the same enterprise."""

    #: Id of the country, region or company.
    entity_id: str
    #: Its name today.
    name: str
    #: When the report could be read that shows that the one continues the other.
    since: datetime


class LatestFiling(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A filing."""

    #: Form of the filing.
    form: str
    #: Day it was filed.
    filed_at: datetime
    #: Last day of the period it reports on. Null: it is on none.
    period_end: datetime | None = None
    #: Where it can be read. Null: it is invented.
    url: str | None = None


class KeyFigure(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The latest reading of a figure over twelve months."""

    #: The figure; a margin is a fraction. Null: withheld, or `quality` is failed.
    value: float | None = None
    #: What the numbers count: `percent`, `percentage_points`, `index`, `usd_billions`, of companies' money the ISO code (`usd`, `eur_per_share`). Null: a score, which has none.
    unit: str | None = None
    #: ISO 4217 code of the currency that the unit counts in. Null: the unit is no money.
    currency: str | None = None
    #: Last day of the period the number is about.
    period_end: datetime
    #: Knowledge time: from when on it could be known. `as_of` compares with it.
    observed_at: datetime
    #: The worst that checks say of the statements it rests on.
    quality: KeyFigureQuality


class KeyFigures(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Figures over the last twelve months; of filers of yearly accounts only, the last fiscal year."""

    #: Revenue. Null: not known.
    revenue: KeyFigure | None = None
    #: Net income. Null: not known.
    net_income: KeyFigure | None = None
    #: Net cash flow from operations. Null: not known.
    operating_cash_flow: KeyFigure | None = None
    #: That less capital expenditure. Null: not known.
    free_cash_flow: KeyFigure | None = None
    #: Gross profit to revenue. Null: not known.
    gross_margin: KeyFigure | None = None
    #: Operating income to revenue. Null: not known.
    operating_margin: KeyFigure | None = None
    #: Net income to revenue. Null: not known.
    net_margin: KeyFigure | None = None
    #: Free cash flow to revenue. Null: not known.
    fcf_margin: KeyFigure | None = None


class ScoreTest(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """One test of a score."""

    #: Name of the test.
    name: str
    #: What it looks at, by name; money in the company's reporting currency. Null: not known, or not reached.
    inputs: dict[str, float | None]
    #: What comes out of them. Null: an input is missing.
    value: float | None = None
    #: Whether the test is passed. Null: none is asked, or it is open.
    passed: bool | None = None


class ScoreDetail(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A score of twelve months, with its tests. It has a value only if all of them have one, and no grave check fails."""

    #: Last day of the twelve months.
    period_end: datetime
    #: The score, which has no unit. Null: a test has no value.
    value: float | None = None
    #: What its author calls such a value. Null: nothing, or there is no value.
    verdict: str | None = None
    #: How many tests have a value.
    present: int
    #: How many tests there are.
    of: int
    #: How many are passed. Null: the score asks for none.
    passed: int | None = None
    #: Its tests.
    tests: list[ScoreTest]
    #: The worst that checks say of the statements it rests on.
    quality: KeyFigureQuality


class ScorePeers(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Among whom the score of a company was taken: those with a statement of the last 18 months, itself among them."""

    #: How many of them are of its sector.
    sector: int
    #: How many they are.
    all: int
    #: How many measures it has.
    measures: int
    #: How many at least ten of its sector have: compared within it.
    measures_within_sector: int


class Peer(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A company like this one."""

    #: Id of the country, region or company.
    entity_id: str
    #: Its name today.
    name: str
    #: Its ticker. Null: it has none, or is no longer listed.
    ticker: str | None = None
    #: What makes it one: the same industry, and, where both are known, the nearest revenue.
    basis: Basis
    #: Its score, 0 to 100. Null: none, as with statements older than 18 months.
    score: float | None = None
    #: Last day of its newest statement's period. Null: the plan reaches none.
    last_period_end: datetime | None = None


class Profile(Company, frozen=True, kw_only=True, gc=False, rename="camel"):
    """All that is known of a company itself."""

    #: Its name in the register.
    legal_name: str
    #: All tickers of today, the main one first.
    tickers: list[str]
    #: Its Standard Industrial Classification code, four digits. Null: none.
    sic: str | None = None
    #: That code in words. Null: none.
    sic_description: str | None = None
    #: Its Legal Entity Identifier, twenty characters. Null: not known.
    lei: str | None = None
    #: Where it is incorporated. Null: not stated.
    state_of_incorporation: str | None = None
    #: Its web site, as it states it. Null: not stated.
    website: str | None = None
    #: Names before this, and of the registrant it continues.
    former_names: list[FormerName]
    #: The registrant that goes on where this one ends: a new holding company that states its numbers. Null: none.
    predecessor_of: RelatedRegistrant | None = None
    #: The registrant whose accounts this one continues, and where its earlier statements are. Null: none.
    successor_of: RelatedRegistrant | None = None
    #: Its newest filings that the plan reaches, the newest first.
    latest_filings: list[LatestFiling]
    #: Figures over twelve months.
    key_figures: KeyFigures
    #: By name, the scores whose inputs may be shown.
    score_detail: dict[str, ScoreDetail]
    #: Among whom it was scored. Null: it takes no part, or withheld.
    score_peers: ScorePeers | None = None
    #: At most eight of its industry, reporting ones first, by nearest revenue.
    peers: list[Peer]


class DerivedItem(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """How a line that the filing does not state was come by."""

    #: A fiscal year less nine months, a sum of tags, a formula, and so on.
    method: str
    #: Ids of the series it was computed from.
    derived_from: list[str]


class StatementCheck(Struct, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """One check of a statement."""

    #: What is checked. `relied_upon` fails from the moment the company itself says not to rely on what it filed.
    name: str
    #: What came out.
    status: Status
    #: The numbers behind it, or the reason, in words. Null: nothing to say.
    detail: str | None = None
    #: Keys of the lines that a failure is about. Absent: it did not fail.
    items: list[str] | None = None


class StatementQuality(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """What the checks of a statement found."""

    #: The worst of the checks.
    status: StatementQualityStatus
    #: The checks.
    checks: list[StatementCheck]


class Statement(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """One statement of one period, as known at the moment asked. `filedAt`, `observedAt`, `form`, `accession` and `sourceUrl` are of the filing that last changed a line."""

    #: Which length of period it is of.
    frequency: StatementFrequency
    #: Fiscal year, as the company counts. Null: not known.
    fiscal_year: int | None = None
    #: Part of the fiscal year. Null: not known.
    fiscal_period: FiscalPeriod | None = None
    #: Calendar year that most of the period lies in.
    calendar_year: int
    #: Calendar quarter, 1 to 4: that of the middle of the period, or the next one where the quarter before has that. Null: it is no quarter.
    calendar_quarter: int | None = None
    #: First day of the period. Null: a balance sheet.
    period_start: datetime | None = None
    #: Last day of the period, or the day of the balance sheet.
    period_end: datetime
    #: Day of the filing.
    filed_at: datetime
    #: Knowledge time: from when on it could be known. `as_of` compares with it.
    observed_at: datetime
    #: Form of the filing.
    form: str
    #: Accession number of the filing.
    accession: str
    #: Where the filing can be read. Null: it is invented.
    source_url: str | None = None
    #: ISO 4217 code of the currency of all amounts.
    currency: str
    #: `revised`: a later filing changed a number.
    revision_status: RevisionStatus
    #: Whether its lines are filed, computed, or both.
    basis: StatementBasis
    #: Lines by key, as filed: money in units of `currency`, per-share lines in it per share, shares in shares; never adjusted for splits. A line that was not reported is absent, never zero.
    items: dict[str, float]
    #: How lines that no filing states were come by, by key.
    derived_items: dict[str, DerivedItem]
    #: What the checks found.
    quality: StatementQuality


class Financials(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Statements of a company, newest first."""

    #: Id of the country, region or company.
    entity_id: str
    #: Its ticker. Null: it has none, or is no longer listed.
    ticker: str | None = None
    #: Number at the U.S. SEC, ten digits. Null: none.
    cik: str | None = None
    #: ISO 4217 code of the currency it reports in; with `as_of` that of the newest statement known then. Null: not known.
    currency: str | None = None
    #: The moment asked with `as_of`; without it the newest knowledge time among the rows used. Null: there are none.
    as_of: datetime | None = None
    #: The registrant that goes on where this one ends: a new holding company that states its numbers. Null: none.
    predecessor_of: RelatedRegistrant | None = None
    #: The registrant whose accounts this one continues, and where its earlier statements are. Null: none.
    successor_of: RelatedRegistrant | None = None
    #: Income statements.
    income_statements: list[Statement]
    #: Balance sheets.
    balance_sheets: list[Statement]
    #: Cash-flow statements.
    cash_flow_statements: list[Statement]


class CurvePoint(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The latest yield of one tenor."""

    #: Time to maturity.
    tenor: Tenor
    #: The latest public yield, percent per year, as published.
    yield_: float
    #: Last day of the period the number is about.
    period_end: datetime
    #: Knowledge time: from when on it could be known. `as_of` compares with it.
    observed_at: datetime
    #: Id of the series: source, entity, indicator, frequency.
    series_id: str
    #: Id of the source, a feed of one provider under one licence.
    source_id: str
    #: What kind of curve or bond the yield is read from.
    curve_type: CurveType
    #: How the yield is compounded.
    compounding: Compounding


class SpreadPeer(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """One peer at one tenor."""

    #: One of the seven scopes.
    scope: Scope
    #: The latest public yield, percent per year, as published.
    yield_: float
    #: The scope's yield less the peer's, basis points.
    spread_bp: float
    #: Last day of the period the number is about.
    period_end: datetime
    #: Days from the scope's reading to the peer's; negative: the peer's is older.
    date_gap_days: int
    #: Why it takes no part in the mean: its reading is too many days apart. Null: it takes part.
    excluded: Excluded | None = None


class Spread(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The scope against its peers at one tenor. A peer without a yield there is left out."""

    #: Time to maturity.
    tenor: Tenor
    #: The peers.
    peers: list[SpreadPeer]
    #: Mean yield of the peers that take part, percent per year. Null: none does.
    peer_mean: float | None = None
    #: The scope's yield less that mean, basis points. Null: likewise.
    spread_to_mean_bp: float | None = None
    #: How many peers take part in the mean.
    peer_count: int


class SlopeLeg(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """One end of a slope."""

    #: Time to maturity.
    tenor: Tenor
    #: The latest public yield, percent per year, as published.
    yield_: float
    #: Last day of the period the number is about.
    period_end: datetime
    #: Id of the series: source, entity, indicator, frequency.
    series_id: str


class Slope(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The slope of one curve."""

    #: Which slope it is: two years to ten, five years to thirty.
    name: Name
    #: The long yield less the short one, basis points, on the newest day on which both are known. Null: excluded.
    value_bp: float | None = None
    #: Why there is no value: on no day are both known, and they are more than ten days apart. Null: there is one.
    excluded: Excluded | None = None
    #: The short end, then the long one.
    legs: list[SlopeLeg]


class PeerSlope(Slope, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A peer's slope."""

    #: One of the seven scopes.
    scope: Scope


class Rates(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Sovereign rates analytics of one scope against its peers. A tenor without a yield is absent, never interpolated; so is one whose newest yield is more than a month older than its curve's."""

    #: One of the seven scopes.
    scope: Scope
    #: Name of the country or region.
    name: str
    #: ISO 4217 code of the currency of its bonds. Null: not known.
    currency: str | None = None
    #: The moment asked with `as_of`; without it the newest knowledge time among the rows used. Null: there are none.
    as_of: datetime | None = None
    #: Its yields, the shortest tenor first.
    curve: list[CurvePoint]
    #: Its yields less those of its peers.
    spreads: list[Spread]
    #: Slopes of its curve.
    slopes: list[Slope]
    #: Slopes of the peers' curves.
    peer_slopes: list[PeerSlope]
    #: What to know before comparing: other kinds of curve, compounding or days; yields not shown or too old.
    comparability: list[str]


class RatesOfDay(Rates, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Sovereign rates analytics of one day: of each yield the latest that is of that day or of one before."""

    #: The day: the newest on which the scope has a yield.
    period_end: datetime


class BriefReading(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The latest reading of one indicator, beside its past and its peers. Numbers are null where it is withheld."""

    #: Id of the indicator.
    indicator_id: str
    #: Name of the indicator.
    name: str
    #: The latest reading, in `unit`. Null: withheld.
    value: float | None = None
    #: What the numbers count: `percent`, `percentage_points`, `index`, `usd_billions`, of companies' money the ISO code (`usd`, `eur_per_share`). Null: a score, which has none.
    unit: str | None = None
    #: ISO 4217 code of the currency that the unit counts in. Null: the unit is no money.
    currency: str | None = None
    #: Last day of the period the number is about.
    period_end: datetime
    #: The period before, in `unit`; of daily data a day within ten. Null: none.
    previous: float | None = None
    #: `value` less `previous`, in `unit` (percentage points). Null: no previous.
    change: float | None = None
    #: Mid-rank among the ten years before it, 0 to 100, as in `/release-summaries`. Null: a number with a trend, or they are not all there or not reached.
    percentile10y: float | None = None
    #: Place among countries with a fresh public value, 1 the top. Null: none.
    peer_rank: int | None = None
    #: How many countries that are, itself one of them. Null: not ranked.
    peer_count: int | None = None
    #: Whether the newest period of the series ended within the allowance of its frequency, of a policy rate whether its source was read within it: `fresh`, `stale`, or `unknown` where that cannot be judged.
    freshness_status: FreshnessStatus
    #: Id of the series: source, entity, indicator, frequency.
    series_id: str
    #: What may be done with its numbers.
    rights: RowRights


class BriefSection(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """One subject: what is to be said, and the readings it is said from."""

    #: The subject, for programs.
    key: Key
    #: The subject, for people.
    title: str
    #: Sentences made by rule; each number is one of the readings, rounded, or of a date.
    text: str
    #: What they are made from.
    readings: list[BriefReading]


class Event(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Something official that was or will be made public, as known from `observedAt`. Its numbers are null where there are none, where they may not be shown, and of a period that ends before the plan's window."""

    #: Id of the event, which stays the same when it is moved.
    id: str
    #: What kind of event it is.
    category: EventCategory
    #: Which release, form or action it is.
    type: str
    #: What it is, in words.
    title: str
    #: Where it stands, as known at the moment asked. `unknown`: it was announced for a day that is past, and nothing says that it happened.
    status: EventStatus
    #: When it happens; the first second of the day where `timePrecision` is day.
    occurred_at: datetime
    #: Whether the time is known to the minute or to the day.
    time_precision: TimePrecision
    #: IANA name of the zone the source states the time in.
    time_zone: str
    #: The country, region or company it is about. Null: none.
    entity_id: str | None = None
    #: Id of its country, a company's domicile. Null: unknown.
    country: str | None = None
    #: The indicator that is released. Null: it releases none.
    indicator_id: str | None = None
    #: The period it is about. Null: none.
    period: str | None = None
    #: The first print, in `unit`, which stays for ever. Null: none, or not shown.
    actual: float | None = None
    #: The first print as it is now. Null: it is the same, or not shown.
    revised_actual: float | None = None
    #: The period before, in `unit`, as it stood before the release, of one to come as it stands; of daily data the last day before, within ten. Null: none, or not shown.
    previous: float | None = None
    #: The period before as it is now. Null: the same, or not shown.
    revised_previous: float | None = None
    #: What the numbers count. Null: there are none.
    unit: str | None = None
    #: ISO 4217 code of the currency that the unit counts in. Null: the unit is no money.
    currency: str | None = None
    #: Form of a company's filing. Null: it is none.
    form: str | None = None
    #: Accession number of that filing. Null: it is none.
    accession: str | None = None
    #: Where it is announced or filed. Null: not known.
    url: str | None = None
    #: Id of the source, a feed of one provider under one licence.
    source_id: str
    #: Id of the provider, who publishes.
    provider_id: str
    #: Knowledge time: from when on it could be known. `as_of` compares with it.
    observed_at: datetime
    #: What may be done with its numbers.
    rights: RowRights


class ReleaseReading(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """One measure of a release, as known when it was out."""

    #: Id of the indicator.
    indicator_id: str
    #: What the numbers count: `percent`, `percentage_points`, `index`, `usd_billions`, of companies' money the ISO code (`usd`, `eur_per_share`). Null: a score, which has none.
    unit: str | None = None
    #: ISO 4217 code of the currency that the unit counts in. Null: the unit is no money.
    currency: str | None = None
    #: What was released, in `unit`. Null: withheld, or none.
    actual: float | None = None
    #: The period before, in `unit`, as it stood before the release. Null: none.
    previous: float | None = None
    #: What this release made of it, in `unit`. Null: nothing else.
    revised_previous: float | None = None
    #: `actual` less the period before as revised, in `unit`. Null: unknown.
    change: float | None = None
    #: How many standard deviations `actual` lies from the mean of the ten years before. Null: a number with a trend, or they are not all there or not reached.
    z_score_10y: float | None = field(name="zScore10y", default=None)
    #: Its place among those ten years, 0 to 100. Null: as the score.
    percentile_10y: float | None = field(name="percentile10y", default=None)
    #: Id of the observation: made from its content, so that the same value keeps its id; of a row whose value may not be sent from its place alone.
    observation_id: str
    #: What may be done with its numbers.
    rights: RowRights


class ReleaseSummary(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Figures of one publication, beside those known before."""

    #: Id of the summary: that of its event, with `rls_` in front.
    id: str
    #: Which release it is, the `type` of its event.
    release: str
    #: Name of the release.
    name: str
    #: Id of the country or region. Null: none in particular.
    country: str | None = None
    #: Id of the country, region or company.
    entity_id: str
    #: The period it is about.
    period: str
    #: Last day of the period the number is about.
    period_end: datetime
    #: When it was out: the `occurredAt` of its event.
    released_at: datetime
    #: Knowledge time: from when on it could be known. `as_of` compares with it.
    observed_at: datetime
    #: Id of the source, a feed of one provider under one licence.
    source_id: str
    #: Id of the provider, who publishes.
    provider_id: str
    #: What it said, in one sentence made by rule.
    headline: str
    #: What it said, measure by measure.
    readings: list[ReleaseReading]


class Brief(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A country in words."""

    #: Id of the country, region or company.
    entity_id: str
    #: Name of the country or region.
    name: str
    #: Its ISO code: three letters, where it has them; EUR for the euro area.
    country: str
    #: The moment asked with `as_of`; without it the newest knowledge time among the rows used. Null: there are none.
    as_of: datetime | None = None
    #: The brief in one or two sentences, made by rule from its readings.
    headline: str
    #: Subject by subject.
    sections: list[BriefSection]
    #: Releases and decisions that come next, the next one first.
    upcoming_events: list[Event]
    #: What was released of late, the newest first.
    recent_releases: list[ReleaseSummary]
    #: Ids of the series of all readings.
    derived_from: list[str]


class ScreenerMatch(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The latest reading of one filtered, sorted or further field, with the day it is of."""

    #: Slug of the field.
    field: str
    #: The reading, in `unit`; words for an indicator of words.
    value: float | str
    #: What the numbers count: `percent`, `percentage_points`, `index`, `usd_billions`, of companies' money the ISO code (`usd`, `eur_per_share`). Null: a score, which has none.
    unit: str | None = None
    #: ISO 4217 code of the currency that the unit counts in. Null: the unit is no money.
    currency: str | None = None
    #: Last day of the period the number is about.
    period_end: datetime
    #: Knowledge time: from when on it could be known. `as_of` compares with it.
    observed_at: datetime
    #: Whether the newest period of the series ended within the allowance of its frequency, of a policy rate whether its source was read within it: `fresh`, `stale`, or `unknown` where that cannot be judged.
    freshness_status: FreshnessStatus
    #: Id of the series: source, entity, indicator, frequency.
    series_id: str


class ScreenerRow(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A country or region that satisfies every clause."""

    #: Id of the country, region or company.
    entity_id: str
    #: Name of the country or region.
    name: str
    #: Its ISO code; where it has none, what the parameter `country` takes.
    country: str
    #: Its readings of the filter's, sort's and further fields.
    matches: list[ScreenerMatch]


class ScreenerField(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A field that a filter may name."""

    #: Its name in a clause.
    field: str
    #: Its name for people.
    name: str
    #: Whether its values are numbers or words.
    type: ScreenerFieldType
    #: What its values count; `ratio`: a fraction, 0.25 is 25 %. `currency`, `currency_per_share`: money, in the currency each company reports in. Null: a score, or readings in different units.
    unit: str | None = None
    #: Currency of `min` and `max`, ISO 4217. Null: no money.
    currency: str | None = None
    #: What it measures, and how.
    description: str
    #: Operators that a clause on it may have.
    operators: list[Operators]
    #: The least value that may be shown. Null: a text, or there is none.
    min: float | None = None
    #: The greatest value that may be shown. Null: a text, or there is none.
    max: float | None = None
    #: How many entities have a value that may be shown.
    entity_count: int


class ScreenerOperator(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """An operator, and what it asks of a value."""

    #: An operator of a clause.
    operator: Operators
    #: What it asks.
    meaning: str


class ScreenerFilters(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Fields and operators of a filter, and how it is written."""

    #: The fields.
    fields: list[ScreenerField]
    #: The operators.
    operators: list[ScreenerOperator]
    #: How clauses are written.
    syntax: str
    #: A filter that works.
    example: str


class EquityScreenerRow(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A company that satisfies every clause."""

    #: Id of the country, region or company.
    entity_id: str
    #: Its name today.
    name: str
    #: Its ticker; under `as_of` the last one it had. Null: none.
    ticker: str | None = None
    #: Number at the U.S. SEC, ten digits. Null: none.
    cik: str | None = None
    #: Id of its country, the domicile. Null: not known.
    country: str | None = None
    #: Its sector today.
    sector: str
    #: Its industry today. Null: not known.
    industry: str | None = None
    #: Last day of the values' period; without values, of its newest statement.
    period_end: datetime
    #: From when on all of the values were known; likewise.
    observed_at: datetime
    #: The filtered and sorted fields, and those named in `fields`, that it has a value for, by field: ratios as fractions, money in the currency it reports in, which is US dollars unless a clause names `currency`.
    values: dict[str, float | str]
    #: Of the statements its numbers rest on. Null: it has no numbers.
    quality: KeyFigureQuality | None = None


class SourceRights(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Terms of a source."""

    #: Who may see the values; only `public` ones are sent.
    exposure: Exposure
    #: Whether its values may be passed on.
    redistributable: bool
    #: Why its values are withheld. Null: they are not.
    reason: str | None = None
    #: The terms it is published under, by name.
    license: str
    #: What the terms of the source ask for: nothing, its name, that it is not for money, or the owner's consent.
    license_class: LicenseClass
    #: What to write beside its values when showing them.
    attribution: str
    #: What the terms say of commercial use.
    commercial_use: str
    #: Whether values computed from it may be passed on, though it may not.
    derivatives_allowed: bool
    #: What must be said of changed values. Null: nothing.
    modification_rule: str | None = None
    #: Where the terms are. Null: nowhere public.
    terms_url: str | None = None
    #: The day on which they were read. Null: not recorded.
    terms_read_on: date | None = None
    #: The consent on record: `by`, `on`, `reference`. Null: none.
    consent: dict[str, str] | None = None


class Source(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """One feed of a provider, with one licence."""

    #: Id of the source, a feed of one provider under one licence.
    id: str
    #: Id of the provider, who publishes.
    provider_id: str
    #: Its name.
    name: str
    #: What it holds.
    description: str
    #: Its page for people; `/` of what is made here.
    homepage: str
    #: The terms it is published under, by name.
    license: str
    #: What to write beside its values when showing them.
    attribution: str
    #: What its terms say.
    rights: SourceRights
    #: Frequencies of its series.
    frequencies: list[Frequency]
    #: Whether the feed itself gives former states, with their times.
    stores_vintages: bool
    #: How many of its series have values.
    series_count: int
    #: Last day of its oldest period. Null: it has no values.
    first_period: datetime | None = None
    #: Last day of its newest period, forecasts aside. Null: it has no values.
    last_period: datetime | None = None
    #: When something new of it was taken in last. Null: never.
    last_ingested_at: datetime | None = None
    #: When it was read without an error last. Null: never.
    last_success_at: datetime | None = None
    #: `late`: longer unread, or older, than it should be; `failing`: the last attempts failed, or the newest answer is set aside.
    health: Health
    #: Whether the newest period of the series ended within the allowance of its frequency, of a policy rate whether its source was read within it: `fresh`, `stale`, or `unknown` where that cannot be judged.
    freshness_status: FreshnessStatus


class Provider(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A publisher."""

    #: Id of the provider, who publishes.
    id: str
    #: Its name.
    name: str
    #: What kind of body it is.
    kind: ProviderKind
    #: Id of its country or region. Null: it has none.
    country: str | None = None
    #: Its web site; `/` of what is made here.
    homepage: str
    #: Ids of its sources.
    source_ids: list[str]
    #: What to write beside its values when showing them.
    attribution: str


class Indicators(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """Indicators with rows, by kind."""

    #: Published by a source.
    raw: int
    #: Computed by a formula.
    derived: int


class Coverage(Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """How much is served. Only series with rows now served count."""

    #: Countries with rows.
    countries: int
    #: Regions with rows.
    regions: int
    #: Companies that have statements.
    companies: int
    #: Indicators with rows.
    indicators: Indicators
    #: Series with rows, raw and derived.
    series: int
    #: Rows of raw series, under `sources=all`.
    observations: int
    #: Rows of derived series, under `sources=all`.
    derived_observations: int
    #: Published states of all series, derived ones and withdrawn states too.
    vintages: int
    #: Statements of companies, counted by the line each kind of statement always has.
    statements: int
    #: Official events.
    events: int
    #: Providers with rows.
    providers: int
    #: Sources with rows.
    sources: int
    #: Last day of the oldest period. Null: there are no rows.
    first_period: datetime | None = None
    #: Last day of the newest period, forecasts aside. Null: there are no rows.
    last_period: datetime | None = None
    #: When something was taken in last. Null: never.
    last_ingested_at: datetime | None = None
    #: Number of the write that the counts are of; it grows with each change served.
    data_version: int


LIST_OBSERVATIONS: Operation[Observation] = Operation(
    id="listObservations",
    path="/observations",
    record=Observation,
    kind="list",
    most=500,
    as_of=True,
)

LIST_LATEST_OBSERVATIONS: Operation[DerivedObservation] = Operation(
    id="listLatestObservations",
    path="/observations/latest",
    record=DerivedObservation,
    kind="list",
    most=500,
    as_of=True,
)

LIST_VINTAGES: Operation[DerivedObservation] = Operation(
    id="listVintages",
    path="/observations/vintages",
    record=DerivedObservation,
    kind="list",
    most=500,
    as_of=True,
)

LIST_CHANGES: Operation[DerivedObservation] = Operation(
    id="listChanges",
    path="/observations/changes",
    record=DerivedObservation,
    kind="list",
    most=500,
    as_of=True,
)

GET_PROVENANCE: Operation[Provenance] = Operation(
    id="getProvenance",
    path="/observations/{id}/provenance",
    record=Provenance,
    kind="item",
    most=0,
    as_of=False,
)

LIST_INDICATORS: Operation[Indicator] = Operation(
    id="listIndicators",
    path="/indicators",
    record=Indicator,
    kind="list",
    most=500,
    as_of=False,
)

GET_INDICATOR: Operation[Indicator] = Operation(
    id="getIndicator",
    path="/indicators/{idOrSlug}",
    record=Indicator,
    kind="item",
    most=0,
    as_of=False,
)

LIST_INDICATOR_SERIES: Operation[Series] = Operation(
    id="listIndicatorSeries",
    path="/indicators/{idOrSlug}/series",
    record=Series,
    kind="list",
    most=500,
    as_of=False,
)

LIST_DERIVED_INDICATORS: Operation[Indicator] = Operation(
    id="listDerivedIndicators",
    path="/derived-indicators",
    record=Indicator,
    kind="list",
    most=500,
    as_of=False,
)

GET_DERIVED_INDICATOR: Operation[Indicator] = Operation(
    id="getDerivedIndicator",
    path="/derived-indicators/{idOrSlug}",
    record=Indicator,
    kind="item",
    most=0,
    as_of=False,
)

LIST_DERIVED_INDICATOR_ENTITIES: Operation[DerivedIndicatorEntity] = Operation(
    id="listDerivedIndicatorEntities",
    path="/derived-indicators/{idOrSlug}/entities",
    record=DerivedIndicatorEntity,
    kind="list",
    most=500,
    as_of=False,
)

LIST_DERIVED_OBSERVATIONS: Operation[DerivedObservation] = Operation(
    id="listDerivedObservations",
    path="/derived-observations",
    record=DerivedObservation,
    kind="list",
    most=500,
    as_of=True,
)

LIST_COUNTRIES: Operation[Country] = Operation(
    id="listCountries",
    path="/countries",
    record=Country,
    kind="list",
    most=500,
    as_of=False,
)

GET_COUNTRY: Operation[Country] = Operation(
    id="getCountry",
    path="/countries/{idOrIso}",
    record=Country,
    kind="item",
    most=0,
    as_of=False,
)

RESOLVE_ENTITY: Operation[Resolved] = Operation(
    id="resolveEntity",
    path="/entities/resolve",
    record=Resolved,
    kind="item",
    most=0,
    as_of=True,
)

LIST_ENTITY_ALIASES: Operation[Alias] = Operation(
    id="listEntityAliases",
    path="/entities/{idOrSlug}/aliases",
    record=Alias,
    kind="list",
    most=500,
    as_of=False,
)

LIST_COMPANIES: Operation[Company] = Operation(
    id="listCompanies",
    path="/companies",
    record=Company,
    kind="list",
    most=500,
    as_of=False,
)

GET_COMPANY_PROFILE: Operation[Profile] = Operation(
    id="getCompanyProfile",
    path="/companies/{idOrLookup}/profile",
    record=Profile,
    kind="item",
    most=0,
    as_of=False,
)

GET_COMPANY_FINANCIALS: Operation[Financials] = Operation(
    id="getCompanyFinancials",
    path="/companies/{idOrLookup}/financials",
    record=Financials,
    kind="item",
    most=0,
    as_of=True,
)

GET_RATES: Operation[Rates] = Operation(
    id="getRates",
    path="/rates/{scope}",
    record=Rates,
    kind="item",
    most=0,
    as_of=False,
)

LIST_RATES_HISTORY: Operation[RatesOfDay] = Operation(
    id="listRatesHistory",
    path="/rates/{scope}/history",
    record=RatesOfDay,
    kind="list",
    most=500,
    as_of=True,
)

GET_COUNTRY_BRIEF: Operation[Brief] = Operation(
    id="getCountryBrief",
    path="/briefs/{country}",
    record=Brief,
    kind="item",
    most=0,
    as_of=True,
)

LIST_RELEASE_SUMMARIES: Operation[ReleaseSummary] = Operation(
    id="listReleaseSummaries",
    path="/release-summaries",
    record=ReleaseSummary,
    kind="list",
    most=500,
    as_of=False,
)

SCREEN_ENTITIES: Operation[ScreenerRow] = Operation(
    id="screenEntities",
    path="/screener",
    record=ScreenerRow,
    kind="list",
    most=500,
    as_of=True,
)

LIST_SCREENER_FILTERS: Operation[ScreenerFilters] = Operation(
    id="listScreenerFilters",
    path="/screener/filters",
    record=ScreenerFilters,
    kind="item",
    most=0,
    as_of=False,
)

SCREEN_COMPANIES: Operation[EquityScreenerRow] = Operation(
    id="screenCompanies",
    path="/equity-screener",
    record=EquityScreenerRow,
    kind="list",
    most=200,
    as_of=True,
)

LIST_EQUITY_SCREENER_FILTERS: Operation[ScreenerFilters] = Operation(
    id="listEquityScreenerFilters",
    path="/equity-screener/filters",
    record=ScreenerFilters,
    kind="item",
    most=0,
    as_of=False,
)

LIST_EVENTS: Operation[Event] = Operation(
    id="listEvents",
    path="/events",
    record=Event,
    kind="list",
    most=500,
    as_of=True,
)

LIST_SOURCES: Operation[Source] = Operation(
    id="listSources",
    path="/sources",
    record=Source,
    kind="list",
    most=500,
    as_of=False,
)

LIST_PROVIDERS: Operation[Provider] = Operation(
    id="listProviders",
    path="/providers",
    record=Provider,
    kind="list",
    most=500,
    as_of=False,
)

GET_COVERAGE: Operation[Coverage] = Operation(
    id="getCoverage",
    path="/coverage",
    record=Coverage,
    kind="item",
    most=0,
    as_of=False,
)

GET_OVERVIEW: Operation[str] = Operation(
    id="getOverview",
    path="/llms.txt",
    record=str,
    kind="text",
    most=0,
    as_of=False,
)

GET_DESCRIPTION: Operation[Mapping[str, Any]] = Operation(
    id="getDescription",
    path="/openapi.json",
    record=dict[str, Any],
    kind="json",
    most=0,
    as_of=False,
)

#: Fields whose time is a day, written as its first second.
DAYS = frozenset(
    [
        "filed_at",
        "first_period",
        "from_",
        "last_period",
        "last_period_end",
        "period_end",
        "period_start",
        "to",
        "valid_from",
        "valid_to",
    ]
)
