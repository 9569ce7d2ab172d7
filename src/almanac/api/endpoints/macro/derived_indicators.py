"""Derived indicators, and the entities that have data of one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, ListAnswer
from almanac.api.endpoints.macro import indicators
from almanac.api.endpoints.macro.records import DerivedIndicatorEntity, IndicatorSchema
from almanac.api.rows.filters import COMPANIES, INDICATOR_IN_PATH, scopes_lacking, warn_of_scopes
from almanac.api.rows.paging import keyset
from almanac.domain.companies import is_company
from almanac.store.companies.rows import names as company_names
from almanac.store.summary.figures import entities_with


def entities(ctx: Context) -> ListAnswer:
    """List entities for which a derived indicator has data, by name."""
    indicator = indicators.find(ctx, kind="derived")
    places = ctx.view.directory.entities
    ids = entities_with(ctx.view, indicator.slug, ctx.window_start)
    warn_of_scopes(ctx, scopes_lacking(ctx, None, (indicator.slug,), None))
    if not ctx.may_read(COMPANIES):
        ids = [i for i in ids if not is_company(i)]
    companies = company_names(ctx.view) if any(i not in places for i in ids) else {}
    named = {i: places[i].name if i in places else companies[i] for i in ids if i in places or i in companies}
    page, following = keyset(ctx, {(name, i): i for i, name in named.items()})
    rows = [msgspec.json.encode(DerivedIndicatorEntity(entity_id=i, name=named[i])) for i in page]
    return ListAnswer(rows, following)


_DERIVED = replace(
    INDICATOR_IN_PATH, description="Id, slug or alias of a derived indicator.", example="cpi_inflation_yoy"
)
_ANALYTICS = partial(Endpoint, scope="analytics:read", record=IndicatorSchema, tag="Analytics")
ENDPOINTS = (
    _ANALYTICS(
        path="/derived-indicators",
        operation_id="listDerivedIndicators",
        summary="Derived indicators",
        handler=lambda ctx: indicators.listing(ctx, kind="derived"),
        params=indicators.FILTERS[:1] + indicators.FILTERS[2:],
        kind="list",
    ),
    _ANALYTICS(
        path="/derived-indicators/{idOrSlug}",
        operation_id="getDerivedIndicator",
        summary="One derived indicator",
        handler=lambda ctx: ItemAnswer(indicators.encoded(ctx, indicators.find(ctx, kind="derived"))),
        braces=(_DERIVED,),
    ),
    _ANALYTICS(
        path="/derived-indicators/{idOrSlug}/entities",
        operation_id="listDerivedIndicatorEntities",
        summary="Entities that a derived indicator has data for",
        handler=entities,
        braces=(_DERIVED,),
        kind="list",
        record=DerivedIndicatorEntity,
    ),
)
