"""SQLite through apsw: connections, the schema, and transactions that leave nothing half-written."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import apsw

from almanac.store.engine import data_schema, errors
from almanac.store.engine.deadline import deadline_passed
from almanac.store.engine.errors import DatabaseError, UnavailableError, faults
from almanac.store.engine.protocol import Database

#: Pages of a database copied at a time: 8 MiB of the data's.
_PAGES = 1_024
#: `to_version` of a row that has not ended.
OPEN = (1 << 31) - 1
#: What is left of a log that had grown longer, when the next writer begins it anew, bytes.
LOG_BYTES = 64 << 20

#: Steps of SQLite's machine after which a reader is asked whether anybody still waits: a millisecond or so of work.
_STEPS = 20_000

#: Keys looked for by one statement. Joined to the table they cost a third of what each costs by itself, and of each number
#: of them there is a statement to prepare, so that there are few numbers.
_KEYS_AT_ONCE = (64, 16, 4, 1)

#: Errors of apsw that have a class of ours; all others are a plain DatabaseError.
_FAULTS: dict[type[BaseException], type[DatabaseError]] = {
    apsw.BusyError: errors.BusyError,
    apsw.LockedError: errors.BusyError,
    apsw.CorruptError: errors.DamagedError,
    apsw.NotADBError: errors.DamagedError,
    apsw.FullError: errors.FullError,
    apsw.InterruptError: errors.StoppedError,
    apsw.CantOpenError: UnavailableError,
    apsw.IOError: UnavailableError,
    apsw.ReadOnlyError: UnavailableError,
    apsw.ProtocolError: UnavailableError,
    apsw.ConstraintError: errors.ConflictError,
    apsw.TooBigError: errors.UnfitError,
    apsw.MismatchError: errors.UnfitError,
}


def _translate(error: BaseException) -> DatabaseError | None:
    return _FAULTS.get(type(error), DatabaseError)(str(error)) if isinstance(error, apsw.Error) else None


errors.translators.append(_translate)


def identity_of(at: object) -> tuple[int, int]:
    """
    Return which database is at a place now: a connection goes on reading a file that was removed or replaced.

    A server's is always the same: whoever takes a database away there ends the connections to it. Raises UnavailableError
    if there is no file.
    """
    if not isinstance(at, Path):
        return (0, 0)
    try:
        status = os.stat(at)  # noqa: PTH116  (at every request: half the time of Path.stat)
    except OSError as error:
        raise UnavailableError(f"{at}: {error.strerror}") from None
    return (status.st_dev, status.st_ino)


class Connection(apsw.Connection, Database):
    """The engine's `Database` on a file of SQLite."""

    #: Rows are always found as they are read.
    scan = script = apsw.Connection.execute

    def insert(self, table: str, rows: Sequence[Sequence[Any]], /) -> None:
        if rows:
            self.executemany(f"INSERT INTO {table} VALUES({', '.join('?' * len(rows[0]))})", rows)

    def seek(self, sql: str, keys: Sequence[Sequence[Any]], /) -> Iterator[Any]:
        place = 0
        for count in _KEYS_AT_ONCE:
            while len(keys) - place >= count:
                some = keys[place : place + count]
                listed = ", ".join([f"({', '.join('?' * len(some[0]))})"] * count)
                joined = sql.replace("{keys}", f"(VALUES {listed}) k CROSS JOIN ")
                yield from self.execute(joined, tuple(chain.from_iterable(some))).fetchall()
                place += count

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        with faults():
            self.execute("BEGIN IMMEDIATE")  # takes the lock at once
            try:
                yield
                self.execute("COMMIT")
            except BaseException:  # whatever ended it, a signal too
                if self.in_transaction:
                    self.execute("ROLLBACK")
                raise

    def begin_snapshot(self) -> int:
        self.execute("BEGIN")
        token: int = self.execute("PRAGMA data_version").get  # which takes the snapshot
        return token

    def end_snapshot(self) -> bool:
        if self.in_transaction:
            self.execute("COMMIT")
        # SQLite keeps the snapshot for as long as any statement has rows left to be read.
        return self.txn_state() == apsw.SQLITE_TXN_NONE

    def change_token(self) -> int:
        token: int = self.execute("PRAGMA data_version").get
        return token

    def written(self) -> bool:
        try:
            return self.total_changes() > 0
        except apsw.ConnectionClosedError:  # whoever closed it was through with it
            return False

    def tables(self) -> list[str]:
        return sorted(name for (name,) in self.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"))

    def damages(self) -> Iterator[str]:
        yield from (damage for (damage,) in self.execute("PRAGMA integrity_check") if damage != "ok")

    def recreate(self) -> None:
        data_schema.recreate(self, self.tables())

    def empty(self, table: str) -> None:
        self.execute(f"DELETE FROM {table}")

    def schema_number(self) -> int:
        return int(self.pragma("user_version"))

    def set_schema_number(self, number: int) -> None:
        self.pragma("user_version", number)

    def truncate_log(self, seconds: float) -> None:
        self.set_busy_timeout(int(seconds * 1000))
        with contextlib.suppress(
            apsw.Error
        ):  # busy, full, damaged: what was committed is in the log, and readers are told
            self.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def narrow(path: Path) -> None:
    """
    Make a database file that its owner alone may read, before SQLite does: its WAL gets the same mode. One that is there
    is narrowed with its WAL; it is never opened here, for closing it would drop SQLite's locks. Raises OSError where none
    can be made.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        with contextlib.suppress(OSError):  # not there, or the path is shared: no fault of ours
            file.chmod(file.stat().st_mode & 0o600)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """
    Hold a lock in the block: one process at a time makes database files in a folder.

    SQLite does not wait for a lock while it turns a new file to WAL: processes that start together would fail. The
    lock is on the folder, for closing any handle of the database file would drop SQLite's own locks.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@faults()
def connect(
    path: Path, *, read_only: bool = False, busy_seconds: float = 30.0, area: str = "data", durable: bool = False
) -> Connection:
    """
    Open a database file. A writer creates it, with its folder; a reader raises UnavailableError where there is none.

    A file holds one area, so that `area` is of no account here.
    """
    with contextlib.ExitStack() as making:
        if not read_only and path.name != ":memory:":  # SQLite's own name for a database without a file
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            narrow(path)
            making.enter_context(alone(path.parent))
        flags = apsw.SQLITE_OPEN_READWRITE if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        connection = Connection(str(path), flags=flags, statementcachesize=200)
        connection.set_busy_timeout(int(busy_seconds * 1000))
        if not read_only:
            connection.pragma("page_size", 8192)
            connection.pragma("journal_mode", "wal")
            connection.pragma("journal_size_limit", LOG_BYTES)
            connection.pragma("foreign_keys", 1)
    connection.pragma("synchronous", 2 if durable else 1)
    connection.pragma("mmap_size", 1 << 32)
    connection.pragma("cache_size", -65_536)
    connection.pragma("temp_store", 2)
    # Plans that do not depend on bound values: else SQLite prepares a statement anew for nearly every one of them, where
    # its table has a partial index.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    if read_only:
        # Read-write at file level, so that WAL's shared memory works; read-only for every statement.
        connection.pragma("query_only", 1)
        connection.set_progress_handler(deadline_passed, _STEPS)
    return connection


# -- files that nobody else uses, such as those out of a backup ---------------------------------------------------------


@contextlib.contextmanager
def offline(path: Path) -> Iterator[Connection]:
    """Open a file as it is for a block; its errors leave as ours."""
    with faults(), contextlib.closing(Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as db:
        yield db


def file_damages(path: Path) -> list[str]:
    """List what the engine finds wrong with a file: pages, indices that do not agree with their tables."""
    try:
        with offline(path) as db:
            return list(db.damages())
    except UnavailableError as error:
        return [str(error)]


@faults()
def copy_file(path: Path, target: Path, begin: Callable[[int], Callable[[float], None]]) -> None:
    """
    Make a consistent copy of a database in use: a writer is not held up, all is copied within one read transaction.

    `target` is there already, empty. `begin` is told how many bytes there are, and gives what is told how many were
    copied.
    """
    with (
        contextlib.closing(Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)) as copied,
        contextlib.closing(connect(path, read_only=True)) as source,
        source.snapshot(),  # held between the steps too: else a writer would have it begin anew
        copied.backup("main", source, "main") as running,
    ):
        size = source.pragma("page_size")
        left = source.pragma("page_count")  # `remaining` tells it only once a step was taken
        advance = begin(left * size)
        while not running.done:
            running.step(_PAGES)
            advance((left - running.remaining) * size)
            left = running.remaining
