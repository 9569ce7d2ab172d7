"""What is offered beside the tools: resources, prompts and completion."""

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference


def read(model, uri):
    return model.ask(lambda client: client.read_resource(uri)).contents[0].text


def test_resources_are_listed(model):
    assert [one.uri for one in model.ask(lambda client: client.list_resources()).resources] == ["almanac://guide"]
    templates = model.ask(lambda client: client.list_resource_templates()).resource_templates
    assert [one.uri_template for one in templates] == ["almanac://indicator/{slug}", "almanac://source/{id}"]


def test_the_guide_names_every_tool(model):
    text = read(model, "almanac://guide")
    tools = model.ask(lambda client: client.list_tools()).tools
    assert [one.name for one in tools if one.name not in text] == []
    assert "Do not estimate" in text


def test_an_indicator(model):
    text = read(model, "almanac://indicator/cpi_inflation_yoy")
    assert "formula: 100·(x_t/x_{t−n} − 1), n = one year of cpi_index_nsa, cpi_index" in text
    assert "periods: 2011-01-31 to 2026-10-31" in text


def test_a_source(model):
    text = read(model, "almanac://source/sandbox-licensed")
    assert "values are withheld: The simulated owner of these series allows no redistribution.; do not estimate" in text
    assert "values are shown" in read(model, "almanac://source/sandbox-fred")


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("almanac://indicator/cpi_indx", "candidates: cpi_index (Consumer price index)"),
        ("almanac://source/sandbox-fre", "candidates: sandbox-fred"),
        ("almanac://source/none", "answers name sources in their footers"),
    ],
)
def test_what_is_not_there_is_an_error_with_candidates(model, uri, said):
    async def refused(client):
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        return str(caught.value)

    assert said in model.ask(refused)


def test_prompts(model):
    prompts = model.ask(lambda client: client.list_prompts()).prompts
    assert [one.name for one in prompts] == ["country_brief", "release_note", "company_check"]
    arguments = {
        "country_brief": {"country": "USA", "as_of": "2024-05-01"},
        "release_note": {"indicator": "cpi_inflation_yoy", "place": "USA"},
        "company_check": {"company": "BOXS"},
    }
    for name, given in arguments.items():
        text = model.ask(lambda client, name=name, given=given: client.get_prompt(name, given)).messages[0].content.text
        assert all(value in text for value in given.values())
        assert "withheld" in text
        assert "almanac_" in text


def complete(model, ref, argument, typed):
    return model.ask(lambda client: client.complete(ref, {"name": argument, "value": typed})).completion


@pytest.mark.parametrize(
    ("ref", "argument", "typed", "first"),
    [
        (PromptReference(name="country_brief"), "country", "us", "USA"),
        (PromptReference(name="country_brief"), "country", "germ", "DEU"),
        (PromptReference(name="release_note"), "indicator", "cpi_infl", "cpi_inflation_mom_annualized"),
        (PromptReference(name="company_check"), "company", "boxw", "BOXS"),
        (ResourceTemplateReference(uri="almanac://indicator/{slug}"), "slug", "sahm", "sahm_indicator"),
        (ResourceTemplateReference(uri="almanac://source/{id}"), "id", "sandbox-us", "sandbox-us-treasury-par"),
    ],
)
def test_completion(model, ref, argument, typed, first):
    assert complete(model, ref, argument, typed).values[0] == first


def test_completion_of_nothing_typed_stops_at_a_hundred(model):
    found = complete(model, PromptReference(name="country_brief"), "country", "")
    assert (len(found.values), found.has_more) == (100, True)
    assert found.total > 200


def test_completion_of_what_has_no_names(model):
    assert complete(model, PromptReference(name="country_brief"), "as_of", "20").values == []
