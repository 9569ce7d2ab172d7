"""Over HTTP: each request under its own key, none without one, and only under the names that are allowed."""

import asyncio
import gc
import signal
import socket
import subprocess
import sys
import time

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from almanac_client import AsyncAlmanac
from almanac_mcp.caller import Callers, NoKeyError, key_of
from almanac_mcp.server import AlmanacServer
from almanac_mcp.transport import app

from .listening import listening

CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "almanac_series",
        "arguments": {"indicators": ["cpi_index"], "places": ["USA"], "start": "2020"},
    },
}
HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2025-06-18",
}


@pytest.fixture(scope="module")
def address(served):
    """The server for language models on a port, over the interface on another: as it is run."""
    with listening(served.app, "off") as behind:
        shared = AsyncAlmanac(url=f"http://127.0.0.1:{behind}", api_key="none", max_retries=0, pace=False)
        server = AlmanacServer(Callers(lambda: shared, own_key=False))
        with listening(app(server, ["tools.example"])) as port:
            yield f"http://127.0.0.1:{port}/mcp"


def post(address, body=CALL, **headers):
    return httpx2.post(address, json=body, headers={**HEADERS, **headers})


def text_of(answer):
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    return answer.json()["result"]["content"][0]["text"]


def test_no_key_is_401(address):
    answer = post(address)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="almanac"'
    assert answer.json()["error"]["code"] == "unauthorized"


def test_two_different_keys_are_401(address, served):
    answer = post(address, **{"x-api-key": served.keys["pro"], "authorization": f"Bearer {served.keys['free']}"})
    assert answer.status_code == 401
    assert "different keys" in answer.text


def test_two_keys_on_different_plans_get_what_their_plans_reach(address, served):
    free = text_of(post(address, **{"x-api-key": served.keys["free"]}))
    pro = text_of(post(address, authorization=f"Bearer {served.keys['pro']}"))
    assert "this key's plan reaches back to 2024-11-20" in free
    assert "2024-10," not in free
    assert "2020-01,109.07" in pro
    assert "reaches back" not in pro


def test_keys_of_callers_at_the_same_time_do_not_mix(address, served):
    async def ask(client, name):
        answer = await client.post(address, json=CALL, headers={**HEADERS, "x-api-key": served.keys[name]})
        return name, "2020-01,109.07" in text_of(answer)

    async def both():
        async with httpx2.AsyncClient() as client:
            return await asyncio.gather(*(ask(client, name) for name in ["free", "pro"] * 12))

    assert {(name, reaches) for name, reaches in asyncio.run(both())} == {("free", False), ("pro", True)}


def test_a_wrong_key_is_a_tools_error_and_not_repeated_in_it(address):
    wrong = "alm_0000000000000000000000000000000000000000"
    answer = post(address, authorization=f"Bearer {wrong}")
    assert answer.json()["result"]["isError"] is True
    assert "unauthorized" in text_of(answer)
    assert wrong not in answer.text


def test_another_host_is_421_and_a_named_one_is_not(address, served):
    key = {"x-api-key": served.keys["pro"]}
    assert post(address, host="evil.example", **key).status_code == 421
    assert post(address, host="tools.example", **key).status_code == 200
    assert post(address, host="tools.example:8443", **key).status_code == 200


def test_a_page_in_a_browser_is_refused(address, served):
    assert post(address, origin="https://evil.example", **{"x-api-key": served.keys["pro"]}).status_code == 403


def test_no_session_is_kept(address, served):
    answer = post(address, **{"x-api-key": served.keys["pro"]})
    assert "mcp-session-id" not in answer.headers


def test_a_long_body_is_refused(address, served):
    body = {**CALL, "params": {**CALL["params"], "padding": "x" * 300_000}}
    assert post(address, body, **{"x-api-key": served.keys["pro"]}).status_code == 413


def test_the_sdks_own_client(address, served):
    async def ask():
        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {served.keys['pro']}"}) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            tools = await client.list_tools()
            result = await client.call_tool("almanac_rates", {"scope": "USA"})
            read = await client.read_resource("almanac://indicator/cpi_index")
            return len(tools.tools), result.content[0].text, read.contents[0].text

    tools, rates, indicator = asyncio.run(ask())
    assert tools == 10
    assert "USA,2s10s,72,,[1]" in rates
    assert indicator.startswith("cpi_index: Consumer price index")


def test_nothing_is_kept_of_a_key(address, served):
    """After a call under a key, no client in memory is left that would ask with it."""
    wrong = "alm_111111111111111111111111111111111111KEPT"
    assert "unauthorized" in text_of(post(address, **{"x-api-key": wrong}))
    gc.collect()
    clients = [one for one in gc.get_objects() if isinstance(one, AsyncAlmanac)]
    assert clients != []
    assert [one for one in clients if one._core.options.key._text == wrong] == []


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({}, None),
        ({"x-api-key": "a"}, "a"),
        ({"authorization": "Bearer a"}, "a"),
        ({"authorization": "bearer  a "}, "a"),
        ({"authorization": "Basic a"}, None),
        ({"authorization": "Bearer"}, None),
        ({"authorization": "Bearer a", "x-api-key": "a"}, "a"),
    ],
)
def test_where_a_key_is_looked_for(headers, key):
    assert key_of(headers) == key


@pytest.mark.parametrize(
    "headers",
    [{"authorization": "Bearer a", "x-api-key": "b"}, {"x-api-key": "a b"}, {"x-api-key": "é"}, {"x-api-key": "a\x7f"}],
)
def test_what_is_no_key(headers):
    with pytest.raises(NoKeyError):
        key_of(headers)


def test_what_can_be_no_key_is_401(address):
    answer = post(address, **{"x-api-key": "a b"})
    assert answer.status_code == 401
    assert "characters that no key has" in answer.text


@pytest.mark.slow
def test_the_command_over_http(served):
    """The command in a process of its own, from its first answer to the signal that ends it."""
    with listening(served.app, "off") as behind, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        command = [sys.executable, "-W", "error", "-m", "almanac_mcp", "--url", f"http://127.0.0.1:{behind}"]
        with subprocess.Popen(
            [*command, "--http", f"127.0.0.1:{port}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            address = f"http://127.0.0.1:{port}/mcp"
            until = time.monotonic() + 60
            while True:
                assert process.poll() is None
                assert time.monotonic() < until, "it did not start"
                try:
                    assert post(address).status_code == 401
                    break
                except httpx2.TransportError:
                    time.sleep(0.1)
            assert "2020-01,109.07" in text_of(post(address, **{"x-api-key": served.keys["pro"]}))
            process.send_signal(signal.SIGTERM)
            out, said = process.communicate(timeout=20)
        assert (out, said) == ("", "")
