"""
The schema of the data database: the number of today's, which `schema/*.sql` make, and the steps from earlier ones.

A change of those files is one more step here, which does the same to a database that is there already; the tests hold
that both come out alike.
"""

from __future__ import annotations

import re
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
