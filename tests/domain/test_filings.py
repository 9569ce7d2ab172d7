"""When a filing counts as known. Every expectation is worked out by hand from New York's clock."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.domain.filings import NEW_YORK, known_at, minute_rounded, page_of


def day(text):
    return date.fromisoformat(text).toordinal()


def utc(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def stamp(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("filed", "accepted", "known"),
    [
        # Winter, New York is 5 hours behind. Read as UTC: 16:30:05 New York; read as New York: 21:30:05, the later.
        ("2024-02-01", "2024-02-01T21:30:05", "2024-02-02T02:30:05"),
        # Summer, 4 hours behind. This stamp is New York's clock in truth, and its reading is the one that counts.
        ("2009-08-03", "2009-08-03T17:08:44", "2009-08-03T21:08:44"),
        # Accepted 17:35 New York on Tuesday (read as UTC), filed as of Wednesday: read on Wednesday at six, in summer …
        ("2024-05-01", "2024-04-30T21:35:00", "2024-05-01T10:00:00"),
        # … and in winter.
        ("2024-01-31", "2024-01-30T22:35:00", "2024-01-31T11:00:00"),
        # Accepted on the Friday before the clocks went forward, filed as of Monday: six o'clock is summer time already.
        ("2024-03-11", "2024-03-08T23:10:00", "2024-03-11T10:00:00"),
        # Stamp of the next day in UTC, 21:30 the day before in New York; as New York's clock 01:30 of the filing day,
        # which does not come after it. 06:00 is later than 01:30.
        ("2024-05-01", "2024-05-01T01:30:00", "2024-05-01T10:00:00"),
        # A letter made public weeks after the day it carries.
        ("2014-01-16", "2014-02-11T14:50:50", "2014-02-11T19:50:50"),
        # Midnight of New York: a day, no time. Known at the end of it.
        ("1996-04-26", "1996-04-26T04:00:00", "1996-04-27T03:59:59"),
        # Midnight by the other reading.
        ("2001-01-29", "2001-01-29T00:00:00", "2001-01-30T04:59:59"),
        # A day of acceptance after the filing day, and no time.
        ("2000-03-01", "2000-03-03T05:00:00", "2000-03-04T04:59:59"),
    ],
)
def test_the_later_reading_counts(filed, accepted, known):
    assert known_at(day(filed), stamp(accepted)) == utc(known)


@pytest.mark.parametrize(
    ("filed", "known"),
    [
        ("2024-07-01", "2024-07-02T03:59:59"),
        ("2024-01-02", "2024-01-03T04:59:59"),
        ("2024-03-10", "2024-03-11T03:59:59"),  # the day the clocks go forward
        ("2024-11-03", "2024-11-04T04:59:59"),  # and back
    ],
)
def test_a_filing_day_alone_is_known_at_its_end_in_new_york(filed, known):
    assert known_at(day(filed)) == utc(known)


def test_a_stamp_of_new_york_is_read_once():
    accepted = datetime(2009, 8, 7, 9, 10, 30, tzinfo=NEW_YORK)
    assert known_at(day("2009-08-07"), accepted) == utc("2009-08-07T13:10:30")


def test_an_hour_that_comes_twice_counts_as_the_second():
    assert known_at(day("2024-11-03"), datetime(2024, 11, 3, 1, 30, tzinfo=NEW_YORK)) == utc("2024-11-03T06:30:00")


def test_an_hour_that_never_was_counts_as_late_as_it_can_mean():
    assert known_at(day("2024-03-10"), datetime(2024, 3, 10, 2, 30, tzinfo=NEW_YORK)) == utc("2024-03-10T07:30:00")


def test_a_stamp_without_a_zone_is_refused():
    with pytest.raises(ValueError, match="without a zone"):
        known_at(day("2024-03-10"), datetime(2024, 3, 10, 12))


def test_a_rounded_minute_may_be_half_a_minute_late():
    stated = datetime(2009, 7, 22, 16, 42, tzinfo=NEW_YORK)
    assert minute_rounded(stated) - stated == timedelta(seconds=30)


@given(
    accepted=st.datetimes(datetime(1993, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)).map(
        lambda moment: moment.replace(microsecond=0)
    ),
    later=st.integers(0, 5),
)
def test_never_before_any_reading_of_the_stamp_nor_before_the_filing_day(accepted, later):
    filed = accepted.toordinal() + later
    known = known_at(filed, accepted)
    assert known >= accepted.timestamp()
    assert known >= accepted.replace(tzinfo=timezone(timedelta(hours=-4))).timestamp()
    shown = datetime.fromtimestamp(known, UTC).astimezone(NEW_YORK)
    assert shown.toordinal() >= filed
    assert known <= known_at(max(filed, accepted.toordinal() + 1))


def test_the_page_of_a_filing_is_its_main_document_else_what_lists_all_of_it():
    folder = "https://www.sec.gov/Archives/edgar/data/5001/000000500126000003"
    assert page_of(5001, "0000005001-26-000003", "main.htm") == f"{folder}/main.htm"
    for nothing in (None, ""):
        assert page_of(5001, "0000005001-26-000003", nothing) == f"{folder}/0000005001-26-000003-index.htm"
