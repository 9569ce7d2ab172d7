"""An application in this process without a socket, so that only the cost of its answers is measured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from almanac.api.server.app import App
from almanac.applications import api
from almanac.config import load
from bench.data import environment

Header = tuple[bytes, bytes]


class Taken(NamedTuple):
    """One answer: seconds by the clock, CPU seconds of the whole process, status and body."""

    seconds: float
    cpu: float
    status: int
    body: bytes


class Inside:
    """One client of an ASGI application. Each request waits for the one before it."""

    def __init__(self, app: Any, headers: Sequence[Header] = ()) -> None:
        self.app = app
        self._headers = [(b"host", b"127.0.0.1"), *headers]
        self._loop = asyncio.new_event_loop()

    def ask(self, target: str) -> Taken:
        """Request a path with its query by GET."""
        began, before = time.perf_counter(), time.process_time()
        status, body = self._loop.run_until_complete(self._request(target))
        return Taken(time.perf_counter() - began, time.process_time() - before, status, body)

    def close(self) -> None:
        """Close the client's event loop."""
        self._loop.close()

    async def _request(self, target: str) -> tuple[int, bytes]:
        path, _, query = target.partition("?")
        scope = {
            "type": "http", "method": "GET", "http_version": "1.1", "path": path, "query_string": query.encode(),
            "headers": self._headers, "client": ("127.0.0.1", 1), "scheme": "http",
        }  # fmt: skip
        messages: list[Any] = []

        async def receive() -> dict[str, Any]:
            await asyncio.Event().wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            messages.append(message)

        await self.app(scope, receive, send)
        return messages[0]["status"], messages[1]["body"]


class Service:
    """The interface in this process, without page cache and request timeout, so that the full cost is visible."""

    def __init__(self, home: Path, key: str, **more: str) -> None:
        settings = {
            "ALMANAC_PAGE_CACHE_MIB": "0", "ALMANAC_REQUEST_SECONDS": "600", "ALMANAC_LOG_LEVEL": "critical", **more,
        }  # fmt: skip
        given = {name: value for name, value in environment(home, **settings).items() if name.startswith("ALMANAC_")}
        self.settings = load(given)
        self.app: App = api(self.settings)
        self.client = Inside(self.app, [(b"x-api-key", key.encode())])

    def cost(self, target: str, times: int) -> tuple[float, int]:
        """Return the lowest cost of a request in milliseconds of CPU of the whole process, and the answer's status."""
        taken = [self.client.ask(target) for _ in range(times)]
        return min((each.cpu * 1000, each.status) for each in taken)

    def body(self, target: str) -> Any:
        """Return the decoded answer of a request."""
        return msgspec.json.decode(self.client.ask(target).body)

    def close(self) -> None:
        """Close the client."""
        self.client.close()
