"""What a model is told of the tools, and what it hears when a call is wrong."""

import json

import pytest

from almanac.domain.events import CATEGORIES
from almanac.domain.periods import Frequency

NAMES = [
    "almanac_find", "almanac_series", "almanac_latest", "almanac_revisions", "almanac_company", "almanac_screen",
    "almanac_rates", "almanac_brief", "almanac_calendar", "almanac_explain",
]  # fmt: skip


@pytest.fixture(scope="module")
def listed(model):
    return model.ask(lambda client: client.list_tools())


def test_ten_tools_in_fourteen_thousand_characters(listed):
    assert [one.name for one in listed.tools] == NAMES
    assert len(listed.model_dump_json(by_alias=True, exclude_unset=True)) <= 14_000


def test_all_of_them_read_only_and_in_text(listed):
    for one in listed.tools:
        assert one.output_schema is None
        assert (one.annotations.read_only_hint, one.annotations.destructive_hint) == (True, False)
        assert one.title
        assert 80 < len(one.description) < 600


def test_schemas_are_plain_and_closed(listed):
    for one in listed.tools:
        schema = one.input_schema
        assert schema["additionalProperties"] is False
        text = json.dumps(schema)
        assert [word for word in ("anyOf", "$ref", '"null"', '"title"') if word in text] == []
        assert {"type"} <= set.intersection(*[set(one) for one in schema["properties"].values()])


def test_choices_are_those_of_the_service(listed):
    schemas = {one.name: one.input_schema["properties"] for one in listed.tools}
    assert schemas["almanac_calendar"]["category"]["enum"] == list(CATEGORIES)
    assert set(schemas["almanac_series"]["frequency"]["enum"]) == {one.word for one in Frequency} - {"nine_months"}


def test_budgets_of_arguments(listed):
    schemas = {one.name: one.input_schema["properties"] for one in listed.tools}
    assert schemas["almanac_series"]["indicators"]["maxItems"] == 5
    assert schemas["almanac_series"]["places"]["maxItems"] == 10
    assert schemas["almanac_series"]["last"]["maximum"] == 120
    assert schemas["almanac_latest"]["places"]["maxItems"] == schemas["almanac_latest"]["indicators"]["maxItems"] == 20
    assert schemas["almanac_company"]["periods"] == {"type": "integer", "minimum": 1, "maximum": 8, "default": 4}
    assert schemas["almanac_find"]["limit"]["maximum"] == 10
    assert schemas["almanac_screen"]["limit"]["maximum"] == schemas["almanac_calendar"]["limit"]["maximum"] == 25


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("almanac_series", {"indicatrs": ["a"], "places": ["USA"]}, "error: 'indicatrs' is no parameter of almanac_series"),
        ("almanac_series", {"places": ["USA"]}, "error: 'indicators' is missing\nallowed: 1 to 5 names"),
        ("almanac_series", {"indicators": ["cpi_index"], "places": ["USA"], "last": 121}, "allowed: 1 to 120"),
        ("almanac_company", {"company": "BOXS", "view": "all"}, "allowed: profile, income, balance, cash_flow"),
        ("almanac_series", {"indicators": ["cpi_index"], "places": ["USA"], "as_of": "2030-01-01"}, "'as_of' lies in the future"),
        ("almanac_series", {"indicators": ["cpi_index"], "places": ["USA"], "start": "2024", "end": "2023"}, "'start' "),
        ("almanac_screen", {"universe": "countries", "filter": "cpi_index"}, "error: bad_request: 'filter'"),
        ("almanac_rates", {"scope": "FRA"}, "allowed: AUS, CAN, CHE, EUR, GBR, JPN, USA"),
        ("almanac_latest", {"places": ["Korea"], "indicators": ["cpi_index"]}, "country_kor (South Korea, country); country_prk"),
        ("almanac_brief", {"country": "boxwood-software-corp"}, "is not the exact id of a place"),
        ("almanac_company", {"company": "zzzz qqqq"}, "suggestion: call almanac_find"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_told_what_is_wrong_and_what_is_allowed(model, tool, arguments, said):
    text = model.refused(tool, **arguments)
    assert said in text
    assert text.startswith("error: ")
    assert "pydantic" not in text


def test_an_unknown_tool_is_an_error_that_lists_them(model):
    assert "allowed: almanac_find, almanac_series" in model.refused("almanac_serie")


def test_a_list_may_come_as_one_text(model):
    one = model.call("almanac_latest", places="USA, JPN", indicators="gov_yield_10y,cpi_index")
    assert one == model.call("almanac_latest", places=["USA", "JPN"], indicators=["gov_yield_10y", "cpi_index"])


def test_a_key_that_may_not_is_told_which_scope_it_lacks(served):
    from .conftest import Model

    text = Model(served, "macro").refused("almanac_brief", country="USA")
    assert "forbidden" in text
    assert "analytics:read" in text


def test_a_service_that_is_not_there(served, monkeypatch):
    import asyncio

    from mcp.client.client import Client

    from almanac_client import AsyncAlmanac
    from almanac_mcp.caller import Callers
    from almanac_mcp.server import AlmanacServer

    def nobody():
        return AsyncAlmanac(url="http://127.0.0.1:1", api_key="alm_secret", max_retries=0)

    async def ask():
        async with Client(AlmanacServer(Callers(nobody, own_key=True))) as client:
            return await client.call_tool("almanac_rates", {"scope": "USA"})

    result = asyncio.run(ask())
    assert result.is_error
    assert "cannot be reached" in result.content[0].text
    assert "try again later" in result.content[0].text
    assert "alm_secret" not in result.content[0].text


def test_a_fault_of_a_tool_is_no_traceback(served, monkeypatch, caplog):
    import asyncio

    from mcp.client.client import Client

    def broken(*_):
        raise ZeroDivisionError("alm_secret inside")

    monkeypatch.setattr("almanac_mcp.tools.rates.rates", broken)

    async def ask():
        async with Client(served.server()) as client:
            return await client.call_tool("almanac_rates", {"scope": "USA"})

    result = asyncio.run(ask())
    assert result.is_error
    assert result.content[0].text == "error: almanac_rates failed by a fault of its own; the same call will fail again"
    assert "a tool broke: almanac_rates" in caplog.text


def test_all_wrong_names_of_a_call_are_told_at_once(model):
    text = model.refused("almanac_series", indicators=["cpi_indx", "gdp_growth_yyo"], places=["Korea"])
    assert "'cpi_indx' is not the exact id of an indicator; candidates: cpi_index" in text
    assert "and 'gdp_growth_yyo' is not the exact id of an indicator; candidates: gdp_growth_yoy" in text
    assert "and 'Korea' is not the exact id of a place or company; candidates: country_kor" in text


def test_the_same_fault_of_several_requests_is_told_once(model):
    asked = {"indicators": ["cpi_index", "gov_yield_10y"], "places": ["USA", "JPN"], "as_of": "2030-01-01"}
    assert model.refused("almanac_series", **asked) == "error: bad_request: 'as_of' lies in the future"
