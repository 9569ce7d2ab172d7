"""What a cell serves of all that was ever stated of it, numbers and ids."""

import itertools
import math
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.health import Feed, Health, Tried, health
from almanac.domain.observations import (
    DAY,
    FAILED,
    FINAL,
    FORECAST,
    INITIAL,
    PROJECTION,
    QUALITY,
    REVISED,
    UNKNOWN,
    WARNED,
    Vintage,
    is_unknown,
    number,
    quality,
    settle,
    status,
)
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.rights import Rights
from almanac.domain.times import end_of_day, instant

JANUARY = Period.parse("2026-01").key
#: 2026-02-10, ten days after January's end.
SOON = end_of_day(date(2026, 2, 10))


def vintage(known, value, *, flags=0, released=None, ingested=None, payload=1, text=None, note=None):
    return Vintage(known, value, text, flags, released, ingested or known, payload, note)


def served(*stated, allowance=90):
    return [(v.known, v.value) for v in settle(stated, JANUARY, allowance)]


def test_a_value_that_comes_back_is_three_vintages():
    assert served(vintage(1, 1.0), vintage(2, 2.0), vintage(3, 1.0)) == [(1, 1.0), (2, 2.0), (3, 1.0)]


def test_winners_are_found_before_equal_neighbours():
    # x@1, y@2, x@2: the last wins the second instant, and is then the same as the first.
    assert served(vintage(1, 1.0), vintage(2, 2.0), vintage(2, 1.0)) == [(1, 1.0)]


def test_the_last_statement_wins_its_instant():
    assert served(vintage(1, 1.0), vintage(1, 2.0)) == [(1, 2.0)]


def test_an_equal_statement_keeps_the_first_s_origin_and_adds_its_release():
    first = vintage(5, 1.0, flags=UNKNOWN, ingested=7, payload=1)
    again = vintage(5, 1.0, flags=DAY, released=5, ingested=9, payload=2)
    (found,) = settle([first, again], JANUARY, 90)
    assert (found.payload, found.ingested, found.released) == (1, 7, 5)
    assert found.flags & (UNKNOWN | DAY) == DAY
    # But a release once stated stays.
    (kept,) = settle([again, again._replace(released=4)], JANUARY, 90)
    assert kept.released == 5


def test_a_withdrawal_before_any_value_is_nothing():
    assert served(vintage(1, None), vintage(2, 1.0), vintage(3, None), vintage(4, None)) == [(2, 1.0), (3, None)]
    assert served(vintage(1, None)) == []


def test_final_is_part_of_the_state():
    found = settle([vintage(1, 1.0), vintage(2, 1.0, flags=FINAL)], JANUARY, 90)
    assert [status(v.flags) for v in found] == ["unknown", "final"]


def test_marks_are_part_of_the_state_and_no_revision():
    flash, updated, based = '{"flags":["e"]}', '{"flags":["e"],"publishedAt":"2026-02-12"}', '{"basis":"2015=100"}'
    stated = [
        vintage(SOON, 2.1, released=SOON, note=flash),
        vintage(SOON + 1, 2.1, note=updated),
        vintage(SOON + 2, 2.1, note='{"publishedAt":"2026-02-13"}'),
        vintage(SOON + 3, 2.1, note=based),
        vintage(SOON + 4, 2.2, note=based),
    ]
    found = settle(stated, JANUARY, 90)
    assert [(v.known - SOON, v.note, status(v.flags)) for v in found] == [
        (0, flash, "initial"),
        (2, '{"publishedAt":"2026-02-13"}', "initial"),
        (3, based, "initial"),
        (4, based, "revised"),
    ]


def test_what_checks_say_is_part_of_the_state_and_no_revision():
    stated = [
        vintage(SOON, 1.0, released=SOON),
        vintage(SOON + 1, 1.0, released=SOON, flags=FAILED),
        vintage(SOON + 2, 1.0, released=SOON, flags=FAILED),
        vintage(SOON + 3, 2.0, released=SOON + 3, flags=WARNED),
        vintage(SOON + 4, 2.0, released=SOON + 3),
    ]
    found = settle(stated, JANUARY, 90)
    assert [(v.known - SOON, v.value, quality(v.flags), status(v.flags)) for v in found] == [
        (0, 1.0, "ok", "initial"), (1, 1.0, "failed", "initial"), (3, 2.0, "warning", "revised"), (4, 2.0, "ok", "revised"),
    ]  # fmt: skip


def test_unknown_and_release_times_are_not():
    assert served(vintage(1, 1.0, released=1), vintage(2, 1.0, flags=UNKNOWN)) == [(1, 1.0)]


def test_texts_are_states_too():
    found = settle([vintage(1, None, text="tight"), vintage(2, None, text="loose"), vintage(3, None)], JANUARY, 90)
    assert [(v.text, v.withdrawn) for v in found] == [("tight", False), ("loose", False), (None, True)]


def test_statuses_follow_from_the_place():
    stated = [vintage(SOON, 1.0, released=SOON), vintage(SOON + 1, 2.0, released=SOON + 1)]
    assert [status(v.flags) for v in settle(stated, JANUARY, 90)] == ["initial", "revised"]
    # An older first vintage comes late: what was initial becomes revised, under the same id.
    stated.append(vintage(SOON - 1, 0.5, released=SOON - 1))
    assert [(v.value, status(v.flags)) for v in settle(stated, JANUARY, 90)] == [
        (0.5, "initial"), (1.0, "revised"), (2.0, "revised"),
    ]  # fmt: skip


@pytest.mark.parametrize(("late", "expected"), [(0, "initial"), (1, "unknown")])
def test_a_first_release_after_the_allowance_is_unknown(late, expected):
    last = end_of_day(date(2026, 1, 31) + timedelta(days=90)) + 1 + late
    (found,) = settle([vintage(last, 1.0, released=last)], JANUARY, 90)
    assert status(found.flags) == expected


@pytest.mark.parametrize("flags", [0, UNKNOWN])
def test_a_first_vintage_without_a_release_or_of_a_backfill_is_unknown(flags):
    (found,) = settle([vintage(SOON, 1.0, flags=flags, released=SOON if flags else None)], JANUARY, 90)
    assert status(found.flags) == "unknown"
    assert is_unknown(found.flags)


def test_a_place_is_found_anew_however_the_vintage_was_marked():
    (found,) = settle([vintage(SOON, 1.0, released=SOON, flags=REVISED | FORECAST | DAY)], JANUARY, 90)
    assert found.flags == INITIAL | DAY


@pytest.mark.parametrize(
    ("known", "forecast"), [("2025-12-31T23:59:59+00:00", True), ("2026-01-01T00:00:00+00:00", False)]
)
def test_a_value_known_before_its_period_starts_is_a_forecast(known, forecast):
    moment = instant(datetime.fromisoformat(known))
    (found,) = settle([vintage(moment, 1.0)], JANUARY, 90)
    assert bool(found.flags & FORECAST) == forecast


def test_a_projection_that_comes_true_is_a_state_of_its_own():
    projected = vintage(1, 1.0, flags=PROJECTION, released=1)
    found = settle([projected, vintage(2, 1.0, flags=PROJECTION), vintage(3, 1.0), vintage(4, 1.0)], JANUARY, 90)
    assert [(one.known, one.flags & PROJECTION) for one in found] == [(1, PROJECTION), (3, 0)]


def test_an_instant_of_a_balance_sheet_is_never_a_forecast():
    (found,) = settle([vintage(0, 1.0)], Period(None, date(2026, 1, 31)).key, 90)
    assert not found.flags & FORECAST


states = st.builds(
    vintage,
    st.integers(1, 5),
    st.sampled_from([None, 1.0, 2.0]),
    flags=st.sampled_from([0, FINAL, UNKNOWN, DAY, PROJECTION]),
    released=st.none() | st.integers(1, 5),
    payload=st.integers(1, 9),
)


@given(st.lists(states, max_size=12))
def test_settling_what_was_settled_changes_nothing_and_neighbours_differ(stated):
    found = settle(stated, JANUARY, 90)
    assert settle(found, JANUARY, 90) == found
    assert [v.known for v in found] == sorted({v.known for v in found})
    assert not found or not found[0].withdrawn
    assert all(a.state != b.state for a, b in itertools.pairwise(found))


@given(st.lists(states, max_size=12))
def test_what_is_served_at_a_moment_is_the_last_statement_of_the_last_instant(stated):
    for moment in range(6):
        known = [v for v in stated if v.known <= moment]
        expected = max(enumerate(known), key=lambda pair: (pair[1].known, pair[0]))[1].state if known else None
        shown = [v for v in settle(stated, JANUARY, 90) if v.known <= moment]
        if not shown:
            assert expected is None or expected[:2] == (None, None)
        else:
            assert shown[-1].state == expected


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (FINAL | UNKNOWN | REVISED, "final"),
        (UNKNOWN | REVISED, "unknown"),
        (INITIAL, "initial"),
        (REVISED, "revised"),
        (0, "unknown"),
    ],
)
def test_status_words(flags, expected):
    assert status(flags) == expected
    assert is_unknown(flags) == (expected == "unknown" or bool(flags & UNKNOWN))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="is not a number that can be served"):
        number(value)


def test_numbers_have_one_form():
    assert number(None) is None
    assert math.copysign(1, number(-0.0)) == 1
    assert isinstance(number(3), float)


def plainly(stated, period, allowance):
    """`settle` as it is defined, one step after another."""
    winners = {}
    for one in stated:
        held = winners.get(one.known)
        if held is None or held.state != one.state:
            winners[one.known] = one
        elif held.released is None and one.released is not None:
            flags = held.flags & ~(UNKNOWN | DAY) | one.flags & (FINAL | UNKNOWN | DAY | QUALITY)
            winners[one.known] = held._replace(released=one.released, flags=flags)
    found = []
    span = Period.from_key(period)
    for _, one in sorted(winners.items()):
        if (not found and one.withdrawn) or (found and found[-1].state == one.state):
            continue
        flags = one.flags & (FINAL | UNKNOWN | DAY | QUALITY)
        if span.start is not None and end_of_day(span.start) - 86_399 > one.known:
            flags |= FORECAST
        if not one.flags & (FINAL | UNKNOWN):
            if found and found[-1].state[:2] == one.state[:2] and not found[-1].flags & FINAL:
                flags |= found[-1].flags & (INITIAL | REVISED)
            elif found:
                flags |= REVISED
            elif one.released is not None and one.released <= end_of_day(span.end) + allowance * 86_400 + 1:
                flags |= INITIAL
        found.append(one._replace(flags=flags))
    return found


@given(
    st.lists(
        st.builds(
            Vintage,
            known=st.integers(SOON - 3, SOON + 3),
            value=st.sampled_from([None, 1.0, 2.0]),
            text=st.sampled_from([None, None, "x"]),
            flags=st.integers(0, 255),
            released=st.none() | st.integers(SOON - 3, SOON + 3),
            ingested=st.just(SOON + 9),
            payload=st.integers(1, 3),
        ),
        max_size=6,
    ),
    st.sampled_from(
        [*map(Period.parse, ("2026-01", "2026-02-10", "2026-02-11", "2025")), Period(None, date(2026, 2, 20))]
    ),
    st.integers(0, 12),
)
def test_settling_is_what_it_is_defined_to_be(stated, period, allowance):
    key = period.key
    assert settle(stated, key, allowance) == plainly(stated, key, allowance)


# -- the words for a source's health, each at its limits. Sources are invented ----------------------------------------


D, M, Q = Frequency.DAILY, Frequency.MONTHLY, Frequency.QUARTERLY
ONE_DAY = 86_400


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


FRESH, STALE, UNKNOWN_HEALTH = "fresh", "stale", "unknown"
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
        ([(Q, UNKNOWN_HEALTH, {})], None),
    ],
)
def test_a_feed_that_answers_and_brings_nothing_new_is_late(series, told):
    found = health(source(), asked("2026-11-20T13:00:05Z"), feed(*series), NOW)
    assert found == (Health("ok") if told is None else Health("late", told))


def test_counts_leave_discontinued_series_out():
    made = feed((D, STALE, {}), (D, FRESH, {}), (M, STALE, {"discontinued": True}), (M, UNKNOWN_HEALTH, {}))
    assert (made.series, made.stale, made.stopped) == (3, 1, [])


@pytest.mark.parametrize(("days", "word"), [(200, "ok"), (201, "late")])
def test_a_source_without_series_of_its_own_is_judged_by_its_answers(days, word):
    tried = asked("2026-11-20T13:00:05Z", last_ingested=NOW - days * ONE_DAY)
    found = health(source(frequencies=(Q, Frequency.ANNUAL)), tried, Feed(), NOW)
    assert found.word == word
    assert found.reason == (None if word == "ok" else "gives the same answers since 2026-05-03T14:00:00Z")
    assert health(source(frequencies=()), tried, Feed(), NOW).word == "ok"  # a calendar has no frequency
    # One with series of its own is judged by them: rates that nobody changes make the same answers for years.
    kept = feed((D, FRESH, {"judged_by_fetch": True}))
    assert health(source(frequencies=(Q,)), tried, kept, NOW).word == "ok"
