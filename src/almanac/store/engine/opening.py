"""
Where a database is, and the functions that open it: a file of SQLite, or a server of PostgreSQL.

Nothing outside the engine's folder knows which of the two it is given. A `Server` never shows its password.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from almanac import distribution
from almanac.store.engine import citus, data_schema, errors, sqlite
from almanac.store.engine.errors import SchemaError, StoreError, UnavailableError, fault, faults
from almanac.store.engine.protocol import Database
from almanac.store.engine.schemas import AuxiliarySchema

__all__ = ["fault", "faults"]  # the rest is its own

#: Bytes that SQLite needs beside a database: the shared memory of its log.
_LEAST_ROOM = 64 << 10


@dataclass(frozen=True, repr=False)
class Server:
    """A database of PostgreSQL. As a text it is host, port and name: what may be shown."""

    #: Its address, as it is set.
    url: str

    @property
    def name(self) -> str:
        """Return the name of the database, as a file has one."""
        parts = urlsplit(self.url)
        return f"postgresql://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Server({self.name})"


Place = Path | Server


def place(setting: Path | str | Server) -> Place:
    """Return the place that a setting says: the path of a file, or an address of PostgreSQL."""
    return Server(setting) if isinstance(setting, str) else setting


def connect(at: Place, **settings: Any) -> Database:
    """
    Open a database: `read_only`, waiting `busy_seconds` for another writer, of an `area` that excludes others, `durable`.

    A reader raises UnavailableError if there is none. A writer of a file makes it, with its folder.
    """
    db: Database = _engine(at).connect(at, **settings)
    return db


@contextmanager
def _kept(db: Database) -> Iterator[Database]:
    """Let a database go if the block fails, whatever it is. Errors of the engine leave as ours."""
    with faults():
        try:
            yield db
        except BaseException:
            db.close()
            raise


def create(at: Place, *, any_schema: bool = False, busy_seconds: float = 30.0) -> Database:
    """
    Open the data database for writing, beside any writer; make its tables if they are not there.

    Raises SchemaError for another schema, unless `any_schema`: the caller is about to make the tables anew.
    """
    with _kept(connect(at, busy_seconds=busy_seconds)) as db:
        if "meta" not in db.tables():
            with db.transaction():
                if "meta" not in db.tables():  # whoever comes second finds them made
                    data_schema.make(db, {"version": "0", "reference": "0"})
        number = data_schema.meta(db, "schema")
        if number != data_schema.SCHEMA and not any_schema:
            raise SchemaError(data_schema.explain_misfit(number, at))
    return db


def open_auxiliary(at: Place, *, schema: AuxiliarySchema, busy_seconds: float = 30.0) -> Database:
    """
    Open what is kept beside the data, for reading and writing; make it if it is not there, and bring it to today's schema.

    Raises SchemaError for what a later version wrote, DamagedError for a file of another kind.
    """
    return _upgraded(connect(at, busy_seconds=busy_seconds, area=schema.name, durable=schema.durable), schema, at)


def open_copy(file: Path, schema: AuxiliarySchema) -> Database:
    """Open a copy of such a database in a file, as `open_auxiliary` does, for a backup or from one."""
    return _upgraded(sqlite.connect(file, durable=schema.durable), schema, file)


def _upgraded(opened: Database, schema: AuxiliarySchema, at: Place) -> Database:
    with _kept(opened) as db:
        if db.schema_number() != schema.number:
            with db.transaction():
                schema.upgrade(db, at)  # whoever comes second finds it made
    return db


def distribute(at: Place, parts: int) -> bool:
    """
    Distribute the tables of the data database over the machines that Citus knows of. Returns False if that was done before.

    Writers and readers wait. All of it or nothing. Raises StoreError for a database that cannot be distributed; then no
    table is made either.
    """
    if isinstance(at, Path):
        raise StoreError(f"{at} is a file: what is spread over several machines is a database of PostgreSQL with Citus")
    citus.check(partial(_engine(at).ask, at))
    with closing(create(at)) as db:
        return bool(cast("Any", db).distribute(parts))


def database_bytes(at: Server) -> int:
    """Return how many bytes a database takes on its server. Raises UnavailableError if that cannot be reached."""
    ((size,),) = _engine(at).ask(at, "SELECT pg_database_size(current_database())")
    return int(size)


def advice(error: UnavailableError, at: Place) -> str:
    """Say for people which database cannot be used, why, and what to do."""
    if isinstance(error, errors.BusyError):
        return f"{at} is held by another writer: run the command again when that one has ended"
    if isinstance(error, errors.DamagedError):
        first = (
            f"move it and the files {at.name}-wal and {at.name}-shm away and"
            if isinstance(at, Path)
            else "restore it, or"
        )
        return f"{at} is damaged ({error}): {first} run `almanac rebuild`, which makes it anew from the raw store"
    full = isinstance(error, errors.FullError)
    if isinstance(at, Path) and not full:
        with suppress(OSError):  # SQLite reports a disk without room for its log as any fault of the disk
            full = shutil.disk_usage(at.parent).free < _LEAST_ROOM
    if full:
        what = f"the disk is full ({at}: {error})" if isinstance(at, Path) else f"{at} has no room left ({error})"
        return f"{what}: make room and run the command again; nothing is half-written"
    if isinstance(at, Path) and not os.access(at.parent, os.W_OK):
        return f"{at} cannot be used ({error}): {at.parent} is read-only, and a database wants to write beside its file"
    return f"{at} cannot be used ({error}): nothing is half-written; run the command again when the cause is gone"


def advise_of_kept(error: UnavailableError, at: Place) -> str:
    """Say for people why a database kept beside the data, which no rebuild makes anew, cannot be used."""
    if isinstance(error, errors.DamagedError):
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
