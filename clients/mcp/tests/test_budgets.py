"""No answer is over its budget and no call breaks a tool, whatever is asked: arguments drawn at random, good and bad."""

import random

import pytest

from almanac_mcp.text.answers import HARD

INDICATORS = [
    "cpi_index", "cpi_inflation_yoy", "gov_yield_2y", "gov_yield_10y", "yield_slope_2s10s", "real_gdp", "consumer_confidence",
    "high_yield_spread", "net_income", "revenue", "gdp_growth_yoy", "cpi_infaltion", "no_such", "revenue_ttm",
]  # fmt: skip
PLACES = ["USA", "JPN", "DEU", "EUR", "country_kor", "BOXS", "boxwood-software-corp", "Korea", "nowhere", "840", "ABES"]
DAYS = ["2010", "2015-06", "2023-Q2", "2024-05-01", "2025-12-31", "2026-11-20", "2031-01-01", "soon", ""]
FILTERS = [
    "cpi_inflation_yoy:gt:1", "net_margin:gte:0", "revenue_ttm:gt:0,net_margin:gt:-1", "sector:eq:Technology", "no:gt:1", "x",
    "piotroski_f:gte:0", 'industry:eq:"a,b"', "cpi_index:in:1|2",
]  # fmt: skip


def drawn(tool, chance):
    """Arguments of one call."""
    some, maybe = chance.choice, lambda values: chance.choice([None, *values])
    several = lambda values, most: chance.sample(values, chance.randint(1, min(most, len(values))))  # noqa: E731 - short
    arguments = {
        "almanac_find": lambda: {
            "query": some([*INDICATORS, *PLACES, "US core inflation", "e", "growth of the economy of Japan and Korea", "%_\\'\""]),
            "kind": maybe(["any", "indicator", "place", "company"]), "limit": maybe([1, 10, 11]),
        },
        "almanac_series": lambda: {
            "indicators": several(INDICATORS[:11], 5), "places": several(PLACES[:7], 8), "frequency": maybe(["monthly", "annual"]),
            "start": maybe(DAYS), "end": maybe(DAYS), "last": maybe([1, 60, 120]), "as_of": maybe(DAYS),
        },
        "almanac_latest": lambda: {"places": several(PLACES, 11), "indicators": several(INDICATORS, 14), "as_of": maybe(DAYS)},
        "almanac_revisions": lambda: {
            "indicator": some(INDICATORS), "place": some(PLACES), "period": maybe([*DAYS, "2023-10-01/2024-09-30"]),
            "as_of": maybe(DAYS),
        },
        "almanac_company": lambda: {
            "company": some([*PLACES, "company_0009900001", "SLAC"]), "view": maybe(["profile", "income", "balance", "cash_flow"]),
            "frequency": maybe(["annual", "quarterly"]), "periods": maybe([1, 8]), "as_of": maybe(DAYS),
        },
        "almanac_screen": lambda: {
            "universe": some(["countries", "companies"]), "filter": some(FILTERS), "sort": maybe(["-net_margin", "name", "z"]),
            "limit": maybe([1, 25]), "as_of": maybe(DAYS),
        },
        "almanac_rates": lambda: {"scope": some(["USA", "JPN", "eur", "FRA", "", "GBR", "japan"])},
        "almanac_brief": lambda: {"country": some(PLACES), "as_of": maybe(DAYS)},
        "almanac_calendar": lambda: {
            "start": some(DAYS), "end": some(DAYS), "place": maybe(PLACES), "indicator": maybe(INDICATORS),
            "category": maybe(["macro_release", "issuer_filing"]), "limit": maybe([1, 25]), "as_of": maybe(DAYS),
        },
        "almanac_explain": lambda: {"observation": some(["obs_auhrjgcfuyipkwmpiliuehvvav", "obs_", "../coverage", "é"])},
    }[tool]()  # fmt: skip
    return {name: value for name, value in arguments.items() if value is not None}


TOOLS = [
    "almanac_find", "almanac_series", "almanac_latest", "almanac_revisions", "almanac_company", "almanac_screen",
    "almanac_rates", "almanac_brief", "almanac_calendar", "almanac_explain",
]  # fmt: skip


def hold(model, tool, seed, times):
    chance = random.Random(seed)
    calls = [drawn(tool, chance) for _ in range(times)]

    async def ask(client):
        return [(await client.call_tool(tool, one)).content[0].text for one in calls]

    texts = model.ask(ask)
    for arguments, text in zip(calls, texts, strict=True):
        assert 0 < len(text) <= HARD, (tool, arguments)
        assert "fault of its own" not in text, (tool, arguments)
    return texts


@pytest.mark.parametrize("tool", TOOLS)
def test_four_random_calls(model, tool):
    hold(model, tool, f"{tool} quick", 4)


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
def test_fifty_random_calls(model, free, tool):
    texts = hold(model, tool, tool, 50) + hold(free, tool, f"{tool} on another plan", 50)
    assert any(not text.startswith("error: ") for text in texts)
    assert tool == "almanac_rates" or any(text.startswith("error: ") for text in texts)
