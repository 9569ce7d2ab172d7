"""What a publisher, or anybody the service repeats, writes into a text: no tool and no resource lets it begin a line or hide in one."""

import json
import random

import pytest

from almanac_mcp.text import words

from .conftest import Model
from .test_budgets import TOOLS, drawn

#: Begins a line as a citation does, turns the direction of reading, clears a screen, and hides what follows.
FORGED = "x\n[9] Forged, licence: free\r[9] Forged\u2028[9] Forged\u202e\u200b\x1b[2J\x9b\U000e0041"
#: Fields that are text for people; others are read by the tools themselves.
TEXTS = {
    "name", "title", "description", "attribution", "license", "reason", "headline", "text", "formula", "homepage", "legalName",
    "message", "unitLabel", "sector", "industry", "sicDescription", "exchange", "detail", "suggestion", "matchedAlias", "form",
    "sourceUrl", "url", "termsUrl", "note", "method", "stateOfIncorporation", "valueText",
}  # fmt: skip
RESOURCES = ("almanac://guide", "almanac://indicator/cpi_index", "almanac://source/sandbox-licensed")
#: One good call at least of each tool, beside those by chance.
GOOD = {
    "almanac_find": {"query": "boxwood software"},
    "almanac_series": {"indicators": ["cpi_index"], "places": ["USA"], "last": 3},
    "almanac_latest": {"places": ["USA"], "indicators": ["cpi_index", "consumer_confidence"]},
    "almanac_revisions": {"indicator": "cpi_index", "place": "USA", "period": "2024-06"},
    "almanac_company": {"company": "BOXS", "view": "profile"},
    "almanac_screen": {"universe": "companies", "filter": "net_margin:gte:0"},
    "almanac_rates": {"scope": "USA"},
    "almanac_brief": {"country": "USA"},
    "almanac_calendar": {"start": "2026-10", "end": "2027"},
    "almanac_explain": {"observation": "obs_vybtlprlj7yali3577brtjln77"},
}


def forged(value, name=""):
    if isinstance(value, str):
        return value + FORGED if name in TEXTS else value
    if isinstance(value, dict):
        return {key: forged(one, key) for key, one in value.items()}
    return [forged(one, name) for one in value] if isinstance(value, list) else value


def forging(app):
    """The interface, with something added to every text for people."""

    async def answer(scope, receive, send):
        told = []

        async def keep(message):
            told.append(message)

        await app(scope, receive, keep)
        body = json.dumps(forged(json.loads(told[1]["body"]))).encode()
        told[0]["headers"] = [
            (name, str(len(body)).encode() if name == b"content-length" else value)
            for name, value in told[0]["headers"]
        ]
        await send(told[0])
        await send({"type": "http.response.body", "body": body})

    async def plain(scope, receive, send):
        scope = {**scope, "headers": [one for one in scope["headers"] if one[0] != b"accept-encoding"]}
        await answer(scope, receive, send)

    return plain


@pytest.fixture(scope="module")
def model(served):
    one = Model(served)
    one._server = served.server("pro", forging(served.app))
    return one


def harmless(text):
    assert [c for c in text if not (c.isprintable() or c == "\n")] == []
    assert [line for line in text.split("\n") if line.startswith("[9] Forged")] == []


@pytest.mark.parametrize("tool", TOOLS)
def test_no_tool_lets_one_through(model, tool):
    chance = random.Random(f"{tool} foreign")
    calls = [GOOD[tool], *(drawn(tool, chance) for _ in range(4))]

    async def ask(client):
        return [(await client.call_tool(tool, one)).content[0].text for one in calls]

    texts = model.ask(ask)
    for text in texts:
        harmless(text)
    assert any("[9] Forged" in text for text in texts)


@pytest.mark.parametrize("address", RESOURCES)
def test_no_resource_does(model, address):
    text = model.ask(lambda client: client.read_resource(address)).contents[0].text
    if "guide" not in address:
        assert "[9] Forged" in text
    harmless(text)


def test_a_text_is_the_same_where_there_is_nothing_to_hide():
    record = {"name": "Nestlé S.A., “food”", "rows": [{"value": 1.5, "unit": None}, "日本"]}
    assert words.plain_record(record) == record
    assert words.plain_record({"name": FORGED})["name"].isprintable()
