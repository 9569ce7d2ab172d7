"""The data database on PostgreSQL: opened, made, emptied."""

from __future__ import annotations

import secrets
from contextlib import closing

import psycopg

from almanac.store.engine import data_schema
from almanac.store.engine.data_schema import check_schema, statements, tables_of
from almanac.store.engine.errors import StoreError
from almanac.store.engine.postgres import spreading
from almanac.store.engine.postgres.connection import PostgresConnection
from almanac.store.engine.postgres.faults import faults, shown
from almanac.store.engine.postgres.link import opened

#: The area of the data database (`connection.PostgresConnection`).
DATA_AREA = spreading.AREA
_ALONE = "SELECT 1 FROM pg_advisory_xact_lock(hashtextextended('almanac areas ' || current_schema(), 0))"


@faults()
def connect(
    url: str,
    *,
    area: str = DATA_AREA,
    read_only: bool = False,
    busy_seconds: float = 30.0,
    prepared: bool = True,
    lasting: bool = False,
) -> PostgresConnection:
    """
    Connect to a database. Raises UnavailableError where it cannot be reached.

    `prepared` False: behind a pooler that gives each transaction another connection and keeps no prepared statements.
    `lasting`: a commit is on the server's disk before it is answered, also where the server is set to do otherwise.
    """
    return PostgresConnection(
        lambda: opened(url, prepared=prepared),
        area,
        busy_seconds=busy_seconds,
        read_only=read_only,
        lasting=lasting,
    )


@faults()
def create(
    url: str, *, any_schema: bool = False, busy_seconds: float = 30.0, prepared: bool = True
) -> PostgresConnection:
    """
    Connect to the data database for writing; make its tables if they are not there.

    Raises SchemaError for another schema, unless `any_schema`: the caller is about to make the tables anew.
    """
    connection = connect(url, busy_seconds=busy_seconds, prepared=prepared)
    try:
        prepare(connection, url, DATA_AREA)
        if not has_table(connection, "meta"):
            with connection.transaction():
                if not has_table(connection, "meta"):
                    data_schema.make(connection, {"version": "0", "reference": "0"})
        if not any_schema:
            check_schema(connection, shown(url))
    except BaseException:  # whatever it is, the connection is let go of
        connection.close()
        raise
    return connection


def prepare(connection: PostgresConnection, url: str, area: str) -> None:
    """
    See that a database is one that can be used, and that transactions of an area are counted in it.

    Raises StoreError for one that cannot.
    """
    encoding, schema = connection.execute(
        "SELECT current_setting('server_encoding'), current_schema()::text"
    ).fetchone() or ("", "")
    if encoding != "UTF8":
        raise StoreError(f"{shown(url)} keeps texts as {encoding}: make one with ENCODING 'UTF8'")
    if schema is None:
        raise StoreError(f"{shown(url)} has no schema where its search_path leads: make it, or set another search_path")
    if (
        has_table(connection, "change_token")
        and connection.execute("SELECT 1 FROM change_token WHERE area = ?", (area,)).get
    ):
        return
    with connection.transaction():
        connection.execute(_ALONE)  # whoever prepares another area waits: the table is one for all
        connection.execute(
            "CREATE TABLE IF NOT EXISTS change_token("
            "area TEXT PRIMARY KEY, n INTEGER NOT NULL, schema_number INTEGER NOT NULL DEFAULT 0)"
        )
        # It begins anywhere: of two databases that come to stand at one address, one after the other, no two counts agree.
        connection.execute(
            "INSERT INTO change_token(area, n) VALUES(?, ?) ON CONFLICT DO NOTHING", (area, secrets.randbits(48))
        )


def has_table(connection: PostgresConnection, name: str) -> bool:
    """Whether a table is there."""
    return name in connection.tables()


def recreate(connection: PostgresConnection) -> None:
    """
    Empty the data database, whatever schema it had; tables that are not the data's are left alone.

    Of this schema their rows are taken away, not they: a snapshot begun before would find tables made anew empty, and must
    wait for them besides.
    """
    ours = {name for part in statements() for name in tables_of(part)}
    there = [name for name in connection.tables() if name in ours]
    if ours == set(there) and _cleared(connection, there):
        return
    parts = spreading.taken_away(connection.ask)
    data_schema.recreate(connection, there)
    if parts:
        spreading.spread(connection.ask, parts)
        connection.laid_anew()


def _cleared(connection: PostgresConnection, tables: list[str]) -> bool:
    """Whether all rows could be taken away: not of another schema, nor of a table or an index that the server cannot read."""
    connection.ask("SAVEPOINT clearing")
    try:
        return data_schema.clear(connection, tables)
    except (psycopg.errors.DataCorrupted, psycopg.errors.IndexCorrupted):
        connection.ask("ROLLBACK TO SAVEPOINT clearing")
        return False


@faults()
def distribute(url: str, parts: int, *, prepared: bool = True) -> bool:
    """
    Spread the data over the machines that Citus knows of, in so many parts. False where that was done before.

    Writers and readers wait. All of it or nothing. Raises StoreError where it cannot be done; then no table is made either.
    """
    with closing(connect(url, read_only=True, prepared=prepared)) as looked_at:
        spreading.check(looked_at.ask)
    with closing(create(url, prepared=prepared)) as connection:
        with connection.transaction():
            done = spreading.is_spread(connection.ask)
            if not done:
                spreading.spread(connection.ask, parts)
                connection.laid_anew()
        spreading.tidy(connection.ask)
    return not done
