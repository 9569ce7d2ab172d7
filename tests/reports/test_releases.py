"""Numbers and sentences of release summaries, against hand-computed ones."""

import math

import pytest

from almanac.domain.periods import Frequency, Period
from almanac.reports.releases import HeadlineParts, Point, ReleaseFigures, amount, figures, headline, place, shown
from almanac.reports.wording import span

M, Q, W = Frequency("M"), Frequency("Q"), Frequency("W")


def key(text):
    return Period.parse(text).key


def months(first, count):
    year, month = first
    found = []
    for number in range(count):
        index = year * 12 + month - 1 + number
        found.append(f"{index // 12}-{index % 12 + 1:02}")
    return found


# 120 months of 1, 2, 3, 4 in turn, then the reading: 3.5 in January 2024, known on day 1000.
HISTORY = [Point(key(text), 10, float(number % 4 + 1)) for number, text in enumerate(months((2014, 1), 120))]
READING = Point(key("2024-01"), 1000, 3.5)


def of(points, **more):
    given = {
        "period": key("2024-01"),
        "before": key("2023-12"),
        "first": 1000,
        "at": 1000,
        "vintages": True,
        "level_free": True,
    }
    return figures(points, **{**given, **more})


def test_z_score_and_percentile_are_over_the_ten_years_before_without_the_reading():
    found = of([*HISTORY, READING])
    # 30 each of 1, 2, 3, 4: mean 2.5, squares 30·(2.25+0.25+0.25+2.25) = 150, divided by 119.
    assert found.z_score == pytest.approx(1 / math.sqrt(150 / 119), rel=1e-11)
    assert found.z_score == float(f"{found.z_score:.12g}")
    assert found.percentile == 75.0
    # A tie counts half: 60 below 3, 30 equal.
    assert of([*HISTORY, READING._replace(value=3.0)]).percentile == 100 * (60 + 15) / 120
    # What is older than ten years does not count, nor what comes after.
    more = [Point(key("2013-12"), 10, -1e9), Point(key("2024-02"), 10, 1e9)]
    assert of([*HISTORY, READING, *more]) == found


def test_what_became_known_later_does_not_count():
    later = [Point(key("2020-05"), 2000, 1e6), Point(key("2024-01"), 2000, 9.0), Point(key("2023-12"), 2000, 8.0)]
    assert of([*HISTORY, READING, *later]) == of([*HISTORY, READING])
    assert of([*HISTORY, READING, *later], at=2000)[:4] == (9.0, 4.0, 8.0, 1.0)


def test_previous_is_what_was_known_before_and_its_revision_is_told_apart():
    revised = Point(key("2023-12"), 1000, 3.9)
    found = of([*HISTORY, READING, revised])
    assert (found.actual, found.previous, found.revised_previous) == (3.5, 4.0, 3.9)
    assert found.change == -0.4
    # Without vintages nobody can tell what was known before.
    assert of([*HISTORY, READING, revised], vintages=False)[:4] == (3.5, 3.9, None, -0.4)
    # A withdrawn month is no previous one; a month the request may not see is none either.
    gone = Point(key("2023-12"), 500, None)
    assert of([*HISTORY, READING, gone])[:4] == (3.5, None, None, None)
    assert of([*HISTORY, READING], before=None)[:4] == (3.5, None, None, None)


def test_no_statistics_of_levels_nor_of_too_few_nor_of_equal_values():
    assert of([*HISTORY, READING], level_free=False)[4:] == (None, None)
    assert of([*HISTORY[-7:], READING])[4:] == (None, None)
    assert of([*HISTORY[-8:], READING])[5] == 75.0
    assert place(2.0, [1.0] * 8) == (None, 100.0)
    assert place(1.0, [1.0] * 8) == (None, 50.0)


def test_a_reading_without_a_value():
    assert of(HISTORY) == ReleaseFigures(None, 4.0, None, None, None, None)


def sentence(actual, previous, revised=None, **more):
    given = {
        "place": "Testland", "name": "Consumer price inflation", "unit": "percent", "frequency": M, "period": key("2026-10"),
        "before": key("2026-09"), "withheld": False, "figures": ReleaseFigures(actual, previous, revised),
    }  # fmt: skip
    return headline(HeadlineParts(**{**given, **more}))


@pytest.mark.parametrize(
    ("actual", "previous", "revised", "expected"),
    [
        (3.1, 2.9, None, "rose to 3.1 percent in October 2026 from 2.9 percent in September 2026."),
        (2.9, 3.1, None, "fell to 2.9 percent in October 2026 from 3.1 percent in September 2026."),
        (3.1, 3.1, None, "was unchanged at 3.1 percent in October 2026."),
        (3.101, 3.104, None, "was almost unchanged at 3.1 percent in October 2026."),
        (3.1, 3.1, 3.0, "rose to 3.1 percent in October 2026 from a revised 3 percent in September 2026."),
        (0.0, 0.2, None, "fell to 0 percent in October 2026 from 0.2 percent in September 2026."),
        (-0.3, -0.5, None, "rose to -0.3 percent in October 2026 from -0.5 percent in September 2026."),
        (3.1, None, None, "was 3.1 percent in October 2026."),
    ],
)
def test_headlines(actual, previous, revised, expected):
    assert sentence(actual, previous, revised) == f"Testland: Consumer price inflation {expected}"


def test_headlines_without_a_number():
    subject = "Testland: Consumer price inflation for October 2026"
    assert sentence(None, 2.9) == f"{subject} has no value."
    assert sentence(None, None, withheld=True) == f"{subject} was published; its value may not be redistributed."


def test_amounts_and_periods_in_words():
    assert [amount(1.0, unit) for unit in ("percentage_points", "persons", "thousands", "index")] == [
        "1 percentage point", "1 person", "1 thousand", "1",
    ]  # fmt: skip
    assert amount(-1.0, "points") == "-1 point"
    assert amount(254000.0, "persons") == "254,000 persons"
    assert (shown(-0.001), shown(100.0), shown(1234.5)) == ("0", "100", "1,234.5")
    week = Period.ending(Period.parse("2026-11-14").end, W)
    assert [span(Period.parse("2026-Q3"), Q), span(week, W), span(Period.parse("2026"), Frequency("A"))] == [
        "the third quarter of 2026", "the week to 14 November 2026", "2026",
    ]  # fmt: skip
