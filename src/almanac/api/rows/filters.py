"""Parameters that observation lists share, and what they select."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import repeat

from almanac.api.contract.endpoint import ALL_SCOPES, Context
from almanac.api.contract.params import Param, day_of
from almanac.api.rows.names import place, suggested, suggested_entity, suggested_indicator, suggested_place
from almanac.domain.companies import FiscalPeriod, is_company
from almanac.domain.periods import FREQUENCY_NAMES
from almanac.domain.reference import Provider, Source
from almanac.domain.rights import LICENSE_CLASSES
from almanac.domain.times import DAY_SECONDS
from almanac.store.observations.reading.query import SORTS, ObservationFilter
from almanac.store.summary.figures import of_companies

#: Letters in capitals, as the interface writes them: a client that checks against the description may send no others.
FREQUENCIES = {name.upper() if len(name) == 1 else name: frequency.value for name, frequency in FREQUENCY_NAMES.items()}

#: Values that a list by comma takes.
MOST_VALUES = 100


def _list(name: str, description: str, example: str | None = None) -> Param:
    return Param(name, f"{description}; several separated by commas.", "list", maximum=MOST_VALUES, example=example)


def span(what: str, *, start: str | None = "2025-01-01", end: str | None = "2025-12-31") -> tuple[Param, Param]:
    """Return `start_date` and `end_date`, which bound what is described; `start` and `end` are their examples."""
    return (
        Param("start_date", f"{what} from this time on.", "time", until="end_date", example=start),
        Param("end_date", f"{what} up to this time.", "time", edge="end", window=True, example=end),
    )


COUNTRY = _list(
    "country",
    "ISO-2, ISO-3 or numeric code, id, slug or exact name of a country; EUR for the euro area: the area's own rows",
    example="USA",
)
DOMICILE = _list(
    "country", "Domicile: ISO-2, ISO-3 or numeric code, id, slug or exact name of a country", example="USA"
)
ENTITY = _list("entity", "Id or slug of an entity", example="united-states")
ENTITY_ID = _list("entity_id", "Id or slug of an entity", example="country_usa")
INDICATOR = Param("indicator", "Id, slug or alias of an indicator.", example="gov_yield_10y")
INDICATORS = Param(
    "indicator_id", "Ids, slugs or aliases of indicators, separated by commas; joined with `indicator`.", "list", maximum=MOST_VALUES,
    example="gov_yield_2y,gov_yield_10y",
)  # fmt: skip
#: What stands in braces in paths.
INDICATOR_IN_PATH = Param("idOrSlug", "Id, slug or alias of an indicator.", example="gov_yield_10y")
COMPANY_IN_PATH = Param(
    "idOrLookup", "Entity id, ticker, CIK, LEI, slug or exact name of a company.", example="apple-inc"
)
SOURCE_ID = _list("source_id", "Id of a source, which narrows the candidates before the preferred one is chosen")
PROVIDER_ID = _list("provider_id", "Id of a provider, which narrows the candidates before the preferred one is chosen")
LICENSE = Param(
    "license",
    "What the terms of the source ask for: "
    + "; ".join(f"`{name}`: {what}" for name, what in LICENSE_CLASSES.items())
    + ". Several separated by commas. It narrows the candidates before the preferred one is chosen; what is computed from"
    " several sources counts as `consent`.",
    "list",
    maximum=len(LICENSE_CLASSES),
    choices=tuple(LICENSE_CLASSES),
    example="open,attribution",
)
FREQUENCY = Param(
    "frequency",
    "Letter or word: A annual, S semiannual, Q quarterly, M monthly, W weekly, D daily.",
    "enum",
    choices=FREQUENCIES,
)
AS_OF = Param(
    "as_of", "Point-in-time cutoff: the latest vintage known by then. A bare date means its last second, UTC.", "time",
    edge="end", window=True, not_future=True, example="2024-06-30",
)  # fmt: skip
SOURCES = Param(
    "sources", "`preferred`: one row per entity, indicator, frequency and period; `all`: every provider's row.", "enum",
    "preferred", choices=("preferred", "all"),
)  # fmt: skip
PERIODS = (
    Param(
        "period",
        "Reference periods lying inside 2026, 2026-Q3, 2026-10 or 2026-10-31 of the calendar; of companies also FY2026, "
        "FY2026-Q3 or FY2026-H1: those inside of what each calls so.",
        "period",
        window=True,
        example="2025",
    ),
    Param(
        "period_start",
        "Periods starting on or after this time; what is of one day alone, as a balance sheet is, on or after it.",
        "time",
        until="period_end",
        example="2025-01-01",
    ),
    Param(
        "period_end", "Periods ending on or before this time.", "time", edge="end", window=True, example="2025-12-31"
    ),
    *span("Rows known (observedAt)", start=None, end=None),
)

#: Filters of GET /observations and its kin, in the order of the interface document.
OBSERVATION_FILTERS = (
    COUNTRY,
    ENTITY,
    ENTITY_ID,
    INDICATORS,
    INDICATOR,
    SOURCE_ID,
    PROVIDER_ID,
    LICENSE,
    FREQUENCY,
    *PERIODS,
    AS_OF,
    SOURCES,
)
SORT = Param("sort", "Sort field; ties keep the default order.", "enum", "topic", choices=tuple(SORTS))


#: Parameters that narrow the sources.
_OF_SOURCES = ("source_id", "provider_id", "license")
#: Names in vain for which one that may have been meant is looked for.
SUGGESTIONS = 10
#: Scopes that rows want of a key, whatever list they are in.
COMPANIES, ANALYTICS = "companies:read", "analytics:read"
#: Where the rows of indicators of a kind are.
_PATHS = {"raw": "/observations", "derived": "/derived-observations"}


def selection(ctx: Context, kind: str | None) -> ObservationFilter:
    """Return what the shared parameters of a request select. An unknown but well-formed name selects nothing."""
    params = ctx.params
    period, start, end = params.get("period"), params.get("period_start"), params.get("period_end")
    fiscal = period if isinstance(period, FiscalPeriod) else None
    starts_from, ends_by = (
        (None, None) if period is None else (period.start, period.end) if fiscal is None else fiscal.span
    )
    if start is not None:
        # A period starts at midnight: one that starts on the day of a later hour is too early.
        first = day_of(start + DAY_SECONDS - 1)
        starts_from = first if starts_from is None else max(starts_from, first)
    if end is not None:
        last = day_of(end)
        ends_by = last if ends_by is None else min(ends_by, last)
    slugs, ids = indicators(ctx, kind), entities(ctx)
    companies = derived = True
    if ALL_SCOPES not in ctx.key.scopes:
        companies, derived = ctx.may_read(COMPANIES), ctx.may_read(ANALYTICS)
        warn_of_scopes(ctx, kind, slugs, ids)
    return ObservationFilter(
        kind=kind if derived else "raw",
        indicators=slugs if derived or kind != "derived" else (),
        companies=companies,
        countries=fiscal is None,
        entities=ids,
        sources=sources(ctx) if any(map(params.get, _OF_SOURCES)) else None,
        frequency=params.get("frequency"),
        starts_from=starts_from,
        ends_by=ends_by,
        ends_from=ctx.window_start,
        observed_from=params.get("start_date"),
        observed_to=params.get("end_date"),
        fiscal=fiscal,
    )


def warn_of_scopes(
    ctx: Context, kind: str | None, indicators: tuple[str, ...] | None, entities: tuple[str, ...] | None
) -> None:
    """
    Warn which rows of a list are left out because the key lacks a scope that they need beyond that of its path.

    `kind`: the only one the list has rows of; indicators and entities: None where they are not restricted.
    """
    known = ctx.view.directory.indicators
    named = None if indicators is None else [known[slug] for slug in indicators if kind in {None, known[slug].kind}]
    if (
        not ctx.may_read(COMPANIES)
        and (entities is None or any(is_company(name) for name in entities))
        and (named is None or of_companies(ctx.view, [indicator.slug for indicator in named]))
    ):
        ctx.warn("scope", COMPANIES, "rows of companies are left out: the key may not read them")
    is_derived = kind != "raw" and (named is None or any(indicator.kind == "derived" for indicator in named))
    if is_derived and not ctx.may_read(ANALYTICS):
        ctx.warn("scope", ANALYTICS, "derived rows are left out: the key may not read them")


def indicators(ctx: Context, kind: str | None = None) -> tuple[str, ...] | None:
    """Return slugs named by `indicator` or `indicator_id`; None where neither is given. `kind`: the only one the list has rows of."""
    single, several = ctx.params.get("indicator"), ctx.params.get("indicator_id")
    if single is None and several is None:
        return None
    slugs = set()
    names = [*zip(repeat("indicator_id"), several or ()), *(() if single is None else (("indicator", single),))]
    for parameter, name in names:
        indicator = ctx.view.directory.indicator(name)
        if indicator is None:
            near = _near(ctx, name, lambda ctx, name: suggested_indicator(ctx, name, kind))
            ctx.warn(parameter, name, "names no indicator", near)
            continue
        if kind is not None and indicator.kind != kind:
            reason = f"is a {indicator.kind} indicator, and this is of {kind} ones: see {_PATHS[indicator.kind]}"
            ctx.warn(parameter, name, reason)
        slugs.add(indicator.slug)
    return tuple(sorted(slugs))


def entities(ctx: Context, *parameters: str) -> tuple[str, ...] | None:
    """Return ids of the entities that satisfy each of these parameters that is given; None where none is."""
    satisfying: set[str] | None = None
    for parameter in parameters or ("country", "entity", "entity_id"):
        names = ctx.params.get(parameter)
        if names is None:
            continue
        directory = ctx.view.directory
        of_places = parameter == "country"
        ids = set()
        for name in names:
            entity = directory.country(name) or place(ctx, name) if of_places else directory.entity(name)
            if entity is None:
                reason = "names no country or region" if of_places else "names no entity"
                ctx.warn(parameter, name, reason, _near(ctx, name, suggested_place if of_places else suggested_entity))
            else:
                ids.add(entity.id)
        satisfying = ids if satisfying is None else satisfying & ids
    return None if satisfying is None else tuple(sorted(satisfying))


def _near(ctx: Context, name: str, suggest: Callable[[Context, str], str | None]) -> str | None:
    """Return a suggestion, for the first few names that need one: each takes some milliseconds."""
    return suggest(ctx, name) if len(ctx.warnings) < SUGGESTIONS else None


def sources(ctx: Context) -> frozenset[str] | None:
    """Return ids of the sources that satisfy `source_id`, `provider_id` and `license`; None where they leave none out."""
    directory, allowed = ctx.view.directory, licensed(ctx)
    own = _known(ctx, "source", directory.sources)
    theirs = _known(ctx, "provider", directory.providers)
    if own is None and theirs is None and len(allowed) == len(directory.sources):
        return None
    return frozenset(
        source.id
        for source in allowed.values()
        if (own is None or source.id in own) and (theirs is None or source.provider in theirs)
    )


def _known(ctx: Context, kind: str, records: Mapping[str, Source] | Mapping[str, Provider]) -> set[str] | None:
    """Return the ids of sources or providers that a list names; None where it is not given. Warn of the other names."""
    names = ctx.params.get(f"{kind}_id")
    if names is None:
        return None

    def suggest(ctx: Context, text: str) -> str | None:
        return suggested(ctx, kind, text, lambda: [(record.id, (record.name,)) for record in records.values()])

    for name in names:
        if name.lower() not in records:
            ctx.warn(f"{kind}_id", name, f"names no {kind}", _near(ctx, name, suggest))
    return {name.lower() for name in names} & records.keys()


def licensed(ctx: Context) -> dict[str, Source]:
    """Return the sources whose terms ask for what `license` names, by id; all where it is not given."""
    classes, held = ctx.params.get("license"), ctx.view.directory.sources
    return {name: one for name, one in held.items() if classes is None or one.rights.asks_for in classes}
