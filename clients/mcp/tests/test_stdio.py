"""Over standard input and output: the command in a process of its own, whose output is the wire and nothing else."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from almanac_mcp import __version__
from almanac_mcp.command import parser

from .listening import listening

COMMAND = [sys.executable, "-W", "error", "-m", "almanac_mcp"]


def environment(**more):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ALMANAC_", "COV_", "PYTEST_"))}
    return {**clean, "XDG_CONFIG_HOME": str(Path(__file__).parent / "no-such-folder"), **more}


def run(*arguments, **more):
    return subprocess.run(
        [*COMMAND, *arguments],
        env=environment(**more),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def test_a_models_client_over_a_process(served):
    with listening(served.app, "off") as port:
        given = {"ALMANAC_URL": f"http://127.0.0.1:{port}", "ALMANAC_API_KEY": served.keys["pro"]}
        server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment(**given))

        async def ask():
            async with Client(stdio_client(server)) as client:
                tools = await client.list_tools()
                result = await client.call_tool("almanac_latest", {"places": ["USA"], "indicators": ["cpi_index"]})
                return len(tools.tools), client.server_info.version, result.content[0].text

        tools, version, text = asyncio.run(ask())
    assert (tools, version) == (10, __version__)
    assert "country_usa,cpi_index,2026-10,143.987,index,2026-11-16,initial,[1]" in text


def test_every_line_of_its_output_is_of_the_protocol():
    """Whatever is asked, also what is wrong; the interface is not even there."""
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "almanac_rates", "arguments": {"scope": "USA"}}},
        {"jsonrpc": "2.0", "id": 3, "method": "no/such/method"},
        {"jsonrpc": "2.0", "id": 4, "method": "tools/list"},
    ]  # fmt: skip
    with subprocess.Popen(
        COMMAND, env=environment(ALMANAC_URL="http://127.0.0.1:1", ALMANAC_API_KEY="alm_secret"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert None not in (process.stdin, process.stdout, process.stderr)
        answers = {}
        for one in asked:
            process.stdin.write(json.dumps(one) + "\n")
            process.stdin.flush()
            if "id" in one:
                told = json.loads(process.stdout.readline())
                answers[told["id"]] = told
        process.stdin.close()
        rest, said = process.stdout.read(), process.stderr.read()
        assert process.wait(20) == 0
    assert rest == ""
    assert answers[1]["result"]["serverInfo"]["name"] == "almanac"
    assert "withheld" in answers[1]["result"]["instructions"]
    assert answers[2]["result"]["isError"] is True
    assert answers[3]["error"]["code"] == -32601
    assert len(answers[4]["result"]["tools"]) == 10
    assert len(json.dumps(answers[4], ensure_ascii=False, separators=(",", ":"))) <= 14_000
    assert "alm_secret" not in json.dumps(answers) + said


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        ((), {}, "there is no key. Give api_key=, or set ALMANAC_API_KEY"),
        (("--url", "http://data.example"), {"ALMANAC_API_KEY": "x"}, "is plain HTTP to another machine"),
        (("--http", "8002"), {}, "'8002' is not HOST:PORT, like 127.0.0.1:8002"),
        (("--http", "127.0.0.1:99999"), {}, "is not HOST:PORT"),
        (("--allow-host", "a.example"), {}, "--allow-host and --allow-origin go with --http"),
    ],
)
def test_what_is_wrong_is_said_at_once_and_not_on_the_wire(arguments, given, said):
    done = run(*arguments, **given)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_listeners():
    assert parser().parse_args(["--http", "[::1]:8002"]).http == ("::1", 8002)
    assert parser().parse_args(["--http", "0.0.0.0:0"]).http == ("0.0.0.0", 0)


@pytest.mark.slow
def test_a_cold_start_is_hardly_longer_than_that_of_the_sdk():
    """Clients give a server thirty seconds to start. Both in turn, so that what else the machine does falls on both."""
    ours = [sys.executable, "-c", "import almanac_mcp.server, almanac_mcp.command"]
    theirs = [sys.executable, "-c", "import mcp.server.mcpserver"]
    taken = {"ours": [], "theirs": []}
    for _ in range(3):
        for name, command in (("ours", ours), ("theirs", theirs)):
            before = time.perf_counter()
            subprocess.run(command, env=environment(), check=True)
            taken[name].append(time.perf_counter() - before)
    assert min(taken["ours"]) < 2 * min(taken["theirs"])


def test_it_ends_quietly_where_nobody_reads_its_answers():
    asked = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}
    )  # fmt: skip
    reading, writing = os.pipe()
    os.close(reading)
    running = subprocess.Popen(
        COMMAND, env=environment(ALMANAC_API_KEY="alm_none"), stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    os.close(writing)
    _, told = running.communicate(f"{asked}\n", timeout=60)
    assert (running.returncode, told) == (141, "")
