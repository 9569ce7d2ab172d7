"""
Several databases that hold the same data, a primary and its replicas: each read goes to one that is far enough.

A replica answers whoever has not seen a newer data version than it has reached; the primary answers all others, and goes
unasked otherwise. One that is behind is left out for a moment; one that cannot be reached, or says nothing, until a thread of
its own has reached it again: no request waits for it twice. So reads go on without the primary, and nobody is told less than
before: where no replica has got as far and the primary is lost, the read fails.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from types import TracebackType

from almanac.store.engine.errors import DatabaseError, UnavailableError
from almanac.store.engine.patience import Patience, patiently
from almanac.store.observations.reading.reader import Reader, View

#: How long one is left out that is behind, seconds.
_BEHIND_SECONDS = 0.1
#: How often one that is left out is tried again, and how long it may take then to begin a read.
_TRY_SECONDS, _TRIED_SECONDS = 0.5, 2.0
#: How long one of several may take to begin a read (`Reader`), before another one is asked.
BEGIN_SECONDS = 1.0

#: What is told of a database that is left out (the reason), and of one that answers again (None).
Tell = Callable[[str, str | None], object]


class Replicas:
    """
    A primary and its replicas as one process reads them; `view` is one consistent state of one of them.

    `tell` is told which is left out, and which answers again. `watched`: whether a thread tries those that are left out.
    """

    def __init__(
        self,
        primary: Reader,
        replicas: Sequence[Reader],
        *,
        monotonic: Callable[[], float] = time.monotonic,
        tell: Tell = lambda _name, _reason: None,
        watched: bool = True,
    ) -> None:
        self._primary = primary
        self._replicas = tuple(replicas)
        self._monotonic = monotonic
        self._tell, self._watched = tell, watched
        #: Those that cannot be reached; and until when one is left out because it is behind.
        self._away: set[Reader] = set()
        self._behind: dict[Reader, float] = {}
        self._next = 0
        self._newest = 0
        self._lock = threading.Lock()
        self._watching: threading.Thread | None = None
        self._closed = threading.Event()

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
            if self._behind.get(reader, 0.0) <= self._monotonic():
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
        except UnavailableError as fault:
            self._leave_out(reader, fault)
            raise

    def try_again(self) -> bool:
        """Try those that are left out; whether there are any still. The thread that watches does it every so often."""
        for reader in tuple(self._away):
            try:
                with patiently(Patience(_TRIED_SECONDS)), reader.view():
                    pass
            except DatabaseError:
                continue
            finally:
                reader.close()  # as far as this thread has it open
            with self._lock:
                self._away.discard(reader)
            self._tell(reader.name, None)
        return bool(self._away)

    def close(self) -> None:
        """Close the databases as far as this thread has them open, and try none again."""
        self._closed.set()
        for reader in (self._primary, *self._replicas):
            reader.close()

    def _in_turn(self) -> Iterator[Reader]:
        """All replicas; another one comes first each time."""
        self._next = begin = (self._next + 1) % len(self._replicas)
        yield from self._replicas[begin:]
        yield from self._replicas[:begin]

    def _leave_out(self, reader: Reader, error: UnavailableError) -> None:
        with self._lock:
            if reader in self._away:
                return
            self._away.add(reader)
            if self._watched and self._watching is None:
                self._watching = threading.Thread(target=self._watch, name="replicas", daemon=True)
                self._watching.start()
        self._tell(reader.name, str(error))

    def _watch(self) -> None:
        while not self._closed.wait(_TRY_SECONDS):
            if self.try_again():
                continue
            with self._lock:
                if not self._away:
                    self._watching = None
                    return

    def _tried(self, reader: Reader, least: int, failed: list[UnavailableError]) -> View | None:
        """A state of one database that has got so far; None where it has not, or cannot be read."""
        if reader in self._away:
            return None
        try:
            view = reader.view().__enter__()
        except UnavailableError as error:
            failed.append(error)
            self._leave_out(reader, error)
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
