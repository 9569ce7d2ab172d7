"""Indicators and the series behind them."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Annotated, Any, Literal

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, ListAnswer
from almanac.api.contract.errors import ApiError, not_found, quoted, refuse
from almanac.api.contract.params import Param
from almanac.api.contract.records import Record, RowRights
from almanac.api.rows import filters
from almanac.api.rows.filters import COMPANIES, INDICATOR_IN_PATH, warn_of_scopes
from almanac.api.rows.names import suggested_indicator
from almanac.api.rows.redaction import Redaction, redaction_of
from almanac.domain import fields
from almanac.domain.companies import is_company, raw_slug
from almanac.domain.fields import Time, says
from almanac.domain.periods import Frequency, end_of
from almanac.domain.reference import INDICATOR_CATEGORIES, Indicator
from almanac.domain.times import wire_day, wire_time
from almanac.domain.units import currency_of, is_money
from almanac.reports.indicator_search import CALLED, nearness, relevance
from almanac.store.companies.rows import names as company_names
from almanac.store.observations.reading.metadata import MIXED_SOURCE
from almanac.store.state_memory import Remembered
from almanac.store.summary.figures import Counted, Figures, by_indicator, entities_with, of_indicator
from almanac.store.summary.native_codes import code_form, holding

_FirstPeriod = Annotated[Time | None, says("Last day of its oldest period. Null: there are no values.")]


_LastPeriod = Annotated[Time | None, says("Last day of its newest period, forecasts aside. Null: there are no values.")]


class IndicatorSchema(Record):
    """A concept with one meaning everywhere."""

    id: fields.IndicatorId
    slug: Annotated[str, says("Its name in filters and paths.", "cpi_inflation_yoy")]
    name: Annotated[str, says("Its name for people.", "Consumer price inflation")]
    description: Annotated[str, says("What it measures, and how.")]
    category: Annotated[str, says("Its subject.", enum=INDICATOR_CATEGORIES)]
    kind: Annotated[Literal["raw", "derived"], says("Published by a source, or computed here by a formula.")]
    unit: Annotated[
        str | None,
        says(
            "What its values count. Null: its series differ in it (each has its own, or its own currency), or it is a score."
        ),
    ]
    currency: Annotated[
        str | None,
        says("ISO 4217 code of the currency of `unit`. Null: it is no money, or each series has its own.", "USD"),
    ]
    unit_label: Annotated[str | None, says("The unit in words. Null: its series differ in it.", "%")]
    frequencies: Annotated[list[fields.FrequencyWord], says("Frequencies that there are values of.")]
    seasonal_adjustment: Annotated[str | None, says("SA or NSA, if part of its meaning. Null: its series say.", "NSA")]
    formula: Annotated[str | None, says("How it is computed. Null: it is published.")]
    inputs: Annotated[list[str], says("Ids of the indicators it is computed from; empty for a raw one.")]
    preferred_providers: Annotated[list[str], says("Ids of providers, the one whose values are preferred first.")]
    aliases: Annotated[list[str], says("Other names that filters take, publishers' own among them.")]
    screenable: Annotated[bool, says("Whether a screener's filter may name it.")]
    series_count: Annotated[int, says("How many series have values of it.")]
    entity_count: Annotated[int, says("How many entities have values of it.")]
    first_period: _FirstPeriod
    last_period: _LastPeriod


class SeriesSchema(Record):
    """One indicator of one entity at one frequency from one source."""

    id: fields.SeriesId
    indicator_id: fields.IndicatorId
    entity_id: fields.EntityId
    source_id: fields.SourceId
    provider_id: fields.ProviderId
    native_id: Annotated[str, says("The publisher's own code of the series; of a computed one the indicator's slug.")]
    name: Annotated[str, says("What the series is, in words.")]
    frequency: fields.FrequencyWord
    unit: fields.Unit
    currency: fields.Currency
    preferred: Annotated[bool, says("Whether its rows come first among the sources of the same indicator and entity.")]
    first_period: _FirstPeriod
    last_period: Annotated[Time | None, says("Last day of its newest period. Null: it has no values now.")]
    observation_count: Annotated[int, says("How many periods have a value now.")]
    vintage_count: Annotated[int, says("How many published states of its periods are kept.")]
    vintages_from: Annotated[Time | None, says("The oldest knowledge time among them. Null: there are none.")]
    last_observed_at: Annotated[Time | None, says("The newest knowledge time among them. Null: there are none.")]
    freshness_status: fields.FreshnessStatus
    rights: Annotated[RowRights, says("What may be done with its values.")]


class DerivedIndicatorEntity(Record):
    """An entity that a derived indicator has data for."""

    entity_id: fields.EntityId
    name: Annotated[str, says("Name of the entity.")]


NATIVE_ID = Param(
    "native_id",
    "Publishers' own codes of series, as `nativeId` tells them; case does not matter, and / is as good as a point. Several "
    "separated by commas.",
    "list",
    maximum=filters.MOST_VALUES,
    example="CPIAUCSL",
)
#: The order that words give.
_RELEVANCE = "relevance"
FILTERS = (
    Param("category", "Only indicators of this category.", "enum", choices=INDICATOR_CATEGORIES),
    Param("kind", "Only raw or only derived indicators.", "enum", choices=("raw", "derived")),
    Param(
        "q",
        "Words to look for in slug, name, description and aliases, publishers' names among them, or a publisher's own code of a series (CPIAUCSL), or a "
        "part of one with a digit or a sign in it (NY.GDP.MKTP.CD); case does not matter.",
        longest=100,
        example="fed funds",
    ),
    Param(
        "sort",
        "By id, or by relevance to the words of `q`: first what is called so, then what has a name that begins with them, "
        "then what has them in a name, then what mentions them; measures of companies after others that are as near.",
        "enum",
        default="id",
        choices=("id", _RELEVANCE),
    ),
)


def find(ctx: Context, kind: str | None = None) -> Indicator:
    """Return the indicator the path names. Raises ApiError 404."""
    name = ctx.path["idOrSlug"]
    directory = ctx.view.directory
    indicator: Indicator | None = directory.indicator(name)
    if indicator is None:
        what = "indicator" if kind is None else f"{kind} indicator"
        raise not_found("idOrSlug", what, name, suggestion=suggested_indicator(ctx, name, kind))
    if kind is not None and indicator.kind != kind:
        elsewhere = (
            f"{quoted(name)} is a {indicator.kind} indicator, not a {kind} one; see /indicators/{indicator.slug}"
        )
        raise ApiError(404, elsewhere, {"parameter": "idOrSlug"})
    return indicator


_FIGURES: Remembered[dict[str, Figures]] = Remembered("figures", by_indicator)


def encoded(ctx: Context, indicator: Indicator, figures: Figures | None = None) -> bytes:
    """Return the record of an indicator, as JSON, with what is counted of it: looked up where it is not given."""
    directory = ctx.view.directory
    if figures is None:
        figures = by_indicator(ctx.view, [indicator.slug]).get(indicator.slug, Figures())
    unit = directory.units.get(indicator.unit) if indicator.unit else None
    # Series in local currency have no unit in common, and each has its own.
    currency = currency_of(indicator.unit, None)
    providers = [
        directory.sources[s].provider for s in indicator.preferred if s in directory.sources and s != MIXED_SOURCE
    ]
    return msgspec.json.encode(
        IndicatorSchema.from_attributes(
            indicator,
            unit=None if is_money(indicator.unit) and currency is None else indicator.unit,
            currency=currency,
            unit_label=unit.label if unit else None,
            frequencies=[Frequency(letter).word for letter in figures.frequencies],
            inputs=[f"indicator_{slug}" for slug in indicator.inputs],
            preferred_providers=list(dict.fromkeys(providers)),
            aliases=list(indicator.other_names),
            series_count=figures.series,
            entity_count=figures.entities,
            first_period=day(figures.first_period),
            last_period=day(figures.last_period),
        )
    )


def day(found: date | None) -> str | None:
    """Return a day as the wire writes it."""
    return None if found is None else wire_day(found)


def listing(ctx: Context, kind: str | None = None) -> ListAnswer:
    """List indicators by id, or by what is nearest to the words looked for."""
    params = ctx.params
    kind = kind or params["kind"]
    every = ctx.view.directory.indicators
    wanted = [
        i
        for i in every.values()
        if (kind is None or i.kind == kind) and (params["category"] is None or i.category == params["category"])
    ]
    if params["q"] is None:
        if params["sort"] == _RELEVANCE:
            raise refuse("sort", "is relevance, which is relevance to words: give them in 'q'", ["id"])
        near = dict.fromkeys((i.slug for i in wanted), CALLED)
    else:
        # What a publisher's code leads to, or a tag of companies' filings, is as near as what is called so.
        coded = holding(ctx.view, params["q"])
        with contextlib.suppress(ValueError):
            coded.add(raw_slug(params["q"].strip()))
        nearest = {i.slug: CALLED if i.slug in coded else nearness(i, params["q"]) for i in wanted}
        near = {slug: distance for slug, distance in nearest.items() if distance is not None}
    matches = [i for i in wanted if i.slug in near]
    keyed: dict[Any, Indicator] = {i.id: i for i in matches}
    if params["sort"] == _RELEVANCE:
        keyed = {relevance(i, near[i.slug], every): i for i in matches}
    page, following = ctx.page(keyed)
    figures = _FIGURES.of(ctx.view)
    return ListAnswer([encoded(ctx, i, figures.get(i.slug, Figures())) for i in page], following)


def series(ctx: Context) -> ListAnswer:
    """List the series of one indicator, by id."""
    indicator = find(ctx)
    params = ctx.params
    who, what = filters.entities(ctx), filters.sources(ctx)
    filters.warn_of_scopes(ctx, None, (indicator.slug,), who)
    companies = ctx.may_read(filters.COMPANIES)
    if indicator.kind == "derived" and not ctx.may_read(filters.ANALYTICS):
        return ListAnswer([])
    descending, limit = params["order"] == "desc", params["limit"]
    redaction = redaction_of(ctx)
    counted = [
        row
        for row in of_indicator(ctx.view, indicator.slug, descending, ctx.after[0] if ctx.after else None)
        if (companies or not is_company(row.entity))
        and (who is None or row.entity in who)
        and (what is None or row.source in what)
        and (params["frequency"] is None or row.frequency == params["frequency"])
    ]
    if ctx.params["native_id"] is not None:
        codes = {row.number: code_form(ctx.view.directory.series(row.number).spec.native) for row in counted}
        wanted = {code_form(code) for code in ctx.params["native_id"]}
        for code in ctx.params["native_id"][: filters.SUGGESTIONS]:
            if code_form(code) not in codes.values():
                ctx.warn("native_id", code, "is the code of no series of this indicator")
        counted = [row for row in counted if codes[row.number] in wanted]
    page = counted[:limit]
    rows = [_series(ctx, redaction, row) for row in page]
    return ListAnswer(rows, [page[-1].id] if len(counted) > limit else None)


def _series(ctx: Context, redaction: Redaction, counted: Counted) -> bytes:
    directory = ctx.view.directory
    info = directory.series(counted.number)
    rivals = [directory.series(number) for number in counted.rivals]
    best = min(rivals, key=lambda s: (s.rights.withheld, directory.rank_of(s, ctx.version)))
    spec = info.spec
    head: bytes = msgspec.json.encode(
        {
            "id": info.id,
            "indicatorId": f"indicator_{spec.indicator}",
            "entityId": spec.entity,
            "sourceId": info.source.id,
            "providerId": info.source.provider,
            "nativeId": spec.code,
            "name": spec.name,
            "frequency": spec.frequency.word,
            "unit": info.unit,
            "currency": info.currency,
            "preferred": best.number == info.number,
            "firstPeriod": None if counted.first_period is None else day(end_of(counted.first_period)),
            "lastPeriod": None if counted.last_period is None else day(end_of(counted.last_period)),
            "observationCount": counted.rows,
            "vintageCount": counted.vintages,
            "vintagesFrom": None if counted.first_known is None else wire_time(counted.first_known),
            "lastObservedAt": None if counted.last_known is None else wire_time(counted.last_known),
            "freshnessStatus": redaction.freshness(info),
        }
    )
    return head[:-1] + b',"rights":' + info.rights.encoded + b"}"


_INDICATORS = partial(Endpoint, scope="macro:read", record=IndicatorSchema, tag="Indicators")
ENDPOINTS = (
    _INDICATORS(
        path="/indicators",
        operation_id="listIndicators",
        summary="Indicators",
        description="Every concept of the catalogue, raw and derived, with how much of it there is.",
        handler=listing,
        params=FILTERS,
        kind="list",
        cost="thread",
        cached=True,
    ),
    _INDICATORS(
        path="/indicators/{idOrSlug}",
        operation_id="getIndicator",
        summary="One indicator",
        handler=lambda ctx: ItemAnswer(encoded(ctx, find(ctx))),
        braces=(filters.INDICATOR_IN_PATH,),
    ),
    _INDICATORS(
        path="/indicators/{idOrSlug}/series",
        operation_id="listIndicatorSeries",
        summary="Series of one indicator",
        handler=series,
        braces=(filters.INDICATOR_IN_PATH,),
        params=(
            filters.COUNTRY,
            filters.ENTITY,
            filters.ENTITY_ID,
            filters.SOURCE_ID,
            filters.PROVIDER_ID,
            filters.FREQUENCY,
            NATIVE_ID,
        ),
        kind="list",
        record=SeriesSchema,
    ),
)


def entities_of_derived(ctx: Context) -> ListAnswer:
    """List entities for which a derived indicator has data, by name."""
    indicator = find(ctx, kind="derived")
    places = ctx.view.directory.entities
    ids = entities_with(ctx.view, indicator.slug, ctx.window_start)
    warn_of_scopes(ctx, None, (indicator.slug,), None)
    if not ctx.may_read(COMPANIES):
        ids = [i for i in ids if not is_company(i)]
    companies = company_names(ctx.view) if any(i not in places for i in ids) else {}
    named = {i: places[i].name if i in places else companies[i] for i in ids if i in places or i in companies}
    page, following = ctx.page({(name, i): i for i, name in named.items()})
    rows = [msgspec.json.encode(DerivedIndicatorEntity(entity_id=i, name=named[i])) for i in page]
    return ListAnswer(rows, following)


_DERIVED_IN_PATH = replace(
    INDICATOR_IN_PATH, description="Id, slug or alias of a derived indicator.", example="cpi_inflation_yoy"
)
_ANALYTICS = partial(Endpoint, scope="analytics:read", record=IndicatorSchema, tag="Analytics")
DERIVED_ENDPOINTS = (
    _ANALYTICS(
        path="/derived-indicators",
        operation_id="listDerivedIndicators",
        summary="Derived indicators",
        handler=lambda ctx: listing(ctx, kind="derived"),
        params=FILTERS[:1] + FILTERS[2:],
        kind="list",
        cost="thread",
        cached=True,
    ),
    _ANALYTICS(
        path="/derived-indicators/{idOrSlug}",
        operation_id="getDerivedIndicator",
        summary="One derived indicator",
        handler=lambda ctx: ItemAnswer(encoded(ctx, find(ctx, kind="derived"))),
        braces=(_DERIVED_IN_PATH,),
    ),
    _ANALYTICS(
        path="/derived-indicators/{idOrSlug}/entities",
        operation_id="listDerivedIndicatorEntities",
        summary="Entities that a derived indicator has data for",
        handler=entities_of_derived,
        braces=(_DERIVED_IN_PATH,),
        kind="list",
        record=DerivedIndicatorEntity,
    ),
)
