"""Answers: the store is opened, the handler asked, and its page wrapped or taken from memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from datetime import date
from typing import Any, cast

import msgspec
import structlog
from cachetools import LRUCache

from almanac.api.contract.cursor import Cursor, Signer, fingerprint
from almanac.api.contract.endpoint import Answer, Context, Endpoint, ItemAnswer, ListAnswer, TextAnswer
from almanac.api.contract.errors import Header
from almanac.api.server import envelope
from almanac.api.server.request import ClientRequest, Reply
from almanac.config import Plan, Settings
from almanac.domain.periods import add_months
from almanac.domain.times import DAY_SECONDS, EPOCH_ORDINAL
from almanac.store.accounts.accounts import KeyRecord
from almanac.store.observations.reading.reader import View

log = structlog.get_logger("almanac.answers")

#: What a kept page takes beside its bytes: its key, the objects around them, and a cursor or two. Measured: 0.6 to 1.3 KB as
#: objects, to which a long cursor in the key and what the allocator rounds up are added.
_ENTRY = 2_048


class Kept:
    """
    An answer with its rows joined, its warnings as a JSON list (empty: none) and its ETag, as pages are kept; and the cursor to
    the next page as it was last written, with its times.
    """

    __slots__ = ("answer", "data", "etag", "following", "warnings")

    def __init__(self, answer: Answer, data: bytes, etag: bytes, warnings: bytes = b"") -> None:
        self.answer = answer
        self.data = data
        self.etag = etag
        self.warnings = warnings
        #: ((time of issue, pinned moment), cursor).
        self.following: tuple[tuple[int, int], str] | None = None

    def size(self) -> int:
        """Return about how many bytes it takes with its place in the cache: one without a row takes room too."""
        return _ENTRY + len(self.data) + len(self.warnings)


class PageCache:
    """
    The most recently used pages, up to a number of bytes. Safe between threads.

    A key holds all that the bytes depend on: the query as read, the data version it is answered from and the newest one (rights
    are never pinned), the account's window, the day. So nothing is ever invalidated; what is old falls out.
    """

    def __init__(self, most_bytes: int) -> None:
        self._pages: LRUCache[Hashable, Kept] = LRUCache(most_bytes, getsizeof=Kept.size)
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Kept | None:
        with self._lock:
            return self._pages.get(key)

    def put(self, key: Hashable, kept: Kept) -> None:
        """Keep a page; one that alone is larger than the whole cache is not kept."""
        if kept.size() <= self._pages.maxsize:
            with self._lock:
                self._pages[key] = kept


class Answers:
    """Makes replies from the store."""

    def __init__(
        self,
        open_view: Callable[[], AbstractContextManager[View]],
        signer: Signer,
        settings: Settings,
        walltime: Callable[[], float],
    ) -> None:
        self._open_view = open_view
        self._signer = signer
        self._settings = settings
        self._walltime = walltime
        self._pages = PageCache(settings.page_cache_mib << 20)
        #: The newest data version seen here; 0: none yet.
        self.version = 0

    def produce(
        self, request: ClientRequest, values: Mapping[str, Any], plan: Plan, now: int, *, only_kept: bool = False
    ) -> Reply | None:
        """
        Answer a request whose parameters passed every check but the plan's window. Runs in one thread from end to end.

        Returns None where the page is not kept and `only_kept` is set. Raises ApiError and errors of the store.
        """
        endpoint, real_now = cast("Endpoint", request.endpoint), self._walltime()
        query = fingerprint(endpoint.path, request.path, values) if endpoint.kind == "list" or endpoint.cached else b""
        with self._open_view() as view:
            request.version = self.version = version = view.version
            cursor: Cursor | None = None
            if endpoint.kind == "list" and values["cursor"] is not None:
                cursor = self._signer.read(values["cursor"], query, view.epoch, version, real_now)
                request.version = version = cursor.version
            at = now if cursor is None else cursor.at
            ctx = Context(
                endpoint=endpoint,
                params=endpoint.pinned(values, at),
                path=request.path,
                key=cast("KeyRecord", request.key),
                plan=plan,
                window_start=None if plan.history_months is None else _window_start(plan.history_months, now),
                now=now,
                view=view,
                settings=self._settings,
                cursor=cursor,
                version=version,
                at=at,
            )
            if ctx.window_start is not None:
                endpoint.check_window(ctx)
            # Further pages keep the first page's time of issue: a walk ends with the life of the rows it is pinned to.
            issued = int(real_now) if cursor is None else cursor.issued
            pinned = Cursor(issued, view.epoch, version, at, query, [])
            kept, name = None, ()
            if endpoint.cached:
                name = _name_of(ctx, query, int(real_now) // DAY_SECONDS)
                kept = self._pages.get(name)
            if kept is None:
                if only_kept:
                    return None
                try:
                    answer = endpoint.handler(ctx)
                finally:
                    request.list_plan = ctx.list_plan
                kept = _with_etag(ctx, pinned, answer)
                if endpoint.cached:
                    self._pages.put(name, kept)
        return self._wrap(request, ctx, kept, pinned)

    def _wrap(self, request: ClientRequest, ctx: Context, kept: Kept, pinned: Cursor) -> Reply:
        """Return the reply of a page: 304 where the client has it already, else its body in the envelope."""
        answer, data, etag = kept.answer, kept.data, kept.etag
        headers: list[Header] = [(b"etag", etag)]
        if ctx.endpoint.dated and ctx.window_start is not None:
            headers.append((b"x-history-from", ctx.window_start.isoformat().encode()))
        condition = request.headers.get(b"if-none-match")
        if condition is not None and envelope.matches(condition, etag):
            return Reply(304, headers)
        if isinstance(answer, ListAnswer):
            following = None
            if answer.next_key is not None:
                times = (pinned.issued, pinned.at)
                if kept.following is None or kept.following[0] != times:
                    kept.following = times, self._signer.write(pinned.following(answer.next_key))
                following = kept.following[1]
            limit, used = ctx.params["limit"], ctx.params["cursor"]
            body = envelope.list_body(
                answer, data, request.id, limit=limit, cursor=used, following=following, warnings=kept.warnings
            )
        else:
            body = envelope.item_body(data, request.id) if isinstance(answer, ItemAnswer) else data
        headers.append(envelope.PLAIN if ctx.endpoint.kind == "text" else envelope.JSON)
        body, coding = envelope.encode(body, request.headers.get(b"accept-encoding"))
        if coding is not None:
            headers.append((b"content-encoding", coding))
        return Reply(200, headers, body)

    def newest_version(self) -> int:
        """Return the data version for an error: the store's newest, else the last one seen here (0: none yet)."""
        try:
            with self._open_view() as view:
                self.version = view.version
        except Exception:  # the answer is an error already: that the version cannot be read must not make another of it
            log.warning("data version unknown", last=self.version)
        return self.version


def _name_of(ctx: Context, query: bytes, real_day: int) -> tuple[Any, ...]:
    """Return the name under which a page is kept."""
    values, view = ctx.params, ctx.view
    return (
        ctx.endpoint.path, query, values.get("limit"), values.get("cursor"), values.get("as_of"), ctx.version, view.version,
        view.epoch, ctx.window_start, ctx.now // DAY_SECONDS, real_day, ctx.key.scopes,
    )  # fmt: skip


def _with_etag(ctx: Context, pinned: Cursor, answer: Answer) -> Kept:
    """Return an answer with its rows joined, its warnings and its ETag. A page is held for long, and its rows but once."""
    warnings = msgspec.json.encode(ctx.warnings) if ctx.warnings else b""
    if isinstance(answer, ListAnswer):
        data = answer.rows if isinstance(answer.rows, bytes) else b",".join(answer.rows)
        etag = envelope.page_etag(
            answer, data, warnings, limit=ctx.params["limit"], cursor=ctx.params["cursor"], epoch=pinned.epoch,
            issued=pinned.issued,
        )  # fmt: skip
        return Kept(ListAnswer(data, answer.next_key, answer.total), data, etag, warnings)
    if isinstance(answer, ItemAnswer):
        return Kept(answer, answer.data, envelope.body_etag(answer.data), warnings)
    data = answer.body.encode() if isinstance(answer.body, str) else answer.body
    return Kept(TextAnswer(data), data, envelope.body_etag(data), warnings)


def _window_start(months: int, now: int) -> date:
    return add_months(date.fromordinal(EPOCH_ORDINAL + now // DAY_SECONDS), -months)
