"""Requests that are answered in a thread, so that the event loop goes on: watched, timed, and counted where they are heavy."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.types import Message, Receive

from almanac.api.contract.errors import ApiError
from almanac.api.server.exchange import Reply
from almanac.api.use import metrics
from almanac.store.engine.deadline import Deadline, deadline_scope, time_statements
from almanac.store.engine.errors import StoppedError

_T = TypeVar("_T")

#: Threads of one worker for heavy requests, and for those that only had better not be on the event loop. Each has a
#: connection to the store. More would share the same cores.
_HEAVY, _OTHERS = 4, 4
#: Threads that ask a server for keys which are not remembered. They share its connection.
_KEYS = 2
#: Heavy requests end within seconds: a client that comes again after this will often be let in.
_RETRY_SECONDS = 1


class HungUp(Exception):  # noqa: N818 - it names what the client did
    """The client has gone: there is nobody to answer."""


class Threads:
    """The threads of one worker."""

    def __init__(self, heavy_requests: int, seconds: float) -> None:
        """`heavy_requests`: how many of one account are answered at a time."""
        self._most, self._seconds = heavy_requests, seconds
        self._lock = threading.Lock()
        #: Heavy requests under way, by account.
        self._under_way: Counter[str] = Counter()
        self._heavy = ThreadPoolExecutor(_HEAVY, "heavy", time_statements)
        self._others = ThreadPoolExecutor(_OTHERS, "apart", time_statements)
        self._keys = ThreadPoolExecutor(_KEYS, "keys")

    async def heavy(
        self, account: str, path: str, work: Callable[[], Reply], receive: Receive, seconds: float | None = None
    ) -> Reply:
        """Do heavy work in a thread, as `apart` does, unless the account has too much under way. Raises ApiError 429 then."""
        with self._lock:
            if self._under_way[account] >= self._most:
                metrics.HEAVY_REFUSALS.labels(path).inc()
                raise _too_many(self._most)
            self._under_way[account] += 1
        metrics.HEAVY.labels(path).inc()
        # Over when the work has ended, which may be later than the request has.
        return await self._done(self._heavy, work, receive, seconds, lambda: self._ended(account))

    def _ended(self, account: str) -> None:
        with self._lock:
            self._under_way[account] -= 1
            if not self._under_way[account]:
                del self._under_way[account]

    async def key(self, work: Callable[[], _T]) -> _T:
        """
        Learn what has to be known of a key, in threads of its own: no request that was let in keeps another one waiting at the gate. Whether
        its client has gone is not asked: what it says first is for whoever looks at the request afterwards.
        """
        return await self._done(self._keys, work, _unasked, None, lambda: None)

    async def apart(self, work: Callable[[], Reply], receive: Receive, seconds: float | None = None) -> Reply:
        """
        What `work` gives, in a thread. Raises what it raises; StoppedError where it takes too long, waiting for a
        thread included; HungUp as soon as the client has gone. `seconds`: those that are left of its time, where some are not.
        """
        return await self._done(self._others, work, receive, seconds, lambda: None)

    async def _done(
        self,
        pool: ThreadPoolExecutor,
        work: Callable[[], _T],
        receive: Receive,
        seconds: float | None,
        afterwards: Callable[[], object],
    ) -> _T:
        seconds = self._seconds if seconds is None else seconds
        deadline = Deadline(seconds)

        def waited_for() -> _T:
            with deadline_scope(deadline):
                return work()

        try:
            future: Future[_T] = pool.submit(waited_for)
        except BaseException:
            afterwards()
            raise
        future.add_done_callback(lambda _: afterwards())
        try:
            return await watched(asyncio.wrap_future(future), receive, seconds, deadline)
        finally:
            del future  # as in `watched`

    def close(self) -> None:
        """Let the threads end when they have done what they are at."""
        for pool in (self._heavy, self._others, self._keys):
            pool.shutdown(wait=False, cancel_futures=True)


async def watched(working: asyncio.Future[_T], receive: Receive, seconds: float, deadline: Deadline) -> _T:
    """
    What a future gives, for so many seconds and as long as its client is there: then it is cancelled, and its deadline ends.
    Raises what it raises; StoppedError where it takes too long; HungUp as soon as the client has gone.
    """
    watching = asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait((working, watching), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        if watching.done():
            raise HungUp
        raise StoppedError("the time for it is up")
    finally:
        deadline.cancel()
        watching.cancel()
        if not working.done():
            # Nobody looks at what becomes of it.
            working.add_done_callback(_unheard)
            working.cancel()
        # What it raises knows of this frame: in a cycle with it, all that was being read would wait for the collector.
        del working


async def _gone(receive: Receive) -> None:
    """Until the client has gone; without end where the server goes on telling of other things instead."""
    for _ in range(2):  # the end of an empty body, unless that was heard before, then this
        if (await receive())["type"] == "http.disconnect":
            return
    await asyncio.Event().wait()


async def _unasked() -> Message:
    """A client that is not listened to."""
    await asyncio.Event().wait()
    return {"type": "http.disconnect"}


def _unheard(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()


def _too_many(most: int) -> ApiError:
    message = f"this account has {most} heavy requests under way, and no more are answered at a time; ask again when one has ended"
    details = {"reason": "heavy_requests", "limit": most, "retryAfterSeconds": _RETRY_SECONDS}
    return ApiError(429, message, details, ((b"retry-after", b"%d" % _RETRY_SECONDS),))
