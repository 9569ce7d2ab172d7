"""The ten years before a reading: when they are all known, and where it stands among them, against hand-computed numbers."""

import math
from datetime import date, timedelta

import pytest

from almanac.domain.periods import Frequency, Period, add_months, end_of
from almanac.reports.decade import Decade, DecadePlace, begins, is_whole, place, standing

A, Q, M, W, D = (Frequency(letter) for letter in "AQMWD")


def key(text):
    return Period.parse(text).key


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        ("2026-10", date(2016, 10, 31)),
        ("2026-02", date(2016, 2, 28)),  # the last of that February is a day later, and among them
        ("2024-02-29", date(2014, 2, 28)),
        ("2025", date(2015, 12, 31)),
        ("0005", date(1, 12, 31)),
    ],
)
def test_they_begin_on_the_same_day_ten_years_before(period, expected):
    assert begins(key(period)) == expected


def regular(period, frequency, count):
    """So many periods before one, newest first."""
    months = frequency.months
    end = end_of(key(period))
    return [Period.ending(add_months(end, -months * n), frequency).key for n in range(1, count + 1)]


@pytest.mark.parametrize(("frequency", "count"), [(M, 120), (Q, 40), (A, 10)])
def test_ten_years_are_whole_from_their_first_period_on(frequency, count):
    period = Period.ending(date(2025, 12, 31), frequency).key
    keys = regular("2025-12-31" if frequency is not A else "2025", frequency, count)
    values = [1.0] * count
    assert is_whole(Decade(values, keys[-1]), period, frequency)
    # What begins a period later is not ten years, however many values it has.
    assert not is_whole(Decade(values, keys[-2]), period, frequency)
    # One in ten may be missing, and no more.
    assert is_whole(Decade(values[: count * 9 // 10], keys[-1]), period, frequency)
    assert not is_whole(Decade(values[: count * 9 // 10 - 1], keys[-1]), period, frequency)


@pytest.mark.parametrize(("frequency", "step", "least"), [(W, 7, 468), (D, 10, 2_340)])
def test_ten_years_of_weeks_and_days_begin_within_a_step(frequency, step, least):
    end = date(2026, 11, 20)
    period, first = Period.ending(end, frequency).key, begins(Period.ending(end, frequency).key)
    within = Period.ending(first + timedelta(days=step - 1), frequency).key
    late = Period.ending(first + timedelta(days=step), frequency).key
    assert is_whole(Decade([1.0] * least, within), period, frequency)
    assert not is_whole(Decade([1.0] * least, late), period, frequency)
    assert not is_whole(Decade([1.0] * (least - 1), within), period, frequency)


def test_the_place_is_the_mid_rank_and_the_distance_in_standard_deviations():
    # 30 each of 1, 2, 3, 4: mean 2.5, squares 30·(2.25+0.25+0.25+2.25) = 150, divided by 119.
    among = [float(number % 4 + 1) for number in range(120)]
    found = place(3.5, among)
    assert found.z_score == pytest.approx(1 / math.sqrt(150 / 119), rel=1e-11)
    assert found.z_score == float(f"{found.z_score:.12g}")
    assert found.percentile == 75.0
    # A tie counts half: 60 below 3, 30 equal.
    assert place(3.0, among).percentile == 62.5
    assert place(3.0, among[::-1]) == place(3.0, among)
    assert (place(0.5, among).percentile, place(9.0, among).percentile) == (0, 100)
    # Where all others are equal there is no distance.
    assert (place(2.0, [1.0] * 8), place(1.0, [1.0] * 8)) == (DecadePlace(None, 100.0), DecadePlace(None, 50.0))


def test_nothing_stands_among_less_than_ten_years_nor_where_numbers_have_a_trend():
    keys = regular("2025-12", M, 120)
    whole = Decade([float(number % 4 + 1) for number in range(120)], keys[-1])
    period = key("2025-12")
    assert standing(3.5, "percent", period, M, whole).percentile == 75.0
    assert standing(3.5, "index", period, M, whole) == DecadePlace()
    assert standing(3.5, None, period, M, whole) == DecadePlace()
    assert standing(3.5, "percent", period, M, None) == DecadePlace()
    assert standing(3.5, "percent", period, M, Decade(whole.values[:29], keys[28])) == DecadePlace()
