"""Sovereign rates: spreads and slopes of one scope."""

from __future__ import annotations

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer
from almanac.api.contract.errors import ApiError
from almanac.api.contract.params import Param
from almanac.api.rows.names import place
from almanac.domain.fragments import value_of
from almanac.domain.observations import FORECAST
from almanac.domain.periods import end_of
from almanac.domain.reference import Entity
from almanac.reports import rates as report
from almanac.store.observations.newest.latest import frequencies_of, reading
from almanac.store.observations.reading.selection import Selection
from almanac.store.summary.series import numbers_of


def rates(ctx: Context) -> ItemAnswer:
    """Spreads and slopes of one scope."""
    return rates_as_of(ctx, None)


def rates_as_of(ctx: Context, moment: int | None) -> ItemAnswer:
    """The same as known at a moment, unix seconds; None: now."""
    scope = _scope(ctx, ctx.path["scope"])
    if scope is None:
        raise ApiError(
            404,
            f"'scope' must be one of {', '.join(report.SCOPES)}",
            {"parameter": "scope", "reason": "unsupported", "supportedScopes": list(report.SCOPES)},
        )
    by_scope = {e.rates_scope: e for e in ctx.view.directory.entities.values() if e.rates_scope}
    found: list[report.YieldReading] = []
    withheld: list[str] = []
    for name in report.SCOPES:
        if name in by_scope:
            for tenor in report.TENORS:
                one, note = _yield(ctx, name, by_scope[name], tenor, moment)
                found += [one] if one is not None else []
                withheld += [note] if note is not None else []
    entity = by_scope.get(scope)
    payload = report.rates(
        scope, entity.name if entity else scope, entity.currency if entity else None, found, withheld
    )
    return ItemAnswer(msgspec.json.encode(payload))


def _scope(ctx: Context, name: str) -> str | None:
    """The scope that a name means, in any spelling that /entities/resolve finds exactly; None where it is none of them."""
    if name.upper() in report.SCOPES:
        return name.upper()
    meant = place(ctx, name)
    return meant.rates_scope if meant is not None and meant.rates_scope in report.SCOPES else None


def _yield(
    ctx: Context, scope: str, entity: Entity, tenor: str, moment: int | None
) -> tuple[report.YieldReading | None, str | None]:
    """The latest public yield of a tenor, or a sentence on why one that exists is not shown."""
    view, indicator = ctx.view, f"gov_yield_{tenor}"
    series = [view.directory.series(number) for number in numbers_of(view, indicator, entity.id)]
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
        as_of=moment,
    )
    value = None if row is None or row.flags & FORECAST else value_of(row.marked)[0]
    if row is None or value is None:
        return None, None
    spec = row.series.spec
    return (
        report.YieldReading(
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


ENDPOINT = Endpoint(
    path="/rates/{scope}",
    operation_id="getRates",
    summary="Sovereign rates analytics",
    description="Spreads per tenor (2y, 5y, 10y, 30y) against each peer and the peer mean, and curve slopes (2s10s, 5s30s), "
    "in basis points, from the latest public yield of each. Scopes: AUS, CAN, CHE, EUR, GBR, JPN, USA, by any name that "
    "/entities/resolve finds exactly. Takes no parameters.",
    handler=rates,
    braces=(Param("scope", f"One of {', '.join(report.SCOPES)}, or another name of the same place.", example="USA"),),
    scope="analytics:read",
    kind="item",
    record=report.Rates,
    dated=True,
    cached=True,
    tag="Analytics",
)
