"""What SQLite gives as an engine: errors of ours, transactions that are whole, snapshots, and the token of a change."""

from contextlib import closing

import apsw
import pytest

from almanac.store.engine import sqlite
from almanac.store.engine.errors import (
    BusyError,
    ConflictError,
    DamagedError,
    DatabaseError,
    FullError,
    UnavailableError,
)


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
        (apsw.ProtocolError, UnavailableError),
        (apsw.ConstraintError, ConflictError),
        (apsw.SQLError, DatabaseError),
    ],
)
def test_an_error_of_the_engine_leaves_as_one_of_ours(theirs, ours):
    with pytest.raises(DatabaseError, match="as it was") as caught, sqlite.faults():
        raise theirs("as it was")
    assert type(caught.value) is ours
    assert type(caught.value.__cause__) is theirs
    assert type(sqlite.fault(theirs("as it was"))) is ours
    assert sqlite.fault(caught.value) is caught.value


def test_an_error_that_is_not_of_the_engine_stays_as_it_is():
    with pytest.raises(KeyError), sqlite.faults():
        raise KeyError
    assert sqlite.fault(KeyError()) is None
    assert sqlite.fault(None) is None


def test_rows_get_numbers_and_changes_are_counted(db):
    assert [db.insert("INSERT INTO told VALUES(NULL, ?)", (word,)) for word in "ab"] == [1, 2]
    assert db.update("UPDATE told SET word = word || 'x' WHERE number > ?", (0,)) == 2
    assert db.update("UPDATE told SET word = 'y' WHERE number > ?", (2,)) == 0


def test_a_transaction_is_whole_or_nothing(db):
    with db.transaction():
        db.insert("INSERT INTO told VALUES(NULL, ?)", ("a",))
    with pytest.raises(KeyboardInterrupt), db.transaction():
        db.insert("INSERT INTO told VALUES(NULL, ?)", ("b",))
        raise KeyboardInterrupt
    with pytest.raises(ConflictError), db.transaction():
        db.insert("INSERT INTO told VALUES(NULL, ?)", ("c",))
        db.insert("INSERT INTO told VALUES(NULL, ?)", ("a",))
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
            db.insert("INSERT INTO told VALUES(NULL, ?)", ("a",))
            assert words(reader) == []
        first = reader.begin_snapshot()
        assert words(reader) == ["a"]
        db.insert("INSERT INTO told VALUES(NULL, ?)", ("b",))
        assert words(reader) == ["a"]
        reader.end_snapshot()
        reader.end_snapshot()
        assert reader.change_token() != first
        assert reader.change_token() == reader.begin_snapshot()
        assert words(reader) == ["a", "b"]


def test_a_copy_is_what_was_committed_with_its_version(tmp_path):
    with closing(sqlite.create(tmp_path / "data.db")) as db:
        sqlite.set_meta(db, "version", "7")
        with db.transaction():
            sqlite.set_meta(db, "version", "8")
            (tmp_path / "copy").touch()
            sqlite.copy(tmp_path / "data.db", tmp_path / "copy")
    assert sqlite.data_version(tmp_path / "copy") == 7
