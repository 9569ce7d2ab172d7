"""Places for databases that tests want on both engines: a file, or a schema of its own on a server."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from almanac.store.engine import opening
from almanac.store.engine.opening import Place, Server
from tests.support import postgres

SQLITE = pytest.param("sqlite", marks=pytest.mark.sqlite)
POSTGRES = pytest.param(
    "postgres",
    marks=[
        pytest.mark.postgres,
        pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
    ],
)


def on_each_engine(metafunc: pytest.Metafunc) -> None:
    """Run a test that wants a `place` once for each engine; one that wants the `path` of a file, for SQLite alone."""
    if "place" in metafunc.fixturenames:
        engines = [SQLITE] if "path" in metafunc.fixturenames else [SQLITE, POSTGRES]
        metafunc.parametrize("place", engines, indirect=True)


def placed(file: str) -> Any:
    """The fixture `place` for `on_each_engine`: a file of that name in the test's folder, or a schema."""

    @pytest.fixture
    def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
        with place_for(request.param, tmp_path / file) as found:
            yield found

    return place


@pytest.fixture
def path(place: Path) -> Path:
    """The file, for what only a file has."""
    return place


@contextlib.contextmanager
def place_for(engine: str, file: Path) -> Iterator[Place]:
    """The file, or a schema that is there as long as the block lasts."""
    if engine == "sqlite":
        yield file
        return
    name, url = postgres.fresh()
    try:
        yield Server(f"{url}&application_name={_of(name)}")
    finally:
        postgres.drop(name)


def _of(schema: str) -> str:
    """What connections to a schema of this process are called."""
    return f"almanac_{os.getpid()}_{schema}"


def told(place: Place) -> str:
    """A place as an argument of another process, in which `spoken` understands it."""
    return place.url if isinstance(place, Server) else str(place)


#: What another process imports to understand it.
SPOKEN = """
from pathlib import Path
from almanac.store.engine.opening import Server
def spoken(text):
    return Server(text) if "://" in text else Path(text)
"""


def end_connections(place: Server) -> int:
    """End all connections to a place of `place_for`, as a server does that begins anew. Returns how many there were."""
    import psycopg

    sql = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE application_name = %s"
    name = place.url.rpartition("=")[2]
    with psycopg.connect(place.url, autocommit=True, application_name="ending") as server:
        row: Any = server.execute(sql, (name,)).fetchone()
    return int(row[0])


def kept(place: Place) -> bytes:
    """All that is stored at a place, as whoever steals it finds it."""
    if isinstance(place, Path):
        return b"".join(each.read_bytes() for each in place.parent.iterdir())
    with contextlib.closing(opening.connect(place)) as db:
        names = "SELECT tablename::text FROM pg_catalog.pg_tables WHERE schemaname = current_schema()"
        cells = [cell for (name,) in db.execute(names) for row in db.execute(f"SELECT * FROM {name}") for cell in row]
    return b"\n".join(cell if isinstance(cell, bytes) else str(cell).encode() for cell in cells)
