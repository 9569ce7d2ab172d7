"""What holds before every listener: no request that anybody can send is a fault of ours, and nobody who waits, drips or leaves keeps others.

`ALMANAC_TEST_STRANGERS=100000` sends as many requests to each, and opens as many connections as are told of in the documentation.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx2
import pytest

from almanac.api.interface import endpoints
from almanac.dashboard.site import pages
from almanac.pipeline.explain.scores import explain_scores
from tests.support.processes import command, environment, run
from tests.support.servers import free_port, serving, until_ready
from tests.support.service import copy
from tests.support.strangers import Asked, hung_up, room, took, waiting

from .mirrors import NOW

pytestmark = pytest.mark.slow

WHOLE = int(os.environ.get("ALMANAC_TEST_STRANGERS", "0"))
REQUESTS = WHOLE or 1_500
LEFT, SILENT, SLOW = (2_000, 800, 500) if WHOLE else (300, 800, 200)
#: What keeps a client waiting otherwise: until the others' ten seconds are over.
SOON = 5.0
PASSWORD = "correct horse battery staple"
LISTENERS = ["interface", "dashboard", "operations", "models"]


class Listener(NamedTuple):
    port: int
    paths: list[str]
    names: list[str]
    #: Headers of somebody who is known there.
    own: list[bytes]
    #: A plain request, and what it may be answered.
    plain: bytes
    statuses: set[int]
    #: What costs more, for somebody who is known, and is left before it is answered.
    dear: bytes
    #: A request with a body that never comes, where bodies are read.
    unfinished: bytes


@pytest.fixture(scope="module")
def listeners(small_home: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Listener]]:
    home = copy(small_home, tmp_path_factory.mktemp("strangers") / "home")
    plan = {"PLANS__BIG__REQUESTS_PER_MINUTE": "10000000"}
    many = {**plan, "FAILURES_PER_MINUTE": "10000000", "HEAVY_REQUESTS": "100", "NOW": NOW}
    subprocess.run(
        command("accounts", "create", "a@example.org", "--plan", "big", "--operator", "--password-stdin"),
        env=environment(home, **plan), input=f"{PASSWORD}\n", text=True, check=True, capture_output=True,
    )  # fmt: skip
    key = run(home, "keys", "create", "--account", "a@example.org", **plan).stdout.strip()
    board, models = free_port(), free_port()
    with serving(home, DASHBOARD="true", DASHBOARD_PORT=str(board), **many) as server, contextlib.ExitStack() as held:
        until_ready(server)
        process = held.enter_context(
            subprocess.Popen(
                [sys.executable, "-m", "almanac_mcp", "--url", server.base, "--http", f"127.0.0.1:{models}"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        )  # fmt: skip
        held.callback(process.terminate)
        cookie = _signed_in(f"http://127.0.0.1:{board}")
        until(lambda: httpx2.get(f"http://127.0.0.1:{models}/mcp").status_code == 401)
        api = endpoints(lambda *_: None, explain_scores)  # type: ignore[arg-type]  # what they declare is all that is asked
        named = sorted({one.name for endpoint in api for one in endpoint.params})
        known = [f"x-api-key: {key}".encode()]
        yield {
            "interface": Listener(
                server.port, [one.path for one in api], named, known, plain("/coverage", *known), {200},
                plain("/observations?limit=1000", *known),
                b"GET /coverage HTTP/1.1\r\nhost: x\r\nx-slow: ",
            ),
            "dashboard": Listener(
                board, [one.path for one in pages() if one.path != "/signout"], BOARD_NAMES, [f"cookie: {cookie}".encode()],
                plain("/signin"), {200}, plain("/", f"cookie: {cookie}".encode()), unfinished("/signin"),
            ),
            "operations": Listener(
                int(server.ops.rpartition(":")[2]), ["/healthz", "/readyz", "/metrics", "/{x}"], ["a"], [], plain("/healthz"), {200},
                plain("/metrics"), unfinished("/healthz"),
            ),
            "models": Listener(models, ["/mcp", "/{x}"], ["a"], [*known, b"accept: application/json, text/event-stream"],
                plain("/mcp"), {401}, plain("/mcp", *known), unfinished("/mcp", *known)),
        }  # fmt: skip


#: Days are the business of the tests of each page.
BOARD_NAMES = ["q", "all", "by", "email", "after", "done", "account", "key", "filter", "cursor", "next", "page", "id", "session",
               "type", "country", "category", "sort", "order", "field1", "operator1", "value1", "rows", "statement", "scale", "kind", "with"]  # fmt: skip


def plain(path: str, *more: bytes) -> bytes:
    return b"\r\n".join([f"GET {path} HTTP/1.1".encode(), b"host: 127.0.0.1", b"connection: close", *more, b"", b""])


def unfinished(path: str, *more: bytes) -> bytes:
    head = [f"POST {path} HTTP/1.1".encode(), b"host: 127.0.0.1", b"content-type: application/x-www-form-urlencoded"]
    return b"\r\n".join([*head, b"content-length: 90", *more, b"", b"csrf="])


def until(what: Any) -> None:
    end = time.monotonic() + 60
    while True:
        with contextlib.suppress(httpx2.TransportError):
            if what():
                return
        assert time.monotonic() < end, "it did not start"
        time.sleep(0.1)


def _signed_in(base: str) -> str:
    with httpx2.Client(base_url=base) as client:
        until(lambda: client.get("/signin").status_code == 200)
        token = client.get("/signin").text.partition('name="csrf" value="')[2].partition('"')[0]
        client.post("/signin", data={"csrf": token, "email": "a@example.org", "password": PASSWORD})
        return f"almanac={client.cookies['almanac']}"


@pytest.mark.parametrize("name", LISTENERS)
def test_no_request_is_a_fault_of_ours(listeners: dict[str, Listener], name: str) -> None:
    one = listeners[name]
    asked = Asked(one.port, one.paths, one.names, one.own)
    asked.send(REQUESTS)
    tell(f"{name}: {REQUESTS} requests, by status {dict(asked.statuses)}")
    assert asked.faults == []
    assert asked.statuses.total() == REQUESTS
    assert len(asked.statuses) > 2
    took(one.port, one.plain, one.statuses, 3)


def tell(line: str) -> None:
    """Figures, for whoever runs this with `-s`."""
    sys.stdout.write(f"{line}\n")


def check_others(name: str, what: str, one: Listener) -> None:
    found = took(one.port, one.plain, one.statuses, 100 if WHOLE else 25)
    middle, late = found[len(found) // 2], found[int(len(found) * 0.99)]
    tell(f"{name}, {what}: p50 {middle:.3f} s, p99 {late:.3f} s, worst {found[-1]:.3f} s")
    assert found[-1] < SOON


@pytest.mark.parametrize("name", LISTENERS)
def test_those_who_leave_wait_and_drip_do_not_keep_another(listeners: dict[str, Listener], name: str) -> None:
    one = listeners[name]
    if not room(SILENT + 300):
        pytest.skip("this process may not open as many files")
    check_others(name, "alone", one)
    hung_up(one.port, LEFT, one.dear)
    check_others(name, f"after {LEFT} hung up", one)
    with waiting(one.port, SILENT):
        check_others(name, f"beside {SILENT} silent", one)
    with waiting(one.port, SLOW, one.unfinished):
        check_others(name, f"beside {SLOW} slow", one)
