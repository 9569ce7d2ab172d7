"""Requests to publishers: those of a plan, those that answers lead to, and the responses inside archives."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from almanac.catalog.records import Catalog
from almanac.config import Settings, SourceSettings
from almanac.domain.periods import Frequency
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.times import wire_time
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest, check_clock
from almanac.pipeline.ingest.outcome import RunOutcome, Say, Track, untracked
from almanac.pipeline.ingest.request_ledger import Portion, RequestLedger
from almanac.sources.base import Connector, Payload, Request, SourceChanged, connector, limit_of
from almanac.sources.transport.answers import FetchFailed, Validators
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
            ledger = RequestLedger(world.db, source.id, portion, world.settings.clock, recording=whole)
            reader, plan = plan_of(world.settings, world.catalog, source, since=since, entities=entities)
            ingest = Ingest(world, source, say, reader)
            asking = _Asking(world, source, ingest, fetcher, say, track, between, ledger)
            outcomes.append(ingest.run(asking.arrivals(ledger.chosen(plan), plan if whole else None)))
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


@dataclass(slots=True)
class _Asking:
    """One run over one source."""

    world: PipelineContext
    source: Source
    ingest: Ingest
    fetcher: Fetcher
    say: Say
    track: Track
    between: Callable[[], None]
    ledger: RequestLedger
    #: Unreachable hosts, with the first address that failed and the number of others not asked.
    given_up: dict[str, tuple[str, int]] = field(default_factory=dict)
    #: Publishers whose limits delay requests; each is reported once.
    waited_for: set[str] = field(default_factory=set)
    #: Requests without a usable answer so far.
    unanswered: int = 0

    def arrivals(self, plan: Sequence[Request], whole: Sequence[Request] | None = None) -> Iterator[Arrival]:
        """
        Yield every response: those planned, each followed by the few that its answer leads to, and then, in a round
        with progress of its own, those of answers that lead to many.

        `whole` holds all requests of the source, or is None if `plan` covers only some series or a part of the time.
        """
        asked = plan
        #: URL → the planned request that leads to it.
        via = {request.url: request.url for request in plan}
        while plan:
            later: list[Request] = []
            for first in self.track(plan, self.source.id):
                waiting = [first]
                while waiting:
                    request = waiting.pop(0)
                    self.between()
                    led: list[Request] = []
                    before = self._trouble()
                    for arrival in self._ask(request, led):
                        yield arrival
                        self.between()
                    fresh = list({other.url: other for other in led if other.url not in via}.values())
                    fresh = self.ledger.led(request, fresh)
                    via.update(dict.fromkeys((other.url for other in fresh), via[request.url]))
                    self.ledger.note(request, via[request.url], answered=self._trouble() == before)
                    (waiting if len(led) <= _AT_ONCE else later).extend(fresh)
            plan = later
        self._tell_gone(asked, whole)
        failed = self.ingest.outcome.failed
        for host, (url, more) in self.given_up.items():
            if more:
                line = f"{more} more requests to {host} wait for the next turn"
                failed[url] = f"{failed[url]}; {line}"
                self.say(line)

    def _tell_gone(self, asked: Sequence[Request], whole: Sequence[Request] | None) -> None:
        """
        Report a data set as failed if all its requests found nothing.

        Some of them may find nothing: a window that has just begun is empty, and a single series may be gone. So if
        other requests of the data set were answered before, it counts as existing.
        """
        nothing = set(self.ingest.outcome.empty)

        def latest(request: Request) -> Capture | None:
            return self.world.raw.latest(self.source.id, request.url)

        for dataset in dict.fromkeys(request.dataset for request in asked if request.dataset is not None):
            mine = [request for request in asked if request.dataset == dataset]
            if not all(request.url in nothing for request in mine):
                continue
            others = [request for request in whole or () if request.dataset == dataset and request not in mine]
            had = list(filter(None, map(latest, mine)))
            if whole is None or any(not request.newest for request in others):  # a part was asked
                answered = [request for request in others if latest(request) is not None]
                if (not had and (answered or whole is None)) or any(not request.closed for request in answered):
                    continue
            since = f"; the last answer is of {wire_time(max(last.fetched_at for last in had))}" if had else ""
            self._fail(mine[0].url, f"all {len(mine)} requests for {dataset} found nothing, as if it were gone{since}")
            for request in mine:
                self.ledger.note(request, request.url, answered=False)

    def _trouble(self) -> tuple[int, int]:
        """Return the number of unanswered requests and of unreadable answers so far."""
        return self.unanswered, self.ingest.outcome.quarantined_responses

    def _fail(self, url: str, reason: str) -> None:
        self.unanswered += 1
        self.ingest.fail(url, reason)

    def _ask(self, request: Request, led: list[Request]) -> Iterator[Arrival]:
        """Yield the responses that the answer to a request contains. Requests that it leads to are added to `led`."""
        reader, raw, settings = self.ingest.connector, self.world.raw, self.world.settings
        last = raw.latest(self.source.id, request.url)
        if last is not None and self.ledger.is_settled(request):
            payload = Payload(request.url, raw.read(last), last.fetched_at, last.media_type)
            self.ledger.announce(reader.announced(payload))
            return
        key = settings.sources.get(self.source.id, SourceSettings()).key(self.source.key_setting)
        stated = self.world.catalog.providers[self.source.provider].limit
        limit = limit_of(self.source.provider, stated, with_key=bool(key))
        try:
            got = self.fetcher.fetch(
                replace(request, limit=limit), Validators(last.etag, last.last_modified) if last else None
            )
        except FetchFailed as error:
            self._note_failure(request, error, last)
            return
        body = got.body
        if got.not_modified and last is not None and reader.leads_further:
            body = raw.read(last)  # what an unchanged answer leads to must be asked again
        payload = Payload(request.url, body, settings.clock(), got.media_type, got.file)
        with got.file or contextlib.nullcontext():
            try:
                led += reader.follow(payload, self.source, key)
                self.ledger.announce(reader.announced(payload))
            except SourceChanged:
                pass  # the reader refuses it for the same reason, and then it is told
            except ValueError as error:
                self._fail(request.url, str(error))
            if got.not_modified:
                if self.ingest.unchanged(last) and last is not None:
                    yield Arrival(request.url, raw.read(last), last.media_type, None, last.etag, last.last_modified)
                return
            try:
                for part in reader.unpack(payload):
                    marks = (got.etag, got.last_modified) if part.url == request.url else (None, None)
                    yield Arrival(part.url, part.body, part.media_type, None, *marks)
            except SourceChanged as error:
                self._fail(request.url, str(error))

    def _note_failure(self, request: Request, error: FetchFailed, last: Capture | None) -> None:
        """Count and report a request that was not answered, waits for a publisher's limit, or found nothing."""
        outcome = self.ingest.outcome
        if error.status in request.empty and not any(words in error.reason for words in request.gone):
            outcome.empty.append(request.url)
            self.say(f"nothing in {request.url}{', where there was something before' if last else ''}")
            return
        outcome.retry_after = max(outcome.retry_after, error.retry_after or 0.0)
        if error.later:
            self.unanswered += 1
            if error.left_alone not in self.waited_for:
                self.say(f"later {error}")
            if error.left_alone is not None:
                self.waited_for.add(error.left_alone)
            outcome.later[request.url] = str(error)
        elif error.given_up in self.given_up:
            self.unanswered += 1
            url, more = self.given_up[error.given_up]
            self.given_up[error.given_up] = (url, more + 1)
        else:
            if error.given_up is not None:
                self.given_up[error.given_up] = (request.url, 0)
            self._fail(request.url, str(error))
