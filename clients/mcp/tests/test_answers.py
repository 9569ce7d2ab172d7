"""Answers of the tools over the small simulated world, value by value."""

import json
import re

import pytest

from .conftest import Model
from .known import withheld_series, withheld_values
from .world import Served


def test_a_series_as_known_on_a_day(model):
    text = model.call("almanac_series", indicators=["cpi_index"], places=["USA"], last=3, as_of="2024-05-01")
    assert text == (
        "as known on 2024-05-01\n"
        "\n"
        "Consumer price index, cpi_index: United States (country_usa)\n"
        "index, monthly, SA, 2015=100 [1]\n"
        "period,value,observed,status\n"
        "2024-01,131.939,2024-02-14,initial\n"
        "2024-02,132.364,2024-03-14,initial\n"
        "2024-03,132.719,2024-04-15,initial\n"
        "older rows: end=2023-12-31\n"
        "\n"
        "[1] sandbox-fred, licence: Simulated, cite as: Simulated, not real data, ref obs_mmpqesa7jstali2qp7artb3p37"
    )


def test_the_older_rows_follow_where_the_answer_says(model):
    first = model.call("almanac_series", indicators=["cpi_index"], places=["USA"], last=3)
    end = re.search(r"older rows: end=(\S+)", first)[1]
    assert "2026-08,143.312" in first
    assert (
        model.call("almanac_series", indicators=["cpi_index"], places=["USA"], last=3, end=end)
        .splitlines()[7]
        .startswith("2026-07,")
    )


def test_what_the_budget_leaves_out_is_what_the_last_line_asks_for(model):
    asked = {
        "indicators": ["gov_yield_10y", "gov_yield_2y", "yield_slope_2s10s"],
        "places": ["USA", "JPN"],
        "last": 120,
    }
    text = model.call("almanac_series", **asked)
    assert len(text) <= 6000
    gone, start, end = re.fullmatch(r"left out (\d+) rows: start=(\S+), end=(\S+)", text.splitlines()[-1]).groups()
    rows = re.findall(r"(?m)^(\d{4}-\d\d-\d\d),", text)
    assert int(gone) + len(rows) > 500
    assert start < end
    again = model.call("almanac_series", indicators=["gov_yield_10y"], places=["USA"], start=start, end=end)
    assert max(re.findall(r"(?m)^(\d{4}-\d\d-\d\d),", again)) <= end < max(rows)


def test_withheld_rows_say_so_why_and_not_to_estimate(model):
    text = model.call("almanac_series", indicators=["consumer_confidence"], places=["USA"], last=2)
    assert "2026-10,withheld,2026-11-02,initial" in text
    assert "withheld: 2 rows, The simulated owner of these series allows no redistribution; do not estimate" in text
    latest = model.call("almanac_latest", places=["USA"], indicators=["consumer_confidence"])
    assert "country_usa,consumer_confidence,2026-10,withheld,points" in latest


def test_the_finest_frequency_is_taken_where_none_is_named(model):
    text = model.call("almanac_series", indicators=["net_income"], places=["boxwood-software-corp"], last=1)
    assert "usd, quarterly" in text
    assert "2026-Q3 (fiscal Q4 2026),9920000,2026-11-17,initial" in text
    text = model.call("almanac_series", indicators=["net_income"], places=["BOXS"], last=1, frequency="annual")
    assert "2025-10-01/2026-09-30 (fiscal 2026),38385000,2026-11-17,initial" in text


def test_latest_readings_in_the_order_asked_and_what_there_is_not(model):
    text = model.call("almanac_latest", places=["JPN", "USA"], indicators=["gov_yield_10y", "cpi_index"])
    lines = text.splitlines()
    assert lines[3].startswith("country_jpn,gov_yield_10y,2026-11-19,3.192,percent,2026-11-20,unknown,[1]")
    assert lines[4].startswith("country_usa,gov_yield_10y,2026-11-19,3.53,percent,2026-11-19,initial,[2]")
    assert "no value: cpi_index in country_jpn" in text


def test_many_places_are_looked_up_at_once(model):
    names = ["USA", "JP", "germany", "country_fra", "Italy", "EUR"]
    text = model.call("almanac_latest", places=names, indicators=["gov_yield_10y"])
    absent = "gov_yield_10y in country_deu, gov_yield_10y in country_fra, gov_yield_10y in country_ita"
    assert f"no value: {absent}, gov_yield_10y in region_euro_area" in text


def test_an_alias_of_an_indicator_is_exact(model):
    aliased = model.call("almanac_latest", places=["USA"], indicators=["inflation"])
    assert "country_usa,cpi_inflation_yoy,2026-10,2.71934838525" in aliased


def test_revisions_of_a_series_and_its_statistics(model):
    text = model.call("almanac_revisions", indicator="cpi_index", place="USA")
    assert "2025-04,137.719,2025-05-14,137.863,2026-02-16,0.104561,2" in text
    rows = [line.split(",") for line in text.splitlines() if re.match(r"20\d\d-\d\d,", line)]
    revisions = [100 * (float(row[3]) - float(row[1])) / float(row[1]) for row in rows]
    told = re.search(
        r"over 24 periods: mean revision (\S+), mean absolute revision (\S+), up (\d+), down (\d+), none (\d+)", text
    )
    assert float(told[1]) == pytest.approx(sum(revisions) / 24, rel=1e-4)
    assert float(told[2]) == pytest.approx(sum(map(abs, revisions)) / 24, rel=1e-4)
    assert [int(told[n]) for n in (3, 4, 5)] == [
        sum(one > 0 for one in revisions), sum(one < 0 for one in revisions), sum(one == 0 for one in revisions)
    ]  # fmt: skip


def test_revisions_as_of_a_day_see_only_what_was_known(model):
    text = model.call("almanac_revisions", indicator="cpi_index", place="USA", period="2024-06", as_of="2024-12-31")
    assert "2024-07-15,133.902,,initial" in text
    assert "133.874" not in text


def test_revisions_of_a_withheld_series_tell_nothing(model):
    text = model.call("almanac_revisions", indicator="consumer_confidence", place="USA")
    assert "mean revision" not in text
    assert "24 periods not counted" in text
    assert "do not estimate" in text


def test_statements_before_and_after_a_restatement(model):
    asked = {"company": "boxwood-software-corp", "view": "income", "periods": 3}
    before, after = model.call("almanac_company", **asked, as_of="2025-03-01"), model.call("almanac_company", **asked)
    assert "net_income,35655000,26466000,24338000" in before
    assert "net_income,38385000,39068000,31799000" in after
    assert "FY2024 to 2024-09-30: 10-K/A filed 2025-04-14" in after


def test_a_profile(model):
    text = model.call("almanac_company", company="BOXS")
    assert "Boxwood Software Corp (company_0009900006, ticker BOXS, cik 0009900006)" in text
    assert "revenue,237233000,usd,2026-09-30,2026-11-17" in text
    assert "piotroski_f,5,0 to 9" in text


def test_a_screen_counts_all_and_what_it_leaves_out(model):
    text = model.call("almanac_screen", universe="companies", filter="net_margin:gte:0.1", sort="-net_margin", limit=3)
    assert "11 matches of net_margin:gte:0.1" in text
    assert "shown 3 in the order of -net_margin, left out 8" in text
    values = [float(line.split(",")[3]) for line in text.splitlines() if line.startswith("company_")]
    assert values == sorted(values, reverse=True)
    assert values[0] == 0.215725488416
    assert "ref obs_" in text


def test_a_screen_of_a_withheld_field_finds_none(model):
    text = model.call("almanac_screen", universe="countries", filter="consumer_confidence:gt:0")
    assert "0 matches" in text


def test_rates_cite_every_yield(model):
    text = model.call("almanac_rates", scope="usa")
    assert "10y,3.53,2026-11-19,2026-11-19,par,semi_annual,[1]" in text
    assert "USA,2s10s,72,,[1]" in text
    assert "10y,JPN,3.192,33.8,2026-11-19,0," in text


def test_a_slope_that_is_excluded_says_why_and_which_days_its_legs_are_of(served):
    def aged(app):
        """The interface, where the two-year yield is of two months ago."""

        async def answer(scope, receive, send):
            async def change(message):
                if scope["path"].startswith("/rates/") and message["type"] == "http.response.body":
                    told = json.loads(message["body"])
                    slope = told["data"]["slopes"][0]
                    slope |= {"valueBp": None, "excluded": "stale"}
                    slope["legs"][0]["periodEnd"] = "2026-09-18T00:00:00Z"
                    message = {**message, "body": json.dumps(told).encode()}
                elif message["type"] == "http.response.start":
                    headers = [one for one in message["headers"] if one[0] != b"content-length"]
                    message = {**message, "headers": headers}
                await send(message)

            plain = [one for one in scope["headers"] if one[0] != b"accept-encoding"]
            await app({**scope, "headers": plain}, receive, change)

        return answer

    text = Model(Served(served.home, aged(served.app), served.keys)).call("almanac_rates", scope="USA")
    assert "USA,2s10s,,stale,[1]" in text
    assert "USA 2s10s: stale, its yields are of 2026-09-18 (2y) and 2026-11-19 (10y); do not estimate" in text
    assert "USA 5s30s: " not in text


def test_a_brief_has_its_readings_beside_its_words(model):
    text = model.call("almanac_brief", country="USA", as_of="2024-05-01")
    assert text.startswith("as known on 2024-05-01\nUnited States (USA), as of 2024-05-01\n")
    assert "cpi_inflation_yoy,4.81274975913,percent,2024-03-31,5.0132345577,-0.20048479857,,[1]" in text
    assert "consumer_confidence,withheld,points,2024-03-31,,,,[2]" in text


def test_the_calendar_in_the_order_of_time_and_how_it_goes_on(model):
    text = model.call("almanac_calendar", start="2026-10", end="2026-11", place="USA", limit=2)
    days = re.findall(r"(?m)^(2026-\d\d-\d\d)", text)
    assert days == sorted(days)
    start = re.search(r"more events follow: start=(\S+),", text)[1]
    assert start == days[-1]


def test_where_a_computed_number_comes_from(model):
    text = model.call("almanac_explain", observation="obs_vybtlprlj7yali3577brtjln77")
    assert "formula: 100·(x_t/x_{t−n} − 1), n = one year" in text
    assert "sandbox-fred:country_usa:cpi_index_nsa:M,2024-06,134.373,2024-07-15" in text
    published = model.call("almanac_explain", observation="obs_mmpqesa7jstali3577brt27wh7")
    assert re.search(r"fetched 2026-11-20T12:00:00Z, \d+ bytes, sha256 [0-9a-f]{64}", published)


def test_a_reference_of_any_answer_can_be_explained(model):
    text = model.call("almanac_brief", country="USA")
    references = re.findall(r"obs_\w+", text)
    assert len(references) >= 8
    for one in references[:3]:
        assert one in model.call("almanac_explain", observation=one)


def test_nothing_tells_of_the_bytes_a_withheld_value_was_read_from(model):
    reference = re.search(r"obs_\w+", model.call("almanac_latest", places=["USA"], indicators=["consumer_confidence"]))[
        0
    ]
    text = model.call("almanac_explain", observation=reference)
    assert "sha256" not in text
    assert "do not estimate" in text


def test_what_is_found(model):
    text = model.call("almanac_find", query="US consumer price inflation", limit=1)
    assert "cpi_inflation_yoy: Consumer price inflation (derived, inflation)" in text
    assert "unit percent; monthly; periods 2011-01-31 to 2026-10-31 in United States; vintagesFrom 2011-12-30" in text
    assert "country_usa,country,United States,US,exact" in text
    text = model.call("almanac_find", query="high yield spread", kind="indicator", limit=1)
    assert "values are withheld in 1 of 1 series" in text
    assert "nothing is close" in model.call("almanac_find", query="zzzzqqq")


def test_a_plan_with_a_window_says_how_far_it_reaches(free):
    text = free.call("almanac_series", indicators=["cpi_index"], places=["USA"], start="2020")
    assert "this key's plan reaches back to 2024-11-20" in text
    assert "2024-10," not in text
    assert "2024-11,135.936" in text
    refused = free.refused("almanac_series", indicators=["cpi_index"], places=["USA"], as_of="2020-01-01")
    assert refused.startswith("error: forbidden: ")


WITHHELD_CALLS = [
    (
        "almanac_series",
        {
            "indicators": "consumer_confidence,high_yield_spread,high_yield_spread_change_1m",
            "places": "USA",
            "last": 120,
        },
    ),
    (
        "almanac_latest",
        {"indicators": "consumer_confidence,high_yield_spread,high_yield_spread_change_1m", "places": "USA"},
    ),
    ("almanac_revisions", {"indicator": "consumer_confidence", "place": "USA"}),
    ("almanac_revisions", {"indicator": "high_yield_spread", "place": "USA", "period": "2026"}),
    ("almanac_find", {"query": "high yield spread", "limit": 10}),
    (
        "almanac_calendar",
        {"start": "2026-01", "end": "2026-12", "place": "USA", "indicator": "consumer_confidence", "limit": 25},
    ),
    ("almanac_screen", {"universe": "countries", "filter": "high_yield_spread:gt:0"}),
]


@pytest.mark.parametrize(("tool", "arguments"), WITHHELD_CALLS, ids=[tool for tool, _ in WITHHELD_CALLS])
def test_no_withheld_number_is_anywhere(model, served, tool, arguments):
    """Of what the store knows of withheld series, not one value stands in an answer about them."""
    text = model.call(tool, **arguments)
    shown = set(re.findall(r"(?<![\w.-])-?\d+\.\d+(?![\w.])", text))
    series = withheld_series(served.home)
    assert len(series) == 3
    for one in series:
        values = withheld_values(served.home, one)
        assert len(values) > 50
        assert shown & values == set()


def test_a_brief_tells_no_withheld_number(model, served):
    text = model.call("almanac_brief", country="USA")
    line = next(line for line in text.splitlines() if line.startswith("consumer_confidence,"))
    assert line == "consumer_confidence,withheld,points,2026-10-31,,,,[2]"
