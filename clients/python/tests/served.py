"""A client of the service in this process: no socket, no server, the real application behind it."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2

from almanac_client import Almanac, AsyncAlmanac

BASE = "http://api.example"


class Bridge(httpx2.BaseTransport):
    """Answers a blocking client from an ASGI application, and remembers what was asked."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.asked: list[httpx2.Request] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        inner = httpx2.ASGITransport(self.app, client=("127.0.0.1", 5000))

        async def answer() -> httpx2.Response:
            response = await inner.handle_async_request(request)
            content = await response.aread()
            # The body is decoded by then: its coding is told no more.
            headers = [(name, value) for name, value in response.headers.multi_items() if name != "content-encoding"]
            return httpx2.Response(response.status_code, headers=headers, content=content)

        return asyncio.run(answer())


def client(service: Any, key: str = "pro", **options: Any) -> Almanac:
    """A client under the key of this name, over the application of a service; `asked` of its bridge says what it sent."""
    http = httpx2.Client(transport=Bridge(service.app))
    return Almanac(url=BASE, api_key=service.keys[key], insecure=True, http_client=http, **options)


def async_client(service: Any, key: str = "pro", **options: Any) -> AsyncAlmanac:
    """An awaited client under the key of this name, over the application of a service."""
    http = httpx2.AsyncClient(transport=httpx2.ASGITransport(service.app, client=("127.0.0.1", 5000)))
    return AsyncAlmanac(url=BASE, api_key=service.keys[key], insecure=True, http_client=http, **options)


def asked(almanac: Almanac) -> list[httpx2.Request]:
    """What a client of this module has sent so far."""
    bridge = almanac._core.driver.given._transport
    assert isinstance(bridge, Bridge)
    return bridge.asked
