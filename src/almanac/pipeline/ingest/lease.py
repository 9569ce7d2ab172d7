"""A lease on a source, renewed by its own thread while the source is asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from types import TracebackType
from typing import NamedTuple, Self

from almanac.config import real_time
from almanac.store.engine import opening
from almanac.store.engine.errors import DatabaseError
from almanac.store.log import schedule

#: Seconds that a lease lasts without renewal, and between renewals. It outlasts any transaction of another writer, so
#: that its owner doesn't lose it while waiting for the database.
LEASE_SECONDS, RENEW_SECONDS = 600, 60


class Leaseholder(NamedTuple):
    """The taker of leases: its unique name, its clock (unix seconds), and the seconds between renewals."""

    owner: str
    clock: Callable[[], int] = real_time
    renew_seconds: float = RENEW_SECONDS


class Lease:
    """
    A lease that was taken until `until`, renewed within the block. It isn't released at the end; `schedule.end` does
    that.

    The thread opens its own connection for each renewal.
    """

    def __init__(self, path: opening.Place, source: str, holder: Leaseholder, until: int) -> None:
        self._path = path
        self._source = source
        self._owner, self._clock, self._every = holder
        self._until = until
        self._taken_over = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"lease {source}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def lost(self) -> bool:
        """
        True if another owner has the lease, or may have it because it expired (the machine slept, or the database was
        unavailable).
        """
        return self._taken_over or self._clock() >= self._until

    def _keep(self) -> None:
        while not self._ended.wait(self._every):
            until = self._clock() + LEASE_SECONDS
            try:
                opening.identity_of(self._path)  # never make a new file where the store was taken away
                with closing(opening.connect(self._path, busy_seconds=self._every)) as db, opening.faults():
                    renewed = schedule.renew(db, self._source, self._owner, until)
            except (DatabaseError, OSError):
                continue  # the next time may do; until then the lease runs
            if not renewed:
                self._taken_over = True
                return
            self._until = until
