"""
Where a database is, and the door to it: a file of SQLite, or a server of PostgreSQL.

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
from almanac.store.engine.areas import Area
from almanac.store.engine.errors import DamagedError, DatabaseError, StoreError, UnavailableError
from almanac.store.engine.protocol import Database

#: The parameter of an address that says of a pooler that it gives each transaction another connection.
_POOLER = "pooler"


class Server:
    """A database of PostgreSQL. As a text it is host, port and name: what may be shown."""

    __slots__ = ("_shown", "prepared", "url")

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        said = parse_qsl(parts.query, keep_blank_values=True)
        #: Whether statements are prepared on the server, which a pooler of transactions may not keep.
        self.prepared = (_POOLER, "transaction") not in said
        rest = urlencode([one for one in said if one[0] != _POOLER])
        self.url = urlunsplit(parts._replace(query=rest)) if self.prepared is False else url
        at = parts.netloc.rpartition("@")[2]
        self._shown = f"postgresql://{at}{parts.path}"

    def __str__(self) -> str:
        return self._shown

    def __repr__(self) -> str:
        return f"Server({self._shown})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Server) and self.url == other.url

    def __hash__(self) -> int:
        return hash(self.url)

    @property
    def name(self) -> str:
        """What it is called in a few letters, as a file is by its name."""
        return self._shown


Place = Path | Server


def place(said: Path | str | Server) -> Place:
    """The place that a setting says: the path of a file, or an address of PostgreSQL."""
    return Server(said) if isinstance(said, str) else said


def create(at: Place, *, any_schema: bool = False, busy_seconds: float = 30.0) -> Database:
    """
    Open the data database for writing, beside any writer; make it if it is not there.

    Raises SchemaError for another schema, unless `any_schema`: the caller is about to make the tables anew.
    """
    if isinstance(at, Path):
        return sqlite.create(at, any_schema=any_schema, busy_seconds=busy_seconds)
    opened: Database = _postgres().create(
        at.url, any_schema=any_schema, busy_seconds=busy_seconds, prepared=at.prepared
    )
    return opened


def connect(at: Place, *, read_only: bool = False, busy_seconds: float = 30.0) -> Database:
    """Open the data database. A reader raises UnavailableError where there is none."""
    if isinstance(at, Path):
        return sqlite.connect(at, read_only=read_only, busy_seconds=busy_seconds)
    opened: Database = _postgres().connect(at.url, read_only=read_only, busy_seconds=busy_seconds, prepared=at.prepared)
    return opened


def open_area(at: Place, *, area: Area, busy_seconds: float = 30.0) -> Database:
    """
    Open what is kept beside the data, for reading and writing, making it where it is not; bring it to today's schema.

    Raises StoreError for what a later version wrote, DamagedError for a file of another kind.
    """
    if isinstance(at, Path):
        return sqlite.open_area(at, area, busy_seconds=busy_seconds)
    _postgres()
    from almanac.store.engine.postgres import areas  # noqa: PLC0415  (as above)

    opened: Database = areas.create(at.url, area, busy_seconds=busy_seconds, prepared=at.prepared)
    return opened


def identity(at: Place) -> tuple[int, int]:
    """
    Which database stands at a place: a file that was replaced is another, though the connection goes on reading the old one.

    A server's is always the same: whoever takes a database away there ends the connections to it. Raises UnavailableError
    where there is no file.
    """
    return sqlite.identity(at) if isinstance(at, Path) else (0, 0)


def recreate(db: Database) -> None:
    """Empty the data database inside the caller's transaction, whatever schema it had. All cursors expire."""
    if isinstance(db, sqlite.Connection):
        sqlite.recreate(db)
    else:
        _postgres().recreate(db)


def distribute(at: Place, parts: int) -> bool:
    """
    Spread the tables of the data database over the machines that Citus knows of. False where that was done before.

    Raises StoreError for a database that cannot be spread.
    """
    if isinstance(at, Path):
        raise StoreError(f"{at} is a file: what is spread over several machines is a database of PostgreSQL with Citus")
    done: bool = _postgres().distribute(at.url, parts, prepared=at.prepared)
    return done


def server_room(at: Server) -> tuple[int, int | None, int | None]:
    """
    Bytes of a database on a server; free on its disk and of that disk, None where nobody tells. Raises UnavailableError where it
    cannot be reached.
    """
    _postgres()
    from almanac.store.engine.postgres.room import room  # noqa: PLC0415  (as above)

    return room(at.url, prepared=at.prepared)


def advice(error: UnavailableError, at: Place) -> str:
    """An error in words for people: which database, what is wrong with it, and what to do."""
    if isinstance(at, Path):
        return sqlite.advice(error, at)
    from almanac.store.engine.postgres.faults import advice as told  # noqa: PLC0415  (an extra that may not be installed)

    return told(error, at.url)


def advise_of_kept(error: UnavailableError, at: Place) -> str:
    """Put an error of a database kept beside the data, which no rebuild makes anew, in words for people."""
    if isinstance(error, DamagedError):
        return f"{at} is damaged ({error}): restore it from a backup"
    return advice(error, at)


def fault(error: BaseException | None) -> DatabaseError | None:
    """An error of a database as one of ours, with the same message; None for any other."""
    found = sqlite.fault(error)
    if found is None and "psycopg" in sys.modules:
        found = _faults().fault(error)
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


def _faults() -> Any:
    from almanac.store.engine.postgres import faults as of_postgres  # noqa: PLC0415  (as above)

    return of_postgres


def _postgres() -> Any:
    try:
        from almanac.store.engine.postgres import database  # noqa: PLC0415  (as above)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "psycopg":
            raise
        raise StoreError(
            f"a database of PostgreSQL needs its driver: {distribution.how_to_install('postgres')}"
        ) from None
    return database
