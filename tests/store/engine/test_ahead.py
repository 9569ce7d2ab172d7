"""Statements asked ahead of PostgreSQL: the rows are those of the snapshot, whatever else is asked and whatever goes wrong."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from almanac.store.engine import opening
from almanac.store.engine.data_schema import meta, set_meta
from almanac.store.engine.errors import DatabaseError, StoppedError, UnavailableError
from almanac.store.engine.opening import Server
from almanac.store.engine.patience import Patience, patiently
from tests.support import postgres

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
]

VERSION = "SELECT v FROM meta WHERE k = ?"
FAILING = "SELECT 1 / (?::bigint)"


@pytest.fixture
def url() -> Iterator[str]:
    name, found = postgres.fresh()
    with contextlib.closing(opening.create(Server(found))):
        yield found
    postgres.drop(name)


@pytest.fixture(params=["", "&pooler=transaction"])
def reader(url: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    with contextlib.closing(opening.connect(Server(url + request.param), read_only=True)) as db:
        assert db.asks_ahead
        yield db


def write(url: str, version: int) -> None:
    with contextlib.closing(opening.connect(Server(url))) as db, db.transaction():
        set_meta(db, "version", str(version))


def end(url: str) -> None:
    """End all other connections to the database of the tests that read."""
    with contextlib.closing(opening.connect(Server(url))) as db:
        db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
                   " AND query NOT LIKE 'SELECT pg_terminate%'").fetchall()  # fmt: skip


def test_rows_are_those_of_the_snapshot_in_whatever_order_they_are_wanted(reader: Any, url: str) -> None:
    for turn in range(1, 6):  # statements are prepared at the second time, and stay so
        write(url, turn)
        for one in ("version", "epoch", "version"):
            reader.ask_ahead(VERSION, (one,))
        reader.ask_ahead("SELECT generate_series(1, ?)", (turn * 100,))
        reader.begin_snapshot()
        write(url, turn + 1)
        reader.ask_ahead(VERSION, ("schema",))
        assert reader.execute("SELECT generate_series(1, ?)", (turn * 100,)).fetchall() == [
            (n,) for n in range(1, turn * 100 + 1)
        ]
        assert reader.execute("SELECT 7").get == 7, "not asked ahead"
        assert reader.execute(VERSION, ("version",)).get == str(turn)
        assert reader.execute(VERSION, ("version",)).get == str(turn), "a second time"
        assert len(reader.execute(VERSION, ("epoch",)).get) > 8
        rows = reader.scan("SELECT generate_series(1, ?)", (1_000,))
        assert next(rows) == (1,)
        assert reader.execute(VERSION, ("version",)).get == str(turn), "while others are being read"
        assert reader.in_transaction
        reader.end_snapshot()
    with reader.snapshot():
        assert meta(reader, "version") == "6"


def test_a_token_tells_the_state_that_was_read(reader: Any, url: str) -> None:
    tokens = []
    for turn in (1, 1, 2, 2, 2):
        if f"{turn}" != (meta(reader, "version") if tokens else "0"):
            write(url, turn)
        reader.ask_ahead(VERSION, ("version",))
        tokens.append(reader.begin_snapshot())
        assert reader.execute(VERSION, ("version",)).get == str(turn)
        reader.end_snapshot()
    assert tokens[0] == tokens[1] < tokens[2] == tokens[3] == tokens[4]
    assert reader.change_token() == tokens[4]


def test_the_server_works_before_anybody_waits(reader: Any, url: str) -> None:
    reader.ask_ahead("SELECT pg_sleep(?)", (60.0,))
    with contextlib.closing(opening.connect(Server(url))) as other:
        until = time.monotonic() + 30
        asleep = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
        while not (found := other.execute(asleep).fetchall()) and time.monotonic() < until:
            time.sleep(0.01)
        assert len(found) == 1
    with pytest.raises(StoppedError), opening.faults(), patiently(Patience(0.05)):
        reader.begin_snapshot()
        reader.execute("SELECT pg_sleep(?)", (60.0,))
    reader.end_snapshot()
    with reader.snapshot():
        assert meta(reader, "version") == "0"


@pytest.mark.parametrize("ahead", [False, True])
def test_a_connection_that_was_lost_between_two_snapshots_is_nobodys_loss(reader: Any, url: str, ahead: bool) -> None:
    for turn in range(3):
        write(url, turn)
        if ahead:
            reader.ask_ahead(VERSION, ("version",))
        end(url)
        reader.begin_snapshot()
        assert reader.execute(VERSION, ("version",)).get == str(turn)
        reader.end_snapshot()
        end(url)
        if ahead:
            reader.ask_ahead(VERSION, ("version",))


def test_lost_within_a_snapshot_it_is_told(reader: Any, url: str) -> None:
    reader.ask_ahead(VERSION, ("version",))
    reader.begin_snapshot()
    end(url)
    with pytest.raises(UnavailableError), opening.faults():
        reader.execute("SELECT 1")
    reader.end_snapshot()
    with reader.snapshot():
        assert meta(reader, "version") == "0"


def test_what_fails_is_told_to_whoever_wants_it_and_the_next_snapshot_is_whole(reader: Any) -> None:
    with reader.snapshot():
        pass
    for _ in range(3):
        reader.ask_ahead(FAILING, (0,))
        reader.ask_ahead(VERSION, ("version",))
        reader.begin_snapshot()
        with pytest.raises(DatabaseError, match="division by zero"), opening.faults():
            reader.execute(FAILING, (0,))
        reader.end_snapshot()
        # Nobody wanted what failed here.
        reader.ask_ahead(FAILING, (0,))
        reader.begin_snapshot()
        reader.end_snapshot()
        reader.ask_ahead(VERSION, ("version",))
        reader.begin_snapshot()
        assert reader.execute(VERSION, ("version",)).get == "0"
        reader.end_snapshot()


def test_a_snapshot_begins_when_the_one_before_has_ended(reader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # A pooler of transactions gives the connection away at the end of one: what was sent before that would go astray.
    from psycopg.pq import ExecStatus

    from almanac.store.engine.postgres.asking import Asking

    told: list[str] = []
    send, result = Asking.send, Asking.result
    monkeypatch.setattr(
        Asking, "send", lambda self, sql, *more: (told.append(sql.split()[0]), send(self, sql, *more))[1]
    )
    monkeypatch.setattr(
        Asking, "result", lambda self: (found := result(self), told.append(ExecStatus(found.status).name))[0]
    )
    for _ in range(4):
        reader.ask_ahead(VERSION, ("version",))
        reader.begin_snapshot()
        reader.end_snapshot()
    turns = [" ".join(told[at:]) for at, one in enumerate(told) if one == "BEGIN"]
    assert len(turns) == 4
    for turn in turns[:-1]:
        assert turn.index("COMMIT") < turn.index("PIPELINE_SYNC") < turn.index("BEGIN", 1)


def test_who_wanted_something_else_gets_it_of_the_same_state(reader: Any, url: str) -> None:
    """Whatever way it asks; where there is no such state any more, it is told to ask again."""
    for turn, way in enumerate((reader.execute, reader.scan, lambda *said: reader.executemany(said[0], [said[1]])), 1):
        write(url, turn)
        reader.begin_snapshot()  # what is asked of a new state when it is met is asked here
        reader.end_snapshot()
        reader.ask_ahead(FAILING, (0,))
        reader.ask_ahead(VERSION, ("version",))
        token = reader.begin_snapshot()
        assert way(VERSION, ("version",)).fetchall() == [(str(turn),)]
        assert reader.execute(VERSION, ("version",)).get == str(turn)
        reader.end_snapshot()
        assert reader.change_token() == token
        reader.ask_ahead(FAILING, (0,))
        reader.begin_snapshot()
        write(url, turn + 1)
        with pytest.raises(UnavailableError), opening.faults():
            way(VERSION, ("version",))
        reader.end_snapshot()
        with reader.snapshot():
            assert meta(reader, "version") == str(turn + 1)


def test_after_what_failed_and_nobody_wanted_a_snapshot_begins_as_ever(reader: Any) -> None:
    with reader.snapshot():
        pass
    reader.ask_ahead(FAILING, (0,))
    reader.begin_snapshot()
    reader.end_snapshot()
    with reader.snapshot():
        assert meta(reader, "version") == "0"


def test_what_was_asked_ahead_is_held_while_others_read_long_lists(reader: Any, url: str) -> None:
    for turn in range(1, 4):
        write(url, turn)
        reader.ask_ahead(VERSION, ("version",))
        reader.begin_snapshot()
        rows = reader.scan("SELECT generate_series(1, ?)", (1_000,))
        assert next(rows) == (1,)
        from almanac.store.engine.postgres.asking import Asking

        with mock.patch.object(Asking, "send", side_effect=AssertionError("asked again")):
            assert reader.execute(VERSION, ("version",)).get == str(turn)
        reader.ask_ahead(VERSION, ("epoch",))
        assert len(list(rows)) == 999, "though something was asked ahead meanwhile"
        reader.end_snapshot()
        # Neither without a snapshot nor in one that is not begun ahead is anything of it taken for true.
        write(url, turn + 10)
        assert reader.execute(VERSION, ("version",)).get == str(turn + 10)
        with reader.snapshot():
            assert reader.execute(VERSION, ("version",)).get == str(turn + 10)
