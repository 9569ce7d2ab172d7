"""
Databases of PostgreSQL for tests: which server, and a schema of its own in place of each file of SQLite.

Where ALMANAC_TEST_ENGINE is `postgres`, whatever opens a file by the engine's neutral door opens such a schema instead, so
that a test that says nothing of engines is one of both.
"""

from __future__ import annotations

import atexit
import gc
import hashlib
import itertools
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from almanac.store.engine import opening, sqlite
from almanac.store.engine.data_schema import begin, meta, set_meta, statements, tables_of
from almanac.store.engine.moving import move

#: A role that may make databases; the database named here is not written to.
SERVER = os.environ.get("ALMANAC_TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
ENGINE = os.environ.get("ALMANAC_TEST_ENGINE", "sqlite")
_count = itertools.count()


@cache
def why_not() -> str | None:
    """Why there is no server to test with; None where there is one."""
    try:
        import psycopg
    except ImportError:
        return "the driver of PostgreSQL is not installed"
    try:
        psycopg.connect(SERVER, connect_timeout=3).close()
    except psycopg.Error as error:
        return f"no PostgreSQL answers: {error}"
    return None


@cache
def database() -> str:
    """The address of this process's database, made empty at its first use."""
    import psycopg

    # Several runs may go on at one server. One that was killed left its database behind.
    name = f"almanac_test_{os.getpid()}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        for (left,) in server.execute("SELECT datname FROM pg_database WHERE datname LIKE 'almanac_test_%'").fetchall():
            if left == name or not Path(f"/proc/{left.rpartition('_')[2]}").exists():
                server.execute(f"DROP DATABASE IF EXISTS {left} WITH (FORCE)")
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
        server.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    atexit.register(_leave, name)
    base, _, _ = SERVER.rpartition("/")
    return f"{base}/{name}"


def _leave(name: str) -> None:
    import psycopg

    with suppress(psycopg.Error), psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def schema(name: str) -> str:
    """The address of a schema in that database, made where it is not."""
    import psycopg

    with psycopg.connect(database(), autocommit=True) as server:
        server.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
    return f"{database()}?options={quote(f'-csearch_path={name}')}"


def drop(name: str) -> None:
    """Take a schema away with all that is in it."""
    import psycopg

    with psycopg.connect(database(), autocommit=True) as server:
        server.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")


def fresh() -> tuple[str, str]:
    """The name and the address of a schema that is not there yet."""
    name = f"s{next(_count)}"
    return name, schema(name)


#: Connections kept for later tests, at most.
_IDLE = 8


class InPlaceOfFiles:
    """Schemas that stand in for files."""

    def __init__(self) -> None:
        self.made: dict[Path, opening.Server] = {}
        self.free: list[opening.Server] = []
        self.asleep = False
        self._lent = 0

    def memory(self, create: Callable[..., Any], **named: Any) -> Any:
        """A database in memory: one that another test is through with, emptied, for to make one takes long."""
        if not self.free and self._lent >= _IDLE:
            # Worlds that nobody holds any more, and nobody has closed, have a connection each until they are collected.
            gc.collect()
        self._lent += 1
        server = self.free.pop() if self.free else opening.Server(fresh()[1])
        db = create(server, **named)
        if meta(db, "used"):
            _empty(db)
        set_meta(db, "used", "1")
        gone = weakref.finalize(db, self._back, server)
        close = db.close

        def closed(force: bool = False, /) -> None:
            close(force)
            gone()

        db.close = closed
        return db

    def _back(self, server: opening.Server) -> None:
        """Whole ones come back; one whose tables a test took away does not."""
        self._lent -= 1
        import psycopg

        with psycopg.connect(server.url, autocommit=True) as db:
            there = {
                name for (name,) in db.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
            }
        if there.issuperset(name for part in statements() for name in tables_of(part)):
            self.free.append(server)

    def server(self, path: Path) -> opening.Server:
        """The schema in place of a file, with all that is in it where there is one: worlds are built as files, and copied."""
        if path not in self.made:
            server = self.made[path] = opening.Server(schema(f"f{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"))
            if path.is_file():
                from almanac.store.engine.postgres import database

                with closing(sqlite.connect(path, read_only=True)) as held, closing(database.create(server.url)) as db:
                    move(held, db)
                    db.truncate_log(0)
        return self.made[path]


def _empty(db: Any) -> None:
    with db.transaction():
        for name in db.tables():
            if name != "change_token":
                db.execute(f"DELETE FROM {name}")
        begin(db, {"version": "0", "reference": "0"})


class _Links:
    """Connections that a test is through with, for the next: to begin one, and to learn what it knows, takes long."""

    def __init__(self) -> None:
        self._idle: dict[str, list[Any]] = {}
        self._latest: list[Any] = []

    def patch(self) -> None:
        from almanac.store.engine.postgres import connection, database

        opened, close = database.opened, connection.PostgresConnection.close

        def again(url: str, *, prepared: bool) -> Any:
            idle = self._idle.setdefault(f"{url} {prepared}", [])
            link = idle.pop() if idle else opened(url, prepared=prepared)
            self._latest = [one for one in self._latest if one is not link]
            link.place = idle
            return link

        def keep(db: Any, force: bool = False, /) -> None:
            link = db.link
            if not db.closed and not link.closed and not db.in_transaction:
                db.let_go()
                link.place.append(link)
                self._latest.append(link)
                if len(self._latest) > _IDLE:
                    # A server has room for a hundred, of all that test with it.
                    oldest = self._latest.pop(0)
                    if oldest in oldest.place:
                        oldest.place.remove(oldest)
                        oldest.close()
            else:
                close(db, force)

        database.opened = again
        connection.PostgresConnection.close = keep


_schemas = InPlaceOfFiles()


def bring(path: Path) -> None:
    """Where schemas stand in for files, let this one hold what the file holds: before a request waits for it."""
    if ENGINE == "postgres" and not _schemas.asleep:
        _schemas.server(path)


@contextmanager
def files() -> Iterator[None]:
    """Files are files in the block: a world is built as one that others copy."""
    before, _schemas.asleep = _schemas.asleep, True
    try:
        yield
    finally:
        _schemas.asleep = before


def stand_in() -> None:
    """From here on have every file that is opened by the neutral door be a schema."""
    schemas = _schemas
    _Links().patch()

    def door(name: str) -> None:
        held = getattr(opening, name)

        def opened(at: opening.Place, **named: object) -> object:
            if schemas.asleep:
                return held(at, **named)
            if isinstance(at, Path) and at.name == ":memory:":
                return schemas.memory(held, **named)
            return held(schemas.server(at) if isinstance(at, Path) else at, **named)

        setattr(opening, name, opened)

    for name in ("create", "connect", "identity"):
        door(name)
