"""The ASGI application: every request goes through the same steps, in one fixed order.

Request id; key in the query; key; rate limit; path; method; scope; parameters; plan window; the resource.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import date
from typing import Any, NamedTuple, cast

import structlog
from starlette.types import Receive, Scope, Send

from almanac.api import envelope, logs, metrics
from almanac.api.auth import Query, redact, split_query
from almanac.api.cursor import Cursor, Signer, fingerprint
from almanac.api.endpoint import Answer, Context, Endpoint, Item, Listing
from almanac.api.errors import ApiError, Header, StorageUnavailable, refuse
from almanac.api.exchange import Reply, Request, drain, has_body
from almanac.api.gate import Gate
from almanac.api.headers import Cors, limit_headers
from almanac.api.lifespan import lifespan
from almanac.api.limits import Limiter
from almanac.api.pagecache import Kept, PageCache
from almanac.api.ports import Accounts, View
from almanac.api.queries import Known, Queries
from almanac.api.routes import Routes
from almanac.config import Plan, Settings
from almanac.domain.periods import add_months
from almanac.store.accounts import KeyRecord

_STORAGE_RETRY_SECONDS = 5
_CLIENT_ID_MAX = 128
_DAY_SECONDS = 86_400
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()

log = structlog.get_logger("almanac.access")


class App:
    """The API. `clock` is the data's now, `walltime` real time; both in unix seconds.

    `unchanged` gives the state of the store this thread read last, while it is the newest: pages kept of it are sent
    without a read transaction. `unavailable` are the exceptions by which the stores say that they cannot be reached just now: 503.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        accounts: Accounts,
        limiter: Limiter,
        open_view: Callable[[], AbstractContextManager[View]],
        settings: Settings,
        *,
        clock: Callable[[], int],
        walltime: Callable[[], float] = time.time,
        unchanged: Callable[[], View | None] = lambda: None,
        unavailable: tuple[type[Exception], ...] = (),
        on_startup: Sequence[Callable[[], None]] = (),
        on_shutdown: Sequence[Callable[[], None]] = (),
    ) -> None:
        self._endpoints = tuple(endpoints)
        self._gate = Gate(Routes(self._endpoints), accounts, limiter, settings, walltime)
        self._open_view, self._unchanged = open_view, unchanged
        self._settings = settings
        self._clock = clock
        self._walltime = walltime
        self._unavailable: tuple[type[Exception], ...] = (StorageUnavailable, *unavailable)
        self._on_startup, self._on_shutdown = on_startup, on_shutdown
        self._signer = Signer(accounts.secret("cursor"), settings.cursor_days)
        self._pages = PageCache(settings.page_cache_mib << 20)
        self._queries = Queries()
        self._cors = Cors(settings.cors_origins)
        self._common: tuple[Header, ...] = (
            envelope.CACHE_CONTROL,
            (b"vary", envelope.VARY + self._cors.vary),
        )
        self._last_version = 0

    def warm(self) -> None:
        """Make what the first requests would wait for. What cannot be made now, they make themselves."""
        for endpoint in self._endpoints:
            if endpoint.warm is None:
                continue
            try:
                with self._open_view() as view:
                    endpoint.warm(view, self._clock())
            except Exception as error:  # whatever it is, a request that needs it will meet it and say so
                log.warning("not warmed", path=endpoint.path, reason=str(error))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await lifespan(receive, send, self._on_startup, self._on_shutdown)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request = Request(scope)
        try:
            reply = await self._answer(request, scope, receive)
        except ApiError as error:
            reply = self._refusal(request, error)
        except self._unavailable as error:
            reply = self._refusal(request, self._storage_fault(request, error))
        except Exception as error:
            reply = self._refusal(request, _own_fault(request, error))
        body = reply.body
        headers = self._finish(request, reply)
        if request.announced and not request.http1:
            await drain(receive)
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if request.method == "HEAD" else body})
        self._record(request, reply.status, time.perf_counter() - started)

    async def _answer(self, request: Request, scope: Scope, receive: Receive) -> Reply:
        if self._cors.is_preflight(request.method, request.headers):
            return Reply(204, list(self._cors.preflight))
        path, query_string = scope["path"], scope["query_string"]
        known = self._queries.get(path, query_string)
        if known is None:
            query = split_query(query_string)
            self._gate.refuse_key_in_query(query)
        plan = self._gate.admit(request, scope)
        endpoint = self._gate.route(request, path, known and known[:2])
        self._gate.check_scope(request, endpoint)
        if request.announced or (not request.http1 and await has_body(receive)):
            raise refuse("body", "must be absent: every operation is a GET", code="body")
        now = self._clock()
        again = known is not None
        if known is None:
            known = _read(query, endpoint, request.path, now)
            self._queries.put(path, query_string, known)
        else:
            endpoint.check_times(known.values, now)
        if endpoint.heavy(known.values):
            return await asyncio.to_thread(self._produce, request, known, plan, now, again)
        return self._produce(request, known, plan, now, again)

    def _produce(self, request: Request, known: Known, plan: Plan, now: int, again: bool) -> Reply:
        """Open the store, ask the handler, wrap what it says. Runs in one thread from end to end.

        `again`: the same was asked before, so that its answer may be at hand.
        """
        endpoint, real_now = known.endpoint, self._walltime()
        if again and endpoint.cached and (view := self._unchanged()) is not None:
            asked = self._asked(request, known, plan, now, real_now, view)
            kept = self._pages.get(asked.name)
            if kept is not None:
                return self._wrap(request, asked, kept)
        with self._open_view() as view:
            asked = self._asked(request, known, plan, now, real_now, view)
            kept = self._pages.get(asked.name) if endpoint.cached else None
            if kept is None:
                answer = endpoint.handler(asked.context)
        if kept is None:
            kept = _sealed(asked, answer)
            if endpoint.cached:
                self._pages.offer(asked.name, kept)
        return self._wrap(request, asked, kept)

    def _asked(self, request: Request, known: Known, plan: Plan, now: int, real_now: float, view: View) -> _Asked:
        """What one request asks of one state of the store. Raises ApiError."""
        endpoint, values, query = known.endpoint, known.values.copy(), known.fingerprint
        version, epoch = view.version, view.epoch
        request.version = self._last_version = version
        cursor: Cursor | None = None
        if endpoint.kind == "list" and values["cursor"] is not None:
            cursor = self._signer.read(values["cursor"], query, epoch, version, real_now)
            request.version = version = cursor.version
        at = cursor.at if cursor is not None else now
        endpoint.pin(values, at)
        context = Context(
            endpoint=endpoint,
            params=values,
            path=request.path,
            key=cast("KeyRecord", request.key),
            plan=plan,
            window_start=_window_start(plan, now),
            now=now,
            view=view,
            settings=self._settings,
            cursor=cursor,
            version=version,
            at=at,
        )
        endpoint.check_window(context)
        name = (
            endpoint.path, query, values["limit"], values["cursor"], values.get("as_of"), version, view.version, epoch,
            context.window_start, now // _DAY_SECONDS, int(real_now) // _DAY_SECONDS,
        ) if endpoint.cached else ()  # fmt: skip
        # Further pages keep the first page's time of issue: a walk ends with the life of the rows it is pinned to.
        issued = cursor.issued if cursor is not None else int(real_now)
        return _Asked(context, Cursor(issued, epoch, version, at, query, []), name)

    def _wrap(self, request: Request, asked: _Asked, kept: Kept) -> Reply:
        context, answer, data, etag = asked.context, kept.answer, kept.data, kept.etag
        content_type = envelope.PLAIN if context.endpoint.kind == "text" else envelope.JSON
        headers: list[Header] = [(b"etag", etag)]
        if context.endpoint.dated and context.window_start is not None:
            headers.append((b"x-history-from", context.window_start.isoformat().encode()))
        condition = request.headers.get(b"if-none-match")
        if condition is not None and envelope.matches(condition, etag):
            return Reply(304, headers)
        if isinstance(answer, Listing):
            following = None if answer.next_key is None else self._following(kept, asked.pinned, answer.next_key)
            limit, used = context.params["limit"], context.params["cursor"]
            body = envelope.list_body(answer, data, request.id, limit=limit, cursor=used, following=following)
        else:
            body = envelope.item_body(data, request.id) if isinstance(answer, Item) else data
        headers.append(content_type)
        body, coding = envelope.encode(body, request.headers.get(b"accept-encoding"))
        if coding is not None:
            headers.append((b"content-encoding", coding))
        return Reply(200, headers, body)

    def _following(self, kept: Kept, pinned: Cursor, key: list[Any]) -> str:
        """The cursor to the next page; as it was written before, where it would be the same."""
        times = (pinned.issued, pinned.at)
        if kept.following is None or kept.following[0] != times:
            kept.following = times, self._signer.write(pinned.following(key))
        return kept.following[1]

    def _refusal(self, request: Request, error: ApiError) -> Reply:
        if request.key is not None and request.version is None:
            request.version = self._newest_version()
        return Reply(error.status, [envelope.JSON, *error.headers], envelope.error_body(error, request.id))

    def _newest_version(self) -> int:
        """For an error's x-data-version: the store's newest, else the last one seen here (0: none yet)."""
        try:
            with self._open_view() as view:
                self._last_version = view.version
        except Exception:
            # The answer is an error already; that the version cannot be read must not turn it into another.
            log.warning("data version unknown", last=self._last_version)
        return self._last_version

    def _storage_fault(self, request: Request, error: Exception) -> ApiError:
        metrics.FAULTS.labels("storage").inc()
        log.error("storage unavailable", request_id=request.id.decode(), exc_info=error)
        request.version = self._last_version
        headers = ((b"retry-after", b"%d" % _STORAGE_RETRY_SECONDS),)
        return ApiError(503, "the data cannot be read just now; try again", headers=headers)

    def _finish(self, request: Request, reply: Reply) -> list[Header]:
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

    @staticmethod
    def _record(request: Request, status: int, seconds: float) -> None:
        template = request.endpoint.path if request.endpoint is not None else None
        metrics.observe(template or metrics.OTHER, request.method, status, seconds)
        theirs = request.headers.get(b"x-request-id")
        logs.access(
            logs.Line(
                request_id=request.id.decode(),
                client_request_id=None if theirs is None else redact(theirs.decode("latin-1"))[:_CLIENT_ID_MAX],
                method=request.method[:16],
                path=template,
                status=status,
                ms=round(seconds * 1000, 3),
                account=request.key.account_id if request.key is not None else None,
                key=request.key.prefix if request.key is not None else None,
            )
        )


class _Asked(NamedTuple):
    """A request, ready for its handler; the cursor that its walk goes on with; and the name its page is kept under."""

    context: Context
    pinned: Cursor
    name: tuple[Any, ...]


def _sealed(asked: _Asked, answer: Answer) -> Kept:
    """An answer with its rows joined and its ETag."""
    context, pinned = asked.context, asked.pinned
    if isinstance(answer, Listing):
        data = answer.rows if isinstance(answer.rows, bytes) else b",".join(answer.rows)
        limit, used = context.params["limit"], context.params["cursor"]
        etag = envelope.page_etag(answer, data, limit=limit, cursor=used, epoch=pinned.epoch, issued=pinned.issued)
    else:
        data = answer.data if isinstance(answer, Item) else _bytes(answer.body)
        etag = envelope.body_etag(data)
    return Kept(answer, data, etag)


def _read(query: Query, endpoint: Endpoint, path: dict[str, str], now: int) -> Known:
    """The typed values of a query. Raises ApiError 400."""
    if query.broken is not None:
        raise refuse(query.broken[:100], "is not strict UTF-8 percent-encoding", code="encoding")
    values = endpoint.read(query.pairs, now)
    return Known(endpoint, path, values, fingerprint(endpoint.path, path, values) if endpoint.kind == "list" else b"")


def _window_start(plan: Plan, now: int) -> date | None:
    return None if plan.history_months is None else _months_back(now // _DAY_SECONDS, plan.history_months)


@functools.lru_cache(maxsize=64)
def _months_back(day: int, months: int) -> date:
    return add_months(date.fromordinal(_EPOCH_ORDINAL + day), -months)


def _own_fault(request: Request, error: Exception) -> ApiError:
    metrics.FAULTS.labels("internal").inc()
    log.error("fault", request_id=request.id.decode(), exc_info=error)
    return ApiError(500, "a fault of this service; its log has the request id")


def _bytes(body: str | bytes) -> bytes:
    return body.encode() if isinstance(body, str) else body
