"""Observations of FRED: the real-time rule, and what is refused. Every payload here is invented; the shape is the publisher's."""

import json
from datetime import UTC, date, datetime

import pytest
from msgspec.structs import replace

from almanac.domain.observations import DAY, UNKNOWN, ReportedValue
from almanac.domain.periods import Period, highest_key, lowest_key
from almanac.domain.times import end_of_day, wire_time
from almanac.sources.base import Payload, SourceChanged
from almanac.sources.feeds.fred.connector import CONNECTOR
from tests.support.invented_fred import BASE, SERIES, source

EVER = ("1776-07-04", "9999-12-31")


def observations(rows, real=EVER, asked=("1600-01-01", "9999-12-31"), **more):
    """A response; a row is (date, value[, realtime_start, realtime_end])."""
    listed = [
        dict(zip(("date", "value", "realtime_start", "realtime_end"), [*row, *real][:4], strict=True)) for row in rows
    ]
    return {
        "realtime_start": real[0],
        "realtime_end": real[1],
        "observation_start": asked[0],
        "observation_end": asked[1],
        "units": "lin",
        "output_type": 1,
        "file_type": "json",
        "order_by": "observation_date",
        "sort_order": "asc",
        "count": len(rows),
        "offset": 0,
        "limit": 100000,
        "observations": listed,
        **more,
    }


def parse(body, path="series/observations?series_id=QRT", fetched="2099-06-01", series=SERIES):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    moment = int(datetime.fromisoformat(fetched).replace(tzinfo=UTC).timestamp())
    return CONNECTOR.parse(Payload(BASE + path, raw, moment, "application/json"), source(), series)


def statements(body, path="series/observations?series_id=QRT"):
    (block,) = parse(body, path).blocks
    return block.statements


def key(text):
    return Period.parse(text).key


def at(text):
    return end_of_day(date.fromisoformat(text))


TODAY = ("2099-05-20", "2099-05-20")


# Snapshots


def test_a_snapshot_states_no_release_and_is_known_when_fetched():
    body = observations([("2099-01-01", "10.5"), ("2098-10-01", ".")], TODAY)
    assert statements(body) == [
        ReportedValue(key("2098-Q4"), None, flags=UNKNOWN),
        ReportedValue(key("2099-Q1"), 10.5, flags=UNKNOWN),
    ]


@pytest.mark.parametrize(
    ("native", "day", "period"),
    [
        ("DAY", "2099-05-13", Period(date(2099, 5, 13), date(2099, 5, 13))),
        ("WEEK", "2099-05-15", Period(date(2099, 5, 9), date(2099, 5, 15))),
        ("MON", "2099-02-01", Period(date(2099, 2, 1), date(2099, 2, 28))),
        ("QRT", "2099-04-01", Period(date(2099, 4, 1), date(2099, 6, 30))),
    ],
)
def test_a_period_is_dated_by_its_first_day_but_a_week_by_its_last(native, day, period):
    (statement,) = statements(observations([(day, "1")], TODAY), f"series/observations?series_id={native}")
    assert statement.period == period.key


@pytest.mark.parametrize(("native", "day"), [("MON", "2099-02-02"), ("QRT", "2099-02-01")])
def test_a_date_that_is_no_period_s_first_day_is_refused(native, day):
    with pytest.raises(SourceChanged, match=f"{day} is not the first day of a period"):
        parse(observations([(day, "1")], TODAY), f"series/observations?series_id={native}")


def test_a_snapshot_is_complete_over_all_that_was_asked_for():
    whole = parse(observations([("2099-01-01", "1")], TODAY)).blocks[0].complete
    assert whole == (key("1600-Q1"), Period(date(9999, 10, 1), date(9999, 12, 31)).key)
    # Asked from mid-quarter: that quarter is dated earlier and not listed, so nothing is said of it.
    part = observations([("2099-01-01", "1")], TODAY, ("2098-11-15", "2099-05-15"))
    lower, upper = parse(part).blocks[0].complete
    assert key("2098-Q4") < lower < key("2099-Q1")
    assert upper == key("2099-Q2")
    aligned = observations([], TODAY, ("2098-10-01", "2099-03-31"))
    assert parse(aligned).blocks[0].complete == (key("2098-Q4"), key("2099-Q1"))
    weeks = observations([("2099-05-15", "1")], TODAY, ("2099-05-01", "2099-05-16"))
    assert parse(weeks, "series/observations?series_id=WEEK").blocks[0].complete == (
        lowest_key(date(2099, 5, 1)),
        highest_key(date(2099, 5, 16)),
    )


def test_a_snapshot_is_of_the_state_of_its_day_and_an_archive_of_none():
    assert wire_time(parse(observations([("2099-01-01", "1")], TODAY)).blocks[0].updated) == "2099-05-20T00:00:00Z"
    assert parse(observations([("2099-01-01", "1")])).blocks[0].updated is None


def test_a_series_that_lists_nothing_since_ever_is_missing():
    assert parse(observations([], TODAY)).missing == {"QRT"}
    assert parse(observations([], TODAY, ("2099-05-01", "9999-12-31"))).missing == set()  # nothing new since that day


def test_one_page_of_a_snapshot_is_complete_between_its_own_ends_only():
    rows = [("2098-10-01", "1"), ("2098-04-01", "2")]
    page = observations(rows, TODAY, count=7, offset=2, limit=2)
    assert parse(page, "series/observations?series_id=QRT&offset=2&limit=2").blocks[0].complete == (
        key("2098-Q2"),
        key("2098-Q4"),
    )
    beyond = observations([], TODAY, count=7, offset=8, limit=2)
    assert parse(beyond, "series/observations?series_id=QRT&offset=8&limit=2").blocks[0].complete is None


def test_the_state_of_a_past_day_is_never_taken_for_the_present():
    body = observations([("2098-10-01", "1")], ("2099-01-30", "2099-01-30"))
    asked = "series/observations?series_id=QRT&realtime_start=2099-01-30&realtime_end=2099-01-30"
    assert (
        parse(body, asked).ignored == "series/observations QRT: the state of 2099-01-30, asked for long after that day"
    )
    assert parse(body, asked, fetched="2099-01-31").blocks[0].statements[0].value == 1.0
    # A request without a real time is of its own day, whatever the mirror says of the fetch.
    assert parse(body).blocks[0].statements[0].value == 1.0


# Archives


def test_each_row_of_an_archive_is_released_on_its_realtime_start():
    body = observations(
        [
            ("2098-10-01", "11", "2099-02-27", "9999-12-31"),
            ("2098-10-01", "10", "2099-01-30", "2099-02-26"),
            ("2098-07-01", "9", "2098-10-30", "2098-10-30"),  # one day, as genuine as any
            ("2098-07-01", "8", "2098-10-31", "9999-12-31"),
        ]
    )
    (block,) = parse(body, "series/observations?series_id=qrt").blocks  # the API takes ids in any case
    assert block.native == "QRT"
    third, fourth = key("2098-Q3"), key("2098-Q4")
    assert block.statements == [
        ReportedValue(third, 9.0, at("2098-10-30"), at("2098-10-30"), DAY | UNKNOWN),  # the archive's earliest vintage
        ReportedValue(third, 8.0, at("2098-10-31"), at("2098-10-31"), DAY),
        ReportedValue(fourth, 10.0, at("2099-01-30"), at("2099-01-30"), DAY),
        ReportedValue(fourth, 11.0, at("2099-02-27"), at("2099-02-27"), DAY),
    ]
    assert block.complete is None


def test_a_row_that_stood_when_its_series_was_rebased_is_stated_again_from_that_day():
    body = observations(
        [
            ("2098-10-01", "10", "2099-01-30", "2099-03-26"),
            ("2098-10-01", "11", "2099-03-27", "9999-12-31"),
            ("2098-07-01", "8", "2098-10-31", "2099-02-19"),
            ("2098-07-01", "9", "2099-02-20", "9999-12-31"),
        ]
    )
    based = {"QRT": replace(SERIES["QRT"], price_basis="chained", based_from=date(2099, 2, 20))}
    (block,) = parse(body, "series/observations?series_id=QRT", series=based).blocks
    third, fourth = key("2098-Q3"), key("2098-Q4")
    assert [(line.period, line.value, line.known) for line in block.statements] == [
        (third, 8.0, at("2098-10-31")),
        (third, 9.0, at("2099-02-20")),
        (fourth, 10.0, at("2099-01-30")),
        (fourth, 10.0, at("2099-02-20")),
        (fourth, 11.0, at("2099-03-27")),
    ]


def test_a_dot_in_an_archive_is_a_withdrawal_on_its_day():
    body = observations(
        [("2098-10-01", "1", "2099-01-30", "2099-02-26"), ("2098-10-01", ".", "2099-02-27", "9999-12-31")]
    )
    assert statements(body)[1] == ReportedValue(key("2098-Q4"), None, at("2099-02-27"), at("2099-02-27"), DAY)


def test_an_early_end_without_a_successor_is_a_withdrawal_on_the_following_day():
    body = observations(
        [
            ("2098-07-01", "1", "2098-10-30", "2099-01-31"),
            ("2098-07-01", "2", "2099-03-01", "9999-12-31"),  # not the day after: a gap between
            ("2098-10-01", "3", "2099-01-30", "2099-02-27"),
        ]
    )
    assert [(s.period, s.value, s.known) for s in statements(body)] == [
        (key("2098-Q3"), 1.0, at("2098-10-30")),
        (key("2098-Q3"), None, at("2099-02-01")),
        (key("2098-Q3"), 2.0, at("2099-03-01")),
        (key("2098-Q4"), 3.0, at("2099-01-30")),
        (key("2098-Q4"), None, at("2099-02-28")),
    ]


def test_the_response_s_own_ends_are_bounds_not_events():
    body = observations(
        [("2098-07-01", "1", "2099-01-01", "2099-01-31"), ("2098-07-01", "2", "2099-02-01", "2099-03-31")],
        ("2099-01-01", "2099-03-31"),
    )
    period = key("2098-Q3")
    assert statements(body) == [
        ReportedValue(period, 1.0, at("2099-01-01"), None, UNKNOWN),
        ReportedValue(period, 2.0, at("2099-02-01"), at("2099-02-01"), DAY),
    ]


def test_a_bound_before_all_statistics_is_no_time_of_knowledge():
    body = observations(
        [
            ("2098-07-01", "1", "1776-07-04", "2099-01-31"),
            ("2098-07-01", "2", "2099-02-01", "9999-12-31"),
            ("2098-10-01", "3", "1776-07-04", "9999-12-31"),
        ]
    )
    # The replaced value is bounded by its replacement: known at the fetch, it would win over its successor.
    assert [(s.value, s.known, s.released) for s in statements(body)] == [
        (1.0, at("2099-01-31"), None),
        (2.0, at("2099-02-01"), at("2099-02-01")),
        (3.0, None, None),
    ]


def test_the_edges_of_a_page_may_have_their_successor_elsewhere():
    rows = [(day, "1", "2098-10-30", "2099-01-31") for day in ("2098-01-01", "2098-04-01", "2098-07-01")]
    page = observations(rows, count=9, offset=3, limit=3)
    found = statements(page, "series/observations?series_id=QRT&offset=3&limit=3")
    assert [(s.period, s.value) for s in found] == [
        (key("2098-Q1"), 1.0),
        (key("2098-Q2"), 1.0),
        (key("2098-Q2"), None),
        (key("2098-Q3"), 1.0),
    ]


# What is not read, and what is refused


@pytest.mark.parametrize(
    ("more", "path", "reason"),
    [
        ({"output_type": 4}, "", "observations with output_type 4; only output_type 1 is read"),
        (
            {"output_type": 2, "observations": [{"date": "x", "QRT_20990101": "1"}]},
            "",
            "observations with output_type 2",
        ),
        ({"units": "pc1"}, "", "observations in units=pc1, computed by FRED"),
        ({}, "&frequency=a", "observations with frequency=a"),
        ({}, "&vintage_dates=2099-01-01", "observations with vintage_dates=2099-01-01"),
    ],
)
def test_observations_that_are_not_the_series_as_published_are_set_aside(more, path, reason):
    parsed = parse(observations([("2098-10-01", "1")], **more), "series/observations?series_id=QRT" + path)
    assert parsed.ignored is not None
    assert parsed.ignored.startswith(reason)
    assert parsed.blocks == []


def test_an_unmapped_series_is_counted():
    body = observations([("2098-10-02", "1"), ("2098-10-03", "2")], TODAY)
    assert parse(body, "series/observations?series_id=OTHER").unmapped == {"OTHER": 2}


GOOD = observations([("2098-10-01", "1.5", "2099-01-30", "2099-02-26")])


def changed(**row):
    return {**GOOD, "observations": [{**GOOD["observations"][0], **row}]}


def test_fields_nobody_knows_are_reported_and_the_row_is_read():
    parsed = parse({**changed(status="p"), "page": 1})
    assert parsed.blocks == parse(GOOD).blocks
    assert parsed.unknown == {"field observations.status": 1, "field page": 1}


WRONG = [
    (b"", "not JSON"),
    (b"<html>Access denied</html>", "not JSON"),
    (b"[]", "Expected `object`"),
    ({**GOOD, "observations": [{"date": "2098-10-01", "val": "1"}]}, "`val`"),
    (changed(value=1.5), "Expected `str`, got `float` - at `$.observations[0].value`"),
    (changed(value="1_0"), "2098-10-01: '1_0' is not a number"),
    (changed(realtime_end="2099-01-29"), "2098-10-01 has real time from 2099-01-30 back to 2099-01-29"),
    (
        observations([("2098-10-01", "1", "2098-01-01", "2099-01-01"), ("2098-10-01", "2", "2099-01-01", EVER[1])]),
        "2098-10-01 is there twice in real time 2099-01-01",
    ),
    ({**GOOD, "count": 2, "limit": 1}, "lists 1 of 2 observations; ask for pages"),
]


def test_a_snapshot_with_a_date_twice_is_refused_even_with_other_stamps():
    body = observations(
        [("2098-10-01", "1", "2098-01-01", "2098-02-01"), ("2098-10-01", "2", "2099-01-01", EVER[1])], TODAY
    )
    with pytest.raises(SourceChanged, match="2098-10-01 is there twice"):
        parse(body)


def test_observations_of_no_series_are_refused():
    with pytest.raises(SourceChanged, match="names no series_id"):
        parse(GOOD, "series/observations?file_type=json")
