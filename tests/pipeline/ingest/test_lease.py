"""A lease is renewed while its owner works, and its owner learns when it is another's. Real threads, an invented clock."""

import signal
import time
from contextlib import closing

import pytest

from almanac.ops import host_gauges
from almanac.pipeline.ingest import liveness
from almanac.pipeline.ingest.liveness import LEASE_SECONDS, Lease, Leaseholder, folder_of, heartbeat, signs
from almanac.store.engine import opening
from almanac.store.log import schedule
from tests.support.processes import PATIENCE, start
from tests.support.treasury_home import settings


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
    return Lease(path, "fred", Leaseholder("a", clock, every), 1_000 + LEASE_SECONDS).renewed()


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
    with lease(path, clock, every=60) as mine:
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


# Signs of life of a worker: there while it lives and goes on, gone when it ends as it should, old when it was killed.


def test_it_lives_by_itself_and_goes_on_when_told(tmp_path, monkeypatch):
    monkeypatch.setattr(liveness, "_BEAT_SECONDS", 0.02)
    monkeypatch.setattr(liveness, "_STEP_SECONDS", 0.0)
    with heartbeat(tmp_path / "workers", ["snb", "ecb", "snb"]) as step:
        (first,) = signs(tmp_path / "workers")
        assert first.sources == "ecb+snb"
        until = time.monotonic() + PATIENCE
        while (later := next(signs(tmp_path / "workers"))).lived == first.lived:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert later.went_on == first.went_on  # nobody said so
        step()
        assert next(signs(tmp_path / "workers")).went_on > first.went_on
    assert list(signs(tmp_path / "workers")) == []


def test_one_that_fails_is_missed(tmp_path):
    with pytest.raises(ValueError, match="no"), heartbeat(tmp_path, []):
        raise ValueError("no")
    assert [one.sources for one in signs(tmp_path)] == ["all"]


def test_many_names_make_a_short_file_name_and_no_room_makes_no_fault(tmp_path):
    with heartbeat(tmp_path, [f"a-source-{n}" for n in range(100)]):
        (found,) = signs(tmp_path)
    assert found.sources.startswith("100-sources-")
    (tmp_path / "file").write_text("in the way")
    with heartbeat(tmp_path / "file", []) as step:
        step()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_is_killed_leaves_its_signs_to_grow_old_and_one_that_ends_takes_them(tmp_path, number):
    chosen = settings(tmp_path)
    with start(chosen.home, "worker", "fred") as process:  # which lacks its key, so that nobody is asked
        until = time.monotonic() + PATIENCE
        while not list(signs(folder_of(chosen.home))) or b"there is no source to ask" not in process.stderr.readline():
            assert process.poll() is None
            assert time.monotonic() < until
        process.send_signal(number)
        process.wait(PATIENCE)
    found = {one.name: one for one in host_gauges(chosen)}
    for name in ("heartbeat", "step"):
        shown = found[f"almanac_worker_{name}_timestamp_seconds"].samples
        assert [one.labels for one in shown] == ([{"sources": "fred"}] if number == signal.SIGKILL else [])
        assert all(time.time() - one.value < PATIENCE for one in shown)
