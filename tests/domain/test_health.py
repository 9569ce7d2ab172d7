"""The words for a source's health, each at its limits. Sources are invented."""

from datetime import datetime

import pytest

from almanac.domain.health import Feed, Health, Tried, health
from almanac.domain.periods import Frequency
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.rights import Rights

D, M, Q = Frequency.DAILY, Frequency.MONTHLY, Frequency.QUARTERLY
DAY = 86_400


def source(cadence="0 13 * * 1-5", frequencies=(D,)):
    return Source(
        id="x", provider="x", name="X", description="Invented.", homepage="/", connector="x", cadence=cadence,
        frequencies=frequencies, rights=Rights(license="x", attribution="x"),
    )  # fmt: skip


def at(text):
    return int(datetime.fromisoformat(text).timestamp())


def asked(success, **more):
    return Tried(**{"last_attempt": at(success), "last_success": at(success), "last_ingested": at(success), **more})


def feed(*series):
    made = Feed()
    for frequency, freshness, more in series:
        spec = SeriesSpec(
            source="x", native="n", indicator="i", entity="e", frequency=frequency, unit="u", name="n", **more
        )
        made.count(spec, freshness)
    return made


FRESH, STALE, UNKNOWN = "fresh", "stale", "unknown"
GOOD = feed((D, FRESH, {}))
NOW = at("2026-11-20T14:00:00Z")  # a Friday


def test_never_run_and_failing_come_first():
    stale = feed((D, STALE, {}))
    assert health(source(), Tried(), stale, NOW) == Health("never_run", None)
    failed = asked("2026-01-01T00:00:00Z", failures=2, last_error="answered 503")
    assert health(source(), failed, stale, NOW) == Health(
        "failing", "answered 503; no success since 2026-01-01T00:00:00Z"
    )
    never = Tried(last_attempt=NOW, failures=1, last_error="answered 503")
    assert health(source(), never, stale, NOW) == Health("failing", "answered 503; no success yet")
    shut = asked("2026-11-20T13:00:00Z", unreadable=1)
    assert health(source(), shut, GOOD, NOW) == Health("failing", "the newest answer of 1 address cannot be read")
    begun = health(source(), Tried(unended=at("2026-11-20T13:00:00Z")), stale, NOW)
    assert (begun.word, "a run that began at 2026-11-20T13:00:00Z has not ended" in begun.reason) == ("never_run", True)
    assert "2 addresses" in health(source(), shut._replace(unreadable=2), GOOD, NOW).reason


@pytest.mark.parametrize(
    ("cadence", "success", "now", "word"),
    [
        # Each weekday at 13:00. One turn may be missed: it may be under way or be tried again.
        ("0 13 * * 1-5", "2026-11-19T13:00:05Z", "2026-11-20T13:00:00Z", "ok"),
        ("0 13 * * 1-5", "2026-11-18T13:00:05Z", "2026-11-20T12:59:59Z", "ok"),
        ("0 13 * * 1-5", "2026-11-18T13:00:05Z", "2026-11-20T13:00:00Z", "late"),
        # A weekend is no turn.
        ("0 13 * * 1-5", "2026-11-20T13:00:05Z", "2026-11-23T23:59:59Z", "ok"),
        ("0 13 * * 1-5", "2026-11-20T13:00:05Z", "2026-11-24T12:59:59Z", "ok"),
        ("0 13 * * 1-5", "2026-11-20T13:00:05Z", "2026-11-24T13:00:00Z", "late"),
        # Thrice a day: asking once a day is enough.
        ("15 0,14,22 * * *", "2026-11-20T06:00:00Z", "2026-11-21T14:14:59Z", "ok"),
        ("15 0,14,22 * * *", "2026-11-20T06:00:00Z", "2026-11-21T14:15:00Z", "late"),
        # Once a month: late after the second turn without it, however many days that is.
        ("0 6 1 * *", "2026-09-01T06:00:10Z", "2026-11-01T05:59:59Z", "ok"),
        ("0 6 1 * *", "2026-09-01T06:00:10Z", "2026-11-01T06:00:00Z", "late"),
        # Without a cadence: the allowance of the highest frequency, ten days for daily.
        (None, "2026-11-10T14:00:00Z", "2026-11-20T14:00:00Z", "ok"),
        (None, "2026-11-10T13:59:59Z", "2026-11-20T14:00:00Z", "late"),
    ],
)
def test_late_is_by_the_sources_own_cadence(cadence, success, now, word):
    found = health(source(cadence), asked(success), GOOD, at(now))
    assert found == Health(word, None if word == "ok" else f"no success since {success}")


@pytest.mark.parametrize(
    ("series", "told"),
    [
        ([(D, STALE, {}), (D, STALE, {})], "answers, but every daily series is stale"),
        # One series may end by itself; all of a frequency do not.
        ([(D, STALE, {}), (D, FRESH, {})], None),
        ([(D, FRESH, {}), (M, STALE, {})], "answers, but every monthly series is stale"),
        ([(M, STALE, {}), (D, STALE, {})], "answers, but every daily and monthly series is stale"),
        # A discontinued series is over, and says nothing of the others.
        ([(D, STALE, {"discontinued": True})], None),
        ([(D, FRESH, {}), (M, STALE, {"discontinued": True})], None),
        ([(D, STALE, {"discontinued": True}), (D, STALE, {})], "answers, but every daily series is stale"),
        # One that is judged by the fetch would hide that the others have stopped.
        ([(D, FRESH, {"judged_by_fetch": True}), (D, STALE, {})], "answers, but every daily series is stale"),
        ([(D, FRESH, {"judged_by_fetch": True})], None),
        # Nothing to judge by.
        ([(Q, UNKNOWN, {})], None),
    ],
)
def test_a_feed_that_answers_and_brings_nothing_new_is_late(series, told):
    found = health(source(), asked("2026-11-20T13:00:05Z"), feed(*series), NOW)
    assert found == (Health("ok") if told is None else Health("late", told))


def test_counts_leave_discontinued_series_out():
    made = feed((D, STALE, {}), (D, FRESH, {}), (M, STALE, {"discontinued": True}), (M, UNKNOWN, {}))
    assert (made.series, made.stale, made.stopped) == (3, 1, [])


@pytest.mark.parametrize(("days", "word"), [(200, "ok"), (201, "late")])
def test_a_source_without_series_of_its_own_is_judged_by_its_answers(days, word):
    tried = asked("2026-11-20T13:00:05Z", last_ingested=NOW - days * DAY)
    found = health(source(frequencies=(Q, Frequency.ANNUAL)), tried, Feed(), NOW)
    assert found.word == word
    assert found.reason == (None if word == "ok" else "gives the same answers since 2026-05-03T14:00:00Z")
    assert health(source(frequencies=()), tried, Feed(), NOW).word == "ok"  # a calendar has no frequency
    # One with series of its own is judged by them: rates that nobody changes make the same answers for years.
    kept = feed((D, FRESH, {"judged_by_fetch": True}))
    assert health(source(frequencies=(Q,)), tried, kept, NOW).word == "ok"
