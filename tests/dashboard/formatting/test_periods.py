"""Periods: their notation and their code."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.dashboard.formatting import dates
from almanac.domain.periods import Frequency, Period

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
def test_every_period_of_the_calendar_is_read_back_from_its_code(period):
    assert Period.parse(dates.code(period)) == period
    assert dates.written(dates.code(period)) == dates.notation(period)


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
