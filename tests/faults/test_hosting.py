"""The processes of a running service: two of them, killed ones, stopped ones, silent clients."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import httpx2
import pytest

from almanac.distribution import version
from tests.support.processes import command, environment, run
from tests.support.servers import free_port, serving

pytestmark = pytest.mark.slow

#: Far more than any of this takes on an idle machine.
PATIENCE = 30
#: Seconds a client may take over the head of a request.
HEAD = 10


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def until(holds):
    """Wait for something to hold."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.05)


def children(server, spawned):
    """Process numbers of the children: workers were forked, the operations listener was spawned."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            number, _, rest = stat.read_text().partition(" ")
            words = stat.with_name("cmdline").read_bytes()
            ours = int(rest.rpartition(")")[2].split()[1]) == server.process.pid and b"resource_tracker" not in words
            if ours and (b"spawn_main" in words) == spawned:
                found.append(int(number))
    return found


def workers(server):
    return children(server, spawned=False)


def gone(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def refused(home, *arguments):
    """The sentences with which a server does not start."""
    done = run(home, "serve", *arguments, expect=1)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr.strip()


@pytest.mark.slow
def test_a_home_and_a_port_have_one_server(home, tmp_path):
    with serving(home) as server:
        ops = server.ops.rpartition(":")[2]
        other = tmp_path / "other"
        theirs = f"interface on 127.0.0.1 port {server.port}, operations on 127.0.0.1 port {ops}"
        held = f"{home} is served already, by process {server.process.pid} ({theirs}): stop that one, or choose another"
        assert refused(home, "--port", free_port(), "--ops-port", free_port()) == f"Error: {held} ALMANAC_HOME"
        told = "cannot listen on 127.0.0.1, port {}: it is in use; choose another with {}"
        taken = told.format(server.port, "ALMANAC_PORT or --port")
        assert refused(other, "--port", server.port, "--ops-port", free_port()) == f"Error: {taken}"
        taken = told.format(ops, "ALMANAC_OPS_PORT or --ops-port")
        assert refused(other, "--port", free_port(), "--ops-port", ops) == f"Error: {taken}"
        # All at once: what a second start would find is said by the first.
        assert refused(home, "--port", server.port, "--ops-port", ops) == f"Error: {held} ALMANAC_HOME"
        both = refused(other, "--port", server.port, "--ops-port", ops)
        assert (both.count("it is in use"), len(both.splitlines())) == (2, 2)
        # None of them took a request, or what the first one counts.
        assert {httpx2.get(f"{server.base}/coverage").status_code for _ in range(40)} == {401}
        time.sleep(0.5)
        assert (
            'almanac_requests_total{method="GET",path="other",status="401"}' in httpx2.get(f"{server.ops}/metrics").text
        )


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "sharing"])
def test_a_port_of_another_program_is_one_sentence(home, shared):
    with socket.socket() as other:
        if shared:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert f"cannot listen on 127.0.0.1, port {port}: it is in use" in refused(
            home, "--port", port, "--ops-port", free_port()
        )
        assert f"cannot listen on 127.0.0.1, port {port}: it is in use" in refused(
            home, "--port", free_port(), "--ops-port", port
        )


def test_addresses_of_others_and_names_are_refused_in_a_sentence(home):
    assert "cannot listen on 192.0.2.1, port 8000: cannot assign requested address" in refused(
        home, "--host", "192.0.2.1"
    )
    done = run(home, "serve", "--host", "localhost", expect=2)
    assert "'localhost' is not an address, like 127.0.0.1 or ::" in done.stderr


def test_several_workers_without_redis_are_refused_in_a_sentence(home):
    told = "ALMANAC_WORKERS or --workers: 2 processes count the requests of an account together in Redis only: set ALMANAC_REDIS_URL"
    line = refused(home, "--workers", "2", "--port", free_port(), "--ops-port", free_port())
    assert line == f"Error: {told}, or serve with one"


def test_a_plan_that_is_missing_is_told_at_the_start(home):
    """An account on a plan that the settings no longer have would be refused at every request."""
    for number, plan in enumerate(("team", "school", "free")):
        more = {f"PLANS__{plan.upper()}__REQUESTS_PER_MINUTE": "5"}
        run(home, "accounts", "create", f"{number}@example.org", "--plan", plan, **more)
    line = refused(home, "--port", free_port(), "--ops-port", free_port())
    told = "accounts are on plans that are not in the settings: school, team (`almanac accounts list` says which)"
    assert line.startswith(f"Error: {told}; add ALMANAC_PLANS__NAME__REQUESTS_PER_MINUTE for each")


def test_workers_end_with_a_killed_parent_and_the_next_server_starts(home):
    with serving(home, WORKERS="2") as server:
        until(lambda: len(workers(server)) == 2)
        ours = workers(server)
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait(PATIENCE)
        # At once: it waits for the orphans, and does not start beside them.
        with serving(home) as next_one:
            assert [number for number in ours if not gone(number)] == []
            until(lambda: ready(next_one))


@pytest.mark.slow
def test_ready_means_that_a_request_is_answered(home):
    port, ops = free_port(), free_port()
    for _ in range(3):
        process = subprocess.Popen(
            command("serve", "--port", port, "--ops-port", ops),
            env=environment(home, LOG_LEVEL="critical"), stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:

            def ready():
                with contextlib.suppress(httpx2.TransportError):
                    return httpx2.get(f"http://127.0.0.1:{ops}/readyz").status_code == 200

            until(ready)
            assert httpx2.get(f"http://127.0.0.1:{port}/coverage").status_code == 401
        finally:
            process.terminate()
            process.wait(PATIENCE)


@pytest.mark.slow
def test_a_stopped_worker_is_not_ready_until_it_goes_on(home):
    with serving(home) as server:
        until(lambda: ready(server))
        time.sleep(0.5)  # what was asked to see whether it is up is counted a little later
        before = httpx2.get(f"{server.ops}/metrics").text
        (worker,) = workers(server)
        os.kill(worker, signal.SIGSTOP)
        try:
            answer = httpx2.get(f"{server.ops}/readyz", timeout=PATIENCE)
            assert (answer.status_code, answer.json()) == (503, {"ready": False, "reason": "no worker answers"})
            assert httpx2.get(f"{server.ops}/healthz").status_code == 200
        finally:
            os.kill(worker, signal.SIGCONT)
        until(lambda: ready(server))
        time.sleep(0.5)
        # Probes are no requests: nothing of them is counted.
        assert lines(before, "almanac_requests_total") == lines(
            httpx2.get(f"{server.ops}/metrics").text, "almanac_requests_total"
        )


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_a_killed_worker_is_replaced(home, count):
    with serving(home, WORKERS=str(count)) as server:
        until(lambda: len(workers(server)) == count)
        before = workers(server)
        os.kill(before[0], signal.SIGKILL)
        until(lambda: before[0] not in workers(server) and len(workers(server)) == count)
        until(lambda: ready(server))
        assert httpx2.get(f"{server.base}/coverage").status_code == 401
        assert server.process.poll() is None


@pytest.mark.slow
def test_a_request_in_hand_is_answered_when_the_end_comes(home):
    """And the processes beside the workers end with them."""
    with serving(home) as server:
        until(lambda: ready(server))
        beside = children(server, spawned=True)
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as one:
            one.sendall(b"GET /coverage HTTP/1.1\r\nhost: x\r\n")
            time.sleep(0.3)
            os.kill(server.process.pid, signal.SIGTERM)
            time.sleep(0.3)
            one.sendall(b"\r\n")
            assert one.recv(65_536).startswith(b"HTTP/1.1 401 ")
        assert server.process.wait(PATIENCE) == 0
        assert [number for number in beside if not gone(number)] == []


def lines(text, name):
    return [line for line in text.splitlines() if line.startswith(name)]


def test_the_operations_listener_comes_back(home):
    with serving(home) as server:
        (beside,) = children(server, spawned=True)
        os.kill(beside, signal.SIGKILL)

        def back():
            with contextlib.suppress(httpx2.TransportError):
                return httpx2.get(f"{server.ops}/readyz").status_code == 200

        until(lambda: not back())
        until(back)
        assert httpx2.get(f"{server.base}/coverage").status_code == 401


def ready(server):
    return httpx2.get(f"{server.ops}/readyz", timeout=PATIENCE).status_code == 200


@pytest.mark.slow
def test_silent_connections_are_closed(home):
    """Those that send nothing, one letter, or the start of HTTP/2, which is not spoken unless asked for."""
    with serving(home) as server, contextlib.ExitStack() as held:
        begun = time.monotonic()
        for sent in (b"", b"G", b"PRI * HTTP/2", b"\r\n"):
            for address in (server.port, int(server.ops.rpartition(":")[2])):
                one = held.enter_context(socket.create_connection(("127.0.0.1", address), timeout=HEAD + 10))
                one.sendall(sent)
                held.callback(lambda one=one, sent=sent: check_closed(one, sent))
        held.close()
        assert time.monotonic() - begun < HEAD + 5


def check_closed(one, sent):
    with contextlib.suppress(ConnectionResetError):
        assert one.recv(1000)[:12] in {b"", b"HTTP/1.1 400", b"HTTP/1.1 408"}, sent


@pytest.mark.slow
def test_the_log_of_a_run_is_json_from_its_start_to_its_stop(home, tmp_path):
    """Who runs, where, under which settings, without a secret; lines of the server's own too; nothing on a probe's way."""
    log = tmp_path / "log"
    secret, contact = "s3cret-" * 6, "Jane Doe jane@example.org"
    given = {
        "LOG_LEVEL": "info",
        "SECRET": secret,
        "SOURCES__SEC__CONTACT": contact,
        "SOURCES__FRED__API_KEY": "k" * 32,
    }
    with serving(home, log, WORKERS="2", **given) as server:
        httpx2.get(f"{server.base}/coverage")
        until(lambda: '"request"' in log.read_text())  # a worker that is killed takes what it has not written with it
        os.kill(workers(server)[0], signal.SIGKILL)  # the server has something to say about that
        until(lambda: "ended" in log.read_text() or "exit" in log.read_text())
        os.kill(server.process.pid, signal.SIGTERM)
        server.process.wait(PATIENCE)
    text = log.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert all({"event", "level", "timestamp"} <= set(line) for line in lines)
    started, stopped = lines[0], lines[-1]
    port, ops = server.base.rpartition(":")[2], server.ops.rpartition(":")[2]
    assert started["event"] == "service started"
    # Whoever writes to the checkout meanwhile changes the mark behind it.
    assert started["version"].removesuffix(".changed") == version().removesuffix(".changed")
    assert (started["interface"], started["operations"]) == (f"127.0.0.1 port {port}", f"127.0.0.1 port {ops}")
    assert (started["workers"], started["process"]) == (2, server.process.pid)
    assert started["settings"]["ALMANAC_WORKERS"] == "2"
    assert started["settings"]["ALMANAC_SECRET"] == started["settings"]["ALMANAC_SOURCES__SEC__CONTACT"] == "not shown"
    assert all(hidden not in text for hidden in (secret, contact, "k" * 32))
    assert (stopped["event"], stopped["exit"], stopped["process"]) == ("service stopped", 0, server.process.pid)
    assert stopped["seconds"] > 0
    assert [line["address"] for line in lines if line["event"] == "request"][:1] == ["127.0.0.1"]
    assert [line for line in lines if line.get("logger") == "granian"] != []
