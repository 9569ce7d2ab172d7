"""Whole series as columns: the same numbers as one by one, for every frequency and at the edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.derived.macro.derivation import InputSeries, derive
from almanac.derived.macro.input_series import NO_RELEASE, Arrays, keys, midnight, spans
from almanac.derived.macro.operators import operator
from almanac.domain.observations import DAY, FINAL, UNKNOWN, Marks
from almanac.domain.periods import Frequency, Period, end_of, key_at, ordinal, start_of

from .cells import NOW, both, number, series, vintage

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
    assert (got.ordinals.tolist(), got.value.tolist(), got.single.tolist(), got.known.tolist()) == (
        [24_290], [2.0], [True], [2],
    )  # fmt: skip


def test_marks_are_numbered_and_notes_of_other_things_are_none():
    notes = {3: '{"publishedAt":"2024-05-01"}', 4: '{"flags":["p"]}', 9: '{"flags":["p"],"publishedAt":"2024-05-02"}'}
    rows = [(*row(f"2024-0{month}", 5, 1.0)[:-1], note) for month, note in enumerate([0, 3, 4, 9], start=1)]
    got = Arrays.of_rows(rows, Frequency.MONTHLY, notes.get)
    assert [got.stated[place] for place in got.marks] == [None, None, Marks(("p",)), Marks(("p",))]


def test_no_rows_are_no_columns():
    got = Arrays.of_rows([], Frequency.DAILY, {}.get)
    assert [len(column) for column in (got.ordinals, got.single, got.value, got.released)] == [0, 0, 0, 0]


# -- columns and cells agree in every bit, and computing what changed gives what computing all gives ------------------


M, D = Frequency.MONTHLY, Frequency.DAILY
CHANGE = operator("change", {"lag": "1y"}, D)

#: Whole, of few decimals, of as many as a float has, and so large that a sum has none.
values = st.sampled_from([None, 1.0, 2.0, 3.0, 0.0, 1e200, 1.7e308, 5.3, 5.25, 0.1, 4.391234567890123])
histories = st.lists(
    st.builds(
        vintage, st.integers(1, 4), values, flags=st.sampled_from([0, 0, FINAL, UNKNOWN, DAY]),
        released=st.none() | st.integers(NOW, NOW + 3), ingested=st.integers(4, 6),
    ),
    min_size=1,
    max_size=2,
)  # fmt: skip


def columns(frequency, texts):
    return st.dictionaries(st.sampled_from(texts), histories, max_size=len(texts)).map(
        lambda cells: series(frequency, cells)
    )


MONTHS = ["2024-12", "2025-01", "2025-02", "2025-03", "2026-01", "2026-02"]
DAYS_OF_PATHS = [f"2024-02-{day}" for day in range(22, 30)] + [
    "2025-02-26",
    "2025-02-27",
    "2025-02-28",
    "2025-03-01",
    "2025-03-05",
]
OPERATORS = [
    ("growth", {"lag": "1y"}),
    ("growth", {"lag": "1m", "power": 4}),
    ("change", {"lag": "1p"}),
    ("change", {"lag": "1y"}),
]


@given(columns(M, MONTHS), st.sampled_from(OPERATORS))
def test_monthly_columns_and_cells_agree_in_every_bit(own, how):
    both(operator(*how, M), M, [[own]])


@given(columns(D, DAYS_OF_PATHS))
def test_daily_columns_with_a_look_back_agree_in_every_bit(own):
    both(CHANGE, D, [[own]])


@given(columns(M, MONTHS), columns(M, MONTHS), columns(M, MONTHS), st.sampled_from(["sum", "difference", "butterfly"]))
def test_columns_of_several_inputs_agree_in_every_bit(first, second, third, name):
    inputs = [[first], [second], [third]]
    both(operator(name, {}, M), M, inputs if name == "butterfly" else inputs[:2])


@given(columns(M, MONTHS), columns(M, MONTHS), st.sets(st.sampled_from(MONTHS)))
def test_computing_what_changed_gives_what_computing_all_gives(first, second, changed):
    moved = frozenset(number(text, M) for text in changed)
    op = operator("growth", {"lag": "1y"}, M)
    whole = derive(op, M, [[first, second]], 90)
    part = derive(op, M, [[InputSeries(M, first.cells, moved), InputSeries(M, second.cells, frozenset())]], 90)
    touched = {key_at(place + lag, M) for place in moved for lag in (0, 12)}
    assert {key: found for key, found in whole.items() if key in touched} == {
        k: f for k, f in part.items() if k in whole
    }
    assert set(part) - set(whole) <= touched
