"""
fetch → keep raw → parse → append → derive, one transaction per payload, or per group of payloads about companies.

Killed at any instant, the next run resumes: a payload kept but not yet folded is folded first, and one that was folded
is known by its capture. What cannot be parsed is quarantined with its reason; the rest goes on.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import logging
import secrets
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from itertools import groupby

from almanac.domain.disk_errors import explain
from almanac.domain.reference import SeriesSpec, Source
from almanac.pipeline.derive.derivation import Changes
from almanac.pipeline.ingest.captures import Arrival, BeingRead, Judged, Window, about_companies, mentions, place
from almanac.pipeline.ingest.folding import Folding
from almanac.pipeline.ingest.outcome import RunOutcome, Say
from almanac.pipeline.ingest.reading import Doubtful, described, parsed, read
from almanac.pipeline.workplace import Workplace
from almanac.sources.base import Connector, Payload, SourceChanged, connector
from almanac.store.engine import opening
from almanac.store.engine.errors import ConflictError, DatabaseError, UnfitError
from almanac.store.engine.opening import faults
from almanac.store.log import payloads
from almanac.store.observations.writing.batch import Batch
from almanac.store.raw.captures import Capture, Corrupt

log = logging.getLogger("almanac.ingest")
#: Captures that are read ahead, and bytes of theirs: as many as may be one transaction.
_TOGETHER, _BYTES = 500, 32 << 20
#: Characters of an unforeseen error that are kept: its text may repeat the payload.
_REASON = 300
#: The storage's fault, not the payload's; but for these, by which a database refuses what is in a payload.
_STORAGE = (DatabaseError, OSError, Corrupt)
_REFUSED = (ConflictError, UnfitError)


class Unstorable(Exception):  # noqa: N818  (the name says what happened)
    """What a reader made of a payload cannot be folded, or nothing be computed from it: a fault of ours. `reason` is for the quarantine."""

    def __init__(self, capture: Capture, reason: str) -> None:
        super().__init__(f"{capture.url}: {reason}")
        self.capture = capture
        self.reason = reason


def _is_the_storages(error: Exception) -> bool:
    """Whether an error says that the store cannot be used, rather than that this cannot be stored."""
    return isinstance(error, _STORAGE) and not isinstance(error, _REFUSED)


def _describe_error(error: Exception) -> str:
    """Type and message of an unforeseen error, on one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= _REASON else text[:_REASON] + "…"


class Ingest:
    """One run over one source. `reader`: its connector, where an operator's settings chose among options of it."""

    def __init__(self, world: Workplace, source: Source, say: Say, reader: Connector | None = None) -> None:
        self._world = world
        self._source = source
        self._say = say
        self.connector: Connector = reader or connector(source.connector)
        self._series: dict[str, SeriesSpec] = dict(world.catalog.series.get(source.id, {}))
        #: What a reader that no settings chose among takes beside a payload; workers read with such only.
        self._ahead = reader is None and world.processes.count > 1
        self._about = described(source, self._series) if self._ahead else b""
        self._folding = Folding(world, source, self.connector, self._series)
        self.run_id = secrets.token_hex(8)
        self.outcome = RunOutcome(source.id)
        self._fetched_at: int | None = None

    def run(self, arrivals: Iterable[Arrival], *, ahead: bool = False) -> RunOutcome:
        """
        Take in what an earlier run left behind, then every arrival in turn. `ahead`: they are all there already.

        Each is a transaction of its own. Of those that are there already, such as speak of companies, which take long to
        compute, are one together. A fault of the storage ends the run; that the source was asked in vain is noted before.
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
        for capture in self.left_behind():
            self._take(window.put(self.reading(capture, self._world.raw.read(capture))))
        for arrival in arrivals:
            held = self.keep(arrival)
            if held is not None and window.holds(held):
                # The same answer twice: what the first became decides about the second.
                for group in window.rest():
                    self._take(group)
                held = self._unless_folded(held)
            if held is not None:
                self._take(window.put(self.reading(held, arrival.body)))
        for group in window.rest():
            self._take(group)
        return self.close()

    def begin(self) -> None:
        """Enter the run in the log, inside the caller's transaction if there is one."""
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
        """End the run and note how the source does."""
        clock = self._world.settings.clock
        error = None
        if wrong := self.outcome.error:
            url, reason = wrong
            error = reason if url in reason else f"{url}: {reason}"
        with self._world.batch(f"ingest {self._source.id}") as batch:
            # What was answered before does not turn bad, nor good once more, by what the publisher still prepares.
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
        Note that the storage failed. If even that cannot be noted (a full disk, a server that is gone), the run keeps no end,
        which `almanac status` shows.
        """
        clock = self._world.settings.clock()
        if isinstance(error, OSError) and error.filename is not None:
            described = explain(error)
        else:
            described = _describe_error(opening.fault(error) or error)
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
        """Enter the end of the run in the log."""
        clock = self._world.settings.clock()
        payloads.finish_run(self._world.db, self.run_id, f"{self.outcome.folded} payloads", clock)

    def left_behind(self) -> list[Capture]:
        """List captures kept by a run that was killed before it could fold them, in the order in which they are best folded."""
        captures = self._world.raw.captures(self._source.id)
        left = [capture for capture in captures if payloads.find(self._world.db, capture.id) is None]
        return sorted(left, key=lambda capture: self.connector.turn(capture.url))

    def keep(self, arrival: Arrival) -> Capture | None:
        """
        Keep an arrival in the raw store. Returns its capture, None if it is folded already.

        A capture that was ignored or quarantined before is given back, to be judged anew.
        """
        return self.keep_all([arrival])[0]

    def keep_all(self, arrivals: Sequence[Arrival], pool: Executor | None = None) -> list[Capture | None]:
        """Keep several arrivals in the raw store, in the threads of a pool: a disk makes many durable in the time of one."""
        kept = [*(map if pool is None else pool.map)(self._kept, arrivals)]
        for arrival in arrivals:
            self._answered(arrival.fetched_at)
        return [self._unless_folded(capture) for capture in kept]

    def _kept(self, arrival: Arrival) -> Capture:
        clock = self._world.settings.clock()
        raw = self._world.raw
        capture = None
        if arrival.fetched_at is None:
            # The same answer as last time says nothing new: it is not kept again, just as a 304 is not.
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
        Note that the publisher says nothing is new since the response kept last.

        Returns whether that one is to be taken in again: it is in quarantine, and a later version of ours may read it.
        """
        if last is not None:
            row = payloads.find(self._world.db, last.id)
            if row is not None and row.state == payloads.QUARANTINED:
                return True
        self.outcome.known += 1
        self._answered(None)
        return False

    def reading(self, capture: Capture, body: bytes) -> BeingRead:
        """Begin to read a capture."""
        payload = Payload(capture.url, body, capture.ingested_at, capture.media_type)
        if not self._ahead:
            return BeingRead(capture, payload, None)
        return BeingRead(capture, payload, self._world.processes.job(read, self._about, payload, weight=len(body)))

    def judge(self, kept: BeingRead) -> Judged:
        """Read a capture and return what it comes to. Nothing is written, so no lock is held meanwhile."""
        capture = kept.capture
        try:
            if kept.read is None:
                told = parsed(self.connector, kept.payload, self._source, self._series)
            else:
                found = kept.read.result()
                if isinstance(found, Doubtful):
                    return Judged(capture, payloads.QUARANTINED, found.reason)
                told = found
        except SourceChanged as error:
            return Judged(capture, payloads.QUARANTINED, str(error))
        except Exception as error:  # a fault of the reader, whatever it is: it costs this payload, never the others
            log.exception("the reader of %s failed on %s", self._source.id, capture.url)
            return Judged(capture, payloads.QUARANTINED, f"reader failed: {_describe_error(error)}")
        if told.ignored is not None:
            return Judged(capture, payloads.IGNORED, told.ignored)
        return Judged(capture, payloads.FOLDED, parsed=told)

    def write(self, batch: Batch, judged: Judged, changes: Changes) -> None:
        """
        Enter what became of a capture; fold it if it could be read. `changes` grows by the cells changed.

        Raises Unstorable for what cannot be folded: the batch must then be undone.
        """
        url = judged.capture.url
        row = payloads.put(self._world.db, judged.capture, self.run_id, judged.state, judged.reason)
        if judged.parsed is None:
            quarantined = judged.state == payloads.QUARANTINED
            self.outcome.set_aside(url, judged.reason or "", quarantined=quarantined)
            self._say(f"{'quarantined' if quarantined else 'not read'} {url}: {judged.reason}")
            return
        before = self._folding.vintages
        try:
            with faults():
                unmapped = self._folding.fold(batch, row, judged.parsed, changes)
        except Exception as error:  # a fault of ours, whatever it is: it costs this payload, never the others
            if _is_the_storages(error):
                raise
            raise self._unstorable(judged.capture, error) from error
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
        unread = judged.parsed.unread
        self.outcome.unread.update(unread)
        told += f"; {', '.join(unread)}" if unread else ""
        told += f"; an older state of {self._folding.past} series than is known" if self._folding.past else ""
        self._say(f"read {url}: {changed} cells changed{told}")

    def _tell_of(self, number: int) -> str | None:
        """Tell which other payloads are held, or no longer, by the one folded last; and why that one is held, if it is."""
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
        """Take captures in once more that the raw store has. Nothing is asked, so nothing is noted of how the source does."""
        self._world.claim()
        self.begin()
        for capture in captures:
            self._take([self.reading(capture, self._world.raw.read(capture))])
        self.finish()
        return self.outcome

    def _answered(self, fetched_at: int | None) -> None:
        """Note when the publisher answered, whatever it said. None: now."""
        clock = self._world.settings.clock()
        moment = clock if fetched_at is None else min(fetched_at, clock)
        self._fetched_at = moment if self._fetched_at is None else max(self._fetched_at, moment)

    def _unstorable(self, capture: Capture, error: Exception) -> Unstorable:
        log.error("what the reader of %s made of %s cannot be stored", self._source.id, capture.url, exc_info=error)
        return Unstorable(capture, f"cannot be stored: {_describe_error(error)}")

    def _take(self, kept: Sequence[BeingRead]) -> None:
        judged = sorted((self.judge(one) for one in kept), key=place)
        for of_companies, group in groupby(judged, key=about_companies):
            together = list(group)
            if not of_companies or len(together) == 1 or not self._taken(together):
                for one in together:
                    self._alone(one)

    def _taken(self, together: Sequence[Judged]) -> bool:
        """Fold several captures as one. False: one of them cannot be stored, and nothing of any was written."""
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

    def _alone(self, judged: Judged) -> None:
        cause = f"payload {judged.capture.id}"
        before = self.outcome.folded, self.outcome.vintages
        try:
            self._fold([judged], cause)
        except Unstorable as error:
            self.outcome.folded, self.outcome.vintages = before
            self._fold([Judged(judged.capture, payloads.QUARANTINED, error.reason)], cause)

    def _fold(self, several: Sequence[Judged], cause: str) -> None:
        changes: Changes = {}
        with self._world.batch(cause) as batch:
            self._world.company_deriver.expect(mentions(several))
            for judged in several:
                self.write(batch, judged, changes)
            try:
                with faults():
                    self._world.bring_into_step(batch, changes)
            except Exception as error:  # as above; left unfolded, it would fail first thing in every run to come
                if _is_the_storages(error) or all(judged.parsed is None for judged in several):
                    raise
                raise self._unstorable(several[-1].capture, error) from error
