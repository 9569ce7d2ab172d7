"""Derived indicators and who has them; sovereign rates."""

from __future__ import annotations

import msgspec

from almanac.api import indicators
from almanac.api.endpoint import Context, Endpoint, Item, Listing
from almanac.api.errors import ApiError
from almanac.api.paging import keyset
from almanac.api.records import DerivedIndicatorEntity, Indicator
from almanac.domain.observations import FORECAST
from almanac.domain.periods import end_of
from almanac.domain.reference import Entity
from almanac.reports import rates as report
from almanac.store.company_rows import names as company_names
from almanac.store.figures import entities_with
from almanac.store.fragments import value_of
from almanac.store.latest import frequencies_of, reading
from almanac.store.reading import Selection
from almanac.store.series import numbers_of


def rates(ctx: Context) -> Item:
    """Spreads and slopes of one scope."""
    scope = ctx.path["scope"].upper()
    if scope not in report.SCOPES:
        raise ApiError(
            404,
            f"'scope' must be one of {', '.join(report.SCOPES)}",
            {"parameter": "scope", "reason": "unsupported", "supportedScopes": list(report.SCOPES)},
        )
    by_scope = {e.rates_scope: e for e in ctx.view.directory.entities.values() if e.rates_scope}
    found: list[report.Reading] = []
    withheld: list[str] = []
    for name in report.SCOPES:
        if name in by_scope:
            for tenor in report.TENORS:
                one, note = _yield(ctx, name, by_scope[name], tenor)
                found += [one] if one is not None else []
                withheld += [note] if note is not None else []
    entity = by_scope.get(scope)
    payload = report.rates(
        scope, entity.name if entity else scope, entity.currency if entity else None, found, withheld
    )
    return Item(msgspec.json.encode(payload))


def _yield(ctx: Context, scope: str, entity: Entity, tenor: str) -> tuple[report.Reading | None, str | None]:
    """The latest public yield of a tenor, or a sentence on why one that exists is not shown."""
    view, indicator = ctx.view, f"gov_yield_{tenor}"
    series = [view.directory.series(number) for number in numbers_of(view.db, indicator, entity.id)]
    public = frozenset(s.source.id for s in series if not s.rights.withheld)
    if series and not public:
        return None, f"{scope} {tenor}: there is a yield, but it may not be shown ({series[0].rights.reason})."
    row = reading(
        view,
        Selection(sources=None if len(public) == len(series) else public, ends_from=ctx.window_start),
        indicator,
        entity.id,
        frequencies_of(view, indicator, entity.id),
        version=ctx.version,
        as_of=None,
    )
    value = None if row is None or row.flags & FORECAST else value_of(row.marked)[0]
    if row is None or value is None:
        return None, None
    spec = row.series.spec
    return (
        report.Reading(
            scope,
            tenor,
            value,
            end_of(row.period),
            row.known,
            row.series.id,
            row.series.source.id,
            spec.curve_type,
            spec.compounding,
        ),
        None,
    )


def derived_indicators(ctx: Context) -> Listing:
    """Indicators of kind derived."""
    return indicators.listing(ctx, kind="derived")


def derived_indicator(ctx: Context) -> Item:
    """One derived indicator."""
    return Item(indicators.encoded(ctx, indicators.find(ctx, kind="derived")))


def entities(ctx: Context) -> Listing:
    """Entities for which a derived indicator has data, by name."""
    indicator = indicators.find(ctx, kind="derived")
    places = ctx.view.directory.entities
    ids = entities_with(ctx.view.db, indicator.slug, ctx.window_start)
    companies = company_names(ctx.view.db) if any(i not in places for i in ids) else {}
    named = {i: places[i].name if i in places else companies[i] for i in ids if i in places or i in companies}
    page, following = keyset(ctx, {(name, i): i for i, name in named.items()})
    rows = [msgspec.json.encode(DerivedIndicatorEntity(entity_id=i, name=named[i])) for i in page]
    return Listing(rows, following)


ENDPOINTS = (
    Endpoint(
        path="/rates/{scope}",
        operation_id="getRates",
        summary="Sovereign rates analytics",
        description="Spreads per tenor (2y, 5y, 10y, 30y) against each peer and the peer mean, and curve slopes (2s10s, 5s30s), "
        "in basis points, from the latest public yield of each. Scopes: AUS, CAN, CHE, EUR, GBR, JPN, USA. Takes no parameters.",
        handler=rates,
        scope="analytics:read",
        kind="item",
        record=report.Rates,
        dated=True,
        tag="Analytics",
    ),
    Endpoint(
        path="/derived-indicators",
        operation_id="listDerivedIndicators",
        summary="Derived indicators",
        handler=derived_indicators,
        scope="analytics:read",
        params=indicators.FILTERS[:1] + indicators.FILTERS[2:],
        kind="list",
        record=Indicator,
        tag="Analytics",
    ),
    Endpoint(
        path="/derived-indicators/{idOrSlug}",
        operation_id="getDerivedIndicator",
        summary="One derived indicator",
        handler=derived_indicator,
        scope="analytics:read",
        record=Indicator,
        tag="Analytics",
    ),
    Endpoint(
        path="/derived-indicators/{idOrSlug}/entities",
        operation_id="listDerivedIndicatorEntities",
        summary="Entities that a derived indicator has data for",
        handler=entities,
        scope="analytics:read",
        kind="list",
        record=DerivedIndicatorEntity,
        tag="Analytics",
    ),
)
