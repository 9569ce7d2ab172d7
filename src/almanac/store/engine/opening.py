"""
Where a database is, and the functions that open it: a file of SQLite, or a server of PostgreSQL.

Nothing outside the engine's folder knows which of the two it is given. A `Server` never shows its password.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from almanac import distribution
from almanac.store.engine import sqlite
from almanac.store.engine.errors import DamagedError, DatabaseError, StoreError, UnavailableError
from almanac.store.engine.protocol import Database
from almanac.store.engine.schemas import AuxiliarySchema

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
    Open the data database for writing, beside any writer; make it if it is not there.

    Raises SchemaError for another schema, unless `any_schema`: the caller is about to make the tables anew.
    """
    opened: Database = _engine(at).create(at, any_schema=any_schema, busy_seconds=busy_seconds)
    return opened


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


def identity(at: Place) -> tuple[int, int]:
    """
    Return which database is at a place: a connection goes on reading a file that was replaced.

    A server's is always the same: whoever takes a database away there ends the connections to it. Raises UnavailableError
    if there is no file.
    """
    return sqlite.identity(at) if isinstance(at, Path) else (0, 0)


def recreate(db: Any) -> None:
    """Empty the data database inside the caller's transaction, whatever schema it had. All cursors expire."""
    db.recreate()


def distribute(at: Place, parts: int) -> bool:
    """
    Distribute the tables of the data database over the machines that Citus knows of. Returns False if that was done before.

    Raises StoreError for a database that cannot be distributed.
    """
    if isinstance(at, Path):
        raise StoreError(f"{at} is a file: what is spread over several machines is a database of PostgreSQL with Citus")
    done: bool = _engine(at).distribute(at, parts)
    return done


def database_bytes(at: Server) -> int:
    """Return how many bytes a database takes on its server. Raises UnavailableError if that cannot be reached."""
    size: int = _engine(at).database_bytes(at)
    return size


def advice(error: UnavailableError, at: Place) -> str:
    """Say for people which database cannot be used, why, and what to do."""
    text: str = _engine(at).advice(error, at)
    return text


def advise_of_kept(error: UnavailableError, at: Place) -> str:
    """Say for people why a database kept beside the data, which no rebuild makes anew, cannot be used."""
    if isinstance(error, DamagedError):
        return f"{at} is damaged ({error}): restore it from a backup"
    return advice(error, at)


def fault(error: BaseException | None) -> DatabaseError | None:
    """Translate a driver exception to a DatabaseError with the same message; return None for any other exception."""
    found = sqlite.fault(error)
    if found is None and "psycopg" in sys.modules:
        from almanac.store.engine import postgres  # noqa: PLC0415  (its driver is an extra)

        found = postgres.fault(error)
    return found


@contextmanager
def faults() -> Iterator[None]:
    """Let errors of a database leave the block as errors of ours."""
    try:
        yield
    except Exception as error:
        found = fault(error)
        if found is None or found is error:
            raise
        try:
            raise found from error
        finally:
            del found  # which knows of this frame: in a cycle it would wait for the collector


def _engine(at: Place) -> Any:
    if isinstance(at, Path):
        return sqlite
    try:
        from almanac.store.engine import postgres  # noqa: PLC0415  (as above)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "psycopg":
            raise
        raise StoreError(
            f"a database of PostgreSQL needs its driver: {distribution.how_to_install('postgres')}"
        ) from None
    return postgres
