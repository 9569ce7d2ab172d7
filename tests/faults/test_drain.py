"""A service that is told to end says so first, answers for a while, and asks its clients to come by another way."""

import contextlib
import http.client
import os
import pty
import signal
import subprocess
import threading
import time
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.support.processes import command, environment
from tests.support.servers import free_port, serving, until_ready

#: Far more than any of this takes on an idle machine.
PATIENCE = 60


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def until(holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.05)


def ready(server):
    return httpx2.get(f"{server.ops}/readyz", timeout=30)


def kept(url, path):
    """A connection that has had an answer, and would be used again."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    assert asked(connection, path).getheader("connection") != "close"
    return connection


def asked(connection, path):
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    return answer


@pytest.mark.slow
def test_it_is_unready_first_and_answers_until_the_end(home):
    port = free_port()
    more = {"WORKERS": "2", "DASHBOARD": "true", "DASHBOARD_PORT": str(port), "DRAIN_SECONDS": "3"}
    dashboard = f"http://127.0.0.1:{port}"
    with serving(home, **more) as server:
        until_ready(server)
        until(lambda: not down(f"{dashboard}/signin"))
        connections = [kept(server.base, "/coverage"), kept(dashboard, "/signin"), kept(server.ops, "/healthz")]
        told, answers, stop = [], [], threading.Event()

        def ask():
            while not stop.is_set():
                # Whoever learns that it is unready sends nothing more: what was sent until then is answered.
                try:
                    answers.append(httpx2.get(f"{server.base}/coverage", timeout=30).status_code)
                except httpx2.TransportError as error:
                    answers.append(error)
                stop.wait(0.01)

        asking = threading.Thread(target=ask)
        asking.start()
        server.process.send_signal(signal.SIGTERM)
        until(lambda: ready(server).status_code == 503)
        told.append(ready(server).json())
        stop.set()
        asking.join()
        assert told == [{"ready": False, "reason": "the service ends"}]
        assert set(answers) == {401}
        for connection, path in zip(connections, ("/coverage", "/signin", "/healthz"), strict=True):
            assert asked(connection, path).getheader("connection") == "close"
            # The server closes it behind the answer: the library would connect anew.
            assert connection.sock is None
        assert server.process.poll() is None
        # A reload that comes too late changes nothing.
        server.process.send_signal(signal.SIGHUP)
        assert httpx2.get(f"{server.base}/coverage", timeout=30).headers["connection"] == "close"
        assert server.process.wait(PATIENCE) == 0
        for url in (f"{server.base}/coverage", f"{dashboard}/signin", f"{server.ops}/healthz"):
            assert down(url)


def down(url):
    try:
        httpx2.get(url, timeout=30)
    except httpx2.ConnectError:
        return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_it_at_once(home, second):
    with serving(home, DRAIN_SECONDS="3600") as server:
        until_ready(server)
        server.process.send_signal(signal.SIGTERM)
        until(lambda: ready(server).status_code == 503)
        server.process.send_signal(second)
        assert server.process.wait(PATIENCE) == 0


@pytest.mark.slow
def test_an_interrupt_from_elsewhere_is_as_good_as_a_signal_to_end(home):
    with serving(home, DRAIN_SECONDS="3600") as server:
        until_ready(server)
        server.process.send_signal(signal.SIGINT)
        until(lambda: ready(server).status_code == 503)
        assert httpx2.get(f"{server.base}/coverage", timeout=30).status_code == 401
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE) == 0


@pytest.mark.slow
def test_an_interrupt_on_a_terminal_ends_it_at_once(home):
    port, ops = free_port(), free_port()
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command("serve", "--port", port, "--ops-port", ops),
        env=environment(home, DRAIN_SECONDS="3600", LOG_LEVEL="critical"),
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        until(lambda: not down(f"http://127.0.0.1:{ops}/healthz") and not down(f"http://127.0.0.1:{port}/coverage"))
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    finally:
        os.close(ours)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)


@pytest.mark.slow
def test_what_is_being_asked_when_the_end_comes_is_answered(home):
    """By the dashboard too."""
    port = free_port()
    with serving(home, DASHBOARD="true", DASHBOARD_PORT=str(port), DRAIN_SECONDS="1") as server:
        until_ready(server)
        until(lambda: not down(f"http://127.0.0.1:{port}/signin"))
        connection = http.client.HTTPConnection(f"127.0.0.1:{port}", timeout=30)
        connection.putrequest("POST", "/signin")
        connection.putheader("content-type", "application/x-www-form-urlencoded")
        connection.putheader("content-length", "3")
        connection.endheaders(b"a=")
        server.process.send_signal(signal.SIGTERM)
        until(lambda: down(f"http://127.0.0.1:{port}/signin"))
        connection.send(b"b")
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("connection")) == (403, "close")
        assert answer.read().startswith(b"<!doctype html>")
        assert server.process.wait(PATIENCE) == 0
