"""Names of places and companies: codes are countries', tickers say so, and what one tool prints the next one takes."""

import re

import pytest

from almanac.domain.companies import company_id

#: Coldharbor Software, whose ticker is a country's code too.
HOMONYM = company_id(9_900_011)
FIVE = ["USA", "JPN", "DEU", "FRA", "ITA"]


@pytest.mark.parametrize("code", ["USA", "US", "usa", "iso3:USA", "country_usa"])
def test_a_code_of_a_country_is_the_country_however_many_are_asked(model, code):
    for places in ([code], [code, "JPN"], [code, *FIVE[1:]]):
        text = model.call("almanac_latest", places=places, indicators=["gov_yield_10y", "net_income"])
        assert "country_usa,gov_yield_10y," in text
        assert HOMONYM not in text


@pytest.mark.parametrize("name", ["ticker:USA", "TICKER: usa", "cik:9900011", HOMONYM])
def test_a_ticker_says_that_it_is_one(model, name):
    for places in ([name], [name, *FIVE]):
        text = model.call("almanac_latest", places=places, indicators=["net_income"])
        assert f"{HOMONYM},net_income," in text
    assert HOMONYM in model.call("almanac_company", company=name)


def test_where_only_a_company_can_be_meant_its_ticker_alone_will_do(model):
    assert HOMONYM in model.call("almanac_company", company="USA")


def test_what_a_tool_prints_the_next_tool_takes(model):
    screened = model.call("almanac_screen", universe="companies", filter="revenue_ttm:gt:0", limit=25)
    rows = [line.split(",") for line in screened.splitlines() if line.startswith("company_")]
    assert (HOMONYM, "ticker:USA") in [(row[0], row[1]) for row in rows]
    assert len(rows) > 5
    for company, ticker in ((row[0], row[1]) for row in rows):
        for name in (company, ticker):
            assert f"({company})" in model.call("almanac_series", indicators=["net_income"], places=[name], last=1)
    (marks,) = re.findall(rf"\({HOMONYM}, (\S+), cik (\d+)\)", model.call("almanac_company", company=HOMONYM))
    assert marks[0] == "ticker:USA"
    for line in model.call("almanac_screen", universe="countries", filter="gov_yield_10y:gt:0").splitlines():
        if re.match(r"[A-Z]{3},", line):
            assert "no value" not in model.call("almanac_latest", places=[line[:3]], indicators=["gov_yield_10y"])
    found = model.call("almanac_find", query="Coldharbor Software")
    (entity,) = re.findall(r"(?m)^(company_\d+),", found)
    assert entity == HOMONYM


def test_a_name_that_nobody_has_is_told_how_such_are_named(model):
    text = model.refused("almanac_latest", places=["Xyzzy Qwerty"], indicators=["cpi_index"])
    assert "nothing is close to it" in text
    assert (
        "places have ISO codes (DEU, DE), ids (country_deu) and names in the large languages (Germany, Allemagne, 日本)"
        in text
    )
    assert "tickers as ticker:AAPL" in text
    text = model.refused("almanac_company", company="Xyzzy Qwerty")
    assert "call almanac_find; companies have ids, CIKs, LEIs, names, and tickers as ticker:AAPL" in text


def test_a_place_without_a_curve_is_told_whose_curve_is_that_of_its_currency(model):
    text = model.refused("almanac_rates", scope="Germany")
    assert "Germany has no curve of its own here; its currency, EUR, has: EUR (Euro area)" in text
    assert "suggestion: EUR" in text
    assert "allowed: AUS, CAN, CHE, EUR, GBR, JPN, USA" in model.refused("almanac_rates", scope="Xyzzy")
    assert "not_found" in model.refused("almanac_rates", scope="Brazil")


@pytest.mark.parametrize("query", ["Xyzzy Qwerty", "日本国 何"])
def test_what_is_not_found_is_told_how_things_are_named(model, query):
    text = model.call("almanac_find", query=query)
    assert "nothing is close to this" in text
    assert "places have ISO codes (DEU, DE)" in text
    assert "tickers as ticker:AAPL" not in model.call("almanac_find", query=query, kind="place")


@pytest.mark.parametrize(
    ("name", "entity"), [("Allemagne", "country_deu"), ("日本", "country_jpn"), ("Vereinigte Staaten", "country_usa"), ("zone euro", "region_euro_area")]
)  # fmt: skip
def test_a_place_is_known_by_its_name_in_the_large_languages(model, name, entity):
    assert f"{entity}," in model.call("almanac_find", query=name, kind="place")
    text = model.call("almanac_latest", places=[name], indicators=["gov_yield_10y"])
    assert f"{entity},gov_yield_10y," in text or f"no value: gov_yield_10y in {entity}" in text


def test_every_number_of_a_screen_of_countries_has_its_day(model):
    text = model.call("almanac_screen", universe="countries", filter="gov_yield_10y:gt:0,gov_yield_2y:gt:0")
    head = next(line for line in text.splitlines() if line.startswith("id,"))
    assert head == "id,name,gov_yield_10y,period,gov_yield_2y,period,source"
    row = next(line.split(",") for line in text.splitlines() if line.startswith("USA,"))
    latest = model.call("almanac_latest", places=["USA"], indicators=["gov_yield_10y", "gov_yield_2y"])
    told = [line.split(",") for line in latest.splitlines() if line.startswith("country_usa,")]
    assert [(row[2], row[3]), (row[4], row[5])] == [(one[3], one[2]) for one in told]


def test_a_publishers_name_finds_its_indicator_before_others(model):
    found = model.call("almanac_find", query="fed funds", kind="indicator", limit=3)
    assert re.findall(r"(?m)^(\w+): .*\((?:raw|derived), ", found) == [
        "overnight_rate",
        "policy_rate_lower",
        "policy_rate_upper",
    ]
    assert "policy_rate_upper in country_usa" in model.call(
        "almanac_latest", places=["USA"], indicators=["Federal Funds Target Range - Upper Limit"]
    )
