"""Columns and cells agree in every bit, and computing what changed gives what computing all gives."""

from hypothesis import given
from hypothesis import strategies as st

from almanac.derived.macro.derivation import InputSeries, derive
from almanac.derived.macro.operators import operator
from almanac.domain.observations import DAY, FINAL, UNKNOWN
from almanac.domain.periods import Frequency, key_at

from .cells import NOW, both, number, series, vintage

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
DAYS = [f"2024-02-{day}" for day in range(22, 30)] + [
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


@given(columns(D, DAYS))
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
