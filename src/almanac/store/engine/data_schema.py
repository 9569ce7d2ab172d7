"""
The schema of the data database: `schema/*.sql` make it, and `SCHEMA` is its number.

A change of those files takes the next number: a database of another one is refused, and `almanac rebuild` makes it anew.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from importlib.resources import files

from almanac.distribution import version
from almanac.store.engine.protocol import Database, Queryable

SCHEMA = "15"
#: Tables that keep their rows when the database is emptied: versions, the health of sources, whose turn it is and what each still owes.
LASTING = ("version", "source_state", "turn", "request")


def meta(connection: Queryable, key: str) -> str | None:
    """Return one value of the database's own notes; None if there is none."""
    value: str | None = connection.execute("SELECT v FROM meta WHERE k = ?", (key,)).get
    return value


def set_meta(connection: Database, key: str, value: str) -> None:
    """Write one value of the database's own notes."""
    connection.execute("INSERT INTO meta VALUES(?, ?) ON CONFLICT(k) DO UPDATE SET v = excluded.v", (key, value))


def explain_misfit(found: str | None, place: object) -> str:
    """Say that a database has another schema than this version's, and what to do."""
    return (
        f"{place} has schema {found}, this version, Almanac {version()}, needs {SCHEMA}: run `almanac rebuild` with the"
        " version that is to serve it"
    )


def tables_of(script: str) -> list[str]:
    """Return the tables that a schema file makes, in its order."""
    return [part.partition("(")[0] for part in f"\n{script}".split("\nCREATE TABLE ")[1:]]


def statements() -> list[str]:
    """Return the schema files, which make the tables and indexes of an empty database."""
    folder = files(__package__).joinpath("schema")
    return [folder.joinpath(f"{part}.sql").read_text("utf-8") for part in ("data", "companies", "operations")]


def make(db: Database, values: Mapping[str, str]) -> None:
    """Make the tables in a database that has none, and note what it is."""
    for part in statements():
        db.script(part)
    begin(db, values)


def begin(db: Database, values: Mapping[str, str]) -> None:
    """Note what an empty database is: its schema, its epoch, and the given values."""
    db.insert("meta", list({**values, "schema": SCHEMA, "epoch": secrets.token_hex(8)}.items()))


def recreate(db: Database, tables: Collection[str]) -> bool:
    """
    Empty the data database inside the caller's transaction; these of its tables may be dropped. All cursors expire.

    Kept: which world it is, the data version, and of a database of this very schema also the rows of `LASTING`. Of that
    rows are deleted and tables stay, for on a server readers of a table that goes would wait for the end of the transaction.
    Returns whether the tables were made anew.
    """
    notes = {key: value for key, value in db.execute("SELECT k, v FROM meta") if key not in {"epoch", "events"}}
    ours = [name for part in statements() for name in tables_of(part)]
    same = notes.pop("schema", None) == SCHEMA
    anew = not same or not set(ours).issubset(tables)
    if anew:
        kept = {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in LASTING if same and name in tables}
        for name in tables:
            db.execute(f'DROP TABLE "{name}"')
        make(db, notes)
        for name, rows in kept.items():
            db.insert(name, rows)
    else:
        for name in ours:
            if name not in LASTING:
                db.empty(name)
        begin(db, notes)
    return anew
