"""Captions by rule, sentence by sentence, from fixed rows; and that nothing withheld enters one."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.dashboard.formatting.captions import (
    NOTHING,
    CurveStep,
    Topic,
    columns_caption,
    curve_caption,
    dots_caption,
    line_caption,
    lines_caption,
)
from almanac.dashboard.formatting.numbers import unit
from almanac.dashboard.formatting.values import points
from almanac.domain.periods import Frequency, Period
from almanac.reports.wording import country
from tests.support.dashboard_rows import observation, quarters

GROWTH = Topic("Real GDP growth, year on year", "gdp_growth_yoy", "Borealia", unit("percent", "gdp_growth_yoy"), 1)


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def caption(values, topic=GROWTH, firsts=None, **more):
    return plain(line_caption(topic, points(quarters(values, **more), firsts)))


def test_growth_with_its_range_and_its_revisions():
    rows = quarters([1.0, 2.0, -6.4, 6.9, 1.5, 2.0, 2.1, 2.2, 2.4, 2.1])
    firsts = {(row["periodStart"], row["periodEnd"]): row["valueNumeric"] for row in rows}
    for number, first in ((2, -6.0), (4, 1.3)):
        firsts[rows[number]["periodStart"], rows[number]["periodEnd"]] = first
    assert plain(line_caption(GROWTH, points(rows, firsts))) == (
        "Real GDP of Borealia grew 2.1% in the year to 2018 Q2, 0.3 percentage points less than in 2018 Q1. "
        "Since 2016 the rate has ranged from −6.4% (2016 Q3) to 6.9% (2016 Q4). "
        "2 of 10 quarters differ from their first publication, by 0.3 points on average."
    )


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            [1.0, 1.2],
            "Real GDP of Borealia grew 1.2% in the year to 2016 Q2, 0.2 percentage points more than in 2016 Q1.",
        ),
        (
            [1.0, -1.2],
            "Real GDP of Borealia fell 1.2% in the year to 2016 Q2, 2.2 percentage points less than in 2016 Q1.",
        ),
        (
            [1.0, 0.0],
            "Real GDP of Borealia was unchanged in the year to 2016 Q2, 1.0 percentage points less than in 2016 Q1.",
        ),
        ([1.0, 1.04], "Real GDP of Borealia grew 1.0% in the year to 2016 Q2, as in 2016 Q1."),
        (
            [1.0, 1.05],
            "Real GDP of Borealia grew 1.1% in the year to 2016 Q2, 0.1 percentage points more than in 2016 Q1.",
        ),
        ([1.2], "Real GDP of Borealia grew 1.2% in the year to 2016 Q1."),
    ],
)
def test_the_first_sentence_follows_the_sign(values, sentence):
    assert caption(values).startswith(sentence)


@pytest.mark.parametrize(
    ("slug", "name", "unit_name", "digits", "sentence"),
    [
        ("unemployment_rate", "Unemployment rate", "percent", 1,
         "The unemployment rate of the United States stood at 5.3% in 2016 Q2, 0.1 percentage points higher than in 2016 Q1."),
        ("gov_yield_10y", "10-year government yield", "percent", 2,
         "10-year government bonds of the United States yielded 5.30% in 2016 Q2, 10 bp higher than in 2016 Q1."),
        ("gov_real_yield_5y", "5-year real yield", "percent", 2,
         "5-year inflation-linked government bonds of the United States yielded 5.30% in 2016 Q2, 10 bp higher than in 2016 Q1."),
        ("cpi_index", "Consumer price index", "index", 1,
         "Consumer price index of the United States stood at 5.3 in 2016 Q2, 0.1 index points higher than in 2016 Q1."),
        ("nominal_gdp", "Nominal GDP", "usd_billions", 1,
         "Nominal GDP of the United States stood at USD 5.3 billion in 2016 Q2, USD 0.1 billion higher than in 2016 Q1."),
    ],
)  # fmt: skip
def test_the_words_fit_the_unit(slug, name, unit_name, digits, sentence):
    topic = Topic(name, slug, country("United States"), unit(unit_name, slug), digits)
    assert caption([5.2, 5.3], topic).startswith(sentence)
    assert caption([5.3, 5.3], topic).startswith(sentence.partition(", ")[0] + ", unchanged from 2016 Q1.")


def test_days_are_on_and_a_year_is_in():
    topic = Topic("x", "gov_yield_2y", "Japan", unit("percent", "gov_yield_2y"), 2)
    days = [
        observation(Period(date(2026, 11, day), date(2026, 11, day)), 1.0 + day / 100, frequency=Frequency.DAILY)
        for day in (18, 19)
    ]
    assert plain(line_caption(topic, points(days))) == (
        "2-year government bonds of Japan yielded 1.19% on 19 Nov 2026, 1 bp higher than on 18 Nov 2026. "
        "Since 18 Nov 2026 the rate has ranged from 1.18% (18 Nov 2026) to 1.19% (19 Nov 2026)."
    )
    years = [observation(str(year), 1.5, frequency=Frequency.ANNUAL) for year in (2020, 2021, 2022, 2023)]
    assert plain(line_caption(GROWTH, points(years))) == (
        "Real GDP of Borealia grew 1.5% in 2023, as in 2022. Since 2020 the rate has stayed at 1.5%."
    )
    assert "From 2020 to 2023 the rate has stayed at 1.5%." in plain(line_caption(GROWTH, points(years), bounded=True))


def test_prices_rise_and_what_is_many_were():
    topic = Topic("Inflation", "cpi_inflation_yoy", "Japan", unit("percent", "cpi_inflation_yoy"), 1)
    assert caption([2.0, 2.6], topic).startswith("Consumer prices of Japan rose 2.6% in the year to 2016 Q2, 0.6 ")
    assert caption([2.0, 0.0], topic).startswith("Consumer prices of Japan were unchanged in the year to 2016 Q2, ")


def test_one_revision_is_told_in_the_singular_and_never_as_nothing():
    rows = quarters([1.0, 2.0])
    firsts = {(row["periodStart"], row["periodEnd"]): first for row, first in zip(rows, [1.0, 2.004], strict=True)}
    assert plain(line_caption(GROWTH, points(rows, firsts))).endswith(
        " 1 of 2 quarters differs from its first publication, by 0.004 points."
    )


def test_trust_names_what_is_not_there():
    text = caption([1.0, None, 1.5, "none", 2.0])
    assert text.endswith("1 quarter is withheld; the line has 1 gap where no value is known.")
    assert caption([1.0, 2.0], GROWTH._replace(stale_days=324)).endswith(
        "It is stale: the newest period ended 324 days ago."
    )
    assert caption([1.0, 2.0], GROWTH._replace(stale_days=900, ended=True)).endswith("The series ended with 2016 Q2.")


def test_nothing_to_draw_is_said():
    assert line_caption(GROWTH, []) == NOTHING
    assert caption([None, None]) == "The values of 2 quarters are withheld; their periods are in the table."
    assert lines_caption(GROWTH, []) == NOTHING


def test_a_forecast_is_never_the_latest():
    rows = [*quarters([1.0, 2.0]), *quarters([9.9], first="2016-Q3", metadata={"forecast": True})]
    text = plain(line_caption(GROWTH, points(rows)))
    assert text.startswith("Real GDP of Borealia grew 2.0% in the year to 2016 Q2")
    assert "9.9" not in text


@given(st.lists(st.none() | st.floats(-50, 50).map(lambda value: round(value, 1)), min_size=1, max_size=30))
def test_a_withheld_value_never_enters_a_caption(values):
    # The records of withheld quarters carry a number here, which the interface would never send.
    rows = quarters(values)
    shown = line_caption(GROWTH, points(rows))
    for row in rows:
        if row["valueNumeric"] is None:
            row["valueNumeric"] = 98765.4
    assert line_caption(GROWTH, points(rows)) == shown
    assert len(re.findall(r"\.(?: |$)", shown)) <= 3


def test_several_lines():
    lines = [
        (name, points(quarters(values)))
        for name, values in (("USA", [1.0, 3.0]), ("JPN", [0.5, 0.2]), ("CHE", [None, None]))
    ]
    assert plain(lines_caption(GROWTH._replace(place=""), lines)) == (
        "Real GDP growth, year on year was highest in USA, at 3.0% in 2016 Q2, and lowest in JPN, at 0.2% in 2016 Q2. "
        "The lines range from 0.2% (JPN, 2016 Q2) to 3.0% (USA, 2016 Q2). CHE has no value to draw."
    )
    assert plain(lines_caption(GROWTH, [lines[0], lines[2]])).startswith("Real GDP of USA grew 3.0%")


def test_curves():
    steps = [CurveStep("2y", 4.0), CurveStep("5y", None), CurveStep("10y", 4.38), CurveStep("30y", 4.8)]
    before = [CurveStep("2y", 4.3), CurveStep("10y", 4.38), CurveStep("30y", 4.7)]
    assert curve_caption("United States", steps, before, day="20 Nov 2026", notes=["JPN is stale and not counted"]) == (
        "Government bonds of the United States yielded from 4.00% at 2 years to 4.80% at 30 years on 20 Nov 2026. "
        "A year earlier they were 30 bp higher at 2 years, the same at 10 years and 10 bp lower at 30 years. "
        "No yield is shown at 5 years; JPN is stale and not counted."
    )
    assert (
        curve_caption("Japan", [CurveStep("10y", 1.0)], day="20 Nov 2026")
        == "Government bonds of Japan yielded 1.00% at 10 years on 20 Nov 2026."
    )
    # The interface writes a whole number without a fraction, and JSON then reads it as an integer.
    assert curve_caption("Japan", [CurveStep("10y", 1)], [CurveStep("10y", 2)], day="20 Nov 2026").endswith(
        "A year earlier they were 100 bp higher at 10 years."
    )
    assert curve_caption("Japan", [CurveStep("10y", None)], day="20 Nov 2026") == "No yield of Japan is shown."


def test_columns():
    what, parts = ("request", "requests"), ("answered", "refused", "limited")
    columns = [("18 Nov", (90, 10, 0)), ("19 Nov", (290, 9, 1)), ("20 Nov", (1, 0, 0))]
    assert columns_caption(what, columns, parts, so_far=True) == (
        "1 request so far on 20 Nov. 401 requests in all from 18 Nov to 20 Nov, the most on 19 Nov: 300. "
        "4.7% were refused and 0.2% limited."
    )
    assert (
        columns_caption(what, [("20 Nov", (5, 0, 0))], parts)
        == "5 requests on 20 Nov. None were refused and none limited."
    )
    assert columns_caption(what, [("20 Nov", (9999, 1, 0))], parts).endswith(
        "Less than 0.1% were refused and none limited."
    )
    assert columns_caption(what, [], parts) == "There are no requests yet."
    assert (
        columns_caption(what, [("19 Nov", (0, 0, 0)), ("20 Nov", (0, 0, 0))], parts)
        == "No requests from 19 Nov to 20 Nov."
    )


def test_dots():
    bp = unit("bp")
    rows = [("USA", 38.0), ("JPN", 71.0), ("GBR", -12.0), ("CHE", None)]
    assert dots_caption("2s10s", rows, bp, 0) == (
        "2s10s is highest in JPN, at 71 bp, and lowest in GBR, at −12 bp. 1 of 3 is inverted. CHE has no data."
    )
    assert dots_caption("2s10s", [("CHE", None)], bp, 0) == NOTHING
    assert dots_caption("2s10s", [("USA", 38.0)], bp, 0) == "2s10s is 38 bp in USA."
