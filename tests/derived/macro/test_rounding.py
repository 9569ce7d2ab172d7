"""Whole arrays are rounded to the same bits as single numbers."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from almanac.catalog.load import shipped
from almanac.derived.macro.derivation import derive
from almanac.derived.macro.operators import operator
from almanac.derived.macro.rounding import exact_sum, significant
from almanac.domain import numbers
from almanac.domain.periods import Frequency

from .cells import series, vintage

floats = st.floats()
decimals = st.builds(lambda n, places: n / 10**places, st.integers(-(10**15), 10**15), st.integers(0, 12))
#: Decimals of thirteen digits that end in five: in the middle of two of twelve digits.
middles = st.builds(lambda n, power: float(f"{n}5e{power}"), st.integers(10**11, 10**12 - 1), st.integers(-40, 40))
beside = st.builds(lambda power, steps: 10.0**power * (1 + steps * 2.0**-52), st.integers(-30, 30), st.integers(-5, 5))
any_value = floats | decimals | middles | beside
SAHM = shipped().formulas["sahm_indicator"].params


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
