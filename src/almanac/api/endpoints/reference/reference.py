"""Reference data: providers, sources, countries."""

from __future__ import annotations

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, ListAnswer
from almanac.api.contract.errors import ApiError, quoted
from almanac.api.contract.params import Param
from almanac.api.endpoints.macro.indicators import day
from almanac.api.endpoints.reference import records, standing
from almanac.api.rows.filters import LICENSE, licensed
from almanac.api.rows.names import PLACES, place, suggested_place
from almanac.api.rows.paging import keyset
from almanac.api.rows.redaction import redaction_of
from almanac.domain.health import Feed, Tried, health
from almanac.domain.reference import Entity, Provider, Source
from almanac.domain.rights import Exposure, effective
from almanac.domain.times import wire_time
from almanac.store.state_memory import Remembered
from almanac.store.summary import coverage, feeds, figures


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


class ReferenceLists:
    """The lists of sources and of countries, with what one process remembers of how they stand."""

    def __init__(self) -> None:
        self._sources = standing.Memory(standing.of_sources)
        self._countries = standing.Memory(standing.of_countries)

    def sources(self, ctx: Context) -> ListAnswer:
        """List sources by id."""
        directory, tried = ctx.view.directory, feeds.tried(ctx.view)
        held, fed, computed = self._sources.of(ctx)

        def record(source: Source) -> bytes:
            counted = held.get(source.id, figures.Figures())
            asked, feed = tried.get(source.id, Tried()), fed.get(source.id, Feed())
            fresh = standing.best(feed.words) if source.connector else computed[source.id]
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

    def countries(self, ctx: Context) -> ListAnswer:
        """Countries and regions by name, then id."""
        counts, freshness = self._countries.of(ctx)
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
    return ItemAnswer(_country(found, count, standing.of_place(ctx.view, redaction_of(ctx), found.id)))


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


def endpoints() -> tuple[Endpoint, ...]:
    """Return the endpoints of reference data, with what they remember."""
    lists = ReferenceLists()
    return (
        Endpoint(
            path="/providers",
            operation_id="listProviders",
            summary="Providers",
            description="Who publishes.",
            handler=providers,
            scope="reference:read",
            kind="list",
            record=records.ProviderSchema,
            tag="Reference",
        ),
        Endpoint(
            path="/sources",
            operation_id="listSources",
            summary="Sources",
            description="Feeds, each with its licence, rights, health and freshness.",
            handler=lists.sources,
            scope="reference:read",
            params=(LICENSE,),
            kind="list",
            cost="thread",
            record=records.SourceSchema,
            tag="Reference",
        ),
        Endpoint(
            path="/countries",
            operation_id="listCountries",
            summary="Countries and regions",
            handler=lists.countries,
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
