"""Numbers and sentences of release summaries, against hand-computed ones."""

from datetime import date

import pytest

from almanac.catalog.releases import shipped
from almanac.domain.periods import Frequency, Period
from almanac.reports.decade import DecadePlace
from almanac.reports.measures import MEASURES
from almanac.reports.releases import HeadlineParts, Point, ReleaseFigures, figures, headline
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


def sentence(actual, previous, revised=None, usual=None, **more):
    given = {
        "place": "Testland", "slug": "cpi_inflation_yoy", "name": "Consumer price inflation", "unit": "percent", "frequency": M,
        "period": key("2026-10"), "before": key("2026-09"), "withheld": False,
        "figures": ReleaseFigures(actual, previous, revised, usual=usual),
    }  # fmt: skip
    return headline(HeadlineParts(**{**given, **more}))


@pytest.mark.parametrize(
    ("actual", "previous", "revised", "expected"),
    [
        (3.1, 2.9, None, "rose by 3.1% over the year to October 2026, more than the 2.9% a month earlier."),
        (2.9, 3.1, None, "rose by 2.9% over the year to October 2026, less than the 3.1% a month earlier."),
        (3.1, 3.1, None, "rose by 3.1% over the year to October 2026, the same rate as a month earlier."),
        (3.101, 3.104, None, "rose by 3.1% over the year to October 2026, about the same rate as a month earlier."),
        (3.1, 3.1, 3.0, "rose by 3.1% over the year to October 2026, more than the revised 3.0% a month earlier."),
        (
            0.0,
            0.2,
            None,
            "were unchanged over the year to October 2026, after a rise of 0.2% over the year a month earlier.",
        ),
        (-0.3, -0.5, None, "fell by 0.3% over the year to October 2026, a smaller fall than the 0.5% a month earlier."),
        (
            -0.3,
            0.5,
            0.4,
            "fell by 0.3% over the year to October 2026, after a rise of a revised 0.4% over the year a month earlier.",
        ),
        (3.1, None, None, "rose by 3.1% over the year to October 2026."),
    ],
)
def test_headlines(actual, previous, revised, expected):
    assert sentence(actual, previous, revised) == f"Testland: Consumer prices {expected}"


def test_a_headline_minds_what_is_usual():
    assert sentence(3.2, 3.1, usual=0.3) == (
        "Testland: Consumer prices rose by 3.2% over the year to October 2026, little different from the 3.1% a month earlier."
    )


@pytest.mark.parametrize(
    ("slug", "unit", "period", "numbers", "expected"),
    [
        ("initial_jobless_claims", "persons", "2026-11-14", (254000.0, 240000.0), "Initial jobless claims rose to 254,000 in the week to 14 November 2026, from 240,000 a week earlier."),
        ("initial_jobless_claims", "persons", "2026-11-14", (254000.0, 254000.0), "Initial jobless claims were 254,000 in the week to 14 November 2026, unchanged from a week earlier."),
        ("trade_balance", "usd_millions", "2026-10", (-60000.0, -65000.0), "Foreign trade showed a deficit of 60,000 million US dollars in October 2026, narrower than the 65,000 a month earlier."),
        ("trade_balance", "usd_billions", "2026-10", (-60.0, -55.0, -55.5), "Foreign trade showed a deficit of 60.0 billion US dollars in October 2026, wider than the revised 55.5 a month earlier."),
        ("nonfarm_payrolls_change", "thousands", "2026-10", (-20500.0, -870.0, -881.0), "Nonfarm payrolls fell by 20,500 thousand in October 2026, after a fall of a revised 881 thousand a month earlier."),
        ("gdp_growth_qoq_annualized", "percent", "2026-Q3", (-0.6, 2.0), "In the third quarter of 2026 output shrank at an annual rate of 0.6%, after growth at an annual rate of 2.0% a quarter earlier."),
        ("consumer_confidence", "points", "2026-10", (-12.0, -11.0), "Consumer confidence fell to −12.0 in October 2026, from −11.0 a month earlier."),
        ("cpi_inflation_yoy", "index", "2026-10", (102.0, 101.0), "Consumer prices rose to 102.0 in October 2026, from 101.0 a month earlier."),
        ("something_else", "percent", "2026-10", (2.5, 2.25), "Something else rose to 2.50 in October 2026, from 2.25 a month earlier."),
    ],
)  # fmt: skip
def test_headlines_of_other_releases(slug, unit, period, numbers, expected):
    frequency = {10: W, 7: M}[len(period)] if "Q" not in period else Q
    at = Period.ending(Period.parse(period).end, frequency)
    before = Period.ending(date.fromordinal(at.start.toordinal() - 1), frequency).key
    told = sentence(
        *numbers, slug=slug, name="Something else", unit=unit, frequency=frequency, period=at.key, before=before
    )
    assert told == f"Testland: {expected}"


def test_there_are_words_for_the_headline_of_every_release():
    assert {one.headline for one in shipped()} <= set(MEASURES)


def test_headlines_without_a_number():
    subject = "Testland: Consumer prices for October 2026"
    assert sentence(None, 2.9) == f"{subject} have no value."
    assert sentence(None, None, withheld=True) == f"{subject} were published; their value may not be redistributed."
    rate = {"slug": "unemployment_rate", "withheld": True}
    assert sentence(None, None, **rate) == (
        "Testland: The unemployment rate for October 2026 was published; its value may not be redistributed."
    )


def test_periods_in_words():
    week = Period.ending(Period.parse("2026-11-14").end, W)
    assert [span(Period.parse("2026-Q3"), Q), span(week, W), span(Period.parse("2026"), Frequency("A"))] == [
        "the third quarter of 2026", "the week to 14 November 2026", "2026",
    ]  # fmt: skip
