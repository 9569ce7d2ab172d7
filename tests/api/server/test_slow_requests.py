"""Which question is slow: its line says what was asked, without a secret, and how much of the time the database took."""

import time

import msgspec
import pytest
import structlog
from prometheus_client import REGISTRY

from almanac.api.server.logs import told_text
from almanac.store.engine import opening
from almanac.store.engine.deadline import Deadline, add_database_time, deadline_scope
from tests.support import postgres


def lines_of(frame, *targets, seconds=1e-9):
    frame.settings = msgspec.structs.replace(frame.settings, slow_seconds=seconds)
    frame.__post_init__()
    with structlog.testing.capture_logs() as lines:
        for target in targets:
            frame.get(target)
    return [one for one in lines if one["event"] == "a slow request"]


def test_the_line_has_the_parameters_and_no_secret(frame):
    key, publishers = "alm_" + "Q" * 40, "0123456789abcdef" * 2
    told = lines_of(
        frame, f"/indicators/{key}", f"/observations?limit=3&country={publishers}", "/observations?cursor=abc.def",
        "/observations?nonsense=1", "/nowhere?limit=3",
    )  # fmt: skip
    assert [(one["path"], one["parameters"]) for one in told] == [
        ("/indicators/{idOrSlug}", {"idOrSlug": "[redacted]"}),
        ("/observations", {"limit": "3", "country": "[redacted]"}),
        ("/observations", {"cursor": "…"}),
        ("/observations", {}),  # a name that is none of the endpoint's may be anything
    ]
    assert key not in str(told)
    assert publishers not in str(told)


def test_the_line_says_whether_it_was_a_heavy_one_and_how_it_ended(frame):
    told = lines_of(frame, "/heavy", "/coverage", "/indicators/broken")
    assert [(one["path"], one["heavy"], one["status"]) for one in told] == [
        ("/heavy", True, 200), ("/coverage", False, 200), ("/indicators/broken", True, 500),
    ]  # fmt: skip
    assert all(one["account"] == "acc_pro" and one["ms"] > 0 for one in told)


def test_a_long_value_is_cut():
    assert told_text("ab " * 1000) == ("ab " * 1000)[:200] + "..."


@pytest.mark.parametrize(("seconds", "count"), [(0.0, 0), (60.0, 0), (1e-9, 1)])
def test_only_what_takes_longer_than_the_setting_is_told_and_counted(frame, seconds, count):
    labels = {"path": "/coverage"}
    before = REGISTRY.get_sample_value("almanac_slow_requests_total", labels) or 0
    assert len(lines_of(frame, "/coverage", seconds=seconds)) == count
    assert (REGISTRY.get_sample_value("almanac_slow_requests_total", labels) or 0) - before == count


def test_time_in_the_database_counts_for_whom_it_is_read():
    first, second = Deadline(60), Deadline(60)
    with deadline_scope(first):
        add_database_time(0.25)
        with deadline_scope(second):
            add_database_time(0.5)
        add_database_time(0.125)
    add_database_time(9)  # nobody's
    assert (first.database_seconds, second.database_seconds) == (0.375, 0.5)


@pytest.mark.postgres
@pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or "")
def test_what_a_server_takes_is_measured():

    name, url = postgres.fresh()
    db = opening.create(opening.Server(url))
    try:
        deadline, began = Deadline(60), time.perf_counter()
        with deadline_scope(deadline):
            assert db.execute("SELECT 1 FROM pg_sleep(0.2)").get == 1
        assert (time.perf_counter() - began) / 2 < deadline.database_seconds
    finally:
        db.close()
        postgres.drop(name)
