"""
Computation in worker processes, beside the one process that writes.

A job is a pure function of its arguments, so it can run anywhere: if no worker has begun it when its result is
requested, it is computed here. So nothing waits without need, and nothing is lost if a worker dies.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from typing import Any, Generic, TypeVar

from almanac.domain.memory import search_seldom

log = logging.getLogger("almanac.processes")

_Result = TypeVar("_Result")
#: Bytes of work handed in before workers are started, because they take half a second to begin.
WORTHWHILE = 4 << 20
#: Larger jobs run in this process, because sending them to a worker would double their memory.
HEAVIEST = 64 << 20


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Job(Generic[_Result]):
    """A deferred computation; `sent` is its future if a worker may do it, `lost` is called if that worker died."""

    def __init__(
        self,
        work: Callable[..., _Result],
        arguments: tuple[Any, ...],
        sent: Future[_Result] | None = None,
        lost: Callable[[], None] = lambda: None,
    ) -> None:
        self._work, self._arguments, self._sent, self._lost = work, arguments, sent, lost

    def result(self) -> _Result:
        """Return the result. If no worker has begun, it is computed here. Raises what the function raises."""
        if self._sent is not None and not self._sent.cancel():
            try:
                return self._sent.result()
            except BrokenProcessPool:
                self._lost()
            except Exception:  # of the function, which raises it here as well, or of sending its arguments
                log.debug("computed again in this process", exc_info=True)
        return self._work(*self._arguments)


class Processes:
    """
    `count` computing processes: this one and workers. They start when there is enough work, and end at `close`.

    A worker holds no file or connection of this process, and ends with it.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._handed_in = 0
        self._pool: ProcessPoolExecutor | None = None
        self._is_lost = False

    def job(self, work: Callable[..., _Result], *arguments: Any, weight: int) -> Job[_Result]:
        """Submit a job: a module-level function and its arguments. `weight` is roughly the number of bytes it reads."""
        sent = None
        if self.count > 1 and not self._is_lost and weight <= HEAVIEST:
            self._handed_in += weight
            if self._pool is None and self._handed_in >= WORTHWHILE:
                spawning = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(self.count - 1, spawning, initializer=_begin)
            if self._pool is not None:
                with contextlib.suppress(BrokenProcessPool):
                    sent = self._pool.submit(work, *arguments)
        return Job(work, arguments, sent, self._lose)

    def _lose(self) -> None:
        if not self._is_lost:
            self._is_lost = True
            log.warning("a worker process ended before its time: the rest is computed in one process")

    def close(self) -> None:
        """Stop the workers after their current jobs."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


def _begin() -> None:
    """Initialise a worker: ignore Ctrl-C, end when the owning process ends, and run the garbage collector rarely."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    search_seldom()
    threading.Thread(target=_outlive_nobody, daemon=True).start()


def _outlive_nobody() -> None:
    owner = multiprocessing.parent_process()
    if owner is not None:
        wait([owner.sentinel])
        os._exit(1)
