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
    warming.wait()
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
    failing.wait()
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
    short = Warming(threading.Event().wait, 0.05)
    short.start()
    short.wait()  # comes back
    assert short.under_way


def test_readyz_says_that_a_worker_is_warming():
    found = [ops.Answering(2, 1)]
    app = ops.create(lambda: 12, answering=lambda: found[0])
    answer = ask(app, "/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"ready": False, "reason": "a worker is warming", "workers": 2}
    found[0] = ops.Answering(2)
    assert ask(app, "/readyz").json() == {"ready": True, "dataVersion": 12, "workers": 2}


def test_a_worker_that_became_warm_meanwhile_counts_once_and_as_warm(monkeypatch):
    told = iter([(b"1", True), (b"1", False), (b"2", True)])
    workers = ops.Workers("127.0.0.1", 1, "/x", 2)
    monkeypatch.setattr(workers, "_ask", lambda: next(told))
    assert workers.answering() == ops.Answering(2, 1)
