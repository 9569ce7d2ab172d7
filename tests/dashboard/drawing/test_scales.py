"""Axes: four to six round ticks that hold all data, zero where it belongs, and calendars that fit on the paper."""

from datetime import date
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from almanac.dashboard.drawing.svg import LinearScale, time_ticks, value_axis

numbers = st.floats(-1e12, 1e12).map(lambda value: float(f"{value:.6g}"))


@given(st.lists(numbers, min_size=1, max_size=20), st.booleans())
@example([5e-324], False)
@example([5e-324, 1e-323], False)
@example([5e-324, 1e-306, -1e-300], True)
def test_ticks_are_round_even_and_hold_the_range(values, from_zero):
    axis = value_axis(values, from_zero=from_zero)
    assert 4 <= len(axis.ticks) <= 6
    assert axis.low <= min(values) <= max(values) <= axis.high
    steps = {Decimal(repr(after)) - Decimal(repr(before)) for before, after in pairwise(axis.ticks)}
    assert max(steps) - min(steps) <= max(steps) * Decimal("1e-9")
    assert f"{float(max(steps)):.6e}"[0] in "125"
    if from_zero:
        assert axis.low <= 0 <= axis.high
    assert len(set(axis.labels)) == len(axis.ticks)
    assert not any("-" in label for label in axis.labels)


def test_columns_start_at_zero_and_counts_are_whole():
    assert value_axis([50, 52], from_zero=True).low == 0
    assert value_axis([1], from_zero=True, whole=True).ticks == (0, 1, 2, 3)
    assert value_axis([0], from_zero=True, whole=True).low == 0
    assert value_axis([-5.0, -4.0], from_zero=True).high == 0


def test_numbers_beyond_all_reason_have_an_axis_too():
    for values in ([1e-300, 2e-300], [-1e300, 1e300], [3.0, 3.0000000000000004], [5e-324]):
        assert 4 <= len(value_axis(values).ticks) <= 6


@given(numbers, st.floats(1e-3, 1e6), st.floats(0, 1))
def test_a_span_is_read_back(low, width, part):
    span = LinearScale(low, low + width, 316.0, 14.0)
    assert span.back(span(low + part * width)) == pytest.approx(low + part * width, rel=1e-6, abs=1e-3)


def labels(first, last, width, frequency):
    found = time_ticks(date.fromisoformat(first).toordinal(), date.fromisoformat(last).toordinal(), width, frequency)
    return [tick.label.replace("\N{NO-BREAK SPACE}", " ") for tick in found]
