"""Sovereign rates: spreads and slopes of one scope, today and on past days."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any, Literal

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, ListAnswer
from almanac.api.contract.errors import ApiError
from almanac.api.contract.params import Param, day_of
from almanac.api.rows.filters import AS_OF
from almanac.api.rows.names import place
from almanac.domain.observations import AHEAD
from almanac.domain.periods import end_of
from almanac.domain.reference import Entity
from almanac.domain.times import DAY_SECONDS
from almanac.reports import rates as report
from almanac.store.observations.reading.newest import numbers_of, public_sources, reading
from almanac.store.observations.reading.pages import ObservationRow, read_page
from almanac.store.observations.reading.query import ObservationFilter, ObservationQuery

#: Rows of a span of days that are read at a time.
_ROWS = 1_000


class _Yields:
    """
    The latest public numbers as known at a moment (unix seconds; None: now).

    With days, they are asked for in order by setting `ends_by`: what became known over their span is read at once.
    """

    def __init__(self, ctx: Context, moment: int | None, days: Sequence[date] = ()) -> None:
        self.ctx, self.moment = ctx, moment
        self.by_scope = {e.rates_scope: e for e in ctx.view.directory.entities.values() if e.rates_scope}
        self.ends_by: date | None = None
        self._days = days
        self._held: dict[tuple[str, str], list[ObservationRow]] = {}

    def latest(self, indicator: str, entity: str, **bounds: Any) -> ObservationRow | None:
        """Return the latest public number of an indicator of an entity; None where there is none."""
        if self.ends_by is not None and not bounds:
            return self._of_day(indicator, entity, self.ends_by)
        ctx = self.ctx
        chosen = {"ends_by": self.ends_by, "ends_from": ctx.window_start, **bounds}
        chosen.setdefault("sources", _public(ctx, indicator, entity))
        row = reading(ctx.view, ObservationFilter(**chosen), indicator, entity, version=ctx.version, as_of=self.moment)
        return row if row is not None and _counts(row) else None

    def _of_day(self, indicator: str, entity: str, day: date) -> ObservationRow | None:
        rows = self._held.get((indicator, entity))
        if rows is None:
            first, last = min(self._days), max(self._days)
            before = self.latest(indicator, entity, ends_by=first - timedelta(days=1))
            inside = _rows(self.ctx, indicator, entity, self.moment, first, last, limit=_ROWS, every=True)
            # Of one day the one of the higher frequency is the latest.
            inside.sort(key=lambda row: (end_of(row.period), -row.series.spec.frequency.rank))
            rows = self._held[indicator, entity] = [*([] if before is None else [before]), *inside]
        place = bisect_right(rows, day, key=lambda row: end_of(row.period))
        return rows[place - 1] if place else None


def _counts(row: ObservationRow) -> bool:
    """Return whether a row is a number that is no forecast."""
    return not row.flags & AHEAD and row.value is not None


def _rows(
    ctx: Context,
    indicator: str,
    entity: str,
    moment: int | None,
    first: date | None,
    last: date | None,
    *,
    limit: int,
    descending: bool = False,
    every: bool = False,
) -> list[ObservationRow]:
    """Return the public numbers between two days: of each frequency at most `limit` rows or, with `every`, all in pages of so many."""
    chosen = ObservationFilter(
        indicators=(indicator,),
        entities=(entity,),
        sources=_public(ctx, indicator, entity),
        ends_from=max((day for day in (first, ctx.window_start) if day is not None), default=None),
        ends_by=last,
    )
    found: list[ObservationRow] = []
    for topic in ctx.view.directory.topics(indicator, entity):
        asked = msgspec.structs.replace(chosen, frequency=topic.frequency)
        after: list[Any] | None = None
        while True:
            query = ObservationQuery(asked, ctx.version, moment, limit, after, descending=descending)
            rows, after = read_page(ctx.view, query)
            found += filter(_counts, rows)
            if after is None or not every:
                break
    return found


def _public(ctx: Context, indicator: str, entity: str) -> frozenset[str] | None:
    """Return sources whose series of an indicator of an entity may be shown; None: all of them."""
    every = [ctx.view.directory.series(number) for number in numbers_of(ctx.view, indicator, entity)]
    public = public_sources(ctx.view, indicator, entity)
    return None if all(series.source.id in public for series in every) else public


def rates(ctx: Context) -> ItemAnswer:
    """Return spreads and slopes of one scope."""
    return ItemAnswer(msgspec.json.encode(_rates(_scope(ctx), _Yields(ctx, None))))


def history(ctx: Context) -> ListAnswer:
    """List spreads and slopes of one scope by past days, as known at any moment; without days the latest of that moment."""
    scope, params = _scope(ctx), ctx.params
    following = None
    if params["start_date"] is None and params["end_date"] is None:
        found = [report.of_day(_rates(scope, _Yields(ctx, params["as_of"])))]
    else:
        limit = params["limit"]
        days = _days(ctx, scope, limit + 1)
        following = [days[limit - 1].toordinal()] if len(days) > limit else None
        yields = _Yields(ctx, params["as_of"], days[:limit])
        found = []
        for yields.ends_by in days[:limit]:
            found.append(report.of_day(_rates(scope, yields)))
    return ListAnswer([msgspec.json.encode(one) for one in found if one is not None], following)


def _days(ctx: Context, scope: str, limit: int) -> list[date]:
    """Return the next days of the requested span on which a scope has a yield, in order, at most `limit`."""
    params, after, descending = ctx.params, ctx.after, ctx.params["order"] == "desc"
    first = None if params["start_date"] is None else day_of(params["start_date"] + DAY_SECONDS - 1)
    last = None if params["end_date"] is None else day_of(params["end_date"])
    if after is not None:
        beyond = date.fromordinal(after[0] + (-1 if descending else 1))
        first, last = (first, beyond) if descending else (beyond, last)
    entity = _Yields(ctx, None).by_scope.get(scope)
    if entity is None:
        return []
    found: set[date] = set()
    for indicator in (f"gov_yield_{tenor}" for tenor in report.TENORS):
        rows = _rows(ctx, indicator, entity.id, params["as_of"], first, last, limit=limit, descending=descending)
        found.update(end_of(row.period) for row in rows)
    return sorted(found, reverse=descending)[:limit]


def _rates(scope: str, yields: _Yields) -> report.Rates:
    """Return the payload of one scope."""
    by_scope = yields.by_scope
    curves: dict[str, dict[str, report.YieldReading]] = {}
    withheld: list[str] = []
    for name in report.SCOPES:
        if name in by_scope:
            curves[name] = {}
            for tenor in report.TENORS:
                indicator, entity_id, view = f"gov_yield_{tenor}", by_scope[name].id, yields.ctx.view
                if (row := yields.latest(indicator, entity_id)) is not None:
                    curves[name][tenor] = _reading(name, tenor, row)
                    continue
                series = [view.directory.series(number) for number in numbers_of(view, indicator, entity_id)]
                if series and all(rival.rights.withheld for rival in series):
                    reason = series[0].rights.reason
                    withheld.append(f"{name} {tenor}: there is a yield, but it may not be shown ({reason}).")
            curves[name], gone = report.without_gone(curves[name])
            withheld += gone
    entity = by_scope.get(scope)
    return report.rates(
        scope,
        entity.name if entity else scope,
        entity.currency if entity else None,
        [one for curve in curves.values() for one in curve.values()],
        [
            _legs(yields, name, by_scope[name], slope, curve[short], curve[long])
            for name, curve in curves.items()
            for slope, (short, long) in report.SLOPES.items()
            if short in curve and long in curve
        ],
        withheld,
        yields.moment,
    )


def _scope(ctx: Context) -> str:
    """Return the scope that the path means, in any spelling that /entities/resolve finds exactly. Raises ApiError 404."""
    name = ctx.path["scope"]
    if name.upper() in report.SCOPES:
        return name.upper()
    meant = place(ctx, name)
    if meant is None or meant.rates_scope not in report.SCOPES:
        details: dict[str, Any] = {
            "parameter": "scope", "reason": "unsupported", "supportedScopes": list(report.SCOPES),
        }  # fmt: skip
        message = f"'scope' must be one of {', '.join(report.SCOPES)}"
        if meant is not None and meant.currency is not None:
            scopes = [e for e in ctx.view.directory.entities.values() if e.rates_scope in report.SCOPES]
            shared = next((e.rates_scope for e in scopes if e.currency == meant.currency), None)
            if shared is not None:
                message += f"; {meant.name} has no curve of its own here, and {shared} is that of its currency, {meant.currency}"
                details["suggestion"] = shared
        raise ApiError(404, message, details)
    return meant.rates_scope


def _reading(scope: str, tenor: str, row: ObservationRow) -> report.YieldReading:
    value, spec = row.value, row.series.spec
    assert value is not None  # it is the number of a reading
    return report.YieldReading(
        scope,
        tenor,
        value,
        end_of(row.period),
        row.known,
        row.series.id,
        row.series.source.id,
        spec.curve_type,
        spec.compounding,
        row.series.spec.frequency.allowance_days,
    )


def _legs(
    yields: _Yields,
    scope: str,
    entity: Entity,
    name: Literal["2s10s", "5s30s"],
    short: report.YieldReading,
    long: report.YieldReading,
) -> report.SlopeLegs:
    """
    Return what a slope is made of: the newest day on which both its legs are known.

    It is the day of the latest reading of the derived slope, with its legs, so that both tell one number. Where none is
    derived, for no source has both legs, it is the newest day that the latest readings of both have in common; where they
    have none, or none that is recent enough for the curve, their latest.
    """
    derived = yields.latest(f"yield_slope_{name}", entity.id)
    newest, allowance = max(short.day, long.day), max(short.allowance, long.allowance)
    if derived is not None and not report.is_gone(end_of(derived.period), newest, allowance):
        day, source = end_of(derived.period), derived.series.source.id
        if all((leg.day, leg.source) == (day, source) for leg in (short, long)):
            return report.SlopeLegs(scope, name, short, long)
        of_day = {"sources": frozenset([source]), "ends_from": day, "ends_by": day}
        legs = [
            _reading(scope, leg.tenor, row)
            for leg in (short, long)
            if (row := yields.latest(f"gov_yield_{leg.tenor}", entity.id, **of_day)) is not None
        ]
        if len(legs) == 2:
            return report.SlopeLegs(scope, name, *legs)
    one, other = short, long
    while one.day != other.day:
        later, day = (one, other.day) if one.day > other.day else (other, one.day)
        row = yields.latest(f"gov_yield_{later.tenor}", entity.id, ends_by=day)
        if row is None or report.is_gone(end_of(row.period), newest, allowance):
            return report.SlopeLegs(scope, name, short, long)
        moved = _reading(scope, later.tenor, row)
        one, other = (moved, other) if later is one else (one, moved)
    return report.SlopeLegs(scope, name, one, other)


_SCOPE = Param("scope", f"One of {', '.join(report.SCOPES)}, or another name of the same place.", example="USA")

_RATES = partial(Endpoint, scope="analytics:read", braces=(_SCOPE,), dated=True, cached=True, tag="Analytics")

ENDPOINT = _RATES(
    path="/rates/{scope}",
    operation_id="getRates",
    summary="Sovereign rates analytics",
    description="Spreads per tenor (2y, 5y, 10y, 30y) against each peer and the peer mean, and curve slopes (2s10s, 5s30s), "
    "in basis points, from the latest public yield of each; a slope on the newest day on which both its legs are known. "
    "Scopes: AUS, CAN, CHE, EUR, GBR, JPN, USA, by any name that /entities/resolve finds exactly. Takes no parameters: the "
    "past is asked of /rates/{scope}/history.",
    handler=rates,
    record=report.Rates,
)

HISTORY = _RATES(
    path="/rates/{scope}/history",
    operation_id="listRatesHistory",
    summary="Sovereign rates analytics of past days",
    description="What /rates/{scope} says, of other days and as known at other moments. With `as_of` alone one row: what it "
    "would have said then. With `start_date` or `end_date` a row for each day of that span on which the scope has a yield: "
    "its curve, spreads to each peer and slopes, from the latest public yield of that day or of one before, as known at "
    "`as_of`. An excluded spread or slope says so as there.",
    handler=history,
    params=(
        AS_OF,
        Param("start_date", "Days from this one on.", "time", until="end_date", example="2025-01-01"),
        Param("end_date", "Days up to this one.", "time", edge="end", window=True, example="2025-01-31"),
    ),
    kind="list",
    record=report.RatesOfDay,
    cost="heavy",
)
