"""
Asking every source at its own cadence, for ever or once, beside any number of other workers on the same store.

A source's turn is taken as a lease in the data database, so that one worker at a time asks it. A turn ends well when
the publisher answered every request: then the next one is its cadence's. A turn with a failure is tried again after a
growing pause. Killed at any instant, the lease runs out, and whoever takes it goes on where that one was.
"""

from __future__ import annotations

import contextlib
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from almanac.catalog.load import shipped
from almanac.catalog.records import Catalog
from almanac.config import Settings
from almanac.domain.cadence import Cadence, Turn
from almanac.domain.reference import Source
from almanac.domain.rights import Exposure
from almanac.domain.times import wire_time
from almanac.pipeline.ingest.asking import from_network
from almanac.pipeline.ingest.lease import LEASE_SECONDS, Lease, Leaseholder
from almanac.pipeline.ingest.outcome import RunOutcome, Say, Track, untracked
from almanac.pipeline.world import REAL, World
from almanac.store.engine import opening
from almanac.store.engine.errors import StoreError, UnavailableError
from almanac.store.log import payloads, turns

log = logging.getLogger("almanac.worker")
#: The longest wait before looking again, for other workers end, fail and die meanwhile; and the wait after a fault of the store.
_LOOK_AGAIN, _STORE_PAUSE = 300, 60


class Stop(Protocol):
    """Whether to stop, as threading.Event has it."""

    def is_set(self) -> bool: ...
    def wait(self, timeout: float) -> bool: ...


class Ask(Protocol):
    """Ask a source whole. `between` is called before each request and after each response that was taken in."""

    def __call__(
        self, world: World, source: Source, say: Say, track: Track, between: Callable[[], None]
    ) -> RunOutcome: ...


def ask(world: World, source: Source, say: Say, track: Track, between: Callable[[], None]) -> RunOutcome:
    """Ask the publisher for the whole history: what an answer leaves out has been withdrawn, and old values are revised."""
    (outcome,) = from_network(world, [source], None, say, track, between=between)
    return outcome


def lacking(settings: Settings, source: Source) -> str | None:
    """What an operator has to set before a source is asked without a person there, in one line; None for nothing."""
    held = settings.sources.get(source.id)
    if source.key_required and not (held and held.key(source.key_setting)):
        return f"{source.id} needs a key: set {source.key_setting}"
    if source.rights.channel is not Exposure.public and settings.consent(source.id) is None:
        name = f"ALMANAC_SOURCES__{source.id.replace('-', '_').upper()}__CONSENT"
        return (
            f"{source.id} needs its owner's consent: once it is given, set {name}__BY, {name}__ON and {name}__REFERENCE"
        )
    return None


class _Ended(Exception):  # noqa: N818  (the name says what happened)
    """The asking of a source is to end after the payload in hand."""


@dataclass(slots=True)
class Round:
    """What a worker did at one time: outcomes by source, whether it was stopped, and when the next source is due."""

    outcomes: list[RunOutcome] = field(default_factory=list)
    stopped: bool = False
    next_at: int | None = None
    next_source: str | None = None


class Worker:
    """
    One worker over the sources named (all for none). `chance` is for the pauses.

    Turns are by the clock of the data, leases by that of the `holder`: real time.
    """

    def __init__(
        self,
        settings: Settings,
        names: Sequence[str],
        holder: Leaseholder,
        say: Say,
        stop: Stop,
        *,
        chance: random.Random,
        track: Track = untracked,
        asking: Ask = ask,
    ) -> None:
        self._settings = settings
        self._holder = holder
        self._say = say
        self._stop = stop
        self._chance = chance
        self._track = track
        self._asking = asking
        self._opened = False
        #: Sources that lack something, and what, in one line each.
        self.passed_over: dict[str, str] = {}
        self._sources = self._askable(shipped(), names)

    def _askable(self, catalog: Catalog, names: Sequence[str]) -> list[Source]:
        """The sources to ask. Those that lack something are named."""
        found = []
        for source in catalog.sources.values():
            if not source.connector or source.cadence is None or (names and source.id not in names):
                continue
            missing = lacking(self._settings, source)
            if missing is None:
                found.append(source)
            else:
                self.passed_over[source.id] = missing.removeprefix(f"{source.id} ")
                self._say(f"passed over: {missing}")
        return found

    # -- for ever ---------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """
        Round after round until stopped. Raises what opening the store raises, at the first round only: a store that
        cannot be used later on is tried again.
        """
        announced: tuple[int | None, str | None] | None = None
        while not self._stop.is_set():
            pause = _LOOK_AGAIN
            try:
                done = self.round()
            except StoreError as error:
                if not self._opened:
                    raise
                self._say(f"{error}; trying again in {_STORE_PAUSE} s")
                pause = _STORE_PAUSE
            else:
                if done.next_at is not None:
                    pause = max(1, min(pause, done.next_at - self._settings.clock()))
                if (done.next_at, done.next_source) != announced and not done.stopped:
                    announced = (done.next_at, done.next_source)
                    self._say(self._waiting(done))
            if not self._stop.is_set():
                self._stop.wait(pause)

    def _waiting(self, done: Round) -> str:
        if done.next_at is None:
            return "there is no source to ask"
        return f"waiting: {done.next_source} is next, at {wire_time(done.next_at)}"

    # -- once -------------------------------------------------------------------------------------------------------

    def round(self) -> Round:
        """Ask each source that is due and that no other worker asks, the one that has waited longest first."""
        done = Round()
        waiting = self._look()
        due = {s.id: self._due_at(s, waiting[s.id].turn if s.id in waiting else Turn()) for s in self._sources}
        now = self._settings.clock()
        # The whole world is opened for work only; and once at first, to be told of a store of the other world.
        if not self._opened or any(at <= now for at in due.values()):
            with World(self._settings, kind=REAL) as world:
                self._opened = True
                for source in sorted(self._sources, key=lambda s: (due[s.id], s.id)):
                    if self._stop.is_set():
                        done.stopped = True
                        break
                    if due[source.id] <= self._settings.clock():
                        self._take(world, source, done)
            waiting = self._look()
        self._look_ahead(waiting, done)
        return done

    def _look(self) -> dict[str, turns.SourceTurn]:
        path = opening.place(self._settings.data_place)
        try:
            with opening.faults(), contextlib.closing(opening.create(path)) as db:
                return turns.held(db)
        except UnavailableError as error:
            raise StoreError(opening.advice(error, path)) from None

    def _due_at(self, source: Source, turn: Turn) -> int:
        return turn.due_at(_cadence(source), self._settings.clock())

    def _look_ahead(self, waiting: dict[str, turns.SourceTurn], done: Round) -> None:
        """When there is something to do again: a turn, or the end of another's lease on one that is due."""
        now, real = self._settings.clock(), self._holder.clock()
        for source in self._sources:
            held = waiting.get(source.id, turns.SourceTurn(Turn()))
            at = self._due_at(source, held.turn)
            if held.by(real) is not None:
                at = max(at, now + held.expires_at - real)
            if done.next_at is None or at < done.next_at:
                done.next_at, done.next_source = at, source.id

    def _take(self, world: World, source: Source, done: Round) -> None:
        now = self._holder.clock()
        until = now + LEASE_SECONDS
        turn = turns.take(world.db, source.id, self._holder.owner, now, until)
        if turn is None:
            held = turns.held(world.db).get(source.id)
            self._say(f"{source.id}: {held.owner if held else 'another worker'} is asking it")
            return
        due = self._due_at(source, turn)
        try:
            if due <= self._settings.clock():  # else another worker was here since we looked
                self._ask(world, source, turn, until, due, done)
        finally:
            # After a turn that ended this changes nothing; one that did not end is for whoever comes next.
            with contextlib.suppress(UnavailableError):
                turns.leave(world.db, source.id, self._holder.owner)

    def _ask(self, world: World, source: Source, turn: Turn, until: int, due: int, done: Round) -> None:
        began = self._settings.clock()
        self._say(f"{source.id}: asking, due since {wire_time(due)}")
        path = opening.place(self._settings.data_place)
        with Lease(path, source.id, self._holder, until) as lease:

            def between() -> None:
                if self._stop.is_set() or lease.lost:
                    raise _Ended

            try:
                with opening.faults():
                    outcome = self._asking(world, source, self._say, self._track, between)
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
                outcome = self._fault(world, source, str(error))
            except Exception as error:  # a fault of ours, whatever it is: it costs this source a turn, never the others
                log.exception("asking %s failed", source.id)
                outcome = self._fault(world, source, f"{type(error).__name__}, see the log")
        self._end(world, source, turn, began, outcome)
        done.outcomes.append(outcome)

    def _fault(self, world: World, source: Source, reason: str) -> RunOutcome:
        self._say(f"failed {source.id}: {reason}")
        with world.db.transaction():
            now = self._settings.clock()
            payloads.note_attempt(world.db, source.id, now, succeeded=False, kept=False, error=reason)
        return RunOutcome(source.id, failed={source.id: reason})

    def _end(self, world: World, source: Source, turn: Turn, began: int, outcome: RunOutcome) -> None:
        """Write down how the turn went. What was quarantined is no failure: asked again, the publisher says the same."""
        cadence, now = _cadence(source), self._settings.clock()
        if outcome.failed:
            after = turn.failed(cadence, now, self._chance.random, outcome.retry_after)
            how = f"{len(outcome.failed)} failed, the {_ordinal(after.failures)} time in a row; again"
        else:
            after = turn.answered(began)
            how = "next"
        told = f"{outcome.folded} read, {outcome.known} known, {outcome.quarantined_responses} quarantined"
        if turns.end(world.db, source.id, self._holder.owner, after):
            self._say(f"{source.id}: {told}; {how} at {wire_time(after.due_at(cadence, now))}")
        else:
            self._say(f"{source.id}: {told}; another worker has taken over")


def note_asked(world: World, outcomes: Sequence[RunOutcome], began: int) -> None:
    """A person's command asked these sources whole, from `began` on: the turns of those that answered are over."""
    for outcome in outcomes:
        if not outcome.failed:
            turns.note(world.db, outcome.source, began)


def _cadence(source: Source) -> Cadence:
    if source.cadence is None:
        raise ValueError(f"{source.id} has no cadence")
    return Cadence(source.cadence)


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
