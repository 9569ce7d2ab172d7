"""What the pages show: calls with their answers, files of settings, options of the command."""

import itertools
import json
import re
import tomllib

import pytest

from almanac_mcp.command import parser
from tests.support.paths import ROOT

PAGES = [ROOT / "docs/mcp.md", ROOT / "clients/mcp/README.md"]
_FENCE = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")


def blocks(page):
    return _FENCE.findall(page.read_text("utf-8"))


def shown_calls():
    found = []
    for page in PAGES:
        every = blocks(page)
        for (language, body), (after, answer) in itertools.pairwise(every):
            if (language, after) == ("json", "text"):
                call = json.loads(body)
                found.append((call["name"], call["arguments"], answer))
    return found


@pytest.mark.parametrize(("tool", "arguments", "answer"), shown_calls(), ids=[name for name, _, _ in shown_calls()])
def test_a_call_is_answered_as_shown(model, tool, arguments, answer):
    given = (model.refused if answer.startswith("error: ") else model.call)(tool, **arguments)
    pattern = ".*?".join(re.escape(part) for part in answer.strip().split("…"))
    assert re.fullmatch(pattern, given, re.DOTALL), given


def test_every_tool_is_shown(model):
    names = {one.name for one in model.ask(lambda client: client.list_tools()).tools}
    assert {name for name, _, _ in shown_calls()} == names


def test_files_of_settings_start_what_there_is():
    servers = []
    for page in PAGES:
        for language, body in blocks(page):
            told = json.loads(body) if language == "json" else tomllib.loads(body) if language == "toml" else {}
            for key in ("mcpServers", "servers", "mcp_servers"):
                servers += told.get(key, {}).values()
    assert len(servers) >= 4
    for one in servers:
        assert one.get("command") == "almanac-service-mcp" or one["url"].endswith("/mcp")
        assert set(one.get("env", {})) <= {"ALMANAC_URL", "ALMANAC_API_KEY", "ALMANAC_API_KEY_FILE"}
        assert set(one.get("headers", {})) <= {"Authorization"}


def test_commands_and_options_are_those_there_are():
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    options = {one.option_strings[-1] for one in parser()._actions} - {"--help", "--version"}
    assert {option for option in options if f"`{option}" not in text} == set()
    commands = [
        line.split()[1:]
        for page in PAGES
        for language, body in blocks(page)
        if language == "console"
        for line in body.splitlines()
        if line.startswith("almanac-service-mcp ")
    ]
    assert commands != []
    assert [parser().parse_args(words).http for words in commands] != []
