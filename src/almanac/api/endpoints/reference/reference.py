"""Reference data: providers, sources, countries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, ListAnswer
from almanac.api.contract.errors import ApiError, quoted
from almanac.api.contract.params import Param, day_of
from almanac.api.endpoints.macro.indicators import day
from almanac.api.endpoints.reference import records
from almanac.api.endpoints.reference.records import AliasSchema, Candidate, Resolved
from almanac.api.rows.filters import AS_OF, LICENSE, licensed
from almanac.api.rows.names import PLACES, place, suggested_place
from almanac.api.rows.names import entity as named
from almanac.api.rows.paging import keyset
from almanac.api.rows.redaction import Redaction, redaction_of
from almanac.domain import aliases as names
from almanac.domain.health import Feed, Tried, health
from almanac.domain.numbers import plain
from almanac.domain.reference import Entity, Provider, Source
from almanac.domain.rights import Exposure, effective
from almanac.domain.times import wire_day, wire_time
from almanac.reports import names as report
from almanac.reports.names import Match, Spellings, Subject, foreign_names
from almanac.store.companies import rows as company_rows
from almanac.store.log import history
from almanac.store.observations.reading.metadata import MetadataCache
from almanac.store.observations.reading.reader import View
from almanac.store.state_memory import Remembered
from almanac.store.summary import coverage, feeds, figures
from almanac.store.summary.native_codes import with_code

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
    key = (find, Redaction.key(ctx), feeds.days_read(ctx.view))
    if key not in held:
        if len(held) >= _HELD:
            held.clear()
        held[key] = find(ctx.view, redaction_of(ctx))
    found: T = held[key]
    return found


def best(statuses: set[str]) -> str:
    """Return the best of several freshness statuses; `unknown` if there is none."""
    return next((status for status in _BEST if status in statuses), "unknown")


def of_place(view: View, redaction: Redaction, name: str) -> str:
    """
    Freshness of a country or region: `fresh` where at least half of its indicators are, each judged by the best of its
    series. What its publisher ended is not counted, where there is anything else.
    """
    living: dict[str, set[str]] = {}
    ended: dict[str, set[str]] = {}
    for number in figures.series_numbers(view, "entity", name):
        one = view.directory.series(number)
        words = ended if one.spec.discontinued else living
        words.setdefault(one.spec.indicator, set()).add(redaction.freshness(one))
    judged = [best(words) for words in (living or ended).values()]
    fresh, stale = judged.count("fresh"), judged.count("stale")
    return "fresh" if fresh and fresh >= stale else "stale" if stale else "unknown"


def of_sources(view: View, redaction: Redaction) -> tuple[dict[str, figures.Figures], dict[str, Feed], dict[str, str]]:
    """Return what is counted of each source that has rows, its series by freshness, and the best freshness of those computed here."""
    series = view.directory.series
    # What is computed here has derived series only, and not many.
    computed = {
        one.id: best({redaction.freshness(series(number)) for number in figures.series_numbers(view, "source", one.id)})
        for one in view.directory.sources.values()
        if not one.connector
    }
    return figures.by_source(view), feeds.feeds(view, redaction.freshness), computed


def of_countries(view: View, redaction: Redaction) -> tuple[dict[str, int], dict[str, str]]:
    """Return how many indicators each entity has, and the freshness of each country or region that has any (`of_place`)."""
    counts = figures.indicators_of_entities(view)
    places = [one.id for one in view.directory.entities.values() if counts.get(one.id)]
    return counts, {name: of_place(view, redaction, name) for name in places}


def providers(ctx: Context) -> ListAnswer:
    """List providers by id."""
    directory = ctx.view.directory

    def record(provider: Provider) -> bytes:
        return msgspec.json.encode(
            records.ProviderSchema.from_attributes(
                provider, source_ids=sorted(s.id for s in directory.sources.values() if s.provider == provider.id)
            )
        )

    page, following = keyset(ctx, directory.providers)
    return ListAnswer([record(one) for one in page], following)


def sources(ctx: Context) -> ListAnswer:
    """List sources by id."""
    directory, tried = ctx.view.directory, history.tried(ctx.view)
    held, fed, computed = remembered(ctx, of_sources)

    def record(source: Source) -> bytes:
        counted = held.get(source.id, figures.Figures())
        asked, feed = tried.get(source.id, Tried()), fed.get(source.id, Feed())
        fresh = best(feed.words) if source.connector else computed[source.id]
        rights = source.rights
        consent = directory.consents.get(source.id)
        exposure = effective(rights, Exposure.public, consent)
        return msgspec.json.encode(
            records.SourceSchema.from_attributes(
                source,
                provider_id=source.provider,
                license=rights.license,
                attribution=rights.attribution,
                rights=records.SourceRights.from_attributes(
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

    page, following = keyset(ctx, licensed(ctx))
    return ListAnswer([record(one) for one in page], following)


def countries(ctx: Context) -> ListAnswer:
    """List countries and regions by name, then id."""
    counts, freshness = remembered(ctx, of_countries)
    wanted = ctx.params["has_data"]
    places = {
        (e.name, e.id): e
        for e in ctx.view.directory.entities.values()
        if e.kind in PLACES and wanted in {None, counts.get(e.id, 0) > 0}
    }
    page, following = keyset(ctx, places)
    return ListAnswer([_country(one, counts.get(one.id, 0), freshness.get(one.id)) for one in page], following)


def country(ctx: Context) -> ItemAnswer:
    """One country or region."""
    name = ctx.path["idOrIso"]
    found = place(ctx, name)
    if found is None:
        close = suggested_place(ctx, name)
        raise ApiError(
            404,
            f"there is no country {quoted(name)}"
            + (f"; did you mean '{close}'?" if close else ": give an ISO-2 or ISO-3 code, a name, an id or a slug"),
            {"parameter": "idOrIso", "suggestion": close} if close else None,
        )
    count = figures.indicators_of_entities(ctx.view, found.id).get(found.id, 0)
    return ItemAnswer(_country(found, count, of_place(ctx.view, redaction_of(ctx), found.id)))


def _country(entity: Entity, indicators: int, freshness: str | None) -> bytes:
    """Return a country or region. `freshness` None: nothing to judge it by."""
    return msgspec.json.encode(
        records.Country.from_attributes(
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
    """Names of one entity, by scheme, then name."""
    name = ctx.path["idOrSlug"]
    entity = named(ctx, name)
    if entity is None:
        raise ApiError(
            404,
            f"there is no entity {quoted(name)}; /entities/resolve finds one by any name",
            {"parameter": "idOrSlug"},
        )
    if entity.kind in PLACES:
        found = names.of_place(entity)
    else:
        found = company_rows.of_entity(ctx.view, entity.id)
    page, following = keyset(ctx, {(one.scheme, one.alias, one.valid_from or 0): one for one in found})
    return ListAnswer([msgspec.json.encode(_alias(one)) for one in page], following)


def _alias(one: names.Alias) -> AliasSchema:
    return AliasSchema.from_attributes(
        one,
        entity_id=one.entity,
        valid_from=_time(one.valid_from),
        valid_to=_time(one.valid_to),
        source_id=one.source,
    )


def _time(day: int | None) -> str | None:
    return None if day is None else wire_day(date.fromordinal(day))


class _Index(NamedTuple):
    """All that may be meant in one state of the store."""

    places: list[names.Alias]
    #: By type asked for (None: any), by entity id.
    subjects: Mapping[str | None, Mapping[str, Subject]]
    #: Names of places and companies, to be found by likeness.
    spellings: Spellings


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
        index = self._index.of(ctx.view)
        subjects = index.subjects[params["type"]]
        if scheme == NATIVE:
            return ItemAnswer(msgspec.json.encode(_resolved(_by_code(ctx.view, text, subjects))))
        equal = set(report.norms(text).values())
        found = [one for one in index.places if one.norm in equal]
        found += company_rows.matching(ctx.view, sorted(equal)) if equal else []
        found += _by_id(ctx.view.directory, text)
        schemes = None if scheme is None else frozenset([scheme])
        if schemes is not None:
            found = [one for one in found if one.scheme in schemes]
        told = report.resolve(text, found, subjects, index.spellings, day_of(ctx.as_of).toordinal(), schemes)
        if told is None:
            hint = "; it is a publisher's code of a series: ask with scheme=native" if with_code(ctx.view, text) else ""
            raise ApiError(404, f"nothing is called {quoted(text)} or anything like it{hint}", {"parameter": "alias"})
        return ItemAnswer(msgspec.json.encode(_resolved(told)))

    def _made(self, view: View) -> _Index:
        kept = [entity for entity in view.directory.entities.values() if entity.kind in PLACES]
        english = [alias for entity in kept for alias in names.of_place(entity)]
        subjects: dict[str | None, dict[str, Subject]] = {kind: {} for kind in (*PLACES, "company")}
        for one in kept:
            subjects[one.kind][one.id] = Subject(one.id, one.kind, one.name, one.slug, reports=False)
        for entity, name, slug, reports in company_rows.subjects(view):
            subjects["company"][entity] = Subject(entity, "company", name, slug, reports=reports)
        subjects[None] = {entity: one for found in subjects.values() for entity, one in found.items()}
        spelled = [*english, *company_rows.spelled_out(view)]
        if self._spelled is None or self._spelled[0] != spelled:
            self._spelled = spelled, Spellings(spelled)
        return _Index([*english, *foreign_names(kept)], subjects, self._spelled[1])


def _by_id(directory: MetadataCache, text: str) -> list[names.Alias]:
    """Return the alias that an entity's own id is, if the text is one; it counts among its names."""
    name = text.strip().lower()
    entity = directory.entity(name)
    if entity is None or entity.id != name:
        return []
    return [names.Alias(entity.id, entity.id, "other", True, None, None, None, report.norms(text)["other"])]


def _by_code(view: View, text: str, subjects: Mapping[str, Subject]) -> report.Resolution:
    """Return the entities of which a series has this code of its publisher's. Raises ApiError 404."""
    found: dict[str, Match] = {}
    for one in with_code(view, text):
        if one.entity in subjects and one.entity not in found:
            kind, confidence = (
                ("exact", 1.0) if one.code.casefold() == text.strip().casefold() else ("normalized", 0.95)
            )
            alias = names.Alias(one.entity, one.code, NATIVE, True, None, None, None, one.code)
            found[one.entity] = Match(subjects[one.entity], alias, kind, confidence)
    if not found:
        raise ApiError(404, f"no published series has the code {quoted(text)}", {"parameter": "alias"})
    matches = list(found.values())[:_CANDIDATES]
    first = matches[0]
    confidence = first.confidence / len(matches)
    return report.Resolution(first if len(matches) == 1 else None, first.kind, round(confidence, 2), matches)


def _resolved(told: report.Resolution) -> Resolved:
    fields: dict[str, Any] = (
        msgspec.structs.asdict(_candidate(told.best))
        if told.best is not None
        else dict.fromkeys(("entity_id", "type", "name", "slug", "matched_alias", "scheme"))
    )
    fields |= {"match": told.match, "confidence": plain(told.confidence)}
    return Resolved(candidates=[_candidate(one) for one in told.candidates], **fields)


def _candidate(one: Match) -> Candidate:
    return Candidate.from_attributes(
        one.subject,
        entity_id=one.subject.entity,
        matched_alias=one.alias.alias,
        scheme=one.alias.scheme,
        match=one.kind,
        confidence=plain(one.confidence),
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
            record=records.ProviderSchema,
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
            record=records.SourceSchema,
        ),
        Endpoint(
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
            record=records.Country,
            tag="Reference",
        ),
        Endpoint(
            path="/countries/{idOrIso}",
            operation_id="getCountry",
            summary="One country or region",
            description="By id, slug, ISO-2, ISO-3 or ISO numeric code, or any name that /entities/resolve finds exactly; EUR for the "
            "euro area.",
            handler=country,
            braces=(
                Param(
                    "idOrIso",
                    "Id, slug, ISO code or exact name of a country or region; EUR for the euro area.",
                    example="USA",
                ),
            ),
            scope="macro:read",
            record=records.Country,
            tag="Reference",
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
        Endpoint(
            path="/entities/{idOrSlug}/aliases",
            operation_id="listEntityAliases",
            summary="Names of one entity",
            description="Of a country, region or company, by id, slug or any name that /entities/resolve finds exactly: name, former names, codes, tickers and identifiers, with "
            "the days they were used where these are stated. A ticker of today has no last day; a retired one ends with the day it was "
            "last seen.",
            handler=of_entity,
            braces=(Param("idOrSlug", "Id, slug or exact name of an entity.", example="apple-inc"),),
            scope="reference:read",
            kind="list",
            record=AliasSchema,
            tag="Entities",
        ),
        Endpoint(
            path="/entities/resolve",
            operation_id="resolveEntity",
            summary="Which entity a name means",
            description="By name (of a country in the large languages too: Allemagne, 日本), former name, ISO code, ticker, CIK, LEI, slug or id. Exact first (case does not matter), else but for "
            "punctuation, accents, legal form and the like, else by likeness. A name valid on the day asked goes before one that is not; "
            "of companies of one name the only one with statements goes first. Where several fit as well, `entityId` is null and "
            "all of them are candidates; likeness alone never answers for what looks like a ticker or a CIK. Nothing close: 404. "
            "With `scheme=native` the entity of which a published series has this code of its publisher's.",
            handler=Resolver().resolve,
            scope="reference:read",
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
