"""The engine's promises, kept by PostgreSQL."""

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from almanac.ops import host_gauges
from almanac.store.engine import opening
from almanac.store.engine.data_schema import SCHEMA, meta, set_meta, statements, tables_of
from almanac.store.engine.deadline import Deadline, deadline_scope
from almanac.store.engine.errors import (
    BusyError,
    ConflictError,
    DatabaseError,
    FullError,
    StoppedError,
    StoreError,
    UnavailableError,
)
from almanac.store.engine.opening import Server
from almanac.store.engine.postgres import Link
from almanac.store.engine.sql_compat import next_id
from tests.support import postgres
from tests.support.treasury_home import settings

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
]


@pytest.fixture
def url() -> Iterator[str]:
    name, found = postgres.fresh()
    yield found
    postgres.drop(name)


@pytest.fixture
def db(url: str) -> Iterator[Any]:
    with contextlib.closing(opening.create(Server(url))) as db:
        yield db


def another(url: str, **named: Any) -> Any:
    return contextlib.closing(opening.connect(Server(url), **named))


def test_a_new_database_has_every_table_and_says_its_schema(db: Any, url: str) -> None:
    assert set(db.tables()) == {name for part in statements() for name in tables_of(part)} | {"change_token"}
    assert (meta(db, "schema"), meta(db, "version")) == (SCHEMA, "0")
    epoch = meta(db, "epoch")
    with contextlib.closing(opening.create(Server(url))) as second:  # there is nothing to make any more
        assert meta(second, "epoch") == epoch


def test_a_transaction_is_all_or_nothing(db: Any, url: str) -> None:
    with pytest.raises(ZeroDivisionError), db.transaction():
        set_meta(db, "version", "7")
        raise ZeroDivisionError
    assert meta(db, "version") == "0"
    with db.transaction():
        set_meta(db, "version", "8")
    with another(url) as second:
        assert meta(second, "version") == "8"


def test_writers_come_one_after_the_other_and_see_what_was_committed(url: str, db: Any) -> None:
    def count() -> None:
        with another(url) as mine:
            for _ in range(25):
                with mine.transaction():
                    set_meta(mine, "version", str(int(meta(mine, "version") or 0) + 1))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert meta(db, "version") == "100"


def test_a_writer_that_waits_too_long_is_told_so(db: Any, url: str) -> None:
    with another(url, busy_seconds=0.01) as second:
        with db.transaction(), pytest.raises(BusyError), second.transaction():
            pytest.fail("two writers at once")
        with second.transaction():
            set_meta(second, "version", "1")
    assert meta(db, "version") == "1"


def test_who_prepares_an_area_waits_for_another_as_long_as_a_writer(url: str) -> None:
    with psycopg.connect(url) as other:
        other.execute("SELECT pg_advisory_xact_lock(hashtextextended('almanac areas ' || current_schema(), 0))")
        other.execute("SET idle_in_transaction_session_timeout = 3000")  # lest the test wait for ever
        with pytest.raises(BusyError), another(url, area="new", busy_seconds=0.1):
            pass


def test_writers_of_another_area_do_not_wait(db: Any, url: str) -> None:
    from almanac.store.engine import postgres

    with contextlib.closing(postgres.connect(Server(url), area="accounts", busy_seconds=0.01)) as other:
        with db.transaction(), other.transaction():
            assert other.execute("SELECT 1").get == 1
        before = db.change_token()
        with other.transaction():
            other.execute("CREATE TABLE else_where(n INTEGER)")
        assert db.change_token() == before


def test_a_connection_that_is_lost_after_a_snapshot_is_opened_anew(db: Any, url: str) -> None:
    with another(url, read_only=True) as reader:
        token = reader.begin_snapshot()
        before = reader.link.info.backend_pid
        reader.end_snapshot()
        assert not reader.in_transaction
        assert reader.begin_snapshot() == token
        assert reader.link.info.backend_pid == before
        reader.end_snapshot()
        assert db.execute("SELECT pg_terminate_backend(CAST(? AS integer), 5000)", (before,)).get
        assert reader.begin_snapshot() == token
        assert reader.link.info.backend_pid != before
        reader.end_snapshot()


def test_a_snapshot_is_one_state_and_tells_whether_anybody_wrote(db: Any, url: str) -> None:
    with another(url, read_only=True) as reader:
        first = reader.begin_snapshot()
        set_meta(db, "version", "5")
        assert meta(reader, "version") == "0"
        reader.end_snapshot()
        second = reader.begin_snapshot()
        assert meta(reader, "version") == "5"
        reader.end_snapshot()
        assert second != first
        assert reader.begin_snapshot() == second
        reader.end_snapshot()
        with db.transaction():
            assert meta(db, "version") == "5"
        assert reader.change_token() == second, "a transaction that wrote nothing is no change"
        with pytest.raises(DatabaseError), db.transaction():
            set_meta(db, "version", "6")
            raise DatabaseError("as if")
        assert reader.change_token() == second, "nor is one that was undone"
        with pytest.raises(UnavailableError):
            reader.execute("DELETE FROM meta")


def test_numbers_of_rows_grow_without_gaps(db: Any) -> None:
    def insert(name: str) -> Any:
        sql = f"INSERT INTO topic VALUES({next_id('topic', 'topic')}, ?, ?, ?, ?) RETURNING topic"
        return db.execute(sql, (name, "e", "M", "raw")).get

    assert [insert(name) for name in "ab"] == [1, 2]
    with pytest.raises(ConflictError), db.transaction():
        insert("c")
        insert("a")
    assert insert("d") == 3
    assert db.update("UPDATE topic SET kind = 'derived' WHERE topic >= ?", (2,)) == 2


@pytest.mark.parametrize("count", [3, 5_000])
def test_many_rows_are_written_in_order_and_whole(db: Any, count: int) -> None:
    rows = [(n, 2 * n, f"a\tline\n\\{n}ä") for n in range(count)]
    with db.transaction():
        db.insert("version", rows)
        assert db.execute("SELECT count(*), sum(at) FROM version").fetchone() == (count, count * (count - 1))
        db.executemany("UPDATE version SET at = ?2 WHERE version = ?1", [(n, 1) for n, *_ in rows])
    assert db.execute("SELECT DISTINCT at FROM version").fetchall() == [(1,)]
    assert db.execute("SELECT * FROM version ORDER BY version").fetchall() == [(n, 1, text) for n, _, text in rows]
    found = db.seek("SELECT k.column1, x.cause FROM {keys}version x WHERE x.version = k.column2", [(7, 2), (8, 0)])
    assert list(found) == [(7, rows[2][2]), (8, rows[0][2])]


def test_values_come_back_as_they_went(db: Any) -> None:
    row = ("s", 1, None, 4611686018427387904, -3, "é\u2028'", None)
    db.execute("INSERT INTO source_state VALUES(?, ?, ?, ?, ?, ?, ?)", row)
    assert db.execute("SELECT * FROM source_state").fetchone() == row
    for value in (0.1, 5e-324, 1.7976931348623157e308, -0.0, b"\x00\xff\n", True, 1, 2**62):
        (found,) = db.execute("SELECT ?", (value,)).fetchone()
        assert (found, type(found)) == (value, int if value is True else type(value))
    assert db.execute("SELECT coalesce(NULL, ?)", (float("inf"),)).get == float("inf")


def test_what_is_scanned_is_found_as_it_is_read(db: Any) -> None:
    with db.snapshot():
        rows = db.scan("SELECT generate_series(1, ?)", (100_000_000,))
        assert [next(rows)[0] for _ in range(300)] == list(range(1, 301))
        assert db.execute("SELECT 7").get == 7, "another statement between two rows"
        assert next(rows) == (301,)
        assert list(db.scan("SELECT generate_series(1, ?)", (1_000,))) == [(n,) for n in range(1, 1_001)]


def test_a_statement_ends_when_its_time_is_up_or_nobody_waits(db: Any) -> None:
    with pytest.raises(StoppedError), opening.faults(), deadline_scope(Deadline(0.05)), db.snapshot():
        db.execute("SELECT pg_sleep(60)")
    gone = Deadline(60)
    threading.Timer(0.05, gone.cancel).start()
    with pytest.raises(StoppedError), opening.faults(), deadline_scope(gone), db.snapshot():
        db.execute("SELECT pg_sleep(60)")
    with deadline_scope(Deadline(60)), db.snapshot():
        assert meta(db, "version") == "0"


def test_a_time_limit_of_the_operator_holds_for_reading_without_a_deadline_and_not_for_writing(url: str) -> None:
    with contextlib.closing(opening.create(Server(url + "%20-cstatement_timeout%3D70s"))) as db:
        limit = "SELECT current_setting('statement_timeout')"
        with db.snapshot():
            assert db.execute(limit).get == "70s"
        with db.transaction():
            assert db.execute(limit).get == "0"
        with deadline_scope(Deadline(5)), db.snapshot():
            assert db.execute(limit).get.endswith("ms")


def test_who_cancels_work_that_stopped_between_two_statements_ends_no_later_one(db: Any) -> None:
    late = Deadline(60)
    with pytest.raises(StoppedError), opening.faults(), deadline_scope(late), db.snapshot():
        meta(db, "version")
        late.cancelled = True
        meta(db, "version")
    late.cancel()
    assert db.execute("SELECT 1 FROM pg_sleep(0.3)").get == 1


def cut(db: Any, url: str) -> None:
    """End a connection as an operator, or a server that goes down, would."""
    number = db.link.info.backend_pid
    with another(url) as other:
        other.execute("SELECT pg_terminate_backend(?::integer)", (number,))


def test_a_connection_lost_in_a_transaction_is_told_and_one_lost_before_is_made_anew(db: Any, url: str) -> None:
    with pytest.raises(UnavailableError), db.transaction():
        set_meta(db, "version", "1")
        cut(db, url)
        set_meta(db, "version", "2")
    with db.transaction():
        assert meta(db, "version") == "0"
        set_meta(db, "version", "3")
    with pytest.raises(UnavailableError), db.snapshot():
        cut(db, url)
        meta(db, "version")
    with db.snapshot():
        token = db.change_token()
    # Nothing was under way: whoever asks next learns nothing of it.
    cut(db, url)
    with db.snapshot():
        assert meta(db, "version") == "3"
    cut(db, url)
    assert db.change_token() == token
    cut(db, url)
    with db.transaction():
        set_meta(db, "version", "4")
    assert meta(db, "version") == "4"


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("23505", ConflictError), ("53100", FullError), ("53300", UnavailableError), ("40001", BusyError),
        ("55P03", BusyError), ("57014", StoppedError), ("57P01", UnavailableError), ("08006", UnavailableError),
        ("25006", UnavailableError), ("42601", DatabaseError), ("XX000", DatabaseError),
    ],
)  # fmt: skip
def test_each_fault_has_a_class_of_ours(db: Any, state: str, kind: type[DatabaseError]) -> None:
    with pytest.raises(DatabaseError) as told, db.transaction():
        db.link.execute(f"DO $$ BEGIN RAISE EXCEPTION 'told' USING ERRCODE = '{state}'; END $$")
    assert type(told.value) is kind
    assert "told" in str(told.value)


def test_emptied_it_keeps_what_no_payload_tells(db: Any) -> None:
    db.execute("INSERT INTO turn VALUES('s', 1, 0, NULL, NULL, NULL)")
    db.execute("INSERT INTO run VALUES('r', 's', 'c', 1, 1, NULL, NULL)")
    db.execute("INSERT INTO version VALUES(1, 1, 'x')")
    set_meta(db, "world", "real")
    epoch = meta(db, "epoch")
    with db.transaction():
        db.recreate()
    assert [db.execute(f"SELECT count(*) FROM {name}").get for name in ("turn", "version", "run")] == [1, 1, 0]
    assert meta(db, "world") == "real"
    assert meta(db, "epoch") != epoch


@pytest.mark.parametrize("state", ["XX001", "XX002"])
def test_a_table_whose_rows_cannot_be_read_is_emptied(db: Any, state: str) -> None:
    db.execute("INSERT INTO run VALUES('r', 's', 'c', 1, 1, NULL, NULL)")
    db.execute("INSERT INTO version VALUES(1, 1, 'x')")
    db.link.execute(
        "CREATE FUNCTION unreadable() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION 'invalid page' USING ERRCODE = '{state}'; END $$"
    )
    db.link.execute("CREATE TRIGGER damaged BEFORE DELETE ON run FOR EACH ROW EXECUTE FUNCTION unreadable()")
    with db.transaction():
        db.recreate()
    assert [db.execute(f"SELECT count(*) FROM {name}").get for name in ("version", "run")] == [1, 0]


SECRET_URL = "postgresql://someone:hunter2@127.0.0.1:1/nowhere"


def test_a_password_is_never_shown() -> None:
    server = Server(SECRET_URL)
    with pytest.raises(UnavailableError) as told:
        opening.connect(server)
    for shown in (str(told.value), str(server), repr(server), opening.advice(told.value, server)):
        assert "hunter2" not in shown
    with pytest.raises(UnavailableError) as told:
        opening.connect(Server("postgresql://someone:hunter2%zz@127.0.0.1/x"))
    assert "hunter2" not in f"{told.value}{told.value.__cause__}"
    assert str(server) == "postgresql://127.0.0.1:1/nowhere"


def test_the_rest_of_an_address_is_read_by_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, Any] = {}

    def connect(**parameters: Any) -> None:
        told.update(parameters)
        raise psycopg.OperationalError("no")

    monkeypatch.setattr(Link, "connect", connect)
    for more in ("", "&pooler=transaction"):
        with pytest.raises(UnavailableError):
            opening.connect(Server(f"postgresql:///almanac?host=/run/postgresql&password=a+b%20c{more}"))
        assert (told["host"], told["dbname"], told["password"]) == ("/run/postgresql", "almanac", "a+b c")
    with pytest.raises(UnavailableError, match=r"^no$"):
        opening.connect(Server("postgresql://127.0.0.1/almanac?pooler=transaction"))


def test_behind_a_pooler_of_transactions_nothing_is_prepared(url: str) -> None:
    with contextlib.closing(opening.create(Server(f"{url}&pooler=transaction"))) as db:
        for _ in range(20):
            meta(db, "version")
        assert db.execute("SELECT count(*) FROM pg_prepared_statements").get == 0
    with contextlib.closing(opening.create(Server(url))) as db:
        for _ in range(20):
            meta(db, "version")
        assert db.execute("SELECT count(*) FROM pg_prepared_statements").get > 0


def test_without_a_schema_to_write_to_it_is_said(url: str) -> None:
    with pytest.raises(StoreError, match="has no schema where its search_path leads"):
        opening.create(Server(url.rpartition("%3D")[0] + "%3Dnowhere"))


# -- how much a database on a server takes ----------------------------------------------------------------------------


@pytest.fixture
def at():
    name, url = postgres.fresh()
    yield opening.Server(url)
    postgres.drop(name)


def test_the_size_is_the_servers_own_and_grows_with_what_is_stored(at):
    import psycopg

    before = opening.database_bytes(at)
    with psycopg.connect(at.url, autocommit=True) as db:
        db.execute("CREATE TABLE much AS SELECT repeat('x', 1000) AS a FROM generate_series(1, 2000)")
    assert opening.database_bytes(at) > before + 1_000_000


def test_a_server_that_does_not_answer_holds_no_scrape_up(tmp_path):
    """Its port takes connections, and nobody speaks: what is known otherwise is shown."""
    import socket

    with socket.socket() as mute, postgres.files():
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        url = f"postgresql://a@127.0.0.1:{mute.getsockname()[1]}/b?connect_timeout=3"
        chosen = settings(tmp_path).__class__(home=tmp_path / "home", database_url=url)
        begun = time.monotonic()
        found = {one.name: one for one in host_gauges(chosen)}
        assert time.monotonic() - begun < 2.5
    assert [one.labels["database"] for one in found["almanac_database_bytes"].samples] == []
    assert [one.labels["folder"] for one in found["almanac_disk_free_bytes"].samples] == ["home"]
