"""Sentences of briefs: direction, size, comparison, rank; one and none, negative and missing; stale and absent."""

import math
from datetime import date, timedelta

import msgspec
import pytest

from almanac.catalog.releases import shipped
from almanac.domain.periods import Frequency, Period, add_months, end_of
from almanac.reports import briefs
from almanac.reports.briefs import (
    change_clause,
    reading_sentence,
    stale_sentence,
)
from almanac.reports.decade import Decade, DecadePlace, begins, is_whole, place, standing
from almanac.reports.measures import MEASURES, SECTIONS, MeasureReading, Ranking, typical_change
from almanac.reports.rates import SLOPES, SlopeLegs, YieldReading, of_day, rates, without_gone
from almanac.reports.releases import Point, ReleaseFigures, figures
from almanac.reports.wording import decimals, figure, span

SECTION = {section.key: section for section in SECTIONS}
UNITS = {
    "%": "percent",
    "% of GDP": "percent",
    "percentage points": "percentage_points",
    "thousand": "thousands",
    "": "points",
}
PORTUGAL = briefs.BriefSubject("Portugal", shares=False)


def key(text):
    return Period.parse(text).key


def read(slug, value, previous=None, period="2026-10", before=None, **more):
    """A fresh reading, the one before it in the period before."""
    measure = MEASURES[slug]
    at = Period.parse(period)
    letter = {4: "A", 7: "M", 10: "D"}[len(period)] if "Q" not in period else "Q"
    frequency = Frequency(letter)
    if before is None:
        days = {"A": 365, "Q": 80, "M": 28, "D": 1}[letter]
        then = (
            Period.ending(date.fromordinal((at.start or at.end).toordinal() - 1), frequency)
            if days > 1
            else Period.parse("2026-11-18")
        )
    else:
        then = Period.parse(before)
    known = {"unit": UNITS[measure.unit], "freshness": "fresh", **more}
    return MeasureReading(
        measure, value, known.pop("unit"), at.key, frequency, known.pop("freshness"), previous,
        None if previous is None else then.key, **known,
    )  # fmt: skip


# -- words --------------------------------------------------------------------------------------------------------------


def test_a_policy_rate_is_told_whole_and_beside_another_with_as_many_digits():
    assert [figure(v, decimals(3, v)) for v in (2.625, 3.0, 0.1, -0.75)] == ["2.625", "3.00", "0.10", "−0.75"]
    assert [decimals(3, 2.625, 2.5), decimals(3, 2.75, 2.5), decimals(1, 2.625)] == [3, 2, 1]
    assert reading_sentence(read("policy_rate", 2.625, 2.5)) == (
        "The policy rate rose to 2.625% in October 2026, from 2.500% a month earlier."
    )


def test_a_week_and_a_year_that_is_not_the_calendars():
    assert span(Period(date(2026, 11, 8), date(2026, 11, 14)), Frequency.WEEKLY) == "the week to 14 November 2026"
    assert span(Period(date(2025, 7, 1), date(2026, 6, 30)), Frequency.ANNUAL) == "the year to June 2026"


# -- statistics ---------------------------------------------------------------------------------------------------------


def test_standing_counts_from_the_highest():
    assert briefs.ranking(5.0, [1.0, 3.0, 5.0]) == Ranking(1, 3, False)
    assert briefs.ranking(3.0, [1.0, 3.0, 3.0, 5.0]) == Ranking(2, 4, True)
    assert briefs.ranking(1.0, [1.0, 3.0, 5.0]) == Ranking(3, 3, False)
    assert briefs.ranking(1.0, [1.0]) is None


# -- sentences ----------------------------------------------------------------------------------------------------------


def test_the_usual_move_is_the_mean_absolute_change_from_one_reading_to_the_next():
    past = [2.0, 2.5, 2.0, 2.0, 3.0, 2.0, 2.0, 2.0, 1.0]
    # Changes 0.5, 0.5, 0, 1, 1, 0, 0, 1: eight of them, 4 in all. Whichever way the periods run.
    assert (
        typical_change(MEASURES["cpi_inflation_yoy"], past)
        == typical_change(MEASURES["cpi_inflation_yoy"], past[::-1])
        == 0.5
    )
    assert typical_change(MEASURES["cpi_inflation_yoy"], past[1:]) is None
    # What came or went is a move itself.
    assert typical_change(MEASURES["nonfarm_payrolls_change"], [100.0, -300.0] * 4) == 200
    # A policy rate mostly stays: what is usual is the size of a step.
    assert typical_change(MEASURES["policy_rate"], [n // 10 * 0.25 for n in range(90)]) == 0.25
    assert typical_change(MEASURES["policy_rate"], [n // 10 * 0.25 for n in range(80)]) is None


@pytest.mark.parametrize(
    ("slug", "value", "previous", "usual_", "expected"),
    [
        # Less than half of what is usual: none. Half and more, but less than usual: an edge. Twice as much: a jump.
        ("unemployment_rate", 4.2, 4.1, 0.3, "was 4.2% in October 2026, little changed from 4.1% a month earlier."),
        ("unemployment_rate", 4.2, 4.1, 0.1, "rose to 4.2% in October 2026, from 4.1% a month earlier."),
        ("unemployment_rate", 4.1, 4.2, 0.2, "edged down to 4.1% in October 2026, from 4.2% a month earlier."),
        # The same when it is told: no move, however small the usual one is.
        # Not known what is usual: the last digit told.
        ("unemployment_rate", 4.16, 4.14, None, "was 4.2% in October 2026, little changed from 4.1% a month earlier."),
        ("cpi_inflation_yoy", 2.16, 2.14, 0.3, "rose by 2.2% over the year to October 2026, little different from the 2.1% a month earlier."),
        ("cpi_inflation_yoy", 3.1, 2.1, 0.6, "rose by 3.1% over the year to October 2026, more than the 2.1% a month earlier."),
        ("current_account_pct_gdp", -3.1, -3.0, 0.5, "showed a deficit of 3.1% of GDP in October 2026, little different from the 3.0% a month earlier."),
        # Less than is usual, and yet nobody would call these alike.
        ("current_account_pct_gdp", -1.7, -1.1, 9.0, "showed a deficit of 1.7% of GDP in October 2026, compared with the 1.1% a month earlier."),
        # A difference counts beside the size of the figures.
        ("cpi_inflation_yoy", -0.2, -0.6, 9.0, "fell by 0.2% over the year to October 2026, compared with the 0.6% a month earlier."),
        ("cpi_inflation_yoy", 6.4, 7.2, 9.0, "rose by 6.4% over the year to October 2026, little different from the 7.2% a month earlier."),
        ("nonfarm_payrolls_change", 40.0, 200.0, 150.0, "edged up by 40 thousand in October 2026, after a rise of 200 thousand a month earlier."),
    ],
)  # fmt: skip
def test_a_move_counts_by_its_own_usual_size(slug, value, previous, usual_, expected):
    subject = MEASURES[slug].subject
    unit = "persons" if slug == "initial_jobless_claims" else UNITS[MEASURES[slug].unit]
    assert reading_sentence(read(slug, value, previous, usual=usual_, unit=unit)) == f"{subject} {expected}"


def test_a_rate_of_growth_says_over_what_also_beside_another():
    prices = read("cpi_inflation_yoy", 2.1, 2.3)
    assert reading_sentence(read("core_cpi_inflation_yoy", 1.9, 1.7), prices) == (
        "Core consumer prices rose by 1.9% over the same year, more than the 1.7% a month earlier."
    )
    assert reading_sentence(read("core_cpi_inflation_yoy", 1.9, None, "2026-09"), prices) == (
        "Core consumer prices rose by 1.9% over the year to September 2026."
    )


def test_a_gap_is_not_called_a_month():
    one = read("unemployment_rate", 4.4, 4.3, "2025-11", before="2025-09")
    assert (
        reading_sentence(one)
        == "The unemployment rate rose to 4.4% in November 2025, from 4.3% at the previous reading."
    )
    same = one._replace(previous=4.4)
    assert reading_sentence(same).endswith("unchanged from the previous reading.")


def test_after_a_gap_it_is_said_since_when_there_was_no_reading():
    """Nothing is compared across it, and no second sentence hangs on one that ends so."""
    rate = read("policy_rate", 2.5, None, "2026-10-02", since=key("2024-04-30"))
    assert reading_sentence(rate) == (
        "The policy rate stood at 2.50% on 2 October 2026; this is the first reading since 30 April 2024."
    )
    growth = read("gdp_growth_yoy", 1.2, None, "2026-Q3", since=key("2023-Q4"))
    assert reading_sentence(growth) == (
        "Real GDP grew by 1.2% over the year to the third quarter of 2026; this is the first reading since the fourth quarter of 2023."
    )
    assert stale_sentence(growth._replace(freshness="stale")).endswith(
        "2026; this is the last reading, and it is stale."
    )
    jobs = read("unemployment_rate", 4.2, None, "2026-10", since=key("2026-08"))
    assert briefs.section_text(
        SECTION["labor"], PORTUGAL, briefs.SectionReadings([jobs, read("unemployment_change_12m", 0.4)])
    ) == (
        "The unemployment rate stood at 4.2% in October 2026; this is the first reading since August 2026. In October 2026"
        " the rate was 0.4 percentage points higher than a year before."
    )


def test_what_was_said_before_is_not_said_again():
    before = read("gdp_growth_yoy", 1.2, 1.6, "2026-Q3")
    after = read("gdp_growth_qoq_annualized", 0.9, 0.6, "2026-Q3", turn=1)
    assert (
        reading_sentence(after, before)
        == "In that quarter alone output grew at an annual rate of 0.9%, faster than the 0.6% the quarter before."
    )


def test_a_difference_joins_its_level_only_in_the_same_period():
    rate = read("unemployment_rate", 4.2, 4.1)
    assert (
        change_clause(read("unemployment_change_12m", 0.4), rate)
        == "; that is 0.4 percentage points higher than a year before"
    )
    assert change_clause(read("unemployment_change_12m", 0.4, period="2026-09"), rate) is None
    assert change_clause(read("unemployment_change_12m", 0.0), rate) == "; it was the same a year before"
    assert change_clause(read("unemployment_change_12m", 0.04), rate) == "; it was about the same a year before"
    assert change_clause(rate, rate) is None


def test_a_stale_reading_says_so_and_nothing_more():
    one = read("unemployment_rate", 4.2, 4.1, "2025-03", freshness="stale", ranking=Ranking(2, 30, False))
    assert (
        stale_sentence(one)
        == "The unemployment rate stood at 4.2% in March 2025; this is the last reading, and it is stale."
    )


# -- sections and headlines -----------------------------------------------------------------------------------------------


def test_a_section_in_order():
    found = briefs.SectionReadings(
        [
            read("unemployment_rate", 4.2, 4.1, ranking=Ranking(2, 30, False)),
            read("unemployment_change_12m", 0.4),
            read("labor_force_participation_rate", 62.5, 62.5, period="2025-01", freshness="stale"),
        ]
    )
    assert briefs.section_text(SECTION["labor"], PORTUGAL, found) == (
        "The unemployment rate rose to 4.2% in October 2026, from 4.1% a month earlier; that is 0.4 percentage points higher"
        " than a year before. This is among the highest: the 2nd-highest unemployment rate of the 30 countries compared. The"
        " participation rate stood at 62.5% in January 2025; this is the last reading, and it is stale."
    )


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (briefs.SectionReadings([]), "There is nothing on inflation for Portugal."),
        (briefs.SectionReadings([], withheld=True), "The readings of inflation held for Portugal may not be shown."),
        (briefs.SectionReadings([], beyond=True), "The readings of inflation held for Portugal are older than this plan reaches."),
        (briefs.SectionReadings([read("cpi_inflation_yoy", 2.0, unit="index")]), "The readings of inflation held for Portugal are in units that are not put into words here."),
    ],
)  # fmt: skip
def test_a_section_without_readings(found, expected):
    assert briefs.section_text(SECTION["inflation"], PORTUGAL, found) == expected


def told_headline(growth, prices, jobs, payrolls=()):
    one = {
        "growth": [] if growth is None else [read("gdp_growth_yoy", *growth, "2026-Q3")],
        "inflation": [] if prices is None else [read("cpi_inflation_yoy", *prices[:2], usual=prices[2] if prices[2:] else None)],
        "labor": [*([] if jobs is None else [jobs]), *payrolls],
        "rates": [], "external": [], "fiscal": [],
    }  # fmt: skip
    return briefs.headline(PORTUGAL, one)


JOBS = read("unemployment_rate", 9.8)


def test_millions_of_jobs_are_in_the_headline():
    lost = read("nonfarm_payrolls_change", -10000.0, 200.0, usual=180.0)
    rate = read("unemployment_rate", 14.7, 4.4, usual=0.1)
    assert told_headline(None, None, rate, [lost]) == (
        "In Portugal, unemployment jumped from 4.4% to 14.7% in October 2026 and nonfarm payrolls dropped by 10,000 thousand."
    )
    assert told_headline(None, None, None, [lost]) == (
        "In Portugal, nonfarm payrolls dropped by 10,000 thousand in October 2026."
    )
    # What is usual is not.
    assert told_headline(None, None, JOBS, [lost._replace(value=-200.0)]) == told_headline(None, None, JOBS)


def test_a_headline_leaves_out_what_is_stale():
    sections = {key: [] for key in SECTION}
    sections["growth"] = [read("gdp_growth_yoy", 1.2, 1.0, "2024-Q3", freshness="stale")]
    assert (
        briefs.headline(PORTUGAL, sections)
        == "The readings held for Portugal are stale, the newest being of the third quarter of 2024."
    )
    sections["fiscal"] = [read("government_debt_pct_gdp", 60.0, None, "2026-Q1")]
    assert (
        briefs.headline(PORTUGAL, sections)
        == "There are no current readings of growth, inflation or unemployment for Portugal."
    )


def test_sales_are_neither_output_nor_prices():
    sections = {key: [] for key in SECTION}
    sections["growth"] = [read("retail_sales_growth_yoy", -1.2, 1.0)]
    sections["labor"] = [JOBS]
    assert briefs.headline(PORTUGAL, sections) == "In Portugal, unemployment was 9.8% in October 2026."


# -- numbers and sentences of release summaries, against hand-computed ones -------------------------------------------


M, Q, W = Frequency("M"), Frequency("Q"), Frequency("W")


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


# -- spreads, slopes and means of yields, worked out by hand: no trace of binary fractions ----------------------------


DAY = date(2026, 11, 20)


def reading(scope, tenor, value, day=DAY):
    return YieldReading(scope, tenor, value, day, 1_795_000_000, f"s:{scope}:{tenor}", "s", "par", "semi_annual")


def payload(*readings, asked=None):
    """With slopes of the latest legs."""
    by = {(one.scope, one.tenor): one for one in readings}
    slopes = [
        SlopeLegs(scope, name, by[scope, short], by[scope, long])
        for scope in dict.fromkeys(one.scope for one in readings)
        for name, (short, long) in SLOPES.items()
        if {(scope, short), (scope, long)} <= by.keys()
    ]
    return rates("USA", "United States", "USD", readings, slopes, [], asked)


def test_spreads_and_slopes_are_exact_in_decimals():
    found = payload(
        reading("USA", "2y", 3.0), reading("USA", "10y", 3.69), reading("CHE", "2y", 4.48), reading("CHE", "10y", 3.0)
    )
    # Floats make -148.00000000000006 and 69 + 1e-14 of these.
    assert [peer.spread_bp for spread in found.spreads for peer in spread.peers] == [-148.0, 69.0]
    assert [slope.value_bp for slope in found.slopes] == [69.0]
    assert [slope.value_bp for slope in found.peer_slopes] == [-148.0]


def test_a_mean_and_what_is_held_against_it_have_twelve_digits():
    (spread,) = payload(
        *(reading(scope, "10y", y) for scope, y in [("USA", 4.5), ("CHE", 4.1), ("CAN", 4.2), ("GBR", 4.5)])
    ).spreads
    assert (spread.peer_mean, spread.spread_to_mean_bp) == (4.26666666667, 23.3333333333)
    (alone,) = payload(reading("USA", "10y", 4.5)).spreads
    assert (alone.peer_mean, alone.spread_to_mean_bp, alone.peer_count) == (None, None, 0)


def test_a_scope_that_yields_what_its_peers_do_has_no_spread():
    (spread,) = payload(*(reading(scope, "10y", 4.3) for scope in ("USA", "CHE", "CAN", "GBR"))).spreads
    assert spread.spread_to_mean_bp == 0.0


def test_legs_more_than_ten_days_apart_are_no_slope():
    for gap, value, excluded in ((10, 69.0, None), (11, None, "stale")):
        old = reading("USA", "2y", 3.0, DAY - timedelta(days=gap))
        told = payload(old, reading("USA", "10y", 3.69))
        (slope,) = told.slopes
        assert (slope.value_bp, slope.excluded) == (value, excluded)
        assert [leg.tenor for leg in slope.legs] == ["2y", "10y"]
        assert ("too far apart for a slope" in " ".join(told.comparability)) == (excluded is not None)


def test_a_slope_of_an_older_day_says_which_day_it_is_of():
    day = date(2022, 5, 3)
    legs = SlopeLegs("USA", "2s10s", reading("USA", "2y", 2.75, day), reading("USA", "10y", 3.0, day))
    latest = [reading("USA", "2y", 2.75, day), reading("USA", "10y", 4.1)]
    found = rates("USA", "United States", "USD", latest, [legs], [], None)
    (slope,) = found.slopes
    assert (slope.value_bp, slope.excluded) == (25.0, None)
    assert {leg.period_end for leg in slope.legs} == {"2022-05-03T00:00:00Z"}
    assert "USA 2s10s is of 2022-05-03, the newest day on which both its legs are known." in found.comparability


def test_a_row_of_a_past_day_is_of_the_newest_day_of_its_own_curve():
    found = payload(reading("USA", "2y", 3.0, date(2026, 11, 1)), reading("USA", "10y", 3.7), asked=1_796_000_000)
    assert (of_day(found).period_end, found.as_of) == ("2026-11-20T00:00:00Z", "2026-11-30T00:53:20Z")
    assert of_day(payload(reading("CHE", "2y", 1.0))) is None


def test_a_yield_of_long_ago_is_none_of_a_curve():
    def curve(days, **more):
        old = msgspec.structs.replace(reading("USA", "30y", 5.37, DAY - timedelta(days=days)), **more)
        return without_gone({"10y": reading("USA", "10y", 4.71), "30y": old})

    assert list(curve(31)[0]) == ["10y", "30y"]
    kept, notes = curve(32)
    assert list(kept) == ["10y"]
    assert notes == ["USA 30y: its newest yield is of 2026-10-19, too old for a curve of 2026-11-20."]
    # What is published by the month is of the month before.
    assert list(curve(80, allowance=90)[0]) == ["10y", "30y"]
    assert without_gone({}) == ({}, [])


def test_a_curve_of_several_days_says_so():
    found = payload(reading("USA", "2y", 3.0, DAY - timedelta(days=11)), reading("USA", "10y", 3.7))
    assert "USA 2y is of 2026-11-09, its curve of 2026-11-20." in found.comparability


# The ten years before a reading: when they are all known, and where it stands among them, against hand-computed numbers.


A, DECADE_QUARTER, DECADE_MONTH, DECADE_WEEK, D = (Frequency(letter) for letter in "AQMWD")


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        ("2026-10", date(2016, 10, 31)),
        ("2026-02", date(2016, 2, 28)),  # the last of that February is a day later, and among them
        ("2024-02-29", date(2014, 2, 28)),
        ("2025", date(2015, 12, 31)),
        ("0005", date(1, 12, 31)),
    ],
)
def test_they_begin_on_the_same_day_ten_years_before(period, expected):
    assert begins(key(period)) == expected


def regular(period, frequency, count):
    """So many periods before one, newest first."""
    months = frequency.months
    end = end_of(key(period))
    return [Period.ending(add_months(end, -months * n), frequency).key for n in range(1, count + 1)]


@pytest.mark.parametrize(("frequency", "count"), [(DECADE_MONTH, 120), (DECADE_QUARTER, 40), (A, 10)])
def test_ten_years_are_whole_from_their_first_period_on(frequency, count):
    period = Period.ending(date(2025, 12, 31), frequency).key
    keys = regular("2025-12-31" if frequency is not A else "2025", frequency, count)
    values = [1.0] * count
    assert is_whole(Decade(values, keys[-1]), period, frequency)
    # What begins a period later is not ten years, however many values it has.
    assert not is_whole(Decade(values, keys[-2]), period, frequency)
    # One in ten may be missing, and no more.
    assert is_whole(Decade(values[: count * 9 // 10], keys[-1]), period, frequency)
    assert not is_whole(Decade(values[: count * 9 // 10 - 1], keys[-1]), period, frequency)


@pytest.mark.parametrize(("frequency", "step", "least"), [(DECADE_WEEK, 7, 468), (D, 10, 2_340)])
def test_ten_years_of_weeks_and_days_begin_within_a_step(frequency, step, least):
    end = date(2026, 11, 20)
    period, first = Period.ending(end, frequency).key, begins(Period.ending(end, frequency).key)
    within = Period.ending(first + timedelta(days=step - 1), frequency).key
    late = Period.ending(first + timedelta(days=step), frequency).key
    assert is_whole(Decade([1.0] * least, within), period, frequency)
    assert not is_whole(Decade([1.0] * least, late), period, frequency)
    assert not is_whole(Decade([1.0] * (least - 1), within), period, frequency)


def test_the_place_is_the_mid_rank_and_the_distance_in_standard_deviations():
    # 30 each of 1, 2, 3, 4: mean 2.5, squares 30·(2.25+0.25+0.25+2.25) = 150, divided by 119.
    among = [float(number % 4 + 1) for number in range(120)]
    found = place(3.5, among)
    assert found.z_score == pytest.approx(1 / math.sqrt(150 / 119), rel=1e-11)
    assert found.z_score == float(f"{found.z_score:.12g}")
    assert found.percentile == 75.0
    # A tie counts half: 60 below 3, 30 equal.
    assert place(3.0, among).percentile == 62.5
    assert place(3.0, among[::-1]) == place(3.0, among)
    assert (place(0.5, among).percentile, place(9.0, among).percentile) == (0, 100)
    # Where all others are equal there is no distance.
    assert (place(2.0, [1.0] * 8), place(1.0, [1.0] * 8)) == (DecadePlace(None, 100.0), DecadePlace(None, 50.0))


def test_nothing_stands_among_less_than_ten_years_nor_where_numbers_have_a_trend():
    keys = regular("2025-12", DECADE_MONTH, 120)
    whole = Decade([float(number % 4 + 1) for number in range(120)], keys[-1])
    period = key("2025-12")
    assert standing(3.5, "percent", period, DECADE_MONTH, whole).percentile == 75.0
    assert standing(3.5, "index", period, DECADE_MONTH, whole) == DecadePlace()
    assert standing(3.5, None, period, DECADE_MONTH, whole) == DecadePlace()
    assert standing(3.5, "percent", period, DECADE_MONTH, None) == DecadePlace()
    assert standing(3.5, "percent", period, DECADE_MONTH, Decade(whole.values[:29], keys[28])) == DecadePlace()
