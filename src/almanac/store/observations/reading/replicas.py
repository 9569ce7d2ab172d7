"""
Several databases that hold the same data, a primary and its replicas: each read goes to one that is far enough.

A replica answers whoever has not seen a newer data version than it has reached; the primary answers all others, and goes
unasked otherwise. One that cannot be reached, or is behind, is left out for a moment. So reads go on without the primary,
and nobody is told less than before: where no replica has got as far and the primary is lost, the read fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from types import TracebackType

from almanac.store.engine.errors import UnavailableError
from almanac.store.observations.reading.reader import Reader, View

#: How long one is left out that cannot be reached, and one that is behind, seconds.
_AWAY_SECONDS, _BEHIND_SECONDS = 2.0, 0.1


class Replicas:
    """A primary and its replicas as one process reads them; `view` is one consistent state of one of them."""

    def __init__(
        self, primary: Reader, replicas: Sequence[Reader], *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._primary = primary
        self._replicas = tuple(replicas)
        self._monotonic = monotonic
        #: Until when each is left out: because it cannot be reached, because it is behind.
        self._away: dict[Reader, float] = {}
        self._behind: dict[Reader, float] = {}
        self._next = 0
        self._newest = 0

    def view(self, least: int | None = None) -> AbstractContextManager[View]:
        """
        One read transaction on a database that has reached a data version; by default on one that has reached the newest
        that was ever read here. Entering raises UnavailableError where there is none that can be read.
        """
        return _Chosen(self, self._newest if least is None else least)

    def choose(self, least: int) -> tuple[Reader, View]:
        """What entering `view` does: the reader that was chosen, and its state."""
        failed: list[UnavailableError] = []
        for reader in self._in_turn():
            if not self._rests(reader, self._behind):
                view = self._tried(reader, least, failed)
                if view is not None:
                    return reader, view
        view = self._tried(self._primary, 0, failed)
        if view is not None:
            return self._primary, view
        # Whoever was only behind may have caught up meanwhile, and there is nobody else.
        for reader in self._in_turn():
            view = self._tried(reader, least, failed)
            if view is not None:
                return reader, view
        raise UnavailableError(
            f"neither the primary nor a replica that has reached data version {least} can be read"
            + (f" ({failed[-1]})" if failed else "")
        )

    def ended(self, reader: Reader, error: BaseException | None) -> None:
        """What leaving `view` does. An error of the database leaves as one of ours."""
        try:
            reader.end(error)
        except UnavailableError:
            self._leave_out(reader)
            raise

    def close(self) -> None:
        """Close the databases as far as this thread has them open."""
        for reader in (self._primary, *self._replicas):
            reader.close()

    def _in_turn(self) -> Iterator[Reader]:
        """All replicas; another one comes first each time."""
        self._next = begin = (self._next + 1) % len(self._replicas)
        yield from self._replicas[begin:]
        yield from self._replicas[:begin]

    def _rests(self, reader: Reader, until: dict[Reader, float]) -> bool:
        return until.get(reader, 0.0) > self._monotonic()

    def _leave_out(self, reader: Reader) -> None:
        self._away[reader] = self._monotonic() + _AWAY_SECONDS

    def _tried(self, reader: Reader, least: int, failed: list[UnavailableError]) -> View | None:
        """A state of one database that has got so far; None where it has not, or cannot be read."""
        if self._rests(reader, self._away):
            return None
        try:
            view = reader.view().__enter__()
        except UnavailableError as error:
            failed.append(error)
            self._leave_out(reader)
            return None
        if view.version < least:
            reader.end(None)
            self._behind[reader] = self._monotonic() + _BEHIND_SECONDS
            return None
        self._newest = max(self._newest, view.version)
        return view


class _Chosen:
    """`Replicas.view()` as a context manager."""

    __slots__ = ("_least", "_of", "_reader")

    def __init__(self, of: Replicas, least: int) -> None:
        self._of, self._least = of, least

    def __enter__(self) -> View:
        self._reader, view = self._of.choose(self._least)
        return view

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._of.ended(self._reader, error)
