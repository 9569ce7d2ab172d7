"""A data database moved from one engine to the other and back: the same rows, and no half of them served."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from almanac.store.engine import moving, sqlite
from almanac.store.engine.data_schema import meta, set_meta, statements, tables_of
from almanac.store.engine.errors import StoreError
from almanac.store.engine.moving import move
from almanac.store.engine.opening import Server
from tests.support import postgres

TABLES = [name for part in statements() for name in tables_of(part)]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    from almanac.store.engine import opening

    if request.param == "sqlite":
        with postgres.files(), contextlib.closing(opening.create(tmp_path / "other.db")) as db:
            yield db
        return
    if (why := postgres.why_not()) is not None:
        pytest.skip(why)
    name, url = postgres.fresh()
    with contextlib.closing(opening.create(Server(url))) as db:
        yield db
    postgres.drop(name)


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Any]:
    with contextlib.closing(sqlite.create(tmp_path / "data.db")) as db:
        with db.transaction():
            db.executemany(
                "INSERT INTO topic VALUES(?, ?, ?, 'M', 'raw')",
                [(n, f"indicator {n}", "Ä\n\t\\") for n in range(1, 30_001)],
            )
            db.execute(
                "INSERT INTO vintages VALUES(1, 1, 1, 1, NULL, 1, 1, 2147483647, 0.1, NULL, 0, NULL, 5, NULL, 0)"
            )
            db.execute("INSERT INTO statement VALUES('e', 0, 'A', 1, 1, 1, 2, ?)", (b"\x00\xff",))
            db.execute("INSERT INTO turn VALUES('s', 1, 0, NULL, 'o', 4)")
            db.execute("INSERT INTO version VALUES(7, 1, 'x')")
            set_meta(db, "version", "7")
            set_meta(db, "world", "real")
        yield db


def every_row(db: Any) -> dict[str, list[tuple[Any, ...]]]:
    return {name: sorted(map(tuple, db.execute(f"SELECT * FROM {name}").fetchall()), key=repr) for name in TABLES}


def test_every_row_arrives_and_comes_back(source: Any, target: Any, tmp_path: Path) -> None:
    told: list[moving.Moved] = []
    moved = move(source, target, told.append)
    assert moved == told
    assert {one.table: one.rows for one in moved} == {
        name: len(rows) - (name == "meta") for name, rows in every_row(source).items()
    }
    assert every_row(target) == every_row(source)
    with contextlib.closing(sqlite.create(tmp_path / "back.db")) as back:
        move(target, back)
        assert every_row(back) == every_row(source)


def test_a_move_that_was_cut_off_goes_on_and_serves_nothing_before(
    source: Any, target: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class CutError(Exception):
        pass

    def cut(one: moving.Moved) -> None:
        if one.table == "vintages":
            raise CutError

    with pytest.raises(CutError):
        move(source, target, cut)
    assert meta(target, "version") == "0"
    written: list[str] = []
    before = moving._table

    def counted(one: Any, other: Any, table: str) -> moving.Moved:
        written.append(table)
        return before(one, other, table)

    monkeypatch.setattr(moving, "_table", counted)
    move(source, target)
    assert "topic" not in written
    assert "vintages" not in written
    assert "current" in written
    assert every_row(target) == every_row(source)


def test_a_move_of_another_state_begins_anew(source: Any, target: Any) -> None:
    class CutError(Exception):
        pass

    def cut(one: moving.Moved) -> None:
        if one.table == "topic":
            raise CutError

    with pytest.raises(CutError):
        move(source, target, cut)
    with source.transaction():
        source.execute("DELETE FROM topic WHERE topic > 3")
        set_meta(source, "version", "8")
    move(source, target)
    assert every_row(target) == every_row(source)


def test_what_is_there_is_never_written_over(source: Any, target: Any) -> None:
    target.execute("INSERT INTO topic VALUES(1, 'i', 'e', 'M', 'raw')")
    with pytest.raises(StoreError, match="is not empty"):
        move(source, target)
    assert target.execute("SELECT count(*) FROM topic").get == 1


def test_a_row_that_does_not_arrive_is_noticed(source: Any, target: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Losing:
        """An engine that loses a row."""

        def __getattr__(self, name: str) -> Any:
            return getattr(target, name)

        def executemany(self, sql: str, rows: Any) -> Any:
            return target.executemany(sql, list(rows)[:-1])

    losing: Any = Losing()
    with pytest.raises(StoreError, match="did not arrive as it was sent"):
        move(source, losing)
