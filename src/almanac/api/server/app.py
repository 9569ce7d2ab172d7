"""The ASGI application: every request goes through the same steps, in one fixed order.

Id of the request; host; key in the query; key; rate limit; path; method; scope; parameters; plan window; the resource.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import cast

import structlog
from starlette.types import Receive, Scope, Send

from almanac.api.contract.cursor import Signer, fingerprint
from almanac.api.contract.endpoint import Endpoint
from almanac.api.contract.errors import ApiError, Header, StorageUnavailable, refuse
from almanac.api.contract.keyshape import redact
from almanac.api.contract.ports import KeyStore
from almanac.api.server import envelope, logs, slowness
from almanac.api.server.answers import Answers, ParsedQuery
from almanac.api.server.auth import QueryString, one_host, split_query
from almanac.api.server.exchange import ClientRequest, Reply, drain, has_body
from almanac.api.server.gate import Gate
from almanac.api.server.headers import Cors, limit_headers
from almanac.api.server.journal import Journal
from almanac.api.server.lifespan import lifespan
from almanac.api.server.routes import Routes, path_of
from almanac.api.server.threads import HungUp, Threads
from almanac.api.server.warming import Warming, warm
from almanac.api.use import metrics
from almanac.api.use.limits import Limiter
from almanac.config import Settings
from almanac.store.accounts.accounts import KeyRecord
from almanac.store.engine.cost import Cost, PutOffError
from almanac.store.engine.deadline import Deadline, deadline_scope
from almanac.store.engine.errors import StoppedError
from almanac.store.observations.reading.reader import View

_STORAGE_RETRY_SECONDS = 5
_LATE_RETRY_SECONDS = 30
#: How the log and the metrics tell of a client that had gone before it was answered. Nobody is ever sent this.
_HUNG_UP = 499
_CLIENT_ID_MAX = 128
#: How often a request that waits for the warm-up looks whether what it needs is there.
_LOOK_SECONDS = 0.02
#: Answers of which an operator wants to know who keeps asking.
_ADDRESSED = frozenset({401, 403, 429})

log = structlog.get_logger("almanac.access")


class App:
    """The API. `clock` is the data's now, `walltime` real time; both in unix seconds.

    `unavailable` are the exceptions by which the stores say that they cannot be reached just now: 503.
    `warming` is when `warm` is done.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        accounts: KeyStore,
        limiter: Limiter,
        open_view: Callable[..., AbstractContextManager[View]],
        settings: Settings,
        *,
        clock: Callable[[], int],
        walltime: Callable[[], float] = time.time,
        unavailable: tuple[type[Exception], ...] = (),
        journal: Journal | None = None,
        warming: Warming | None = None,
        on_startup: Sequence[Callable[[], None]] = (),
        on_shutdown: Sequence[Callable[[], None]] = (),
    ) -> None:
        self.endpoints = tuple(endpoints)
        metrics.begin(endpoint.path for endpoint in endpoints)
        self._gate = Gate(Routes(self.endpoints), accounts, limiter, settings, walltime)
        self._open_view = open_view
        self._clock = clock
        self._walltime = walltime
        self._unavailable: tuple[type[Exception], ...] = (StorageUnavailable, *unavailable)
        self._journal = journal or Journal()
        self._addresses_told = settings.log_addresses
        self._threads = Threads(settings.heavy_requests, settings.request_seconds)
        self._seconds = settings.request_seconds
        self._slow_seconds = settings.slow_seconds
        #: Whether the store is on a server, for which the event loop never waits.
        self._on_server = isinstance(settings.data_place, str)
        self._on_startup, self._on_shutdown = on_startup, [*on_shutdown, self._threads.close]
        signer = Signer(accounts.secret("cursor"), settings.cursor_days)
        self._warming = warming
        self._answers = Answers(open_view, signer, settings, walltime)
        self._cors = Cors(settings.cors_origins)
        self._common: tuple[Header, ...] = (
            envelope.CACHE_CONTROL,
            (b"vary", envelope.VARY + self._cors.vary),
        )

    def warm(self) -> None:
        """Make what the first requests would wait for. What cannot be made now, they make themselves."""
        warm(self.endpoints, self._open_view, self._clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await lifespan(receive, send, self._on_startup, self._on_shutdown)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request = ClientRequest(scope)
        try:
            reply = await self._answer(request, scope, receive)
        except ApiError as error:
            reply = self._refusal(request, error)
        except HungUp:
            self._record(request, scope, _HUNG_UP, time.perf_counter() - started)
            return
        except StoppedError:
            reply = self._refusal(request, self._late(request))
        except self._unavailable as error:
            reply = self._refusal(request, self._storage_fault(request, error))
        except Exception as error:  # a fault of ours, whatever it is: a client gets an answer, the log the cause
            reply = self._refusal(request, _own_fault(request, error))
        body = reply.body
        headers = self._finish(request, reply)
        if request.announced and not request.http1:
            await drain(receive)
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if request.method == "HEAD" else body})
        self._record(request, scope, reply.status, time.perf_counter() - started)

    async def _answer(self, request: ClientRequest, scope: Scope, receive: Receive) -> Reply:
        if self._cors.is_preflight(request.method, request.headers):
            return Reply(204, list(self._cors.preflight))
        one_host(scope)
        query = split_query(scope["query_string"])
        self._gate.refuse_key_in_query(query, request, scope)
        text, seconds = self._gate.presented(request, scope), self._seconds
        verdict = self._gate.known(text)
        if verdict is None:
            began = time.monotonic()
            verdict = await self._threads.key(functools.partial(self._gate.verify, text))
            seconds = max(0.0, seconds - (time.monotonic() - began))
        plan = self._gate.admit(request, scope, verdict)
        endpoint = self._gate.route(request, path_of(scope))
        self._gate.check_scope(request, endpoint)
        if request.announced or (not request.http1 and await has_body(receive)):
            raise refuse("body", "must be absent: every operation is a GET", code="body")
        now = self._clock()
        parsed = _read(query, endpoint, request.path, now)
        # What may lie ready in memory is looked for first.
        cost, until = Cost.PAGE if endpoint.cached else endpoint.cost, time.monotonic() + seconds
        while True:
            warming = self._warming is not None and self._warming.under_way
            work = functools.partial(self._answers.produce, request, parsed, plan, now, cost, warming=warming)
            try:
                return await self._answered(cost, request, endpoint, work, receive, max(0.0, until - time.monotonic()))
            except PutOffError as put_off:
                # A warm-up is waited for without a thread, and without a place among the heavy.
                if put_off.cost is None:
                    await asyncio.sleep(_LOOK_SECONDS)
                else:
                    cost = put_off.cost
            if time.monotonic() >= until:
                raise StoppedError("what it needs was not made in time")

    async def _answered(
        self,
        cost: Cost,
        request: ClientRequest,
        endpoint: Endpoint,
        work: Callable[[], Reply],
        receive: Receive,
        seconds: float,
    ) -> Reply:
        """What `work` gives, done where it may cost so much."""
        if cost is Cost.HEAVY:
            request.heavy = True
            account = cast("KeyRecord", request.key).account_id
            return await self._threads.heavy(account, endpoint.path, work, receive, seconds)
        if cost is Cost.APART or self._on_server:
            return await self._threads.apart(work, receive, seconds)
        return _done(work, Deadline(seconds))

    def _refusal(self, request: ClientRequest, error: ApiError) -> Reply:
        if request.key is not None and request.version is None:
            request.version = self._answers.newest_version()
        return Reply(error.status, [envelope.JSON, *error.headers], envelope.error_body(error, request.id))

    def _storage_fault(self, request: ClientRequest, error: Exception) -> ApiError:
        metrics.FAULTS.labels("storage").inc()
        log.error("storage unavailable", request_id=request.id.decode(), exc_info=error)
        request.version = self._answers.version
        headers = ((b"retry-after", b"%d" % _STORAGE_RETRY_SECONDS),)
        return ApiError(503, "the data cannot be read just now; try again", headers=headers)

    def _late(self, request: ClientRequest) -> ApiError:
        metrics.FAULTS.labels("late").inc()
        log.warning("given up", request_id=request.id.decode(), seconds=self._seconds)
        request.version = self._answers.version
        message = f"this was not answered within {self._seconds:g} seconds and was given up; ask for less, or later"
        details = {"reason": "late", "seconds": self._seconds, "retryAfterSeconds": _LATE_RETRY_SECONDS}
        return ApiError(503, message, details, ((b"retry-after", b"%d" % _LATE_RETRY_SECONDS),))

    def _finish(self, request: ClientRequest, reply: Reply) -> list[Header]:
        headers = reply.headers
        headers.append((b"x-request-id", request.id))
        headers.extend(self._common)
        if reply.status not in {204, 304}:
            headers.append((b"content-length", b"%d" % len(reply.body)))
        if request.key is not None:
            headers.append((b"x-data-version", b"%d" % (request.version or 0)))
            if request.decision is not None:
                headers.extend(limit_headers(request.key.plan, request.decision, self._walltime()))
        headers.extend(self._cors.headers(request.headers.get(b"origin")))
        return headers

    def _record(self, request: ClientRequest, scope: Scope, status: int, seconds: float) -> None:
        endpoint, key = request.endpoint, request.key
        theirs = request.headers.get(b"x-request-id")
        line = logs.AccessLine(
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
            line.target = logs.told_path(scope["path"])
        elif status in _ADDRESSED and self._addresses_told:
            line.address = self._gate.address(request, scope)
        self._journal.add(line, seconds)
        if 0 < self._slow_seconds <= seconds and endpoint is not None:
            slowness.tell(request, endpoint, scope["query_string"], status, seconds)


def _done(work: Callable[[], Reply], deadline: Deadline) -> Reply:
    with deadline_scope(deadline):
        return work()


def _read(query: QueryString, endpoint: Endpoint, path: dict[str, str], now: int) -> ParsedQuery:
    """The typed values of a query. Raises ApiError 400."""
    if query.broken is not None:
        raise refuse(query.broken[:100], "is not strict UTF-8 percent-encoding", code="encoding")
    endpoint.check_path(path)
    values = endpoint.read(query.pairs, now)
    return ParsedQuery(
        endpoint, path, values, fingerprint(endpoint.path, path, values) if endpoint.kind == "list" else b""
    )


def _own_fault(request: ClientRequest, error: Exception) -> ApiError:
    metrics.FAULTS.labels("internal").inc()
    log.error("fault", request_id=request.id.decode(), exc_info=error)
    return ApiError(500, "a fault of this service; its log has the request id")
