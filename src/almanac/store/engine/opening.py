"""
Where a database is, and the functions that open it: a file of SQLite, or a server of PostgreSQL.

Nothing outside the engine's folder knows which of the two it is given. A `Server` never shows its password.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from almanac import distribution
from almanac.store.engine import data_schema, sqlite
from almanac.store.engine.errors import BusyError, DamagedError, FullError, StoreError, UnavailableError, fault, faults
from almanac.store.engine.protocol import Database
from almanac.store.engine.schemas import AuxiliarySchema

__all__ = ["fault", "faults"]  # the rest is its own

#: Bytes that SQLite needs beside a database: the shared memory of its log.
_LEAST_ROOM = 64 << 10
#: The parameter of an address that says of a pooler that it gives each transaction another connection.
_POOLER = "pooler"


class Server:
    """A database of PostgreSQL. As a text it is host, port and name: what may be shown."""

    __slots__ = ("name", "prepared", "url")

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        parameters = parse_qsl(parts.query, keep_blank_values=True)
        #: Whether statements are prepared on the server, which a pooler of transactions may not keep.
        self.prepared = (_POOLER, "transaction") not in parameters
        query = urlencode([pair for pair in parameters if pair[0] != _POOLER])
        self.url = url if self.prepared else urlunsplit(parts._replace(query=query))
        #: What it is called, as a file is by its name.
        self.name = f"postgresql://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Server({self.name})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Server) and self.url == other.url

    def __hash__(self) -> int:
        return hash(self.url)


Place = Path | Server


def place(setting: Path | str | Server) -> Place:
    """Return the place that a setting says: the path of a file, or an address of PostgreSQL."""
    return Server(setting) if isinstance(setting, str) else setting


def create(at: Place, *, any_schema: bool = False, busy_seconds: float = 30.0) -> Database:
    """
    Open the data database for writing, beside any writer; make its tables if they are not there.

    Raises SchemaError for another schema, unless `any_schema`: the caller is about to make the tables anew.
    """
    db: Database = _engine(at).open_data(at, busy_seconds=busy_seconds)
    with faults():
        try:
            if "meta" not in db.tables():
                with db.transaction():
                    if "meta" not in db.tables():  # whoever comes second finds them made
                        data_schema.make(db, {"version": "0", "reference": "0"})
            if not any_schema:
                data_schema.check_schema(db, at)
        except BaseException:  # whatever it is, the database is let go of
            db.close()
            raise
    return db


def connect(at: Place, *, read_only: bool = False, busy_seconds: float = 30.0) -> Database:
    """Open the data database. A reader raises UnavailableError if there is none."""
    opened: Database = _engine(at).connect(at, read_only=read_only, busy_seconds=busy_seconds)
    return opened


def open_auxiliary(at: Place, *, schema: AuxiliarySchema, busy_seconds: float = 30.0) -> Database:
    """
    Open what is kept beside the data, for reading and writing; make it if it is not there, and bring it to today's schema.

    Raises SchemaError for what a later version wrote, DamagedError for a file of another kind.
    """
    opened: Database = _engine(at).open_auxiliary(at, schema, busy_seconds=busy_seconds)
    return opened


def identity_of(at: Place) -> Callable[[], tuple[int, int]]:
    """
    Return what tells which database is at a place now: a connection goes on reading a file that was replaced.

    A server's is always the same: whoever takes a database away there ends the connections to it. It raises UnavailableError
    if there is no file.
    """
    return partial(sqlite.identity, at) if isinstance(at, Path) else lambda: (0, 0)


def recreate(db: Any) -> None:
    """Empty the data database inside the caller's transaction, whatever schema it had. All cursors expire."""
    db.recreate()


def distribute(at: Place, parts: int) -> bool:
    """
    Distribute the tables of the data database over the machines that Citus knows of. Returns False if that was done before.

    Writers and readers wait. All of it or nothing. Raises StoreError for a database that cannot be distributed; then no
    table is made either.
    """
    if isinstance(at, Path):
        raise StoreError(f"{at} is a file: what is spread over several machines is a database of PostgreSQL with Citus")
    _engine(at).check_machines(at)
    db: Any = create(at)
    with closing(db):
        return bool(db.distribute(parts))


def database_bytes(at: Server) -> int:
    """Return how many bytes a database takes on its server. Raises UnavailableError if that cannot be reached."""
    size: int = _engine(at).database_bytes(at)
    return size


def advice(error: UnavailableError, at: Place) -> str:
    """Say for people which database cannot be used, why, and what to do."""
    if isinstance(error, BusyError):
        return f"{at} is held by another writer: run the command again when that one has ended"
    if isinstance(error, DamagedError):
        first = (
            f"move it and the files {at.name}-wal and {at.name}-shm away and"
            if isinstance(at, Path)
            else "restore it, or"
        )
        return f"{at} is damaged ({error}): {first} run `almanac rebuild`, which makes it anew from the raw store"
    if isinstance(at, Path) and (isinstance(error, FullError) or _is_full(at.parent)):
        return f"the disk is full ({at}: {error}): make room and run the command again; nothing is half-written"
    if isinstance(error, FullError):
        return f"{at} has no room left ({error}): make room and run the command again; nothing is half-written"
    if isinstance(at, Path) and not os.access(at.parent, os.W_OK):
        return f"{at} cannot be used ({error}): {at.parent} is read-only, and a database wants to write beside its file"
    return f"{at} cannot be used ({error}): nothing is half-written; run the command again when the cause is gone"


def _is_full(folder: Path) -> bool:
    """Return whether a disk has less room than a database needs to be opened: SQLite reports that as any fault of the disk."""
    try:
        return shutil.disk_usage(folder).free < _LEAST_ROOM
    except OSError:
        return False


def advise_of_kept(error: UnavailableError, at: Place) -> str:
    """Say for people why a database kept beside the data, which no rebuild makes anew, cannot be used."""
    if isinstance(error, DamagedError):
        return f"{at} is damaged ({error}): restore it from a backup"
    return advice(error, at)


def _engine(at: Place) -> Any:
    if isinstance(at, Path):
        return sqlite
    try:
        from almanac.store.engine import postgres  # noqa: PLC0415  (its driver is an extra)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "psycopg":
            raise
        raise StoreError(
            f"a database of PostgreSQL needs its driver: {distribution.how_to_install('postgres')}"
        ) from None
    return postgres
