"""Days and times: our own months, UTC, relative within a day, and days as people type them."""

from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.dashboard.formatting import dates


def test_times_are_utc_whatever_zone_they_came_in():
    elsewhere = datetime(2026, 11, 20, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert dates.moment(elsewhere) == "19\N{NO-BREAK SPACE}Nov\N{NO-BREAK SPACE}2026, 23:30"


@given(st.dates())
def test_a_day_as_fields_have_it_is_read_back(day):
    assert dates.read_day(dates.day_code(day)) == day


@pytest.mark.parametrize(
    "typed", ["31.4.24", "2026-02-30", "04/05/2026", "2026", "", "2026-11-20T10:00:00Z", "20261120"]
)
def test_what_is_no_day_is_told_with_what_is_allowed(typed):
    with pytest.raises(ValueError, match=r"^“.*” is not a date\. Write year, month, day: 2024-04-30$"):
        dates.read_day(typed)


def test_short_months_and_spaces_around_are_read():
    assert dates.read_day(" 2024-4-3 ") == date(2024, 4, 3)
