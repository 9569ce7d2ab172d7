"""Room that a file holds and does not use goes back to the disk, while others read, or it is said why not."""

import contextlib
import os
import shutil
import subprocess
import sys

import pytest

from almanac.store.engine import opening, room, sqlite

pytestmark = pytest.mark.sqlite  # a server looks after its own


@pytest.fixture
def path(tmp_path):
    """A store of which most was taken away."""
    path = tmp_path / "data.db"
    with contextlib.closing(sqlite.create(path)) as db:
        with db.transaction():
            db.executemany(
                "INSERT INTO note VALUES(NULL, ?)", [(f"{number:05} {'x' * 2000}",) for number in range(3_000)]
            )
        with db.transaction():
            db.execute("DELETE FROM note WHERE note > 300")
        db.truncate_log(1)
    return path


def test_the_file_is_as_short_as_what_is_in_it_and_a_reader_goes_on(path):
    before = path.stat().st_size
    with (
        contextlib.closing(opening.connect(path, read_only=True)) as reader,
        contextlib.closing(sqlite.connect(path)) as db,
    ):
        sql = "SELECT count(*), min(body), max(body) FROM note"
        with reader.snapshot():
            held = reader.execute(sql).fetchone()
            assert held[0] == 300
            assert opening.give_back_room(db, path) is None
            assert reader.execute(sql).fetchone() == held  # of the state before
        assert db.truncate_log(5)
        assert path.stat().st_size < before / 5
        with reader.snapshot():
            assert reader.execute(sql).fetchone() == held
        assert list(db.damages()) == []
        assert db.pragma("temp_store") == 2
    assert {one.name for one in path.parent.iterdir()} <= {"data.db", "data.db-wal", "data.db-shm"}


def test_a_file_that_uses_its_room_is_left_alone(tmp_path):
    with contextlib.closing(sqlite.create(tmp_path / "data.db")) as db:
        changes = db.change_token()
        assert opening.give_back_room(db, tmp_path / "data.db") is None
        assert not db.execute("SELECT 1 FROM note").get
        assert db.change_token() == changes


def test_without_room_for_it_nothing_is_begun_and_it_is_said(path, monkeypatch):
    free = shutil.disk_usage(path)._replace(free=100_000)
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: free)
    before = path.stat().st_size
    with contextlib.closing(sqlite.connect(path)) as db:
        told = opening.give_back_room(db, path)
        assert told.startswith("10 MiB of data.db are not used; to give them back takes ")
        assert told.endswith(" MiB on its disk, where 0 MiB are free")
        assert "there may not be room enough" in opening.lacks_room(db, path)
        db.truncate_log(1)
    assert path.stat().st_size == before
    monkeypatch.undo()
    with contextlib.closing(sqlite.connect(path)) as db:
        assert opening.lacks_room(db, path) is None


def test_another_writer_is_waited_for_no_longer_than_the_connection_waits(path):
    with (
        contextlib.closing(sqlite.connect(path)) as other,
        contextlib.closing(sqlite.connect(path, busy_seconds=0.1)) as db,
        other.transaction(),
    ):
        assert "could not be given back (" in opening.give_back_room(db, path)


def test_a_kill_in_the_middle_leaves_the_file_whole_and_nothing_beside_it(path):
    """The process is killed by its first write of the copy beyond a size, as by a disk's fault."""
    script = (
        "import resource, signal, sys; from pathlib import Path; from almanac.store.engine import opening, sqlite;"
        "path = Path(sys.argv[1]); db = sqlite.connect(path); db.pragma('cache_size', 10);"
        "signal.signal(signal.SIGXFSZ, signal.SIG_DFL);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)); opening.give_back_room(db, path)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, timeout=60, env={**os.environ}, check=False
    )
    assert done.returncode < 0, done.stderr
    with contextlib.closing(sqlite.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM note").get == 300
        assert list(db.damages()) == []
        assert opening.give_back_room(db, path) is None
        assert db.truncate_log(1)
    assert {one.name for one in path.parent.iterdir()} == {"data.db"}
