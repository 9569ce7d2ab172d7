"""Turns of a cron line, and pauses after failures. Times are written as people do."""

import random
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.catalog.load import shipped
from almanac.domain.cadence import FIRST_PAUSE, LONGEST_PAUSE, Cadence, Turn

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
