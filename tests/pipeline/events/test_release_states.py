"""States of events about releases, meetings and policy rates, from invented calendars and vintages."""

from datetime import date

import msgspec
import pytest

from almanac.config import load as load_settings
from almanac.domain.events import event_id
from almanac.domain.observations import DAY, FORECAST
from almanac.domain.periods import Frequency, Period
from almanac.domain.releases import (
    HeadlineVintage,
    Release,
    ReleaseCalendar,
    ReleaseCalendarEntry,
    period_before,
    period_due,
    published,
)
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.events.rate_changes import rate_changes
from almanac.pipeline.events.release_states import (
    Planned,
    by_days,
    by_entries,
    meeting_states,
    notice_states,
    other_states,
    release_states,
)
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.store.engine import sqlite
from almanac.store.engine.data_schema import meta
from almanac.store.events import events
from almanac.store.events import releases as store

M, Q, W = Frequency("M"), Frequency("Q"), Frequency("W")
PRICES = ReleaseCalendar(
    source="press", native="7", country="country_aaa", frequency=M, after_days=8, zone="America/New_York"
)
RELEASE = Release(
    type="consumer_prices", name="Consumer prices", headline="cpi_inflation_yoy", indicators=("cpi_inflation_yoy",),
    frequencies=(M,), calendars=(PRICES,),
)  # fmt: skip
PLACE = ("country_aaa", "Testland")


def at(text, hour=0, minute=0):
    return (date.fromisoformat(text).toordinal() - 719_163) * 86_400 + hour * 3600 + minute * 60


def out(text):
    """The last second of a day."""
    return at(text) + 86_399


def day(text):
    return date.fromisoformat(text).toordinal()


def key(text):
    return Period.parse(text).key


def vintage(period, known, value, released=None, flags=0):
    return HeadlineVintage(key(period), known, released, flags, value)


#: What a source had long before: later values of it that state no time are no first load.
LOADED = vintage("2020-01", -1_000_000, 1.0)


def merged(announced=None, **vintages):
    """Events by calendars (what each announced) and by the vintages of sources of the numbers, in order of preference."""
    told = {}
    for calendar, plans in reversed(announced or []):
        told |= {about: (calendar, said) for about, said in plans.items()}
    out = [(data, published(found, M)) for data, found in vintages.items()]
    return release_states(RELEASE, PLACE, told, out, M)


def states(announced=None, vintages=()):
    found = merged([(PRICES, announced or {})], press=vintages)
    return {
        name: [(s.known_at, s.occurred_at, s.precision, s.status) for s in listed] for name, listed in found.items()
    }


def test_only_the_newest_of_what_became_known_at_once_is_a_release():
    found = published(
        [
            vintage("2026-07", 100, 1.0), vintage("2026-08", 100, 2.0), vintage("2026-08", 300, 2.5), vintage("2026-09", 200, 3.0),
            vintage("2026-10", 200, None), vintage("2026-11", 200, 9.0, flags=FORECAST),
        ],
        M,
    )  # fmt: skip
    assert [(one.period, one.known, one.newest, one.revised) for one in found] == [
        (key("2026-07"), 100, False, None), (key("2026-08"), 100, True, 300), (key("2026-09"), 200, True, None),
    ]  # fmt: skip
    # History that comes later is no release.
    late = published([vintage("2026-06", 500, 1.0), vintage("2026-07", 100, 1.0)], M)
    assert [(one.period, one.newest) for one in late] == [(key("2026-07"), True), (key("2026-06"), False)]


@pytest.mark.parametrize(
    ("frequency", "after", "text", "expected"),
    [
        (M, 8, "2026-11-13", "2026-10"), (M, 1, "2026-11-06", "2026-10"), (M, 31, "2026-11-03", "2026-09"),
        (M, 8, "2026-11-07", "2026-09"), (M, 1, "2026-11-01", "2026-10"),
        (Q, 20, "2026-10-29", "2026-Q3"), (Q, 20, "2026-10-10", "2026-Q2"), (Q, 20, "2027-01-28", "2026-Q4"),
    ],
)  # fmt: skip
def test_the_period_a_date_is_about(frequency, after, text, expected):
    calendar = ReleaseCalendar(source="s", native="n", country="c", frequency=frequency, after_days=after, zone="UTC")
    assert period_due(date.fromisoformat(text), calendar) == key(expected)


def test_weeks_end_on_saturdays():
    calendar = ReleaseCalendar(source="s", native="n", country="c", frequency=W, after_days=4, zone="UTC")
    week = Period.from_key(period_due(date(2026, 11, 19), calendar))  # a Thursday
    assert (week.start, week.end) == (date(2026, 11, 8), date(2026, 11, 14))
    assert period_before(week.key, W) == Period.ending(date(2026, 11, 7), W).key
    assert period_before(key("2026-Q1"), Q) == key("2025-Q4")
    assert period_before(key("2024-03"), M) == key("2024-02")


def test_scheduled_then_moved_then_released_then_revised():
    announced = by_days([(day("2026-11-10"), at("2026-09-01")), (day("2026-11-13"), at("2026-11-02"))], PRICES)
    vintages = [
        vintage("2026-10", out("2026-11-13"), 3.0, out("2026-11-13"), DAY),
        vintage("2026-10", out("2026-12-10"), 3.1, out("2026-12-10"), DAY),
    ]
    assert states(announced, vintages) == {
        event_id("press", "7", "2026-10"): [
            (at("2026-09-01"), at("2026-11-10"), "day", "scheduled"),
            (at("2026-11-02"), at("2026-11-13"), "day", "rescheduled"),
            (out("2026-11-13"), at("2026-11-13"), "day", "released"),
            (out("2026-12-10"), at("2026-11-13"), "day", "revised"),
        ]
    }


def test_the_order_in_which_days_arrive_does_not_matter():
    days = [(day("2026-11-10"), at("2026-09-01")), (day("2026-11-13"), at("2026-11-02"))]
    assert by_days(days, PRICES) == by_days(days[::-1], PRICES)


def test_a_further_publication_of_the_same_period_is_no_move():
    several = ReleaseCalendar(
        source="press",
        native="7",
        country="country_aaa",
        frequency=Q,
        after_days=20,
        zone="UTC",
        estimates=3,
    )
    days = [(day("2026-10-29"), at("2026-09-01")), (day("2026-11-25"), at("2026-10-01"))]
    assert by_days(days, several) == {key("2026-Q3"): [(at("2026-09-01"), at("2026-10-29"), "day", "scheduled", None)]}


def test_days_known_only_afterwards_announce_nothing():
    assert by_days([(day("2026-11-13"), at("2026-11-14"))], PRICES) == {}
    assert len(by_days([(day("2026-11-13"), out("2026-11-13"))], PRICES)) == 1


def entry(text, status="scheduled", uid="u1", hour=13, period="2026-10"):
    return ReleaseCalendarEntry(
        uid=uid, start=at(text, hour, 30), day=day(text), zone="America/New_York", status=status, period=period, url="https://press.example/7"
    )  # fmt: skip


def test_entries_with_an_hour():
    said = [(100, entry("2026-11-10", "tentative")), (200, entry("2026-11-10")), (300, entry("2026-11-13")), (400, entry("2026-11-13", "canceled"))]  # fmt: skip
    (found,) = states(by_entries(said, PRICES).by_period).values()
    assert found == [
        (100, at("2026-11-10", 13, 30), "minute", "tentative"), (200, at("2026-11-10", 13, 30), "minute", "scheduled"),
        (300, at("2026-11-13", 13, 30), "minute", "rescheduled"), (400, at("2026-11-13", 13, 30), "minute", "canceled"),
    ]  # fmt: skip


def test_the_announced_hour_says_more_than_a_bare_day_and_than_the_time_of_fetching():
    said = by_entries([(100, entry("2026-11-13"))], PRICES).by_period
    hour = at("2026-11-13", 13, 30)
    by_day = [vintage("2026-10", out("2026-11-13"), 3.0, out("2026-11-13"), DAY)]
    fetched = [vintage("2026-10", at("2026-11-14", 6), 3.0)]
    elsewhere = [vintage("2026-10", out("2026-11-16"), 3.0, out("2026-11-16"), DAY)]
    last = [next(iter(states(said, vintages).values()))[-1] for vintages in (by_day, fetched, elsewhere)]
    assert last == [
        (out("2026-11-13"), hour, "minute", "released"), (at("2026-11-14", 6), hour, "minute", "released"),
        (out("2026-11-16"), at("2026-11-16"), "day", "released"),
    ]  # fmt: skip


#: The Bureau's kind of calendar: entries state an hour and no period, and days are not counted back.
BUREAU = msgspec.structs.replace(
    PRICES, after_days=None, schedule={day("2026-11-10"): "2026-10", day("2026-12-18"): "2026-11"}
)


def silent(text, uid, **more):
    return entry(text, uid=uid, period=None, **more)


def placed(said, calendar=BUREAU, vintages=()):
    """Uids by what they are about: the key of a period, or None."""
    found = by_entries(sorted(said, key=lambda one: (one[1].uid, one[0])), calendar, published(vintages, M))
    begins = {at(f"2026-{text}", 13, 30): text for text in ("11-10", "11-25", "12-10", "12-18")}
    about = {key_: [begins[planned[1]] for planned in states] for key_, states in found.by_period.items()}
    return about, {uid: period for uid, (period, _) in found.others.items()}


def test_a_day_of_the_publisher_s_schedule_says_what_an_entry_is_about():
    """Before and after a move: the day an entry stands at now counts first."""
    said = [(100, silent("2026-11-10", "a")), (100, silent("2026-12-10", "b")), (200, silent("2026-12-18", "b"))]
    assert placed(said) == ({key("2026-10"): ["11-10"], key("2026-11"): ["12-10", "12-18"]}, {})


def test_an_entry_of_which_nothing_says_the_period_replaces_no_other():
    """Counted back by days both would be about October, and the later one would have moved the earlier."""
    said = [(100, silent("2026-11-10", "a")), (100, silent("2026-11-25", "b")), (100, silent("2026-12-10", "c"))]
    assert placed(said) == ({key("2026-10"): ["11-10"]}, {"b": None, "c": None})
    found = by_entries(said, BUREAU)
    events_ = other_states(RELEASE, PLACE, BUREAU, found.others)
    assert len(events_) == 2
    (first, _) = sorted(events_.values(), key=lambda listed: listed[0].occurred_at)
    assert [(s.period, s.title, s.indicator, s.status, s.category) for s in first] == [
        (None, "Testland: Consumer prices", "cpi_inflation_yoy", "scheduled", "macro_release")
    ]
    late = other_states(RELEASE, PLACE, BUREAU, by_entries([(at("2026-11-26"), said[1][1])], BUREAU).others)
    assert [s.status for listed in late.values() for s in listed] == ["released"]


def test_two_entries_that_one_payload_lists_for_one_period_are_two_publications():
    said = [(100, entry("2026-11-10", uid="a")), (100, entry("2026-11-25", uid="b"))]
    assert placed(said) == ({key("2026-10"): ["11-10"]}, {"b": key("2026-10")})
    # Of two payloads it is one publication that moved, though its name changed.
    said = [(100, entry("2026-11-10", uid="a")), (200, entry("2026-11-25", uid="b"))]
    assert placed(said) == ({key("2026-10"): ["11-10", "11-25"]}, {})


def test_the_numbers_say_what_an_entry_was_about():
    """With a stated day the entry of that day; else the one before, if the calendar lists the next one too."""
    calendar = msgspec.structs.replace(BUREAU, schedule={})
    said = [(100, silent("2026-11-10", "a")), (100, silent("2026-11-25", "b")), (100, silent("2026-12-10", "c"))]
    by_day = [vintage("2026-09", out("2026-11-10"), 3.0, out("2026-11-10"), DAY)]
    assert placed(said, calendar, by_day) == ({key("2026-09"): ["11-10"]}, {"b": None, "c": None})
    elsewhere = [vintage("2026-09", out("2026-11-11"), 3.0, out("2026-11-11"), DAY)]
    assert placed(said, calendar, elsewhere)[0] == {}
    fetched = [vintage("2026-08", at("2026-11-26"), 2.0), vintage("2026-09", at("2026-11-26"), 3.0)]
    assert placed(said, calendar, fetched) == ({key("2026-09"): ["11-25"]}, {"a": None, "c": None})
    after_the_last = [vintage("2026-09", at("2026-12-20"), 3.0)]
    assert placed(said, calendar, after_the_last)[0] == {}
    # What an entry or the schedule says counts before the numbers.
    assert placed(said, BUREAU, [vintage("2026-09", at("2026-11-11"), 3.0)])[0] == {key("2026-10"): ["11-10"]}


def test_a_release_that_nobody_announced():
    ((identifier, listed),) = merged(press=[LOADED, vintage("2026-10", 5_000, 3.0)]).items()
    assert identifier == event_id("press", "consumer_prices:country_aaa", "2026-10")
    assert [(s.known_at, s.occurred_at, s.precision, s.status) for s in listed] == [
        (5_000, 5_000, "minute", "released")
    ]


def test_a_first_load_of_old_history_is_no_event_of_the_day_of_loading():
    """Nobody knows when its newest value was published: not at the minute of loading. What follows it is news."""
    known = at("2026-11-01", 12)
    load = [vintage("2026-08", known, 2.0), vintage("2026-09", known, 3.0)]
    assert merged(press=load) == {}
    # The same run may bring the newest months in a payload of their own.
    assert merged(press=[*load, vintage("2026-10", known + 3_600, 3.5)]) == {}
    ((_, listed),) = merged(press=[*load, vintage("2026-10", at("2026-11-20"), 3.5)]).items()
    assert [(one.period, one.status, one.occurred_at) for one in listed] == [("2026-10", "released", at("2026-11-20"))]
    # What had been out for long when it was read is none either; what its publisher dates has its own day.
    assert merged(press=[*load, vintage("2026-10", at("2027-05-01"), 3.5)]) == {}
    dated = [vintage("2026-09", known, 3.0, out("2026-10-14"), DAY)]
    ((_, listed),) = merged(press=dated).items()
    assert [(one.period, one.occurred_at) for one in listed] == [("2026-09", at("2026-10-14"))]


def test_what_a_calendar_announced_for_before_the_first_load_happened_then_and_what_is_for_later_is_to_come():
    known = at("2026-11-01", 12)
    load = [vintage("2026-08", known, 2.0), vintage("2026-09", known, 3.0)]
    before = by_entries([(at("2026-10-01"), entry("2026-10-14"))], AGENCY).by_period
    assert list(before) == [key("2026-10")]
    moved = {key("2026-09"): plans for plans in before.values()}
    ((_, listed),) = merged([(AGENCY, moved)], first=load).items()
    assert [(one.status, one.occurred_at) for one in listed] == [
        ("scheduled", at("2026-10-14", 13, 30)),
        ("released", at("2026-10-14", 13, 30)),
    ]
    later = {key("2026-09"): [Planned(at("2026-10-20"), at("2026-11-25"), "day", "scheduled")]}
    ((_, listed),) = merged([(AGENCY, later)], first=load).items()
    assert [(one.status, one.occurred_at) for one in listed] == [("scheduled", at("2026-11-25"))]


def test_a_day_is_not_told_as_its_last_minute():
    """What was read on some day, at an hour that nobody noted, is known at the last second of it."""
    ((_, listed),) = merged(press=[LOADED, vintage("2026-10", out("2026-11-20"), 3.0)]).items()
    assert [(one.occurred_at, one.precision) for one in listed] == [(at("2026-11-20"), "day")]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (None, ("2026-12-20", 12, "minute")),
        # What is in a message was out when that was published, however late it was read.
        ("2026-11-13", ("2026-11-13", 0, "day")),
        ("2026-11-13T07:00:00Z", ("2026-11-13", 7, "minute")),
        # A message of before the end of the period dates something else, one of after the reading nothing.
        ("2026-10-30", ("2026-12-20", 12, "minute")),
        ("2026-12-20", ("2026-12-20", 12, "minute")),
        ("2026-12-20T12:00:01Z", ("2026-12-20", 12, "minute")),
    ],
)
def test_what_a_message_says_of_its_own_publication_bounds_a_release(message, expected):
    known = at("2026-12-20", 12)
    told = {} if message is None else {known: message}
    (loaded, one) = published([LOADED, vintage("2026-10", known, 3.0)], M, told)
    assert (loaded.news, one.news) == (False, True)
    ((_, listed),) = release_states(RELEASE, PLACE, {}, [("press", [loaded, one])], M).items()
    day_, hour, precision = expected
    assert [(s.known_at, s.occurred_at, s.precision) for s in listed] == [(known, at(day_, hour), precision)]


def test_what_was_published_while_fresh_is_news_although_it_was_read_late():
    late = at("2027-05-01", 12)
    assert not published([LOADED, vintage("2026-10", late, 3.0)], M)[-1].news
    assert published([LOADED, vintage("2026-10", late, 3.0)], M, {late: "2026-11-13"})[-1].news


AGENCY = msgspec.structs.replace(PRICES, source="bureau", native="Prices")


def test_a_release_in_two_calendars_and_from_two_sources_is_one_event():
    hours = by_entries([(100, entry("2026-11-13"))], AGENCY).by_period
    days = by_days([(day("2026-11-13"), at("2026-09-01")), (day("2026-12-10"), at("2026-09-01"))], PRICES)
    found = merged(
        [(AGENCY, hours), (PRICES, days)],
        first=[vintage("2026-10", out("2026-11-14"), 3.0)],
        second=[vintage("2026-10", out("2026-11-13"), 3.0, out("2026-11-13"), DAY), vintage("2026-10", out("2026-12-10"), 3.1)],
    )  # fmt: skip
    # What only the second calendar tells of is still to come, and told from there.
    assert set(found) == {event_id("bureau", "Prices", "2026-10"), event_id("press", "7", "2026-11")}
    hour = at("2026-11-13", 13, 30)
    assert [
        (s.known_at, s.occurred_at, s.status, s.source, s.data) for s in found[event_id("bureau", "Prices", "2026-10")]
    ] == [
        (100, hour, "scheduled", "bureau", ()),
        # The second source had it, and said when, more than a day before the first was read.
        (out("2026-11-13"), hour, "released", "bureau", ("second", "first")),
        (out("2026-12-10"), hour, "revised", "bureau", ("second", "first")),
    ]
    assert [s.status for s in found[event_id("press", "7", "2026-11")]] == ["scheduled"]


def test_a_bare_day_that_another_calendar_has_in_words_is_not_told_again():
    """Counted back, the day would be about October; the calendar that states hours does not say what it is about yet."""
    listed = [(day("2026-11-13"), at("2026-09-01")), (day("2026-12-10"), at("2026-09-01"))]
    assert list(by_days(listed, PRICES, spoken={day("2026-11-13")})) == [key("2026-11")]


def test_of_sources_that_have_a_number_within_a_day_the_preferred_one_counts():
    ((_, listed),) = merged(
        first=[LOADED, vintage("2026-10", 80_000, 3.0)], second=[LOADED, vintage("2026-10", 5_000, 3.0)]
    ).items()
    assert [(s.known_at, s.source, s.data) for s in listed] == [(80_000, "first", ("first", "second"))]
    ((_, listed),) = merged(
        first=[LOADED, vintage("2026-10", 95_000, 3.0)], second=[LOADED, vintage("2026-10", 5_000, 3.0)]
    ).items()
    assert [(s.known_at, s.source, s.data) for s in listed] == [(5_000, "second", ("second", "first"))]


def test_a_backfill_of_another_source_is_no_release_of_its_own():
    found = merged(
        first=[LOADED, vintage("2026-09", 9_000, 2.0), vintage("2026-10", 9_000, 3.0)],
        second=[LOADED, vintage("2026-09", 5_000, 2.0)],
    )
    assert {s.period: (s.known_at, s.data) for listed in found.values() for s in listed} == {
        "2026-09": (5_000, ("second", "first")),
        "2026-10": (9_000, ("first",)),
    }


def test_a_meeting_that_is_still_listed_after_its_time_has_been_held():
    said = [
        (at("2026-01-01"), entry("2026-03-18")),
        (at("2026-02-01"), entry("2026-03-25")),
        (at("2026-04-01"), entry("2026-03-25")),
    ]
    found = meeting_states(said, "banks", "Bank", "Bank of Testland", "country_aaa")
    ((identifier, listed),) = found.items()
    assert identifier == event_id("banks", "Bank", "u1")
    assert [(s.status, s.occurred_at) for s in listed] == [
        ("scheduled", at("2026-03-18", 13, 30)), ("rescheduled", at("2026-03-25", 13, 30)), ("released", at("2026-03-25", 13, 30)),
    ]  # fmt: skip
    assert listed[0].title == "Bank of Testland: monetary policy decision"
    ((_, canceled),) = meeting_states([(at("2026-04-01"), entry("2026-03-25", "canceled"))], "b", "B", "B", "c").items()
    assert [s.status for s in canceled] == ["canceled"]


def test_what_no_release_is_about_is_an_event_without_an_indicator():
    said = [
        (at("2026-01-01"), entry("2026-03-18", period="2025-Q4")),
        (at("2026-02-01"), entry("2026-03-25", period="2025-Q4")),
        (at("2026-04-01"), entry("2026-03-25", period="2025-Q4")),
    ]
    ((identifier, listed),) = notice_states(said, "press", "Costs", PLACE).items()
    assert identifier == event_id("press", "Costs", "2025-Q4")
    assert [(s.status, s.occurred_at) for s in listed] == [
        ("scheduled", at("2026-03-18", 13, 30)), ("rescheduled", at("2026-03-25", 13, 30)), ("released", at("2026-03-25", 13, 30)),
    ]  # fmt: skip
    last = listed[-1]
    assert (last.category, last.type, last.title, last.indicator, last.period, last.entity, last.country) == (
        "other", "publication", "Testland: Costs, 2025-Q4", None, "2025-Q4", "country_aaa", "country_aaa",
    )  # fmt: skip


def test_entries_of_one_period_are_one_event_and_those_without_a_period_each_their_own():
    moved = [(at("2026-01-01"), entry("2026-03-18", uid="u1", period="2026-02")),
             (at("2026-02-01"), entry("2026-03-19", uid="u2", period="2026-02"))]  # fmt: skip
    ((_, listed),) = notice_states(moved, "press", "Earnings", PLACE).items()
    assert [s.status for s in listed] == ["scheduled", "rescheduled"]
    bare = [(at("2026-01-01"), entry("2026-03-18", uid=uid, period=None)) for uid in ("u1", "u2")]
    found = notice_states(bare, "press", "Earnings", PLACE)
    assert set(found) == {event_id("press", "Earnings", uid) for uid in ("u1", "u2")}
    assert {s.title for listed in found.values() for s in listed} == {"Testland: Earnings"}


def test_policy_rates_change_on_the_day_they_take_effect():
    found = rate_changes(
        [
            vintage("2026-03-17", 10, 2.0), vintage("2026-03-18", 20, 2.25), vintage("2026-03-19", 30, 2.25),
            vintage("2026-03-20", 40, 2.26),  # a new definition, no move
            vintage("2026-03-23", 50, 2.51), vintage("2026-03-23", 70, 2.26),  # a misprint, corrected
        ],
        "bank", PLACE,
    )  # fmt: skip
    told = {i: [(s.known_at, s.status, s.period, s.precision) for s in listed] for i, listed in found.items()}
    assert told == {
        event_id("bank", "policy_rate_change:country_aaa", "2026-03-18"): [(20, "released", "2026-03-18", "day")],
        event_id("bank", "policy_rate_change:country_aaa", "2026-03-23"): [
            (50, "released", "2026-03-23", "day"), (70, "canceled", "2026-03-23", "day"),
        ],
    }  # fmt: skip


def test_a_rate_that_was_not_seen_for_long_changed_nobody_knows_when():
    """4.00 of April 2024 and 2.50 of October 2026 are no change on that day."""
    gap = [vintage("2024-04-30", 10, 4.0), vintage("2026-10-02", 20, 2.5), vintage("2026-10-05", 30, 2.25)]
    ((identifier, _),) = rate_changes(gap, "bank", PLACE).items()
    assert identifier == event_id("bank", "policy_rate_change:country_aaa", "2026-10-05")


def test_a_withdrawn_day_neither_cancels_nor_hides_the_change_after_it():
    found = rate_changes(
        [
            vintage("2026-03-16", 10, 2.0),
            vintage("2026-03-17", 20, 2.0), vintage("2026-03-17", 40, None),  # a holiday, listed by mistake
            vintage("2026-03-18", 30, 2.25),
            vintage("2026-03-24", 50, 2.25), vintage("2026-03-24", 60, None), vintage("2026-03-25", 70, None),
            vintage("2026-03-27", 80, 2.5),
        ],
        "bank", PLACE,
    )  # fmt: skip
    told = {i: [(s.known_at, s.status) for s in listed] for i, listed in found.items()}
    assert told == {
        event_id("bank", "policy_rate_change:country_aaa", "2026-03-18"): [(30, "released")],
        event_id("bank", "policy_rate_change:country_aaa", "2026-03-27"): [(80, "released")],
    }


def test_a_simulated_store_takes_out_the_meetings_of_the_package(tmp_path):
    """An empty store counts as a real one until it is filled."""
    chosen = load_settings({"ALMANAC_HOME": str(tmp_path), "ALMANAC_NOW": "2026-11-20T12:00:00Z"})
    with PipelineContext(chosen) as world:
        held = dict(world.db.execute("SELECT country, count(*) FROM event GROUP BY country"))
        assert (held["country_usa"], held["country_aus"], events.count(world.db)) == (24, 8, 40)
    with PipelineContext(chosen) as world:
        assert not world.releases.meetings_differ()
        assert meta(world.db, "version") == "1"  # opening it again writes nothing
    with PipelineContext(chosen, SIMULATED) as world:
        assert world.db.execute(f"SELECT count(*) FROM event WHERE to_version = {sqlite.OPEN}").get == 0
        assert events.count(world.db) == 0


#: An invented calendar: the first day is in no schedule, the second in that of consumer prices.
SILENT = """BEGIN:VCALENDAR
PRODID:-//Invented//EN
VERSION:2.0
X-WR-TIMEZONE:US-Eastern
BEGIN:VEVENT
UID:a
SUMMARY:Consumer Price Index
DTSTART;TZID=US-Eastern:20240305T083000
END:VEVENT
BEGIN:VEVENT
UID:b
SUMMARY:Consumer Price Index
DTSTART;TZID=US-Eastern:20240312T083000
END:VEVENT
END:VCALENDAR
"""


def test_a_release_of_no_known_period_is_an_event_and_is_not_summed_up(tmp_path):
    chosen = load_settings({"ALMANAC_HOME": str(tmp_path), "ALMANAC_NOW": "2026-11-20T12:00:00Z"})
    with PipelineContext(chosen) as world:
        run = Ingest(world, world.catalog.sources["bls-calendar"], lambda _: None)
        run.run([Arrival("https://www.bls.gov/schedule/news_release/bls.ics", SILENT.encode(), "text/calendar", None)])
        shown = "SELECT period, status FROM event WHERE category = 'macro_release' ORDER BY occurred_at"
        assert list(world.db.execute(shown)) == [(None, "released"), ("2024-02", "scheduled")]
        out_by_then, _ = store.page(
            world.db, types=None, countries=None, span=(None, None), version=int(meta(world.db, "version")),
            known_by=1 << 40, descending=True, after=None, limit=10,
        )  # fmt: skip
        assert out_by_then == []
        with world.batch("again") as batch:
            assert world.releases.recompute(batch) == 0
