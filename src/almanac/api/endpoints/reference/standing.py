"""How countries and sources stand: what is counted of them and how fresh they are, found once for each state of the data and day."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from cachetools import LRUCache

from almanac.api.contract.endpoint import Context
from almanac.api.rows.redaction import Redaction, redaction_of
from almanac.domain.health import Feed
from almanac.store.observations.reading.reader import View
from almanac.store.summary import feeds, figures

#: States that are held: the one of now, and those that walks or another day are still in.
_HELD = 4
#: The better of several freshness statuses: one living series keeps a source, or an indicator of a country, alive.
_BEST = ("fresh", "stale", "unknown")

T = TypeVar("T")


class SourceStanding(NamedTuple):
    """What is counted of each source that has rows, its series by freshness, and the best freshness of those computed here."""

    counted: dict[str, figures.Figures]
    fed: dict[str, Feed]
    computed: dict[str, str]


class CountryStanding(NamedTuple):
    """How many indicators each entity has, and the freshness of each country or region that has any (`of_place`)."""

    indicators: dict[str, int]
    freshness: dict[str, str]


class Memory(Generic[T]):
    """
    What `find` gives, for all threads of one process, as long as it would give the same.

    Counts and newest periods follow from the data version and the catalogue's, freshness from them and the day; of
    series that are judged by when their source was read, from that day too, which moves without a data version.
    """

    def __init__(self, find: Callable[[View, Redaction], T]) -> None:
        self._find = find
        self._lock = threading.Lock()
        self._held: LRUCache[object, T] = LRUCache(_HELD)

    def of(self, ctx: Context) -> T:
        """For a request, inside its reading transaction."""
        view = ctx.view
        key = (view.epoch, view.version, view.directory.reference, Redaction.key(ctx), feeds.days_read(view))
        # Who comes while it is being found waits, rather than to find it too.
        with self._lock:
            if key not in self._held:
                self._held[key] = self._find(view, redaction_of(ctx))
            return self._held[key]


def best(statuses: set[str]) -> str:
    """Return the best of several freshness statuses; `unknown` if there is none."""
    return next((status for status in _BEST if status in statuses), "unknown")


def of_source(view: View, redaction: Redaction, name: str) -> str:
    """Return the best freshness among the series of a source."""
    series = view.directory.series
    return best({redaction.freshness(series(number)) for number in figures.series_numbers(view, "source", name)})


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


def of_sources(view: View, redaction: Redaction) -> SourceStanding:
    """How sources stand."""
    # What is computed here has derived series only, and not many.
    computed = {
        one.id: of_source(view, redaction, one.id) for one in view.directory.sources.values() if not one.connector
    }
    return SourceStanding(figures.by_source(view), feeds.feeds(view, redaction.freshness), computed)


def of_countries(view: View, redaction: Redaction) -> CountryStanding:
    """How countries and regions stand."""
    counts = figures.indicators_of_entities(view)
    places = [one.id for one in view.directory.entities.values() if counts.get(one.id)]
    return CountryStanding(counts, {name: of_place(view, redaction, name) for name in places})
