"""Reference data: providers, sources, countries."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, ListAnswer
from almanac.api.contract.errors import ApiError, quoted
from almanac.api.contract.params import Param
from almanac.api.endpoints.macro.indicators import day
from almanac.api.endpoints.reference import records
from almanac.api.rows.filters import LICENSE, licensed
from almanac.api.rows.names import PLACES, place, suggested_place
from almanac.api.rows.paging import keyset
from almanac.api.rows.redaction import Redaction, redaction_of
from almanac.domain.health import Feed, Tried, health
from almanac.domain.reference import Entity, Provider, Source
from almanac.domain.rights import Exposure, effective
from almanac.domain.times import wire_time
from almanac.store.observations.reading.reader import View
from almanac.store.state_memory import Remembered
from almanac.store.summary import coverage, feeds, figures

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
            records.ProviderSchema(
                id=provider.id,
                name=provider.name,
                kind=provider.kind,
                country=provider.country,
                homepage=provider.homepage,
                source_ids=sorted(s.id for s in directory.sources.values() if s.provider == provider.id),
                attribution=provider.attribution,
            )
        )

    page, following = keyset(ctx, directory.providers)
    return ListAnswer([record(one) for one in page], following)


def sources(ctx: Context) -> ListAnswer:
    """List sources by id."""
    directory, tried = ctx.view.directory, feeds.tried(ctx.view)
    held, fed, computed = remembered(ctx, of_sources)

    def record(source: Source) -> bytes:
        counted = held.get(source.id, figures.Figures())
        asked, feed = tried.get(source.id, Tried()), fed.get(source.id, Feed())
        fresh = best(feed.words) if source.connector else computed[source.id]
        rights = source.rights
        consent = directory.consents.get(source.id)
        exposure = effective(rights, Exposure.public, consent)
        return msgspec.json.encode(
            records.SourceSchema(
                id=source.id,
                provider_id=source.provider,
                name=source.name,
                description=source.description,
                homepage=source.homepage,
                license=rights.license,
                attribution=rights.attribution,
                rights=records.SourceRights(
                    exposure=exposure.name,  # type: ignore[arg-type]  # the names of the enumeration are these
                    redistributable=exposure is Exposure.public,
                    reason=None if exposure is Exposure.public else rights.channel_reason or rights.reason,
                    license=rights.license,
                    license_class=rights.asks_for,  # type: ignore[arg-type]  # those of the rights are these
                    attribution=rights.attribution,
                    commercial_use=rights.commercial_use,
                    derivatives_allowed=rights.derivatives_allowed,
                    modification_rule=rights.modification_rule,
                    terms_url=rights.terms_url,
                    terms_read_on=rights.terms_read_on,
                    consent=None
                    if consent is None
                    else {"by": consent.by, "on": consent.on, "reference": consent.reference},
                ),
                frequencies=[f.word for f in source.frequencies],
                stores_vintages=source.stores_vintages,
                series_count=counted.series,
                first_period=day(counted.first_period),
                last_period=day(counted.last_period),
                last_ingested_at=None if asked.last_ingested is None else wire_time(asked.last_ingested),
                last_success_at=None if asked.last_success is None else wire_time(asked.last_success),
                health=health(source, asked, feed, ctx.now).word if source.connector else "ok",
                freshness_status=fresh,  # type: ignore[arg-type]  # likewise
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
        records.Country(
            id=entity.id,
            slug=entity.slug,
            name=entity.name,
            iso_alpha2=entity.iso2,
            iso_alpha3=entity.iso3,
            kind=entity.kind,  # type: ignore[arg-type]  # only these two are asked for
            region=entity.region,
            income_group=entity.income_group,
            currency=entity.currency,
            aliases=[*entity.aliases, *entity.former_names],
            indicator_count=indicators,
            rates_scope=entity.rates_scope is not None,
            freshness_status=(freshness or "unknown") if indicators else "unknown",  # type: ignore[arg-type]  # one of the three
        )
    )


#: The time of the last ingestion aside, which moves without a data version.
_COVERAGE = Remembered("coverage", coverage.coverage)


def held(ctx: Context) -> ItemAnswer:
    """Return what the service holds, counted once for each state of the data."""
    counted = msgspec.structs.replace(_COVERAGE.of(ctx.view), last_ingested_at=coverage.last_ingested(ctx.view))
    return ItemAnswer(msgspec.json.encode(counted))


_REFERENCE = partial(Endpoint, scope="reference:read", tag="Reference")
ENDPOINTS = (
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
)
