"""The ASGI application: finds the page, who may see it, runs its handler in a thread, and says what went wrong."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar
from urllib.parse import parse_qsl, quote

import structlog
from jinja2 import Environment
from starlette.types import Receive, Scope, Send

from almanac.api.contract.errors import ApiError
from almanac.api.contract.keyshape import redact
from almanac.api.server import envelope
from almanac.api.server.authentication import Addresses
from almanac.api.server.lifespan import lifespan
from almanac.api.server.request import RequestIds, read_headers
from almanac.api.server.routes import Routes
from almanac.api.server.threads import ClientDisconnected as HungUp
from almanac.api.server.threads import watched
from almanac.api.use.limits import Limiter
from almanac.config import Settings
from almanac.dashboard import cookies, sending
from almanac.dashboard.asking import InProcessApi
from almanac.dashboard.people import People
from almanac.dashboard.queue import PageQueue, QueueFull
from almanac.dashboard.sending import Sent, send_answer
from almanac.dashboard.site import navigation
from almanac.dashboard.statics import Statics
from almanac.dashboard.visit import Answer, Download, Forbidden, Html, NotFound, Page, Redirect, Visit
from almanac.store.engine.deadline import Deadline, deadline_scope
from almanac.store.engine.errors import StoppedError

log = structlog.get_logger("almanac.dashboard")

#: A form's bytes and fields; nobody types more.
_FORM_BYTES, _FORM_FIELDS = 64 * 1024, 200
_QUERY_BYTES = 16 * 1024
#: Handlers at work at a time. Each thread has the store open, with a memory of its own.
_THREADS = 4
#: Pages a minute that a visitor may ask for, whatever the plan: suggestions while one types are pages too.
_LEAST_PAGES, _MINUTE = 300, 60
_RETRY_SECONDS = 5
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_EXPIRED = "This form had been open too long. Nothing was changed."


T = TypeVar("T")
S = TypeVar("S")
#: The page at a path, with the values of its names; None where there is none.
Found = tuple[Page, dict[str, str]] | None


class Dashboard:
    """
    The dashboard. `unavailable` are the errors by which stores say that they cannot be reached just now. `limits` count
    pages, apart from the requests of programs; without any, none are counted.
    """

    def __init__(
        self,
        pages: Sequence[Page],
        api: InProcessApi,
        people: People,
        form_secret: bytes,
        templates: Environment,
        statics: Statics,
        settings: Settings,
        *,
        unavailable: tuple[type[Exception], ...] = (),
        limits: Limiter | None = None,
        on_startup: Sequence[Callable[[], None]] = (),
        on_shutdown: Sequence[Callable[[], None]] = (),
    ) -> None:
        self._routes = Routes(pages)
        self._api, self._people, self._secret = api, people, form_secret
        self._templates, self._statics, self._settings = templates, statics, settings
        self._unavailable = unavailable
        self._addresses = Addresses(settings.trusted_proxies)
        self._ids = RequestIds()
        self._threads, self._door = ThreadPoolExecutor(_THREADS, "page"), ThreadPoolExecutor(1, "door")
        self._queue, self._limits = PageQueue(), limits
        self._on_startup, self._on_shutdown = on_startup, on_shutdown

    def warm(self) -> None:
        """Make what the first visitors would wait for: what the interface remembers, and the templates."""
        self._api.warm()
        self._people.authentication.prepare()
        for name in self._templates.list_templates(["html"]):
            self._templates.get_template(name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await lifespan(receive, send, self._on_startup, [*self._on_shutdown, self._close])
        else:
            await send({"type": "websocket.close", "code": 1000})

    def _close(self) -> None:
        for pool in (self._door, self._threads):
            pool.shutdown(cancel_futures=True)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = read_headers(scope["headers"])
        path, method = scope["path"], scope["method"]
        secure = self._secure(scope, headers)
        if method in {"GET", "HEAD"} and (file := self._statics.find(path)) is not None:
            await send_answer(send, Sent.file(file, headers), method, sending.headers(secure=secure))
            return
        visit = self._visit(scope, headers, secure)
        found = self._routes.find(path)
        began = time.perf_counter()
        try:
            sent = await self._in_time(visit, found, headers, receive)
        except HungUp:
            return
        finally:
            took = time.perf_counter() - began
            if found is not None and 0 < self._settings.slow_seconds <= took:
                log.warning("a slow page", page=found[0].path, ms=round(took * 1000, 3), request_id=visit.request_id)
        await send_answer(send, sent, method, sending.headers(secure=secure, frames=sent.frames))

    async def _in_time(self, visit: Visit, found: Found, headers: dict[bytes, bytes], receive: Receive) -> Sent:
        """The answer, as the interface has its own: within a time, and for as long as somebody waits for it. Raises HungUp."""
        if len(visit.query_string) > _QUERY_BYTES:
            return Sent.refusal(414, f"The address has more than {_QUERY_BYTES:,} characters behind its question mark.")
        body = await _body(receive) if visit.method == "POST" else b""
        deadline = Deadline(self._settings.request_seconds)
        making = asyncio.ensure_future(self._made(visit, found, headers, body, deadline))
        try:
            return await watched(making, receive, self._settings.request_seconds, deadline)
        except StoppedError:
            log.warning("given up", request_id=visit.request_id, seconds=self._settings.request_seconds)
            return Sent.refusal(503, self._late(), _RETRY_SECONDS)
        except QueueFull as full:
            whose = "of yours " if full.own else ""
            text = f"More pages {whose}are asked for at once than can be made. Ask again in some seconds."
            return Sent.refusal(429 if full.own else 503, text, _RETRY_SECONDS)

    async def _made(
        self, visit: Visit, found: Found, headers: dict[bytes, bytes], body: bytes, deadline: Deadline
    ) -> Sent:
        """The answer: who came, whether they may ask for another page, and in their turn the page."""
        failed = await self._thread(self._door, partial(self._known, visit, headers), deadline)
        if failed is not None:
            return failed
        wait = self._over_limit(visit)
        if wait:
            return Sent.refusal(
                429, "More pages were asked for than one visitor needs in a minute. Wait a little.", wait
            )
        leave = await self._queue.turn(None if visit.person is None else visit.person.account, visit.address)
        return await self._thread(self._threads, partial(self._answered, visit, found, headers, body), deadline, leave)

    async def _thread(
        self,
        pool: ThreadPoolExecutor,
        work: Callable[[], T],
        deadline: Deadline,
        afterwards: Callable[[], object] = int,
    ) -> T:
        """What `work` gives, in a thread; then, however long after nobody waits any more, `afterwards` in this event loop."""

        def waited_for() -> T:
            with deadline_scope(deadline):
                return work()

        loop = asyncio.get_running_loop()
        try:
            future = pool.submit(waited_for)
        except BaseException:
            afterwards()
            raise
        future.add_done_callback(lambda _: _call_in_loop(loop, afterwards))
        return await asyncio.wrap_future(future)

    def _over_limit(self, visit: Visit) -> int:
        """Seconds to wait where this visitor asked for too many pages in this minute, else 0. Each counts once, forms too."""
        if self._limits is None:
            return 0
        now = self._people.walltime()
        if visit.person is None:
            most = max(_LEAST_PAGES, self._settings.failures_per_minute)
            over = self._limits.fail(f"pages {visit.address}", most, now)
            return int(_MINUTE - now % _MINUTE) + 1 if over else 0
        plan = self._settings.plans.get(visit.person.plan)
        most = max(_LEAST_PAGES, 0 if plan is None else plan.requests_per_minute)
        decision = self._limits.hit(f"pages {visit.person.account}", most, now)
        return 0 if decision.admitted else decision.retry_after

    def _late(self) -> str:
        seconds = self._settings.request_seconds
        return f"This page was not made within {seconds:g} seconds and was given up. Ask for less, or later."

    def _visit(self, scope: Scope, headers: dict[bytes, bytes], secure: bool) -> Visit:
        query = scope["query_string"].decode("latin-1")
        visit = Visit(
            self._api,
            self._people,
            self._settings,
            method=scope["method"],
            path=scope["path"],
            values={},
            # One that is longer is refused.
            query=dict(parse_qsl(query, keep_blank_values=True)) if len(query) <= _QUERY_BYTES else {},
            query_string=query,
            request_id=self._ids().decode(),
            address=self._addresses.of(scope.get("client"), headers.get(b"x-forwarded-for")),
            user_agent=headers.get(b"user-agent", b"").decode("latin-1"),
            cookies=cookies.read(headers.get(b"cookie", b"").decode("latin-1")),
        )
        visit.secure = secure
        return visit

    def _secure(self, scope: Scope, headers: dict[bytes, bytes]) -> bool:
        """Cookies are for TLS alone, but on loopback: there a browser and we are one machine."""
        if self._settings.dashboard_address.startswith("https://"):
            return True
        host = headers.get(b"host", b"").decode("latin-1").rpartition(":")[0] or headers.get(b"host", b"").decode(
            "latin-1"
        )
        return host.strip("[]") not in _LOOPBACK

    # In a thread

    def _known(self, visit: Visit, headers: dict[bytes, bytes]) -> Sent | None:
        """Find out who came. The answer where that cannot be found out."""

        def recognised() -> None:
            self._recognise(visit)

        return self._guarded(visit, headers, recognised)

    def _answered(self, visit: Visit, found: Found, headers: dict[bytes, bytes], body: bytes) -> Sent:
        def answered() -> Sent:
            with self._api.one_state():
                answer = self._handled(visit, found, headers, body)
                return self._sent(visit, answer, headers, simulated=self._api.simulated())

        return self._guarded(visit, headers, answered)

    def _guarded(self, visit: Visit, headers: dict[bytes, bytes], work: Callable[[], S]) -> S | Sent:
        """What `work` gives, or the page that says what went wrong. Raises StoppedError where nobody waits for it any more."""
        try:
            return work()
        except StoppedError:
            raise
        except self._unavailable as error:
            log.exception("storage unavailable", request_id=visit.request_id, exc_info=error)
            text = "The data cannot be read just now. Try again in some seconds."
            return self._sent(visit, Html("error.html", {"status": 503, "text": text}, 503), headers)
        except Exception as error:  # a fault of ours, whatever it is: a reader gets a page, the log the cause
            log.exception("fault", request_id=visit.request_id, path=redact(visit.path[:200]), exc_info=error)
            text = "Something failed on our side. Nothing of yours was changed."
            return self._sent(visit, Html("error.html", {"status": 500, "text": text}, 500), headers)

    def _handled(self, visit: Visit, found: Found, headers: dict[bytes, bytes], body: bytes) -> Answer:
        try:
            return self._of_page(visit, found, headers, body)
        except Forbidden as error:
            return Html("error.html", {"status": 403, "text": str(error)}, 403)
        except NotFound as error:
            return Html("error.html", {"status": 404, "text": str(error)}, 404)
        except ApiError as error:
            text = f"The interface says: {error.message}."
            # A page that was refused is of no day, least of all of one that could not be read.
            visit.query = {name: value for name, value in visit.query.items() if name != "as_of"}
            return Html("error.html", {"status": error.status, "text": text}, error.status)

    def _of_page(self, visit: Visit, found: Found, headers: dict[bytes, bytes], body: bytes) -> Answer:
        if found is None:
            raise NotFound("There is no page at this address.")
        page, visit.values = found
        handler = page.post if visit.method == "POST" else page.look
        if handler is None or visit.method not in {"GET", "HEAD", "POST"}:
            return Html("error.html", {"status": 405, "text": "This address does not take that."}, 405)
        if page.who != "anyone" and visit.person is None:
            return Redirect(_sign_in(visit))
        if page.who == "operator" and visit.who.role != "operator":
            raise Forbidden("This page is for those who run the service.")
        if visit.method == "POST":
            self._read_form(visit, headers, body)
        return handler(visit)

    def _recognise(self, visit: Visit) -> None:
        """Who came, and what their forms must carry."""
        token = visit.cookies.get(cookies.named(cookies.SESSION, secure=visit.secure), "")
        if token:
            visit.session_token = token
            visit.person = self._people.person(token)
        if visit.person is None:
            token = visit.cookies.get(cookies.named(cookies.FORM, secure=visit.secure), "")
            if not token:
                cookie = cookies.form_cookie()
                token = cookie.value
                visit.set_cookies.append(cookie)
        visit.csrf = cookies.form_token(self._secret, token)
        visit.csrf_bound = token

    def _read_form(self, visit: Visit, headers: dict[bytes, bytes], body: bytes) -> None:
        """The fields of a form. Raises Forbidden for one that did not come from a page given to this browser."""
        if headers.get(b"sec-fetch-site", b"same-origin") not in {b"same-origin", b"none"}:
            raise Forbidden(_EXPIRED)
        if not headers.get(b"content-type", b"").startswith(b"application/x-www-form-urlencoded"):
            raise Forbidden(_EXPIRED)
        try:
            pairs = parse_qsl(
                body.decode("ascii"), keep_blank_values=True, max_num_fields=_FORM_FIELDS, errors="strict"
            )
        except ValueError:
            raise Forbidden("The form could not be read. Nothing was changed.") from None
        lists: dict[str, list[str]] = {}
        for name, value in pairs:
            lists.setdefault(name, []).append(value)
        token = lists.pop("csrf", [""])[0]
        if not cookies.believed(self._secret, visit.csrf_bound, token):
            raise Forbidden(_EXPIRED)
        visit.form_lists = lists
        visit.form = {name: values[0] for name, values in lists.items()}

    def _sent(self, visit: Visit, answer: Answer, asked: dict[bytes, bytes], *, simulated: bool = False) -> Sent:
        own = [(b"x-request-id", visit.request_id.encode())]
        own += [(b"set-cookie", cookies.written(cookie, secure=visit.secure)) for cookie in visit.set_cookies]
        if isinstance(answer, Redirect):
            return Sent.redirect(answer, own)
        if isinstance(answer, Download):
            sent = Sent.download(answer, own)
        else:
            text = self._templates.get_template(answer.template).render(
                answer.values,
                visit=visit,
                simulated=simulated,
                navigation=navigation(visit),
                now=_time(self._people.now()),
            )
            sent = Sent.page(text.encode(), answer, own, signed_in=visit.person is not None)
        sent.body, coding = envelope.encode(sent.body, asked.get(b"accept-encoding"))
        if coding is not None:
            sent.headers.append((b"content-encoding", coding))
        return sent


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _call_in_loop(loop: asyncio.AbstractEventLoop, afterwards: Callable[[], object]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop has ended, and all that it counted with it
        loop.call_soon_threadsafe(afterwards)


async def _body(receive: Receive) -> bytes:
    """A form's bytes, cut where they are more than any form of ours. Raises HungUp where only a part of them came."""
    parts, length = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HungUp
        part = message.get("body", b"")
        length += len(part)
        if length <= _FORM_BYTES:
            parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts) if length <= _FORM_BYTES else b"too=long&"


def _sign_in(visit: Visit) -> str:
    here = visit.path + (f"?{visit.query_string}" if visit.query_string else "")
    return "/signin" if here == "/" else f"/signin?next={quote(here, safe='/')}"
