"""The application: routes to pages, who may see them, each made in a thread, and what is said when something went wrong."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar
from urllib.parse import parse_qsl, quote

import structlog
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from almanac.api.contract.errors import ApiError, redact
from almanac.api.server.authentication import Addresses
from almanac.api.server.envelope import encode
from almanac.api.server.threads import ClientDisconnected, watched
from almanac.api.use.limits import Limiter
from almanac.config import Settings
from almanac.dashboard import cookies
from almanac.dashboard.asking import InProcessApi
from almanac.dashboard.middleware import CommonHeaders, frame_policy
from almanac.dashboard.people import People
from almanac.dashboard.queue import PageQueue, QueueFull
from almanac.dashboard.site import navigation
from almanac.dashboard.statics import Statics
from almanac.dashboard.visit import (
    Answer,
    Download,
    Forbidden,
    Handler,
    Html,
    NotFound,
    Page,
    Redirect,
    Visit,
    leads_here,
)
from almanac.store.accounts.throttle import network
from almanac.store.engine.deadline import Deadline, deadline_scope
from almanac.store.engine.errors import StoppedError

log = structlog.get_logger("almanac.dashboard")

#: A form's bytes and fields; nobody types more.
_FORM_BYTES, _FORM_FIELDS = 64 * 1024, 200
_QUERY_BYTES = 16 * 1024
#: Pages made at a time, and of them of one visitor, or of all together who are not signed in: neither keeps the others waiting.
#: Each thread has the store open, with a memory of its own.
_THREADS, _OF_VISITOR = 4, 2
_STRANGERS = "strangers"
#: Forms with a password that are read at a time, and of them from one network. Each hash takes 64 MiB while it is made: more at
#: once would let strangers fill the memory.
_HASHING_THREADS, _OF_NETWORK = 2, 1
#: Pages a minute that a visitor may ask for, whatever the plan: suggestions while one types are pages too.
_LEAST_PAGES, _MINUTE = 300, 60
_RETRY_SECONDS = 5
#: The status of an answer that nobody waits for any more, as nginx has it. It is never seen.
_CLIENT_GONE = 499
#: A page that was shown once is kept nowhere; one of somebody signed in is asked for anew each time.
_NOWHERE, _ANEW = "no-store", "private, no-cache"
_EXPIRED = "This form had been open too long. Nothing was changed."
_ERRORS = {404: "There is no page at this address.", 405: "This address does not take that."}

T = TypeVar("T")


class Dashboard(Starlette):
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
        self._api, self._people, self._secret = api, people, form_secret
        self._templates, self._settings, self._unavailable = templates, settings, unavailable
        self._addresses, self._limits = Addresses(settings.trusted_proxies), limits
        self._door, self._threads = ThreadPoolExecutor(1, "door"), ThreadPoolExecutor(_THREADS, "page")
        self._hashing = ThreadPoolExecutor(_HASHING_THREADS, "hashing")
        self._queue, self._hashing_queue = PageQueue(_OF_VISITOR), PageQueue(_OF_NETWORK)

        @contextlib.asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            for callback in on_startup:
                callback()
            yield
            for callback in on_shutdown:
                callback()
            for pool in (self._door, self._threads, self._hashing):
                pool.shutdown(cancel_futures=True)

        # A literal path wins over one with a name in it.
        routes = [
            Route(page.path, partial(self._page, page), methods=page.methods)
            for page in sorted(pages, key=lambda page: "{" in page.path)
        ]
        super().__init__(
            routes=[Mount(statics.base, statics), *routes],
            middleware=[Middleware(CommonHeaders, https=settings.dashboard_address.startswith("https://"))],
            exception_handlers={HTTPException: self._http_error},
            lifespan=lifespan,
        )
        self.router.redirect_slashes = False

    def warm(self) -> None:
        """Make what the first visitors would wait for: what the interface remembers, and the templates."""
        self._api.warm()
        self._people.authentication.prepare()
        for name in self._templates.list_templates(["html"]):
            self._templates.get_template(name)

    async def _page(self, page: Page, request: Request) -> Response:
        began = time.perf_counter()
        try:
            form = await _form_bytes(request) if request.method == "POST" else b""
        except ClientDisconnect:
            return Response(status_code=_CLIENT_GONE)
        hashes = page.hashes and request.method == "POST"
        response = await self._answer(request, partial(self._handle, page, form), hashes=hashes)
        took = time.perf_counter() - began
        if 0 < self._settings.slow_seconds <= took:
            log.warning("a slow page", page=page.path, ms=round(took * 1000, 3), request_id=request.state.request_id)
        return response

    async def _http_error(self, request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            raise error
        text = _ERRORS.get(error.status_code, error.detail)
        response = await self._answer(request, lambda _: _error_page(error.status_code, text))
        response.headers.update(error.headers or {})
        return response

    async def _answer(self, request: Request, handler: Handler, *, hashes: bool = False) -> Response:
        """Return what `handler` answers, or why it does not: within a time, and for as long as somebody waits for it."""
        if len(request.scope["query_string"]) > _QUERY_BYTES:
            return _refusal(414, f"The address has more than {_QUERY_BYTES:,} characters behind its question mark.")
        seconds = self._settings.request_seconds
        deadline = Deadline(seconds)
        making = self._in_turn(self._visit(request), handler, deadline, hashes=hashes)
        try:
            return await watched(asyncio.ensure_future(making), request.receive, deadline)
        except ClientDisconnected:
            return Response(status_code=_CLIENT_GONE)
        except StoppedError:
            log.warning("given up", request_id=request.state.request_id, seconds=seconds)
            text = f"This page was not made within {seconds:g} seconds and was given up. Ask for less, or later."
            return _refusal(503, text, _RETRY_SECONDS)
        except QueueFull as full:
            whose = "of yours " if full.own else ""
            text = f"More pages {whose}are asked for at once than can be made. Ask again in some seconds."
            return _refusal(429 if full.own else 503, text, _RETRY_SECONDS)

    async def _in_turn(self, visit: Visit, handler: Handler, deadline: Deadline, *, hashes: bool) -> Response:
        """Find out who came and whether they may ask for another page, and make it in their turn."""
        recognised = partial(self._guarded, visit, partial(self._recognise, visit))
        failed = await _in_thread(self._door, recognised, deadline)
        if failed is not None:
            return failed
        wait = self._seconds_over_limit(visit)
        if wait:
            text = "More pages were asked for than one visitor needs in a minute. Wait a little."
            return _refusal(429, text, wait)
        made = partial(self._guarded, visit, partial(self._make, visit, handler))
        if hashes:
            leave = await self._hashing_queue.turn(network(visit.address))
            return await _in_thread(self._hashing, made, deadline, leave)
        if visit.person is None:
            leave = await self._queue.turn(f"network {network(visit.address)}", _STRANGERS)
        else:
            leave = await self._queue.turn(f"account {visit.person.account}")
        return await _in_thread(self._threads, made, deadline, leave)

    def _seconds_over_limit(self, visit: Visit) -> int:
        """Return how long a visitor who asked for too many pages in this minute must wait, else 0. Each counts once, forms too."""
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

    def _visit(self, request: Request) -> Visit:
        forwarded = ",".join(request.headers.getlist("x-forwarded-for")).encode("latin-1")
        address = self._addresses.of(request.scope.get("client"), forwarded or None)
        kept = cookies.read(";".join(request.headers.getlist("cookie")))
        return Visit(self._api, self._people, self._settings, request, address=address, cookies=kept)

    # In a thread

    def _guarded(self, visit: Visit, work: Callable[[], T]) -> T | Response:
        """Return what `work` gives, or the page that says what went wrong. Raises StoppedError if nobody waits for it any more."""
        try:
            return work()
        except StoppedError:
            raise
        except self._unavailable as error:
            log.exception("storage unavailable", request_id=visit.request_id, exc_info=error)
            return self._response(
                visit, _error_page(503, "The data cannot be read just now. Try again in some seconds.")
            )
        except Exception as error:  # a fault of ours, whatever it is: a reader gets a page, the log the cause
            log.exception("fault", request_id=visit.request_id, path=redact(visit.path[:200]), exc_info=error)
            return self._response(
                visit, _error_page(500, "Something failed on our side. Nothing of yours was changed.")
            )

    def _recognise(self, visit: Visit) -> None:
        """Find out who came, and what their forms must carry."""
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

    def _make(self, visit: Visit, handler: Handler) -> Response:
        """Make a page from one state of the store."""
        with self._api.one_state():
            try:
                answer = handler(visit)
            except Forbidden as error:
                answer = _error_page(403, str(error))
            except NotFound as error:
                answer = _error_page(404, str(error))
            except ApiError as error:
                # A page that was refused is of no day, least of all of one that could not be read.
                visit.query = {name: value for name, value in visit.query.items() if name != "as_of"}
                answer = _error_page(error.status, f"The interface says: {error.message}.")
            return self._response(visit, answer, simulated=self._api.simulated())

    def _handle(self, page: Page, form: bytes, visit: Visit) -> Answer:
        """Call the handler of a page, for those who may see it."""
        if page.who != "anyone" and visit.person is None:
            here = visit.path + (f"?{visit.query_string}" if visit.query_string else "")
            return Redirect("/signin" if here == "/" else f"/signin?next={quote(here, safe='/')}")
        if page.who == "operator" and visit.who.role != "operator":
            raise Forbidden("This page is for those who run the service.")
        if visit.method == "POST":
            self._read_form(visit, form)
        handler = page.post if visit.method == "POST" else page.look
        if handler is None:
            raise TypeError(f"{page.path} was routed {visit.method}, which it does not take")
        return handler(visit)

    def _read_form(self, visit: Visit, body: bytes) -> None:
        """Read the fields of a form. Raises Forbidden for one that did not come from a page given to this browser."""
        headers = visit.request.headers
        if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            raise Forbidden(_EXPIRED)
        if not headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
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

    def _response(self, visit: Visit, answer: Answer, *, simulated: bool = False) -> Response:
        """Return an answer as it goes out. Raises ValueError for a redirect to any address but one of the dashboard."""
        accepted, coding = visit.request.headers.get("accept-encoding", "").encode("latin-1"), None
        response: Response
        if isinstance(answer, Redirect):
            if not leads_here(answer.to):
                raise ValueError(f"not an address of the dashboard: {answer.to!r}")
            response = RedirectResponse(answer.to, answer.status, {"cache-control": _NOWHERE})
        elif isinstance(answer, Download):
            body, coding = encode(answer.body, accepted)
            response = Response(body, answer.status, {"cache-control": _ANEW}, answer.media_type)
            if answer.filename is not None:
                response.headers["content-disposition"] = f'attachment; filename="{answer.filename}"'
        else:
            text = self._templates.get_template(answer.template).render(
                answer.values,
                visit=visit,
                simulated=simulated,
                navigation=navigation(visit),
                now=datetime.fromtimestamp(self._people.now(), UTC),
            )
            body, coding = encode(text.encode(), accepted)
            kept = _NOWHERE if answer.secret or visit.person is None or answer.status != 200 else _ANEW
            response = HTMLResponse(body, answer.status, {"cache-control": kept, "vary": "cookie, accept-encoding"})
            if answer.frames:
                response.headers["content-security-policy"] = frame_policy(answer.frames)
        if coding is not None:
            response.headers["content-encoding"] = coding.decode()
        for cookie in visit.set_cookies:
            cookies.write(response, cookie, secure=visit.secure)
        return response


def _error_page(status: int, text: str) -> Html:
    return Html("error.html", {"status": status, "text": text}, status)


def _refusal(status: int, text: str, wait: int | None = None) -> Response:
    """Return a sentence in place of a page: what is refused must cost less than what was asked for. `wait`: seconds."""
    headers = {"cache-control": _NOWHERE} | ({} if wait is None else {"retry-after": str(wait)})
    return PlainTextResponse(f"{text}\n", status, headers)


async def _form_bytes(request: Request) -> bytes:
    """Return a form's bytes. Raises ClientDisconnect if only a part of them came, and HTTPException 413 for too many."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _FORM_BYTES:
            raise HTTPException(413, f"A form has at most {_FORM_BYTES:,} bytes. Nothing was changed.")
    return body


async def _in_thread(
    pool: ThreadPoolExecutor, work: Callable[[], T], deadline: Deadline, afterwards: Callable[[], object] | None = None
) -> T:
    """Return what `work` gives, in a thread. When that has ended, which may be long after a cancellation, call `afterwards`."""

    def until_deadline() -> T:
        with deadline_scope(deadline):
            return work()

    loop = asyncio.get_running_loop()
    future = pool.submit(until_deadline)
    if afterwards is not None:
        # A loop that has ended counts no longer.
        future.add_done_callback(lambda _: loop.is_closed() or loop.call_soon_threadsafe(afterwards))
    return await asyncio.wrap_future(future)
