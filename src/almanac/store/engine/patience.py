"""How long an answer is waited for: until a deadline, or until whoever asked has gone. Readers stop when it is over."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from almanac.store.engine.errors import StoppedError

#: How long an event loop may wait for a server's answer, all its clients with it; what takes longer is for a thread.
AT_ONCE_SECONDS = 0.25
#: How long a server may take to say that it has ended what nobody waits for any more; then the connection is given up.
GRACE_SECONDS = 1.0


class Patience:
    """
    The patience of one request, from the moment it is made. `end` may be called from any thread.

    `seconds`: until the deadline; `grace`: how long after it a server may take to end its work; `within`: a longer patience
    that this one is part of, and ends with.
    """

    __slots__ = ("_monotonic", "_until", "_within", "database", "gone", "grace")

    def __init__(
        self,
        seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
        *,
        grace: float = GRACE_SECONDS,
        within: Patience | None = None,
    ) -> None:
        self._monotonic = monotonic
        self._until = monotonic() + seconds
        #: Seconds that the database took of it, as far as that was measured (`time_statements`).
        self.database = 0.0
        self._within, self.grace = within, grace
        #: Whether nobody waits any more.
        self.gone = False

    def end(self) -> None:
        """Nobody waits any more: what is still being read for it is ended at its next step."""
        self.gone = True

    @property
    def left(self) -> float:
        """Seconds until the deadline; none once nobody waits."""
        own = 0.0 if self.gone else max(0.0, self._until - self._monotonic())
        return own if self._within is None else min(own, self._within.left)

    @property
    def over(self) -> bool:
        return self.gone or self._monotonic() >= self._until or (self._within is not None and self._within.over)


def at_once(seconds: float = AT_ONCE_SECONDS) -> Patience:
    """The patience of an event loop, which waits for nobody."""
    return Patience(min(seconds, AT_ONCE_SECONDS), grace=AT_ONCE_SECONDS)


class _Here(threading.local):
    patience: Patience | None = None
    timed = False


_here = _Here()


@contextlib.contextmanager
def patiently(patience: Patience) -> Iterator[None]:
    """Whatever this thread reads in the block is read for this patience. Raises StoppedError where it is over already."""
    before, _here.patience = _here.patience, patience
    try:
        check()
        yield
    finally:
        _here.patience = before


def here() -> Patience | None:
    """Whose patience this thread reads for."""
    return _here.patience


def took(seconds: float) -> None:
    """The database took so long for what this thread reads."""
    if _here.patience is not None:
        _here.patience.database += seconds


def time_statements() -> None:
    """
    From here on measure how long statements of this thread take that are run inside the process, on connections that it opens.
    That costs each some microseconds: as much as a short one takes, and nothing of what a thread is for.
    """
    _here.timed = True


def is_timed() -> bool:
    """Whether statements of this thread are measured."""
    return _here.timed


@contextlib.contextmanager
def at_most(seconds: float, *, grace: float = GRACE_SECONDS) -> Iterator[None]:
    """Whatever this thread reads in the block is waited for no longer than so long, nor than whoever waits for all of it."""
    before = _here.patience
    with patiently(Patience(seconds, grace=grace if before is None else min(grace, before.grace), within=before)):
        yield


@contextlib.contextmanager
def holding(lock: threading.RLock | threading.Lock) -> Iterator[None]:
    """A lock, waited for as long as the patience of this thread lasts. Raises StoppedError."""
    patience = _here.patience
    if not lock.acquire(timeout=-1 if patience is None else patience.left):
        raise StoppedError("another one keeps it for longer than this is waited for")
    try:
        yield
    finally:
        lock.release()


def grace() -> float:
    """How long a server may take, once it is over, to end what this thread asked for; seconds."""
    patience = _here.patience
    return GRACE_SECONDS if patience is None else patience.grace


def is_over() -> bool:
    """Whether nobody waits any more for what this thread reads. Asked by the engine, every so many steps."""
    patience = _here.patience
    return patience is not None and patience.over


def is_patient() -> bool:
    """Whether somebody waits whose patience may end; else what this thread reads takes as long as it takes."""
    return _here.patience is not None


def check() -> None:
    """Raise StoppedError where nobody waits any more: for what takes long between two statements."""
    if is_over():
        raise StoppedError("nobody waits for it any more, or its time is up")
