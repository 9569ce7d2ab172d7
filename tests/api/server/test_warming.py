"""What a worker makes when it starts: no request waits for it, and /readyz says so."""

import asyncio
import threading

import pytest
from structlog.testing import capture_logs

from almanac import ops
from almanac.api.contract.endpoint import Endpoint, ItemAnswer
from almanac.api.server import app
from tests.api.server.test_logs_and_ops import ask


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
def test_readyz_says_that_a_worker_is_warming(monkeypatch, warming, status):
    monkeypatch.setattr(ops.Worker, "is_warming", lambda _: warming)
    answer = ask(ops.create(lambda: 12, worker=ops.Worker("127.0.0.1", 1, "/x")), "/readyz")
    assert answer.status_code == status
    assert answer.json() == (
        {"ready": False, "reason": "a worker is warming"} if warming else {"ready": True, "dataVersion": 12}
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
