"""The order in which due sources are asked."""

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
    The order of sources: by importance (`Source.turn`), and then by waiting time.

    Sources that were never asked come by the duration of their first turn, so that a source with many requests or slow
    answers doesn't delay the first numbers of another.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        #: Estimated seconds of a source's first turn.
        self._takes: dict[str, float] = {}

    def ordered(
        self, sources: Iterable[Source], due: Mapping[str, int], waiting: Mapping[str, schedule.SourceTurn]
    ) -> list[Source]:
        """Sort the sources. `due` says since when each waits, `waiting` holds their turns."""

        def place(source: Source) -> tuple[int, float, int, str]:
            held = waiting.get(source.id)
            asked = held is not None and held.turn.asked_at is not None
            return _ORDER.index(source.turn), 0.0 if asked else self._first(source), due[source.id], source.id

        return sorted(sources, key=place)

    def _first(self, source: Source) -> float:
        """Estimate the seconds that a source's first turn takes, from its number of requests and its publisher's speed."""
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
