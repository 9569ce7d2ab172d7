"""One exchange: the request as far as it is known, and the reply."""

from __future__ import annotations

import asyncio
import contextlib

import msgspec
from starlette.types import Receive, Scope

from almanac.api.contract.endpoint import Endpoint
from almanac.api.contract.errors import Header
from almanac.api.server.auth import read_headers
from almanac.api.server.request_ids import RequestIds
from almanac.api.use.limits import Decision
from almanac.store.accounts.accounts import KeyRecord
from almanac.store.engine.deadline import Deadline
from almanac.store.observations.reading.plan import ReadingPlan

_next_id = RequestIds()


class Reply(msgspec.Struct):
    """An answer but for the headers that every answer has."""

    status: int
    headers: list[Header]
    body: bytes = b""


class ClientRequest:
    """What is learnt of one request on its way; errors and the log line tell as much as was known."""

    __slots__ = (
        "announced",
        "deadline",
        "decision",
        "endpoint",
        "headers",
        "heavy",
        "http1",
        "id",
        "key",
        "list_plan",
        "method",
        "path",
        "version",
    )  # fmt: skip

    def __init__(self, scope: Scope) -> None:
        self.id = _next_id()
        self.method: str = scope["method"]
        self.headers = headers = read_headers(scope["headers"])
        self.http1: bool = scope.get("http_version", "1.1").startswith("1")
        #: Whether the headers announce a body. Under HTTP/1 there is no other.
        self.announced = b"transfer-encoding" in headers or bool(headers.get(b"content-length", b"0").strip(b"0 "))
        self.path: dict[str, str] = {}
        self.endpoint: Endpoint | None = None
        self.key: KeyRecord | None = None
        self.decision: Decision | None = None
        #: Whether it is one of the heavy ones, and whose deadline it is answered for, once that is known.
        self.heavy = False
        self.deadline: Deadline | None = None
        #: How the list of observations is read that answers it, where one was read.
        self.list_plan: ReadingPlan | None = None
        #: Data version the answer speaks of.
        self.version: int | None = None


#: How long a body under HTTP/2 is waited for that nobody is to send.
_DRAIN_SECONDS = 1.0


async def has_body(receive: Receive) -> bool:
    """Whether a body comes that no header announced, as may be under HTTP/2; a stream that is left open counts as one."""
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            while True:
                message = await receive()
                if message.get("body"):
                    return True
                if not message.get("more_body", False):
                    return False
    except TimeoutError:
        return True


async def drain(receive: Receive) -> None:
    """Read away an announced body under HTTP/2, for a second at most.

    An answer that overtakes the body would end the stream with a reset, and the client would never see the answer.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while (await receive()).get("more_body", False):
                pass
