"""How countries and sources stand: what is counted of them and how fresh they are, found once for each state of the data and day."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from almanac.api.contract.endpoint import Context
from almanac.api.rows.redaction import Redaction, redaction_of
from almanac.domain.health import Feed
from almanac.store.observations.reading.reader import View
from almanac.store.state_memory import Remembered
from almanac.store.summary import feeds, figures

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
