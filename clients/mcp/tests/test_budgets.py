"""No answer is over its budget and no call breaks a tool, whatever is asked: arguments drawn at random, good and bad."""

import random
import re

import pytest

from almanac_mcp.text.answers import HARD
from tests.contract.conftest import built_whole, whole, worker_id

from .conftest import Model
from .world import Served

__all__ = ["built_whole", "whole", "worker_id"]

INDICATORS = [
    "cpi_index", "cpi_inflation_yoy", "gov_yield_2y", "gov_yield_10y", "yield_slope_2s10s", "real_gdp", "consumer_confidence",
    "high_yield_spread", "net_income", "revenue", "gdp_growth_yoy", "unemployment_rate", "policy_rate", "net_margin",
]  # fmt: skip
PLACES = ["USA", "JPN", "DEU", "EUR", "country_kor", "840", "france", "GBR", "CHE", "BRA", "IND", "ITA", "CAN", "AUS"]
COMPANIES = ["BOXS", "boxwood-software-corp", "company_0009900001", "SLAC", "0009900002"]
DAYS = ["2010", "2015-06", "2023-Q2", "2024-05-01", "2025-12-31", "2026-11-15"]
AS_OF = ["2016-01-01", "2024-05-01", "2025-12-31", "2026-11-15"]
FILTERS = [
    "cpi_inflation_yoy:gt:1", "gov_yield_10y:gt:0", "net_margin:gte:0", "revenue_ttm:gt:0,net_margin:gt:-1",
    "sector:eq:Technology", "piotroski_f:gte:0", "no:gt:1",
]  # fmt: skip
#: What a call may hold in the place of something good.
JUNK = [
    "",
    "soon",
    "2031-01-01",
    -1,
    10**9,
    ["x"] * 30,
    ["Korea"],
    "%_\\'\"",
    "é\n\n",
    "a,b",
    {"a": 1},
    "../coverage",
    "x" * 300,
    True,
]


def drawn(tool, chance):
    """Arguments of one call, most of them good."""
    some, maybe = chance.choice, lambda values: chance.choice([None, *values])

    def several(values, most):
        return chance.sample(values, chance.randint(1, min(most, len(values))))

    arguments = {
        "almanac_find": lambda: {
            "query": some([*INDICATORS, *PLACES, "US core inflation", "e", "growth of the economy of Japan and Korea", "yield"]),
            "kind": maybe(["any", "indicator", "place", "company"]), "limit": maybe([1, 10]),
        },
        "almanac_series": lambda: {
            "indicators": several(INDICATORS, 5), "places": several(PLACES, 10), "frequency": maybe(["monthly", "annual"]),
            "start": maybe(DAYS), "last": maybe([1, 60, 120]), "as_of": maybe(AS_OF),
        },
        "almanac_latest": lambda: {
            "places": several(PLACES, 20), "indicators": several(INDICATORS, 20), "as_of": maybe(AS_OF),
        },
        "almanac_revisions": lambda: {
            "indicator": some(INDICATORS), "place": some([*PLACES, *COMPANIES]), "period": maybe([*DAYS, "2023-10-01/2024-09-30"]),
            "as_of": maybe(AS_OF),
        },
        "almanac_company": lambda: {
            "company": some(COMPANIES), "view": some(["profile", "income", "balance", "cash_flow"]),
            "frequency": maybe(["annual", "quarterly"]), "periods": maybe([1, 8]),
        },
        "almanac_screen": lambda: {
            "universe": some(["countries", "companies"]), "filter": some(FILTERS), "limit": maybe([1, 25]), "as_of": maybe(AS_OF),
        },
        "almanac_rates": lambda: {"scope": some(["USA", "JPN", "eur", "FRA", "GBR", "japan"])},
        "almanac_brief": lambda: {"country": some(PLACES), "as_of": maybe(AS_OF)},
        "almanac_calendar": lambda: {
            "start": some(DAYS), "end": "2027", "place": maybe([*PLACES, *COMPANIES]), "indicator": maybe(INDICATORS),
            "category": maybe(["macro_release", "issuer_filing"]), "limit": maybe([1, 25]), "as_of": maybe(AS_OF),
        },
        "almanac_explain": lambda: {"observation": some(["obs_vybtlprlj7yali3577brtjln77", "obs_mmpqesa7jstali3577brt27wh7"])},
    }[tool]()  # fmt: skip
    given = {name: value for name, value in arguments.items() if value is not None}
    if chance.random() < 0.25:
        given[chance.choice(list(given))] = chance.choice(JUNK)
    return given


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
        assert "rate_limited" not in text
    return texts


@pytest.mark.parametrize("tool", TOOLS)
def test_four_random_calls(model, tool):
    hold(model, tool, f"{tool} quick", 4)


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
def test_fifty_random_calls_on_two_plans_over_the_whole_simulated_world(whole, tool):
    """Thirty-five countries, hundreds of companies: what is asked for at most is there."""
    served = Served(whole.home, whole.app, whole.keys)
    texts = [text for plan in ("pro", "free") for text in hold(Model(served, plan), tool, f"{tool} {plan}", 50)]
    assert sum(not text.startswith("error: ") for text in texts) >= 25
    assert any(text.startswith("error: ") for text in texts)
    for text in texts:
        for value in re.findall(
            r"(?m)^(?:country_usa,consumer_confidence|(?:country_\w+,)?high_yield_spread\w*),(?:\d[\w-]*,)?([^,]*),",
            text,
        ):
            assert value == "withheld"
