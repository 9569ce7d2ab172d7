"""Warnings about what a list selects: why it is empty, and bounds on knowledge times that may be meant for periods."""

from __future__ import annotations

from almanac.api.contract.endpoint import Context
from almanac.domain.periods import Frequency, Period, end_of
from almanac.domain.releases import period_name
from almanac.domain.times import wire_time
from almanac.store.observations.reading.selection import Selection
from almanac.store.summary.series import SeriesSpan, spans

#: What names indicators.
_INDICATORS = ("indicator", "indicator_id")
#: What names entities.
_ENTITIES = ("country", "entity", "entity_id")
#: How many of them are named in a warning.
_SHOWN = 5
#: Bounds of a list on its periods.
_PERIODS = ("period", "period_start", "period_end")
#: The same where days are asked for and not when they were known (/rates/{scope}/history).
_DAYS = ("start_date", "end_date")


def warn_of_nothing(ctx: Context, asked: Selection) -> None:
    """
    Say in `meta.warnings` which parameter leaves nothing of what is named, and what there is. Call it for an empty first page.

    Of entities of which nothing at all is held, that is said. Nothing is said where no indicator and no entity is named, where
    something else was said already, and of single values in between: that those are not there is what the empty list says.
    """
    if ctx.after is not None or ctx.warnings or asked.empty or (asked.indicators is None and asked.entities is None):
        return
    found = spans(ctx.view, asked)
    params = ctx.params
    if not found:
        kind = "" if asked.kind is None else f"{asked.kind} "
        by = "" if asked.sources is None else f" by {', '.join(sorted(asked.sources))}"
        warn_of_entities(ctx, f"no {kind}rows are held of", asked.entities, by)
        return
    frequency = params.get("frequency")
    if frequency is not None:
        of_that = [one for one in found if one.frequency == frequency]
        if not of_that:
            ctx.warn("frequency", frequency, f"there is nothing of this frequency here, but {_listed(found)}")
            return
        found = of_that
    as_of, known = params.get("as_of"), min(one.first_known for one in found)
    if as_of is not None and as_of < known:
        ctx.warn(
            "as_of", wire_time(as_of), f"nothing was known by then: what is here is known from {wire_time(known)} on"
        )
        return
    first = end_of(min(one.first_period for one in found))
    if ctx.window_start is not None:
        first = max(first, ctx.window_start)
    last = max((end_of(one.last_period) for one in found if one.last_period is not None), default=None)
    bounds = _PERIODS if "period" in params else _DAYS
    bound = next((name for name in bounds if params.get(name) is not None), None)
    if last is None and bound is None:
        ahead = next((name for name in (*_INDICATORS, *_ENTITIES) if params.get(name) is not None), None)
        if ahead is not None:
            value = params[ahead] if isinstance(params[ahead], str) else ",".join(params[ahead])
            ctx.warn(ahead, value, f"has forecasts and projections alone, which are no reading, {_listed(found)}")
        return
    low = max((day for day in (asked.starts_from, ctx.window_start) if day is not None), default=None)
    beyond = low is not None and last is not None and low > last
    if bound is not None and (beyond or (asked.ends_by is not None and asked.ends_by < first)):
        value = params[bound]
        shown = wire_time(value) if isinstance(value, int) else _written(value)
        ends = f"from {first}" if last is None else f"from {first} to {last}"
        ctx.warn(bound, shown, f"no period here lies there: they end {ends}, {_listed(found)}")


def warn_of_knowledge_bounds(ctx: Context) -> None:
    """Warn that `start_date` and `end_date` bound knowledge times, where neither `as_of` nor a bound on periods is given."""
    params = ctx.params
    if any(params.get(name) is not None for name in ("as_of", *_PERIODS)):
        return
    for name, bound in (("start_date", "period_start"), ("end_date", "period_end")):
        if params.get(name) is not None:
            reason = "bounds when values became known (observedAt), not the periods they are about"
            ctx.warn(name, wire_time(params[name]), reason, bound)
            return


def warn_of_entities(ctx: Context, reason: str, entities: tuple[str, ...] | None, more: str = "") -> None:
    """Say of the entities named that a list has nothing of them, whatever else is asked."""
    name = next((name for name in _ENTITIES if ctx.params.get(name) is not None), None)
    if name is not None and entities:
        ctx.warn(name, ",".join(ctx.params[name]), f"{reason} {_some(entities)}{more}")


def _some(entities: tuple[str, ...]) -> str:
    """A few of them, and how many more."""
    more = len(entities) - _SHOWN
    return ", ".join(entities[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _written(period: Period) -> str:
    """A period as a client writes it."""
    every = (Frequency.ANNUAL, Frequency.QUARTERLY, Frequency.MONTHLY)
    own = next((one for one in every if Period.ending(period.end, one) == period), Frequency.DAILY)
    return period_name(period.key, own)


def _listed(found: list[SeriesSpan]) -> str:
    """`monthly (M) and quarterly (Q) rows`."""
    names = [f"{Frequency(one.frequency).word} ({one.frequency})" for one in found]
    return f"{', '.join(names[:-1])}{' and ' if len(names) > 1 else ''}{names[-1]} rows"
