"""The operators by hand-made numbers, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.catalog.load import shipped
from almanac.derived.macro.operators import FormulaError, fits, lag_months, operator
from almanac.domain.periods import Frequency

M, Q, A, D = Frequency.MONTHLY, Frequency.QUARTERLY, Frequency.ANNUAL, Frequency.DAILY
SAHM = shipped().formulas["sahm_indicator"].params


@pytest.mark.parametrize(
    ("name", "params", "values", "expected"),
    [
        ("growth", {"lag": "1y"}, (110.0, 100.0), 10.0),
        ("growth", {"lag": "1y"}, (90.0, 120.0), -25.0),
        ("growth", {"lag": "1q", "power": 4}, (101.0, 100.0), 4.060401),
        ("change", {"lag": "1m"}, (5.5, 4.25), 1.25),
        ("difference", {}, (4.5, 3.0), 1.5),
        ("spread_to", {}, (4.5, 6.0), -1.5),
        ("butterfly", {}, (4.0, 3.0, 4.5), 0.5),
        ("sum", {}, (4.0, 2.5), 6.5),
        ("real_rate", {}, (3.0, 5.0), 2.0),
    ],
)
def test_arithmetic(name, params, values, expected):
    assert operator(name, params, M).apply(*values) == pytest.approx(expected, abs=1e-12)


def test_the_butterfly_is_positive_when_the_middle_yields_more_than_the_wings():
    # Slots come middle first; the catalogue names short, middle, long.
    found = operator("butterfly", {}, D)
    assert [slot.input for slot in found.slots] == [1, 0, 2]
    assert found.same_source


def test_a_real_rate_takes_the_last_rate_inside_the_period_of_the_inflation():
    found = operator("real_rate", {}, M)
    assert [(slot.input, slot.within) for slot in found.slots] == [(1, ""), (0, "last")]
    assert not found.vector


@pytest.mark.parametrize(("given_", "expected"), [(True, True), (False, False), (None, False)])
def test_a_difference_keeps_to_one_source_where_the_catalogue_says_so(given_, expected):
    assert operator("difference", {} if given_ is None else {"same_source": given_}, D).same_source is expected


@given(st.lists(st.tuples(st.floats(0.1, 1e6), st.floats(0.1, 1e6)), min_size=1, max_size=40), st.integers(1, 12))
def test_arrays_and_numbers_give_the_same_bits(pairs, power):
    now, base = np.array(pairs).T
    apply = operator("growth", {"lag": "1m", "power": power}, M).apply
    assert apply(now, base).tolist() == [apply(float(a), float(b)) for a, b in pairs]


def sahm(*months):
    """Unemployment, newest month first, padded with 4.0."""
    return operator("sahm", SAHM, M), (*months, *(4.0,) * (15 - len(months)))


def test_sahm_is_the_three_month_mean_above_its_low_of_the_twelve_means_before():
    found, months = sahm(4.6, 4.5, 4.4)
    assert found.apply(*months) == pytest.approx(0.5)
    # A low before the rise is found wherever it is among the fifteen months.
    assert found.apply(4.0, 4.0, 4.0, *(5.0,) * 11, 3.0) == pytest.approx(4.0 - 13 / 3)


def test_sahm_needs_two_of_three_months_and_ten_of_twelve_means():
    found, months = sahm(4.5, None, 4.5)
    assert found.apply(*months) == pytest.approx(0.5)
    assert found.note(*months) == '{"missingPeriods":1}'
    assert found.apply(4.5, None, None, *months[3:]) is None
    # Two gaps side by side cost two means (those with one month left), three cost three.
    gaps = [*(4.0,) * 15]
    gaps[6:8] = [None] * 2
    assert found.apply(*gaps) == pytest.approx(0.0)
    gaps[6:9] = [None] * 3
    assert found.apply(*gaps) is None
    assert found.note(*(4.0,) * 15) is None


def test_sahm_over_a_month_that_was_never_collected_is_as_its_publisher_has_it():
    """
    FRED's SAHMCURRENT is 0.35 for November and for December 2025, with no unemployment rate for October: 4.4, none, 4.5 and
    4.4 from September on, over a low of 4.1. The last three months there are would give 0.33 for December.
    """
    low = (4.3, *(4.1,) * 12)
    found = operator("sahm", SAHM, M)
    november, december = (4.5, None, 4.4, *low)[:15], (4.4, 4.5, None, 4.4, *low)[:15]
    assert (found.apply(*november), found.apply(*december)) == (0.35, 0.35)
    assert (found.note(*november), found.note(*december)) == ('{"missingPeriods":1}',) * 2


def test_sahm_looks_at_fifteen_months_of_which_only_the_first_must_be_there():
    slots = operator("sahm", SAHM, M).slots
    assert [slot.months for slot in slots] == list(range(15))
    assert [slot.optional for slot in slots] == [False] + [True] * 14


@pytest.mark.parametrize(
    ("text", "frequency", "months"),
    [("1y", M, 12), ("5y", A, 60), ("3m", M, 3), ("1q", Q, 3), ("1p", Q, 3), ("2p", A, 24), ("12m", D, 12)],
)
def test_lags_in_months(text, frequency, months):
    assert lag_months(text, frequency) == months


@pytest.mark.parametrize("text", ["", "y", "1", "1w", "-1y", "1.5y", "٣m"])
def test_a_lag_that_is_none_is_refused_with_what_is_allowed(text):
    with pytest.raises(FormulaError, match="write a number and one of p, m, q, y"):
        lag_months(text if text != "٣m" else "²m", M)


def test_a_lag_of_periods_needs_periods_of_months():
    with pytest.raises(FormulaError, match="monthly, quarterly and annual"):
        lag_months("1p", D)


@pytest.mark.parametrize(
    ("lag", "frequency", "expected"),
    [
        ("1y", M, True),
        ("1m", Q, False),
        ("1q", Q, True),
        ("1q", A, False),
        ("1m", D, True),
        ("1p", M, True),
        ("1p", D, False),
    ],
)
def test_whether_a_lag_is_a_whole_number_of_periods(lag, frequency, expected):
    assert fits(lag, frequency) is expected


def test_unknown_operators_and_missing_parameters_are_named():
    with pytest.raises(
        FormulaError, match="unknown operator 'magic'; there are butterfly, change, credit_impulse, cycle"
    ):
        operator("magic", {}, M)
    with pytest.raises(FormulaError, match="operator 'growth' needs the parameter 'lag'"):
        operator("growth", {}, M)
