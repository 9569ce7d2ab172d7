"""Days and times: our own months, UTC, relative within a day, and days as people type them."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.dashboard.formatting import dates

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_a_day_is_never_read_the_american_way():
    assert dates.day("2026-04-05T00:00:00Z") == "5\N{NO-BREAK SPACE}Apr\N{NO-BREAK SPACE}2026"
    assert dates.short_day(date(2026, 9, 28)) == "28\N{NO-BREAK SPACE}Sep"
    assert dates.long_day("2026-11-20T00:00:00Z") == "Friday 20 November 2026"
    assert dates.day_code("2026-11-20T23:00:00Z") == "2026-11-20"


def test_times_are_utc_whatever_zone_they_came_in():
    elsewhere = datetime(2026, 11, 20, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert dates.moment(elsewhere) == "19\N{NO-BREAK SPACE}Nov\N{NO-BREAK SPACE}2026, 23:30"


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [
        (0, "now"), (-30, "now"), (-60, "1 minute ago"), (-120, "2 minutes ago"), (-3599, "59 minutes ago"),
        (-3600, "1 hour ago"), (7200, "in 2 hours"), (19 * 3600, "in 19 hours"), (-86400, "24 hours ago"),
        (-86401, None), (86401, None),
    ],
)  # fmt: skip
def test_relative_time_is_for_a_day_before_and_after_now(seconds, wanted):
    assert dates.relative(NOW + timedelta(seconds=seconds), NOW) == wanted


def test_the_absolute_time_stays_in_the_markup():
    assert (
        dates.time_tag("2026-11-20T10:00:00Z")
        == '<time datetime="2026-11-20T10:00:00Z">20\N{NO-BREAK SPACE}Nov\N{NO-BREAK SPACE}2026</time>'
    )
    assert dates.time_tag("2026-11-20T10:00:00Z", NOW) == (
        '<time datetime="2026-11-20T10:00:00Z" title="20\N{NO-BREAK SPACE}Nov\N{NO-BREAK SPACE}2026, 10:00 UTC">2 hours ago</time>'
    )
    assert dates.time_tag("2026-11-20T10:00:00Z", shown="clock").endswith(">10:00</time>")
    assert (
        dates.time_tag(date(2026, 11, 20))
        == '<time datetime="2026-11-20">20\N{NO-BREAK SPACE}Nov\N{NO-BREAK SPACE}2026</time>'
    )
    assert dates.when("2026-10-30T10:00:00Z", NOW) == "30\N{NO-BREAK SPACE}Oct\N{NO-BREAK SPACE}2026"


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
