"""In which order sources are asked that are due at one time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from almanac.catalog.load import shipped
from almanac.config import Settings
from almanac.domain.reference import Source
from almanac.pipeline.ingest.asking import plan_of
from almanac.store.log import schedule

#: Values of `Source.turn`, in their order.
_ORDER = ("first", "then", "last")


class Precedence:
    """
    What is needed first goes first, then what has waited longest; of sources that were never asked the quickest, so that
    none with many requests, or with slow answers, holds back the first numbers of another.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        #: How long a source's turn takes at least, in seconds, of those whose first one is waited for.
        self._takes: dict[str, float] = {}

    def ordered(
        self, sources: Iterable[Source], due: Mapping[str, int], waiting: Mapping[str, schedule.SourceTurn]
    ) -> list[Source]:
        """The sources in that order. `due`: since when each waits; `waiting`: how each stands."""

        def place(source: Source) -> tuple[int, float, int, str]:
            held = waiting.get(source.id)
            asked = held is not None and held.turn.asked_at is not None
            return _ORDER.index(source.turn), 0.0 if asked else self._first(source), due[source.id], source.id

        return sorted(sources, key=place)

    def _first(self, source: Source) -> float:
        """How long the first turn of a source takes, by how many requests it has and how its publisher answers."""
        if source.id not in self._takes:
            try:
                _, plan = plan_of(self._settings, shipped(), source)
            except ValueError:
                plan = []  # a setting that the source cannot use: its turn tells
            limit = shipped().providers[source.provider].limit
            silence = (limit.silent_seconds if limit is not None else None) or 0.0
            each = max(silence, 1 / self._settings.http.requests_per_second)
            self._takes[source.id] = each * sum(not request.closed for request in plan)
        return self._takes[source.id]
