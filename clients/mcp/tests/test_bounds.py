"""Periods as models write them, and which frequency is meant where there are several: what was known then says."""

import re

import pytest

PERIOD = re.compile(r"(?m)^(\d{4}[^,\n]*),(-?[\d.]+),(\d{4}-\d\d-\d\d),")


@pytest.mark.parametrize("start", ["2025-Q3", "Q3 2025", "2025Q3", "q3-2025", "2025 Q3", "2025-07", "2025-07-01"])
def test_a_quarter_is_understood_in_every_spelling(model, start):
    text = model.call("almanac_series", indicators=["cpi_index"], places=["USA"], start=start, end="2025-H2")
    assert [row[0] for row in PERIOD.findall(text)] == [f"2025-{month:02}" for month in range(7, 13)]
    events = model.call("almanac_calendar", start=start, end="2025-12", place="USA", limit=25)
    assert "2025-07" in events


@pytest.mark.parametrize("tool", ["almanac_series", "almanac_calendar"])
@pytest.mark.parametrize("start", ["last May", "2025-13", "0000", "FY2024-Q5", "20Q3"])
def test_what_is_no_period_is_told_every_form_there_is(model, tool, start):
    more = {"indicators": ["cpi_index"], "places": ["USA"]} if tool == "almanac_series" else {"end": "2025"}
    text = model.refused(tool, start=start, **more)
    assert text == (
        f"error: 'start' is '{start}', which is no day or period\n"
        "allowed: 2024, 2024-Q3 (Q3 2024, 2024Q3), 2024-H1, 2024-06, 2024-06-30; of a company FY2024, FY2024-Q3 (fiscal Q3 2024)"
    )


def test_a_fiscal_year_is_the_companys_own(model):
    asked = {"indicators": ["net_income"], "places": ["BOXS"], "start": "FY2024", "end": "fy 2024"}
    text = model.call("almanac_series", **asked, frequency="annual")
    assert [row[:2] for row in PERIOD.findall(text)] == [("2023-10-01/2024-09-30 (fiscal 2024)", "31799000")]
    assert "FY2024 of Boxwood Software Corp is 2023-10-01 to 2024-09-30" in text
    quarters = model.call("almanac_series", **asked, frequency="quarterly")
    assert [row[0] for row in PERIOD.findall(quarters)] == [
        "2023-Q4 (fiscal Q1 2024)", "2024-Q1 (fiscal Q2 2024)", "2024-Q2 (fiscal Q3 2024)", "2024-Q3 (fiscal Q4 2024)",
    ]  # fmt: skip
    states = model.call("almanac_revisions", indicator="net_income", place="BOXS", period="FY2024")
    assert "2023-10-01/2024-09-30 (fiscal 2024), annual" in states
    assert "quarterly" not in states
    assert "allowed: FY2013, FY2014" in model.refused("almanac_series", **{**asked, "start": "FY1999"})
    then = model.refused("almanac_series", **asked, as_of="2024-01-01")
    assert "Boxwood Software Corp has no statement of FY2024" in then


def test_of_a_place_a_fiscal_year_is_the_calendar_year_and_that_is_said(model):
    text = model.call("almanac_series", indicators=["cpi_index"], places=["USA"], start="FY2025", end="FY2025")
    assert len(PERIOD.findall(text)) == 12
    assert "FY2025 is taken by the calendar: only companies have fiscal years here" in text


@pytest.mark.parametrize("period", ["FY2024-Q3", "fiscal Q3 2024", "Q3 FY2024", "2024-Q2 (fiscal Q3 2024)"])
def test_a_fiscal_quarter_is_the_companys_own_and_what_is_printed_is_taken(model, period):
    asked = {"indicators": ["net_income"], "places": ["BOXS"], "frequency": "quarterly"}
    text = model.call("almanac_series", **asked, start=period, end=period)
    assert [row[0] for row in PERIOD.findall(text)] == ["2024-Q2 (fiscal Q3 2024)"]
    assert ("FY2024-Q3 of Boxwood Software Corp is 2024-04-01 to 2024-06-30" in text) == (not period.startswith("2024"))
    assert "2024-Q2 (fiscal Q3 2024), quarterly" in model.call(
        "almanac_revisions", indicator="net_income", place="BOXS", period=period
    )
    latest = model.call("almanac_latest", places=["BOXS", "USA"], indicators=["net_income", "cpi_index"])
    assert ",net_income,2026-Q3 (fiscal Q4 2026)," in latest
    assert ",cpi_index,2026-10," in latest


def test_the_days_of_a_companys_fiscal_year_bound_its_events(model):
    asked = {"place": "BOXS", "limit": 25}
    text = model.call("almanac_calendar", **asked, start="FY2025", end="FY2025")
    assert "FY2025 of Boxwood Software Corp is 2024-10-01 to 2025-09-30" in text
    days = re.findall(r"(?m)^(20\d\d-\d\d-\d\d)", text)
    assert days
    assert min(days) >= "2024-10-01"
    assert max(days) <= "2025-09-30"
    assert "is taken by the calendar" in model.call("almanac_calendar", place="USA", start="FY2025", end="FY2025")


def test_an_argument_that_is_missing_is_told_what_would_fit(model):
    assert model.refused("almanac_calendar", start="2026-11") == (
        "error: 'end' is missing\nsuggestion: Last day (2026-11-30), or month or year."
    )


@pytest.mark.parametrize("day", ["2016-06-01", "2018-06-01", "2020-06-01", "2023-01-31", "2024-06-01", "2026-11-01"])
def test_the_frequency_that_is_shown_is_one_that_was_known_then(model, day):
    """Every company here filed by years long before it filed by quarters."""
    for number in range(1, 13):
        company = f"company_{9_900_000 + number:010}"
        latest = model.call("almanac_latest", places=[company], indicators=["net_income"], as_of=day)
        (known,) = re.findall(rf"(?m)^{company},net_income,([^,]+),(-?\d+),", latest) or [None]
        text = model.call("almanac_series", indicators=["net_income"], places=[company], as_of=day, last=120)
        shown = [row[:2] for row in PERIOD.findall(text)]
        assert (known in shown) if known is not None and "quarterly" not in text else bool(shown) == bool(known)


def test_the_frequency_that_is_shown_is_one_of_the_periods_asked_for(model):
    text = model.call("almanac_series", indicators=["net_income"], places=["BOXS"], end="2020")
    assert "usd, annual" in text
    assert "also held: quarterly; ask with frequency=" in text
    revisions = model.call("almanac_revisions", indicator="net_income", place="BOXS", as_of="2019-01-01")
    assert "annual" in revisions
    assert "2017-10-01/2018-09-30" in revisions


def test_where_there_are_no_rows_it_is_told_what_there_is(model):
    text = model.call("almanac_series", indicators=["gov_yield_10y"], places=["USA"], end="1999")
    assert (
        "no rows are in what was asked for; held are: daily from 2023-01-02 to 2026-11-19 by sandbox-us-treasury-par"
        in text
    )
    text = model.call("almanac_series", indicators=["gov_yield_10y"], places=["Germany"])
    assert (
        "there is no series of gov_yield_10y for Germany (country_deu); it is held for country_jpn, country_usa" in text
    )
    text = model.call("almanac_series", indicators=["gov_yield_10y"], places=["USA"], as_of="2000-01-01")
    assert "known since 2023-01-02" in text
    text = model.call("almanac_series", indicators=["core_cpi_index"], places=["USA"])
    assert "near it there are for United States: " in text
    assert "cpi_index" in text
