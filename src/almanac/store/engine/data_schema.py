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
from itertools import pairwise

from almanac.domain.fragments import rendered
from almanac.store.engine.migrations import Schema, Step
from almanac.store.engine.protocol import Database
from almanac.store.engine.queryable import Queryable


def _shorten_rows(db: Database) -> None:
    """Leave out of the rows written for the wire what stands in memory since (almanac.domain.fragments)."""
    for (topic,) in db.execute("SELECT topic FROM topic ORDER BY topic").fetchall():
        found = db.execute(
            "SELECT marked, topic, period, series, from_version FROM current WHERE topic = ?", (topic,)
        ).fetchall()
        db.executemany(
            "UPDATE current SET marked = ? WHERE topic = ? AND period = ? AND series = ? AND from_version = ?",
            [(_shortened(bytes(marked)), *key) for marked, *key in found],
        )


def _shortened(marked: bytes) -> bytes:
    head, value, rest = (marked[: marked.index(b"\1")], *marked[marked.index(b"\1") + 1 :].split(b"\2"))
    number, _, text = value.removeprefix(b',"valueNumeric":').partition(b',"valueText":')
    value = number + b"\2" if text == b"null" else number + b',"valueText":' + text + b"\5"
    rest = rest.removeprefix(b',"periodStart":').replace(b'\3,"releasePrecision":"day"', b"\6")
    return head.removeprefix(b'{"id":"obs_').removesuffix(b'"') + b"\1" + value + rest


def _tell_odd_periods(db: Database) -> None:
    for table in ("vintages", "current"):
        db.execute(f"DROP INDEX {table}_odd")
        db.execute(_making(f"INDEX {table}_odd"))


def _write_superseded(db: Database) -> None:
    """Write the vintages that later ones took the place of, of all topics but those of companies."""
    db.execute(_making("TABLE superseded"))
    for (topic,) in db.execute(_REVISED).fetchall():
        names = dict(db.execute("SELECT series, id FROM series WHERE topic = ?", (topic,)))
        stated = db.execute(_STATED, (topic,)).fetchall()
        db.executemany(
            "INSERT INTO superseded VALUES(?, ?, ?, ?, ?, ?, ?)",
            [
                (topic, period, series, one[2], following[2], lineage, rendered(names[series], period, *told))
                for one, following in pairwise(stated)
                for period, series, *told, lineage in [one]
                if one[:2] == following[:2] and (told[1] is not None or told[2] is not None)
            ],
        )


_REVISED = (
    "SELECT DISTINCT t.topic FROM topic t JOIN series s ON s.topic = t.topic"
    " WHERE s.vintages > s.rows AND t.entity NOT BETWEEN 'company_' AND 'company_~' ORDER BY t.topic"
)
_STATED = (
    "SELECT period, series, known_at, value, text, flags, released_at, ingested_at,"
    " (SELECT n.body FROM note n WHERE n.note = v.note), lineage FROM vintages v"
    " WHERE topic = ? AND to_version = 2147483647 ORDER BY period, series, known_at"
)


def _making(what: str) -> str:
    """The statement of the schema that makes a table or an index."""
    (found,) = (one for one in statements()[0].split(";\n") if re.search(rf"^CREATE {what}\b", one, re.MULTILINE))
    return found[found.index(f"CREATE {what}") :]


STEPS = (
    Step(6, "what rows of companies share is stored once, and their money is in units of its own currency", None),
    Step(
        7,
        "what companies serve now is read from their vintages, and rows are found by when they were known without a look at them",
        None,
    ),
    Step(8, "rows written for the wire leave out what nearly all of them say", _shorten_rows),
    Step(9, "rows of periods of an odd length are told by comparisons", _tell_odd_periods),
    Step(10, "vintages that later ones took the place of are kept written for the wire", _write_superseded),
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
    The same by taking their rows away, where they are of this very schema: whoever reads goes on with what was there.

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
