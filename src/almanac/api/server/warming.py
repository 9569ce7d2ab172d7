"""Making, when a process starts, what its first requests would wait for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

import structlog

from almanac.api.contract.endpoint import Endpoint
from almanac.store.observations.reading.reader import View

log = structlog.get_logger("almanac.warming")

#: How long a process may be held back by it: one that takes longer answers as it can, lest it never answer.
MOST_SECONDS = 60.0


def warm(
    endpoints: Iterable[Endpoint], open_view: Callable[[], AbstractContextManager[View]], clock: Callable[[], int]
) -> None:
    """What endpoints say they need. What cannot be made now, the first requests make themselves."""
    for endpoint in endpoints:
        if endpoint.warm is None:
            continue
        try:
            with open_view() as view:
                endpoint.warm(view, clock())
        except Exception as error:  # whatever it is, a request that needs it will meet it and say so
            log.warning("not warmed", path=endpoint.path, reason=str(error))


class Warming:
    """The making, once, in a thread of its own: what needs nothing of it is answered meanwhile."""

    def __init__(
        self,
        make: Callable[[], None],
        most_seconds: float = MOST_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make, self._seconds, self._monotonic = make, most_seconds, monotonic
        self._until: float | None = None
        self._over = threading.Event()

    def start(self) -> None:
        self._until = self._monotonic() + self._seconds
        threading.Thread(target=self._run, name="warming", daemon=True).start()

    def _run(self) -> None:
        try:
            self._make()
        finally:  # whatever went wrong: nobody may wait for it any more
            self._over.set()

    @property
    def under_way(self) -> bool:
        return self._until is not None and not self._over.is_set()

    @property
    def holds_back(self) -> bool:
        """Whether the process had better be given no requests yet."""
        return self._until is not None and not self._over.is_set() and self._monotonic() < self._until
