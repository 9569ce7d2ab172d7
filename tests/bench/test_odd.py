"""The odd requests: of each operation every parameter and part of the path, as long as they may be and longer; and who is held up."""

import asyncio
from urllib.parse import parse_qsl

import pytest

from almanac.dashboard.site import pages
from bench.odd import NAMES, AppInProcess, Asked, of_endpoint, of_page
from tests.contract.declared import ENDPOINTS


@pytest.mark.parametrize("path", sorted(ENDPOINTS))
def test_every_parameter_is_asked_for_at_its_length_and_beyond(path):
    endpoint = ENDPOINTS[path]
    lengths = {}
    for one in of_endpoint(endpoint):
        assert len(one.target) < 200_000
        for name, text in parse_qsl(one.target.partition("?")[2], keep_blank_values=True):
            lengths.setdefault(name, set()).add(len(text))
    for name, param in endpoint.by_name.items():
        assert any(param.longest - 20 <= length <= param.longest for length in lengths[name])
        assert max(lengths[name]) > param.longest


def test_every_page_is_asked_with_every_name_that_any_page_reads():
    assert {"as_of", "from", "to", "filter", "cursor", "page", "q"} <= set(NAMES)
    page = next(one for one in pages() if one.path == "/calendar")
    assert set(NAMES) == {name for one in of_page(page) for name, _ in parse_qsl(one.target.partition("?")[2])}


def test_what_holds_the_loop_is_told_from_what_waits():
    async def app(scope, receive, send):
        if scope["path"] == "/busy":
            sum(range(3_000_000))
        else:
            await asyncio.sleep(0.05)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    beside = AppInProcess(app)
    busy, waiting = (min(beside.ask(Asked(path)) for _ in range(3)) for path in ("/busy", "/waits"))
    beside.close()
    assert busy.status == waiting.status == 200
    assert busy.held > 0.5 * busy.cpu
    assert busy.held > 2 * waiting.held
