"""Asking publishers: the requests of their plans, those that answers lead to, and the responses inside archives."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime

from almanac.config import SourceSettings
from almanac.domain.reference import SeriesSpec, Source
from almanac.pipeline.ingest.captures import Arrival
from almanac.pipeline.ingest.ingest import Ingest
from almanac.pipeline.ingest.outcome import RunOutcome, Say, Track, untracked
from almanac.pipeline.world import World
from almanac.sources.base import (
    Connector,
    Leading,
    Payload,
    Request,
    SourceChanged,
    chosen,
    connector,
    followed,
    unpacked,
)
from almanac.sources.transport.http import Fetched, Fetcher, FetchFailed, Validators
from almanac.store.raw.captures import Capture

#: Requests that an answer may lead to and that are asked at once.
_AT_ONCE = 50


def from_network(
    world: World,
    sources: Sequence[Source],
    since: date | None,
    say: Say,
    track: Track = untracked,
    entities: Container[str] | None = None,
    between: Callable[[], None] = lambda: None,
) -> list[RunOutcome]:
    """
    Ask each publisher, for the series of these entities (None: of all). What comes back is read whole.

    A source without series of its own (companies) is asked unless entities are named. A request that fails is
    reported and the others go on. `between` is called before each request and after each response that was taken in;
    what it raises ends the asking there, with nothing half-written. Raises ValueError for a missing key and for a setting a source cannot use.
    """
    today = datetime.fromtimestamp(world.settings.clock(), UTC).date()
    outcomes: list[RunOutcome] = []
    with Fetcher(world.settings.http, pace_folder=world.settings.home / "pace") as fetcher:
        for source in sources:
            settings = world.settings.sources.get(source.id, SourceSettings())
            every = world.catalog.series.get(source.id, {})
            wanted: Mapping[str, SeriesSpec] = {
                code: spec for code, spec in every.items() if entities is None or spec.entity in entities
            }
            asking = _Asking(world, source, settings, fetcher, say, track, between)
            plan: list[Request] = []
            if wanted or (not every and entities is None):
                plan = asking.reader.plan(source, wanted, since, today, asking.key)
            outcomes.append(asking.ingest.run(asking.arrivals(plan)))
    return outcomes


class _Asking:
    """One run of asking over one source."""

    def __init__(
        self,
        world: World,
        source: Source,
        settings: SourceSettings,
        fetcher: Fetcher,
        say: Say,
        track: Track,
        between: Callable[[], None],
    ) -> None:
        self._world = world
        self._source = source
        self._fetcher = fetcher
        self._say = say
        self._track = track
        self._between = between
        self.key = settings.key(source.key_setting)
        self.reader: Connector = chosen(connector(source.connector), settings)
        self.ingest = Ingest(world, source, say, self.reader)
        #: Hosts that could not be reached: the first address that failed for it, and how many more were not asked.
        self._given_up: dict[str, tuple[str, int]] = {}

    def arrivals(self, plan: Sequence[Request]) -> Iterator[Arrival]:
        """
        Every response: what was planned, and the few that each answer led to at once, as they belong to it; then, in a
        round of their own, whose progress is told, the many that an answer led to.
        """
        asked: set[str] = set()
        while plan:
            asked.update(request.url for request in plan)
            later: list[Request] = []
            for first in self._track(plan, self._source.id):
                waiting = [first]
                while waiting:
                    request = waiting.pop(0)
                    self._between()
                    led: list[Request] = []
                    for arrival in self._ask(request, led):
                        yield arrival
                        self._between()
                    fresh = [one for one in {one.url: one for one in led}.values() if one.url not in asked]
                    asked.update(one.url for one in fresh)
                    (waiting if len(led) <= _AT_ONCE else later).extend(fresh)
            plan = later
        for host, (url, more) in self._given_up.items():
            if more:
                told = f"{more} more requests to {host} wait for the next turn"
                self._failed(url, f"{self.ingest.outcome.failed[url]}; {told}", told)

    def _ask(self, request: Request, led: list[Request]) -> Iterator[Arrival]:
        last = self._world.raw.latest(self._source.id, request.url)
        validators = Validators(last.etag, last.last_modified) if last else None
        try:
            got = self._fetcher.fetch(request, validators)
        except FetchFailed as error:
            if error.given_up is not None:
                if error.given_up in self._given_up:
                    url, more = self._given_up[error.given_up]
                    self._given_up[error.given_up] = (url, more + 1)
                    return
                self._given_up[error.given_up] = (request.url, 0)
            self._failed(request.url, str(error), f"failed {error}")
            outcome = self.ingest.outcome
            outcome.retry_after = max(outcome.retry_after, error.retry_after or 0.0)
            return
        payload = self._payload(request, got, last)
        try:
            led += followed(self.reader, payload, self._source, self.key)
        except SourceChanged:
            pass  # the reader refuses it for the same reason, and then it is told
        except ValueError as error:
            self._failed(request.url, str(error), f"failed {request.url}: {error}")
        if got.not_modified:
            if self.ingest.unchanged(last) and last is not None:
                body = self._world.raw.read(last)
                yield Arrival(request.url, body, last.media_type, None, last.etag, last.last_modified)
            return
        try:
            for part in unpacked(self.reader, payload):
                alone = part.url == request.url
                yield Arrival(
                    part.url,
                    part.body,
                    part.media_type,
                    None,
                    got.etag if alone else None,
                    got.last_modified if alone else None,
                )
        except SourceChanged as error:
            self._failed(request.url, str(error), f"failed {request.url}: {error}")

    def _payload(self, request: Request, got: Fetched, last: Capture | None) -> Payload:
        """The answer; one that has not changed is the one kept last, for what it leads to has to be asked for again."""
        body = got.body
        if got.not_modified and last is not None and isinstance(self.reader, Leading):
            body = self._world.raw.read(last)
        return Payload(request.url, body, self._world.settings.clock(), got.media_type)

    def _failed(self, url: str, reason: str, told: str) -> None:
        self.ingest.outcome.failed[url] = reason
        self._say(told)
