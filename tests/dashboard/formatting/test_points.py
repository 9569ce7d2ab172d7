"""Points of a chart: what is withheld has no value, and nothing is joined over what is missing."""

from datetime import date, timedelta

import pytest

from almanac.dashboard.formatting.values import counted, first_publications, missing, points, runs, with_values
from almanac.domain.periods import Frequency, Period
from tests.support.dashboard_rows import SHUT, observation, quarters


def lengths(rows):
    return [len(run) for run in runs(points(rows))]


def test_points_are_in_the_order_of_their_periods_whatever_order_they_come_in():
    rows = quarters([1.0, 2.0, 3.0])
    found = points(reversed(rows))
    assert [point.value for point in found] == [1.0, 2.0, 3.0]
    assert [point.period for point in found] == [
        "2016\N{NO-BREAK SPACE}Q1",
        "2016\N{NO-BREAK SPACE}Q2",
        "2016\N{NO-BREAK SPACE}Q3",
    ]
    assert found[0].at == date(2016, 1, 1).toordinal()


def test_a_withheld_value_is_in_no_point_even_if_a_record_had_it():
    (point,) = points(
        [observation(value=98765.0, rights=SHUT)], {("2026-07-01T00:00:00Z", "2026-09-30T00:00:00Z"): 98765.0}
    )
    assert (point.value, point.first, point.state) == (None, None, "withheld")


def test_whole_numbers_come_as_floats():
    (point,) = points([observation(value=2)])
    assert isinstance(point.value, float)


@pytest.mark.parametrize(
    ("values", "runs_", "gaps"),
    [
        ([1.0, 2.0, 3.0], [3], 0), ([1.0, None, 3.0], [1, 1], 0), ([1.0, "none", 3.0], [1, 1], 1), ([None, None], [], 0),
        ([], [], 0), ([None, 1.0, 2.0, None], [2], 0), ([1.0, "none", "none", 2.0, 3.0, "none", 4.0], [1, 2, 1], 2),
    ],
)  # fmt: skip
def test_nothing_is_joined_over_a_missing_or_withheld_quarter(values, runs_, gaps):
    assert lengths(quarters(values)) == runs_
    assert missing(points(quarters(values))) == gaps


def test_a_value_that_was_withdrawn_is_a_gap():
    rows = quarters([1.0, 2.0, 3.0, 4.0])
    for row in rows[1:3]:
        row |= {"valueNumeric": None, "metadata": {"withdrawn": True}}
    assert lengths(rows) == [1, 1]
    assert missing(points(rows)) == 1


def every(frequency, ends):
    return [observation(Period(None if frequency.months else end, end), 1.0, frequency=frequency) for end in ends]


@pytest.mark.parametrize(
    ("frequency", "days", "broken"),
    [
        (Frequency.DAILY, 3, False), (Frequency.DAILY, 10, False), (Frequency.DAILY, 11, True), (Frequency.WEEKLY, 7, False),
        (Frequency.WEEKLY, 8, False), (Frequency.WEEKLY, 14, True), (Frequency.MONTHLY, 31, False), (Frequency.MONTHLY, 62, True),
        (Frequency.QUARTERLY, 91, False), (Frequency.QUARTERLY, 98, False), (Frequency.QUARTERLY, 182, True), (Frequency.ANNUAL, 371, False),
        (Frequency.ANNUAL, 730, True),
    ],
)  # fmt: skip
def test_a_holiday_or_a_week_more_is_no_gap(frequency, days, broken):
    rows = every(frequency, [date(2025, 1, 28), date(2025, 1, 28) + timedelta(days=days)])
    assert (len(lengths(rows)) == 2) == broken


def test_first_publications_are_those_that_were_seen():
    rows = [
        observation("2026-Q1", 1.8, observedAt="2026-04-30T10:00:00Z"),
        observation("2026-Q1", 2.3, observedAt="2026-05-30T10:00:00Z", revisionStatus="revised"),
        observation("2025-Q4", 2.5, observedAt="2026-05-30T10:00:00Z", revisionStatus="unknown"),
        observation("2025-Q3", 9.9, observedAt="2025-10-30T10:00:00Z", rights=SHUT),
        observation("2025-Q2", None, observedAt="2025-07-30T10:00:00Z"),
    ]
    found = first_publications(reversed(rows))
    assert found == {("2026-01-01T00:00:00Z", "2026-03-31T00:00:00Z"): 1.8}
    (point,) = points([rows[1]], found)
    assert (point.first, point.revised) == (1.8, True)


def test_a_forecast_is_drawn_and_never_told_as_a_value():
    rows = [observation("2026-Q3", 2.1), observation("2026-Q4", 1.9, metadata={"forecast": True})]
    found = points(rows)
    assert [point.value for point in with_values(found)] == [2.1]
    assert [point.value for point in with_values(found, forecasts=True)] == [2.1, 1.9]
    assert counted(1, Frequency.QUARTERLY) == "1 quarter"
    assert counted(1204, Frequency.DAILY) == "1,204 days"
