"""
The schema of the data database: the number of today's, which `schema/*.sql` make, and the steps from earlier ones.

A change of those files is one more step here, which does the same to a database that is there already; the tests hold
that both come out alike.
"""

from __future__ import annotations

from importlib.resources import files

from almanac.store.engine.migrations import Schema, Step
from almanac.store.engine.protocol import Database
from almanac.store.engine.queryable import Queryable

STEPS = (
    Step(
        6,
        "releases that are out are found by when they were",
        """
        DROP INDEX IF EXISTS event_out;
        CREATE INDEX event_out ON event(occurred_at, event)
          WHERE category = 'macro_release' AND status IN ('released', 'revised');
        """,
    ),
    Step(7, "money of companies is stored in units of its own currency", None),
    Step(
        8,
        "lists in the order of ingestion, release and first day are found by indexes",
        """
        CREATE TABLE ingested(
          at INTEGER NOT NULL, topic INTEGER NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL,
          PRIMARY KEY(at, topic)) WITHOUT ROWID, STRICT;
        INSERT INTO ingested SELECT ingested_at, topic, min(period), max(period) FROM vintages GROUP BY 1, 2;
        CREATE TABLE lacking(what TEXT NOT NULL, topic INTEGER NOT NULL, PRIMARY KEY(what, topic)) WITHOUT ROWID, STRICT;
        INSERT INTO lacking SELECT DISTINCT 'release', topic FROM vintages WHERE released_at IS NULL;
        INSERT INTO lacking SELECT DISTINCT 'start', topic FROM vintages WHERE period & 16383 = 16383;
        CREATE TABLE extent(
          kind TEXT NOT NULL, frequency TEXT NOT NULL, company INTEGER NOT NULL,
          low INTEGER NOT NULL, high INTEGER NOT NULL, vintages INTEGER NOT NULL,
          PRIMARY KEY(kind, frequency, company)) WITHOUT ROWID, STRICT;
        INSERT INTO extent SELECT t.kind, t.frequency, t.entity BETWEEN 'company_' AND 'company_~', min(v.low), max(v.high),
          sum(v.vintages) FROM topic t JOIN (SELECT topic, min(period) AS low, max(period) AS high, count(*) AS vintages
          FROM vintages GROUP BY topic) v USING(topic) GROUP BY 1, 2, 3;
        """
        + "".join(
            f"""
        DROP INDEX {table}_known;
        CREATE INDEX {table}_known ON {table}((released_at IS known_at), known_at);
        CREATE INDEX {table}_late ON {table}(released_at) WHERE released_at <> known_at;
        CREATE INDEX {table}_odd ON {table}((period >> 14) + (period & 16383) - 16382)
          WHERE (period & 16383) < 16383 AND 16382 - (period & 16383) NOT IN (0, 6, 27, 28, 29, 30, 88, 89, 90, 91, 97, 180, 181, 182, 183, 272, 273, 274, 279, 363, 364, 365, 370);
        """
            for table in ("vintages", "current")
        ),
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


def statements() -> list[str]:
    """What makes the tables and indexes of an empty database."""
    return [
        files(__package__).joinpath(f"schema/{part}.sql").read_text("utf-8")
        for part in ("data", "companies", "operations")
    ]
