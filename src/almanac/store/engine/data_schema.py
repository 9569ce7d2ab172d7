"""
The schema of the data database: `schema/*.sql` make it, and `SCHEMA` is its number.

A change of those files takes the next number: a database of another one is refused, and `almanac rebuild` makes it anew.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from importlib.resources import files

from almanac.distribution import version
from almanac.store.engine.errors import SchemaError
from almanac.store.engine.protocol import Database
from almanac.store.engine.queryable import Queryable

SCHEMA = "15"


def meta(connection: Queryable, key: str) -> str | None:
    """One value of the database's own notes, None where there is none."""
    value: str | None = connection.execute("SELECT v FROM meta WHERE k = ?", (key,)).get
    return value


def set_meta(connection: Database, key: str, value: str) -> None:
    """Write one value of the database's own notes."""
    connection.execute("INSERT INTO meta VALUES(?, ?) ON CONFLICT(k) DO UPDATE SET v = excluded.v", (key, value))


#: Tables of which an emptied database keeps what they hold: the list of versions, the health of sources, whose turn it is and what each still owes.
LASTING = ("version", "source_state", "turn", "request")


def explain_misfit(found: str | None, place: object) -> str:
    """Say that a database has another schema than this version's, and what to do."""
    return (
        f"{place} has schema {found}, this version, Almanac {version()}, needs {SCHEMA}: run `almanac rebuild` with the"
        " version that is to serve it"
    )


def check_schema(db: Database, place: object) -> None:
    """Raise SchemaError unless a database has this version's schema."""
    found = meta(db, "schema")
    if found != SCHEMA:
        raise SchemaError(explain_misfit(found, place))


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
    held = _lasting_notes(db)
    same = held.pop("schema", None) == SCHEMA
    kept = {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in LASTING if same and name in there}
    for name in there:
        db.execute(f'DROP TABLE "{name}"')
    make(db, held)
    for name, lines in kept.items():
        for line in lines:
            db.execute(f"INSERT INTO {name} VALUES({','.join('?' * len(line))})", line)


def clear(db: Database, tables: Iterable[str]) -> bool:
    """
    Empty the data database by taking rows away, where they are of this very schema: whoever reads goes on with what was there.

    False: they are not, and nothing was done.
    """
    held = _lasting_notes(db)
    if held.pop("schema", None) != SCHEMA:
        return False
    for name in tables:
        if name not in LASTING:
            db.execute(f"DELETE FROM {name}")
    begin(db, held)
    return True


def _lasting_notes(db: Database) -> dict[str, str]:
    """What the notes say, but for what is of the rows that go."""
    return {key: value for key, value in db.execute("SELECT k, v FROM meta") if key not in {"epoch", "events"}}
