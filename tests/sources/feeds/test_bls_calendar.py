"""Calendars of releases: zones under other names, the clock's changes, days, moves and cancellations. All is invented."""

from datetime import UTC, date, datetime

import pytest

from almanac.sources.base import CalendarEntry, Parsed, SourceChanged
from almanac.sources.feeds.bls_calendar import CONNECTOR
from almanac.sources.formats import icalendars
from tests.support.central_banks import payload, source

URL = "https://www.bls.gov/schedule/news_release/bls.ics"
#: The rules of New York, as the publisher writes them.
RULES = """BEGIN:VTIMEZONE
TZID:{name}
{more}BEGIN:DAYLIGHT
TZOFFSETFROM:-0500
TZOFFSETTO:-0400
DTSTART:20070311T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU
TZNAME:EDT
END:DAYLIGHT
BEGIN:STANDARD
TZOFFSETFROM:-0400
TZOFFSETTO:-0500
DTSTART:20071104T020000
RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU
TZNAME:EST
END:STANDARD
END:VTIMEZONE
"""
#: A zone without daylight saving, under whatever name.
FIXED = """BEGIN:VTIMEZONE
TZID:{name}
BEGIN:STANDARD
TZOFFSETFROM:{offset}
TZOFFSETTO:{offset}
DTSTART:20000101T000000
END:STANDARD
END:VTIMEZONE
"""


def rules(name, more=""):
    return RULES.format(name=name, more=more)


def calendar(*events, zones="", head="X-WR-TIMEZONE:US-Eastern\n"):
    body = "".join(f"BEGIN:VEVENT\n{event}END:VEVENT\n" for event in events)
    text = f"BEGIN:VCALENDAR\nPRODID:-//Invented//EN\nVERSION:2.0\nMETHOD:PUBLISH\n{head}{zones}{body}END:VCALENDAR\n"
    return text.replace("\n", "\r\n").encode()


def event(start="DTSTART;TZID=US-Eastern:20260714T083000", uid="a", summary="Consumer Price Index", more=""):
    return f"UID:{uid}\n{start}\nSUMMARY:{summary}\n{more}"


def entries(*events, **parts):
    return icalendars.entries(calendar(*events, **parts), "bls.ics", Parsed())


def only_entry(*events, **parts):
    (entry,) = entries(*events, **parts)
    return entry


def at(entry):
    return datetime.fromtimestamp(entry.start, UTC).isoformat()


def test_an_entry_says_when_to_the_minute_and_in_which_zone():
    entry = only_entry(
        event(more="SEQUENCE:3\nLAST-MODIFIED:20260601T120000Z\nURL:https://www.bls.gov/cpi/\nSTATUS:CONFIRMED\n"),
        zones=rules("US-Eastern"),
    )
    assert entry == CalendarEntry(
        uid="a",
        release="Consumer Price Index",
        start=int(datetime(2026, 7, 14, 12, 30, tzinfo=UTC).timestamp()),
        day=date(2026, 7, 14),
        zone="America/New_York",
        precision="minute",
        status="scheduled",
        sequence=3,
        last_modified=int(datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp()),
        url="https://www.bls.gov/cpi/",
    )


#: What a zone is called, and whether the calendar describes it.
ZONES = [
    ("US-Eastern", rules("US-Eastern")),
    ("US-Eastern", ""),
    ("Eastern Standard Time", ""),
    ("Eastern Standard Time", rules("Eastern Standard Time")),
    ("America/New_York", ""),
]


@pytest.mark.parametrize(("name", "zones"), ZONES)
def test_a_zone_of_another_name_is_known_for_what_it_is(name, zones):
    start = f'DTSTART;TZID="{name}":20260714T083000'
    entry = only_entry(event(start), zones=zones, head="")
    assert (entry.zone, at(entry)) == ("America/New_York", "2026-07-14T12:30:00+00:00")


@pytest.mark.parametrize(
    ("wall", "utc"),
    [
        ("20260307T083000", "2026-03-07T13:30:00+00:00"),  # the day before the clock goes forward
        ("20260308T083000", "2026-03-08T12:30:00+00:00"),
        ("20261031T083000", "2026-10-31T12:30:00+00:00"),  # the day before it goes back
        ("20261101T083000", "2026-11-01T13:30:00+00:00"),
        ("20261101T013000", "2026-11-01T05:30:00+00:00"),  # the first of two half past one
    ],
)
@pytest.mark.parametrize("zones", [rules("US-Eastern"), ""], ids=["described", "not described"])
def test_the_clock_changes_with_the_season(wall, utc, zones):
    assert at(only_entry(event(f"DTSTART;TZID=US-Eastern:{wall}"), zones=zones)) == utc


def test_what_was_read_before_does_not_change_what_a_name_means():
    """The library remembers what a calendar says of a name, which is not read: a name means one zone."""
    start = event("DTSTART;TZID=US-Eastern:20260714T083000")
    first, second = (only_entry(start, zones=FIXED.format(name="US-Eastern", offset=way)) for way in ("+0200", "-0800"))
    assert at(first) == at(second) == "2026-07-14T12:30:00+00:00"


def test_a_time_in_utc_and_one_without_a_zone_are_in_the_calendar_s():
    late = only_entry(event("DTSTART:20260715T010000Z"))
    assert (late.zone, late.day, at(late)) == ("America/New_York", date(2026, 7, 14), "2026-07-15T01:00:00+00:00")
    plain = only_entry(event("DTSTART:20260715T010000Z"), head="")
    assert (plain.zone, plain.day) == ("UTC", date(2026, 7, 15))
    floating = only_entry(event("DTSTART:20260714T083000"))
    assert (floating.zone, at(floating)) == ("America/New_York", "2026-07-14T12:30:00+00:00")


def test_an_entry_of_a_whole_day_has_no_minute():
    entry = only_entry(event("DTSTART;VALUE=DATE:20260714"))
    assert (entry.start, entry.day, entry.precision, entry.zone) == (
        None,
        date(2026, 7, 14),
        "day",
        "America/New_York",
    )


def test_of_an_entry_that_was_moved_the_highest_sequence_counts():
    first = event(more="SEQUENCE:1\n")
    moved = event("DTSTART;TZID=US-Eastern:20260721T083000", more="SEQUENCE:2\n")
    for order in ([first, moved], [moved, first]):
        entry = only_entry(*order)
        assert (entry.uid, entry.sequence, entry.day) == ("a", 2, date(2026, 7, 21))
    later = event("DTSTART;TZID=US-Eastern:20260722T083000", more="SEQUENCE:2\nLAST-MODIFIED:20260701T000000Z\n")
    assert only_entry(moved, later, first).day == date(2026, 7, 22)
    assert only_entry(first, first) == only_entry(first)


def test_cancelled_and_tentative_entries_stay_in_the_list():
    listed = entries(
        event(uid="a", more="STATUS:CANCELLED\nSEQUENCE:2\n"), event(uid="b", more="STATUS:TENTATIVE\n"), event(uid="c")
    )
    statuses = {entry.uid: entry.status for entry in listed}
    assert statuses == {"a": "canceled", "b": "tentative", "c": "scheduled"}
    withdrawn = calendar(event()).replace(b"METHOD:PUBLISH", b"METHOD:CANCEL")
    assert [entry.status for entry in icalendars.entries(withdrawn, "x", Parsed())] == ["canceled"]


@pytest.mark.parametrize(
    ("summary", "more", "release", "period"),
    [
        ("Consumer Price Index", "", "Consumer Price Index", None),
        ("Consumer Price Index for June 2026", "", "Consumer Price Index", "2026-06"),
        ("Employment Situation (May 2026)", "", "Employment Situation", "2026-05"),
        ("Employment Cost Index for the Second Quarter 2026", "", "Employment Cost Index", "2026-Q2"),
        ("Productivity and Costs - 1st Quarter of 2026", "", "Productivity and Costs", "2026-Q1"),
        ("Real  Earnings ", "DESCRIPTION:Real earnings for June 2026\\, from Washington\n", "Real Earnings", "2026-06"),
        ("Real Earnings", "DESCRIPTION:Published July 14\\, 2026\n", "Real Earnings", None),
        ("Real Earnings", "DESCRIPTION:For May 2026 and for June 2026\n", "Real Earnings", None),
        ("Union Membership (Annual)", "", "Union Membership (Annual)", None),
    ],
)
def test_what_a_release_is_about_is_taken_from_its_title_or_its_words(summary, more, release, period):
    entry = only_entry(event(summary=summary, more=more))
    assert (entry.release, entry.period) == (release, period)


WRONG = [
    (b"<html>blocked</html>", "bls.ics is not a calendar"),
    (b"", "bls.ics is not a calendar"),
    (calendar(event())[:-40], "bls.ics is not a calendar"),
    (calendar(event()) * 2, "bls.ics is not a calendar"),
    (calendar(event().replace("UID:a\n", "")), "an entry of bls.ics has no UID"),
    (calendar(event(summary="")), "bls.ics: a has no SUMMARY"),
    (calendar(event("X-START:1")), "bls.ics: a has no DTSTART"),
    (calendar(event("DTSTART;TZID=US-Eastern:20261314T083000")), "a: DTSTART, 'Wrong datetime format: 20261314T083000'"),
    (calendar(event("DTSTART;TZID=US-Eastern:20260714T083000\nDTSTART:20260714T083000Z")), "a has more than one DTSTART"),
    (calendar(event("DTSTART;TZID=Nowhere:20260714T083000")), "a: the zone 'Nowhere' is not known"),
    (calendar(event("DTSTART;TZID=Nowhere:20260714T083000"), zones=rules("Nowhere")), "a: the zone 'Nowhere' is not known"),
    (calendar(event("DTSTART:20260714T083000"), head=""), "a: DTSTART 2026-07-14 08:30:00 has no zone"),
    (calendar(event(more="STATUS:PERHAPS\n")), "a has STATUS 'PERHAPS', known are CONFIRMED, TENTATIVE, CANCELLED"),
    (calendar(event(more="RRULE:FREQ=MONTHLY\n")), "a has RRULE; entries that recur are not read"),
    (calendar(event(more="SEQUENCE:-1\n")), "a has SEQUENCE '-1'"),
    (calendar(event(), event("DTSTART;TZID=US-Eastern:20260721T083000")), "bls.ics: a is there twice with sequence 0, and differs"),
]  # fmt: skip


def test_a_part_that_is_no_entry_is_reported_and_the_entries_are_read():
    parsed = Parsed()
    body = calendar(event()).replace(b"END:VEVENT", b"END:VEVENT\r\nBEGIN:VTODO\r\nUID:t\r\nEND:VTODO")
    assert icalendars.entries(body, "bls.ics", parsed) == icalendars.entries(calendar(event()), "bls.ics", Parsed())
    assert parsed.unknown == {"component VTODO": 1}


def test_a_calendar_of_more_entries_than_are_read_is_refused(monkeypatch):
    body = calendar(*(event(uid=f"u{number}") for number in range(3)))
    monkeypatch.setattr(icalendars, "_MOST", 3)
    assert len(icalendars.entries(body, "a calendar", Parsed())) == 3
    monkeypatch.setattr(icalendars, "_MOST", 2)
    with pytest.raises(SourceChanged, match="a calendar has more than 2 entries"):
        icalendars.entries(body, "a calendar", Parsed())


def test_the_connector_reads_the_one_calendar_and_names_the_rest():
    record = source("bls-calendar")
    assert [request.url for request in CONNECTOR.plan(record, {}, None, date(2026, 11, 20), None)] == [URL]
    parsed = CONNECTOR.parse(payload(URL, calendar(event())), record, {})
    assert [entry.uid for entry in parsed.calendar] == ["a"]
    page = CONNECTOR.parse(payload("https://www.bls.gov/schedule/2026/home.htm", b"x"), record, {})
    assert page.ignored == "/schedule/2026/home.htm: not a calendar"
    assert not CONNECTOR.owns("https://api.bls.gov/publicAPI/v2/timeseries/data/CUUR1")
