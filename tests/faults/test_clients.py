"""Slow, rude and many clients against a running server: the others keep being served."""

import contextlib
import resource
import socket
import time
from pathlib import Path

import httpx2
import pytest

from tests.support.servers import serving, until_ready
from tests.support.service import copy, make_accounts, settings

from .mirrors import NOW

pytestmark = pytest.mark.slow

PATH = "/observations?indicator=gov_yield_10y&limit=500"
#: An answer among many others that only wait; far less than any of them is given.
SOON = 5.0
IDLE = 10


@pytest.fixture(scope="module")
def home(small_home, tmp_path_factory):
    found = copy(small_home, tmp_path_factory.mktemp("clients") / "home")
    make_accounts(settings(found, NOW=NOW))
    return found


@pytest.fixture(scope="module")
def server(home):
    with serving(home) as one:
        yield one


@pytest.fixture(scope="module")
def key(home):
    return dict(line.split() for line in (home / "keys").read_text().splitlines())["enterprise"]


def connect(server, receive_buffer=None):
    one = socket.socket()
    if receive_buffer is not None:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    one.settimeout(30)
    one.connect(("127.0.0.1", server.port))
    return one


def check_served(server, key):
    """A fresh connection is answered soon, with all that was asked for."""
    begun = time.monotonic()
    answer = httpx2.get(server.base + PATH, headers={"x-api-key": key, "connection": "close"}, timeout=30)
    assert answer.status_code == 200
    assert len(answer.json()["data"]) == 500
    assert time.monotonic() - begun < SOON
    until_ready(server)


def room(number):
    """Skip where this process may not open as many files as the test needs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < number + 200:
        if hard != resource.RLIM_INFINITY and hard < number + 200:
            pytest.skip(f"this process may open {hard} files, the test needs {number + 200}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (number + 200, hard))


def test_hundreds_who_never_finish_their_headers(server, key):
    room(800)
    with contextlib.ExitStack() as held:
        slow = []
        for _ in range(800):
            one = held.enter_context(connect(server))
            one.sendall(b"GET /coverage HTTP/1.1\r\nhost: x\r\nx-slow: ")
            slow.append(one)
        begun = time.monotonic()
        for _ in range(3):
            check_served(server, key)
        # Some go on, a byte at a time; it does not win them any time.
        for one in slow[:50]:
            one.sendall(b"x")
        for one in slow[:100]:
            assert one.recv(1000) == b""
        assert IDLE - 5 < time.monotonic() - begun < IDLE + 15
        check_served(server, key)


def test_a_connection_that_idles_between_requests_is_closed(server):
    with connect(server) as one:
        one.sendall(b"GET /coverage HTTP/1.1\r\nhost: x\r\n\r\n")
        assert one.recv(65_536).startswith(b"HTTP/1.1 401 ")
        begun = time.monotonic()
        assert one.recv(65_536) == b""
        assert IDLE - 2 < time.monotonic() - begun < IDLE + 5


def test_readers_who_do_not_read(server, key):
    with contextlib.ExitStack() as held:
        asked = f"GET {PATH} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\nconnection: close\r\n\r\n".encode()
        slow = []
        for _ in range(300):
            one = held.enter_context(connect(server, receive_buffer=2048))
            one.sendall(asked)
            slow.append(one)
        for _ in range(3):
            check_served(server, key)
        # The last of them gets a whole answer all the same, once it reads.
        got = b""
        while piece := slow[-1].recv(65_536):
            got += piece
        head, _, body = got.partition(b"\r\n\r\n")
        (length,) = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        assert head.startswith(b"HTTP/1.1 200 ")
        assert len(body) == length


def test_long_addresses_and_headers(server, key):
    headers = {"x-api-key": key}
    names = ",".join(
        f"x{number:099d}" for number in range(100)
    )  # a hundred, of a hundred letters each: as many as a list has
    long = f"country={names}&entity_id={names}&indicator_id={names}"
    within = httpx2.get(f"{server.base}/observations?{long}", headers=headers)
    assert within.status_code == 200
    assert within.json()["data"] == []
    much = b"y" * (1 << 20)
    for head in (
        b"GET /coverage?x=" + much + b" HTTP/1.1\r\n",
        b"GET /coverage HTTP/1.1\r\nx-large: " + much + b"\r\n",
    ):
        with connect(server) as one:
            got = b""
            # The server may close while we still write, or answer bare.
            with contextlib.suppress(ConnectionError):
                one.sendall(head + b"host: x\r\n\r\n")
                while piece := one.recv(65_536):
                    got += piece
            assert got[:12] in {b"", b"HTTP/1.1 400", b"HTTP/1.1 414", b"HTTP/1.1 431"}
        check_served(server, key)


def test_garbage_behind_a_request(server, key):
    asked = f"GET /coverage HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\n\r\n".encode()
    for garbage in (
        b"\x00\xff garbage\r\n\r\n" * 50,
        b"\x16\x03\x01\x02\x00\x01",
        b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
        b"GET",
    ):
        with connect(server) as one:
            one.sendall(asked + asked + garbage)
            got = b""
            with contextlib.suppress(ConnectionError):
                while piece := one.recv(65_536):
                    got += piece
            assert got.count(b"HTTP/1.1 200 ") == 2
            assert got.count(b"HTTP/1.1 4") <= 1
    check_served(server, key)


def test_open_and_gone_again_thousands_of_times(server, key):
    for _ in range(3_000):
        connect(server).close()
    check_served(server, key)
    assert server.process.poll() is None
    leaked = sum(1 for _ in Path(f"/proc/{server.process.pid}/fd").iterdir())
    assert leaked < 100
