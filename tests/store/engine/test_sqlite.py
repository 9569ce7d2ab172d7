"""What SQLite gives as an engine: errors of ours, transactions that are whole, snapshots, and the token of a change."""

import os
import subprocess
import sys
from contextlib import closing
from unittest import mock

import apsw
import pytest

from almanac.store.engine import opening, sqlite
from almanac.store.engine.data_schema import meta, set_meta
from almanac.store.engine.errors import (
    BusyError,
    ConflictError,
    DamagedError,
    DatabaseError,
    FullError,
    UnavailableError,
)
from almanac.store.engine.sql_compat import next_id

pytestmark = pytest.mark.sqlite


@pytest.fixture
def path(tmp_path):
    with closing(sqlite.connect(tmp_path / "a.db")) as db:
        db.execute("CREATE TABLE told(number INTEGER PRIMARY KEY, word TEXT UNIQUE)")
    return tmp_path / "a.db"


@pytest.fixture
def db(path):
    with closing(sqlite.connect(path, busy_seconds=0)) as opened:
        yield opened


def words(db):
    return [word for (word,) in db.execute("SELECT word FROM told ORDER BY number")]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (apsw.BusyError, BusyError),
        (apsw.LockedError, BusyError),
        (apsw.CorruptError, DamagedError),
        (apsw.NotADBError, DamagedError),
        (apsw.FullError, FullError),
        (apsw.CantOpenError, UnavailableError),
        (apsw.IOError, UnavailableError),
        (apsw.ReadOnlyError, UnavailableError),
        (apsw.ProtocolError, UnavailableError),
        (apsw.ConstraintError, ConflictError),
        (apsw.SQLError, DatabaseError),
    ],
)
def test_an_error_of_the_engine_leaves_as_one_of_ours(theirs, ours):
    with pytest.raises(DatabaseError, match="as it was") as caught, opening.faults():
        raise theirs("as it was")
    assert type(caught.value) is ours
    assert type(caught.value.__cause__) is theirs
    assert type(opening.fault(theirs("as it was"))) is ours
    assert opening.fault(caught.value) is caught.value


def test_an_error_that_is_not_of_the_engine_stays_as_it_is():
    with pytest.raises(KeyError), opening.faults():
        raise KeyError
    assert opening.fault(KeyError()) is None
    assert opening.fault(None) is None


def tell(db, word):
    """A new word's number."""
    return db.execute(f"INSERT INTO told VALUES({next_id('number', 'told')}, ?) RETURNING number", (word,)).get


def test_rows_get_numbers_and_changes_are_counted(db):
    assert [tell(db, word) for word in "ab"] == [1, 2]
    assert db.update("UPDATE told SET word = word || 'x' WHERE number > ?", (0,)) == 2
    assert db.update("UPDATE told SET word = 'y' WHERE number > ?", (2,)) == 0


def test_a_transaction_is_whole_or_nothing(db):
    with db.transaction():
        tell(db, "a")
    with pytest.raises(KeyboardInterrupt), db.transaction():
        tell(db, "b")
        raise KeyboardInterrupt
    with pytest.raises(ConflictError), db.transaction():
        tell(db, "c")
        tell(db, "a")
    assert words(db) == ["a"]


def test_a_transaction_that_cannot_be_committed_is_undone(db):
    db.execute("PRAGMA foreign_keys = 1")
    db.execute("CREATE TABLE of(word TEXT REFERENCES told(word) DEFERRABLE INITIALLY DEFERRED)")
    with pytest.raises(ConflictError), db.transaction():
        db.execute("INSERT INTO of VALUES('nobody')")
    assert not db.in_transaction
    assert db.execute("SELECT count(*) FROM of").get == 0


def test_writers_come_one_after_the_other(path, db):
    with closing(sqlite.connect(path)) as other, other.transaction(), pytest.raises(BusyError), db.transaction():
        pass


def test_a_snapshot_is_one_state_and_its_token_tells_it_from_the_next(path, db):
    with closing(sqlite.connect(path, read_only=True)) as reader:
        with reader.snapshot():
            tell(db, "a")
            assert words(reader) == []
        first = reader.begin_snapshot()
        assert words(reader) == ["a"]
        tell(db, "b")
        assert words(reader) == ["a"]
        reader.end_snapshot()
        reader.end_snapshot()
        assert reader.change_token() != first
        assert reader.change_token() == reader.begin_snapshot()
        assert words(reader) == ["a", "b"]


def test_a_copy_is_what_was_committed_with_its_version(tmp_path):
    with closing(opening.create(tmp_path / "data.db")) as db:
        set_meta(db, "version", "7")
        with db.transaction():
            set_meta(db, "version", "8")
            (tmp_path / "copy").touch()
            sqlite.copy_file(tmp_path / "data.db", tmp_path / "copy", lambda _: lambda _: None)
    with sqlite.offline(tmp_path / "copy") as copied:
        assert meta(copied, "version") == "7"


def test_the_log_is_cut_although_another_connection_has_the_file_open(path, db):
    log = path.with_name("a.db-wal")
    with closing(sqlite.connect(path, read_only=True)) as reader:
        words(reader)
        assert not db.written()
        db.execute("INSERT INTO told VALUES(NULL, zeroblob(1000000))")
        assert db.written()
        assert log.stat().st_size > 1_000_000
        db.truncate_log(5.0)
        assert log.stat().st_size == 0
        assert words(reader) == [bytes(1_000_000)]


def test_a_log_that_a_reader_needs_stays_and_the_next_one_cuts_it(path, db):
    log = path.with_name("a.db-wal")
    with closing(sqlite.connect(path, read_only=True)) as reader:
        with reader.snapshot():
            words(reader)
            db.execute("INSERT INTO told VALUES(NULL, zeroblob(1000000))")
            db.truncate_log(0.0)
            assert words(reader) == []
            assert log.stat().st_size > 1_000_000
        db.truncate_log(0.0)
        assert log.stat().st_size == 0


def test_a_log_that_grew_is_cut_when_it_is_begun_anew(path, monkeypatch):
    monkeypatch.setattr(sqlite, "LOG_BYTES", 100_000)
    log = path.with_name("a.db-wal")
    with closing(sqlite.connect(path)) as db, closing(sqlite.connect(path, read_only=True)) as reader:
        with reader.snapshot():
            db.execute("INSERT INTO told VALUES(NULL, zeroblob(9000000))")
        db.execute("PRAGMA wal_checkpoint(PASSIVE)")
        assert log.stat().st_size > 9_000_000
        db.execute("INSERT INTO told VALUES(NULL, 'b')")
        assert log.stat().st_size <= 100_000


def test_a_database_is_for_its_owner_alone(tmp_path):
    """With its WAL, whatever mask the process has, and also where an earlier version left it open."""
    path = tmp_path / "home" / "data.db"
    siblings = [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]
    old = os.umask(0)
    try:
        with closing(opening.create(path)) as db:
            with db.transaction():
                db.execute("CREATE TABLE told(number)")
            assert [one.stat().st_mode & 0o777 for one in siblings] == [0o600] * 3
            for one in siblings:
                one.chmod(0o644)
            with closing(opening.create(path)), db.transaction():
                db.execute("INSERT INTO told VALUES(1)")  # its locks are still its own
                assert [one.stat().st_mode & 0o777 for one in siblings] == [0o600] * 3
        assert path.parent.stat().st_mode & 0o777 == 0o700
        path.chmod(0o400)
        sqlite.narrow(path)
        assert path.stat().st_mode & 0o777 == 0o400
    finally:
        os.umask(old)


def test_looking_at_a_database_takes_no_lock_from_its_writer(tmp_path):
    """Closing any handle of the file would: then another process could write in the middle of a transaction."""
    path = tmp_path / "data.db"
    program = """
import sys
from pathlib import Path
from almanac.store.engine import sqlite
sqlite.connect(Path(sys.argv[1]), busy_seconds=0).execute("BEGIN IMMEDIATE")
"""
    with closing(opening.create(path)) as db, db.transaction():
        db.execute("CREATE TABLE told(number)")
        sqlite.narrow(path)
        done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=False)
        assert "BusyError" in done.stderr


def test_a_fault_on_a_full_disk_is_told_as_a_full_disk(tmp_path, monkeypatch):
    path, fault = tmp_path / "data.db", UnavailableError("disk I/O error")
    assert "disk is full" not in opening.advice(fault, path)
    monkeypatch.setattr(opening.shutil, "disk_usage", lambda _: mock.Mock(free=4_096))
    assert opening.advice(fault, path).startswith(f"the disk is full ({path}: disk I/O error)")


@pytest.mark.parametrize("count", [0, 1, 3, 5, 63, 64, 65, 150])
def test_what_lies_behind_many_keys_is_what_each_gives_by_itself_in_their_order(db, count):
    db.execute("CREATE TABLE number(a INTEGER, b INTEGER, c INTEGER, PRIMARY KEY(a, b)) WITHOUT ROWID")
    with db.transaction():
        db.executemany("INSERT INTO number VALUES(?, ?, ?)", [(a, b, a * b) for a in range(200) for b in range(3)])
    sql = "SELECT k.column1, x.b, x.c, 'b' FROM {keys}number x WHERE x.a = k.column2 AND x.b < k.column3 AND NOT x.c > k.column4"
    keys = [(place, a, a % 4, 300) for place, a in enumerate(reversed(range(50, 50 + count)))]
    found = list(db.seek(sql, keys))
    alone = "SELECT ?1, x.b, x.c, 'b' FROM number x WHERE x.a = ?2 AND x.b < ?3 AND NOT x.c > ?4"
    assert found == list(db.executemany(alone, keys))
    assert bool(found) is (count > 0)
