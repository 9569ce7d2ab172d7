"""
Databases of PostgreSQL for tests: which server, and a schema of its own in place of each file of SQLite.

Where ALMANAC_TEST_ENGINE is `postgres`, whatever opens a file by the engine's neutral door opens such a schema instead, the
settings of a home name it, and commands in processes of their own are told it: so a test that says nothing of engines is
one of both. A home that is made once and copied is a database, and each copy of its folder one made from that as a template.
"""

import gc
import hashlib
import itertools
import os
import shutil
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

from msgspec import structs

from almanac.config import Settings
from almanac.store.engine import opening, sqlite
from almanac.store.engine.data_schema import begin, meta, set_meta, statements, tables_of
from tests.support.copied_data import move

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

    # Several runs may go on at one server. One that was killed left its databases behind.
    name = f"almanac_test_{os.getpid()}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        for (left,) in server.execute("SELECT datname FROM pg_database WHERE datname LIKE 'almanac_test_%'").fetchall():
            if left == name or not Path(f"/proc/{left.rpartition('_')[2]}").exists():
                server.execute(f"DROP DATABASE IF EXISTS {left} WITH (FORCE)")
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0 {_KIND}")
        server.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    return address_of(name)


_KIND = "ENCODING 'UTF8' LOCALE 'C'"


def address_of(name: str) -> str:
    """The address of a database of the server."""
    base, _, _ = SERVER.rpartition("/")
    return f"{base}/{name}"


def leave() -> None:
    """Take away the databases that this process has made, and at the end of a run those that its workers share."""
    gc.collect()
    _links.close("")
    if database.cache_info().currsize:
        _drop(f"almanac_test_{os.getpid()}")
    if ENGINE == "postgres" and "PYTEST_XDIST_WORKER" not in os.environ:
        _drop(f"almanac_test_%_{os.getpid()}")


def _drop(pattern: str) -> None:
    import psycopg

    def drop_database(name: str) -> None:
        with psycopg.connect(SERVER, autocommit=True) as server:
            server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    with suppress(psycopg.Error), psycopg.connect(SERVER, autocommit=True) as server:
        sql = "SELECT datname FROM pg_database WHERE datname LIKE %s"
        names = [name for (name,) in server.execute(sql, (pattern.replace("_", r"\_"),)).fetchall()]
        # Each waits for a checkpoint, which is one for all that wait.
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(drop_database, names))


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


#: In a home that was made to be copied: the database that has its data.
_MARK = "postgres-template"
#: What stands in for it where it is the data of this very home, and of no other.
_ITSELF = " itself"


def _run() -> int:
    """The process whose run of tests this is: with xdist the one that all workers were started by."""
    return os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()


def _name_for(path: Path) -> str:
    """The name of the database of a home, the same in each process of a run."""
    return f"almanac_test_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}_{_run()}"


def _database(name: str, template: str | None = None) -> str:
    """The address of a database, made where no process of the run has made it yet: empty, or as another one is."""
    import psycopg

    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", (name,))
        if not server.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone():
            server.execute(f"CREATE DATABASE {name} TEMPLATE {template or f'template0 {_KIND}'}")
            server.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    return address_of(name)


@contextmanager
def own_database(purpose: str) -> Iterator[str]:
    """The name of a database for what no schema will do, there as long as the block lasts."""
    name = f"almanac_test_{purpose}{next(_count)}_{os.getpid()}"
    _database(name)
    try:
        yield name
    finally:
        _drop(name)


class InPlaceOfFiles:
    """Schemas that stand in for files."""

    def __init__(self) -> None:
        self.made: dict[Path, opening.Server] = {}
        self.templates: dict[Path, opening.Server] | None = None
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
        # What is there for a moment needs no plans that fit.
        db.truncate_log = lambda seconds: True
        told: list[set[str]] = []
        gone = weakref.finalize(db, self._back, server, told)
        close = db.close

        def closed(force: bool = False, /) -> None:
            if not db.closed and not db.in_transaction:
                told.append(set(db.tables()))
            close(force)
            gone()

        db.close = closed
        return db

    def _back(self, server: opening.Server, told: list[set[str]]) -> None:
        """Whole ones come back; one whose tables a test took away does not. `told`: those that were there at its end."""
        self._lent -= 1
        import psycopg

        if not told:
            sql = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
            with psycopg.connect(server.url, autocommit=True) as db:
                told.append({name for (name,) in db.execute(sql)})
        if told[0].issuperset(name for part in statements() for name in tables_of(part)):
            self.free.append(server)

    def server(self, path: Path) -> opening.Server:
        """What stands in for a file: it has all that is in the file, or in the home that its folder is a copy of."""
        path = path.absolute()
        if path.name in _BESIDE:
            path = path.with_name("data.db")
        if path not in self.made:
            self.made[path] = opening.Server(self._found(path))
        return self.made[path]

    def _found(self, path: Path) -> str:
        mark = path.with_name(_MARK)
        if path.name == "data.db" and mark.is_file():
            name, itself, _ = mark.read_text().partition(_ITSELF)
            return address_of(name) if itself else _database(_name_for(path), name)
        if self.templates is not None:
            url = _database(_name_for(path))
            self.templates[path] = opening.Server(url)
            return url
        url = schema(f"f{hashlib.sha256(str(path).encode()).hexdigest()[:16]}")
        if path.is_file():
            with (
                closing(sqlite.connect(path, read_only=True)) as held,
                closing(opening.create(opening.Server(url))) as db,
            ):
                move(held, db)
                db.truncate_log(0)
        return url

    @contextmanager
    def to_be_copied(self, itself: str) -> Iterator[None]:
        """Homes that are made in the block are databases of their own, and marked so."""
        import psycopg

        self.templates = {}
        try:
            yield
            gc.collect()
            for path, server in self.templates.items():
                _links.close(server.url)
                name = server.url.rpartition("/")[2]
                with psycopg.connect(server.url, autocommit=True) as db:
                    db.execute("ANALYZE")
                if path.parent.is_dir():
                    path.with_name(_MARK).write_text(f"{name}{itself}")
                del self.made[path]
        finally:
            self.templates = None


#: Files that are in one schema with the data where they are on a server.
_BESIDE = {"accounts.db", "usage.db"}


def _empty(db: Any) -> None:
    with db.transaction():
        # All in one message: what takes long is the way there and back.
        db.link.execute("; ".join(f"DELETE FROM {name}" for name in db.tables() if name != "change_token"))
        begin(db, {"version": "0", "reference": "0"})


class _Links:
    """Connections that a test is through with, for the next: to begin one, and to learn what it knows, takes long."""

    def __init__(self) -> None:
        self._idle: dict[str, list[Any]] = {}
        self._latest: list[Any] = []

    def patch(self) -> None:
        from almanac.store.engine import postgres

        open_link, close = postgres.open_link, postgres.Connection.close

        def again(at: opening.Server) -> Any:
            idle = self._idle.setdefault(at.url, [])
            link = idle.pop() if idle else open_link(at)
            self._latest = [one for one in self._latest if one is not link]
            link.place = idle
            return link

        def keep(db: Any, force: bool = False, /) -> None:
            link = db.link
            if not db.closed and not link.closed and not db.in_transaction:
                db.closed = True
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

        postgres.open_link = again
        postgres.Connection.close = keep

    def close(self, url: str) -> None:
        """Close those to a database (all, if no address is given): nobody copies one that somebody is connected to."""
        for key, idle in self._idle.items():
            if not url or key == url or key.startswith(f"{url}?"):
                while idle:
                    link = idle.pop()
                    self._latest = [one for one in self._latest if one is not link]
                    link.close()


_schemas = InPlaceOfFiles()
_links = _Links()


def copy(folder: Path, to: Path) -> Path:
    """The folder of a home copied; the data are there before a request waits for them."""
    shutil.copytree(folder, to)
    if ENGINE == "postgres" and not _schemas.asleep:
        _schemas.server(to / "data.db")
    return to


def address(home: Path) -> str | None:
    """The address of the database that stands in for the files of a home. None where files are files."""
    return _schemas.server(home / "data.db").url if ENGINE == "postgres" and not _schemas.asleep else None


@contextmanager
def files() -> Iterator[None]:
    """Files are files in the block."""
    before, _schemas.asleep = _schemas.asleep, True
    try:
        yield
    finally:
        _schemas.asleep = before


@contextmanager
def made_once(*, copied: bool = True) -> Iterator[None]:
    """Homes are made in the block, for others to copy their folders; not `copied`: for all to use them as they are."""
    if ENGINE == "postgres":
        with _schemas.to_be_copied("" if copied else _ITSELF):
            yield
    else:
        yield


def stand_in() -> None:
    """From here on have every file that is opened by the neutral door be a schema, and the settings of each home say so."""
    schemas = _schemas
    _links.patch()

    def door(name: str, module: ModuleType = opening) -> None:
        held = getattr(module, name)

        def opened(at: opening.Place, **named: object) -> object:
            if schemas.asleep:
                return held(at, **named)
            if isinstance(at, Path) and at.name == ":memory:":
                return held(at, **named) if name == "open_auxiliary" else schemas.memory(held, **named)
            return held(schemas.server(at) if isinstance(at, Path) else at, **named)

        setattr(module, name, opened)

    for name in ("create", "connect", "open_auxiliary"):
        door(name)
    door("identity_of", sqlite)
    for name in ("data_place", "accounts_place", "usage_place"):
        _on_a_server(name)


def _on_a_server(name: str) -> None:
    """Let what the settings say of a home be what they say where a server is named."""
    said: Any = getattr(Settings, name).fget

    def read(settings: Settings) -> Any:
        url = None if settings.database_url else address(settings.home)
        return said(settings if url is None else structs.replace(settings, database_url=url))

    setattr(Settings, name, property(read))
