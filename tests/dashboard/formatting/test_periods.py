"""Periods: their notation, and every one read back from it."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.dashboard.formatting import dates
from almanac.domain.periods import Frequency, Period

days = st.dates(date(1600, 1, 1), date(2400, 1, 1))
calendar = st.builds(
    Period.ending,
    st.builds(lambda year, month: date(year, month, 1), st.integers(1600, 2400), st.sampled_from([12])),
    st.just(Frequency.ANNUAL),
) | st.builds(
    lambda year, number, frequency: Period.ending(
        date(year, (number % (12 // frequency.months) + 1) * frequency.months, 1), frequency
    ),
    st.integers(1600, 2400),
    st.integers(0, 11),
    st.sampled_from([Frequency.SEMIANNUAL, Frequency.QUARTERLY, Frequency.MONTHLY]),
)  # fmt: skip


@given(calendar)
def test_every_period_of_the_calendar_is_read_back_from_its_notation_and_its_code(period):
    assert dates.read_period(dates.notation(period)) == period
    assert dates.read_period(dates.code(period)) == period
    assert Period.parse(dates.code(period)) == period
    assert dates.written(dates.code(period)) == dates.notation(period)


@given(days)
def test_every_day_is_read_back(day):
    period = Period(day, day)
    assert dates.read_period(dates.notation(period, Frequency.DAILY)) == period
    assert dates.read_period(dates.code(period, Frequency.DAILY)) == period


@pytest.mark.parametrize(
    ("typed", "first", "last"),
    [
        ("2024", "2024-01-01", "2024-12-31"), ("FY2024", "2024-01-01", "2024-12-31"), ("2024-Q1", "2024-01-01", "2024-03-31"),
        ("2024 q1", "2024-01-01", "2024-03-31"), ("Q4 2024", "2024-10-01", "2024-12-31"), ("2024-H2", "2024-07-01", "2024-12-31"),
        ("2024-S1", "2024-01-01", "2024-06-30"), ("2024-06", "2024-06-01", "2024-06-30"), ("2024-6", "2024-06-01", "2024-06-30"),
        ("june 2024", "2024-06-01", "2024-06-30"), ("Sept. 2024", "2024-09-01", "2024-09-30"), ("2024-04-30", "2024-04-30", "2024-04-30"),
        ("30 Apr 2024", "2024-04-30", "2024-04-30"), (" 30  April 2024 ", "2024-04-30", "2024-04-30"), ("2024\N{NO-BREAK SPACE}Q1", "2024-01-01", "2024-03-31"),
    ],
)  # fmt: skip
def test_what_people_type_is_read(typed, first, last):
    assert dates.read_period(typed) == Period(date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    "typed", ["04/05/2026", "2024-13", "2024-Q5", "2024-02-30", "Foo 2024", "last year", "", "0000", "24-01"]
)
def test_what_could_be_two_things_or_none_is_not(typed):
    with pytest.raises(ValueError, match=r"is not a date or a period\. Write 2024-04-30, 2024-Q1, 2024-06 or 2024$"):
        dates.read_period(typed)


@pytest.mark.parametrize(
    ("start", "end", "frequency", "fiscal", "text"),
    [
        ("2024-07-01", "2024-09-30", "quarterly", (2024, "Q4"), "2024 Q3 (fiscal Q4 2024)"),
        ("2024-07-01", "2024-09-30", "quarterly", (2024, "Q3"), "2024 Q3"),
        ("2024-01-01", "2024-12-31", "annual", (2024, "FY"), "2024"),
        ("2024-01-01", "2024-12-31", "annual", (2025, "FY"), "2024 (fiscal 2025)"),
        ("2024-07-01", "2024-12-31", "semiannual", (2024, "H2"), "2024 H2"),
        ("2024-07-01", "2024-09-30", "quarterly", None, "2024 Q3"),
    ],
)
def test_a_company_s_own_name_of_a_period_stands_beside_another_one_of_the_calendar(
    start, end, frequency, fiscal, text
):
    told = {} if fiscal is None else dict(zip(("fiscalYear", "fiscalPeriod"), fiscal, strict=True))
    row = {
        "periodStart": f"{start}T00:00:00Z",
        "periodEnd": f"{end}T00:00:00Z",
        "frequency": frequency,
        "metadata": told,
    }
    assert dates.of_row(row).replace("\N{NO-BREAK SPACE}", " ") == text


def test_a_period_of_whole_weeks_has_its_fiscal_name_too():
    row = {
        "periodStart": "2024-06-30T00:00:00Z", "periodEnd": "2024-09-28T00:00:00Z", "frequency": "quarterly",
        "metadata": {"fiscalYear": 2024, "fiscalPeriod": "Q4"},
    }  # fmt: skip
    assert dates.of_row(row).replace("\N{NO-BREAK SPACE}", " ").endswith("(fiscal Q4 2024)")
