"""What the dashboard bounds as the interface does: how many pages, for how long, for whom, and not for those who left."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from argon2 import PasswordHasher
from jinja2 import DictLoader, Environment, StrictUndefined

from almanac.api.use.limits import Limiter
from almanac.dashboard import app as module
from almanac.dashboard import queue
from almanac.dashboard.app import Dashboard
from almanac.dashboard.asking import InProcessApi
from almanac.dashboard.cookies import form_token
from almanac.dashboard.explorer.screeners import rows_of
from almanac.dashboard.statics import Statics
from almanac.dashboard.visit import Answer, Download, Page, Visit
from almanac.reports.filter_text import MOST_CLAUSES
from almanac.store.accounts.authentication import Authentication
from almanac.store.accounts.passwords import Passwords
from almanac.store.engine.deadline import check_deadline, deadline_passed
from tests.support.page_visitor import NOW, dashboard, signed_in
from tests.support.service import REAL_NOW, Service

from .test_app import TEMPLATES, Two

#: Longer than anything here takes, and no failing test waits longer.
LONG = 20.0


class Slow:
    """Pages that are made for as long as somebody waits for them and `done` is not set; `begun` counts them by who asked."""

    def __init__(self) -> None:
        self.done, self.begun, self.ended = threading.Event(), Counter[str](), Counter[str]()

    def __call__(self, visit: Visit) -> Answer:
        who = visit.person.account if visit.person else visit.address
        self.begun[who] += 1
        while not deadline_passed() and not self.done.wait(0.01):
            pass
        self.ended[who] += 1
        check_deadline()  # as whatever reads the store does
        return Download(b"slow", "text/plain")


@pytest.fixture
def slow() -> Iterator[Slow]:
    one = Slow()
    yield one
    one.done.set()


def made(service: Service, slow: Slow, *, limits: Any = None, **settings: Any) -> Dashboard:
    pages = (
        Page("/slow", slow),
        Page("/slow-for-anyone", slow, slow, who="anyone"),
        Page("/slow-sign-in", None, slow, who="anyone", hashes=True),
        Page("/sign-in", None, lambda _: Download(b"in", "text/plain"), who="anyone", hashes=True),
        Page("/quick", lambda _: Download(b"quick", "text/plain")),
        Page("/quick-for-anyone", lambda _: Download(b"quick", "text/plain"), who="anyone"),
    )
    api = InProcessApi(
        service.endpoints, b"c" * 32, service.reader.view, service.settings, clock=service.settings.clock
    )
    templates = Environment(loader=DictLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    chosen = msgspec.structs.replace(service.settings, **settings)
    return Dashboard(pages, api, Two(), b"f" * 32, templates, Statics(), chosen, limits=limits)


class Client:
    """One request, sent as a server passes it on; `leave` hangs up."""

    def __init__(self, app: Dashboard, path: str, who: str | None = None, *, address: str = "10.0.0.1", post: bytes | None = None, more: bool = True, cookie: bytes = b"") -> None:  # fmt: skip
        self._left = asyncio.Event()
        self._body = [{"type": "http.request", "body": post or b"", "more_body": post is not None and more}]
        kept = cookie if who is None else f"almanac={who}".encode()
        scope = {
            "type": "http", "method": "GET" if post is None else "POST", "path": path, "query_string": b"", "client": (address, 1),
            "headers": [(b"host", b"127.0.0.1:8001"), (b"cookie", kept), (b"content-type", b"application/x-www-form-urlencoded")], "http_version": "1.1",
        }  # fmt: skip
        self.sent: list[dict[str, Any]] = []
        self.task = asyncio.ensure_future(app(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        if self._body:
            return self._body.pop()
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        self.sent.append(message)

    def leave(self) -> None:
        self._left.set()

    async def status(self) -> int:
        """What it was answered; 499: nobody waited for it."""
        await asyncio.wait_for(asyncio.shield(self.task), LONG)
        return self.sent[0]["status"] if self.sent else 0


async def until(what: Any) -> None:
    async with asyncio.timeout(LONG):
        while not what():  # noqa: ASYNC110  (what is waited for happens in threads)
            await asyncio.sleep(0.01)


def test_one_visitors_slow_pages_do_not_keep_another_waiting(service: Service, slow: Slow) -> None:
    app = made(service, slow, request_seconds=LONG)

    async def go() -> None:
        many = [Client(app, "/slow", "ada") for _ in range(10)]
        many += [Client(app, "/slow-for-anyone", address=f"10.0.0.{n}") for n in range(10)]
        await until(lambda: sum(slow.begun.values()) == 4)
        assert slow.begun["acc_ada"] == 2
        slow.done.set()
        assert {await one.status() for one in many} == {200}

    asyncio.run(go())


def test_strangers_together_keep_two_threads_for_those_who_are_signed_in(service: Service, slow: Slow) -> None:
    app = made(service, slow, request_seconds=LONG)

    async def go() -> None:
        for n in range(20):
            Client(app, "/slow-for-anyone", address=f"10.0.0.{n}")
        await until(lambda: sum(slow.begun.values()) == 2)
        assert await Client(app, "/quick", "ada").status() == 200

    asyncio.run(go())


def signing_in(app: Dashboard, path: str, address: str) -> Client:
    """A form with a password, from a browser that was given it."""
    body = f"csrf={form_token(b'f' * 32, 'abc')}".encode()
    return Client(app, path, address=address, post=body, more=False, cookie=b"almanac-form=abc")


def test_passwords_are_checked_apart_and_in_a_queue_of_each_network(service: Service, slow: Slow) -> None:
    app = made(service, slow, request_seconds=LONG)

    async def go() -> None:
        many = [signing_in(app, "/slow-sign-in", f"2001:db8::{n:x}") for n in range(40)]
        await until(lambda: slow.begun.total() == 1 and sum(one.task.done() for one in many) == 8)
        quick = [
            Client(app, "/quick-for-anyone", address="2001:db8::1"), Client(app, "/quick-for-anyone", address="10.0.0.2"),
            Client(app, "/quick", "ada"), signing_in(app, "/sign-in", "10.0.0.2"), signing_in(app, "/sign-in", "2001:db8:0:1::1"),
        ]  # fmt: skip
        assert [await one.status() for one in quick] == [200] * 5
        assert slow.begun.total() == 1
        slow.done.set()
        assert Counter([await one.status() for one in many]) == {200: 32, 429: 8}

    asyncio.run(go())


def test_who_has_left_is_waited_for_no_longer(service: Service, slow: Slow) -> None:
    app = made(service, slow, request_seconds=LONG)

    async def go() -> None:
        gone = [Client(app, "/slow", "ada") for _ in range(30)]
        await until(lambda: slow.begun["acc_ada"] == 2)
        for one in gone:
            one.leave()
        assert [await one.status() for one in gone] == [499] * 30
        # Those under way end, those that waited never began, and the next has its turn.
        await until(lambda: slow.ended["acc_ada"] == 2)
        assert await Client(app, "/quick", "ada").status() == 200
        assert slow.begun["acc_ada"] == 2

    asyncio.run(go())


def test_a_page_that_takes_too_long_is_given_up(service: Service, slow: Slow) -> None:
    app = made(service, slow, request_seconds=0.2)

    async def go() -> None:
        one = Client(app, "/slow", "ada")
        assert await one.status() == 503
        assert dict(one.sent[0]["headers"])[b"retry-after"] == b"5"
        assert b"not made within 0.2 seconds" in one.sent[1]["body"]
        await until(lambda: slow.ended["acc_ada"] == 1)

    asyncio.run(go())


def test_no_more_wait_than_can_be_answered(service: Service, slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "_OF_ALL", 36)
    app = made(service, slow, request_seconds=LONG)

    async def go() -> None:
        for _ in range(32):
            Client(app, "/slow", "ada")
        await until(lambda: app._queue.length == 32)
        assert await Client(app, "/quick", "ada").status() == 429
        assert await Client(app, "/quick", "op").status() == 200
        for n in range(4):
            Client(app, "/slow-for-anyone", address=f"10.0.0.{n}")
        await until(lambda: app._queue.length == 36)
        assert await Client(app, "/quick", "op").status() == 503
        slow.done.set()
        await until(lambda: app._queue.length == 0)

    asyncio.run(go())


@pytest.mark.slow
def test_pages_are_counted_by_account_and_strangers_by_address(
    service: Service, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LEAST_PAGES", 3)
    limits = Limiter()
    app = made(service, slow, limits=limits, failures_per_minute=3)
    module_least, free = module._LEAST_PAGES, service.settings.plans["pro"].requests_per_minute

    async def go() -> None:
        assert [await Client(app, "/quick-for-anyone").status() for _ in range(4)] == [200, 200, 200, 429]
        assert await Client(app, "/quick-for-anyone", address="10.0.0.2").status() == 200
        most = max(module_least, free)
        while limits.hit("pages acc_ada", most, REAL_NOW + 18.0).remaining:
            pass
        one = Client(app, "/quick", "ada")
        assert await one.status() == 429
        assert 0 < int(dict(one.sent[0]["headers"])[b"retry-after"]) <= 60
        assert await Client(app, "/quick", "op").status() == 200
        # The requests of the account's programs are not touched.
        assert limits.hit("acc_ada", most, REAL_NOW + 18.0).remaining == most - 1

    asyncio.run(go())


def test_of_a_form_that_came_in_part_nothing_is_done(service: Service, slow: Slow) -> None:
    app = made(service, slow)

    async def go() -> None:
        one = Client(app, "/slow-for-anyone", post=b"csrf=")
        one.leave()
        assert await one.status() == 499
        assert not slow.begun

    asyncio.run(go())


def test_an_address_that_is_too_long_is_refused_before_it_is_read(service: Service) -> None:
    browser = signed_in(dashboard(service))
    answer = browser.get("/countries", as_of="1" * 20_000)
    assert (answer.status_code, "16,384 characters" in answer.text) == (414, True)


@pytest.mark.parametrize("clause", ["", "gov_yield_10y:gt:0"])
def test_a_filter_of_thousands_of_clauses_costs_no_more_than_one_of_as_many_as_are_allowed(
    service: Service, clause: str
) -> None:
    asked: list[str] = []
    app = dashboard(service)
    ask = app._api.ask
    app._api.ask = lambda account, plan, path, params=None: (asked.append(path), ask(account, plan, path, params))[1]
    rows = rows_of(",".join([clause] * (7_900 // (1 + len(clause)))), {})
    assert len(rows) == MOST_CLAUSES + 1
    assert "one too many" in rows[-1].error
    browser = signed_in(app)
    answer = browser.get(f"/screeners/macro?filter={','.join([clause] * (7_900 // (1 + len(clause))))}")
    assert answer.status_code == 200
    assert f"at most {MOST_CLAUSES} are allowed" in answer.text
    assert 0 < len(asked) < 2 * MOST_CLAUSES + 10


class Counted(PasswordHasher):
    """Counts what costs a tenth of a second each."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.done = 0

    def hash(self, *args: Any, **more: Any) -> str:
        self.done += 1
        return super().hash(*args, **more)

    def verify(self, *args: Any, **more: Any) -> Any:
        self.done += 1
        return super().verify(*args, **more)


def test_wrong_passwords_cost_nothing_once_somebody_has_to_wait(service: Service) -> None:
    hasher = Counted()
    authentication = Authentication(service.accounts, Passwords(hasher))
    email = service.accounts.list_accounts()[0].email
    authentication.set_password(email, "correct horse battery", now=NOW)
    account = service.accounts.account(email)
    hasher.done = 0
    found = [
        authentication.change_password(account, "web_1", "wrong", "another long password", address="10.9.9.9", now=NOW)
        for _ in range(40)
    ]
    assert [one.reason for one in found] == ["wrong"] * 5 + ["wait"] * 35
    assert hasher.done == 5


def test_the_first_unknown_address_waits_no_longer_than_the_others() -> None:
    hasher = Counted()
    passwords = Passwords(hasher)
    passwords.prepare()
    hasher.done = 0
    assert passwords.check("x", None) == (False, None)
    assert hasher.done == 1
