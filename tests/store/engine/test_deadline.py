"""Statements end when nobody waits for them any more, and not before."""

import threading

import pytest

from almanac.store.engine import opening
from almanac.store.engine.deadline import Deadline, check_deadline, deadline_scope, lock_held
from almanac.store.engine.errors import StoppedError
from almanac.store.observations.reading.reader import Reader

#: Counts for minutes.
LONG = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n WHERE i < 10000000000"


@pytest.fixture
def reader(tmp_path):
    opening.create(tmp_path / "data.db").close()
    one = Reader(tmp_path / "data.db")
    yield one
    one.close()


def test_a_statement_ends_at_the_deadline(reader):
    with deadline_scope(Deadline(0.05)), pytest.raises(StoppedError), reader.view() as view:
        view.execute(LONG).fetchall()
    with reader.view() as view:
        assert view.execute("SELECT 1").get == 1


def test_a_statement_ends_when_nobody_waits_any_more(reader):
    deadline = Deadline(600)
    begun = threading.Event()

    def leave():
        begun.wait(60)
        deadline.cancel()

    leaving = threading.Thread(target=leave)
    leaving.start()
    with deadline_scope(deadline), pytest.raises(StoppedError), reader.view() as view:
        begun.set()
        view.execute(LONG).fetchall()
    leaving.join()


def test_nothing_is_begun_for_somebody_who_has_left(reader):
    deadline = Deadline(600)
    deadline.cancel()
    assert deadline.left == 0
    with pytest.raises(StoppedError), deadline_scope(deadline):
        raise AssertionError("it was begun")


def test_a_deadline_is_of_one_thread_and_of_one_block(reader):
    now = [0.0]
    deadline = Deadline(10, lambda: now[0])
    with deadline_scope(deadline):
        check_deadline()
        now[0] = 11.0
        with pytest.raises(StoppedError):
            check_deadline()
        other = threading.Thread(target=check_deadline)
        other.start()
        other.join()
    check_deadline()


def test_a_part_of_it_ends_with_the_whole(reader):
    now = [0.0]
    whole = Deadline(10, lambda: now[0])
    part = Deadline(60, lambda: now[0], within=whole)
    assert part.left == 10
    now[0] = 10.0
    assert part.passed
    whole = Deadline(600, lambda: now[0])
    part = Deadline(60, lambda: now[0], within=whole)
    whole.cancel()
    assert part.passed


def test_a_lock_is_waited_for_no_longer_than_its_patience():
    lock = threading.Lock()
    with lock, pytest.raises(StoppedError), deadline_scope(Deadline(0.05)), lock_held(lock):
        raise AssertionError("two have it")
    with deadline_scope(Deadline(60)), lock_held(lock):
        assert lock.locked()
    assert not lock.locked()
