"""Requests as no library sends them, over raw sockets: who they are for, encoded slashes, another protocol."""

import json
import socket

import pytest

from tests.support.processes import run
from tests.support.servers import serving

pytestmark = pytest.mark.slow

#: Far more than any answer takes.
PATIENCE = 20


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    found = tmp_path_factory.mktemp("odd") / "home"
    run(found, "accounts", "create", "a@example.org", "--plan", "pro")
    return found


@pytest.fixture(scope="module")
def key(home):
    return run(home, "keys", "create", "--account", "a@example.org").stdout.strip()


@pytest.fixture(scope="module")
def server(home, key):
    with serving(home) as one:
        yield one


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)


def ask(server, key, *lines, end="\r\n"):
    """Status and error (None: none) of one request, written as it is."""
    with connect(server) as one:
        one.sendall(end.join([*lines, f"x-api-key: {key}", "connection: close", "", ""]).encode())
        head, _, body = b"".join(iter(lambda: one.recv(65_536), b"")).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body).get("error")


def test_a_request_says_once_whom_it_is_for(server, key):
    told = []
    for hosts in (["host: a"], ["host: a", "host: b"], ["host: a", "host: a"], ["host: a, b"], [], ["host:"]):
        status, error = ask(server, key, "GET /coverage HTTP/1.1", *hosts)
        told.append((status, error and error["details"]))
    twice, none = {"parameter": "host", "reason": "repeated"}, {"parameter": "host", "reason": "required"}
    assert told == [(200, None), (400, twice), (400, twice), (400, twice), (400, none), (400, none)]
    assert ask(server, key, "GET /coverage HTTP/1.0")[0] == 200  # which knows no Host


def test_bare_line_feeds_end_lines_and_open_no_second_request(server, key):
    """The server beneath takes them, as RFC 9112, 2.2, allows. What follows as a body is refused, so nothing hides there."""
    assert ask(server, key, "GET /coverage HTTP/1.1", "host: a", end="\n")[0] == 200
    status, error = ask(server, key, "GET /coverage HTTP/1.1", "host: a", "transfer-encoding: chunked", end="\n")
    assert (status, error["details"]["parameter"]) == (400, "body")


def test_an_encoded_slash_parts_no_path(server, key):
    for path in ("/openapi%2Ejson", "/countries/USA"):
        assert ask(server, key, f"GET {path} HTTP/1.1", "host: a")[0] in {200, 404}
    status, error = ask(server, key, "GET /observations%2Flatest HTTP/1.1", "host: a")
    assert (status, error["details"]) == (404, {"suggestion": "/observations/latest"})
    status, error = ask(server, key, "GET /briefs/US%2fA HTTP/1.1", "host: a")
    assert status == 404
    assert "'US/A'" in error["message"]


def test_signs_that_no_address_holds_are_refused_bare_and_all_others_in_the_envelope(server, key):
    """Beneath us, before a request has an id: the interface's page says so, and that they are written %3E and so on."""
    told = {}
    for sign in "<>\" \x01`{}|\\^#[]'":
        with connect(server) as one:
            target = f"/coverage?filter=net_margin{sign}0.1"
            one.sendall(f"GET {target} HTTP/1.1\r\nhost: a\r\nx-api-key: {key}\r\nconnection: close\r\n\r\n".encode())
            head, _, body = b"".join(iter(lambda: one.recv(65_536), b"")).partition(b"\r\n\r\n")
        told[sign] = (int(head.split()[1]), body and json.loads(body)["error"]["details"]["parameter"])
    assert {sign for sign, answer in told.items() if answer == (400, b"")} == set('<>" \x01')
    assert {answer for sign, answer in told.items() if sign not in '<>" \x01'} == {(400, "filter")}
    assert (
        ask(server, key, "GET /coverage?filter=net_margin%3E0.1 HTTP/1.1", "host: a")[1]["details"]["parameter"]
        == "filter"
    )


def test_http2_is_not_spoken(server):
    """A proxy speaks it to clients. A connection that opens with it is closed, and leaves the others alone."""
    with connect(server) as one:
        one.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        assert not b"".join(iter(lambda: one.recv(65_536), b"")).startswith(b"\0")
