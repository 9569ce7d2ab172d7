"""Answers: the store is opened, the handler asked, and its page wrapped or taken from memory."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlencode

import msgspec
import structlog
from cachetools import LRUCache

from almanac.api.contract.cursor import Cursor, Signer, fingerprint
from almanac.api.contract.endpoint import Answer, Context, Endpoint, ItemAnswer, ListAnswer
from almanac.api.contract.errors import Header
from almanac.api.contract.params import CLOCK_TOLERANCE, day_of
from almanac.api.formats.columns import NOTHING_OPENED, Table
from almanac.api.formats.forms import Form, Writer
from almanac.api.server import envelope
from almanac.api.server.request import ClientRequest, Reply
from almanac.config import Plan, Settings
from almanac.distribution import version as program_version
from almanac.domain.memory import uncollected
from almanac.domain.periods import add_months
from almanac.domain.times import DAY_SECONDS, wire_time
from almanac.store.accounts.records import KeyRecord
from almanac.store.observations.reading.reader import View

log = structlog.get_logger("almanac.answers")

#: Bytes of warnings that go into a header.
_WARNINGS_BYTES = 4_096
_ETAG_BYTES = 16
_encode = msgspec.json.Encoder().encode
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")

#: What a kept page takes beside its bytes: its key, the objects around them, and a cursor or two. Measured: 0.6 to 1.3 KB as
#: objects, to which a long cursor in the key and what the allocator rounds up are added.
_ENTRY = 2_048


class Kept(msgspec.Struct):
    """An answer as pages are kept: its rows joined, its ETag, its warnings as a JSON list (empty: none); of a list, its place and length."""

    data: bytes
    etag: bytes
    warnings: bytes = b""
    next_key: list[Any] | None = None
    total: int | None = None
    #: The cursor to the next page as it was last written: ((time of issue, pinned moment), cursor).
    following: tuple[tuple[int, int], str] | None = None


class PageCache:
    """
    The most recently used pages, up to a number of bytes. Safe between threads.

    A key holds all that the bytes depend on: the query as read, the data version it is answered from and the newest one (rights
    are never pinned), the account's window, the day. So nothing is ever invalidated; what is old falls out.
    """

    def __init__(self, most_bytes: int) -> None:
        self._pages: LRUCache[Hashable, Kept] = LRUCache(most_bytes, getsizeof=size_of)
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Kept | None:
        with self._lock:
            return self._pages.get(key)

    def put(self, key: Hashable, kept: Kept) -> None:
        """Keep a page; one that alone is larger than the whole cache is not kept."""
        with self._lock, contextlib.suppress(ValueError):
            self._pages[key] = kept


def size_of(kept: Kept) -> int:
    """Return about how many bytes a page takes with its place in the cache: one without a row takes room too."""
    return _ENTRY + len(kept.data) + len(kept.warnings)


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
        self._pages = PageCache(settings.page_cache_mib << 20) if settings.page_cache_mib else None
        #: The newest data version seen here; 0: none yet.
        self.version = 0

    def produce(
        self, request: ClientRequest, values: Mapping[str, Any], plan: Plan, now: int, *, only_kept: bool = False
    ) -> Reply | None:
        """
        Answer a request whose parameters passed every check but the plan's window. Runs in one thread from end to end.

        Returns None where the page is not kept and `only_kept` is set. Raises ApiError and errors of the store.
        """
        endpoint = cast("Endpoint", request.endpoint)
        with self._open_view() as view:
            ctx = self._context(request, values, plan, now, view)
            kept, name = None, ()
            pages = self._pages if endpoint.cached else None
            if pages is not None:
                name = _name_of(ctx, request.form, int(self._walltime()) // DAY_SECONDS)
                kept = pages.get(name)
            if kept is None:
                if only_kept:
                    return None
                try:
                    answer = endpoint.handler(ctx)
                finally:
                    request.list_plan = ctx.list_plan
                kept = _kept(ctx, answer, request.form)
                if pages is not None:
                    pages.put(name, kept)
        return self._wrap(request, ctx, kept)

    def _context(
        self,
        request: ClientRequest,
        values: Mapping[str, Any],
        plan: Plan,
        now: int,
        view: View,
        cursor: Cursor | None = None,
    ) -> Context:
        """Return the context of a request, at the place of its cursor unless another is given. Raises ApiError."""
        endpoint, is_list = cast("Endpoint", request.endpoint), "cursor" in values
        request.version = self.version = view.version
        if cursor is None:
            real_now = self._walltime()
            query = fingerprint(endpoint.path, request.path, values) if is_list or endpoint.cached else b""
            if is_list and values["cursor"] is not None:
                cursor = self._signer.read(values["cursor"], query, view.epoch, view.version, real_now)
                request.version = cursor.version
            else:
                cursor = Cursor(int(real_now), view.epoch, view.version, now, query, None)
        params = dict(values)
        for param in endpoint.timed:  # the bare date of today means the same moment on all pages
            if (value := params[param.name]) is not None and value > cursor.at + CLOCK_TOLERANCE:
                params[param.name] = cursor.at
        ctx = Context(
            endpoint=endpoint,
            params=params,
            path=request.path,
            key=cast("KeyRecord", request.key),
            plan=plan,
            window_start=None if plan.history_months is None else add_months(day_of(now), -plan.history_months),
            now=now,
            view=view,
            settings=self._settings,
            walk=cursor,
            after=cursor.key,
            version=cursor.version,
            at=cursor.at,
            columns=request.form is not None and request.form.has_columns,
        )
        if ctx.window_start is not None:
            endpoint.check_window(ctx)
        return ctx

    def begin_whole(self, request: ClientRequest, values: Mapping[str, Any], plan: Plan, now: int) -> WholeList:
        """Begin a list that is sent whole: its reply has the first batch, or is a 304. As `produce` else."""
        form = cast("Form", request.form)
        values = {**values, "limit": cast("Endpoint", request.endpoint).batch}
        with self._open_view() as view:
            ctx = self._context(request, values, plan, now, view)
            # It is not known before its end what is in it, but all that this depends on is.
            headers = _headers(request, ctx, etag_of(repr((_name_of(ctx, form, 0), program_version())).encode()))
            whole = WholeList(request, values, plan, now, ctx.walk)
            if envelope.is_unchanged(request.headers, headers):
                whole.place, whole.reply = None, Reply(304, headers)
                return whole
            part = self._batch(whole, ctx)
        headers += _meta_headers(ctx, _encode(ctx.warnings) if ctx.warnings else b"")
        whole.compress, coding = envelope.compressor(request.headers.get(b"accept-encoding"))
        headers += [(b"content-type", form.content_type), *([] if coding is None else [(b"content-encoding", coding)])]
        whole.reply = Reply(200, headers, whole.compress(part, whole.place is None))
        return whole

    def next_batch(self, whole: WholeList) -> bytes:
        """Return the next part of a list that is sent whole. Raises ListCutError where its state cannot be read any more."""
        with self._open_view() as view:
            if view.epoch != whole.walk.epoch or view.version < whole.walk.version:
                raise ListCutError("the data were replaced")
            cursor = msgspec.structs.replace(whole.walk, key=whole.place)
            part = self._batch(whole, self._context(whole.request, whole.values, whole.plan, whole.now, view, cursor))
        return whole.compress(part, whole.place is None)

    @staticmethod
    def _batch(whole: WholeList, ctx: Context) -> bytes:
        ctx.whole = True
        with uncollected():
            answer = cast("ListAnswer", ctx.endpoint.handler(ctx))
            if whole.writer is None:
                whole.writer = _writer(ctx.endpoint, cast("Form", whole.request.form), answer, whole=True)
            whole.place = answer.next_key
            return whole.writer.write(answer.rows, last=answer.next_key is None)

    def _wrap(self, request: ClientRequest, ctx: Context, kept: Kept) -> Reply:
        """Return the reply of a page: 304 where the client has it already, else its body in the envelope."""
        kind, form = ctx.endpoint.kind, request.form
        headers = _headers(request, ctx, kept.etag)
        if b"if-none-match" in request.headers and envelope.is_unchanged(request.headers, headers):
            return Reply(304, headers)
        body, content_type, following = kept.data, envelope.JSON, None
        if kept.next_key is not None:
            times = (ctx.walk.issued, ctx.at)
            if kept.following is None or kept.following[0] != times:
                kept.following = times, self._signer.write(ctx.walk, kept.next_key)
            following = kept.following[1]
        if form is not None:
            content_type = (b"content-type", form.content_type)
            headers += _meta_headers(ctx, kept.warnings, kept.total)
            if following is not None:  # relative to the address of this page
                pairs = [(name, value) for name, value in request.pairs if name != "cursor"]
                headers.append((b"link", b'<?%b>; rel="next"' % urlencode([*pairs, ("cursor", following)]).encode()))
        elif kind == "list":
            limit, cursor = ctx.params["limit"], ctx.params["cursor"]
            body = list_body(body, request.id, limit, cursor, following, kept.total, kept.warnings)
        elif kind == "item":
            body = item_body(body, request.id)
        elif kind == "text":
            content_type = envelope.PLAIN
        headers.append(content_type)
        if (accepted := request.headers.get(b"accept-encoding")) is not None:
            body, coding = envelope.encode(body, accepted)
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


class ListCutError(Exception):
    """A list that is sent whole cannot go on: its state was replaced, or its key revoked."""


@dataclass(slots=True)
class WholeList:
    """A list that is sent whole, batch by batch, all of one data version and moment."""

    request: ClientRequest
    values: Mapping[str, Any]
    plan: Plan
    now: int
    walk: Cursor
    writer: Writer | None = None
    #: Compresses a part as the client likes it, and is told whether it is the last.
    compress: Callable[[bytes, bool], bytes] = field(init=False)
    #: Where the next batch goes on; None: all is written.
    place: list[Any] | None = None
    reply: Reply = field(init=False)


def _name_of(ctx: Context, form: Form | None, real_day: int) -> tuple[Any, ...]:
    """Return the name under which a page is kept."""
    values, view = ctx.params, ctx.view
    return (
        ctx.endpoint.path, None if form is None else form.name, ctx.walk.fingerprint, values.get("limit"), values.get("cursor"),
        values.get("as_of"), ctx.version, view.version, view.epoch, ctx.window_start, ctx.now // DAY_SECONDS, real_day, ctx.key.scopes,
    )  # fmt: skip


def _kept(ctx: Context, answer: Answer, form: Form | None) -> Kept:
    """
    Return an answer with its rows joined, its warnings and its ETag. A page is held for long, and its rows but once.

    The ETag of a list is over pagination and warnings too: a 304 must not hide that something else is said of the question. The next
    cursor differs from second to second because it holds its time of issue, so what it leads to is hashed in its place: the key, the
    epoch, and the day of issue, lest a cached page be confirmed after its cursor has expired.
    """
    warnings = _encode(ctx.warnings) if ctx.warnings else b""
    if form is not None:
        lines = ctx.endpoint.lines
        rows = cast("ListAnswer", answer).rows if lines is None else lines.of(cast("ItemAnswer", answer).data)
        data = _writer(ctx.endpoint, form, answer, whole=False).write(rows, last=True)
    elif isinstance(answer, ListAnswer):
        rows = answer.rows
        data = b",".join(cast("Sequence[bytes]", rows)) if rows and isinstance(rows[0], bytes) else _encode(rows)[1:-1]
    elif isinstance(answer, ItemAnswer):
        data = answer.data
    else:
        data = answer.body.encode() if isinstance(answer.body, str) else answer.body
    if not isinstance(answer, ListAnswer):
        return Kept(data, etag_of(data), warnings)
    following = None if answer.next_key is None else [answer.next_key, ctx.walk.issued // DAY_SECONDS]
    about = [ctx.params["limit"], ctx.params["cursor"], answer.total, ctx.walk.epoch, following, warnings]
    if form is not None:
        about.append(form.name)
    if answer.parts is None:
        etag = etag_of(_encode(about), data)
    else:  # the same parts are written otherwise by another version of the program
        etag = etag_of(_encode([*about, program_version()]), answer.parts)
    return Kept(data, etag, warnings, answer.next_key, answer.total)


def list_body(
    data: bytes,
    request_id: bytes,
    limit: int,
    cursor: str | None,
    following: str | None,
    total: int | None,
    warnings: bytes,
) -> bytes:
    """
    Return the list envelope. `data` are the joined rows, `warnings` a JSON list or empty; cursors are base64url, so they need
    no escaping.
    """
    used = b"null" if cursor is None else b'"%b"' % cursor.encode()
    next_page = b'null,"has_more":false' if following is None else b'"%b","has_more":true' % following.encode()
    counted = b"" if total is None else b',"total":%d' % total
    more = b',"warnings":' + warnings if warnings else b""
    return (
        b'{"data":[%b],"meta":{"request_id":"%b","requestId":"%b","api_version":"v1",'
        b'"pagination":{"limit":%d,"cursor":%b,"next_cursor":%b%b}%b},"requestId":"%b"}'
    ) % (data, request_id, request_id, limit, used, next_page, counted, more, request_id)


def item_body(data: bytes, request_id: bytes) -> bytes:
    """Return the single-object envelope."""
    return b'{"data":%b,"meta":{"request_id":"%b","requestId":"%b","api_version":"v1"},"requestId":"%b"}' % (
        data, request_id, request_id, request_id,
    )  # fmt: skip


def etag_of(*parts: bytes) -> bytes:
    """Return a weak ETag over some parts of an answer."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return b'W/"%s"' % digest.digest()[:_ETAG_BYTES].hex().encode()


def _writer(endpoint: Endpoint, form: Form, answer: Answer, *, whole: bool) -> Writer:
    record = endpoint.record if endpoint.lines is None else endpoint.lines.record
    opened = answer.opened if isinstance(answer, ListAnswer) else NOTHING_OPENED
    return form.writer(Table(cast("type[msgspec.Struct]", record), opened), whole=whole)


def _headers(request: ClientRequest, ctx: Context, etag: bytes) -> list[Header]:
    """Return the headers that a 304 has too."""
    headers: list[Header] = [(b"etag", etag)]
    if ctx.endpoint.dated and ctx.window_start is not None:
        headers.append((b"x-history-from", ctx.window_start.isoformat().encode()))
    if request.is_twin and request.form is not None:
        name = _NOT_IN_NAMES.sub("-", request.target.strip("/"))
        headers.append((b"content-disposition", b'attachment; filename="%b"' % name.encode()))
    return headers


def _meta_headers(ctx: Context, warnings: bytes, total: int | None = None) -> list[Header]:
    """Return what `meta` says, for forms that have no place for it: of the warnings as many as a header takes, in ASCII."""
    headers: list[Header] = [(b"x-as-of", wire_time(ctx.as_of).encode())]
    if warnings:
        several: list[Any] = msgspec.json.decode(warnings)
        while len(text := json.dumps(several, separators=(",", ":"))) > _WARNINGS_BYTES:
            several.pop()
        headers.append((b"x-warnings", text.encode()))
    if total is not None:
        headers.append((b"x-total-count", b"%d" % total))
    return headers
