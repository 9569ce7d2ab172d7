"""
Going round the whole store for ever, in the background of the service: what was damaged is found before it is asked for.

A round reads every raw payload against its hash, every payload that the database names against the raw store, every table and index as the engine checks them, and every value against
its current row and what its series says of itself. It writes nothing to the store. It goes piece
by piece, each in a short transaction of its own, and rests after each. Where it is, it notes in a file, and goes on from
there when it is started anew. `almanac verify` does the same at once, and computes derived values and events again.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Protocol

import msgspec
import structlog

from almanac.config import Settings, real_time
from almanac.pipeline.operate import custody, verify
from almanac.pipeline.operate.rounds import Stage, StoreRound, path_of, read
from almanac.store.engine import opening
from almanac.store.engine.errors import DamagedError, DatabaseError
from almanac.store.log import payloads
from almanac.store.observations import audit
from almanac.store.raw.captures import RawStore

log = structlog.get_logger("almanac.patrol")

#: Share of one core that it takes at most, and how long one piece may read on.
_SHARE, _PIECE_SECONDS = 0.1, 0.25
#: Payloads that are asked for at once.
_ROWS = 200
#: How often it writes down where it is, and how long it rests where the store cannot be read.
_NOTE_SECONDS, _STORE_PAUSE = 5.0, 60.0
#: Damaged places that are named; more are counted only.
_NAMED = 20


class Ended(Protocol):
    """Whether to stop, as threading.Event has it."""

    def is_set(self) -> bool: ...
    def wait(self, timeout: float) -> bool: ...


class Patrol:
    """One walker over one store. `now` is real time, `clock` counts seconds from anywhere."""

    def __init__(
        self,
        settings: Settings,
        stop: Ended,
        *,
        now: Callable[[], int] = real_time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = path_of(settings)
        self._data = opening.place(settings.data_place)
        self._raw = RawStore.at(settings.raw_place)
        self._every = settings.verify_hours * 3600
        self._stop, self._now, self._clock = stop, now, clock
        self.rounds = read(self._path)
        self._noted = clock()

    def run(self) -> None:
        """Round after round until stopped, each begun so many hours after the one before was."""
        while not self._stop.is_set():
            last = self.rounds.last
            due = 0.0 if last is None else last.started + self._every - self._now()
            # A clock that was set back must not put the next round off for longer than asked for.
            if self.rounds.present is None and due > 0:
                self._stop.wait(min(due, self._every))
                if self._stop.is_set():
                    return
            self.go_round()

    def go_round(self) -> bool:
        """Go on with the present round, or begin one. True: it is completed. False: it was stopped."""
        present = self.rounds.present
        if present is None:
            present = self.rounds.present = StoreRound(self._now())
        begun = self._clock()
        for _ in self._pieces(present):
            self._note(least=_NOTE_SECONDS)
            if self._stop.wait((self._clock() - begun) * (1 / _SHARE - 1)):
                self._note()
                return False
            begun = self._clock()
        present.completed = self._now()
        self.rounds.last, self.rounds.present = present, None
        self._note()
        log.info("the store was verified", problems=present.problems, seconds=present.completed - present.started)
        return True

    def _pieces(self, present: StoreRound) -> Iterator[None]:
        """Look at one piece after the other."""
        while present.stage == "raw":
            try:
                for looked in self._raw.checked(present.after):
                    if looked.flaw is not None:
                        self._found(present, f"raw store: {looked.flaw.name}")
                    present.after = looked.name
                    yield
            except ConnectionError as error:  # storage elsewhere that does not answer: no damage, and it may pass
                log.warning("the raw store cannot be verified just now", reason=str(error))
                if self._stop.wait(_STORE_PAUSE):
                    yield
                continue
            except OSError as error:
                # It gives that back no more, and what lies behind is looked at in the next round.
                told = error.strerror or str(error)
                self._found(present, f"raw store, behind {present.after or 'its beginning'}: {told}")
            present.stage, present.after = "payloads", "0"
        more = True
        while more:
            before = present.stage, present.after
            try:
                more = self._piece(present)
            except DamagedError:
                self._found(present, f"{self._data.name}, among its {present.stage}")
                more = self._passes_by(present, before)
            except (DatabaseError, OSError) as error:  # not there, held, or no room: no damage, and it may pass
                log.warning("the store cannot be verified just now", reason=str(error))
                if self._stop.wait(_STORE_PAUSE):
                    yield
                continue
            yield

    def _piece(self, present: StoreRound) -> bool:
        """Look at payloads, the next table, or topics for a while; opened anew, lest what is in memory hide what is on disk."""
        opening.identity(self._data)
        with opening.faults(), contextlib.closing(opening.connect(self._data, read_only=True)) as db, db.snapshot():
            until = self._clock() + _PIECE_SECONDS
            if present.stage == "payloads":
                rows = payloads.every(db, int(present.after), _ROWS)
                for row in rows:
                    for problem in custody.problems([row], self._raw, {}):
                        self._found(present, problem.partition(": ")[0])
                    present.after = str(row.number)
                    if self._clock() > until:
                        break
                if not rows:
                    present.stage, present.after = "tables", ""
                return True
            if present.stage == "tables":
                table = next((name for name in db.tables() if name > present.after), None)
                if table is None:
                    present.stage, present.after = "topics", "0"
                    return True
                present.after = table  # before it is looked at: one that cannot be read at all is passed by, as below
                if any(True for _ in db.damages(table)):
                    self._found(present, f"table {table}")
                return True
            topics = audit.topics_after(db, int(present.after))
            for number in topics:
                present.after = str(number)
                for problem in verify.topic(db, number):
                    # What a problem says may repeat a value, which may be one that is withheld.
                    self._found(present, problem.partition(": ")[0] if problem.startswith("series ") else problem)
                if self._clock() > until:
                    break
            return bool(topics)

    @staticmethod
    def _passes_by(present: StoreRound, before: tuple[Stage, str]) -> bool:
        """Whether the round goes on behind what could not be read; it does not where even the list of what is there cannot."""
        if (present.stage, present.after) != before:
            return True
        if present.stage == "payloads":
            present.stage, present.after = "tables", ""
            return True
        listed = present.stage == "tables"
        present.stage, present.after = "topics", "0"
        return listed

    def _found(self, present: StoreRound, place: str) -> None:
        present.problems += 1
        if len(present.places) < _NAMED:
            present.places.append(place)
            log.error("the store is damaged; `almanac verify` says more", place=place)

    def _note(self, least: float = 0.0) -> None:
        """Write down where the round is, whole or not at all; no oftener than asked for."""
        if self._clock() - self._noted < least:
            return
        self._noted = self._clock()
        beside = self._path.with_suffix(".new")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
                file.write(msgspec.json.encode(self.rounds))
            beside.replace(self._path)
        except OSError as error:  # a full disk: it goes on, and what it finds is in the log
            log.warning("where the verification is cannot be noted", reason=error.strerror)
