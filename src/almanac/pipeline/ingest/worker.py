"""
Workers that ask every source at its own cadence, for ever or once, beside any number of workers on the same store.

A source's turn is taken as a lease in the data database, so that one worker at a time asks it. If the publisher
answered every request, the next turn follows the cadence; otherwise only the failed requests are repeated, after a
growing pause. A turn asks for new data. Past data that was never requested comes after all turns, and long work gives
way to turns that come due meanwhile. If a worker is killed, its lease expires and another worker continues.
"""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from almanac.catalog.load import shipped
from almanac.config import Settings
from almanac.domain.cadence import Cadence, Turn
from almanac.domain.reference import Source
from almanac.domain.rights import Exposure
from almanac.domain.times import DAY_SECONDS, wire_time
from almanac.pipeline.context import REAL, PipelineContext
from almanac.pipeline.ingest.asking import from_network, plan_of
from almanac.pipeline.ingest.liveness import LEASE_SECONDS, Lease, Leaseholder
from almanac.pipeline.ingest.outcome import RunOutcome, Say, Track, untracked
from almanac.pipeline.ingest.request_ledger import Portion, in_trouble, wanted
from almanac.sources.base import Request
from almanac.store.engine import opening
from almanac.store.engine.errors import StoreError, UnavailableError
from almanac.store.log import payloads, requests, schedule

log = structlog.get_logger("almanac.worker")
#: Longest wait before looking again, because other workers may finish, fail or die; and the wait after a fault of the
#: store.
_LOOK_AGAIN, _STORE_PAUSE = 300, 60
#: Values of `Source.turn`, in their order.
_ORDER = ("first", "then", "last")


#: Asks a source for a portion of its plan. It calls its fifth argument before each request and after each ingested
#: response.
Ask = Callable[[PipelineContext, Source, Say, Track, Callable[[], None], Portion], RunOutcome]


def ask(
    world: PipelineContext, source: Source, say: Say, track: Track, between: Callable[[], None], portion: Portion
) -> RunOutcome:
    """
    Ask the publisher for a portion of the plan. Data missing from an answer counts as withdrawn, and old values are
    revised.
    """
    (outcome,) = from_network(world, [source], None, say, track, between=between, portion=portion)
    return outcome


def missing_settings(settings: Settings, source: Source) -> list[str]:
    """Return everything an operator still has to set for a source, the key first."""
    missing = []
    held = settings.sources.get(source.id)
    if source.key_required and not (held and held.key(source.key_setting)):
        missing.append(f"a key: set {source.key_setting}")
    if source.rights.channel is not Exposure.public and settings.consent(source.id) is None:
        name = f"ALMANAC_SOURCES__{source.id.replace('-', '_').upper()}__CONSENT"
        missing.append(f"its owner's consent: once it is given, set {name}__BY, {name}__ON and {name}__REFERENCE")
    return missing


class _Ended(Exception):  # noqa: N818  (the name says what happened)
    """The run over a source must end after the current payload."""


@dataclass(slots=True)
class Round:
    """The results of a worker's round: outcomes by source, whether it was stopped, and when the next source is due."""

    outcomes: list[RunOutcome] = field(default_factory=list)
    stopped: bool = False
    next_at: int | None = None
    next_source: str | None = None

    def add(self, outcome: RunOutcome) -> None:
        """Add the outcome of a source, joined with an earlier one of this round."""
        before = next((one for one in self.outcomes if one.source == outcome.source), None)
        if before is None:
            self.outcomes.append(outcome)
        else:
            before.join(outcome)


class Worker:
    """
    One worker over the named sources (none: all). `chance` randomises pauses; `step` is called at every progress.

    Turns use the clock of the data, leases that of the `holder`, which is real time. Sources that lack a setting are
    reported, and listed with what is missing in `passed_over`.
    """

    def __init__(
        self,
        settings: Settings,
        names: Sequence[str],
        holder: Leaseholder,
        say: Say,
        stop: threading.Event,
        *,
        chance: random.Random,
        track: Track = untracked,
        asking: Ask = ask,
        step: Callable[[], None] = lambda: None,
    ) -> None:
        self._settings, self._holder, self._say, self._stop = settings, holder, say, stop
        self._chance, self._track, self._asking, self._step = chance, track, asking, step
        self._opened = False
        #: Sources being asked: one, and possibly another between two of its requests.
        self._asked_now: set[str] = set()
        #: Estimated seconds of a source's first turn.
        self._first_turns: dict[str, float] = {}
        #: The day on which each source was found to have no unrequested past.
        self._without_past: dict[str, int] = {}
        self.passed_over: dict[str, str] = {}
        self._sources: list[Source] = []
        self._cadences: dict[str, Cadence] = {}
        for source in shipped().sources.values():
            if source.connector and source.cadence is not None and (not names or source.id in names):
                missing = missing_settings(settings, source)
                if missing:
                    self.passed_over[source.id] = f"needs {missing[0]}"
                    say(f"passed over: {source.id} needs {missing[0]}")
                else:
                    self._sources.append(source)
                    self._cadences[source.id] = Cadence(source.cadence)

    def run(self) -> None:
        """
        Run rounds until stopped.

        Raises the errors of opening the store in the first round only; later an unavailable store is tried again.
        """
        announced = ""
        while not self._stop.is_set():
            self._step()
            pause = _LOOK_AGAIN
            try:
                done = self.round()
            except StoreError as error:
                if not self._opened:
                    raise
                self._say(f"{error}; trying again in {_STORE_PAUSE} s")
                pause = _STORE_PAUSE
            else:
                waiting = "there is no source to ask"
                if done.next_at is not None:
                    pause = max(1, min(pause, done.next_at - self._settings.clock()))
                    waiting = f"waiting: {done.next_source} is next, at {wire_time(done.next_at)}"
                if waiting != announced and not done.stopped:
                    announced = waiting
                    self._say(waiting)
            if not self._stop.is_set():
                self._stop.wait(pause)

    def round(self) -> Round:
        """Ask each source that is due and that no other worker asks, in their order, and then their past."""
        done = Round()
        turns = self._turns()
        # Open the store only if there is work, and once at first, to detect a store of the other world.
        if not self._opened or any(at <= self._settings.clock() for at in self._due(turns).values()):
            with PipelineContext(self._settings, kind=REAL) as world:
                self._opened = True
                for source in self._ask_due(world, done):
                    if not self._stopped(done) and self._has_past(world, source):
                        self._take(world, source, done, past=True)
            turns = self._turns()
        # There is work again at a turn, or at the end of another worker's lease on a due source.
        now, real = self._settings.clock(), self._holder.clock()
        for name, at in self._due(turns).items():
            lease = turns.get(name)
            if lease is not None and lease.by(real) is not None:
                at = max(at, now + lease.expires_at - real)
            if done.next_at is None or at < done.next_at:
                done.next_at, done.next_source = at, name
        return done

    def _turns(self) -> dict[str, schedule.SourceTurn]:
        path = opening.place(self._settings.data_place)
        try:
            with opening.faults(), contextlib.closing(opening.create(path)) as db:
                return schedule.read(db)
        except UnavailableError as error:
            raise StoreError(opening.advice(error, path)) from None

    def _due(self, turns: Mapping[str, schedule.SourceTurn]) -> dict[str, int]:
        """Return when each source is due."""
        now = self._settings.clock()
        return {
            source.id: (turns[source.id].turn if source.id in turns else Turn()).due_at(self._cadences[source.id], now)
            for source in self._sources
        }

    def _stopped(self, done: Round) -> bool:
        done.stopped = done.stopped or self._stop.is_set()
        return done.stopped

    def _ask_due(self, world: PipelineContext, done: Round) -> list[Source]:
        """
        Ask the sources that are due and not being asked. Returns all sources in their order.

        They come by importance (`Source.turn`), then by when each came due. Those that were never asked come by the
        duration of their first turn, so that one with many requests or slow answers does not delay the first numbers
        of another.
        """
        turns = schedule.read(world.db)
        due = self._due(turns)

        def place(source: Source) -> tuple[int, float, int, str]:
            is_new = source.id not in turns or turns[source.id].turn.asked_at is None
            return _ORDER.index(source.turn), self._first_turn(source) if is_new else 0.0, due[source.id], source.id

        ordered = sorted(self._sources, key=place)
        for source in ordered:
            is_due = source.id not in self._asked_now and due[source.id] <= self._settings.clock()
            if is_due and not self._stopped(done):
                self._take(world, source, done)
        return ordered

    def _first_turn(self, source: Source) -> float:
        """Estimate the seconds that a source's first turn takes, from its number of requests and its publisher's speed."""
        if source.id not in self._first_turns:
            limit = shipped().providers[source.provider].limit
            silence = (limit.silent_seconds if limit is not None else None) or 0.0
            each = max(silence, 1 / self._settings.http.requests_per_second)
            self._first_turns[source.id] = each * sum(not request.closed for request in self._plan(source))
        return self._first_turns[source.id]

    def _plan(self, source: Source) -> list[Request]:
        try:
            return plan_of(self._settings, shipped(), source)[1]
        except ValueError:
            return []  # a setting that the source cannot use: its turn tells

    def _has_past(self, world: PipelineContext, source: Source) -> bool:
        """
        Return whether a source has past data to ask for and is not failing. If it has none, it is not checked again
        before tomorrow.
        """
        today = self._settings.clock() // DAY_SECONDS
        state = schedule.read(world.db).get(source.id)
        if self._without_past.get(source.id) == today or state is None or state.turn.asked_at is None:
            return False
        standing = requests.standing(world.db, source.id)
        if in_trouble(state.turn.failures, standing):
            return False
        if wanted(self._plan(source), standing, Portion.PAST, self._settings.clock()):
            return True
        self._without_past[source.id] = today
        return False

    def _take(self, world: PipelineContext, source: Source, done: Round, *, past: bool = False) -> None:
        """Ask a source, or for its `past`, unless another worker does."""
        now = self._holder.clock()
        until = now + LEASE_SECONDS
        turn = schedule.take(world.db, source.id, self._holder.owner, now, until)
        if turn is None:
            state = schedule.read(world.db).get(source.id)
            self._say(f"{source.id}: {state.owner if state else 'another worker'} is asking it")
            return
        due = turn.due_at(self._cadences[source.id], self._settings.clock())
        try:
            if past or due <= self._settings.clock():  # else another worker was here since we looked
                self._asked_now.add(source.id)
                self._ask(world, source, turn, until, None if past else due, done)
        finally:
            self._asked_now.discard(source.id)
            # After a finished turn this changes nothing; an unfinished one is left to the next worker.
            with contextlib.suppress(UnavailableError):
                schedule.leave(world.db, source.id, self._holder.owner)

    def _ask(
        self, world: PipelineContext, source: Source, turn: Turn, until: int, due: int | None, done: Round
    ) -> None:
        """
        Ask a source, and record how its turn went. `due` None means that its turn is not due and its past is asked for.

        Quarantined responses wait for the next turn, because the publisher would only repeat them if asked at once.
        """
        began, cadence = self._settings.clock(), self._cadences[source.id]
        if due is None:
            portion, why = Portion.PAST, "its past"
        elif turn.owes(cadence, began):
            portion, why = Portion.RETRY, "what it owes"
        else:
            portion, why = Portion.NEWEST, f"due since {wire_time(due)}"
        #: Start of the turn whose requests are all recorded; None after a fault, or for a partial turn.
        turn_began = began if portion is Portion.NEWEST else None
        self._say(f"{source.id}: asking, {why}")
        lease = Lease(opening.place(self._settings.data_place), source.id, self._holder, until)

        def between() -> None:
            self._step()
            if self._stop.is_set() or lease.lost:
                raise _Ended
            # Long work gives way to sources that came due meanwhile.
            if (portion is Portion.PAST or source.turn == "last") and len(self._asked_now) == 1:
                self._ask_due(world, done)

        fault = None
        try:
            with lease.renewed(), opening.faults():
                outcome = self._asking(world, source, self._say, self._track, between, portion)
        except _Ended:
            if lease.lost:
                self._say(f"{source.id}: another worker may have taken over, so this one leaves it")
            else:
                done.stopped = True
                self._say(f"{source.id}: stopped; the next worker goes on from here")
            return
        except UnavailableError:
            raise  # the store's fault, not the source's
        except ValueError as error:  # a setting that the source cannot use
            fault = str(error)
        except Exception as error:  # a fault of ours, whatever it is: it costs this source a turn, never the others
            log.exception("a source could not be asked", source=source.id)
            fault = f"{type(error).__name__}, see the log"
        now = self._settings.clock()
        if fault is not None:
            self._say(f"failed {source.id}: {fault}")
            with world.db.transaction():
                payloads.note_attempt(world.db, source.id, now, succeeded=False, kept=False, error=fault)
            outcome, turn_began = RunOutcome(source.id, failed={source.id: fault}), None
        after, how = turn if portion is Portion.PAST else turn.answered(began), "next"
        if outcome.failed or outcome.later:
            after = turn.failed(cadence, now, self._chance.random, outcome.retry_after, turn_began)
            how = f"{len(outcome.later)} wait, and come"
            if outcome.failed:
                how = f"{len(outcome.failed)} failed, the {_ordinal(after.failures)} time in a row; again"
        nothing = f", {len(outcome.empty)} with nothing in it" if outcome.empty else ""
        counts = f"{outcome.folded} read, {outcome.known} known, {outcome.quarantined_responses} quarantined{nothing}"
        is_ended = schedule.end(world.db, source.id, self._holder.owner, after)
        what_next = f"{how} at {wire_time(after.due_at(cadence, now))}" if is_ended else "another worker has taken over"
        self._say(f"{source.id}: {counts}; {what_next}")
        done.add(outcome)


def note_asked(world: PipelineContext, outcomes: Sequence[RunOutcome], began: int) -> None:
    """Record that a command asked these sources completely from `began` on: the turns of those that answered are over."""
    for outcome in outcomes:
        if not outcome.failed and not outcome.later:
            schedule.note(world.db, outcome.source, began)


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
