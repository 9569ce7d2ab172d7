"""
One exchange with the service: retries, waiting and revalidation, written once without I/O.

A plan is a generator that yields steps (send, wait, look up) and receives the result of each. The two drivers below
execute the steps, one blocking, one asynchronous.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import msgspec

from almanac_client._errors import AlmanacError, ApiError, ConnectionFailed, NotCached, TimedOut, from_answer
from almanac_client._query import target
from almanac_client._settings import Options, is_loopback

if TYPE_CHECKING:
    import httpx2

    from almanac_client._cache import Cache

T = TypeVar("T")

VERSION = "0.1.0"
_RETRIED = frozenset({429, 503})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_HEADERS = {"accept": "application/json", "user-agent": f"almanac-client/{VERSION}"}


class Reply(NamedTuple):
    """An answer of the service. Header names are in lowercase."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Send(NamedTuple):
    """Step: request a path with its query and extra headers. The result is a Reply, or the error."""

    target: str
    headers: Mapping[str, str]


class Wait(NamedTuple):
    """Step: wait for some seconds. There is no result."""

    seconds: float


class Recall(NamedTuple):
    """Step: look for a stored answer. The result is its Reply, or None."""

    name: bytes


class Keep(NamedTuple):
    """Step: store an answer. There is no result."""

    name: bytes
    reply: Reply


Step = Send | Wait | Recall | Keep
Plan = Generator[Step, Any, T]


class Clock:
    """Time, as the drivers measure it and wait for it."""

    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def sleep_async(self, seconds: float) -> None:
        import anyio  # noqa: PLC0415 - httpx2 brings it, and it works under trio too

        await anyio.sleep(seconds)


class Pace:
    """The service's last statement on the remaining requests, shared by all clients with one key."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._until = 0.0

    def note(self, headers: Mapping[str, str]) -> None:
        """Remember until when no request is left. The service states it in seconds, so clocks may differ."""
        if headers.get("x-ratelimit-remaining") == "0":
            _, _, left = headers.get("ratelimit", "").rpartition("t=")
            self._until = self.clock.monotonic() + (float(left) if left.isdigit() else 0.0)

    def pause(self, longest: float) -> float:
        """Return the seconds to wait before the next request, or 0 if that is longer than `longest`."""
        left = self._until - self.clock.monotonic()
        return left if 0 < left <= longest else 0.0


def exchange(
    options: Options,
    pace: Pace,
    path: str,
    braces: Mapping[str, str],
    query: Mapping[str, Any],
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Plan[Reply]:
    """
    Request until there is an answer or retrying is pointless. Raises ApiError, ConnectionFailed, TimedOut, NotCached.

    headers: further headers to send.
    """
    where = target(path, braces, query)
    name, kept = b"", cast("Reply | None", None)
    if options.cache is not None:
        name = options.cache.name(options.url, options.key.digest(), where)
        kept = yield Recall(name)
        if options.cache.offline:
            if kept is None:
                raise NotCached(f"the cache does not hold {where}, and nothing else is asked while it is offline")
            return cast("Reply", kept)
    condition = {} if kept is None else {"if-none-match": kept.headers["etag"]}
    tries = 0
    while True:
        pause = pace.pause(options.max_retry_wait) if options.pace else 0.0
        if pause > 0:
            yield Wait(pause)
        outcome: Reply | AlmanacError = yield Send(where, {**headers, **condition})
        failure = _failure(outcome, pace)
        if failure is None:
            assert isinstance(outcome, Reply)
            if outcome.status == 304 and kept is not None:
                confirmed = _confirmed(kept, outcome)
                if confirmed is not None:
                    return confirmed
                condition = {}
                continue
            if options.cache is not None and "etag" in outcome.headers:
                yield Keep(name, outcome)
            return outcome
        seconds = before_retry(failure, tries, options)
        if seconds is None:
            raise failure
        tries += 1
        yield Wait(seconds)


def _failure(outcome: Reply | AlmanacError, pace: Pace) -> AlmanacError | None:
    if isinstance(outcome, AlmanacError):
        return outcome
    pace.note(outcome.headers)
    if outcome.status in {200, 304}:
        return None
    try:
        body = msgspec.json.decode(outcome.content)
    except msgspec.MsgspecError:
        body = None
    return from_answer(outcome.status, outcome.headers, body, pace.clock.wall())


def _confirmed(kept: Reply, outcome: Reply) -> Reply | None:
    """
    Return the stored answer with the current headers, or None if it must be requested again.

    Its cursor is bound to the data version of its day, so a walk continued from it would miss later changes.
    """
    version = outcome.headers.get("x-data-version")
    if version != kept.headers.get("x-data-version") and b'"has_more":true' in kept.content:
        return None
    return Reply(200, {**kept.headers, **outcome.headers}, kept.content)


def before_retry(failure: AlmanacError, tries: int, options: Options) -> float | None:
    """
    Return the seconds to wait before a retry, or None to give up. Retry-After is obeyed if given; otherwise the wait is
    random up to a growing limit.
    """
    again = isinstance(failure, ConnectionFailed) or (isinstance(failure, ApiError) and failure.status in _RETRIED)
    if not again or tries >= options.max_retries:
        return None
    told = failure.retry_after if isinstance(failure, ApiError) else None
    if told is not None:
        return told if told <= options.max_retry_wait else None
    import random  # noqa: PLC0415 - slow to import, and seldom needed

    return random.uniform(0, min(_FIRST_PAUSE * 2**tries, _LONGEST_PAUSE))  # noqa: S311 - jitter is no secret


class _Driver:
    """The common part of both drivers: options for the HTTP library, and the meaning of its errors."""

    def __init__(self, options: Options, clock: Clock) -> None:
        self.options = options
        self.clock = clock

    def _client_options(self) -> dict[str, Any]:
        from urllib.parse import urlsplit  # noqa: PLC0415 - importing this package must stay quick

        host = urlsplit(self.options.url).hostname or ""
        # A proxy from the environment must not see requests to this machine.
        return {"follow_redirects": False, "trust_env": not is_loopback(host)}

    def _request_options(self, step: Send, options: Options) -> dict[str, Any]:
        return {
            "headers": {**_HEADERS, **step.headers},
            "auth": options.key.sign,
            "follow_redirects": False,
            "timeout": options.timeout,
        }

    def _meaning(self, error: Exception, options: Options) -> AlmanacError:
        import httpx2  # noqa: PLC0415 - loaded by the first request

        if isinstance(error, httpx2.TimeoutException):
            return TimedOut(f"{options.url} did not answer within {options.timeout:g} seconds")
        return ConnectionFailed(f"{options.url} cannot be reached: {str(error) or type(error).__name__}")


def _reply(response: httpx2.Response) -> Reply:
    return Reply(response.status_code, {k.lower(): v for k, v in response.headers.items()}, response.content)


class Driver(_Driver):
    """The blocking executor of plans."""

    def __init__(self, options: Options, http: httpx2.Client | None, clock: Clock) -> None:
        super().__init__(options, clock)
        #: The caller's own client, which is not closed.
        self.given = http
        self._http = http

    def run(self, plan: Plan[T], options: Options) -> T:
        """Return the result of a plan."""
        told: Any = None
        while True:
            try:
                step = plan.send(told)
            except StopIteration as done:
                result: T = done.value
                return result
            told = self._do(step, options)

    def _do(self, step: Step, options: Options) -> Any:
        if isinstance(step, Send):
            return self._send(step, options)
        if isinstance(step, Wait):
            return self.clock.sleep(step.seconds)
        return _of_cache(options.cache, step)

    def _send(self, step: Send, options: Options) -> Reply | AlmanacError:
        import httpx2  # noqa: PLC0415 - importing this package must stay quick

        if self._http is None:
            self._http = httpx2.Client(**self._client_options())
        try:
            return _reply(self._http.get(options.url + step.target, **self._request_options(step, options)))
        except httpx2.RequestError as error:
            # Returned, not raised: a traceback through the HTTP library would show headers to tools that print locals.
            return self._meaning(error, options)

    def close(self) -> None:
        if self.given is None and self._http is not None:
            self._http.close()
            self._http = None


class AsyncDriver(_Driver):
    """The asynchronous executor of plans."""

    def __init__(self, options: Options, http: httpx2.AsyncClient | None, clock: Clock) -> None:
        super().__init__(options, clock)
        #: The caller's own client, which is not closed.
        self.given = http
        self._http = http

    async def run(self, plan: Plan[T], options: Options) -> T:
        """Return the result of a plan."""
        told: Any = None
        while True:
            try:
                step = plan.send(told)
            except StopIteration as done:
                result: T = done.value
                return result
            told = await self._do(step, options)

    async def _do(self, step: Step, options: Options) -> Any:
        if isinstance(step, Send):
            return await self._send(step, options)
        if isinstance(step, Wait):
            return await self.clock.sleep_async(step.seconds)
        import anyio.to_thread  # noqa: PLC0415 - httpx2 brings it

        return await anyio.to_thread.run_sync(_of_cache, options.cache, step)

    async def _send(self, step: Send, options: Options) -> Reply | AlmanacError:
        import httpx2  # noqa: PLC0415 - importing this package must stay quick

        if self._http is None:
            self._http = httpx2.AsyncClient(**self._client_options())
        try:
            return _reply(await self._http.get(options.url + step.target, **self._request_options(step, options)))
        except httpx2.RequestError as error:
            return self._meaning(error, options)

    async def close(self) -> None:
        if self.given is None and self._http is not None:
            await self._http.aclose()
            self._http = None


def _of_cache(cache: Cache | None, step: Recall | Keep) -> Reply | None:
    if cache is None:
        return None
    if isinstance(step, Recall):
        held = cache.get(step.name)
        return None if held is None else Reply(200, *held)
    cache.put(step.name, step.reply.headers, step.reply.content)
    return None
