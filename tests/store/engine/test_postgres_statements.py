"""What is left to be said otherwise to PostgreSQL."""

from __future__ import annotations

import pytest

from almanac.store.engine.postgres.statements import translated
from almanac.store.engine.postgres.tables import created, several
from almanac.store.engine.words import following


def said(sql: str) -> str:
    return translated(sql).sql


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT 1 WHERE a = 'x' AND b = ?", "SELECT 1 WHERE a = 'x' AND b = $1"),
        ("SELECT a FROM t x INDEXED BY t_known WHERE +x.a = 1", "SELECT a FROM t x  WHERE x.a = 1"),
        ("SELECT a + 1, -1 FROM t WHERE (+b, c) < (?, 2)", "SELECT a + 1, -1 FROM t WHERE (b, c) < ($1, 2)"),
        ("SELECT x.a FROM t x CROSS JOIN u y ON y.a = x.a", "SELECT x.a FROM t x JOIN u y ON y.a = x.a"),
        ("SELECT 1 FROM json_each(?) n CROSS JOIN t ON t.a = n.value AND t.b = ?",
         ("SELECT 1 FROM (SELECT value::bigint AS value FROM json_array_elements_text($1::json)) n"
          " JOIN t ON t.a = n.value AND t.b = $2")),
    ],
)  # fmt: skip
def test_what_is_said_otherwise(sql: str, wanted: str) -> None:
    assert said(sql) == wanted


def test_values_that_are_not_mentioned_are_not_sent() -> None:
    found = translated("SELECT ?3, ?1 WHERE ?3 = ? AND ?")
    assert found.sql == "SELECT $1, $2 WHERE $1 = $3 AND $4"
    assert (found.places, found.wanted) == ((2, 0, 3, 4), 5)


def test_what_reads_is_told_from_what_writes() -> None:
    assert not translated("SELECT 1").writes
    assert not translated("WITH a AS (SELECT 1) SELECT 1").writes
    assert translated("UPDATE t SET a = 1").writes


def test_an_insert_of_plain_values_may_be_copied() -> None:
    plain = translated("INSERT INTO t VALUES(?, 7,?)")
    assert (plain.copied_into, plain.cells) == ("t", (0, "7", 1))
    for other in (
        f"INSERT INTO topic VALUES({following('topic', 'topic')}, ?)",
        "INSERT INTO t VALUES(?, 1, 2) ON CONFLICT DO NOTHING",
        "INSERT INTO t VALUES(?1, ?1)",
        "INSERT INTO t VALUES(?, NULL)",
        "DELETE FROM t",
    ):
        assert translated(other).copied_into is None


def test_tables_keep_their_columns_and_lose_what_is_sqlites() -> None:
    assert created("CREATE TABLE t(text TEXT, n INTEGER PRIMARY KEY, v REAL, b BLOB NOT NULL, UNIQUE(text, v)) WITHOUT ROWID, STRICT") == (
        'CREATE TABLE t(text text COLLATE "C", n bigint PRIMARY KEY, v double precision, b bytea NOT NULL, UNIQUE(text, v))'
    )  # fmt: skip
    assert created("CREATE TABLE t(a TEXT) STRICT") == 'CREATE TABLE t(a text COLLATE "C")'
    assert created("ALTER TABLE t ADD COLUMN a TEXT NOT NULL") == 'ALTER TABLE t ADD COLUMN a text COLLATE "C" NOT NULL'
    assert created("CREATE INDEX i ON t(a)") is None
    assert created("SELECT 1") is None


TRIGGER = "CREATE TRIGGER gone AFTER UPDATE OF a, b ON t\n BEGIN UPDATE u SET x = randomblob(16); DELETE FROM v; END"


def test_a_trigger_has_its_function() -> None:
    made = (
        "DO $made$ BEGIN CREATE FUNCTION gone() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $body$ BEGIN"
        " UPDATE u SET x = uuid_send(gen_random_uuid()); DELETE FROM v; RETURN NULL; END $body$;"
        " CREATE TRIGGER gone AFTER UPDATE OF a, b ON t FOR EACH STATEMENT EXECUTE FUNCTION gone(); END $made$"
    )
    assert created("DROP TRIGGER gone") == "DROP FUNCTION gone() CASCADE"
    cut = several(f"CREATE TABLE a(x TEXT); {TRIGGER}; DROP TRIGGER gone; {TRIGGER};")
    assert [one.split()[1] for one in cut] == ["TABLE", "TRIGGER", "TRIGGER", "TRIGGER"]
    assert created(cut[1]) == created(cut[3]) == made


def test_a_script_is_cut_where_its_statements_end() -> None:
    script = "CREATE TABLE a(x TEXT); -- a; b\nCREATE TABLE b(y TEXT DEFAULT ';');"
    assert several(script) == ["CREATE TABLE a(x TEXT)", "CREATE TABLE b(y TEXT DEFAULT ';')"]


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT x.a FROM t JOIN vintages x ON x.topic = t.topic AND x.a = (SELECT y.a WHERE y.topic = t.topic LIMIT 1)",
         "SELECT x.a FROM t JOIN vintages x ON x.topic = t.topic AND x.a = (SELECT y.a WHERE y.topic = x.topic LIMIT 1)"),
        ("SELECT 1 FROM n JOIN vintages x ON x.topic = n.value AND x.a = (SELECT 1 WHERE y.topic = n.value)",
         "SELECT 1 FROM n JOIN vintages x ON x.topic = n.value AND x.a = (SELECT 1 WHERE y.topic = x.topic)"),
    ],
)  # fmt: skip
def test_spread_tables_are_asked_of_their_own_topic(sql: str, wanted: str) -> None:
    assert translated(sql, spread=True).sql == wanted
    assert translated(sql).sql == sql


def test_the_number_of_a_row_on_several_machines_is_asked_for_before() -> None:
    sql = f"INSERT INTO topic VALUES({following('topic', 'topic')}, ?) RETURNING topic"
    found = translated(sql, spread=True)
    assert found.sql == "INSERT INTO topic VALUES($2, $1) RETURNING topic"
    assert found.numbering == "SELECT coalesce(max(topic), 0) + 1 FROM topic"
    assert (found.places, found.wanted) == ((0,), 1)
    assert translated(sql).numbering is None
