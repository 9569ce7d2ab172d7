"""What a process does every so often, beside what it is there for."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

from almanac.store.engine.deadline import Deadline, deadline_scope

log = structlog.get_logger("almanac.serving")

#: How long it may take, seconds: a server may not answer.
_MOST_SECONDS = 10.0


class Every:
    """Does something every so often in a thread of its own, and once more when stopped."""

    def __init__(self, seconds: float, action: Callable[[], object], what: str) -> None:
        self._seconds = seconds
        self._action = action
        self._what = what
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="flusher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(self._seconds):
            self._once()
        self._once()

    def _once(self) -> None:
        try:
            with deadline_scope(Deadline(_MOST_SECONDS)):
                self._action()
        except Exception:  # what is written here is for the eye only: it must not end the service
            log.exception("not written", what=self._what)
