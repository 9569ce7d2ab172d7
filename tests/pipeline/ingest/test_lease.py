"""A lease is renewed while its owner works, and its owner learns when it is another's. Real threads, an invented clock."""

import time
from contextlib import closing

import pytest

from almanac.pipeline.ingest.lease import LEASE_SECONDS, Lease, Leaseholder
from almanac.store.engine import opening
from almanac.store.log import schedule


class Clock:
    def __init__(self):
        self.now = 1_000

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def path(tmp_path):
    with closing(opening.create(tmp_path / "data.db")) as db:
        schedule.take(db, "fred", "a", 1_000, 1_000 + LEASE_SECONDS)
    return tmp_path / "data.db"


def lease(path, clock, every=0.01):
    return Lease(path, "fred", Leaseholder("a", clock, every), 1_000 + LEASE_SECONDS)


def held(path):
    with closing(opening.connect(path)) as db:
        return schedule.read(db)["fred"]


def until(met):
    patience = time.monotonic() + 20
    while not met():
        assert time.monotonic() < patience
        time.sleep(0.005)


def test_it_is_renewed_as_time_goes_on(path, clock):
    with lease(path, clock) as mine:
        for _ in range(3):
            clock.now += LEASE_SECONDS - 1
            until(lambda: held(path).expires_at == clock.now + LEASE_SECONDS)
            until(lambda: not mine.lost)
    assert held(path).owner == "a"  # ending the block gives nothing back


def test_its_owner_learns_that_another_has_it(path, clock):
    with closing(opening.connect(path)) as db:
        assert schedule.take(db, "fred", "b", 1_000 + LEASE_SECONDS, 9_000) is not None
    with lease(path, clock) as mine:
        until(lambda: mine.lost)
    assert held(path) == schedule.SourceTurn(held(path).turn, "b", 9_000)


def test_one_that_ran_out_unrenewed_is_lost_even_where_nobody_took_it(path, clock):
    mine = lease(path, clock, every=60)
    with mine:
        clock.now += LEASE_SECONDS - 1
        assert not mine.lost
        clock.now += 1
        assert mine.lost


def test_a_store_that_is_not_to_be_had_for_a_while_costs_nothing(path, clock):
    with closing(opening.connect(path)) as db, lease(path, clock, every=0.02) as mine:
        with db.transaction():
            clock.now += 100
            time.sleep(0.2)
            assert not mine.lost
        until(lambda: held(path).expires_at == 1_100 + LEASE_SECONDS)


def test_a_store_that_was_taken_away_is_not_made_anew(path, clock):
    for file in list(path.parent.iterdir()):
        file.unlink()
    with lease(path, clock, every=0.01):
        time.sleep(0.1)
    assert list(path.parent.iterdir()) == []
