"""What a cell serves of all that was ever stated of it, numbers and ids."""

import itertools
import math
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from almanac.domain.periods import Period
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
