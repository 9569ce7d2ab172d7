"""Counters of use: added up by processes, read by day, key, endpoint and status."""

import threading
from contextlib import closing
from datetime import date

import apsw
import pytest

from almanac.domain.times import EPOCH_ORDINAL
from almanac.store.engine import sqlite
from almanac.store.engine.errors import DamagedError, DatabaseError, StoreError, UnavailableError
from almanac.store.usage.counts import SCHEMA, CountedUse, UsageFile
from almanac.store.usage.reports import UsageReports
from tests.support import places

DAY = 1_790_000_000 // 86_400
TODAY = EPOCH_ORDINAL + DAY


pytest_generate_tests = places.on_each_engine
place, path = places.placed("usage.db"), places.path


@pytest.fixture
def file(place):
    opened = UsageFile(place)
    yield opened
    opened.close()


@pytest.fixture
def reports(file):
    return UsageReports(file)


def counted(day=DAY, account="acc_1", key="alm_aaaaaaaa", endpoint="/coverage", status=200, latencies=(0.003,)):
    return CountedUse(day, account, key, endpoint, status, len(latencies), sum(int(one * 1e6) for one in latencies))


def test_requests_by_each_of_the_four(file, reports):
    file.add(
        [
            counted(latencies=[0.003] * 8),
            counted(status=404, latencies=[0.001, 0.001]),
            counted(status=429, latencies=[0.001]),
            counted(DAY - 1, key="alm_bbbbbbbb", endpoint="/observations", status=503, latencies=[9.0]),
            counted(account="acc_2", latencies=[0.1] * 100),
        ]
    )
    week = ("acc_1", TODAY - 6, TODAY)
    days = reports.by("day", *week)
    assert [(row.name, row.requests, row.refused, row.limited, row.failed) for row in days] == [
        (date.fromordinal(TODAY - 1).isoformat(), 1, 0, 0, 1),
        (date.fromordinal(TODAY).isoformat(), 11, 2, 1, 0),
    ]
    assert [(row.name, row.requests) for row in reports.by("key", *week)] == [("alm_aaaaaaaa", 11), ("alm_bbbbbbbb", 1)]
    assert [(row.name, row.requests) for row in reports.by("endpoint", *week)] == [
        ("/coverage", 11),
        ("/observations", 1),
    ]
    statuses = [(row.name, row.requests) for row in reports.by("status", *week)]
    assert statuses == [("200", 8), ("404", 2), ("429", 1), ("503", 1)]
    total = reports.total(*week)
    assert (total.requests, total.refused, total.limited, total.failed) == (12, 2, 1, 1)
    assert total.mean == pytest.approx((8 * 0.003 + 3 * 0.001 + 9) / 12)
    assert reports.total("acc_1", TODAY, TODAY).requests == 11
    assert reports.requests(["acc_1", "acc_2", "acc_3"], TODAY, TODAY) == {"acc_1": 11, "acc_2": 100, "acc_3": 0}


def test_of_groups_with_as_many_requests_the_one_that_asked_first_comes_first(file, reports):
    for endpoint in ("/series", "/coverage"):
        file.add([counted(endpoint=endpoint)])
    assert [row.name for row in reports.by("endpoint", "acc_1", TODAY, TODAY)] == ["/series", "/coverage"]


def test_what_counts_towards_the_limit_of_a_minute_is_that_of_the_last_one(file, reports):
    for minute, requests in ((7, 2), (8, 3), (8, 4), (7, 9)):
        file.add([counted()], {("acc_1", minute): requests})
    file.add([counted(account="acc_2")], {("acc_2", 8): 1, ("acc_2", 9): 5})
    assert [reports.counted("acc_1", minute) for minute in (7, 8, 9)] == [0, 7, 0]
    assert [reports.counted(account, 9) for account in ("acc_2", "acc_9")] == [5, 0]


def test_an_account_that_asked_nothing(reports):
    assert [reports.by(what, "acc_9", TODAY - 30, TODAY) for what in ("day", "key", "endpoint", "status")] == [[]] * 4
    total = reports.total("acc_9", TODAY - 30, TODAY)
    assert (total.requests, total.mean) == (0, None)
    assert reports.counters("acc_9", TODAY, TODAY) == []


def test_counters_for_a_spreadsheet(file, reports):
    file.add([counted(DAY + step, status=status) for step in (1, 0) for status in (404, 200)])
    file.add([counted(latencies=[0.0015] * 3)])
    file.add([counted(DAY - 1), counted(DAY + 2), counted(account="acc_2")])
    rows = reports.counters("acc_1", TODAY, TODAY + 1)
    days = [date.fromordinal(TODAY + step).isoformat() for step in (0, 0, 1, 1)]
    assert [(row.day, row.status, row.requests) for row in rows] == [
        *zip(days, (200, 404) * 2, (4, 1, 1, 1), strict=True)
    ]
    assert rows[0].mean_ms == round((3 + 3 * 1.5) / 4, 3)
    assert {(row.key, row.endpoint) for row in rows} == {("alm_aaaaaaaa", "/coverage")}


def test_processes_add_up(place):
    files = [UsageFile(place) for _ in range(4)]

    def work(one):
        for _ in range(20):
            one.add([counted(), counted(status=404)])

    threads = [threading.Thread(target=work, args=(one,)) for one in files]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert UsageReports(files[0]).total("acc_1", TODAY, TODAY).requests == 160
    for each in files:
        each.close()


def test_what_cannot_be_written_leaves_nothing_half_written(file, reports):
    with pytest.raises(DatabaseError):
        file.add([counted(), counted()._replace(micros=None)])
    assert reports.total("acc_1", TODAY, TODAY).requests == 0
    file.add([counted()])  # the names of what was undone are asked for again
    assert reports.by("key", "acc_1", TODAY, TODAY)[0].name == "alm_aaaaaaaa"


def test_a_file_that_is_taken_away_is_made_anew(file, reports, path):
    file.add([counted()])
    for part in path.parent.glob("usage.db*"):
        part.unlink()
    file.add([counted(), counted()])
    assert reports.total("acc_1", TODAY, TODAY).requests == 2
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_taken_away_while_it_is_opened_is_made_anew(path, monkeypatch):
    def gone(_):
        raise UnavailableError("gone")

    with closing(UsageFile(path)) as file:
        with monkeypatch.context() as patch, pytest.raises(UnavailableError):
            patch.setattr(sqlite, "identity_of", gone)
            file.add([counted()])
        file.add([counted()])


def test_a_file_of_another_kind_or_version_says_so(path):
    path.write_text("not a database, however long the text may be " * 500)
    with pytest.raises(DamagedError, match="only counts of requests are lost"):
        UsageFile(path).add([counted()])
    path.unlink()
    UsageFile(path).add([counted()])
    db = apsw.Connection(str(path))
    db.pragma("user_version", 9)
    db.close()
    with pytest.raises(StoreError, match="has schema 9"):
        UsageFile(path).add([counted()])


@pytest.mark.sqlite
def test_a_file_that_counted_by_minute_and_latencies_by_bucket_keeps_its_counts(path):
    db = apsw.Connection(str(path))
    db.execute(SCHEMA.steps[0])
    db.execute("INSERT INTO name VALUES(1, 'acc_1'), (2, 'alm_aaaaaaaa'), (3, '/coverage')")
    for minute in (DAY * 1_440, DAY * 1_440 + 1_439):
        db.execute(f"INSERT INTO counter VALUES(1, ?, 1, 2, 3, 200, 3, 6000{', 0' * 12})", (minute,))
    db.pragma("user_version", 1)
    db.close()
    with closing(UsageFile(path)) as file:
        file.add([counted(latencies=[0.002])])
        (row,) = UsageReports(file).by("key", "acc_1", TODAY, TODAY)
    assert (row.name, row.requests, row.mean) == ("alm_aaaaaaaa", 7, 0.002)


def test_days_are_counted_from_the_epoch(file, reports):
    file.add([counted(0)])
    assert reports.by("day", "acc_1", EPOCH_ORDINAL, EPOCH_ORDINAL)[0].name == "1970-01-01"
