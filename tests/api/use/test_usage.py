"""What accounts use is counted beside the log, and never in the way of an answer."""

import time

import pytest
from prometheus_client import REGISTRY

from almanac.api.server.journal import Journal
from almanac.api.server.logs import AccessLine
from almanac.api.use.usage import Tally
from almanac.domain.times import day_at
from almanac.store.usage import counts
from almanac.store.usage.counts import UsageFile
from almanac.store.usage.reports import UsageReports
from tests.support import places, postgres

NOW = 1_790_000_000


pytest_generate_tests = places.on_each_engine
place, path = places.placed("usage.db"), places.path


@pytest.fixture
def file(place, monkeypatch):
    monkeypatch.setattr(counts, "_BUSY_SECONDS", 0.01)
    opened = UsageFile(place)
    yield opened
    opened.close()


@pytest.fixture
def tally(file):
    return Tally(file)


def line(key="alm_aaaaaaaa", path="/coverage", status=200, account="acc_1"):
    return AccessLine("req_1", None, "GET", path, status, 1.0, account if key else None, key)


def add(tally, *lines, at=NOW, seconds=0.004):
    for one in lines:
        tally.add(at * 10**9, one.account, one.key, one.path, one.status, [seconds])


def asked(file, what="status"):
    return [(row.name, row.requests) for row in UsageReports(file).by(what, "acc_1", day_at(NOW), day_at(NOW))]


def test_what_the_journal_tells_is_counted(file, tally):
    journal = Journal(tally=tally)
    begun = day_at(int(time.time()))
    for status in (200, 200, 404):
        journal.add(line(status=status), 0.004)
    journal.add(line(path=None, status=404), 0.001)
    journal.add(line(None, status=401), 0.001)
    tally.flush()
    rows = UsageReports(file).by("status", "acc_1", begun, begun + 1)
    assert [(row.name, row.requests) for row in rows] == [("200", 2), ("404", 2)]
    rows = UsageReports(file).by("endpoint", "acc_1", begun, begun + 1)
    assert [(row.name, row.requests) for row in rows] == [("/coverage", 3), ("other", 1)]


def test_answers_of_one_kind_are_one_counter(file, tally):
    for _ in range(3):
        add(tally, *[line()] * 50)
    add(tally, line(), at=NOW + 86_400)
    tally.flush()
    rows = UsageReports(file).counters("acc_1", day_at(NOW), day_at(NOW) + 1)
    assert [(row.requests, row.mean_ms) for row in rows] == [(150, 4.0), (1, 4.0)]
    assert [UsageReports(file).counted("acc_1", NOW // 60 + step) for step in (0, 1_440)] == [0, 1]  # the last minute's
    tally.flush()  # nothing new: nothing is added
    assert asked(file) == [("200", 150)]


def test_counts_wait_while_another_writes(file, tally, place):
    other = UsageFile(place)
    with other.opened() as db, db.transaction():
        add(tally, line(), line(status=404))
        tally.flush()
        add(tally, line())
        tally.flush()
    other.close()
    assert asked(file) == []
    tally.flush()
    assert asked(file) == [("200", 2), ("404", 1)]


@pytest.mark.parametrize("harm", ["damaged", "folder", "newer"])
def test_a_lost_file_never_hurts_and_is_taken_up_again(file, tally, path, tmp_path, harm):
    add(tally, line())
    tally.flush()
    file.close()
    for part in tmp_path.glob("usage.db*"):
        part.unlink()
    if harm == "folder":
        path.mkdir()
    elif harm == "damaged":
        path.write_bytes(b"damaged " * 5_000)
    else:
        UsageFile(path).add([])
        with UsageFile(path).opened() as db:
            db.pragma("user_version", 9)
            db.close()
    faults = REGISTRY.get_sample_value("almanac_faults_total", {"kind": "usage"}) or 0
    add(tally, line())
    tally.flush()
    assert REGISTRY.get_sample_value("almanac_faults_total", {"kind": "usage"}) == faults + 1
    path.rmdir() if harm == "folder" else [part.unlink() for part in tmp_path.glob("usage.db*")]
    tally.flush()
    assert asked(file) == [("200", 1)]


def test_what_waits_is_bounded_and_what_is_given_up_is_counted(file, tally, monkeypatch):
    monkeypatch.setattr("almanac.api.use.usage._MOST", 10)
    monkeypatch.setattr(UsageFile, "add", failing)
    lost = REGISTRY.get_sample_value("almanac_usage_lost_total")
    for number in range(4):
        add(tally, *[line(path=f"/{number}/{each}") for each in range(5)])
        tally.flush()
    assert REGISTRY.get_sample_value("almanac_usage_lost_total") == lost + 10
    monkeypatch.undo()
    tally.flush()
    assert asked(file) == [("200", 10)]


def failing(*_):
    raise counts.DamagedError("no room")


@pytest.mark.postgres
def test_a_lost_connection_never_hurts_and_nothing_is_counted_twice(tmp_path):
    if postgres.why_not():
        pytest.skip(postgres.why_not())
    with places.place_for("postgres", tmp_path) as server:
        opened = UsageFile(server)
        tally = Tally(opened)
        add(tally, line())
        tally.flush()
        assert places.end_connections(server) == 1
        add(tally, line(status=404))
        tally.flush()  # told to the log, and kept
        add(tally, line(status=404))
        tally.flush()
        assert asked(opened) == [("200", 1), ("404", 2)]
        opened.close()
