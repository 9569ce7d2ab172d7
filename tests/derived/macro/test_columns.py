"""Whole series as columns: the same numbers as one by one, for every frequency and at the edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.derived.macro.input_series import NO_RELEASE, Arrays
from almanac.derived.macro.lookups import keys, midnight, spans
from almanac.domain.observations import UNKNOWN, Marks, Vintage
from almanac.domain.periods import Frequency, Period, end_of, key_at, ordinal, start_of

DAYS = st.dates().filter(lambda day: 1 < day.year < 9999)


@pytest.mark.parametrize("frequency", list(Frequency))
@given(DAYS)
def test_keys_and_days_of_periods_at_once(frequency, day):
    number = ordinal(Period.ending(day, frequency).key, frequency)
    key = key_at(number, frequency)
    starts, ends = spans(np.array([number], dtype=np.int64), frequency)
    assert keys(starts, ends).tolist() == [key]
    assert (starts.tolist(), ends.tolist()) == ([start_of(key).toordinal()], [end_of(key).toordinal()])


def test_a_day_begins_at_midnight():
    days = np.array([Period.parse("1970-01-02").end.toordinal(), Period.parse("1969-12-31").end.toordinal()])
    assert midnight(days).tolist() == [86_400, -86_400]


def row(period, known, value, released=NO_RELEASE):
    return Period.parse(period).key, known, value, released, known + 1, UNKNOWN, 0


def test_columns_take_the_last_vintage_and_mark_lone_numbers():
    rows = [
        row("2024-01", 5, 1.5),
        row("2024-02", 5, 2.5, 4),
        row("2024-02", 6, 3.5),
        row("2024-03", 7, math.inf),
    ]
    got = Arrays.of_rows(rows, Frequency.MONTHLY, {}.get)
    assert got.ordinals.tolist() == [24_288, 24_289, 24_290]
    assert got.single.tolist() == [True, False, False]
    assert got.value.tolist()[:2] == [1.5, 3.5]
    assert math.isnan(got.value[2])
    assert got.known.tolist() == [5, 6, 7]
    assert got.released.tolist() == [NO_RELEASE, NO_RELEASE, NO_RELEASE]
    assert got.ingested.tolist() == [6, 7, 8]
    assert got.flags.tolist() == [UNKNOWN] * 3


def test_of_two_periods_with_one_number_the_later_key_counts():
    # A month, and a whole quarter that ends with it: irregular, but a feed may have both.
    month, quarter = Period.parse("2024-03").key, Period.parse("2024-Q1").key
    assert quarter < month
    rows = [(quarter, 1, 1.0, 1, 1, 0, 0), (month, 2, 2.0, 2, 2, 0, 0)]
    got = Arrays.of_rows(rows, Frequency.MONTHLY, {}.get)
    plain = Arrays.of({24_290: [Vintage(2, 2.0, None, 0, 2, 2, 1)]})
    assert (got.ordinals.tolist(), got.value.tolist(), got.single.tolist(), got.known.tolist()) == (
        plain.ordinals.tolist(), plain.value.tolist(), plain.single.tolist(), plain.known.tolist(),
    )  # fmt: skip


def test_marks_are_numbered_and_notes_of_other_things_are_none():
    notes = {3: '{"publishedAt":"2024-05-01"}', 4: '{"flags":["p"]}', 9: '{"flags":["p"],"publishedAt":"2024-05-02"}'}
    rows = [(*row(f"2024-0{month}", 5, 1.0)[:-1], note) for month, note in enumerate([0, 3, 4, 9], start=1)]
    got = Arrays.of_rows(rows, Frequency.MONTHLY, notes.get)
    assert [got.stated[place] for place in got.marks] == [None, None, Marks(("p",)), Marks(("p",))]


def test_no_rows_are_no_columns():
    got = Arrays.of_rows([], Frequency.DAILY, {}.get)
    assert [len(column) for column in (got.ordinals, got.single, got.value, got.released)] == [0, 0, 0, 0]
