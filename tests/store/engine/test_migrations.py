"""Stores of earlier schemas: brought to today's in place, step by step; or refused with what to do."""

import re
import sys
from contextlib import closing
from pathlib import Path

import pytest

from almanac.store.engine import data_schema, sqlite
from almanac.store.engine.errors import DatabaseError, StoreError, UnavailableError
from almanac.store.engine.migrations import Schema, Step
from almanac.store.observations.reading.reader import Reader
from tests.support.processes import told_by_four

SCHEMAS = Path(__file__).parent / "schemas"
OLDEST = data_schema.STEPS[0].schema - 1


def made(db):
    """What the tables and indexes of a database are, however they were written."""
    rows = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
    return {(kind, name, table): re.sub(r"\s*--[^\n]*|\s+", "", sql or "") for kind, name, table, sql in rows}


def old_store(path, schema=OLDEST):
    with closing(sqlite.connect(path)) as db:
        db.execute((SCHEMAS / f"data_{schema}.sql").read_text("utf-8"))
        held = {"schema": str(schema), "version": "7", "reference": "7", "epoch": "e"}
        db.executemany("INSERT INTO meta VALUES(?, ?)", list(held.items()))
        db.execute(
            "INSERT INTO event VALUES('event_a', 10, 7, ?, 20, 'macro_release', 'cpi', 'released', 's', 'c', 'c', 'i', '{}')",
            (sqlite.OPEN,),
        )
    return path


#: A step that can be taken in place, behind today's.
NEXT = """
from almanac.store.engine import data_schema, sqlite
from almanac.store.engine.migrations import Step
more = Step(data_schema.DATA.newest + 1, "events are found by their type", "CREATE INDEX event_type ON event(type)")
sqlite.DATA = data_schema.DATA._replace(steps=(*data_schema.STEPS, more))
"""


def numbered(*steps):
    """A schema whose number is the file's own (`user_version`), as that of the accounts is."""
    return Schema(
        "the book", steps, lambda db: db.execute("PRAGMA user_version").get,
        lambda db, number: db.execute(f"PRAGMA user_version = {number}"), "begin again", "take the newer one",
    )  # fmt: skip


@pytest.fixture
def book(tmp_path):
    with closing(sqlite.connect(tmp_path / "book.db")) as db:
        db.execute("CREATE TABLE told(word TEXT)")
        db.execute("PRAGMA user_version = 1")
        yield db


def test_a_step_in_place_changes_the_tables_and_leaves_the_rows(tmp_path, monkeypatch):
    path = tmp_path / "old.db"
    with closing(sqlite.create(path)) as db:
        before, held = made(db), list(db.execute("SELECT * FROM meta ORDER BY k"))
    namespace = {}
    monkeypatch.setattr(sqlite, "DATA", data_schema.DATA)
    exec(NEXT, namespace)
    number = str(namespace["more"].schema)
    with closing(sqlite.create(path)) as db:
        assert made(db).keys() - before.keys() == {("index", "event_type", "event")}
        assert list(db.execute("SELECT * FROM meta ORDER BY k")) == [
            (key, number if key == "schema" else value) for key, value in held
        ]
        assert db.execute("PRAGMA integrity_check").get == "ok"


def test_a_store_of_the_oldest_schema_is_left_as_it_is_where_no_step_can_be_taken_in_place(tmp_path):
    path = old_store(tmp_path / "old.db")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"cannot be made of it in place \(schema 15: .*\): run `almanac rebuild`"):
        sqlite.create(path)
    assert path.read_bytes() == before
    with closing(sqlite.create(path, any_schema=True)) as db:
        sqlite.recreate(db)
        with closing(sqlite.create(tmp_path / "new.db")) as new:
            assert made(db) == made(new)
            assert sqlite.meta(db, "schema") == sqlite.meta(new, "schema") == sqlite.SCHEMA


def test_the_steps_lead_from_one_schema_to_the_next():
    numbers = [step.schema for step in data_schema.STEPS]
    assert numbers == list(range(OLDEST + 1, int(sqlite.SCHEMA) + 1))
    assert (SCHEMAS / f"data_{OLDEST}.sql").exists()


def test_four_processes_may_bring_it_at_once(tmp_path):
    code = f"""
import sys
from pathlib import Path
from almanac.store.engine import sqlite
{NEXT}
print("ready", flush=True)
sys.stdin.readline()
print(sqlite.meta(sqlite.create(Path(sys.argv[1])), "schema"))
"""
    path = tmp_path / "old.db"
    sqlite.create(path).close()
    assert told_by_four([sys.executable, "-c", code, path]) == [str(data_schema.DATA.newest + 1)] * 4


def test_a_newer_store_is_said_to_be_newer_and_left_alone(tmp_path):
    path = tmp_path / "data.db"
    with closing(sqlite.create(path)) as db:
        sqlite.set_meta(db, "schema", "99")
    with pytest.raises(StoreError) as caught:
        sqlite.create(path)
    told = str(caught.value)
    assert f"{path} has schema 99 and was written by a newer version" in told
    assert re.search(rf"this one, Almanac [\d.]+\S*, knows schema {sqlite.SCHEMA}; install that version again", told)
    with closing(sqlite.connect(path)) as db:
        assert sqlite.meta(db, "schema") == "99"


def test_a_store_that_no_step_leads_on_from_is_to_be_rebuilt(tmp_path):
    path = tmp_path / "data.db"
    with closing(sqlite.create(path)) as db:
        sqlite.set_meta(db, "schema", str(OLDEST - 1))
    needs = rf"has schema {OLDEST - 1}, this version, Almanac \S+, needs {sqlite.SCHEMA}, .* run `almanac rebuild`"
    with pytest.raises(StoreError, match=needs):
        sqlite.create(path)
    sqlite.create(path, any_schema=True).close()


@pytest.mark.sqlite  # the store is a file, whatever the reader's would be
@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ("99", rf"this server reads {sqlite.SCHEMA}: restart it"),
        (str(OLDEST), rf"this version needs {sqlite.SCHEMA}: `almanac upgrade --plan` says"),
    ],
)
def test_a_reader_refuses_a_store_that_another_version_has_taken_over(tmp_path, schema, told):
    """
    An upgrade beside a server that still runs: it says so, and answers no request from tables it does not know. A new program
    that looks at a store from before (`almanac status --check`) tells nobody to restart the old one.
    """
    path = tmp_path / "data.db"
    with closing(sqlite.create(path)) as db:
        reader = Reader(path)
        with reader.view():
            pass
        sqlite.set_meta(db, "schema", schema)
        with pytest.raises(UnavailableError, match=rf"has schema {schema}, {told}"), reader.view():  # fmt: skip
            pass
        reader.close()


def test_steps_are_sql_or_functions_each_whole_in_its_order(book, tmp_path, caplog):
    def fill(db):
        db.execute("INSERT INTO told(word, length) VALUES('two', 3)")

    numbered(
        Step(2, "lengths", "ALTER TABLE told ADD COLUMN length INTEGER; CREATE INDEX told_length ON told(length);"),
        Step(3, "words", fill),
    ).bring(book, tmp_path / "book.db")
    assert list(book.execute("SELECT * FROM told")) == [("two", 3)]
    assert book.execute("PRAGMA user_version").get == 3
    assert [record.getMessage().removeprefix(f"{tmp_path}/") for record in caplog.records] == [
        "book.db: brought to schema 2 (lengths)", "book.db: brought to schema 3 (words)",
    ]  # fmt: skip


def test_a_step_that_fails_is_undone_and_the_next_run_goes_on_before_it(book, tmp_path):
    first = Step(2, "lengths", "ALTER TABLE told ADD COLUMN length INTEGER")
    bad = numbered(first, Step(3, "wrong", "CREATE INDEX a ON told(length); INSERT INTO nowhere VALUES(1)"))
    with pytest.raises(DatabaseError, match="nowhere"):
        bad.bring(book, tmp_path / "book.db")
    assert book.execute("PRAGMA user_version").get == 2
    assert book.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'a'").get == 0
    numbered(first, Step(3, "right", "CREATE INDEX a ON told(length)")).bring(book, tmp_path / "book.db")
    assert book.execute("PRAGMA user_version").get == 3


def test_what_cannot_be_done_in_place_is_named_before_anything_is_done(book, tmp_path):
    schema = numbered(Step(2, "lengths", "ALTER TABLE told ADD COLUMN length INTEGER"), Step(3, "other words", None))
    with pytest.raises(
        StoreError, match=r"has schema 1, .* needs 3, .* in place \(schema 3: other words\): begin again"
    ):
        schema.bring(book, tmp_path / "book.db")
    assert book.execute("PRAGMA user_version").get == 1
