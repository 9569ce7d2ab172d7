"""An application in this process without a socket, so that only the cost of its answers is measured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

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
