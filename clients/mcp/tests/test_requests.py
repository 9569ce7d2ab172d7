"""How many requests a call leads to, for each counts against the plan of whoever asks."""

import asyncio
import re

import pytest
from mcp.client.client import Client

from .conftest import Model
from .world import Served


class Counting:
    """The interface, with a count of what it was asked."""

    def __init__(self, app):
        self.app = app
        self.paths = []

    async def __call__(self, scope, receive, send):
        self.paths.append(scope["path"])
        await self.app(scope, receive, send)


@pytest.mark.parametrize(
    ("tool", "arguments", "most"),
    [
        ("almanac_rates", {"scope": "USA"}, 2),
        ("almanac_explain", {"observation": "obs_vybtlprlj7yali3577brtjln77"}, 1),
        ("almanac_calendar", {"start": "2026-11", "end": "2026-11"}, 1),
        ("almanac_latest", {"places": ["USA"], "indicators": ["cpi_index"]}, 2),
        ("almanac_series", {"indicators": ["cpi_index"], "places": ["USA"]}, 3),
        ("almanac_brief", {"country": "USA"}, 3),
        ("almanac_screen", {"universe": "companies", "filter": "net_margin:gt:0"}, 2),
        ("almanac_company", {"company": "BOXS", "view": "income"}, 3),
        ("almanac_revisions", {"indicator": "net_income", "place": "BOXS"}, 4),
        ("almanac_find", {"query": "cpi"}, 8),
        ("almanac_find", {"query": "growth of the economy of Japan and Korea", "limit": 10}, 30),
        (
            "almanac_series",
            {
                "indicators": ["cpi_index", "gov_yield_10y", "net_income", "revenue", "total_assets"],
                "places": ["USA", "JPN", "DEU", "FRA", "ITA", "GBR", "CHE", "CAN", "AUS", "EUR"],
            },
            70,
        ),
        (
            "almanac_latest",
            {"places": ["USA", "JPN", "DEU", "FRA", "ITA", "GBR", "CHE"], "indicators": ["cpi_index", "gov_yield_10y"]},
            2,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_call_leads_to_few_requests(served, tool, arguments, most):
    counting = Counting(served.app)

    async def ask():
        async with Client(served.server("pro", counting)) as client:
            return await client.call_tool(tool, arguments)

    assert not asyncio.run(ask()).is_error
    assert 1 <= len(counting.paths) <= most, counting.paths


def test_a_plan_that_is_used_up_is_told_with_when_to_call_again(home):
    served = Served.over(home, PLANS__PRO__REQUESTS_PER_MINUTE="2")
    text = Model(served).refused("almanac_series", indicators=["cpi_index"], places=["USA"])
    assert text.startswith("error: rate_limited: ")
    assert re.search(r"suggestion: call again in \d+ seconds", text)
