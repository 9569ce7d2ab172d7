"""Reference periods: keys, calendars, what may be written, and freshness."""

from datetime import date, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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
