"""Reference periods: keys, calendars, what may be written, and freshness."""

import random
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from almanac.catalog.load import shipped
from almanac.domain.cadence import FIRST_PAUSE, LONGEST_PAUSE, Cadence, Turn
from almanac.domain.periods import (
    FREQUENCY_NAMES,
    Frequency,
    Period,
    add_months,
    days_of,
    end_of,
    freshness,
    highest_key,
    key_at,
    key_of,
    lowest_key,
    ordinal,
    start_of,
)
from almanac.domain.times import DAY_SECONDS, day_at, end_of_day, instant, midnight, wire_day, wire_time

days = st.dates(date(1600, 1, 1), date(2400, 1, 1))
spans = st.none() | st.integers(0, 16_382)
periods = st.builds(lambda end, span: Period(None if span is None else end - timedelta(days=span), end), days, spans)
regular = st.sampled_from(list(Frequency))


@given(periods)
def test_a_key_reads_back_as_its_period(period):
    assert Period.from_key(period.key) == period
    assert (start_of(period.key), end_of(period.key)) == (period.start, period.end)


@given(periods, periods)
def test_keys_sort_by_end_then_by_start_with_absent_starts_last(one, other):
    def place(period):
        return (period.end, period.start is None, period.start or period.end)

    assert (one.key < other.key) == (place(one) < place(other))


@given(periods)
def test_bounds_hold_every_period_that_ends_on_the_day_and_no_other(period):
    assert lowest_key(period.end) <= period.key <= highest_key(period.end)
    assert highest_key(period.end) < lowest_key(period.end + timedelta(days=1))


def test_a_key_is_its_last_day_and_how_far_short_of_the_longest_it_is():
    # By hand: 2026-01-31 is ordinal 739647, 16384 keys to a day; the instant is last, a day alone just before it.
    day = 739_647
    assert date.fromordinal(day) == date(2026, 1, 31)
    for start, code in ((None, 16_383), (day, 16_382), (day - 30, 16_352), (day - 16_382, 0)):
        assert key_of(start, day) == day * 16_384 + code
        assert days_of(day * 16_384 + code) == (start, day)


@pytest.mark.parametrize("span", [-1, 16_383])
def test_a_period_that_cannot_be_kept_is_refused(span):
    with pytest.raises(ValueError, match="cannot be kept"):
        _ = Period(date(2026, 1, 1) - timedelta(days=span), date(2026, 1, 1)).key


@given(days, regular)
def test_the_period_ending_with_a_day_s_period_is_itself(day, frequency):
    period = Period.ending(day, frequency)
    assert Period.ending(period.end, frequency) == period
    assert period.start is not None
    assert period.start <= period.end
    assert Period.starting(period.start, frequency) == period
    if frequency.months:
        assert (period.end.year, period.end.month) == (day.year, day.month)
        assert (period.end + timedelta(days=1)).day == period.start.day == 1
    else:
        assert period.end == day


@given(days, regular)
def test_ordinals_number_the_periods_of_a_frequency(day, frequency):
    key = Period.ending(day, frequency).key
    number = ordinal(key, frequency)
    assert key_at(number, frequency) == key
    step = frequency.months or {Frequency.WEEKLY: 7, Frequency.DAILY: 1}[frequency]
    following = Period.from_key(key_at(number + step, frequency))
    assert following.start == end_of(key) + timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026", "2026-01-01", "2026-12-31"),
        ("2026-10", "2026-10-01", "2026-10-31"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2026-Q3", "2026-07-01", "2026-09-30"),
        ("2026-q4", "2026-10-01", "2026-12-31"),
        ("2026-S2", "2026-07-01", "2026-12-31"),
        ("2026-s1", "2026-01-01", "2026-06-30"),
        ("2026-10-31", "2026-10-31", "2026-10-31"),
        ("0001", "0001-01-01", "0001-12-31"),
        ("0001-Q1", "0001-01-01", "0001-03-31"),
        ("9999-12", "9999-12-01", "9999-12-31"),
        ("9999-Q4", "9999-10-01", "9999-12-31"),
        ("9999-S2", "9999-07-01", "9999-12-31"),
    ],
)
def test_what_a_client_may_write(text, start, end):
    assert Period.parse(text) == Period(date.fromisoformat(start), date.fromisoformat(end))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "26",
        "2026-Q5",
        "2026-S3",
        "2026-13",
        "2026-00",
        "2026-02-30",
        "2026-1",
        "2026Q1",
        "0000",
        "0000-Q1",
        "２０２６",
        "2026-10-31 ",
    ],
)
def test_what_a_client_may_not_write(text):
    with pytest.raises(ValueError):
        Period.parse(text)


@given(days, st.integers(-1_200, 1_200))
@example(date(2024, 2, 29), -12)
@example(date(2024, 3, 31), -1)
def test_adding_months_keeps_the_day_where_the_month_has_it(day, months):
    moved = add_months(day, months)
    assert (moved.year * 12 + moved.month) - (day.year * 12 + day.month) == months
    assert moved.day == day.day or (moved.day < day.day and (moved + timedelta(days=1)).day == 1)


@pytest.mark.parametrize(
    ("age", "allowance", "expected"),
    [(0, 10, "fresh"), (10, 10, "fresh"), (11, 10, "stale"), (-5, 10, "fresh"), (3, None, "unknown")],
)
def test_freshness_counts_whole_days_from_the_period_s_end(age, allowance, expected):
    today = date(2026, 11, 20)
    assert freshness(today - timedelta(days=age), today, allowance) == expected


def test_nothing_is_not_fresh():
    assert freshness(None, date(2026, 11, 20), 10) == "unknown"


@pytest.mark.parametrize(
    ("letter", "word", "allowance"),
    [
        ("A", "annual", 600), ("S", "semiannual", 400), ("Q", "quarterly", 200), ("M", "monthly", 90), ("W", "weekly", 21),
        ("D", "daily", 10),
    ],
)  # fmt: skip
def test_a_frequency_has_a_letter_a_word_and_an_allowance(letter, word, allowance):
    frequency = Frequency(letter)
    assert (frequency.word, frequency.allowance_days) == (word, allowance)
    assert FREQUENCY_NAMES[letter.lower()] is FREQUENCY_NAMES[word] is frequency


def test_higher_frequencies_come_first_and_nine_months_cannot_be_asked_for():
    assert sorted(Frequency, key=lambda f: f.rank) == list("DWMQNSA")
    assert set(FREQUENCY_NAMES.values()) == set(Frequency) - {Frequency.NINE_MONTHS}
    assert str(Period(None, date(2026, 1, 1))) == "..2026-01-01"


# -- instants and days as numbers, and as the wire writes them --------------------------------------------------------


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


# -- turns of a cron line, and pauses after failures. Times are written as people do ----------------------------------


WEEKDAYS = Cadence("30 23 * * 1-5")
THRICE = Cadence("15 0,14,22 * * *")
HOUR, DAY = 3_600, 86_400


def at(text):
    return int(datetime.fromisoformat(text).timestamp())


@pytest.mark.parametrize(
    ("cadence", "now", "last", "following"),
    [
        # 2026-11-20 is a Friday.
        (WEEKDAYS, "2026-11-20T23:29:59Z", "2026-11-19T23:30:00Z", "2026-11-20T23:30:00Z"),
        (WEEKDAYS, "2026-11-20T23:30:00Z", "2026-11-20T23:30:00Z", "2026-11-23T23:30:00Z"),
        (WEEKDAYS, "2026-11-22T12:00:00Z", "2026-11-20T23:30:00Z", "2026-11-23T23:30:00Z"),
        (THRICE, "2026-11-20T14:14:00Z", "2026-11-20T00:15:00Z", "2026-11-20T14:15:00Z"),
        (THRICE, "2026-12-31T23:00:00Z", "2026-12-31T22:15:00Z", "2027-01-01T00:15:00Z"),
        (Cadence("0 6 1 * *"), "2026-11-20T00:00:00Z", "2026-11-01T06:00:00Z", "2026-12-01T06:00:00Z"),
    ],
)
def test_turns_around_a_moment(cadence, now, last, following):
    assert (cadence.last(at(now)), cadence.next(at(now))) == (at(last), at(following))


@given(st.integers(0, 4_000_000_000), st.sampled_from(["30 23 * * 1-5", "15 0,14,22 * * *", "*/7 3 * 2 *"]))
def test_no_turn_is_left_out_and_none_comes_twice(now, line):
    cadence = Cadence(line)
    following = cadence.next(now)
    assert cadence.last(now) <= now < following
    assert cadence.last(following) == following
    assert cadence.last(following - 1) == cadence.last(now)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("daily", "'daily' is not a cron line of five fields (minute, hour, day of month, month, day of week)"),
        ("0 0 0 * * *", "is not a cron line of five fields"),
        ("0 25 * * *", "'0 25 * * *' is not a cron line: Bad hour"),
        ("0 0 31 2 *", "'0 0 31 2 *' is not a cron line: Bad day-of-month"),
        ("0 0 * 2 MON#6", "is not a cron line: Bad day-of-week"),
    ],
)
def test_a_line_that_is_none_is_refused_by_name(line, told):
    with pytest.raises(ValueError) as raised:
        Cadence(line)
    assert told in str(raised.value)


def test_every_source_that_is_asked_has_a_cadence():
    asked = {source.id: source.cadence for source in shipped().sources.values() if source.connector}
    assert "fred" in asked
    assert [name for name, line in asked.items() if line is None] == []
    assert all(Cadence(line).next(0) > 0 for line in asked.values())


# -- turns --------------------------------------------------------------------------------------------------------------

NOON = at("2026-11-20T12:00:00Z")


def test_a_source_that_was_never_asked_has_been_waiting_since_its_last_turn():
    assert Turn().due_at(WEEKDAYS, NOON) == at("2026-11-19T23:30:00Z")


def test_an_asked_one_is_due_at_the_turn_after_the_asking_began():
    turn = Turn().answered(at("2026-11-20T23:29:00Z"))
    # However long it took: the turn of 23:30 came meanwhile.
    assert turn.due_at(WEEKDAYS, at("2026-11-20T23:59:00Z")) == at("2026-11-20T23:30:00Z")
    assert turn.answered(at("2026-11-20T23:59:00Z")).due_at(WEEKDAYS, NOON) == at("2026-11-23T23:30:00Z")


def test_an_older_asking_that_ends_later_takes_nothing_back():
    assert Turn(NOON).answered(NOON - HOUR) == Turn(NOON)


def test_pauses_double_up_to_the_longest_and_an_answer_ends_them():
    rare = Cadence("0 0 1 1 *")
    turn, pauses = Turn(NOON - DAY), []
    for _ in range(12):
        turn = turn.failed(rare, NOON, lambda: 1.0)
        pauses.append(turn.due_at(rare, NOON) - NOON)
    assert pauses == [300, 600, 1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 76_800, 86_400, 86_400, 86_400]
    assert (turn.asked_at, turn.failures) == (NOON - DAY, 12)
    assert Turn(None, 10_000, NOON).failed(rare, NOON, lambda: 1.0).retry_at == NOON + LONGEST_PAUSE
    assert turn.answered(NOON) == Turn(NOON, 0, None)


def test_jitter_is_between_half_and_the_whole_and_its_seed_tells_it():
    def pauses(seed):
        chance = random.Random(seed)
        return [Turn().failed(THRICE, NOON, chance.random).retry_at - NOON for _ in range(200)]

    found = pauses(7)
    assert FIRST_PAUSE / 2 <= min(found) < 160
    assert 290 < max(found) <= FIRST_PAUSE
    assert pauses(7) == found != pauses(8)


def test_the_next_turn_comes_before_a_longer_pause():
    now = at("2026-11-20T14:10:00Z")
    turn = Turn(NOON, 5, now).failed(THRICE, now, lambda: 1.0)
    assert turn == Turn(NOON, 6, at("2026-11-20T14:15:00Z"))


def test_what_the_publisher_asked_for_comes_before_all_up_to_a_day():
    now = at("2026-11-20T14:10:00Z")
    assert Turn().failed(THRICE, now, lambda: 1.0, 3_600.0).retry_at == now + 3_600
    assert Turn().failed(THRICE, now, lambda: 1.0, 10.0).retry_at == now + 300
    assert Turn().failed(THRICE, now, lambda: 1.0, 1e12).retry_at == now + LONGEST_PAUSE
