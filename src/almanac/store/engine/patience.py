"""How long an answer is waited for: until a deadline, or until whoever asked has gone. Readers stop when it is over."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from almanac.store.engine.errors import StoppedError


class Patience:
    """
    The patience of one request, from the moment it is made. `end` may be called from any thread.

    `seconds`: until the deadline.
    """

    __slots__ = ("_monotonic", "_until", "gone")

    def __init__(self, seconds: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._until = monotonic() + seconds
        #: Whether nobody waits any more.
        self.gone = False

    def end(self) -> None:
        """Nobody waits any more: what is still being read for it is ended at its next step."""
        self.gone = True

    @property
    def left(self) -> float:
        """Seconds until the deadline; none once nobody waits."""
        return 0.0 if self.gone else max(0.0, self._until - self._monotonic())

    @property
    def over(self) -> bool:
        return self.gone or self._monotonic() >= self._until


class _Here(threading.local):
    patience: Patience | None = None


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
