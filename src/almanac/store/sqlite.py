"""SQLite through apsw: connections, the schema, and transactions that leave nothing half-written."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import apsw

#: `to_version` of a row that has not ended.
OPEN = 1 << 62
SCHEMA = "4"


class StoreError(Exception):
    """The store cannot be used as asked. The message says what to do."""


#: What a caller treats as "storage unreachable".
Unavailable = (
    apsw.CantOpenError,
    apsw.BusyError,
    apsw.LockedError,
    apsw.IOError,
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.FullError,
    apsw.ProtocolError,
)


def advice(error: Exception, path: Path) -> str:
    """One of `Unavailable` in words for people: which file, what is wrong with it, and what to do."""
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return f"{path} is held by another writer: run the command again when that one has ended"
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return (
            f"{path} is damaged ({error}): move it and the files {path.name}-wal and {path.name}-shm away"
            " and run `almanac rebuild`, which makes it anew from the raw store"
        )
    if isinstance(error, apsw.FullError):
        return f"the disk is full ({path}: {error}): make room and run the command again; nothing is half-written"
    return f"{path} cannot be used ({error}): nothing is half-written; run the command again when the cause is gone"


def identity(path: Path) -> tuple[int, int]:
    """
    Which file stands at a path: a connection goes on reading one that was removed or replaced, and never notices.

    Raises apsw.CantOpenError where there is none.
    """
    try:
        found = os.stat(path)  # noqa: PTH116  (at every request: half the time of Path.stat)
    except OSError as error:
        raise apsw.CantOpenError(f"{path}: {error.strerror}") from None
    return (found.st_dev, found.st_ino)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """
    One process at a time makes database files in a folder.

    SQLite does not wait for a lock while it turns a new file to WAL: processes that start together would fail. The
    lock is on the folder, for closing any handle of the database file would drop SQLite's own locks.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def connect(path: Path, *, read_only: bool = False, busy_seconds: float = 30.0) -> apsw.Connection:
    """Open a database file. A writer creates it; a reader raises apsw.CantOpenError where there is none."""
    flags = apsw.SQLITE_OPEN_READWRITE if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    if not read_only:
        path.parent.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(path), flags=flags, statementcachesize=200)
    connection.set_busy_timeout(int(busy_seconds * 1000))
    if not read_only:
        connection.pragma("page_size", 8192)
        connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", 1)
    connection.pragma("mmap_size", 1 << 32)
    connection.pragma("cache_size", -65_536)
    connection.pragma("temp_store", 2)
    if read_only:
        # Read-write at file level, so that WAL's shared memory works; read-only for every statement.
        connection.pragma("query_only", 1)
        # Plans that do not depend on bound values: else SQLite prepares a page's statement anew for nearly every one.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    return connection


def create(path: Path, *, any_schema: bool = False, busy_seconds: float = 30.0) -> apsw.Connection:
    """
    Open the data database for writing, making it where it is not. One that is there is opened beside any writer.

    Raises StoreError for another schema, unless the caller is about to make the tables anew.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with alone(path.parent):
        connection = connect(path, busy_seconds=busy_seconds)
    with contextlib.suppress(OSError):
        os.chmod(path, 0o600)  # noqa: PTH101  (the path may be shared; a failure here is no fault of ours)
    if not _made(connection):
        with transaction(connection):
            if not _made(connection):
                _make(connection, {"version": "0", "reference": "0"})
    found = meta(connection, "schema")
    if found != SCHEMA and not any_schema:
        raise StoreError(
            f"the data store has schema {found}, this version of Almanac needs {SCHEMA}: run `almanac rebuild`"
        )
    return connection


def _made(connection: apsw.Connection) -> bool:
    return bool(connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get)


def recreate(connection: apsw.Connection) -> None:
    """
    Empty the data database inside the caller's transaction, whatever schema it had. All cursors expire.

    Kept: which world it is and the data version; of this very schema also the list of versions, the health of
    sources and whose turn it is.
    """
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    held: dict[str, str] = dict(connection.execute("SELECT k, v FROM meta"))
    same = held.pop("schema", None) == SCHEMA
    kept = {name: rows(connection, f"SELECT * FROM {name}") for name in _LASTING if same and name in tables}
    for name in tables:
        connection.execute(f'DROP TABLE "{name}"')
    for counted in ("epoch", "events"):
        held.pop(counted, None)
    _make(connection, held)
    for name, lines in kept.items():
        for line in lines:
            connection.execute(f"INSERT INTO {name} VALUES({','.join('?' * len(line))})", line)


_LASTING = ("version", "source_state", "turn")


def _make(connection: apsw.Connection, values: Mapping[str, str]) -> None:
    for part in ("data", "companies", "operations"):
        connection.execute(files(__package__).joinpath(f"schema/{part}.sql").read_text("utf-8"))
    fresh = {**values, "schema": SCHEMA, "epoch": secrets.token_hex(8)}
    connection.executemany("INSERT INTO meta VALUES(?, ?)", list(fresh.items()))


def meta(connection: apsw.Connection, key: str) -> str | None:
    value: str | None = connection.execute("SELECT v FROM meta WHERE k = ?", (key,)).get
    return value


def set_meta(connection: apsw.Connection, key: str, value: str) -> None:
    connection.execute("INSERT INTO meta VALUES(?, ?) ON CONFLICT(k) DO UPDATE SET v = excluded.v", (key, value))


@contextlib.contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """One write transaction: all of it or nothing. The lock is taken at once, so versions are handed out in commit order."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:  # whatever ended it, a signal too
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextlib.contextmanager
def reading(connection: apsw.Connection) -> Iterator[None]:
    """One read transaction: everything inside sees one state."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")


def rows(connection: apsw.Connection, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """All rows of a query."""
    return list(connection.execute(sql, parameters))
