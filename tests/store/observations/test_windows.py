"""Walks in windows: all keys in order, and given up only where many rows were really gone through for few."""

from unittest import mock

import pytest

from almanac.store.observations.reading import windows
from almanac.store.observations.reading.wanted_keys import TooFewError
from almanac.store.observations.reading.windows import Windows

#: Values of rows that are wanted: few at first, none for long, then many.
WANTED = [0, 3, *range(900_000, 900_200)]
LAST = 1_000_000


@pytest.fixture(autouse=True)
def small():
    with mock.patch.multiple(windows, CHUNK=50, _IN_VAIN=1_000, COUNTED=5_000):
        yield


def key(value):
    return (value, "indicator", "entity", "D", value)


def walked(rows, *, descending=False, wanted=WANTED):
    """Keys of the values wanted among rows that have these values, of which as many are estimated for each value."""

    def within(values, low, high):
        return [value for value in values if low <= value <= high]

    walk = Windows(descending=descending, least=0).keys(
        0, LAST, None,
        lambda low, high, _: [key(value) for value in within(wanted, low, high)][:50],
        lambda value, _: iter([key(value)]),
        width=1, widest=LAST, density=1.0,
        counted=lambda low, high: len(within(rows, low, high)[:5_000]),
    )  # fmt: skip
    return [one[0] for one in walk]


@pytest.mark.parametrize("descending", [False, True])
def test_a_walk_goes_on_through_what_has_no_rows(descending):
    assert walked(WANTED, descending=descending) == sorted(WANTED, reverse=descending)


def test_a_walk_through_many_rows_for_few_is_given_up():
    with pytest.raises(TooFewError):
        walked(range(LAST))


def test_a_walk_in_vain_is_given_up_behind_a_stretch_without_rows():
    with pytest.raises(TooFewError):
        walked(range(800_000, LAST), wanted=[0, 3])


@pytest.mark.parametrize("descending", [False, True])
def test_a_value_that_many_rows_share_is_come_to_soon(descending):
    shared = 777_777
    asked, single = [], []

    def some(low, high, _):
        asked.append((low, high))
        values = [value for value in (3, 500_000, 999_000) if low <= value <= high]
        return [key(value) for value in (*values, *[shared] * 60 * (low <= shared <= high))][-50:]

    def alone(value, _):
        single.append(value)
        return iter([key(value)] * 60)

    walk = Windows(descending=descending, least=0).keys(
        0, LAST, None, some, alone, width=LAST, widest=LAST, density=0.0
    )  # fmt: skip
    values = [3, 500_000, *[shared] * 60, 999_000]
    assert [one[0] for one in walk] == sorted(values, reverse=descending)
    assert single == [shared]
    # By quarters alone ten would be passed on the way there, and twenty on the way back to a stretch as wide.
    assert len(asked) < 10


def test_a_stretch_with_too_many_rows_is_narrowed_to_where_half_of_those_found_end():
    values, asked = range(100), []

    def some(low, high, _):
        asked.append((low, high))
        return [key(value) for value in values if low <= value <= high][:50]

    walk = Windows(descending=False, least=0).keys(
        0, LAST, None, some, lambda value, _: iter([key(value)]), width=LAST, widest=LAST, density=0.0
    )  # fmt: skip
    assert [next(walk)[0] for _ in range(25)] == list(range(25))
    # By quarters there would be nine.
    assert asked == [(0, LAST - 1), (0, 24)]


def test_a_walk_down_through_days_of_many_rows_each_is_narrowed_by_halves():
    asked = []

    def some(low, high, _):
        asked.append((low, high))
        days = range(max(low, 500), min(high, 899) + 1)
        return [key(day) for day in days[:2] for _ in range(30)][:50]

    walk = Windows(descending=True, least=0).keys(
        0, 1_000, None, some, lambda value, _: iter([key(value)] * 30), width=1_001, widest=1_001, density=0.0
    )  # fmt: skip
    assert next(walk)[0] == 899
    assert len(asked) < 20
