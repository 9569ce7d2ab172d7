"""Four workers behind one port: one count of requests in Redis, and what changes holds in all of them within two seconds."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from tests.support.invented_mirror import NOW
from tests.support.processes import REDIS
from tests.support.service import CONSENT, REAL_NOW, Service, copy

from .test_rights import NO_CONSENT

pytestmark = [pytest.mark.slow, pytest.mark.redis]

START = "from almanac.config import load; from almanac.serving import serve; serve(load())"
WITHIN = 2.0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def home(built, tmp_path):
    return copy(built, tmp_path / "home")


@pytest.fixture
def server(home):
    """A server of four workers over its own home; its base address."""
    port, ops, dashboard = free_port(), free_port(), free_port()
    given = {
        "HOME": str(home), "NOW": NOW, "WORKERS": "4", "PORT": str(port), "OPS_PORT": str(ops), "DASHBOARD_PORT": str(dashboard),
        "LOG_LEVEL": "error", "REDIS_URL": REDIS, **CONSENT,
    }  # fmt: skip
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ALMANAC_")}
    process = subprocess.Popen(
        [sys.executable, "-c", START],
        env={**environment, **{f"ALMANAC_{name}": value for name, value in given.items()}},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    base = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + 30
        while True:
            assert process.poll() is None, "the server ended"
            assert time.monotonic() < until, "the server did not start"
            try:
                # Without a key, so that nothing is counted.
                assert httpx2.get(f"{base}/coverage").status_code == 401
                break
            except httpx2.TransportError:
                time.sleep(0.1)
        yield base
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def ask(base, key, number, path="/coverage"):
    """So many answers over fresh connections, from eight clients at once: they meet all workers."""

    def one(_):
        return httpx2.get(base + path, headers={"x-api-key": key, "connection": "close"})

    with ThreadPoolExecutor(8) as clients:
        return list(clients.map(one, range(number)))


def keys(home):
    return dict(line.split() for line in (home / "keys").read_text().splitlines())


def test_the_limit_is_one_for_all_workers(server, home):
    """free: 100 requests / 60 s, per account, all keys and workers together; 429 with Retry-After beyond."""
    accounts = Service(home).accounts
    other, _ = accounts.create_key("free@example.org", now=REAL_NOW)
    accounts.close()
    first = keys(home)["free"]
    if time.time() % 60 > 40:
        time.sleep(60 - time.time() % 60)
    minute = int(time.time()) // 60
    answers = ask(server, first, 90) + ask(server, other, 90) + ask(server, first, 40, "/nothing")
    assert int(time.time()) // 60 == minute
    statuses = Counter(answer.status_code for answer in answers)
    assert (statuses[200] + statuses[404], statuses[429]) == (100, 120)
    remaining = sorted(int(a.headers["x-ratelimit-remaining"]) for a in answers if a.status_code != 429)
    assert remaining == list(range(100))
    for refused in (a for a in answers if a.status_code == 429):
        error = refused.json()["error"]
        assert error["code"] == "rate_limited"
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert error["details"] == {
            "limit": 100,
            "windowSeconds": 60,
            "retryAfterSeconds": int(refused.headers["retry-after"]),
        }
    assert ask(server, keys(home)["pro"], 1)[0].status_code == 200


def test_revocation_holds_in_every_worker(server, home):
    """Revocation holds in every worker within 2 s."""
    key = keys(home)["enterprise"]
    assert {a.status_code for a in ask(server, key, 60)} == {200}
    accounts = Service(home).accounts
    accounts.revoke(key, now=REAL_NOW)
    accounts.close()
    time.sleep(WITHIN)
    answers = ask(server, key, 60)
    assert {(a.status_code, a.json()["error"]["code"]) for a in answers} == {(401, "unauthorized")}


def test_a_disabled_account_is_refused_by_every_worker_and_let_in_again(server, home):
    """What an operator does to an account holds in every worker as a revocation does."""
    key = keys(home)["pro"]
    accounts = Service(home).accounts
    accounts.disable("pro@example.org", now=REAL_NOW)
    time.sleep(WITHIN)
    answers = ask(server, key, 40)
    accounts.enable("pro@example.org")
    accounts.close()
    assert {(a.status_code, a.json()["error"]["details"]["reason"]) for a in answers} == {(403, "account_disabled")}
    time.sleep(WITHIN)
    assert {a.status_code for a in ask(server, key, 40)} == {200}


def test_a_change_of_rights_holds_in_every_worker(server, home):
    """A change of rights is a data version and holds everywhere within 2 s."""
    path, key = "/observations?indicator=unemployment_rate&limit=1&order=desc", keys(home)["enterprise"]
    before = ask(server, key, 60, path)
    assert {a.json()["data"][0]["valueNumeric"] is None for a in before} == {False}
    (version,) = {int(a.headers["x-data-version"]) for a in before}
    writer = Service(home)
    with writer.world(**NO_CONSENT):
        pass
    writer.close()
    time.sleep(WITHIN)
    after = ask(server, key, 60, path)
    assert {a.json()["data"][0]["valueNumeric"] for a in after} == {None}
    assert {int(a.headers["x-data-version"]) for a in after} == {version + 1}


def test_cursors_hold_in_every_worker(server, home):
    """The same request gives the same bytes in any worker, and a cursor of one is good in all."""
    key = keys(home)["enterprise"]
    answers = ask(server, key, 40, "/observations?limit=50")
    assert len({a.content.split(b',"meta":')[0] for a in answers}) == 1
    assert len({a.headers["etag"] for a in answers}) == 1
    cursor = answers[0].json()["meta"]["pagination"]["next_cursor"]
    pages = ask(server, key, 40, f"/observations?limit=50&cursor={cursor}")
    assert {a.status_code for a in pages} == {200}
    assert len({a.content.split(b',"meta":')[0] for a in pages}) == 1
