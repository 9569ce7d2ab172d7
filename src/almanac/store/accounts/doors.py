"""Accounts on a server as they are read alone: of a primary that may not answer, and of the replicas that then do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from almanac.store.accounts.file import AREA
from almanac.store.engine import opening
from almanac.store.engine.opening import Server, faults
from almanac.store.engine.patience import at_most, holding
from almanac.store.engine.protocol import Database

_T = TypeVar("_T")
#: A server that has not answered within so long does not answer; and how long it may then take to end its work, seconds.
_ANSWER_SECONDS, _GRACE_SECONDS = 0.75, 0.25


def promptly() -> AbstractContextManager[None]:
    """Whatever is read in the block is waited for as long as a server may take that answers."""
    return at_most(_ANSWER_SECONDS, grace=_GRACE_SECONDS)


class Door:
    """One server's accounts as they are read, over one connection, by one thread after the other."""

    def __init__(self, at: Server) -> None:
        self.at = at
        self._lock = threading.Lock()
        self._db: Database | None = None

    def read(self, ask: Callable[[Database], _T]) -> tuple[int, _T]:
        """The change token of a snapshot, and what is read in it. Raises UnavailableError, or StoppedError where it takes long."""
        with promptly(), holding(self._lock), faults():
            try:
                if self._db is None:
                    self._db = opening.read_area(self.at, AREA)
                token = self._db.begin_snapshot()
                found = ask(self._db)
                self._db.end_snapshot()
            except BaseException:  # whatever it was, the next one begins anew
                self._shut()
                raise
            return token, found

    def _shut(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            db.close(True)

    def close(self) -> None:
        """Close the connection; it is made anew when it is needed."""
        with self._lock:
            self._shut()
