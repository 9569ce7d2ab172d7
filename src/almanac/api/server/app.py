"""
The interface as one ASGI application: the steps of every request, in their order.

Id of the request; host; key in the query; key; rate limit; path; method; scope; parameters; plan window; the resource.
`App` gives each request its id, headers and log line, and makes answers of errors.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, cast

import structlog
from starlette.routing import Router
from starlette.types import Message, Receive, Scope, Send

from almanac.api.contract.cursor import Signer
from almanac.api.contract.endpoint import ALL, ALL_SCOPES, Endpoint
from almanac.api.contract.errors import ApiError, Header, redact, refuse
from almanac.api.server import envelope
from almanac.api.server.answers import Answers, ListCutError, WholeList
from almanac.api.server.authentication import Authentication
from almanac.api.server.journal import Journal, tell_slow
from almanac.api.server.logs import AccessLine, told_path
from almanac.api.server.request import ClientRequest, Reply
from almanac.api.server.routes import Routes, path_of, resources
from almanac.api.server.threads import ClientDisconnected, Threads, unheard
from almanac.api.use import metrics
from almanac.api.use.limits import WINDOW, Limiter
from almanac.config import Plan, Settings
from almanac.domain.times import cached_wire_time
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.records import KeyRecord
from almanac.store.engine.deadline import Deadline, deadline_scope
from almanac.store.engine.errors import StoppedError, UnavailableError
from almanac.store.observations.reading.reader import View

#: What a browser's script of another origin may read beyond the few headers it always may.
_EXPOSED = (
    b"x-request-id, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, x-ratelimit-policy, ratelimit, "
    b"ratelimit-policy, retry-after, x-data-version, x-history-from, etag, allow, www-authenticate, "
    b"link, x-as-of, x-warnings, x-total-count, content-disposition"
)
_PREFLIGHT: list[Header] = [
    (b"access-control-allow-methods", b"GET, HEAD"),
    (b"access-control-allow-headers", b"x-api-key, authorization, accept, if-none-match, x-request-id"),
    (b"access-control-max-age", b"600"),
]
_METHODS = ("GET", "HEAD")
_ALLOW: Header = (b"allow", b"GET, HEAD")
_STORAGE_RETRY_SECONDS = 5
_LATE_RETRY_SECONDS = 30
#: How the log and the metrics tell of a client that had gone before it was answered. Nobody is ever sent this.
_DISCONNECTED = 499
#: Answers of which an operator wants to know who keeps asking.
_ADDRESSED = frozenset({401, 403, 429})
#: Characters of a client's own id of a request that are logged.
_CLIENT_ID_MAX = 128
#: How long a list that is sent whole may take, however slowly its client reads; and each of its batches after the first.
_WHOLE_SECONDS, _BATCH_SECONDS = 3_600.0, 60.0
#: How much of it is handed to the server at a time, which keeps some of that, however large, for a client that reads slowly.
_SLICE_BYTES = 1 << 17
#: How long an error waits to learn the data version.
_VERSION_SECONDS = 0.25
#: How long a starting process may say that it is warming up: one that takes longer answers as it can, lest it never answer.
_WARMING_SECONDS = 60.0

log = structlog.get_logger("almanac.access")


class App:
    """
    The API. `clock` is the data's now, `walltime` real time; both in unix seconds.

    `warms` makes it warm up in a thread when it starts.

    It answers browsers' cross-origin requests itself: Starlette's middleware answers preflights with 200, and those of other origins
    with 400 before any key is asked for. Here they get 204, and others are refused like any request without a key.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        accounts: Accounts,
        limiter: Limiter,
        open_view: Callable[..., AbstractContextManager[View]],
        settings: Settings,
        *,
        clock: Callable[[], float],
        walltime: Callable[[], float] = time.time,
        journal: Journal | None = None,
        warms: bool = False,
        on_startup: Sequence[Callable[[], None]] = (),
        on_shutdown: Sequence[Callable[[], None]] = (),
    ) -> None:
        self.endpoints = tuple(endpoints)
        metrics.begin(endpoint.path for endpoint in endpoints)
        self._clock, self._walltime, self._open_view = clock, walltime, open_view
        self._journal = journal or Journal()
        self._settings = settings
        self._threads = Threads(settings.heavy_requests)
        self._authentication = Authentication(accounts, limiter, settings, walltime, self._threads)
        self._answers = Answers(open_view, Signer(accounts.secret("cursor"), settings.cursor_days), settings, walltime)
        #: Whether the store is on a server: the event loop never waits for one.
        self._remote = isinstance(settings.data_place, str)
        self._on_startup, self._on_shutdown = on_startup, [*on_shutdown, self._threads.close]
        self._warms, self._warming_until, self._warmed = warms, 0.0, threading.Event()
        self._routes = Routes(resources(self.endpoints))
        self._lifespan_only = Router(lifespan=self._lifespan)
        #: Origins whose pages may ask; `*` is any.
        self._origins = frozenset(origin.encode() for origin in settings.cors_origins)
        self._common = (envelope.CACHE_CONTROL, (b"vary", envelope.VARY + (b", origin" if self._origins else b"")))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever becomes of it, and take note of it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._lifespan_only(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1000})
            return
        started = time.perf_counter()
        request = ClientRequest(scope)
        request.deadline = deadline = Deadline(self._settings.request_seconds)
        status = _DISCONNECTED
        try:
            if (
                request.method == "OPTIONS"
                and b"access-control-request-method" in request.headers
                and self._allows(request.headers.get(b"origin"))
            ):
                request.reply = Reply(204, list(_PREFLIGHT))
            else:
                request.reply = await self._answer(request, scope, receive, deadline)
        except ClientDisconnected:
            metrics.HUNG_UP.labels(metrics.OTHER if request.endpoint is None else request.endpoint.path).inc()
        except Exception as error:  # whatever it is: a client gets an answer, the log the cause
            request.reply = await self._refusal(request, error)
        if (reply := request.reply) is not None:
            start = {"type": "http.response.start", "status": reply.status, "headers": self._headers(request, reply)}
            if reply.parts is None:
                await send(start)
                await send({"type": "http.response.body", "body": b"" if request.method == "HEAD" else reply.body})
                status = reply.status
            else:
                status = await self._send_parts(request, reply, start, send)
        seconds = time.perf_counter() - started
        if status == 429 and request.endpoint is None:
            # It was refused before its path was looked at; whoever wonders at a 429 asks which.
            route = self._routes.find(request.target)
            request.endpoint = None if route is None else route[0].endpoint
        endpoint, key = request.endpoint, request.key
        theirs = request.headers.get(b"x-request-id")
        line = AccessLine(
            request_id=request.id.decode(),
            client_request_id=None if theirs is None else redact(theirs.decode("latin-1"))[:_CLIENT_ID_MAX],
            method=request.method[:16],
            path=None if endpoint is None else endpoint.path,
            status=status,
            ms=round(seconds * 1000, 3),
            account=None if key is None else key.account_id,
            key=None if key is None else key.prefix,
        )
        if status == 404:
            line.target = told_path(request.target)
        elif status in _ADDRESSED and self._settings.log_addresses:
            line.address = self._authentication.address(request)
        self._journal.add(line, seconds)
        is_whole = request.reply is not None and request.reply.parts is not None
        if 0 < self._settings.slow_seconds <= seconds and endpoint is not None and not is_whole:
            tell_slow(request, endpoint, status, seconds)

    async def _send_parts(self, request: ClientRequest, reply: Reply, start: Message, send: Send) -> int:
        """Send a list whole, part by part, and return the status for the log: what is cut has no mark of its end."""
        try:
            async with asyncio.timeout(_WHOLE_SECONDS):
                await send(start)
                await _send_slices(reply.body, send)
                async for part in cast("AsyncIterator[bytes]", reply.parts):
                    await _send_slices(part, send)
            await send({"type": "http.response.body", "body": b""})
        except ClientDisconnected:
            metrics.HUNG_UP.labels(cast("Endpoint", request.endpoint).path).inc()
            return _DISCONNECTED
        except Exception as error:  # whatever it is: the status is sent, so that the log alone can tell the cause
            log.warning("a list was cut", request_id=request.id.decode(), reason=str(error) or type(error).__name__)
            return _DISCONNECTED
        finally:  # here, for no part after the first may have been asked for
            self._threads.end_heavy(cast("KeyRecord", request.key).account_id)
        return reply.status

    async def _answer(self, request: ClientRequest, scope: Scope, receive: Receive, deadline: Deadline) -> Reply:
        """Check a request step by step and reply to it. Raises ApiError and errors of the store."""
        path = path_of(scope) if b"%2" in (scope.get("raw_path") or b"") else request.target
        match = self._routes.find(path)
        request.is_twin = match is not None and match[0].form is not None
        plan = await self._authentication.admit(request, deadline)
        key = cast("KeyRecord", request.key)
        if match is None:
            raise self._routes.unknown(path)
        resource, request.path = match
        request.endpoint = endpoint = resource.endpoint
        if request.method not in _METHODS:
            raise ApiError(405, "every operation is a GET (or HEAD)", {"allowed": list(_METHODS)}, (_ALLOW,))
        if endpoint.scope is not None and endpoint.scope not in key.scopes and ALL_SCOPES not in key.scopes:
            details = {"scope": endpoint.scope, "granted": list(key.scopes)}
            raise ApiError(403, f"the key lacks the scope '{endpoint.scope}'", details)
        if request.announced:
            raise refuse("body", "must be absent: every operation is a GET", code="body")
        if request.broken is not None:
            raise refuse(request.broken[:100], "is not strict UTF-8 percent-encoding", code="encoding")
        form, accept = resource.form, request.headers.get(b"accept")
        if form is None and accept is not None and endpoint.forms:
            form = envelope.accepted_form(accept)
        if form is not None and not form.is_available:
            reason = f"asks for {form.media_type}, which this service cannot write: it was installed without the extra 'arrow'"
            raise refuse("path" if request.is_twin else "accept", reason, code="not_installed")
        request.form = form
        now = int(self._clock())
        if endpoint.braces:
            endpoint.check_path(request.path)
        values = endpoint.read(request.pairs, now)
        if values.get(ALL.name):
            for name, _ in request.pairs:
                if name in {"limit", "cursor"}:
                    reason = "asks for a page, and `all=true` for the whole list; send one of them"
                    raise refuse(name, reason, code="conflict")
            return await self._whole(request, values, plan, now, receive)
        where = endpoint.cost if isinstance(endpoint.cost, str) else endpoint.cost(values)
        if form is not None and where == "loop":
            where = "thread"  # to write another form than JSON takes a millisecond or more
        work: Callable[..., Reply] = partial(self._answers.produce, request, values, plan, now)  # type: ignore[assignment]
        if not self._remote and (where == "loop" or endpoint.cached):
            with deadline_scope(deadline):
                reply: Reply | None = work(only_kept=where != "loop")
            if reply is not None:
                return reply
        if where == "heavy":
            request.where = where
            return await self._threads.heavy(key.account_id, endpoint.path, work, receive, deadline)
        request.where = "thread"
        return await self._threads.run(work, receive, deadline)

    async def _whole(
        self, request: ClientRequest, values: Mapping[str, Any], plan: Plan, now: int, receive: Receive
    ) -> Reply:
        """Return the reply of a list that is sent whole, with the first of its parts."""
        account = cast("KeyRecord", request.key).account_id
        request.where = "heavy"
        self._threads.begin_heavy(account, cast("Endpoint", request.endpoint).path)
        parts = None
        try:
            work = partial(self._answers.begin_whole, request, values, plan, now)
            whole = await self._threads.run(work, receive, cast("Deadline", request.deadline), pool="heavy")
            reply = whole.reply
            if reply.status == 200 and request.method == "GET":
                reply.parts = parts = self._parts(whole, receive)
        finally:
            if parts is None:
                self._threads.end_heavy(account)
        return reply

    async def _parts(self, whole: WholeList, receive: Receive) -> AsyncIterator[bytes]:
        """Yield the further parts of a list that is sent whole."""
        while whole.place is not None:
            deadline = Deadline(_BATCH_SECONDS)
            if not await self._authentication.is_still_good(whole.request, deadline):
                raise ListCutError("the key is not valid any more")
            work = partial(self._answers.next_batch, whole)
            yield await self._threads.run(work, receive, deadline, pool="heavy")

    async def _refusal(self, request: ClientRequest, error: Exception) -> Reply:
        """Return the reply of an error: ours, the store's, or a fault."""
        if isinstance(error, StoppedError):
            metrics.FAULTS.labels("late").inc()
            seconds = self._settings.request_seconds
            log.warning("given up", request_id=request.id.decode(), seconds=seconds)
            request.version = self._answers.version
            message = f"this was not answered within {seconds:g} seconds and was given up; ask for less, or later"
            details = {"reason": "late", "seconds": seconds, "retryAfterSeconds": _LATE_RETRY_SECONDS}
            error = ApiError(503, message, details, retry_after=_LATE_RETRY_SECONDS)
        elif isinstance(error, UnavailableError):
            metrics.FAULTS.labels("storage").inc()
            log.error("storage unavailable", request_id=request.id.decode(), exc_info=error)
            request.version = self._answers.version
            error = ApiError(503, "the data cannot be read just now; try again", retry_after=_STORAGE_RETRY_SECONDS)
        elif not isinstance(error, ApiError):
            metrics.FAULTS.labels("internal").inc()
            log.error("fault", request_id=request.id.decode(), exc_info=error)
            error = ApiError(500, "a fault of this service; its log has the request id")
        if request.key is not None and request.version is None:
            request.version = await self._newest_version()
        return Reply(error.status, [envelope.JSON, *error.headers], envelope.error_body(error, request.id))

    async def _newest_version(self) -> int:
        deadline = Deadline(_VERSION_SECONDS)
        if self._remote:
            with contextlib.suppress(StoppedError):
                return await self._threads.run(self._answers.newest_version, unheard, deadline)
            return self._answers.version
        with deadline_scope(deadline):
            return self._answers.newest_version()

    def _headers(self, request: ClientRequest, reply: Reply) -> list[Header]:
        """Return the headers of a reply with those that every answer has."""
        headers = reply.headers
        headers.append((b"x-request-id", request.id))
        headers.extend(self._common)
        if reply.status not in {204, 304} and reply.parts is None:
            headers.append((b"content-length", b"%d" % len(reply.body)))
        if request.key is not None:
            headers.append((b"x-data-version", b"%d" % (request.version or 0)))
        if request.key is not None and (decision := request.decision) is not None:
            limit, remaining = decision.limit, decision.remaining
            left = max(math.ceil(decision.reset_at - self._walltime()), 0)
            headers += (
                (b"x-ratelimit-limit", b"%d" % limit),
                (b"x-ratelimit-remaining", b"%d" % remaining),
                (b"x-ratelimit-reset", cached_wire_time(decision.reset_at).encode()),
                (b"x-ratelimit-policy", f"{limit} per {WINDOW}s (plan {request.key.plan})".encode()),
                # Of draft-ietf-httpapi-ratelimit-headers: `t` seconds until the window ends, rounded up.
                (b"ratelimit-policy", b'"minute";q=%d;w=%d' % (limit, WINDOW)),
                (b"ratelimit", b'"minute";r=%d;t=%d' % (remaining, left)),
            )
        origin = request.headers.get(b"origin")
        if origin is not None and self._allows(origin):
            headers += ((b"access-control-allow-origin", origin), (b"access-control-expose-headers", _EXPOSED))
        return headers

    def _allows(self, origin: bytes | None) -> bool:
        """Return whether pages of an origin may ask."""
        return origin is not None and (origin in self._origins or b"*" in self._origins)

    # -- start and end ------------------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def _lifespan(self, _app: object) -> AsyncIterator[None]:
        try:
            for callback in self._on_startup:
                callback()
            if self._warms:
                self._warming_until = time.monotonic() + _WARMING_SECONDS
                threading.Thread(target=self.warm, name="warming", daemon=True).start()
            yield
            for callback in self._on_shutdown:
                callback()
        except Exception:  # whatever it is: Starlette tells the server, the log the cause
            log.exception("lifespan failed")
            raise

    def warm(self) -> None:
        """Make what the first requests would wait for. What cannot be made now, they make themselves."""
        try:
            warm(self.endpoints, self._open_view, self._clock)
        finally:
            self._warmed.set()

    @property
    def is_warming(self) -> bool:
        """Return whether the process had better be given no requests yet."""
        return not self._warmed.is_set() and time.monotonic() < self._warming_until


async def _send_slices(part: bytes, send: Send) -> None:
    """Send a part of a body in slices."""
    for place in range(0, len(part), _SLICE_BYTES):
        await send({"type": "http.response.body", "body": part[place : place + _SLICE_BYTES], "more_body": True})


def warm(
    endpoints: Sequence[Endpoint], open_view: Callable[[], AbstractContextManager[View]], clock: Callable[[], float]
) -> None:
    """Make what endpoints need. What cannot be made now, the first requests make themselves."""
    for endpoint in endpoints:
        if endpoint.warm is None:
            continue
        try:
            with open_view() as view:
                endpoint.warm(view, int(clock()))
        except Exception as error:  # whatever it is, a request that needs it will meet it and say so
            log.warning("not warmed", path=endpoint.path, reason=str(error))
