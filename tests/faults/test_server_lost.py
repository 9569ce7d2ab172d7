"""A server's database that is away, closed, emptied or held by another writer: 503 while it lasts, and no restart afterwards."""

import contextlib
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit, urlunsplit

import httpx2
import pytest

from almanac.store.engine.postgres import DATA
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


@pytest.fixture
def database():
    with postgres.own_database("lost") as name:
        yield name


@pytest.fixture
def more(database):
    return {"DATABASE_URL": postgres.address_of(database)}


@pytest.fixture
def home(more, small_mirror, tmp_path):
    ingest(tmp_path / "home", small_mirror, (TREASURY_SOURCE,), **more)
    return tmp_path / "home"


@contextlib.contextmanager
def server(database="postgres"):
    import psycopg

    with psycopg.connect(postgres.address_of(database), autocommit=True) as connection:
        yield connection


def end_all(connection, name):
    connection.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", (name,))


@contextlib.contextmanager
def closed(name):
    with server() as connection:
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        end_all(connection, name)
        yield
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


@contextlib.contextmanager
def renamed(name):
    with closed(name), server() as connection:
        connection.execute(f"ALTER DATABASE {name} RENAME TO {name}0")
        yield
        connection.execute(f"ALTER DATABASE {name}0 RENAME TO {name}")


@contextlib.contextmanager
def emptied(name):
    with server(name) as connection:
        connection.execute("ALTER SCHEMA public RENAME TO away; CREATE SCHEMA public")
        yield
        connection.execute("DROP SCHEMA public; ALTER SCHEMA away RENAME TO public")


def test_a_server_outlives_its_database(home, database, more):
    run(home, "accounts", "create", "a@example.org", "--plan", "enterprise", **more)
    key = run(home, "keys", "create", "--account", "a@example.org", **more).stdout.split()[-1]
    with serving(home, **more) as one:

        def ask(limit):
            return httpx2.get(f"{one.base}{PATH}&limit={limit}", headers={"x-api-key": key}, timeout=60)

        def ready():
            return httpx2.get(f"{one.ops}/readyz", timeout=60).status_code

        good = ask(50).json()["data"]
        assert len(good) == 50
        for number, lost in enumerate((closed, renamed, emptied)):
            with lost(database):
                for again in range(2):
                    answer = ask(60 + 2 * number + again)  # a page that is in no memory
                    assert answer.status_code == 503, answer.text
                    assert answer.json()["error"]["code"] == "service_unavailable"
                    assert int(answer.headers["retry-after"]) >= 1
                    assert database not in answer.text
                assert ready() == 503
            answer = ask(50)
            assert answer.status_code == 200, (lost, answer.text, ask(50).text[:100])
            assert answer.json()["data"] == good
            assert ready() == 200
        with server() as connection:
            end_all(connection, database)
        # Connections that were ended are made anew: nobody notices, or is told to ask once more.
        answers = [ask(50) for _ in range(3)]
        assert {answer.status_code for answer in answers} <= {200, 503}
        assert answers[-1].json()["data"] == good
        assert one.process.poll() is None


def test_while_a_database_hangs_each_wait_ends(home, more):
    run(home, "accounts", "create", "a@example.org", "--plan", "enterprise", **more)
    key = run(home, "keys", "create", "--account", "a@example.org", **more).stdout.split()[-1]
    with way_to(more["DATABASE_URL"]) as (way, by_way), serving(home, DATABASE_URL=by_way, REQUEST_SECONDS="2") as one:
        headers = {"x-api-key": key}

        def ask(limit):
            return httpx2.get(f"{one.base}{PATH}&limit={limit}", headers=headers, timeout=60)

        until_ready(one)
        assert ask(50).status_code == 200
        way.stall()
        try:
            # More than a worker has threads: each has its end, whatever those before it wait for.
            with ThreadPoolExecutor(12) as clients:
                begun = time.monotonic()
                waiting = [clients.submit(ask, 60 + number) for number in range(12)]
                # Meanwhile the event loop answers whoever needs no database.
                assert [httpx2.get(f"{one.base}/coverage", timeout=60).status_code for _ in range(3)] == [401] * 3
                answers = [found.result() for found in waiting]
            assert {answer.status_code for answer in answers} == {503}
            assert all(int(answer.headers["retry-after"]) >= 1 for answer in answers)
            assert time.monotonic() - begun < 20  # one after the other they would have taken longer
            assert httpx2.get(f"{one.ops}/readyz", timeout=60).status_code == 503
        finally:
            way.go_on()
        until_ready(one)
        assert ask(50).status_code == 200


def test_an_address_with_several_hosts_is_served_by_the_one_that_is_there(home, more):
    url = urlsplit(more["DATABASE_URL"])
    at = url.netloc.rpartition("@")
    several = urlunsplit(
        url._replace(netloc=f"{at[0]}{at[1]}127.0.0.1:1,{at[2]}", query="target_session_attrs=read-write")
    )
    with serving(home, DATABASE_URL=several) as one:
        until_ready(one)


def test_a_writer_waits_for_another_and_says_what_to_do(home, database, more, small_mirror, tmp_path):
    hasty = "from almanac.pipeline import context; context._WAIT_SECONDS = 0.1"
    shutil.rmtree(home / "raw")
    with server(database) as connection:
        held = "hashtextextended(%s || current_schema(), 0)"
        connection.execute(f"SELECT pg_advisory_lock({held})", (f"almanac {DATA} ",))
        several = {**more, "RAW_STORES": "several"}  # the raw store went, and what is made anew is another one
        done = ingest(home, small_mirror, (TREASURY_SOURCE,), before=hasty, expect=1, **several)
        assert "is held by another writer: run the command again when that one has ended" in done.stderr
        # Looking needs no lock.
        run(home, "status", before=hasty, **more)
        connection.execute(f"SELECT pg_advisory_unlock({held})", (f"almanac {DATA} ",))
    ingest(home, small_mirror, (TREASURY_SOURCE,), **several)


def test_a_home_that_was_served_from_a_server_is_not_looked_for_in_a_file(home, more):
    """The address was lost on its way to a command: what it would find is an empty file."""
    with serving(home, **more):
        pass
    with postgres.files():
        done = run(home, "status", expect=1)
        assert "ALMANAC_DATABASE_URL: is missing" in done.stderr
        assert more["DATABASE_URL"].rpartition("@")[2] in done.stderr
        assert not (home / "data.db").exists()
        file = {"DATABASE_URL": f"sqlite:///{home.absolute()}/data.db"}
        with serving(home, **file):  # it was meant: from then on it is a file
            pass
        run(home, "status")
