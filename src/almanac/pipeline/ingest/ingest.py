"""
Ingestion: fetch → keep raw → parse → append → derive. One transaction per payload, or per group of payloads about
companies.

If a run is killed at any instant, the next one resumes: payloads stored but not yet folded are folded first, and a
folded one is recognised by its capture. A payload that cannot be parsed is quarantined with its reason, and the rest
continues.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import pickle
import secrets
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import NamedTuple

import structlog

from almanac.domain.errors import UserError, explain
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.times import wire_time
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.derive.derivation import Changes
from almanac.pipeline.ingest.folding import Folding
from almanac.pipeline.ingest.outcome import RunOutcome, Say
from almanac.pipeline.processes import Job
from almanac.sources import storable
from almanac.sources.base import Connector, Parsed, Payload, SourceChanged, connector
from almanac.store.engine import opening
from almanac.store.engine.errors import ConflictError, DatabaseError, UnfitError
from almanac.store.engine.opening import faults
from almanac.store.engine.protocol import Queryable
from almanac.store.log import payloads
from almanac.store.observations.writing.batch import Batch
from almanac.store.raw.captures import Capture, Corrupt

log = structlog.get_logger("almanac.ingest")
#: Captures read ahead, and their bytes: as many as may be in one transaction.
_TOGETHER, _BYTES = 500, 32 << 20
#: Characters kept of an unforeseen error, whose text may repeat the payload.
_REASON = 300
#: Tolerated difference, in seconds, between clocks of hosts that ask different sources for one store.
_APART = 3_600


class Arrival(NamedTuple):
    """A response on its way in. `fetched_at` None means now."""

    url: str
    body: bytes
    media_type: str
    fetched_at: int | None
    etag: str | None = None
    last_modified: str | None = None


class Reading(NamedTuple):
    """A capture with what reading it gave: its state as a payload, why it isn't folded, and its content if it is."""

    capture: Capture
    state: str
    reason: str | None
    parsed: Parsed | None = None

    @property
    def about_companies(self) -> bool:
        return self.parsed is not None and bool(self.parsed.companies or self.parsed.filings or self.parsed.facts)


class ClockBehindError(UserError, ValueError):
    """The clock is behind the store's newest data: an answer fetched now would be sorted before that and never be served."""


class NotHeld(UserError):  # noqa: N818  (the name says what is the matter)
    """There is no such held response. The message lists those there are."""


class Unstorable(Exception):  # noqa: N818  (the name says what happened)
    """A parsed payload cannot be folded, or derived from, because of a fault of ours. `reason` is for the quarantine."""

    def __init__(self, capture: Capture, error: Exception) -> None:
        log.error("a response cannot be stored", source=capture.source, url=capture.url, exc_info=error)
        self.capture = capture
        self.reason = f"cannot be stored: {_describe(error)}"
        super().__init__(f"{capture.url}: {self.reason}")


class Ingest:
    """One run over one source. `reader` is its connector if an operator's settings chose one with options."""

    def __init__(self, world: PipelineContext, source: Source, say: Say, reader: Connector | None = None) -> None:
        self._world = world
        self._source = source
        self._say = say
        self.connector: Connector = reader or connector(source.connector)
        self._series: dict[str, SeriesSpec] = dict(world.catalog.series.get(source.id, {}))
        #: What workers need to read payloads. They can only with a connector that no settings changed.
        self._description: bytes | None = None
        if reader is None and world.processes.count > 1:
            self._description = pickle.dumps((source, self._series))
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

        def begun() -> Iterator[tuple[Capture, Job[Parsed]]]:
            left = left_behind(self._world, self._source)
            for capture in sorted(left, key=lambda capture: self.connector.turn(capture.url)):
                yield self.read(capture, self._world.raw.read(capture))
            for arrival in arrivals:
                (kept,) = self.keep([arrival])
                if kept is not None:
                    yield self.read(kept, arrival.body)

        try:
            self._world.claim()
            self.begin()
            for group in in_groups(begun(), *((_TOGETHER, _BYTES) if ahead else (1, 0))):
                self.take(group)
            return self.close()
        except Exception as error:
            if _is_the_storages(error) or opening.fault(error) is not None:
                self._note_fault(error)
            raise

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
        db = self._world.db
        error = None
        if wrong := self.outcome.error:
            url, reason = wrong
            error = reason if url in reason else f"{url}: {reason}"
        with self._world.batch(f"ingest {self._source.id}") as batch:
            # While the publisher is still preparing data, a source's health stays as it was.
            if not (self.outcome.waits and payloads.is_well(db, self._source.id)):
                later = payloads.note_attempt(
                    db,
                    self._source.id,
                    self._world.settings.clock(),
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
            described = _describe(opening.fault(error) or error)
        reason = f"the storage failed: {described}"
        with contextlib.suppress(Exception), self._world.db.transaction():
            payloads.note_attempt(
                self._world.db,
                self._source.id,
                clock,
                succeeded=False,
                kept=bool(self.outcome.folded),
                error=reason,
            )
            payloads.finish_run(self._world.db, self.run_id, reason, clock)

    def finish(self) -> None:
        """Record the end of the run."""
        clock = self._world.settings.clock()
        payloads.finish_run(self._world.db, self.run_id, f"{self.outcome.folded} payloads", clock)

    def keep(self, arrivals: Sequence[Arrival], pool: Executor | None = None) -> list[Capture | None]:
        """
        Store arrivals in the raw store. Returns the capture of each, or None if it is folded already.

        A capture that was ignored or quarantined before is returned, to be judged again. With a `pool` they are stored
        in its threads, because a disk syncs many in the time of one.
        """

        def store(arrival: Arrival) -> Capture:
            clock, raw = self._world.settings.clock(), self._world.raw
            if arrival.fetched_at is None:
                # An answer equal to the last one is not stored again, as with a 304.
                last = raw.latest(self._source.id, arrival.url)
                if last is not None and last.sha256 == hashlib.sha256(arrival.body).hexdigest():
                    return last
            return raw.keep(
                self._source.id,
                arrival.url,
                arrival.body,
                arrival.media_type,
                clock if arrival.fetched_at is None else arrival.fetched_at,
                clock,
                etag=arrival.etag,
                last_modified=arrival.last_modified,
            )

        captures = [*(map if pool is None else pool.map)(store, arrivals)]
        for arrival in arrivals:
            self._answered(arrival.fetched_at)
        return [None if self._is_known(capture) else capture for capture in captures]

    def _is_known(self, capture: Capture) -> bool:
        """Return whether a capture is folded already, and count it if it is."""
        row = payloads.find(self._world.db, capture.id)
        is_folded = row is not None and row.state == payloads.FOLDED
        self.outcome.known += is_folded
        return is_folded

    def unchanged(self, last: Capture | None) -> bool:
        """
        Record that the publisher reports nothing new since the last stored response.

        Returns whether to ingest that one again, because it is quarantined and a later version may be able to read it.
        """
        row = None if last is None else payloads.find(self._world.db, last.id)
        if row is not None and row.state == payloads.QUARANTINED:
            return True
        self.outcome.known += 1
        self._answered(None)
        return False

    def read(self, capture: Capture, body: bytes) -> tuple[Capture, Job[Parsed]]:
        """Begin to read a capture, in a worker process if there is one."""
        payload = Payload(capture.url, body, capture.ingested_at, capture.media_type)
        if self._description is None:
            return capture, Job(_parse, (self.connector, payload, self._source, self._series))
        return capture, self._world.processes.job(_parse_described, self._description, payload, weight=len(body))

    def write(self, batch: Batch, reading: Reading, changes: Changes) -> None:
        """
        Record the outcome of a capture, and fold it if it could be read. Changed cells are added to `changes`.

        Raises Unstorable if it cannot be folded; the batch must then be undone.
        """
        capture, state, reason, parsed = reading
        url = capture.url
        if self._is_known(capture):
            return  # the same response twice in one group
        row = payloads.put(self._world.db, capture, self.run_id, state, reason)
        if parsed is None:
            self.set_aside(url, reason or "", quarantined=state == payloads.QUARANTINED)
            return
        before = self._folding.vintages
        try:
            with faults():
                unmapped = self._folding.fold(batch, row, parsed, changes)
        except Exception as error:  # a fault of ours, whatever it is: it costs this payload, never the others
            if _is_the_storages(error):
                raise
            raise Unstorable(capture, error) from error
        why_held = None
        for other, why in self._folding.turned.values():
            if other.number == row.number:
                why_held = why
            elif why is None:
                self._say(f"read {other.url}, which was held: by what came before it, it withdraws less")
            elif not other.held:
                self._say(f"quarantined {other.url}: {why}")
        if why_held is not None:
            self.set_aside(url, why_held, quarantined=True)
            return
        changed = self._folding.vintages - before
        self.outcome.folded += 1
        self.outcome.vintages += changed
        self.outcome.unmapped.update(unmapped)
        self.outcome.unread.update(parsed.unread)
        line = f"read {url}: {changed} cells changed"
        line += f", {len(unmapped)} series not mapped" if unmapped else ""
        line += f"; {', '.join(parsed.unread)}" if parsed.unread else ""
        line += f"; an older state of {self._folding.past} series than is known" if self._folding.past else ""
        self._say(line)

    def set_aside(self, url: str, reason: str, *, quarantined: bool) -> None:
        """Count and report a response that was not read."""
        self.outcome.set_aside(url, reason, quarantined=quarantined)
        self._say(f"{'quarantined' if quarantined else 'not read'} {url}: {reason}")

    def fail(self, url: str, reason: str) -> None:
        """Count and report a response that could not be fetched."""
        self.outcome.failed[url] = reason
        self._say(f"failed {reason}" if url in reason else f"failed {url}: {reason}")

    def _answered(self, fetched_at: int | None) -> None:
        """Record when the publisher answered, whatever the answer. None means now."""
        clock = self._world.settings.clock()
        moment = clock if fetched_at is None else min(fetched_at, clock)
        self._fetched_at = moment if self._fetched_at is None else max(self._fetched_at, moment)

    def take(self, group: Sequence[Reading]) -> None:
        """
        Fold readings, those about companies in one transaction and each other one in its own.

        If one of several cannot be stored, each is folded alone; if a single one cannot, it is quarantined.
        """
        companies = [reading for reading in group if reading.about_companies]
        waiting = deque([reading] for reading in group if not reading.about_companies)
        if companies:
            waiting.append(companies)
        outcome, say = self.outcome, self._say
        while waiting:
            several = waiting.popleft()
            cause = (
                f"{len(several)} payloads of {self._source.id}"
                if len(several) > 1
                else f"payload {several[0].capture.id}"
            )
            lines: list[str] = []
            self.outcome, self._say = RunOutcome(self._source.id), lines.append
            try:
                fold_together(self._world, {self._source.id: self}, several, cause)
            except Unstorable as error:
                if len(several) > 1:
                    waiting.extendleft([reading] for reading in reversed(several))
                else:
                    waiting.appendleft([Reading(error.capture, payloads.QUARANTINED, error.reason)])
            else:
                outcome.join(self.outcome)
                for line in lines:
                    say(line)
            finally:
                self.outcome, self._say = outcome, say


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


def in_groups(begun: Iterable[tuple[Capture, Job[Parsed]]], most: int, most_bytes: int) -> Iterator[list[Reading]]:
    """
    Yield the readings of captures in order, in groups of a limited number and size, to bound the memory they take.

    Workers read one group while the one before it is written, unless groups have one item. No transaction is open
    while the rest is waited for. A group is emptied when the next one is asked for.
    """
    groups: deque[list[tuple[Capture, Job[Parsed]]]] = deque([[]])
    size = 0
    for capture, job in begun:
        groups[-1].append((capture, job))
        size += capture.bytes
        if len(groups[-1]) >= most or size >= most_bytes:
            size = 0
            groups.append([])
            if len(groups) > 2 or most == 1:
                yield from _readings(groups.popleft())
    for group in filter(None, groups):
        yield from _readings(group)


def _readings(group: list[tuple[Capture, Job[Parsed]]]) -> Iterator[list[Reading]]:
    """Yield the readings of one group, and then let go of them, as whoever took them may still name them."""
    readings = [_reading(capture, job) for capture, job in group]
    group.clear()
    yield readings
    readings.clear()


def fold_together(world: PipelineContext, runs: Mapping[str, Ingest], several: Sequence[Reading], cause: str) -> None:
    """
    Fold payloads, and derive what depends on them, in one transaction. `runs`: those of their sources.

    Raises Unstorable if one of them cannot be folded, or derived from; nothing is written then.
    """
    changes: Changes = {}
    with world.batch(cause) as batch:
        for reading in several:
            runs[reading.capture.source].write(batch, reading, changes)
        try:
            with faults():
                world.update_derived(batch, changes)
        except Exception as error:  # left unfolded, it would fail first thing in every run to come
            if _is_the_storages(error) or all(reading.parsed is None for reading in several):
                raise
            raise Unstorable(several[-1].capture, error) from error


def accept(world: PipelineContext, sha256: str, say: Say) -> list[RunOutcome]:
    """
    Accept the held responses with that hash, or with the only hash that begins so: record it for good, and ingest them.

    As nothing is asked, the health of their sources stays as it is. If it is killed in between, run it again. Raises
    NotHeld if no held response matches, or responses with several hashes do.
    """
    held_rows = [row for row in payloads.quarantined(world.db) if row.held]
    meant = [row for row in held_rows if row.sha256.startswith(sha256.lower())]
    hashes = sorted({row.sha256 for row in meant})
    if len(hashes) != 1:
        every = hashes or sorted({row.sha256 for row in held_rows})
        there = f"held are {', '.join(every)}" if every else "none is held"
        raise NotHeld(f"no one response is held whose SHA-256 begins with {sha256!r}: {there}")
    world.claim()
    for source in sorted({row.source for row in meant}):
        world.raw.accept(source, hashes[0], world.settings.clock())
    runs = Ingests(world, say)
    for row in sorted(meant, key=lambda row: (row.source, row.ref.order)):
        run = runs[row.source]
        for group in in_groups([run.read(row.kept, world.raw.read(row.kept))], 1, 0):
            run.take(group)
    for run in runs.values():
        run.finish()
    return [run.outcome for run in runs.values()]


def check_clock(db: Queryable, source: str, now: int) -> None:
    """Raise ClockBehindError if `now` lies before the newest capture of the source, or well before the newest of all."""
    of_source, of_all = payloads.newest(db, source)
    for newest, earliest in ((of_source, of_source), (of_all, None if of_all is None else of_all - _APART)):
        if newest is not None and earliest is not None and now < earliest:
            raise ClockBehindError(
                f"the clock says {wire_time(now)} and the newest capture of the store is of {wire_time(newest)}:"
                f" {source} is not asked until the clock is right"
            )


def _reading(capture: Capture, job: Job[Parsed]) -> Reading:
    """Wait until a capture is read."""
    try:
        content = job.result()
    except SourceChanged as error:
        return Reading(capture, payloads.QUARANTINED, str(error))
    except Exception as error:  # a fault of the reader, whatever it is: it costs this payload, never the others
        log.exception("a response could not be read", source=capture.source, url=capture.url)
        return Reading(capture, payloads.QUARANTINED, f"reader failed: {_describe(error)}")
    if content.ignored is not None:
        return Reading(capture, payloads.IGNORED, content.ignored)
    return Reading(capture, payloads.FOLDED, None, content)


def _parse(reader: Connector, payload: Payload, source: Source, series: Mapping[str, SeriesSpec]) -> Parsed:
    """Parse a payload and check that everything in it can be stored. Raises SourceChanged, and any fault of its reader."""
    return storable.check(reader.parse(payload, source, series))


def _parse_described(description: bytes, payload: Payload) -> Parsed:
    """Parse a payload, in a worker process, for the pickled source and series. Raises what `_parse` raises."""
    source, series = _unpickled(description)
    return _parse(connector(source.connector), payload, source, series)


_unpickled = functools.lru_cache(maxsize=64)(pickle.loads)


def _is_the_storages(error: Exception) -> bool:
    """Return whether an error means that the store is unusable, rather than that this payload cannot be stored."""
    return isinstance(error, (DatabaseError, OSError, Corrupt)) and not isinstance(error, (ConflictError, UnfitError))


def _describe(error: Exception) -> str:
    """Return type and message of an unforeseen error, on one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= _REASON else text[:_REASON] + "…"
