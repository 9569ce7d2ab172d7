"""Heavy requests: few of one account at a time; ended when nobody waits for them any more."""

import asyncio
import threading
from dataclasses import replace

import pytest
from prometheus_client import REGISTRY

from almanac.api.contract.errors import ApiError
from almanac.api.server.app import App
from almanac.api.server.request import Reply
from almanac.api.server.threads import ClientDisconnected, Threads
from almanac.api.use import metrics
from almanac.store.engine.deadline import Deadline, check_deadline, deadline_passed
from almanac.store.engine.errors import StoppedError

from ..conftest import PRO


async def stays():
    """A client that waits."""
    await asyncio.Event().wait()


def until_over():
    """Work without end, but for somebody who waits."""
    while not deadline_passed():
        pass
    check_deadline()


class Client:
    """A client that hangs up when told to."""

    def __init__(self):
        self.leaves = asyncio.Event()

    async def __call__(self):
        await self.leaves.wait()
        return {"type": "http.disconnect"}


@pytest.fixture
def threads():
    one = Threads(2)
    yield one
    one.close()


def test_an_account_has_two_heavy_requests_at_a_time_and_others_have_theirs(threads):
    async def run():
        go, begun = threading.Event(), threading.Semaphore(0)

        def work():
            begun.release()
            go.wait(60)
            return Reply(200, [])

        path = "/observations"
        before = metrics.HEAVY_REFUSALS.labels(path)._value.get()
        two = [asyncio.ensure_future(threads.heavy("one", path, work, stays, Deadline(60))) for _ in range(2)]
        for _ in two:
            await asyncio.to_thread(begun.acquire)
        with pytest.raises(ApiError) as refused:
            await threads.heavy("one", path, work, stays, Deadline(60))
        assert (refused.value.status, refused.value.code) == (429, "rate_limited")
        assert refused.value.details == {"reason": "heavy_requests", "limit": 2, "retryAfterSeconds": 1}
        assert (b"retry-after", b"1") in refused.value.headers
        assert metrics.HEAVY_REFUSALS.labels(path)._value.get() == before + 1
        another = asyncio.ensure_future(threads.heavy("other", path, work, stays, Deadline(60)))
        await asyncio.to_thread(begun.acquire)
        go.set()
        assert [reply.status for reply in await asyncio.gather(*two, another)] == [200] * 3
        assert (await threads.heavy("one", path, work, stays, Deadline(60))).status == 200

    asyncio.run(run())


def test_work_ends_when_its_client_has_gone_and_its_slot_is_free(threads):
    async def run():
        ended, client = threading.Event(), Client()

        def work():
            client_loop.call_soon_threadsafe(client.leaves.set)
            try:
                until_over()
            finally:
                ended.set()

        client_loop = asyncio.get_running_loop()
        for _ in range(3):
            client.leaves.clear()
            ended.clear()
            with pytest.raises(ClientDisconnected):
                await threads.heavy("one", "/observations", work, client, Deadline(60))
            assert await asyncio.to_thread(ended.wait, 60)
        # The place is free a moment after the work has ended.
        threads.close()
        await asyncio.to_thread(threads._pools["heavy"].shutdown)
        assert not threads._under_way

    asyncio.run(run())


def test_a_key_that_has_to_be_looked_up_leaves_what_the_client_says_to_others(frame, monkeypatch):
    """A server says once that the client has gone."""
    monkeypatch.setattr(type(frame.accounts), "known", lambda *_: None)
    said = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive():
        return said.pop() if said else await asyncio.Event().wait()

    assert sent_to(frame, "/coverage", receive)[0]["status"] == 200


def sent_to(frame, path, receive):
    """Return the messages that the application sends to a client that says this."""
    app = App(
        frame.endpoints, frame.accounts, frame.limiter, frame.open_view, frame.settings,
        clock=lambda: frame.now, walltime=lambda: frame.real,
    )  # fmt: skip
    sent = []

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": path, "query_string": b"", "http_version": "1.1",
        "headers": [(b"host", b"api.example"), (b"x-api-key", PRO.encode())], "client": ("192.0.2.1", 1),
    }  # fmt: skip
    asyncio.run(asyncio.wait_for(app(scope, receive, send), 30))
    return sent


def test_work_is_given_up_at_the_deadline():
    threads = Threads(2)
    with pytest.raises(StoppedError):
        asyncio.run(threads.run(until_over, stays, Deadline(0.05)))
    threads.close()


def test_refusal_is_an_answer_like_others(frame):
    taken = frame.app._threads._under_way
    taken["acc_pro"] = frame.settings.heavy_requests
    answer = frame.get("/heavy")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert frame.inner_error(answer)["details"]["reason"] == "heavy_requests"
    assert frame.get("/coverage").status_code == 200
    taken["acc_pro"] -= 1
    assert frame.get("/heavy").status_code == 200


def test_what_is_given_up_is_503_with_the_seconds(frame):
    frame.broken = StoppedError("interrupted")
    answer = frame.get("/heavy")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
    error = frame.inner_error(answer)
    assert error["code"] == "service_unavailable"
    assert error["details"] == {"reason": "late", "seconds": 10.0, "retryAfterSeconds": 30}


def test_a_client_that_has_gone_is_counted_and_sent_nothing(frame):
    labels = {"path": "/heavy"}
    before = REGISTRY.get_sample_value("almanac_hung_up_total", labels)

    async def receive():
        return {"type": "http.disconnect"}

    heavy = next(endpoint for endpoint in frame.endpoints if endpoint.path == "/heavy")
    frame.endpoints = (replace(heavy, handler=lambda _: until_over()),)
    assert sent_to(frame, "/heavy", receive) == []
    assert REGISTRY.get_sample_value("almanac_hung_up_total", labels) == before + 1
