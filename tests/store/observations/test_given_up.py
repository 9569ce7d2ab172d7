"""Requests that are given up or fail: the next one of their thread reads the newest state, and others of their turn are answered."""

import gc
import heapq
import weakref
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import apsw
import pytest

from almanac.store.engine import opening
from almanac.store.engine.data_schema import meta, set_meta
from almanac.store.engine.deadline import Deadline, deadline_scope
from almanac.store.engine.errors import StoppedError
from almanac.store.engine.opening import Place
from almanac.store.engine.protocol import Database
from almanac.store.observations.reading.reader import Reader, View
from tests.support.places import on_each_engine, placed

pytest_generate_tests = on_each_engine
place = placed("data.db")

WITHOUT_END = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
NAMES = "SELECT k FROM meta ORDER BY k"


@pytest.fixture
def writer(place: Place) -> Iterator[Database]:
    with closing(opening.create(place)) as db:
        yield db


@pytest.fixture
def reader(place: Place, writer: Database) -> Iterator[Reader]:
    with closing(Reader(place)) as found:
        yield found


@pytest.fixture
def _uncollected() -> Iterator[None]:
    """What is in a cycle stays."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def write(db: Database) -> int:
    """A version more. Returns its number."""
    version = int(meta(db, "version") or 0) + 1
    with db.transaction():
        set_meta(db, "version", str(version))
    return version


def read(reader: Reader) -> int:
    with reader.view() as view:
        return view.version


def names(view: View) -> Iterator[Any]:
    yield from view.scan(NAMES)


def broken_off(view: View) -> list[Any]:
    """A walk of two, in the midst of whose rows nobody waits any more."""

    def without_end() -> Iterator[Any]:
        for name in names(view):
            yield name
            yield from view.execute(WITHOUT_END).fetchall()

    return list(heapq.merge(names(view), without_end()))


@pytest.mark.usefixtures("_uncollected")
def test_after_a_walk_that_was_broken_off_the_newest_state_is_read(reader: Reader, writer: Database) -> None:
    read(reader)
    connection = reader._here.connection
    for _ in range(2):
        with pytest.raises(StoppedError) as held, deadline_scope(Deadline(0.05)), reader.view() as view:
            broken_off(view)
        version = write(writer)
        assert read(reader) == version
        assert held.value.__cause__ is not None, "the engine ended it, and somebody knows of it still"
        assert reader._here.connection is connection, "its rows were let go of"


@pytest.mark.usefixtures("_uncollected")
def test_an_error_is_gone_when_nobody_knows_of_it(reader: Reader) -> None:
    told: list[weakref.ref[BaseException]] = []
    for opened in (reader.view, opening.faults):
        try:
            with opened():
                raise apsw.InterruptError("as if")
        except StoppedError as error:
            told.append(weakref.ref(error))
    assert [error() for error in told] == [None, None]


def test_rows_that_are_still_being_read_keep_no_later_reader_from_the_newest_state(
    reader: Reader, writer: Database
) -> None:
    with reader.view() as view:
        held = names(view)
        assert next(held) is not None
    version = write(writer)
    assert read(reader) == version
    held.close()
