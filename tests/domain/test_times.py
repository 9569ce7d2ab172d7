"""Instants and days as numbers, and as the wire writes them."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.times import DAY_SECONDS, day_at, end_of_day, instant, midnight, wire_day, wire_time


def test_instants_round_up_so_that_asking_as_of_a_row_returns_it():
    assert instant(datetime(1970, 1, 1, 0, 0, 1, 1, tzinfo=UTC)) == 2
    assert instant(datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))) == 0
    assert instant(datetime(1969, 12, 31, 23, 59, 58, tzinfo=UTC)) == -2
    with pytest.raises(ValueError, match="without a zone"):
        instant(datetime(2026, 1, 1))
    with pytest.raises(
        ValueError, match=r"0001-01-01 00:00:00\+14:00 is not a time between the years 1 and 9999 in UTC"
    ):
        instant(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))))


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_wire_times_read_back(moment):
    seconds = instant(moment)
    assert instant(datetime.fromisoformat(wire_time(seconds))) == seconds
    assert wire_time(end_of_day(moment.date())) == f"{moment.date()}T23:59:59Z"


@given(st.dates())
def test_a_day_begins_at_its_midnight_and_lasts_to_its_end(day):
    ordinal = day.toordinal()
    assert end_of_day(day) - midnight(ordinal) == DAY_SECONDS - 1
    assert {day_at(midnight(ordinal)), day_at(end_of_day(day))} == {ordinal}
    assert wire_day(day) == wire_time(midnight(ordinal))


def test_days_are_counted_from_the_first_of_1970():
    assert midnight(date(1970, 1, 1).toordinal()) == 0
    assert midnight(date(2026, 10, 31).toordinal()) == 1_793_404_800
    assert wire_day(date(987, 6, 5)) == "0987-06-05T00:00:00Z"
