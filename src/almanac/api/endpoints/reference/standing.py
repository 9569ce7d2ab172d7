"""How countries and sources stand: what is counted of them and how fresh they are, found once for each state of the data and day."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from almanac.api.contract.endpoint import Context
from almanac.api.rows.redaction import Redaction
from almanac.domain.health import Feed
from almanac.store.observations.reading.reader import View
from almanac.store.summary import feeds, figures

#: States that are held: the one of now, and those that walks or another day are still in.
_HELD = 4
#: The better of several freshness statuses: one living series keeps a country or a source alive.
_BEST = ("fresh", "stale", "unknown")

T = TypeVar("T")


class SourceStanding(NamedTuple):
    """What is counted of each source that has rows, its series by freshness, and the best freshness of those computed here."""

    counted: dict[str, figures.Figures]
    fed: dict[str, Feed]
    computed: dict[str, str]


class CountryStanding(NamedTuple):
    """How many indicators each entity has, and the best freshness of each country or region that has any."""

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
        self._held: OrderedDict[object, T] = OrderedDict()

    def of(self, ctx: Context) -> T:
        """For a request, inside its reading transaction."""
        view = ctx.view
        key = (view.epoch, view.version, view.directory.reference, Redaction.key(ctx), feeds.days_read(view))
        # Who comes while it is being found waits, rather than to find it too.
        with self._lock:
            if key not in self._held:
                self._held[key] = self._find(view, Redaction.of(ctx))
                while len(self._held) > _HELD:
                    self._held.popitem(last=False)
            self._held.move_to_end(key)
            return self._held[key]


def best(statuses: set[str]) -> str:
    """The best of several freshness statuses; `unknown` where there is none."""
    return next((status for status in _BEST if status in statuses), "unknown")


def alive(view: View, redaction: Redaction, column: str, name: str) -> str:
    """The best freshness of the series of an `entity` or a `source`."""
    series = view.directory.series
    return best({redaction.freshness(series(number)) for number in figures.series_numbers(view, column, name)})


def of_sources(view: View, redaction: Redaction) -> SourceStanding:
    """How sources stand."""
    # What is computed here has derived series only, and not many.
    computed = {
        one.id: alive(view, redaction, "source", one.id) for one in view.directory.sources.values() if not one.connector
    }
    return SourceStanding(figures.by_source(view), feeds.feeds(view, redaction.freshness), computed)


def of_countries(view: View, redaction: Redaction) -> CountryStanding:
    """How countries and regions stand."""
    counts = figures.indicators_of_entities(view)
    places = [one.id for one in view.directory.entities.values() if counts.get(one.id)]
    return CountryStanding(counts, {name: alive(view, redaction, "entity", name) for name in places})
