"""Requests that are answered in a thread, so that the event loop goes on: timed, and counted where they are heavy."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal, TypeVar

from starlette.types import Message, Receive

from almanac.api.contract.errors import ApiError
from almanac.api.use import metrics
from almanac.store.engine.deadline import Deadline, deadline_scope
from almanac.store.engine.errors import StoppedError

_T = TypeVar("_T")

#: Threads of one worker for heavy requests, and for others. Each has a connection to the store. More would share the same cores.
_HEAVY, _OTHERS = 4, 4
#: Threads that ask a server for keys which are not remembered, so that no request that was let in keeps another one waiting at the
#: gate. They share its connection.
_KEYS = 2
Pool = Literal["heavy", "request", "keys"]
#: Heavy requests end within seconds: a client that comes again after this will often be let in.
_RETRY_SECONDS = 1


class ClientDisconnected(Exception):  # noqa: N818 - it names what the client did
    """The client has gone: there is nobody to answer."""


class Threads:
    """The threads of one worker."""

    def __init__(self, heavy_requests: int) -> None:
        """Allow `heavy_requests` of one account at a time."""
        self._most = heavy_requests
        self._lock = threading.Lock()
        #: Heavy requests under way, by account.
        self._under_way: Counter[str] = Counter()
        self._pools: dict[Pool, ThreadPoolExecutor] = {
            "heavy": ThreadPoolExecutor(_HEAVY, "heavy"),
            "request": ThreadPoolExecutor(_OTHERS, "request"),
            "keys": ThreadPoolExecutor(_KEYS, "keys"),
        }

    async def heavy(self, account: str, path: str, work: Callable[[], _T], receive: Receive, deadline: Deadline) -> _T:
        """Do heavy work as `run` does. Raises ApiError 429 if the account has too much under way."""
        self.begin_heavy(account, path)
        # Over when the work has ended, which may be later than the request has.
        return await self.run(work, receive, deadline, pool="heavy", afterwards=lambda: self.end_heavy(account))

    def begin_heavy(self, account: str, path: str) -> None:
        """Count heavy work of an account until `end_heavy`. Raises ApiError 429 if it has too much under way."""
        with self._lock:
            if self._under_way[account] >= self._most:
                metrics.HEAVY_REFUSALS.labels(path).inc()
                message = (
                    f"this account has {self._most} heavy requests under way, and no more are answered at a time; ask again when one "
                    "has ended"
                )
                details = {"reason": "heavy_requests", "limit": self._most, "retryAfterSeconds": _RETRY_SECONDS}
                raise ApiError(429, message, details, retry_after=_RETRY_SECONDS)
            self._under_way[account] += 1
        metrics.HEAVY.labels(path).inc()

    def end_heavy(self, account: str) -> None:
        """Count heavy work of an account as ended."""
        with self._lock:
            self._under_way[account] -= 1
            if not self._under_way[account]:
                del self._under_way[account]

    async def run(
        self,
        work: Callable[[], _T],
        receive: Receive,
        deadline: Deadline,
        *,
        pool: Pool = "request",
        afterwards: Callable[[], object] | None = None,
    ) -> _T:
        """
        Return what `work` returns, run in a thread of a pool; then call `afterwards`, also where it could not be begun.

        Raises what `work` raises; StoppedError at the deadline, waiting for a thread included; ClientDisconnected as soon as the
        client has gone.
        """

        def within_deadline() -> _T:
            with deadline_scope(deadline):
                return work()

        try:
            future: Future[_T] = self._pools[pool].submit(within_deadline)
        except BaseException:
            if afterwards is not None:
                afterwards()
            raise
        if afterwards is not None:
            future.add_done_callback(lambda _: afterwards())
        try:
            return await watched(asyncio.wrap_future(future), receive, deadline)
        finally:
            del future  # as in `watched`

    def close(self) -> None:
        """Let the threads end when they have done what they are at."""
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)


async def watched(working: asyncio.Future[_T], receive: Receive, deadline: Deadline) -> _T:
    """
    Return the result of a future; cancel it at its deadline, or as soon as its client has gone.

    Raises what the future raises; StoppedError where it takes too long; ClientDisconnected if the client has gone.
    """
    watching = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait((working, watching), timeout=deadline.left, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        if watching.done():
            raise ClientDisconnected
        raise StoppedError("the time for it is up")
    finally:
        deadline.cancel()
        watching.cancel()
        if not working.done():
            # Nobody looks at what becomes of it.
            working.add_done_callback(_ignore)
            working.cancel()
        # What it raises knows of this frame: in a cycle with it, all that was being read would wait for the collector.
        del working


async def _disconnected(receive: Receive) -> None:
    """Return when the client has gone; never where the server goes on telling of other things instead."""
    for _ in range(2):  # the end of an empty body, unless that was heard before, then this
        if (await receive())["type"] == "http.disconnect":
            return
    await asyncio.Event().wait()


async def unheard() -> Message:
    """Stand for a client that is not listened to: what it says is left to whoever looks at the request afterwards."""
    await asyncio.Event().wait()
    return {"type": "http.disconnect"}


def _ignore(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()
