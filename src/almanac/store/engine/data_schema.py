"""
The schema of the data database: the number of today's, which `schema/*.sql` make, and the steps from earlier ones.

A change of those files is one more step here, which does the same to a database that is there already; the tests hold
that both come out alike.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from importlib.resources import files

from almanac.store.engine.migrations import Schema, Step
from almanac.store.engine.protocol import Database
from almanac.store.engine.queryable import Queryable

STEPS = (
    Step(6, "what rows of companies share is stored once, and their money is in units of its own currency", None),
    Step(
        7,
        "what companies serve now is read from their vintages, and rows are found by when they were known without a look at them",
        None,
    ),
)


def meta(connection: Queryable, key: str) -> str | None:
    """One value of the database's own notes, None where there is none."""
    value: str | None = connection.execute("SELECT v FROM meta WHERE k = ?", (key,)).get
    return value


def set_meta(connection: Database, key: str, value: str) -> None:
    """Write one value of the database's own notes."""
    connection.execute("INSERT INTO meta VALUES(?, ?) ON CONFLICT(k) DO UPDATE SET v = excluded.v", (key, value))


DATA = Schema(
    what="the data store",
    steps=STEPS,
    read=lambda db: int(meta(db, "schema") or 0),
    write=lambda db, number: set_meta(db, "schema", str(number)),
    remedy="run `almanac rebuild`, which makes it anew from the raw store",
    newer="install that version again, or run `almanac rebuild` to make the store anew as this version has it",
)
SCHEMA = str(DATA.newest)
#: Tables of which an emptied database keeps what they hold: the list of versions, the health of sources, whose turn it is.
LASTING = ("version", "source_state", "turn")


def tables_of(script: str) -> list[str]:
    """The tables that a schema file makes, in its order."""
    return re.findall(r"^CREATE TABLE (\w+)", script, re.MULTILINE)


def statements() -> list[str]:
    """What makes the tables and indexes of an empty database."""
    return [
        files(__package__).joinpath(f"schema/{part}.sql").read_text("utf-8")
        for part in ("data", "companies", "operations")
    ]


def make(db: Database, values: Mapping[str, str]) -> None:
    """Make the tables in a database that has none, and note what it is."""
    for part in statements():
        db.execute(part)
    begin(db, values)


def begin(db: Database, values: Mapping[str, str]) -> None:
    """Note what an empty database is: its schema, its epoch, and what else is said."""
    fresh = {**values, "schema": SCHEMA, "epoch": secrets.token_hex(8)}
    db.executemany("INSERT INTO meta VALUES(?, ?)", list(fresh.items()))


def recreate(db: Database, tables: Iterable[str]) -> None:
    """
    Empty the data database inside the caller's transaction, whatever schema it had: these tables of it. All cursors expire.

    Kept: which world it is and the data version; of this very schema also the list of versions, the health of
    sources and whose turn it is.
    """
    there = list(tables)
    held: dict[str, str] = dict(db.execute("SELECT k, v FROM meta"))
    same = held.pop("schema", None) == SCHEMA
    kept = {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in LASTING if same and name in there}
    for name in there:
        db.execute(f'DROP TABLE "{name}"')
    for counted in ("epoch", "events"):
        held.pop(counted, None)
    make(db, held)
    for name, lines in kept.items():
        for line in lines:
            db.execute(f"INSERT INTO {name} VALUES({','.join('?' * len(line))})", line)
