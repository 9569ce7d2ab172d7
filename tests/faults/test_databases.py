"""A dead, damaged, locked or replaced database: 503 with Retry-After while it lasts, and no restart afterwards."""

import contextlib
import os
import shutil
import subprocess
import sys
import time

import httpx2
import pytest

from almanac.store.accounts.accounts import Accounts
from almanac.store.engine.errors import UnavailableError
from almanac.store.observations.reading.reader import Reader
from tests.support.processes import ingest, run
from tests.support.servers import serving
from tests.support.service import REAL_NOW, Service, copy, make_accounts, settings

from .mirrors import NOW, TREASURY_SOURCE
from .states import same, state

pytestmark = (
    pytest.mark.sqlite
)  # files are damaged, replaced and locked; test_server_lost is about a server's databases
PATH = "/observations?indicator=gov_yield_10y&limit=500"


@pytest.fixture
def home(small_home, tmp_path):
    found = copy(small_home, tmp_path / "home")
    make_accounts(settings(found, NOW=NOW))
    return found


def remove(home, name="data.db"):
    for path in home.glob(f"{name}*"):
        path.unlink()


def cut(home, share):
    path = home / "data.db"
    os.truncate(path, int(path.stat().st_size * share) // 8192 * 8192)


def scribble(home):
    with (home / "data.db").open("r+b") as file:
        file.write(bytes(range(256)) * 2_000)


DAMAGES = {
    "removed": remove,
    "emptied": lambda home: cut(home, 0),
    "half": lambda home: cut(home, 0.5),
    "scribbled": scribble,
}


def put_back(home, small_home):
    """As an operator would: the whole folder of database files goes, a good one comes in one step."""
    remove(home)
    shutil.copy(small_home / "data.db", home / "fresh")
    (home / "fresh").rename(home / "data.db")


def check_down(answer):
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "service_unavailable"
    assert int(answer.headers["retry-after"]) >= 1
    assert str(answer.json()).count("data.db") == 0  # nothing of our inside


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_cannot_be_read_is_503_until_it_can(damage, home, small_home):
    service = Service(home)
    try:
        good = service.get(PATH).json()["data"]
        assert len(good) == 500
        for limit in (100, 200):
            damage(home)
            for more in range(2):
                # A page asked for before may still be in memory, where its file was damaged in place.
                check_down(service.get(PATH.replace("500", str(limit + more))))
            put_back(home, small_home)
            assert service.get(PATH).json()["data"] == good
    finally:
        service.close()


def test_a_store_replaced_by_another_is_read_at_the_next_request(home, small_home, tmp_path):
    reader = Reader(home / "data.db")
    with reader.view() as view:
        before = view.version, view.epoch
    other = tmp_path / "other"
    shutil.copytree(small_home, other)
    run(other, "rebuild")
    (other / "data.db").rename(home / "data.db")
    with reader.view() as view:
        assert (view.version, view.epoch) != before
        assert view.version == before[0] + 1
    reader.close()


@pytest.mark.slow
def test_accounts_replaced_by_others_are_asked_at_the_next_request(tmp_path):
    for name in ("one", "two"):
        accounts = Accounts(tmp_path / name / "accounts.db")
        accounts.create_account("a@example.org", "free", ["free"], now=1)
        accounts.close()
    accounts = Accounts(tmp_path / "one" / "accounts.db")
    key, _ = accounts.create_key("a@example.org", now=1)
    assert accounts.verify(key, 2)
    remove(tmp_path / "one", "accounts.db")
    # A key remembered from a file that is gone could never be revoked.
    with pytest.raises(UnavailableError, match="No such file"):
        accounts.verify(key, 2)
    remove_and_move = tmp_path / "two" / "accounts.db"
    remove_and_move.rename(tmp_path / "one" / "accounts.db")
    assert not accounts.verify(key, 2)
    other, _ = accounts.create_key("a@example.org", now=1)
    assert accounts.verify(other, 2)
    (tmp_path / "one" / "bad").write_bytes(b"no database" * 1000)
    (tmp_path / "one" / "bad").rename(tmp_path / "one" / "accounts.db")
    for _ in range(2):
        with pytest.raises(UnavailableError, match="is not an accounts database"):
            accounts.verify(other, 2)


# -- the commands -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def locked(path, seconds):
    """The write lock, held by another process for so long or until the end of the block."""
    code = (
        f"import apsw, sys\nc = apsw.Connection({str(path)!r})\nc.execute('BEGIN EXCLUSIVE')\nprint('held', flush=True)\n"
        f"import select\nselect.select([sys.stdin], [], [], {seconds})"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    try:
        yield
    finally:
        holder.communicate()


@pytest.mark.slow
def test_an_ingest_waits_for_another_writer(home, small_mirror):
    with locked(home / "data.db", 1.5):
        ingest(home, small_mirror, (TREASURY_SOURCE,))


def test_an_ingest_that_waited_too_long_says_what_to_do(home, small_mirror):
    hasty = "from almanac.pipeline import context; context._WAIT_SECONDS = 0.1"
    with locked(home / "data.db", 60):
        done = ingest(home, small_mirror, (TREASURY_SOURCE,), before=hasty, expect=1)
        # Looking needs no lock.
        assert run(home, "status", before=hasty).returncode == 0
    told = f"Error: {home / 'data.db'} is held by another writer: run the command again when that one has ended\n"
    assert done.stderr == told


@pytest.mark.slow
def test_accounts_locked_by_a_writer_are_still_read(home):
    service = Service(home)
    try:
        with locked(home / "accounts.db", 60):
            assert service.get(PATH).status_code == 200
    finally:
        service.close()


@pytest.mark.parametrize(
    "damage", [scribble, pytest.param(lambda home: cut(home, 0.5), marks=pytest.mark.slow)], ids=["scribbled", "half"]
)
def test_the_advice_on_a_damaged_store_works(damage, home, small_mirror, small_home):
    damage(home)
    done = ingest(home, small_mirror, (TREASURY_SOURCE,), expect=1)
    assert done.stderr.startswith(f"Error: {home / 'data.db'} is damaged (")
    assert "move it and the files data.db-wal and data.db-shm away and run `almanac rebuild`" in done.stderr
    remove(home)
    assert run(home, "rebuild").stdout.startswith("4 payloads replayed, ")
    same(state(small_home), state(home))


# -- a running server ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_server_outlives_its_databases(home, small_home, small_mirror, tmp_path):
    key = dict(line.split() for line in (home / "keys").read_text().splitlines())["enterprise"]
    backup = tmp_path / "all.almanac"
    run(home, "backup", backup)
    with serving(home) as server:

        def ask(path=PATH):
            return httpx2.get(server.base + path, headers={"x-api-key": key}, timeout=30)

        def ready():
            return httpx2.get(f"{server.ops}/readyz", timeout=30).status_code

        good = ask().json()["data"]
        assert len(good) == 500
        for number, damage in enumerate(DAMAGES.values()):
            damage(home)
            for more in range(2):
                # A page asked for before may still be in memory, where its file was damaged in place.
                check_down(ask(PATH.replace("500", str(100 + 2 * number + more))))
            assert ready() == 503
            put_back(home, small_home)
            assert ask().json()["data"] == good
            assert ready() == 200
        # A writer that holds on to its lock keeps nobody from reading.
        for name in ("data.db", "accounts.db"):
            with locked(home / name, 60):
                assert ask().json()["data"] == good
        # Rebuilt, and read without a restart.
        version = int(ask().headers["x-data-version"])
        run(home, "rebuild")
        assert int(ask().headers["x-data-version"]) == version + 1
        assert ask().json()["data"] == good
        # The whole home goes and comes back from the backup, accounts and all.
        home.rename(tmp_path / "gone")
        assert ask().status_code == 503
        # The server may have begun to count in the new folder before the restore looks at it.
        for _ in range(10):
            if run(home, "restore", backup, expect=None).returncode == 0:
                break
            for left in home.glob("usage.db*"):
                left.unlink()
        assert ask().json()["data"] == good
        accounts = Accounts(home / "accounts.db")
        accounts.revoke(key, now=REAL_NOW)
        accounts.close()
        time.sleep(0.6)  # within half a second, says the page on operations
        assert ask().status_code == 401
        assert server.process.poll() is None
