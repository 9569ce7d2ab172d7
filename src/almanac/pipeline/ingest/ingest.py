"""
Ingestion: fetch → keep raw → parse → append → derive. One transaction per payload, or per group of payloads about
companies.

If a run is killed at any instant, the next one resumes: payloads stored but not yet folded are folded first, and a
folded one is recognised by its capture. A payload that cannot be parsed is quarantined with its reason, and the rest
continues.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from itertools import groupby

import structlog

from almanac.domain.errors import explain
from almanac.domain.reference import SeriesSpec, Source
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.derive.derivation import Changes
from almanac.pipeline.ingest.captures import (
    Arrival,
    ParsedPayload,
    Window,
    about_companies,
    describe_error,
    describe_source,
    mentions,
    parse,
    parse_described,
    place,
)
from almanac.pipeline.ingest.folding import Folding
from almanac.pipeline.ingest.outcome import RunOutcome, Say
from almanac.pipeline.processes import Job
from almanac.sources.base import Connector, Payload, connector
from almanac.store.engine import opening
from almanac.store.engine.errors import ConflictError, DatabaseError, UnfitError
from almanac.store.engine.opening import faults
from almanac.store.log import payloads
from almanac.store.observations.writing.batch import Batch
from almanac.store.raw.captures import Capture, Corrupt

log = structlog.get_logger("almanac.ingest")
#: Captures read ahead, and their bytes: as many as may be in one transaction.
_TOGETHER, _BYTES = 500, 32 << 20
#: Errors of the storage rather than of the payload, except those by which a database refuses a payload's content.
_STORAGE = (DatabaseError, OSError, Corrupt)
_REFUSED = (ConflictError, UnfitError)


class Unstorable(Exception):  # noqa: N818  (the name says what happened)
    """A parsed payload cannot be folded, or derived from, because of a fault of ours. `reason` is for the quarantine."""

    def __init__(self, capture: Capture, reason: str) -> None:
        super().__init__(f"{capture.url}: {reason}")
        self.capture = capture
        self.reason = reason


def _is_the_storages(error: Exception) -> bool:
    """Return whether an error means that the store is unusable, rather than that this payload cannot be stored."""
    return isinstance(error, _STORAGE) and not isinstance(error, _REFUSED)


class Ingest:
    """One run over one source. `reader` is its connector if an operator's settings chose one with options."""

    def __init__(self, world: PipelineContext, source: Source, say: Say, reader: Connector | None = None) -> None:
        self._world = world
        self._source = source
        self._say = say
        self.connector: Connector = reader or connector(source.connector)
        self._series: dict[str, SeriesSpec] = dict(world.catalog.series.get(source.id, {}))
        #: Workers can read only with a connector that no settings changed; they need its description.
        self._ahead = reader is None and world.processes.count > 1
        self._about = describe_source(source, self._series) if self._ahead else b""
        self._folding = Folding(world, source, self.connector, self._series)
        self.run_id = secrets.token_hex(8)
        self.outcome = RunOutcome(source.id)
        self._fetched_at: int | None = None

    def run(self, arrivals: Iterable[Arrival], *, ahead: bool = False) -> RunOutcome:
        """
        Ingest what an earlier run left behind, and then every arrival in turn. `ahead` says that all of them are
        already available.

        Each is a transaction of its own. With `ahead`, payloads about companies share one, because their derivation
        takes long. A fault of the storage ends the run; the failed attempt is recorded first.
        """
        try:
            return self._run(arrivals, ahead=ahead)
        except Exception as error:
            if isinstance(error, _STORAGE) or opening.fault(error) is not None:
                self._note_fault(error)
            raise

    def _run(self, arrivals: Iterable[Arrival], *, ahead: bool) -> RunOutcome:
        self._world.claim()
        self.begin()
        window = Window(*((_TOGETHER, _BYTES) if ahead else (1, 0)))
        left = left_behind(self._world, self._source)
        for capture in sorted(left, key=lambda capture: self.connector.turn(capture.url)):
            self._take(window.put(self.parse(capture, self._world.raw.read(capture))))
        for arrival in arrivals:
            held = self.keep(arrival)
            if held is not None and window.holds(held):
                # The same answer twice: the result of the first decides about the second.
                for group in window.rest():
                    self._take(group)
                held = self._unless_folded(held)
            if held is not None:
                self._take(window.put(self.parse(held, arrival.body)))
        for group in window.rest():
            self._take(group)
        return self.close()

    def begin(self) -> None:
        """Record the start of the run, inside the caller's transaction if there is one."""
        self._world.raw.look_again(self._source.id)
        payloads.start_run(
            self._world.db,
            self.run_id,
            self._source.id,
            self._source.connector,
            self.connector.version,
            self._world.settings.clock(),
        )

    def close(self) -> RunOutcome:
        """End the run and record the source's health."""
        clock = self._world.settings.clock
        error = None
        if wrong := self.outcome.error:
            url, reason = wrong
            error = reason if url in reason else f"{url}: {reason}"
        with self._world.batch(f"ingest {self._source.id}") as batch:
            # While the publisher is still preparing data, a source's health stays as it was.
            if not (self.outcome.waits and payloads.is_well(self._world.db, self._source.id)):
                later = payloads.note_attempt(
                    self._world.db,
                    self._source.id,
                    clock(),
                    succeeded=error is None,
                    kept=bool(self.outcome.folded),
                    error=error,
                    fetched_at=self._fetched_at,
                )
                if later and any(spec.judged_by_fetch for spec in self._series.values()):
                    batch.touch()  # what is judged by the last fetch may have turned fresh, though no row moved
            self.finish()
        return self.outcome

    def _note_fault(self, error: Exception) -> None:
        """
        Record that the storage failed.

        If even that fails (a full disk, a lost server), the run has no end, which `almanac status` shows.
        """
        clock = self._world.settings.clock()
        if isinstance(error, OSError) and error.filename is not None:
            described = explain(error)
        else:
            described = describe_error(opening.fault(error) or error)
        told = f"the storage failed: {described}"
        with contextlib.suppress(Exception), self._world.db.transaction():
            payloads.note_attempt(
                self._world.db,
                self._source.id,
                clock,
                succeeded=False,
                kept=bool(self.outcome.folded),
                error=told,
            )
            payloads.finish_run(self._world.db, self.run_id, told, clock)

    def finish(self) -> None:
        """Record the end of the run."""
        clock = self._world.settings.clock()
        payloads.finish_run(self._world.db, self.run_id, f"{self.outcome.folded} payloads", clock)

    def keep(self, arrival: Arrival) -> Capture | None:
        """
        Store an arrival in the raw store. Returns its capture, or None if it is folded already.

        A capture that was ignored or quarantined before is returned, to be judged again.
        """
        return self.keep_all([arrival])[0]

    def keep_all(self, arrivals: Sequence[Arrival], pool: Executor | None = None) -> list[Capture | None]:
        """Store several arrivals in the raw store, in the threads of a pool, because a disk syncs many in the time of one."""
        kept = [*(map if pool is None else pool.map)(self._kept, arrivals)]
        for arrival in arrivals:
            self._answered(arrival.fetched_at)
        return [self._unless_folded(capture) for capture in kept]

    def _kept(self, arrival: Arrival) -> Capture:
        clock = self._world.settings.clock()
        raw = self._world.raw
        capture = None
        if arrival.fetched_at is None:
            # An answer equal to the last one is not stored again, as with a 304.
            last = raw.latest(self._source.id, arrival.url)
            if last is not None and last.sha256 == hashlib.sha256(arrival.body).hexdigest():
                capture = last
        if capture is None:
            capture = raw.keep(
                self._source.id,
                arrival.url,
                arrival.body,
                arrival.media_type,
                clock if arrival.fetched_at is None else arrival.fetched_at,
                clock,
                etag=arrival.etag,
                last_modified=arrival.last_modified,
            )
        return capture

    def _unless_folded(self, capture: Capture) -> Capture | None:
        row = payloads.find(self._world.db, capture.id)
        if row is not None and row.state == payloads.FOLDED:
            self.outcome.known += 1
            return None
        return capture

    def unchanged(self, last: Capture | None) -> bool:
        """
        Record that the publisher reports nothing new since the last stored response.

        Returns whether to ingest that one again, because it is quarantined and a later version may be able to read it.
        """
        if last is not None:
            row = payloads.find(self._world.db, last.id)
            if row is not None and row.state == payloads.QUARANTINED:
                return True
        self.outcome.known += 1
        self._answered(None)
        return False

    def parse(self, capture: Capture, body: bytes) -> ParsedPayload:
        """Begin to parse a capture."""
        payload = Payload(capture.url, body, capture.ingested_at, capture.media_type)
        if self._ahead:
            return ParsedPayload(
                capture, self._world.processes.job(parse_described, self._about, payload, weight=len(body))
            )
        return ParsedPayload(capture, Job(parse, (self.connector, payload, self._source, self._series)))

    def write(self, batch: Batch, payload: ParsedPayload, changes: Changes) -> None:
        """
        Record the outcome of a capture, and fold it if it could be read. Changed cells are added to `changes`.

        Raises Unstorable if it cannot be folded; the batch must then be undone.
        """
        url = payload.capture.url
        row = payloads.put(self._world.db, payload.capture, self.run_id, payload.state, payload.reason)
        if payload.parsed is None:
            quarantined = payload.state == payloads.QUARANTINED
            self.outcome.set_aside(url, payload.reason or "", quarantined=quarantined)
            self._say(f"{'quarantined' if quarantined else 'not read'} {url}: {payload.reason}")
            return
        before = self._folding.vintages
        try:
            with faults():
                unmapped = self._folding.fold(batch, row, payload.parsed, changes)
        except Exception as error:  # a fault of ours, whatever it is: it costs this payload, never the others
            if _is_the_storages(error):
                raise
            raise self.unstorable(payload.capture, error) from error
        changed = self._folding.vintages - before
        held = self._tell_of(row.number)
        if held is not None:
            self.outcome.set_aside(url, held, quarantined=True)
            self._say(f"quarantined {url}: {held}")
            return
        self.outcome.folded += 1
        self.outcome.vintages += changed
        self.outcome.unmapped.update(unmapped)
        told = f", {len(unmapped)} series not mapped" if unmapped else ""
        unread = payload.parsed.unread
        self.outcome.unread.update(unread)
        told += f"; {', '.join(unread)}" if unread else ""
        told += f"; an older state of {self._folding.past} series than is known" if self._folding.past else ""
        self._say(f"read {url}: {changed} cells changed{told}")

    def _tell_of(self, number: int) -> str | None:
        """
        Report other payloads that the last folded one caused to be held back or released. Returns why the last one
        itself is held back, or None.
        """
        held = None
        for one, why in self._folding.turned.values():
            if one.number == number:
                held = why
            elif why is None:
                self._say(f"read {one.url}, which was held: by what came before it, it withdraws less")
            elif not one.held:
                self._say(f"quarantined {one.url}: {why}")
        return held

    def again(self, captures: Sequence[Capture]) -> RunOutcome:
        """Ingest captures of the raw store again. As nothing is asked, the source's health stays as it is."""
        self._world.claim()
        self.begin()
        for capture in captures:
            self._take([self.parse(capture, self._world.raw.read(capture))])
        self.finish()
        return self.outcome

    def _answered(self, fetched_at: int | None) -> None:
        """Record when the publisher answered, whatever the answer. None means now."""
        clock = self._world.settings.clock()
        moment = clock if fetched_at is None else min(fetched_at, clock)
        self._fetched_at = moment if self._fetched_at is None else max(self._fetched_at, moment)

    def unstorable(self, capture: Capture, error: Exception) -> Unstorable:
        log.error("a response cannot be stored", source=self._source.id, url=capture.url, exc_info=error)
        return Unstorable(capture, f"cannot be stored: {describe_error(error)}")

    def _take(self, kept: Sequence[ParsedPayload]) -> None:
        for of_companies, group in groupby(sorted(kept, key=place), key=about_companies):
            together = list(group)
            if not of_companies or len(together) == 1 or not self._taken(together):
                for payload in together:
                    self._alone(payload)

    def _taken(self, together: Sequence[ParsedPayload]) -> bool:
        """Fold several captures in one transaction. Returns False, with nothing written, if one of them cannot be stored."""
        before, told = copy.deepcopy(self.outcome), self._say
        lines: list[str] = []
        self._say = lines.append
        try:
            self._fold(together, f"{len(together)} payloads of {self._source.id}")
        except Unstorable:
            self.outcome = before
            return False
        finally:
            self._say = told
        for line in lines:
            self._say(line)
        return True

    def _alone(self, payload: ParsedPayload) -> None:
        cause = f"payload {payload.capture.id}"
        before = self.outcome.folded, self.outcome.vintages
        try:
            self._fold([payload], cause)
        except Unstorable as error:
            self.outcome.folded, self.outcome.vintages = before
            self._fold([ParsedPayload(payload.capture, None, error.reason)], cause)

    def _fold(self, several: Sequence[ParsedPayload], cause: str) -> None:
        fold_together(self._world, {self._source.id: self}, several, cause)


class Ingests(dict[str, Ingest]):
    """Runs by source, each begun when it is first asked for."""

    def __init__(self, world: PipelineContext, say: Say) -> None:
        super().__init__()
        self._world, self._say = world, say

    def __missing__(self, source: str) -> Ingest:
        run = self[source] = Ingest(self._world, self._world.catalog.sources[source], self._say)
        run.begin()
        return run


def left_behind(world: PipelineContext, source: Source) -> list[Capture]:
    """Return the captures of a source stored by a run that was killed before it folded them."""
    return [capture for capture in world.raw.captures(source.id) if payloads.find(world.db, capture.id) is None]


def fold_together(
    world: PipelineContext, runs: Mapping[str, Ingest], several: Sequence[ParsedPayload], cause: str
) -> None:
    """
    Fold payloads, and derive what depends on them, in one transaction. `runs`: those of their sources.

    Raises Unstorable if one of them cannot be folded, or derived from; nothing is written then.
    """
    awaited = mentions(several)
    changes: Changes = {}
    with world.batch(cause) as batch:
        world.company_deriver.expect(awaited)
        for payload in several:
            runs[payload.capture.source].write(batch, payload, changes)
        try:
            with faults():
                world.bring_into_step(batch, changes)
        except Exception as error:  # left unfolded, it would fail first thing in every run to come
            if _is_the_storages(error) or all(payload.parsed is None for payload in several):
                raise
            last = several[-1].capture
            raise runs[last.source].unstorable(last, error) from error
