"""Numbers and sentences of release summaries, against hand-computed ones."""

from almanac.catalog.releases import shipped
from almanac.domain.periods import Frequency, Period
from almanac.reports.decade import DecadePlace
from almanac.reports.measures import MEASURES
from almanac.reports.releases import Point, ReleaseFigures, figures

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
    given = {"period": key("2024-01"), "before": key("2023-12"), "first": 1000, "at": 1000, "vintages": True}
    return figures(points, **{**given, **more})


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


def test_where_it_stands_and_what_is_usual_are_told_as_given():
    found = of([*HISTORY, READING], standing=DecadePlace(0.5, 75.0), usual=1.25)
    assert found[4:] == (0.5, 75.0, 1.25)
    assert of([*HISTORY, READING])[4:] == (None, None, None)


def test_a_reading_without_a_value():
    assert of(HISTORY) == ReleaseFigures(None, 4.0, None, None, None, None)


def test_there_are_words_for_the_headline_of_every_release():
    assert {one.headline for one in shipped()} <= set(MEASURES)
