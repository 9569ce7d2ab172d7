"""What a request gets that has passed the gate: the store opened, the handler asked, the page wrapped or taken from memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import date
from typing import Any, cast

import msgspec
import structlog

from almanac.api.contract.cursor import Cursor, Signer, fingerprint
from almanac.api.contract.endpoint import Answer, Context, Endpoint, ItemAnswer, ListAnswer, TextAnswer
from almanac.api.contract.errors import Header
from almanac.api.server import envelope
from almanac.api.server.exchange import ClientRequest, Reply
from almanac.api.server.pagecache import Kept, PageCache
from almanac.config import Plan, Settings
from almanac.domain.periods import add_months
from almanac.domain.times import DAY_SECONDS, EPOCH_ORDINAL
from almanac.store.accounts.accounts import KeyRecord
from almanac.store.engine.cost import Cost
from almanac.store.engine.deadline import current_deadline, deadline_scope, event_loop_deadline
from almanac.store.observations.reading.reader import View

log = structlog.get_logger("almanac.answers")


class ParsedQuery(msgspec.Struct, frozen=True):
    """A path and query string that passed every check but those of the plan."""

    endpoint: Endpoint
    path: dict[str, str]
    #: Typed values.
    values: dict[str, Any]
    #: Of a list: what its cursors are bound to.
    fingerprint: bytes


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
        self,
        request: ClientRequest,
        parsed: ParsedQuery,
        plan: Plan,
        now: int,
        within: Cost = Cost.HEAVY,
        *,
        warming: bool = False,
    ) -> Reply:
        """
        Open the store, ask the handler, wrap what it says. Runs in one thread from end to end.

        `within`: what may be spent here; `warming`: whether a warm-up is under way. Raises PutOffError where it is to be answered
        elsewhere, or later.
        """
        endpoint, real_now = parsed.endpoint, self._walltime()
        request.deadline = current_deadline()
        with self._open_view() as view:
            asked = self._prepared(request, parsed, plan, now, real_now, view)
            kept = self._pages.get(asked.name) if endpoint.cached else None
            if kept is None:
                asked.context.within, asked.context.warming = within, warming
                asked.context.costs(endpoint.cost)
                try:
                    answer = endpoint.handler(asked.context)
                finally:
                    request.list_plan = asked.context.list_plan
        if kept is None:
            kept = _with_etag(asked, answer)
            if endpoint.cached:
                self._pages.put(asked.name, kept)
        return self._wrap(request, asked, kept)

    def _prepared(
        self, request: ClientRequest, parsed: ParsedQuery, plan: Plan, now: int, real_now: float, view: View
    ) -> PreparedRequest:
        """What one request asks of one state of the store. Raises ApiError."""
        endpoint, values, query = parsed.endpoint, parsed.values.copy(), parsed.fingerprint
        version, epoch = view.version, view.epoch
        request.version = self.version = version
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
        name: tuple[Any, ...] = ()
        if endpoint.cached:
            # A list has its fingerprint for its cursors already.
            of = query or fingerprint(endpoint.path, request.path, values)
            name = (
                endpoint.path, of, values.get("limit"), values.get("cursor"), values.get("as_of"), version, view.version,
                epoch, context.window_start, now // DAY_SECONDS, int(real_now) // DAY_SECONDS, context.key.scopes,
            )  # fmt: skip
        # Further pages keep the first page's time of issue: a walk ends with the life of the rows it is pinned to.
        issued = cursor.issued if cursor is not None else int(real_now)
        return PreparedRequest(context, Cursor(issued, epoch, version, at, query, []), name)

    def _wrap(self, request: ClientRequest, asked: PreparedRequest, kept: Kept) -> Reply:
        context, answer, data, etag = asked.context, kept.answer, kept.data, kept.etag
        content_type = envelope.PLAIN if context.endpoint.kind == "text" else envelope.JSON
        headers: list[Header] = [(b"etag", etag)]
        if context.endpoint.dated and context.window_start is not None:
            headers.append((b"x-history-from", context.window_start.isoformat().encode()))
        condition = request.headers.get(b"if-none-match")
        if condition is not None and envelope.matches(condition, etag):
            return Reply(304, headers)
        if isinstance(answer, ListAnswer):
            following = None if answer.next_key is None else self._following(kept, asked.pinned, answer.next_key)
            limit, used = context.params["limit"], context.params["cursor"]
            body = envelope.list_body(
                answer, data, request.id, limit=limit, cursor=used, following=following, warnings=kept.warnings
            )
        else:
            body = envelope.item_body(data, request.id) if isinstance(answer, ItemAnswer) else data
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

    def newest_version(self) -> int:
        """For an error's x-data-version: the store's newest, else the last one seen here (0: none yet)."""
        try:
            with deadline_scope(event_loop_deadline()), self._open_view() as view:
                self.version = view.version
        except Exception:  # the answer is an error already: that the version cannot be read must not make another of it
            log.warning("data version unknown", last=self.version)
        return self.version


class PreparedRequest(msgspec.Struct):
    """A request, ready for its handler; the cursor that its walk goes on with; and the name its page is kept under."""

    context: Context
    pinned: Cursor
    name: tuple[Any, ...]


def _with_etag(asked: PreparedRequest, answer: Answer) -> Kept:
    """An answer with its rows joined, its warnings and its ETag."""
    context, pinned = asked.context, asked.pinned
    warnings = msgspec.json.encode(context.warnings) if context.warnings else b""
    if isinstance(answer, ListAnswer):
        data = answer.rows if isinstance(answer.rows, bytes) else b",".join(answer.rows)
        limit, used = context.params["limit"], context.params["cursor"]
        etag = envelope.page_etag(
            answer, data, warnings, limit=limit, cursor=used, epoch=pinned.epoch, issued=pinned.issued
        )
        answer = ListAnswer(data, answer.next_key, answer.total)  # a page is held for long, and its rows but once
    elif isinstance(answer, ItemAnswer):
        data = answer.data
        etag = envelope.body_etag(data)
    else:
        data = _bytes(answer.body)
        etag = envelope.body_etag(data)
        answer = TextAnswer(data)
    return Kept(answer, data, etag, warnings)


def _window_start(plan: Plan, now: int) -> date | None:
    if plan.history_months is None:
        return None
    return add_months(date.fromordinal(EPOCH_ORDINAL + now // DAY_SECONDS), -plan.history_months)


def _bytes(body: str | bytes) -> bytes:
    return body.encode() if isinstance(body, str) else body
