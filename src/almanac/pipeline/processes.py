"""
Computation in worker processes, beside the one process that writes.

A job is a pure function of its arguments, so it can run anywhere: if no worker has begun it when its result is
requested, it is computed here. So nothing waits without need, and nothing is lost if a worker dies.
"""

from __future__ import annotations

import functools
import logging
import multiprocessing
import os
import signal
import threading
from collections import deque
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
#: Jobs per worker: one running and one waiting, so that none is idle.
_AT_HAND = 2


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Job(Generic[_Result]):
    """A deferred computation."""

    def __init__(
        self, owner: Processes, work: Callable[..., _Result], arguments: tuple[Any, ...], *, shared: bool
    ) -> None:
        self._owner = owner
        self._work = work
        self._arguments = arguments
        #: True if it may be computed early, and by a worker.
        self.shared = shared
        #: The early result; None: it must be computed here.
        self.elsewhere: Future[tuple[_Result] | None] = Future()

    def call(self) -> tuple[Callable[..., _Result], tuple[Any, ...]]:
        """Return the function and its arguments."""
        return self._work, self._arguments

    def here(self) -> _Result:
        """Compute it in this process."""
        return self._work(*self._arguments)

    def result(self) -> _Result:
        """Return the result from wherever it is available first. Raises what the function raises. Call it only once."""
        return self._owner.result(self)

    def drop(self) -> None:
        """Cancel the job, because its result is no longer wanted."""
        self._owner.drop(self)


class Processes:
    """
    `count` computing processes: this one and workers. They start when there is enough work, and end at `close`.

    Use it only from the thread that created it. A worker holds no file or connection of this process, and ends with it.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._lock = threading.Lock()
        self._waiting: deque[Job[Any]] = deque()
        self._away = 0
        self._handed_in = 0
        self._pool: ProcessPoolExecutor | None = None
        self._lost = False

    def job(self, work: Callable[..., _Result], *arguments: Any, weight: int) -> Job[_Result]:
        """Submit a job: a module-level function and its arguments. `weight` is roughly the number of bytes it reads."""
        made = Job(self, work, arguments, shared=self.count > 1 and not self._lost and weight <= HEAVIEST)
        if made.shared:
            self._handed_in += weight
            self._waiting.append(made)
            if self._pool is None and self._handed_in >= WORTHWHILE:
                self._pool = ProcessPoolExecutor(
                    self.count - 1, multiprocessing.get_context("spawn"), initializer=_begin
                )
            self._send()
        return made

    def result(self, job: Job[_Result]) -> _Result:
        """
        Return the result of a job. While a worker computes it, this process computes other waiting jobs, the last
        first.
        """
        if not self._taken(job):
            return job.here()
        while not job.elsewhere.done():
            other = self._last()
            if other is None:
                break
            try:
                found = (other.here(),)
            except Exception:  # it is raised where that job's own result is asked for
                found = None
            other.elsewhere.set_result(found)
        held = job.elsewhere.result()
        return job.here() if held is None else held[0]

    def drop(self, job: Job[Any]) -> None:
        """Withdraw a job that no worker has begun."""
        with self._lock:
            if job in self._waiting:
                self._waiting.remove(job)

    def close(self) -> None:
        """Stop the workers after their current jobs."""
        with self._lock:
            self._waiting.clear()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def _taken(self, job: Job[Any]) -> bool:
        """Return whether a worker, or this process meanwhile, has taken a job; if not, this process takes it now."""
        if not job.shared:
            return False
        with self._lock:
            if job in self._waiting:
                self._waiting.remove(job)
                return False
        return True

    def _last(self) -> Job[Any] | None:
        with self._lock:
            return self._waiting.pop() if self._waiting else None

    def _send(self) -> None:
        """Send waiting jobs to the workers, enough to keep them busy."""
        pool = self._pool
        while pool is not None:
            with self._lock:
                if self._lost or not self._waiting or self._away >= _AT_HAND * (self.count - 1):
                    return
                job = self._waiting.popleft()
                self._away += 1
            work, arguments = job.call()
            try:
                # Never under the lock: a pool that breaks holds its own lock while it reports that.
                sent = pool.submit(work, *arguments)
            except (BrokenProcessPool, RuntimeError):  # it broke, or is being closed
                with self._lock:
                    self._away -= 1
                    self._lost = True
                job.elsewhere.set_result(None)
                return
            sent.add_done_callback(functools.partial(self._returned, job))

    def _returned(self, job: Job[Any], sent: Future[Any]) -> None:
        """Record that a worker finished a job, or never will. A thread of the pool calls it."""
        error = None if sent.cancelled() else sent.exception()
        with self._lock:
            self._away -= 1
            broken = isinstance(error, BrokenProcessPool) and not self._lost
            self._lost = self._lost or broken
        if broken:
            log.warning("a worker process ended before its time: the rest is computed in one process")
        job.elsewhere.set_result(None if error is not None or sent.cancelled() else (sent.result(),))
        self._send()


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
