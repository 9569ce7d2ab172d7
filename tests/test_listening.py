"""What holds at every listener: a body has its time, and those who only wait do not shut others out."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac import listening
from almanac.listening import Waiting, over

MOST = 128
ROOT = Path(__file__).parents[1]


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answers 200 with the length of the body; never, where the body's client went away."""
    if scope["type"] == "lifespan":
        while True:
            what = (await receive())["type"]
            await send({"type": f"{what}.complete"})
            if what == "lifespan.shutdown":
                return
    length, more = 0, scope["method"] == "POST"
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        length, more = length + len(message["body"]), message["more_body"]
    told = str(length).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(told))]})
    await send({"type": "http.response.body", "body": told})


@contextlib.contextmanager
def listener(monkeypatch: pytest.MonkeyPatch, *, watched: bool = True) -> Iterator[int]:
    """The port of a listener in a thread of this process, with places for few."""
    monkeypatch.setattr(listening, "connections", lambda: MOST)
    monkeypatch.setattr(listening, "BODY_SECONDS", 0.5)
    if not watched:
        monkeypatch.setattr(listening.BoundedApplication, "watch", lambda _: None)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ended = threading.Event()
    thread = threading.Thread(
        target=listening.serve,
        args=(application, "127.0.0.1", port),
        kwargs={"head_bytes": 16_384, "stop": ended.is_set},
    )
    thread.start()
    try:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            with contextlib.suppress(OSError), connected(port):
                break
            time.sleep(0.05)
        yield port
    finally:
        ended.set()
        thread.join(30)
        assert not thread.is_alive()


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def asked(port: int) -> bytes:
    """What another client is answered."""
    with connected(port) as one:
        one.sendall(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        return one.recv(1_000)


def test_a_body_that_drips_is_answered_and_its_connection_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    with listener(monkeypatch) as port, connected(port) as one:
        one.sendall(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n")
        got = b""
        with contextlib.suppress(ConnectionError):
            one.settimeout(0.05)
            for _ in range(900):
                try:
                    piece = one.recv(1_000)
                    got += piece
                    if not piece:
                        break
                except TimeoutError:
                    one.sendall(b"x")
            else:
                pytest.fail("the connection stayed")
        assert got.startswith(b"HTTP/1.1 408 ")


def test_a_body_that_comes_in_time_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    with listener(monkeypatch) as port, connected(port) as one:
        one.sendall(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 50000\r\n\r\n")
        for _ in range(5):
            one.sendall(b"x" * 10_000)
        assert one.recv(1_000).endswith(b"\r\n\r\n50000")


SILENT = [b"", b"P", b"GET / HTTP/1.1\r\nx: ", b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc"]


@pytest.mark.parametrize("said", SILENT)
def test_those_who_only_wait_do_not_shut_others_out(monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    monkeypatch.setattr(listening, "BODY_SECONDS", 60.0)
    with listener(monkeypatch) as port, contextlib.ExitStack() as held:
        monkeypatch.setattr(listening, "BODY_SECONDS", 60.0)
        for _ in range(MOST * 2):
            held.enter_context(connected(port)).sendall(said)
        begun = time.monotonic()
        for _ in range(5):
            assert asked(port).startswith(b"HTTP/1.1 200 ")
        # Left alone, they would have kept all places for this long.
        assert time.monotonic() - begun < listening.HEAD_MILLISECONDS / 1_000 / 2


def test_who_has_left_before_the_turn_came_is_not_answered() -> None:
    async def go() -> list[int]:
        answered: list[int] = []
        free = asyncio.Event()

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            assert (await receive())["type"] == "http.request"
            answered.append(scope["client"][1])
            await free.wait()

        door = listening.BoundedApplication(slow, 1, MOST, at_once=1)

        def client(number: int, messages: list[str]) -> Any:
            async def receive() -> Any:
                if not messages:
                    await asyncio.Event().wait()
                return {"type": messages.pop(0), "body": b""}

            scope = {"type": "http", "method": "GET", "client": ("10.0.0.1", number)}
            return asyncio.ensure_future(door(scope, receive, receive))

        stays, leaves = ["http.request"], ["http.request", "http.disconnect"]
        tasks = [client(number, list(leaves if 1 < number < 9 else stays)) for number in range(1, 11)]
        await asyncio.sleep(0.05)
        free.set()
        await asyncio.wait_for(asyncio.gather(*tasks), 20)
        return answered

    assert asyncio.run(go()) == [1, 9, 10]


def test_a_few_who_wait_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with listener(monkeypatch) as port, connected(port) as one:
        held = [connected(port) for _ in range(MOST // 2)]
        time.sleep(4 * listening._LOOK_SECONDS)
        one.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        assert one.recv(1_000).startswith(b"HTTP/1.1 200 ")
        for other in held:
            other.sendall(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            assert other.recv(1_000).startswith(b"HTTP/1.1 200 ")
            other.close()


ADDRESSES = st.sampled_from(["10.0.0.1", "10.0.0.2", "::ffff:10.0.0.3", "2001:db8::1", "2001:db8::2", "2001:db8:1::1"])


@given(st.lists(st.tuples(ADDRESSES, st.floats(0, 100)), max_size=60), st.integers(0, 70))
def test_who_goes_is_who_has_most_and_has_waited_longest(found: list[tuple[str, float]], room: int) -> None:
    waiting = [Waiting(n, (address, n), waited) for n, (address, waited) in enumerate(found)]
    gone = over(waiting, room)
    stay = [one for one in waiting if one not in gone]
    assert len(stay) <= room
    assert not gone or len(stay) > room - 6  # as many stay as may, but for what does not divide
    networks = {one: "v6" if one.peer[0].startswith("2001:db8::") else one.peer[0] for one in waiting}
    left = Counter(networks[one] for one in stay)
    for one in gone:
        # No other network keeps two more than one that lost some, and nobody stays who waited longer.
        assert all(left[networks[one]] >= count - 1 for count in left.values())
        assert all(one.waited >= other.waited for other in stay if networks[other] == networks[one])


def test_the_server_for_language_models_listens_by_the_same_code() -> None:
    """A package of its own: `cp src/almanac/listening.py clients/mcp/src/almanac_mcp/` after a change."""
    ours, theirs = (ROOT / name for name in ("src/almanac/listening.py", "clients/mcp/src/almanac_mcp/listening.py"))
    assert ours.read_bytes() == theirs.read_bytes()


def test_a_process_that_has_listened_ends_without_taking_the_interpreter_down() -> None:
    """The server's threads may outlive its loop for a moment: what they ask the interpreter for must still be there."""
    told = subprocess.run(
        [sys.executable, "-c", _LISTENS_ONCE], capture_output=True, text=True, timeout=60, check=False
    )
    assert (told.returncode, told.stdout, told.stderr) == (0, "listened\n", "")


_LISTENS_ONCE = """
import atexit
from almanac import side_processes

async def app(scope, receive, send):
    while (what := (await receive())["type"]):
        await send({"type": f"{what}.complete"})
        if what == "lifespan.shutdown":
            break

atexit.register(print, "taken down")
print("listened")
side_processes._serve(app, "127.0.0.1", 0, 16_384, parent=-1)
"""
