"""Reference data: providers, sources, countries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, ListAnswer
from almanac.api.contract.errors import ApiError, not_found, quoted
from almanac.api.contract.params import Param, day_of
from almanac.api.contract.records import Record
from almanac.api.endpoints.macro.indicators import day
from almanac.api.rows.filters import AS_OF, LICENSE, licensed
from almanac.api.rows.names import PLACE_IN_PATH, PLACES, matching, place_in_path
from almanac.api.rows.names import entity as named
from almanac.api.rows.redaction import Redaction, redaction_of
from almanac.domain import aliases as names
from almanac.domain import fields
from almanac.domain.fields import Time, says
from almanac.domain.health import Feed, Tried, health
from almanac.domain.numbers import plain
from almanac.domain.reference import Entity, Source
from almanac.domain.rights import Exposure, effective
from almanac.domain.times import wire_day, wire_time
from almanac.reports import names as report
from almanac.reports.names import Match, Spellings, Subject
from almanac.store.companies import rows as company_rows
from almanac.store.log import payloads
from almanac.store.observations.reading.metadata import MetadataCache
from almanac.store.observations.reading.reader import View
from almanac.store.state_memory import Remembered
from almanac.store.summary import coverage, feeds, figures
from almanac.store.summary.native_codes import with_code

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
    """Meaning of a name. `confidence` is of the first candidate."""

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
    """Terms of a source."""

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


#: What is remembered of one state of the store: of now, and of the days and versions that walks are still in.
_HELD = 8
#: The better of several freshness statuses: one living series keeps a source, or an indicator of a country, alive.
_BEST = ("fresh", "stale", "unknown")

T = TypeVar("T")

_STANDING: Remembered[dict[object, Any]] = Remembered("standing", lambda _: {})


def remembered(ctx: Context, find: Callable[[View, Redaction], T]) -> T:
    """
    Return what `find` gives, remembered as long as it would give the same.

    Counts and newest periods follow from the state of the store, freshness from it and the day; of series that are judged
    by when their source was read, from that day too, which moves without a data version.
    """
    held = _STANDING.of(ctx.view)
    redaction = redaction_of(ctx)
    key = (find, redaction.version, redaction.as_of, redaction.today, feeds.days_read(ctx.view))
    result: T | None = held.get(key)
    if result is None:
        if len(held) >= _HELD:
            held.clear()
        result = held[key] = find(ctx.view, redaction)
    return result


def best(statuses: set[str]) -> str:
    """Return the best of several freshness statuses; `unknown` if there is none."""
    return next((status for status in _BEST if status in statuses), "unknown")


def of_place(view: View, redaction: Redaction, name: str) -> str:
    """
    Return the freshness of a country or region: `fresh` where at least half of its indicators are, each judged by the best of its
    series. What its publisher ended is not counted, where there is anything else.
    """
    living: dict[str, set[str]] = {}
    ended: dict[str, set[str]] = {}
    for number in figures.series_numbers(view, "entity", name):
        series = view.directory.series(number)
        words = ended if series.spec.discontinued else living
        words.setdefault(series.spec.indicator, set()).add(redaction.freshness(series))
    judged = [best(words) for words in (living or ended).values()]
    fresh, stale = judged.count("fresh"), judged.count("stale")
    return "fresh" if fresh and fresh >= stale else "stale" if stale else "unknown"


def of_sources(view: View, redaction: Redaction) -> tuple[dict[str, figures.Figures], dict[str, Feed], dict[str, str]]:
    """Return what is counted of each source that has rows, its series by freshness, and the best freshness of those computed here."""
    series, numbers = view.directory.series, partial(figures.series_numbers, view, "source")
    # What is computed here has derived series only, and not many.
    computed = {
        source.id: best({redaction.freshness(series(number)) for number in numbers(source.id)})
        for source in view.directory.sources.values()
        if not source.connector
    }
    return figures.by_source(view), feeds.feeds(view, redaction.freshness), computed


def of_countries(view: View, redaction: Redaction) -> tuple[dict[str, int], dict[str, str]]:
    """Return how many indicators each entity has, and the freshness of each country or region that has any (`of_place`)."""
    counts = figures.indicators_of_entities(view)
    places = [entity.id for entity in view.directory.entities.values() if counts.get(entity.id)]
    return counts, {name: of_place(view, redaction, name) for name in places}


def providers(ctx: Context) -> ListAnswer:
    """List providers by id."""
    ids = defaultdict(list)
    for source in ctx.view.directory.sources.values():
        ids[source.provider].append(source.id)
    page, following = ctx.page(ctx.view.directory.providers)
    rows = [ProviderSchema.from_attributes(provider, source_ids=sorted(ids[provider.id])) for provider in page]
    return ListAnswer(rows, following)


def sources(ctx: Context) -> ListAnswer:
    """List sources by id."""
    directory, tried = ctx.view.directory, payloads.tried(ctx.view)
    counts, fed, computed = remembered(ctx, of_sources)

    def record(source: Source) -> bytes:
        counted = counts.get(source.id, figures.Figures())
        asked, feed = tried.get(source.id, Tried()), fed.get(source.id, Feed())
        fresh = best(feed.words) if source.connector else computed[source.id]
        rights = source.rights
        consent = directory.consents.get(source.id)
        exposure = effective(rights, Exposure.public, consent)
        return msgspec.json.encode(
            SourceSchema.from_attributes(
                source,
                provider_id=source.provider,
                license=rights.license,
                attribution=rights.attribution,
                rights=SourceRights.from_attributes(
                    rights,
                    exposure=exposure.name,
                    redistributable=exposure is Exposure.public,
                    reason=None if exposure is Exposure.public else rights.channel_reason or rights.reason,
                    license_class=rights.asks_for,
                    consent=None
                    if consent is None
                    else {"by": consent.by, "on": consent.on, "reference": consent.reference},
                ),
                frequencies=[f.word for f in source.frequencies],
                series_count=counted.series,
                first_period=day(counted.first_period),
                last_period=day(counted.last_period),
                last_ingested_at=None if asked.last_ingested is None else wire_time(asked.last_ingested),
                last_success_at=None if asked.last_success is None else wire_time(asked.last_success),
                health=health(source, asked, feed, ctx.now).word if source.connector else "ok",
                freshness_status=fresh,
            )
        )

    page, following = ctx.page(licensed(ctx))
    return ListAnswer([record(source) for source in page], following)


def countries(ctx: Context) -> ListAnswer:
    """List countries and regions by name, then id."""
    counts, freshness = remembered(ctx, of_countries)
    wanted = ctx.params["has_data"]
    places = {
        (e.name, e.id): e
        for e in ctx.view.directory.entities.values()
        if e.kind in PLACES and wanted in {None, counts.get(e.id, 0) > 0}
    }
    page, following = ctx.page(places)
    rows = [_country(entity, counts.get(entity.id, 0), freshness.get(entity.id)) for entity in page]
    return ListAnswer(rows, following)


def country(ctx: Context) -> ItemAnswer:
    """Return one country or region."""
    entity = place_in_path(ctx, "idOrIso")
    count = figures.indicators_of_entities(ctx.view, entity.id).get(entity.id, 0)
    return ItemAnswer(_country(entity, count, of_place(ctx.view, redaction_of(ctx), entity.id)))


def _country(entity: Entity, indicators: int, freshness: str | None) -> bytes:
    """Return a country or region. `freshness` None: nothing to judge it by."""
    return msgspec.json.encode(
        Country.from_attributes(
            entity,
            iso_alpha2=entity.iso2,
            iso_alpha3=entity.iso3,
            aliases=[*entity.aliases, *entity.former_names],
            indicator_count=indicators,
            rates_scope=entity.rates_scope is not None,
            freshness_status=(freshness or "unknown") if indicators else "unknown",
        )
    )


#: The time of the last ingestion aside, which moves without a data version.
_COVERAGE = Remembered("coverage", coverage.coverage)


def held(ctx: Context) -> ItemAnswer:
    """Return what the service holds, counted once for each state of the data."""
    counted = msgspec.structs.replace(_COVERAGE.of(ctx.view), last_ingested_at=coverage.last_ingested(ctx.view))
    return ItemAnswer(msgspec.json.encode(counted))


#: Scheme of publishers' codes of series, which name no entity and are looked for only where they are asked for.
NATIVE = "native"
#: At most so many candidates are told.
_CANDIDATES = 5


def of_entity(ctx: Context) -> ListAnswer:
    """List the names of one entity, by scheme, then name."""
    name = ctx.path["idOrSlug"]
    entity = named(ctx, name)
    if entity is None:
        raise not_found("idOrSlug", "entity", name, "; /entities/resolve finds one by any name")
    if entity.kind in PLACES:
        known = names.of_place(entity)
    else:
        known = company_rows.of_entity(ctx.view, entity.id)
    page, following = ctx.page({(alias.scheme, alias.alias, alias.valid_from or 0): alias for alias in known})
    rows = [
        AliasSchema.from_attributes(
            alias,
            entity_id=alias.entity,
            valid_from=_time(alias.valid_from),
            valid_to=_time(alias.valid_to),
            source_id=alias.source,
        )
        for alias in page
    ]
    return ListAnswer(rows, following)


def _time(day: int | None) -> str | None:
    return None if day is None else wire_day(date.fromordinal(day))


class Resolver:
    """Resolves names for all threads of one process."""

    def __init__(self) -> None:
        self._index = Remembered("entities by name", self._made)
        #: What takes longest to make, with the names it is made of: most states differ from the one before in none.
        self._spelled: tuple[list[names.Alias], Spellings] | None = None

    def resolve(self, ctx: Context) -> ItemAnswer:
        """Return the entity that an alias means."""
        params = ctx.params
        text, scheme = params["alias"], params["scheme"]
        by_type, spellings = self._index.of(ctx.view)
        subjects = by_type[params["type"]]
        if scheme == NATIVE:
            return ItemAnswer(msgspec.json.encode(_resolved(_by_code(ctx.view, text, subjects))))
        equal = [*matching(ctx.view, text), *_by_id(ctx.view.directory, text)]
        schemes = None if scheme is None else frozenset([scheme])
        if schemes is not None:
            equal = [alias for alias in equal if alias.scheme in schemes]
        resolution = report.resolve(text, equal, subjects, spellings, day_of(ctx.as_of).toordinal(), schemes)
        if resolution is None:
            hint = "; it is a publisher's code of a series: ask with scheme=native" if with_code(ctx.view, text) else ""
            raise ApiError(404, f"nothing is called {quoted(text)} or anything like it{hint}", {"parameter": "alias"})
        return ItemAnswer(msgspec.json.encode(_resolved(resolution)))

    def _made(self, view: View) -> tuple[dict[str | None, dict[str, Subject]], Spellings]:
        """Return all that may be meant, by type asked for (None: any) and entity id, and their names, to be found by likeness."""
        places = [entity for entity in view.directory.entities.values() if entity.kind in PLACES]
        english = [alias for entity in places for alias in names.of_place(entity)]
        subjects: dict[str | None, dict[str, Subject]] = {kind: {} for kind in (*PLACES, "company")}
        for place in places:
            subjects[place.kind][place.id] = Subject(place.id, place.kind, place.name, place.slug, reports=False)
        for entity, name, slug, reports in company_rows.subjects(view):
            subjects["company"][entity] = Subject(entity, "company", name, slug, reports=reports)
        subjects[None] = {entity: place for of_type in subjects.values() for entity, place in of_type.items()}
        spelled = [*english, *company_rows.spelled_out(view)]
        if self._spelled is None or self._spelled[0] != spelled:
            self._spelled = spelled, Spellings(spelled)
        return subjects, self._spelled[1]


def _by_id(directory: MetadataCache, text: str) -> list[names.Alias]:
    """Return the alias that an entity's own id is, if the text is one; it counts among its names."""
    name = text.strip().lower()
    entity = directory.entity(name)
    if entity is None or entity.id != name:
        return []
    return [names.Alias(entity.id, entity.id, "other", True, None, None, None, report.norms(text)["other"])]


def _by_code(view: View, text: str, subjects: Mapping[str, Subject]) -> report.Resolution:
    """Return the entities of which a series has this code of its publisher's. Raises ApiError 404."""
    by_entity: dict[str, Match] = {}
    for series in with_code(view, text):
        if series.entity in subjects and series.entity not in by_entity:
            kind, confidence = (
                ("exact", 1.0) if series.code.casefold() == text.strip().casefold() else ("normalized", 0.95)
            )
            alias = names.Alias(series.entity, series.code, NATIVE, True, None, None, None, series.code)
            by_entity[series.entity] = Match(subjects[series.entity], alias, kind, confidence)
    if not by_entity:
        raise ApiError(404, f"no published series has the code {quoted(text)}", {"parameter": "alias"})
    matches = list(by_entity.values())[:_CANDIDATES]
    first = matches[0]
    confidence = first.confidence / len(matches)
    return report.Resolution(first if len(matches) == 1 else None, first.kind, round(confidence, 2), matches)


def _resolved(resolution: report.Resolution) -> Resolved:
    fields: dict[str, Any] = (
        msgspec.structs.asdict(_candidate(resolution.best))
        if resolution.best is not None
        else dict.fromkeys(("entity_id", "type", "name", "slug", "matched_alias", "scheme"))
    )
    fields |= {"match": resolution.match, "confidence": plain(resolution.confidence)}
    return Resolved(candidates=[_candidate(match) for match in resolution.candidates], **fields)


def _candidate(match: Match) -> Candidate:
    return Candidate.from_attributes(
        match.subject,
        entity_id=match.subject.entity,
        matched_alias=match.alias.alias,
        scheme=match.alias.scheme,
        match=match.kind,
        confidence=plain(match.confidence),
    )


_REFERENCE = partial(Endpoint, scope="reference:read", tag="Reference")


def endpoints() -> tuple[Endpoint, ...]:
    """Return the endpoints of reference data and names, with what one process remembers of them."""
    return (
        _REFERENCE(
            path="/providers",
            operation_id="listProviders",
            summary="Providers",
            description="Who publishes.",
            handler=providers,
            kind="list",
            record=ProviderSchema,
        ),
        _REFERENCE(
            path="/sources",
            operation_id="listSources",
            summary="Sources",
            description="Feeds, each with its licence, rights, health and freshness.",
            handler=sources,
            params=(LICENSE,),
            kind="list",
            cost="thread",
            record=SourceSchema,
        ),
        _REFERENCE(
            path="/countries",
            operation_id="listCountries",
            summary="Countries and regions",
            handler=countries,
            scope="macro:read",
            params=(
                Param(
                    "has_data",
                    "Only those with observations of their own, or only those without.",
                    "enum",
                    choices={"true": True, "false": False},
                ),
            ),
            kind="list",
            cost="thread",
            cached=True,
            record=Country,
        ),
        _REFERENCE(
            path="/countries/{idOrIso}",
            operation_id="getCountry",
            summary="One country or region",
            description="By id, slug, ISO-2, ISO-3 or ISO numeric code, or any name that /entities/resolve finds exactly; EUR for the "
            "euro area.",
            handler=country,
            braces=(replace(PLACE_IN_PATH, name="idOrIso"),),
            scope="macro:read",
            record=Country,
        ),
        Endpoint(
            path="/coverage",
            operation_id="getCoverage",
            summary="What the service holds",
            description="The cheapest authenticated call: 200 says that the key is live.",
            handler=held,
            record=coverage.Coverage,
            tag="Reference",
        ),
        _REFERENCE(
            path="/entities/{idOrSlug}/aliases",
            operation_id="listEntityAliases",
            summary="Names of one entity",
            description="Of a country, region or company, by id, slug or any name that /entities/resolve finds exactly: name, former names, codes, tickers and identifiers, with "
            "the days they were used where these are stated. A ticker of today has no last day; a retired one ends with the day it was "
            "last seen.",
            handler=of_entity,
            braces=(Param("idOrSlug", "Id, slug or exact name of an entity.", example="apple-inc"),),
            kind="list",
            record=AliasSchema,
            tag="Entities",
        ),
        _REFERENCE(
            path="/entities/resolve",
            operation_id="resolveEntity",
            summary="Which entity a name means",
            description="By name (of a country in the large languages too: Allemagne, 日本), former name, ISO code, ticker, CIK, LEI, slug or id. Exact first (case does not matter), else but for "
            "punctuation, accents, legal form and the like, else by likeness. A name valid on the day asked goes before one that is not; "
            "of companies of one name the only one with statements goes first. Where several fit as well, `entityId` is null and "
            "all of them are candidates; likeness alone never answers for what looks like a ticker or a CIK. Nothing close: 404. "
            "With `scheme=native` the entity of which a published series has this code of its publisher's.",
            handler=Resolver().resolve,
            params=(
                Param("alias", "The name.", required=True, example="Apple Computer"),
                Param("type", "Only entities of this type.", "enum", choices=(*PLACES, "company")),
                Param("scheme", "Only names of this scheme.", "enum", choices=(*names.SCHEMES, NATIVE)),
                replace(
                    AS_OF,
                    window=False,
                    description="The day the name was in use. Without it names of today come first, then former ones.",
                ),
            ),
            cost="thread",
            record=Resolved,
            tag="Entities",
        ),
    )
