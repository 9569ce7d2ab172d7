"""A primary that hangs or is lost: what replicas and memory have is answered, all else ends with the request's time."""

import contextlib
import signal
import threading
import time

import httpx2
import pytest

from tests.support import postgres
from tests.support.processes import ingest, run
from tests.support.servers import serving, until_ready
from tests.support.stalling import way_to

from .mirrors import TREASURY_SOURCE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.postgres,
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
]
PATH = "/observations?indicator=gov_yield_10y"
#: Far more than anything takes that waits for nobody, and far less than whoever waits without end.
END = 12


@pytest.fixture(scope="module")
def database(small_mirror, tmp_path_factory):
    """An address of a server that holds data, and a key; what is done through it is nobody else's."""
    home = tmp_path_factory.mktemp("primary") / "home"
    with postgres.own_database("hung") as name:
        url = postgres.address_of(name)
        more = {"DATABASE_URL": url}
        ingest(home, small_mirror, (TREASURY_SOURCE,), **more)
        run(home, "accounts", "create", "a@example.org", "--plan", "enterprise", **more)
        yield home, url


@pytest.fixture
def key(database):
    home, url = database
    return run(home, "keys", "create", "--account", "a@example.org", DATABASE_URL=url).stdout.split()[-1]


@contextlib.contextmanager
def lost(way, how):
    getattr(way, how)()
    try:
        yield
    finally:
        way.go_on() if how == "stall" else way.mend()


class Client:
    """Asks for a page that is in no memory, each time another."""

    def __init__(self, server, key):
        self.server, self.key, self._limit = server, key, 0

    def ask(self, key=None):
        self._limit += 1
        headers = {"x-api-key": key or self.key}
        return httpx2.get(f"{self.server.base}{PATH}&limit={self._limit}", headers=headers, timeout=60)

    def ready(self):
        return httpx2.get(f"{self.server.ops}/readyz", timeout=60)

    def metrics(self):
        text = httpx2.get(f"{self.server.ops}/metrics", timeout=60).text
        return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


def took(action, *arguments):
    began = time.monotonic()
    return action(*arguments), time.monotonic() - began


def until(holds):
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.1)


@pytest.mark.parametrize("how", ["stall", "cut"])
def test_without_its_primary_a_service_answers_from_its_replica(database, key, how, tmp_path):
    home, url = database
    revoked = run(home, "keys", "create", "--account", "a@example.org", DATABASE_URL=url).stdout.split()[-1]
    # One that no worker has met before the primary is lost.
    unmet = run(home, "keys", "create", "--account", "a@example.org", DATABASE_URL=url).stdout.split()[-1]
    log = tmp_path / "log"
    with way_to(url) as (way, by_way):
        more = {"DATABASE_URL": by_way, "DATABASE_READ_URLS": url, "REQUEST_SECONDS": str(END), "LOG_LEVEL": "warning"}
        with serving(home, log, **more) as server:
            until_ready(server)
            client = Client(server, key)
            assert [client.ask().status_code, client.ask(revoked).status_code] == [200, 200]
            run(home, "keys", "revoke", revoked, DATABASE_URL=url)
            until(lambda: client.ask(revoked).status_code == 401)
            with lost(way, how):
                answers = [took(client.ask) for _ in range(20)] + [took(client.ask, unmet)]
                assert [answer.status_code for answer, _ in answers] == [200] * 21
                assert max(seconds for _, seconds in answers) < END
                # What was revoked before stays so, though the worker has forgotten it.
                assert client.ask(revoked).status_code in {401, 503}
                # A key that is none cannot be told from one made a moment before: only the primary knows.
                assert client.ask(key[:-1] + ("0" if key[-1] != "0" else "1")).status_code in {401, 503}
                until(lambda: client.ready().json().get("databases", [{}])[0].get("state") == "away")
                found, seconds = took(client.ready)
                assert (found.status_code, seconds < END / 2) == (200, True)
                assert [one["state"] for one in found.json()["databases"]] == ["away", "ok"]
                shown, seconds = took(client.metrics)
                assert seconds < END / 2
                assert "almanac_requests_total" in " ".join(shown)

                def away():
                    return {
                        name.partition('role="')[2][:-2]: value
                        for name, value in client.metrics().items()
                        if name.startswith("almanac_database_readable")
                    }

                until(lambda: away() == {"primary": "0.0", "replica": "1.0"})
            until(lambda: client.ready().json()["databases"][0]["state"] == "ok")
            # It answers again: so what is revoked now holds.
            run(home, "keys", "revoke", unmet, DATABASE_URL=url)
            until(lambda: client.ask(unmet).status_code == 401)
            assert client.ask().status_code == 200
    said = log.read_text()
    for event in ("the accounts cannot be read", "a database does not answer"):
        assert f'"event":"{event}"' in said, said
    assert key not in said


def test_while_the_only_database_hangs_each_wait_ends(database, key):
    home, url = database
    with way_to(url) as (way, by_way), serving(home, DATABASE_URL=by_way, REQUEST_SECONDS="2") as server:
        until_ready(server)
        client = Client(server, key)
        assert client.ask().status_code == 200
        with lost(way, "stall"):
            answers = []
            # Far more than a worker has threads: each has its end, whatever those before it wait for.
            waiting = [threading.Thread(target=lambda: answers.append(took(client.ask))) for _ in range(24)]
            for one in waiting:
                one.start()
            # Meanwhile the event loop answers whoever needs no database.
            assert [httpx2.get(f"{server.base}/coverage", timeout=60).status_code for _ in range(5)] == [401] * 5
            for one in waiting:
                one.join(60)
            assert [answer.status_code for answer, _ in answers] == [503] * 24
            assert {answer.json()["error"]["code"] for answer, _ in answers} == {"service_unavailable"}
            # One after the other they would have taken 48 seconds.
            assert max(seconds for _, seconds in answers) < END
            until(lambda: client.ready().status_code == 503)
            found, seconds = took(client.ready)
            assert seconds < END / 2
            assert found.json()["reason"] in {"the store does not answer", "the store cannot be read"}
            until(lambda: client.metrics().get("almanac_store_readable") == "0.0")
        until(lambda: client.ready().status_code == 200)
        assert client.ask().status_code == 200


@pytest.mark.parametrize("how", ["stall", "cut"])
def test_a_reload_without_the_primary_leaves_the_workers_as_they_are(database, key, how, tmp_path):
    """A new worker could not begin without it."""
    home, url = database
    log = tmp_path / "log"
    with (
        way_to(url) as (way, by_way),
        serving(home, log, DATABASE_URL=by_way, DATABASE_READ_URLS=url, LOG_LEVEL="error") as server,
    ):
        until_ready(server)
        client = Client(server, key)
        assert client.ask().status_code == 200
        with lost(way, how):
            server.process.send_signal(signal.SIGHUP)
            until(lambda: '"event":"the settings stay as they were"' in log.read_text())
            assert client.ask().status_code == 200
        assert server.process.poll() is None
