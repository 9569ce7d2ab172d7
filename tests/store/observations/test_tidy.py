"""Rows of `current` that ended go once no cursor can ask for them; what is served and every vintage stay."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from almanac.domain.observations import ReportedValue
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec
from almanac.store.engine import opening, sqlite
from almanac.store.log.payloads import PayloadRef
from almanac.store.observations.writing import tidy
from almanac.store.observations.writing.batch import Batch

SPEC = SeriesSpec(
    source="invented", native="X", indicator="cpi_index", entity="country_usa", frequency=Frequency.MONTHLY, unit="index", name="Invented"
)  # fmt: skip
JULY = Period.parse("2026-07").key
DAY = 86_400


@pytest.fixture
def db(tmp_path: Path) -> apsw.Connection:
    return opening.create(tmp_path / "data.db")


def state(db: apsw.Connection, value: float, at: int) -> None:
    with Batch(db, at, "test") as batch:
        payload = PayloadRef(at, at, (at, str(at)))
        batch.append(batch.series(SPEC, "raw"), payload, [ReportedValue(JULY, value)], None)


def ended(db: apsw.Connection) -> list[int]:
    return [row[0] for row in db.execute("SELECT to_version FROM current WHERE to_version < 2147483647 ORDER BY 1")]


def test_only_rows_that_ended_before_the_moment_go(db: apsw.Connection) -> None:
    for day, value in ((1, 1.0), (2, 2.0), (3, 3.0)):
        state(db, value, day * DAY)
    assert ended(db) == [2, 3]
    assert tidy.purge(db, 2 * DAY) == 0  # version 2 was made at that very moment: a cursor may be as old
    assert tidy.purge(db, 2 * DAY + 1) == 1
    assert ended(db) == [3]
    assert tidy.purge(db, 10 * DAY) == 1
    assert ended(db) == []
    assert db.execute("SELECT count(*) FROM current").get == 1
    assert db.execute(f"SELECT count(*) FROM vintages WHERE to_version = {sqlite.OPEN}").get == 3


def test_a_version_that_a_clock_set_back_calls_old_stands_behind_those_before_it(db: apsw.Connection) -> None:
    for day, value in ((1, 1.0), (2, 2.0), (3, 3.0)):
        state(db, value, day * DAY)
    db.execute("UPDATE version SET at = ? WHERE version = 1", (9 * DAY,))
    assert tidy.purge(db, 8 * DAY) == 0
    assert tidy.purge(db, 10 * DAY) == 2


def test_a_version_is_as_old_as_the_end_of_its_writing(db: apsw.Connection) -> None:
    """A cursor that was given meanwhile wants the rows that it ended."""
    state(db, 1.0, DAY)
    clock = iter([9 * DAY])
    with Batch(db, 2 * DAY, "test", lambda: next(clock)) as batch:
        batch.append(batch.series(SPEC, "raw"), PayloadRef(2, 2, (2, "2")), [ReportedValue(JULY, 2.0)], None)
    assert tidy.purge(db, 8 * DAY) == 0
    assert tidy.purge(db, 10 * DAY) == 1


def test_an_empty_store_has_nothing_to_drop(db: apsw.Connection) -> None:
    assert tidy.purge(db, 10 * DAY) == 0


def test_more_than_one_slice_goes(db: apsw.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidy, "_SLICE", 2)
    for day in range(1, 7):
        state(db, float(day), day * DAY)
    assert tidy.purge(db, 100 * DAY) == 5
    assert db.execute("SELECT count(*) FROM current").get == 1


@pytest.mark.sqlite  # its plan is asked in its own words
def test_the_search_uses_the_index_of_ended_rows(db: apsw.Connection) -> None:
    """A scan of `current` after every run would cost more than the run."""
    plan = db.execute(
        "EXPLAIN QUERY PLAN SELECT topic FROM current WHERE to_version <= ? AND to_version < 2147483647", (5,)
    )
    assert "current_ended" in next(iter(plan))[3]
