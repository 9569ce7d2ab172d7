"""What is logged and counted, and the operations listener."""

import asyncio
import contextlib
import gc
import io
import json
import threading
import time
import weakref
from datetime import datetime, timedelta

import httpx2
import pytest
import structlog
from prometheus_client import REGISTRY, CollectorRegistry, Counter
from structlog.testing import capture_logs

from almanac import ops
from almanac.api.contract.endpoint import Endpoint, ItemAnswer
from almanac.api.server import app, logs
from almanac.api.server.app import App
from almanac.api.server.threads import Threads
from almanac.config import Settings
from almanac.store.engine import opening
from almanac.store.engine.deadline import Deadline
from almanac.store.engine.errors import StoppedError, UnavailableError


def test_access_log(frame, monkeypatch):
    """One line per request: ids, method, path template, status, account, key prefix; never the key or the query."""
    stream = io.BytesIO()
    monkeypatch.setattr(logs.access, "stream", stream)
    answer = frame.get("/indicators/cpi", x_request_id="theirs")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert len(lines) == 1
    ms = lines[0].pop("ms")
    assert ms > 0
    stamp = lines[0].pop("timestamp")
    assert datetime.fromisoformat(stamp).utcoffset() == timedelta(0)
    assert lines[0] == {
        "event": "request",
        "level": "info",
        "request_id": answer.headers["x-request-id"],
        "client_request_id": "theirs",
        "method": "GET",
        "path": "/indicators/{idOrSlug}",
        "status": 200,
        "account": "acc_pro",
        "key": "alm_PPPP",
    }


def test_no_access_log_below_its_level(frame, monkeypatch):
    """A service told to log warnings only writes nothing about a good request."""
    stream = io.BytesIO()
    before = structlog.get_config()
    try:
        logs.configure("warning", stream)
        frame.get("/indicators/cpi")
    finally:
        structlog.configure(**before)
        logs.access.stream = None
    assert stream.getvalue() == b""


def test_keys_never_reach_the_log(frame):
    """The value is redacted from every log; a long foreign id is cut."""
    stream = io.BytesIO()
    before = structlog.get_config()
    try:
        logs.configure("info", stream)
        frame.get(f"/coverage?api_key={frame.PRO}", frame.FREE, x_request_id=f"x{frame.PRO}")
        frame.get(f"/{frame.PRO}", frame.PRO, x_request_id="y" * 1000)
        frame.get("/indicators/broken", frame.PRO)
        structlog.get_logger().info("deep", told={"in": [f"k {frame.FREE}"]})
    finally:
        structlog.configure(**before)
        logs.access.stream = None
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["request", "request", "fault", "request", "deep"]
    assert lines[0]["client_request_id"] == "x[redacted]"
    assert len(lines[1]["client_request_id"]) == 128
    assert "RuntimeError: secret path /data/[redacted]" in lines[2]["exception"]
    assert lines[4]["told"] == {"in": ["k [redacted]"]}
    assert frame.PRO not in stream.getvalue().decode()
    assert frame.FREE not in stream.getvalue().decode()


def test_log_level():
    """An unknown level is refused with what is allowed."""
    with pytest.raises(ValueError, match="one of debug, info"):
        logs.configure("loud")


def test_counts(frame):
    """Requests by path template, method and status; unknown paths and methods share one label."""
    labels = {"path": "/coverage", "method": "GET", "status": "200"}
    other = {"path": "other", "method": "other", "status": "404"}
    before = [REGISTRY.get_sample_value("almanac_requests_total", item) or 0 for item in (labels, other)]
    frame.get("/coverage")
    frame.request("BREW", "/teapot")
    after = [REGISTRY.get_sample_value("almanac_requests_total", item) for item in (labels, other)]
    assert after == [before[0] + 1, before[1] + 1]


def ask(app, path):
    async def send():
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://ops.example") as client:
            return await client.get(path)

    return asyncio.run(send())


@pytest.fixture
def home(tmp_path):
    """Settings of a home with an empty store."""
    chosen = Settings(home=tmp_path)
    opening.create(chosen.data_place).close()
    return chosen


def test_ops(home):
    """`/healthz`, `/readyz`, `/metrics`, without a key."""
    registry = CollectorRegistry()
    Counter("invented", "An invented counter.", registry=registry).inc(3)
    app = ops.application(home, registry=registry)
    assert (ask(app, "/healthz").status_code, ask(app, "/healthz").text) == (200, "ok")
    assert ask(app, "/readyz").json() == {"ready": True, "dataVersion": 0}
    shown = ask(app, "/metrics").text
    assert "invented_total 3.0" in shown
    assert "almanac_store_readable 1.0" in shown


def test_not_ready(tmp_path):
    """A store that cannot be read: 503, the reason without internals; alive all the same."""
    (tmp_path / "data.db").write_text("no database")
    app = ops.application(Settings(home=tmp_path))
    with capture_logs() as lines:
        answer = ask(app, "/readyz")
    ((event, reason),) = [(line["event"], line["reason"]) for line in lines if "exc_info" not in line]
    assert event == "not ready"
    assert "not a database" in reason
    assert answer.status_code == 503
    assert answer.json() == {"ready": False, "reason": "the store cannot be read"}
    assert ask(app, "/healthz").status_code == 200


def test_metrics_of_several_workers(home, tmp_path, monkeypatch):
    """With a folder of several workers, their counters are added up; an empty one has none."""
    (tmp_path / "metrics").mkdir()
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path / "metrics"))
    assert "almanac_requests_total" not in ask(ops.application(home), "/metrics").text


def test_warming(frame):
    """Endpoints make what first requests would wait for; what fails is told, and neither stops the rest nor the service."""
    asked = []

    def fail(_view, _now):
        raise OSError("the disk is gone")

    def endpoint(path, warm):
        return Endpoint(path, path.strip("/"), "", lambda _: ItemAnswer(b"{}"), warm=warm)

    endpoints = (
        endpoint("/bad", fail),
        endpoint("/cold", None),
        endpoint("/good", lambda view, now: asked.append((view, now))),
    )
    app = App(endpoints, frame.accounts, frame.limiter, frame.open_view, frame.settings, clock=lambda: frame.now)
    with capture_logs() as lines:
        app.warm()
    assert asked == [(frame.view, frame.now)]
    assert [(one["event"], one["path"], one["reason"]) for one in lines] == [("not warmed", "/bad", "the disk is gone")]
    frame.broken = UnavailableError("not there yet")
    with capture_logs() as lines:
        app.warm()
    assert [one["path"] for one in lines] == ["/bad", "/good"]


# What a failed request was reading is let go of as soon as it is answered: no cycle of references keeps it.


class Rows:
    """What is being read."""


async def stays():
    """A client that waits."""
    await asyncio.Event().wait()


async def in_a_thread(work):
    threads = Threads(2)
    try:
        await threads.heavy("one", "/observations", work, stays, Deadline(60))
    finally:
        threads.close()


def test_rows_of_a_request_that_failed_are_let_go_of():
    read = []

    def work():
        rows = Rows()
        read.append(weakref.ref(rows))
        raise StoppedError("nobody waits")

    async def run():
        with contextlib.suppress(StoppedError):
            await in_a_thread(work)

    gc.collect()
    gc.disable()
    try:
        asyncio.run(run())
        until = time.monotonic() + 5  # the thread comes to its end a moment later
        while read[0]() is not None and time.monotonic() < until:
            time.sleep(0.01)
        assert read[0]() is None
    finally:
        gc.enable()


# -- what a worker makes when it starts: no request waits for it, and /readyz says so ---------------------------------


class Worker:
    """An app whose warm-up lasts until it is let go."""

    def __init__(self, frame, fails=False):
        self.let = threading.Event()

        def warm(_view, _now):
            self.let.wait(10)
            if fails:
                raise OSError("the disk is gone")

        endpoint = Endpoint("/plain", "plain", "", lambda _: ItemAnswer(b"{}"), warm=warm)
        frame.app = self.app = app.App(
            (endpoint,),
            frame.accounts,
            frame.limiter,
            frame.open_view,
            frame.settings,
            clock=lambda: frame.now,
            warms=True,
        )

    def play(self, during):
        """Start the app, have something done, and stop it."""

        async def run():
            inbox, sent = asyncio.Queue(), asyncio.Queue()
            inbox.put_nowait({"type": "lifespan.startup"})
            playing = asyncio.ensure_future(self.app({"type": "lifespan"}, inbox.get, sent.put))
            assert (await sent.get())["type"] == "lifespan.startup.complete"
            await asyncio.to_thread(during)
            inbox.put_nowait({"type": "lifespan.shutdown"})
            assert (await sent.get())["type"] == "lifespan.shutdown.complete"
            await playing

        asyncio.run(run())


@pytest.mark.parametrize("fails", [False, True])
def test_requests_are_answered_while_it_lasts_and_it_ends_whatever_fails(frame, fails):
    worker = Worker(frame, fails)
    assert not worker.app.is_warming

    def during():
        assert worker.app.is_warming
        assert frame.get("/plain").status_code == 200
        worker.let.set()
        assert worker.app._warmed.wait(60)
        assert not worker.app.is_warming

    worker.play(during)


def test_it_holds_back_for_a_while_at_most(frame, monkeypatch):
    monkeypatch.setattr(app, "_WARMING_SECONDS", 0.0)
    worker = Worker(frame)

    def during():
        assert not worker.app.is_warming
        worker.let.set()

    worker.play(during)


@pytest.mark.parametrize(("warming", "status"), [(True, 503), (False, 200)])
def test_readyz_says_that_a_worker_is_warming(home, monkeypatch, warming, status):
    monkeypatch.setattr(ops, "is_warming", lambda *_: warming)
    answer = ask(ops.application(home, "/x"), "/readyz")
    assert answer.status_code == status
    assert answer.json() == (
        {"ready": False, "reason": "a worker is warming"} if warming else {"ready": True, "dataVersion": 0}
    )


def test_a_fault_at_the_start_is_told_to_the_server_and_logged(frame):
    failing = app.App(
        (), frame.accounts, frame.limiter, frame.open_view, frame.settings, clock=lambda: frame.now,
        on_startup=[lambda: 1 / 0],
    )  # fmt: skip
    sent = []

    async def receive():
        return {"type": "lifespan.startup"}

    async def send(message):
        sent.append(message["type"])

    with capture_logs() as lines, pytest.raises(ZeroDivisionError):
        asyncio.run(failing({"type": "lifespan"}, receive, send))
    assert sent == ["lifespan.startup.failed"]
    assert [line["event"] for line in lines] == ["lifespan failed"]
