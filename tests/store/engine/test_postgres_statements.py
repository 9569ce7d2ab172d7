"""What the store says in SQLite's words, in PostgreSQL's."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from almanac.store.engine.postgres.statements import translated
from almanac.store.engine.postgres.tables import created, several

KEYS = {"t": ["a"], "turn": ["source"], "topic": ["topic"]}
COLUMNS = {"t": ["a", "b", "c"], "turn": ["source", "asked_at", "owner"], "topic": ["topic", "name"]}


class Layout:
    def key(self, table: str) -> Sequence[str]:
        return KEYS[table]

    def columns(self, table: str) -> Sequence[str]:
        return COLUMNS[table]

    def number(self, table: str) -> str | None:
        return "topic" if table == "topic" else None


def said(sql: str) -> str:
    return translated(sql, Layout()).sql


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT 1 WHERE a = '?' AND b = ?", "SELECT 1 WHERE a = '?' AND b = $1"),
        ("SELECT '100%', \"a?\" -- ? no value\n", "SELECT '100%' , \"a?\""),
        ("SELECT a FROM t x INDEXED BY t_known WHERE +x.a = 1", "SELECT a FROM t x WHERE x.a = 1"),
        ("SELECT a + 1, -1 FROM t WHERE b IN (1) AND +b < 2", "SELECT a + 1 , - 1 FROM t WHERE b IN ( 1 ) AND b < 2"),
        ("SELECT x.a FROM t x CROSS JOIN u y ON y.a = x.a", "SELECT x.a FROM t x JOIN u y ON y.a = x.a"),
        ("SELECT 1 FROM t CROSS JOIN u USING(a)", "SELECT 1 FROM t JOIN u USING ( a )"),
        ("SELECT 1 FROM e CROSS JOIN (SELECT 1 ON) p CROSS JOIN u JOIN v ON 1",
         "SELECT 1 FROM e CROSS JOIN ( SELECT 1 ON ) p CROSS JOIN u JOIN v ON 1"),
        ("SELECT 1 WHERE a IS b AND c IS NOT NULL AND d IS NOT e",
         "SELECT 1 WHERE a IS NOT DISTINCT FROM b AND c IS NOT NULL AND d IS DISTINCT FROM e"),
        ("SELECT 1 WHERE (a IS b) = 0 AND (a IS b)",
         "SELECT 1 WHERE ( ( a IS NOT DISTINCT FROM b ) :: integer ) = 0 AND ( a IS NOT DISTINCT FROM b )"),
        ("SELECT max(a, min(b, 1)), max(c) FROM t", "SELECT greatest ( a , least ( b , 1 ) ) , max ( c ) FROM t"),
        ("SELECT group_concat(DISTINCT a) FROM t", "SELECT string_agg ( DISTINCT ( a ) :: text , ',' ) FROM t"),
        ("SELECT json_extract(x.body, '$.kind')", "SELECT ( ( x.body ) :: jsonb ->> 'kind' )"),
        ("SELECT i.value FROM json_each(l.inputs) i",
         "SELECT i.value FROM json_array_elements_text ( ( l.inputs ) :: json ) i"),
        ("SELECT n.value FROM json_each(?1) n",
         "SELECT n.value FROM ( SELECT e.value :: bigint AS value FROM json_array_elements_text ( ( $1 ) :: json ) e ) n"),
        ("SELECT count(*) FROM (SELECT 1) WHERE instr(a, 'b') > 0",
         "SELECT count ( * ) FROM ( SELECT 1 ) AS unnamed_1 WHERE strpos ( a , 'b' ) > 0"),
        ("SELECT a FROM (SELECT 1) AS x JOIN (VALUES(1)) y ON 1", "SELECT a FROM ( SELECT 1 ) AS x JOIN ( VALUES ( 1 ) ) y ON 1"),
        ("SELECT coalesce(a, 9e999), x'0aff'", r"SELECT coalesce ( a , 'Infinity'::float8 ) , '\x0aff'::bytea"),
        ("SELECT 1 WHERE a.b IN () OR c NOT IN ()", "SELECT 1 WHERE FALSE OR TRUE"),
        ("SELECT 1 WHERE a AND coalesce(b, (SELECT 1)) IN () AND (c) IN ()", "SELECT 1 WHERE a AND FALSE AND FALSE"),
        ("SELECT iif(a = 1, b, 0)", "SELECT CASE WHEN a = 1 THEN b ELSE 0 END"),
    ],
)  # fmt: skip
def test_what_is_read(sql: str, wanted: str) -> None:
    assert said(sql) == wanted


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("INSERT OR IGNORE INTO t VALUES(?, 1, 2)", "INSERT INTO t VALUES ( $1 , 1 , 2 ) ON CONFLICT DO NOTHING"),
        ("INSERT OR REPLACE INTO t VALUES(?, ?, ?)",
         "INSERT INTO t VALUES ( $1 , $2 , $3 ) ON CONFLICT ( a ) DO UPDATE SET b = excluded.b , c = excluded.c"),
        ("INSERT INTO t VALUES(?, ?, ?) ON CONFLICT DO UPDATE SET b = max(b, excluded.b) WHERE excluded.c > c",
         ("INSERT INTO t VALUES ( $1 , $2 , $3 ) ON CONFLICT ( a ) DO UPDATE SET b = greatest ( t.b , excluded.b )"
          " WHERE excluded.c > t.c")),
        ("INSERT INTO turn VALUES(?1, NULL, ?2) ON CONFLICT(source) DO UPDATE SET owner = ?2 WHERE owner IS NULL RETURNING asked_at",
         ("INSERT INTO turn VALUES ( $1 , NULL , $2 ) ON CONFLICT ( source ) DO UPDATE SET owner = $2 WHERE turn.owner IS NULL"
          " RETURNING turn.asked_at")),
        ("INSERT OR IGNORE INTO topic(name) VALUES(?)",
         ("INSERT INTO topic ( topic , name ) VALUES ( ( SELECT coalesce ( max ( topic ) , 0 ) + 1 FROM topic ) , $1 )"
          " ON CONFLICT DO NOTHING")),
        ("INSERT INTO topic VALUES(NULL, ?)",
         "INSERT INTO topic VALUES ( ( SELECT coalesce ( max ( topic ) , 0 ) + 1 FROM topic ) , $1 )"),
        ("INSERT INTO topic(topic, name) VALUES(NULL, ?)",
         "INSERT INTO topic ( topic , name ) VALUES ( ( SELECT coalesce ( max ( topic ) , 0 ) + 1 FROM topic ) , $1 )"),
        ("INSERT INTO t VALUES(1, randomblob(16), ?)", "INSERT INTO t VALUES ( 1 , uuid_send ( gen_random_uuid ( ) ) , $1 )"),
    ],
)  # fmt: skip
def test_what_is_written(sql: str, wanted: str) -> None:
    assert said(sql) == wanted


def test_values_that_are_not_mentioned_are_not_sent() -> None:
    found = translated("SELECT ?3, ?1 WHERE ?3 = ? AND ?", Layout())
    assert found.sql == "SELECT $1 , $2 WHERE $1 = $3 AND $4"
    assert (found.places, found.wanted) == ((2, 0, 3, 4), 5)


def test_an_insert_of_plain_values_may_be_copied() -> None:
    plain = translated("INSERT INTO t VALUES(?, 7, ?)", Layout())
    assert (plain.copied_into, plain.cells) == ("t", (0, "7", 1))
    for other in (
        "INSERT INTO topic VALUES(NULL, ?)",
        "INSERT INTO t VALUES(?, 1, 2) ON CONFLICT DO NOTHING",
        "DELETE FROM t",
    ):
        assert translated(other, Layout()).copied_into is None


def test_tables_keep_their_columns_and_lose_what_is_sqlites() -> None:
    assert created("CREATE TABLE t(text TEXT, n INTEGER PRIMARY KEY, v REAL, b BLOB NOT NULL, UNIQUE(text, v)) WITHOUT ROWID, STRICT") == (
        'CREATE TABLE t ( text text COLLATE "C", n bigint PRIMARY KEY, v double precision, b bytea NOT NULL, UNIQUE ( text , v ) )'
    )  # fmt: skip
    assert created("SELECT 1") is None


def test_expressions_of_an_index_stand_in_brackets() -> None:
    assert created("CREATE INDEX i ON t((a IS b), (c >> 2) + 1, d DESC) WHERE a IS NOT b") == (
        "CREATE INDEX i ON t ( ((( a IS NOT DISTINCT FROM b ))::integer), ((( c >> 2 ) + 1)), d DESC )"
        " WHERE a IS DISTINCT FROM b"
    )


TRIGGER = "CREATE TRIGGER gone AFTER UPDATE OF a, b ON t\n BEGIN UPDATE u SET x = max(x, 1); DELETE FROM v; END"


def test_a_trigger_has_its_function() -> None:
    made = (
        "DO $made$ BEGIN CREATE FUNCTION gone () RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $body$ BEGIN"
        " UPDATE u SET x = greatest ( x , 1 ); DELETE FROM v; RETURN NULL; END $body$;"
        " CREATE TRIGGER gone AFTER UPDATE OF a , b ON t FOR EACH STATEMENT EXECUTE FUNCTION gone (); END $made$"
    )
    assert created(TRIGGER) == made
    assert created("DROP TRIGGER gone") == "DROP FUNCTION gone () CASCADE"
    cut = several(f"CREATE TABLE a(x TEXT); {TRIGGER}; DROP TRIGGER gone; {TRIGGER};")
    assert [one.split()[1] for one in cut] == ["TABLE", "TRIGGER", "TRIGGER", "TRIGGER"]
    assert created(cut[1]) == created(cut[3]) == made


def test_a_script_is_cut_where_its_statements_end() -> None:
    script = "CREATE TABLE a(x TEXT); -- a; b\nCREATE TABLE b(y TEXT DEFAULT ';');"
    assert [one.split("(")[0].strip() for one in several(script)] == ["CREATE TABLE a", "CREATE TABLE b"]


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT x.a FROM t JOIN current x ON x.topic = t.topic AND x.a = (SELECT y.a WHERE y.topic = t.topic LIMIT 1)",
         "SELECT x.a FROM t JOIN current x ON x.topic = t.topic AND x.a = ( SELECT y.a WHERE y.topic = x.topic LIMIT 1 )"),
        ("SELECT 1 FROM n JOIN current x ON x.topic = n.value AND (SELECT 1 WHERE n.value = 2) = 1 WHERE (SELECT n.value) = 1",
         "SELECT 1 FROM n JOIN current x ON x.topic = n.value AND ( SELECT 1 WHERE x.topic = 2 ) = 1 WHERE ( SELECT n.value ) = 1"),
        ("SELECT 1 FROM t JOIN current x ON x.a = t.a AND (SELECT t.a) = 1",
         "SELECT 1 FROM t JOIN current x ON x.a = t.a AND ( SELECT t.a ) = 1"),
    ],
)  # fmt: skip
def test_spread_tables_are_asked_of_their_own_topic(sql: str, wanted: str) -> None:
    assert translated(sql, Layout(), spread=True).sql == wanted


def test_the_number_of_a_row_on_several_machines_is_asked_for_before() -> None:
    found = translated("INSERT INTO topic VALUES(NULL, ?)", Layout(), spread=True)
    assert found.sql == "INSERT INTO topic VALUES ( $2 , $1 )"
    assert found.numbering == "SELECT coalesce ( max ( topic ) , 0 ) + 1 FROM topic"
    assert (found.numbers, found.places, found.wanted) == ("topic", (0,), 1)
    assert translated("INSERT INTO topic VALUES(NULL, ?)", Layout()).numbering is None
