"""The operators by hand-made numbers, and what they refuse."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from almanac.catalog.load import shipped
from almanac.derived.macro.derivation import InputSeries, derive
from almanac.derived.macro.operators import FormulaError, exact_sum, fits, lag_months, operator, significant
from almanac.domain import numbers
from almanac.domain.periods import Frequency, Period

from .cells import made, series, vintage

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


# Formulas over amounts of money and over parts of periods, against numbers worked by hand. All are invented.


ANNUAL, QUARTERLY, MONTHLY = Frequency.ANNUAL, Frequency.QUARTERLY, Frequency.MONTHLY
QUARTERS = [f"{year}-Q{quarter}" for year in (2022, 2023, 2024) for quarter in (1, 2, 3, 4)]


def scaled(frequency, factor, values):
    plain = series(frequency, {text: [vintage(place, value)] for place, (text, value) in enumerate(values.items())})
    return InputSeries(frequency, plain.cells, factor=factor)


def test_the_credit_impulse_by_hand():
    # Credit of 1000, 1080 and 1180 billions at the ends of three years; output of 100 billions a quarter, then of 125.
    # 100·((1180 − 1080)/500 − (1080 − 1000)/400) = 100·(0.2 − 0.2) = 0; with 1205: 100·(0.25 − 0.2) = 5 points.
    levels = dict.fromkeys(QUARTERS, 1.0) | {"2022-Q4": 1000.0, "2023-Q4": 1080.0, "2024-Q4": 1205.0}
    output = dict.fromkeys(QUARTERS[4:8], 100_000.0) | dict.fromkeys(QUARTERS[8:], 125_000.0)
    found = derive(
        operator("credit_impulse", {}, QUARTERLY),
        QUARTERLY,
        [[scaled(QUARTERLY, 1e9, levels)], [scaled(QUARTERLY, 1e6, output)]],
        200,
    )
    ((_, value),) = made(found, "2024-Q4")
    assert value == pytest.approx(5.0, abs=1e-12)
    # Before, a quarter of output or of credit is missing.
    assert {key for key, one in found.items() if one} == {Period.parse("2024-Q4").key}


def test_the_trade_balance_as_a_share_of_output_by_hand():
    # Deficits of 60 000 millions a month: 720 billions; output of 24 000 billions at annual rates, so that much a year: −3 %.
    months = {f"2024-{month:02}": -60_000.0 for month in range(1, 13)}
    output = dict.fromkeys(QUARTERS[8:], 24_000.0)
    op = operator("share_of_output", {}, QUARTERLY)
    inputs = [[scaled(MONTHLY, 1e6, months)], [scaled(QUARTERLY, 1e9 / 4, output)]]
    ((_, value),) = made(derive(op, QUARTERLY, inputs, 200), "2024-Q4")
    assert value == pytest.approx(-3.0, abs=1e-12)
    # Without May there is no sum of twelve months.
    del months["2024-05"]
    assert not any(derive(op, QUARTERLY, [[scaled(MONTHLY, 1e6, months)], inputs[1]], 200).values())
    # Quarterly flows do as well.
    flows = dict.fromkeys(QUARTERS[8:], -180_000.0)
    ((_, value),) = made(derive(op, QUARTERLY, [[scaled(QUARTERLY, 1e6, flows)], inputs[1]], 200), "2024-Q4")
    assert value == pytest.approx(-3.0, abs=1e-12)


def test_the_taylor_rule_by_hand():
    # Taylor (1993), "Discretion versus policy rules in practice", p. 202: r = p + .5y + .5(p − 2) + 2. With inflation at its
    # target and output at its trend the rule gives 4; a mean inflation of 4 and a gap of −1: 4 − .5 + 1 + 2 = 6.5.
    apply = operator("taylor", {}, ANNUAL).apply
    assert apply(0.0, 2.0) == 4.0
    months = {f"2024-{month:02}": 3.0 if month <= 6 else 5.0 for month in range(1, 13)}
    inputs = [[scaled(MONTHLY, 1.0, months)], [scaled(ANNUAL, 1.0, {"2024": -1.0})]]
    op = operator("taylor", {}, ANNUAL)
    assert [value for _, value in made(derive(op, ANNUAL, inputs, 600), "2024")] == [pytest.approx(6.5, abs=1e-12)]
    del months["2024-12"]
    assert not any(derive(op, ANNUAL, [[scaled(MONTHLY, 1.0, months)], inputs[1]], 600).values())


def test_a_share_of_output_is_revised_with_any_of_its_months():
    months = {f"2024-{month:02}": [vintage(0, -60_000.0)] for month in range(1, 13)}
    months["2024-03"].append(vintage(40, -84_000.0))
    flow = InputSeries(MONTHLY, series(MONTHLY, months).cells, factor=1e6)
    output = scaled(QUARTERLY, 1e9 / 4, dict.fromkeys(QUARTERS[8:], 24_000.0))
    found = made(derive(operator("share_of_output", {}, QUARTERLY), QUARTERLY, [[flow], [output]], 200), "2024-Q4")
    assert found == [(3, pytest.approx(-3.0)), (40, pytest.approx(-3.1))]


# -- whole arrays are rounded to the same bits as single numbers ------------------------------------------------------


floats = st.floats()
decimals = st.builds(lambda n, places: n / 10**places, st.integers(-(10**15), 10**15), st.integers(0, 12))
#: Decimals of thirteen digits that end in five: in the middle of two of twelve digits.
middles = st.builds(lambda n, power: float(f"{n}5e{power}"), st.integers(10**11, 10**12 - 1), st.integers(-40, 40))
beside = st.builds(lambda power, steps: 10.0**power * (1 + steps * 2.0**-52), st.integers(-30, 30), st.integers(-5, 5))
any_value = floats | decimals | middles | beside


def bits(values):
    return np.asarray(values, dtype=np.float64).view(np.int64).tolist()


@given(st.lists(any_value, min_size=1, max_size=20))
@example([0.0, -0.0, float("inf"), 5e-324, 1.7976931348623157e308])
def test_arrays_are_rounded_to_twelve_digits_as_numbers_are(values):
    got = significant(np.array(values))
    finite = np.isfinite(values)
    assert bits(got[finite]) == bits([float(f"{value:.12g}") + 0.0 for value in np.array(values)[finite].tolist()])
    assert np.array_equal(got[~finite], np.array(values)[~finite], equal_nan=True)


@given(st.lists(st.tuples(any_value, any_value, decimals), min_size=1, max_size=20))
@example([(1.7e308, 1.7e308, -1e15)])
def test_arrays_are_added_exactly_as_numbers_are(rows):
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    got = exact_sum(*columns)
    finite = np.isfinite(columns).all(axis=0)
    expected = [numbers.exact_sum(*row) for row, there in zip(rows, finite, strict=True) if there]
    assert bits(got[finite]) == bits(expected)
    assert not np.isfinite(got[~finite]).any()


@pytest.mark.parametrize(
    ("name", "params", "cells", "expected"),
    [
        ("difference", {}, [5.3, 5.25], 0.05),
        ("butterfly", {}, [4.1, 4.4, 4.3], 0.4),
        ("sum", {}, [4.1, 0.294117647059], 4.39411764706),
        ("spread_to", {}, [0.69, 0.0], 0.69),
        ("spread_to", {}, [4.31, 3.62], 0.69),
        ("real_rate", {}, [4.375, 0.294117647059], 4.08088235294),
    ],
)
def test_results_are_rounded_where_they_are_computed(name, params, cells, expected):
    months = Frequency.MONTHLY
    made = derive(
        operator(name, params, months), months, [[series(months, {"2025-01": [vintage(1, x)]})] for x in cells], 90
    )
    (history,) = made.values()
    assert [repr(derived.vintage.value) for derived in history] == [repr(expected)]


def test_a_restatement_that_leaves_the_difference_leaves_no_vintage():
    # 0.69 − 0.25 and 4.69 − 4.25: both 0.44, though floats have 0.43999999999999995 and 0.4400000000000004.
    months = Frequency.MONTHLY
    first = series(months, {"2025-01": [vintage(1, 0.69), vintage(2, 4.69)]})
    second = series(months, {"2025-01": [vintage(1, 0.25), vintage(2, 4.25)]})
    made = derive(operator("difference", {}, months), months, [[first], [second]], 90)
    assert [derived.vintage.value for history in made.values() for derived in history] == [0.44]


def test_sahm_is_zero_where_the_means_are_equal():
    # The same three months in two orders add up to two floats.
    assert 3.5 + 3.6 + 3.8 != 3.8 + 3.6 + 3.5
    sahm = operator("sahm", SAHM, Frequency.MONTHLY)
    assert sahm.apply(*([3.5, 3.6, 3.8] + [3.8, 3.6, 3.5] * 4)) == 0.0
