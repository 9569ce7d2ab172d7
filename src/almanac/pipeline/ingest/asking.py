"""Requests to publishers: those of a plan, those that answers lead to, and the responses inside archives."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime

from almanac.catalog.records import Catalog
from almanac.config import Settings, SourceSettings
from almanac.domain.periods import Frequency
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.times import wire_time
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.captures import Arrival, check_clock
from almanac.pipeline.ingest.ingest import Ingest
from almanac.pipeline.ingest.outcome import RunOutcome, Say, Track, untracked
from almanac.pipeline.ingest.register import Portion, Register
from almanac.sources.base import Connector, Payload, Request, SourceChanged, connector, limit_of
from almanac.sources.transport.answers import Fetched, FetchFailed, Validators
from almanac.sources.transport.http import Fetcher
from almanac.store.raw.captures import Capture

#: Most follow-up requests of an answer that are asked at once.
_AT_ONCE = 50


def from_network(
    world: PipelineContext,
    sources: Sequence[Source],
    since: date | None,
    say: Say,
    track: Track = untracked,
    entities: Container[str] | None = None,
    between: Callable[[], None] = lambda: None,
    portion: Portion = Portion.WHOLE,
) -> list[RunOutcome]:
    """
    Ask each publisher, for the series of these entities (None: of all), and ingest the answers.

    `portion` chooses requests of the plan. The results of requests are recorded only for a whole plan (no `since`, no
    entities). A source without series of its own (companies) is asked unless entities are named. A failed request is
    reported and the others continue; the answer "there is nothing" is not a failure. `between` is called before each
    request and after each ingested response; if it raises, the run ends there with nothing half-written. Raises
    ValueError for a missing key and for a setting that a source cannot use, and ClockBehindError.
    """
    for source in sources:
        check_clock(world.db, source.id, world.settings.clock())
    outcomes: list[RunOutcome] = []
    home = world.settings.home
    with Fetcher(
        world.settings.http, pace_folder=home / "pace", folder=home / "run" / "bodies", wall=time.time
    ) as fetcher:
        for source in sources:
            whole = since is None and entities is None
            register = Register(world.db, source.id, portion, world.settings.clock, recording=whole)
            reader, plan = plan_of(world.settings, world.catalog, source, since=since, entities=entities)
            asking = _Asking(world, source, reader, fetcher, say, track, between, register)
            outcomes.append(asking.ingest.run(asking.arrivals(register.chosen(plan), plan if whole else None)))
    return outcomes


def plan_of(
    settings: Settings,
    catalog: Catalog,
    source: Source,
    *,
    since: date | None = None,
    entities: Container[str] | None = None,
    key: str | None = None,
) -> tuple[Connector, list[Request]]:
    """
    Return a source's connector, as its settings choose, and its plan for the series of these entities (None: of all).

    The whole plan (no `since`, no entities) is split into requests for each turn and requests for the slow round. `key`
    replaces the one of the settings. Raises ValueError for a missing key and for a setting that the source cannot use.
    """
    own = settings.sources.get(source.id, SourceSettings())
    reader = connector(source.connector).chosen(own)
    every = catalog.series.get(source.id, {})
    taken: Mapping[str, SeriesSpec] = {
        code: spec for code, spec in every.items() if entities is None or spec.entity in entities
    }
    if not taken and (every or entities is not None):
        return reader, []
    today = datetime.fromtimestamp(settings.clock(), UTC).date()
    key = key or own.key(source.key_setting)
    if since is None and entities is None:
        return reader, parted(reader, source, taken, today, key)
    return reader, reader.plan(source, taken, since, today, key)


def parted(
    reader: Connector, source: Source, series: Mapping[str, SeriesSpec], today: date, key: str | None
) -> list[Request]:
    """
    Return every request of a source's plan: those for its newest part first, and then those for its whole history.

    If the publisher can be asked for recent data alone, the requests for the history are `closed`: they belong to the
    slow round. A request that is the same either way (a file, a year) is simply asked. Discontinued series have no
    newest part.
    """
    whole = reader.plan(source, series, None, today, key)
    alive = [(native, spec) for native, spec in series.items() if not spec.discontinued]
    newest: dict[str, Request] = {}
    for of_months in (False, True):
        part = {native: spec for native, spec in alive if bool(spec.frequency.months) is of_months}
        if part:
            since = _newest_since({spec.frequency for spec in part.values()}, today)
            newest |= {request.url: request for request in reader.plan(source, part, since, today, key)}
    if not series:
        return whole
    addresses = {request.url for request in whole}
    return [replace(request, newest=True) for url, request in newest.items() if url not in addresses] + [
        request if request.url in newest else replace(request, closed=True) for request in whole
    ]


def _newest_since(frequencies: Collection[Frequency], today: date) -> date:
    """
    Return the first day of the period that is asked every turn. It is the first day of a year, so that addresses change
    only once a year.

    Daily and weekly data starts in the year before, because its values hardly change after publication. Monthly and
    longer data starts three years before, so that ordinary revisions arrive on the day they are published.
    """
    years = 1 if not any(frequency.months for frequency in frequencies) else 3
    return date(today.year - years, 1, 1)


class _Asking:
    """One run over one source."""

    def __init__(
        self,
        world: PipelineContext,
        source: Source,
        reader: Connector,
        fetcher: Fetcher,
        say: Say,
        track: Track,
        between: Callable[[], None],
        register: Register,
    ) -> None:
        self._world = world
        self._register = register
        self._source = source
        self._fetcher = fetcher
        self._say = say
        self._track = track
        self._between = between
        self.key = world.settings.sources.get(source.id, SourceSettings()).key(source.key_setting)
        self.reader = reader
        self.ingest = Ingest(world, source, say, self.reader)
        stated = world.catalog.providers[source.provider].limit
        self._limit = limit_of(source.provider, stated, with_key=bool(self.key))
        #: Unreachable hosts, with the first address that failed and the number of others not asked.
        self._given_up: dict[str, tuple[str, int]] = {}
        #: Publishers whose limits delay requests; each is reported once.
        self._waited_for: set[str] = set()
        #: Requests without a usable answer so far.
        self._unanswered = 0

    def arrivals(self, plan: Sequence[Request], whole: Sequence[Request] | None = None) -> Iterator[Arrival]:
        """
        Yield every response: those planned, each followed by the few that its answer leads to, and then, in a round
        with progress of its own, those of answers that lead to many.

        `whole` holds all requests of the source, or is None if `plan` covers only some series or a part of the time.
        """
        now = list(plan)
        #: URL → the planned request that leads to it.
        asked = {request.url: request.url for request in plan}
        while plan:
            later: list[Request] = []
            for first in self._track(plan, self._source.id):
                waiting = [first]
                while waiting:
                    request = waiting.pop(0)
                    self._between()
                    led: list[Request] = []
                    before = self._trouble()
                    for arrival in self._ask(request, led):
                        yield arrival
                        self._between()
                    via = asked[request.url]
                    fresh = [one for one in {one.url: one for one in led}.values() if one.url not in asked]
                    fresh = self._register.led(request, fresh)
                    asked.update(dict.fromkeys((one.url for one in fresh), via))
                    self._register.note(request, via, answered=self._trouble() == before)
                    (waiting if len(led) <= _AT_ONCE else later).extend(fresh)
            plan = later
        self._tell_gone(now, whole)
        for host, (url, more) in self._given_up.items():
            if more:
                told = f"{more} more requests to {host} wait for the next turn"
                self._failed(url, f"{self.ingest.outcome.failed[url]}; {told}", told)

    def _tell_gone(self, asked: Sequence[Request], whole: Sequence[Request] | None) -> None:
        """
        Report a data set as failed if all its requests found nothing.

        Some of them may find nothing: a window that has just begun is empty, and a single series may be gone. So if
        other requests of the data set were answered before, it counts as existing.
        """
        nothing = set(self.ingest.outcome.empty)
        latest = self._world.raw.latest
        for dataset in dict.fromkeys(request.dataset for request in asked if request.dataset is not None):
            mine = [request for request in asked if request.dataset == dataset]
            if not all(request.url in nothing for request in mine):
                continue
            others = [one for one in whole or () if one.dataset == dataset and one not in mine]
            had = [held for request in mine if (held := latest(self._source.id, request.url)) is not None]
            if whole is None or any(not one.newest for one in others):  # a part was asked
                answered = [one for one in others if latest(self._source.id, one.url) is not None]
                if (not had and (answered or whole is None)) or any(not one.closed for one in answered):
                    continue
            since = f"; the last answer is of {wire_time(max(one.fetched_at for one in had))}" if had else ""
            told = f"all {len(mine)} requests for {dataset} found nothing, as if it were gone{since}"
            self._failed(mine[0].url, told, f"failed {mine[0].url}: {told}")
            for request in mine:
                self._register.note(request, request.url, answered=False)

    def _trouble(self) -> tuple[int, int]:
        """Return the number of unanswered requests and of unreadable answers so far."""
        return self._unanswered, self.ingest.outcome.quarantined_responses

    def _ask(self, request: Request, led: list[Request]) -> Iterator[Arrival]:
        last = self._world.raw.latest(self._source.id, request.url)
        if last is not None and self._register.is_settled(request):
            body = self._world.raw.read(last)
            self._register.announce(self.reader.announced(Payload(request.url, body, last.fetched_at, last.media_type)))
            return
        validators = Validators(last.etag, last.last_modified) if last else None
        try:
            got = self._fetcher.fetch(replace(request, limit=self._limit), validators)
        except FetchFailed as error:
            if error.status in request.empty and not any(words in error.reason for words in request.gone):
                self.ingest.outcome.empty.append(request.url)
                self._say(f"nothing in {request.url}{', where there was something before' if last else ''}")
                return
            self._unanswered += 1
            outcome = self.ingest.outcome
            outcome.retry_after = max(outcome.retry_after, error.retry_after or 0.0)
            if error.later:
                if error.left_alone is None or error.left_alone not in self._waited_for:
                    self._say(f"later {error}")
                if error.left_alone is not None:
                    self._waited_for.add(error.left_alone)
                outcome.later[request.url] = str(error)
                return
            if error.given_up is not None:
                if error.given_up in self._given_up:
                    url, more = self._given_up[error.given_up]
                    self._given_up[error.given_up] = (url, more + 1)
                    return
                self._given_up[error.given_up] = (request.url, 0)
            self._failed(request.url, str(error), f"failed {error}")
            return
        payload = self._payload(request, got, last)
        with contextlib.ExitStack() as stack:
            if got.file is not None:
                stack.enter_context(got.file)
            yield from self._opened(request, got, payload, last, led)

    def _opened(
        self, request: Request, got: Fetched, payload: Payload, last: Capture | None, led: list[Request]
    ) -> Iterator[Arrival]:
        """Yield the responses that an answer contains. Requests that it leads to are added to `led`."""
        try:
            led += self.reader.follow(payload, self._source, self.key)
            self._register.announce(self.reader.announced(payload))
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
            for part in self.reader.unpack(payload):
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
        """
        Return the answer as a payload. An unchanged one gets the stored body if it can lead to further requests,
        because those must be repeated.
        """
        body = got.body
        if got.not_modified and last is not None and self.reader.leads_further:
            body = self._world.raw.read(last)
        return Payload(request.url, body, self._world.settings.clock(), got.media_type, got.file)

    def _failed(self, url: str, reason: str, told: str) -> None:
        self._unanswered += 1
        self.ingest.outcome.failed[url] = reason
        self._say(told)
