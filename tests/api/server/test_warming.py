"""What a worker makes when it starts: waited for by whoever needs it, and by nobody else; and said by /readyz."""

import threading
import time

import pytest

from almanac import ops
from almanac.api.contract.endpoint import Endpoint, ItemAnswer
from almanac.api.server.app import App
from almanac.api.server.warming import Warming
from tests.api.server.test_logs_and_ops import ask


@pytest.fixture
def world(frame):
    """An app with an endpoint that needs what is made, and one that does not; `let` lets the making end."""
    let, made, asked = threading.Event(), [], []

    def make():
        let.wait(10)
        made.append(1)

    def handler(ctx):
        if ctx.endpoint.path == "/needs":
            ctx.awaits(bool(made))
        asked.append(len(made))
        return ItemAnswer(b"{}")

    warming = Warming(make)
    frame.app = App(
        (
            Endpoint("/needs", "needs", "", handler),
            Endpoint("/plain", "plain", "", handler),
        ),
        frame.accounts, frame.limiter, frame.open_view, frame.settings, clock=lambda: frame.now, warming=warming,
    )  # fmt: skip
    yield frame, warming, let, asked
    let.set()


def test_who_needs_it_waits_and_finds_it_made(world):
    frame, warming, let, asked = world
    warming.start()
    assert warming.under_way
    assert frame.get("/plain").status_code == 200
    threading.Timer(0.3, let.set).start()
    begun = time.monotonic()
    assert frame.get("/needs").status_code == 200
    assert 0.2 < time.monotonic() - begun < 5
    assert asked == [0, 1]
    warming._over.wait(60)
    assert (warming.under_way, warming.holds_back) == (False, False)


def test_nobody_waits_longer_than_a_request_may_take(world):
    frame, warming, _, asked = world
    warming.start()
    frame.app._seconds = 0.2
    answer = frame.get("/needs")
    assert (answer.status_code, answer.json()["error"]["details"]["reason"]) == (503, "late")
    assert asked == []


def test_nobody_waits_for_what_failed_or_was_never_begun(world):
    frame, _, _, asked = world
    assert frame.get("/needs").status_code == 200  # not begun: it makes it itself
    assert asked == [0]


def test_a_failure_ends_it():
    failing = Warming(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):  # in the thread: told to its log
        failing._run()
    failing._over.wait(60)
    assert not failing.under_way


def test_it_holds_back_for_a_while_at_most():
    let, now = threading.Event(), [0.0]
    warming = Warming(let.wait, 60, lambda: now[0])
    assert not warming.holds_back
    warming.start()
    assert warming.holds_back
    now[0] = 61.0
    assert (warming.holds_back, warming.under_way) == (False, True)
    let.set()


@pytest.mark.parametrize(("warming", "status"), [(True, 503), (False, 200)])
def test_readyz_says_that_a_worker_is_warming(monkeypatch, warming, status):
    monkeypatch.setattr(ops.Worker, "is_warming", lambda _: warming)
    answer = ask(ops.create(lambda: 12, worker=ops.Worker("127.0.0.1", 1, "/x")), "/readyz")
    assert answer.status_code == status
    assert answer.json() == (
        {"ready": False, "reason": "a worker is warming"} if warming else {"ready": True, "dataVersion": 12}
    )
