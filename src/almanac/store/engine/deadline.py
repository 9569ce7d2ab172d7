"""Deadlines of requests: how long an answer is waited for, and what stops reading once nobody waits any more."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from almanac.store.engine.errors import StoppedError


class Deadline:
    """
    The deadline of one request, `seconds` from its creation. `cancel` may be called from any thread.

    A deadline `within` another one passes with it.
    """

    __slots__ = ("_monotonic", "_until", "_within", "cancelled", "database_seconds", "interrupt")

    def __init__(
        self, seconds: float, monotonic: Callable[[], float] = time.monotonic, *, within: Deadline | None = None
    ) -> None:
        self._monotonic = monotonic
        self._until = monotonic() + seconds
        #: Seconds that a server took: a file is read inside the process.
        self.database_seconds = 0.0
        self._within = within
        self.cancelled = False
        #: Set by an engine while it waits for a server: ends what the server does.
        self.interrupt: Callable[[], object] | None = None

    def cancel(self) -> None:
        """Stop the work at its next step: nobody waits for it any more."""
        self.cancelled = True
        if (interrupt := self.interrupt) is not None:
            interrupt()

    @property
    def left(self) -> float:
        """Seconds left; 0 once it is cancelled."""
        own = 0.0 if self.cancelled else max(0.0, self._until - self._monotonic())
        return own if self._within is None else min(own, self._within.left)

    @property
    def passed(self) -> bool:
        return self.cancelled or self._monotonic() >= self._until or (self._within is not None and self._within.passed)


class _Local(threading.local):
    deadline: Deadline | None = None


_local = _Local()


@contextlib.contextmanager
def deadline_scope(deadline: Deadline) -> Iterator[None]:
    """Give everything that this thread reads in the block a deadline. Raises StoppedError if it has passed already."""
    before, _local.deadline = _local.deadline, deadline
    try:
        if deadline.passed:
            raise StoppedError("nobody waits for it any more, or its time is up")
        yield
    finally:
        _local.deadline = before


def current_deadline() -> Deadline | None:
    """Return the deadline of this thread's work; None for work without one."""
    return _local.deadline


def add_database_time(seconds: float) -> None:
    """Count seconds that a server took for this thread's work."""
    if _local.deadline is not None:
        _local.deadline.database_seconds += seconds


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Give this thread's work in the block at most `seconds`, and never more than its present deadline leaves."""
    with deadline_scope(Deadline(seconds, within=_local.deadline)):
        yield


@contextlib.contextmanager
def lock_held(lock: threading.RLock | threading.Lock) -> Iterator[None]:
    """Hold a lock in the block. Raises StoppedError if it is not free before this thread's deadline."""
    deadline = _local.deadline
    if not lock.acquire(timeout=-1 if deadline is None else deadline.left):
        raise StoppedError("another one keeps it for longer than this is waited for")
    try:
        yield
    finally:
        lock.release()


def deadline_passed() -> bool:
    """Return whether this thread's deadline has passed. Engines ask every so many steps."""
    deadline = _local.deadline
    return deadline is not None and deadline.passed


def check_deadline() -> None:
    """Raise StoppedError if this thread's deadline has passed: for long work between two statements."""
    if deadline_passed():
        raise StoppedError("nobody waits for it any more, or its time is up")
