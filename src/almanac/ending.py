"""The end of a service, told to all its processes before it comes: so that those before it send no more requests."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CLOSE = (b"connection", b"close")


class Ending:
    """Whether the service was told to end, as all its processes know at once. Made by their parent, before there are any."""

    def __init__(self) -> None:
        # Of shared memory, which a forked process has and a spawned one is given.
        self._said = multiprocessing.get_context("spawn").RawValue(ctypes.c_byte, 0)

    def say(self) -> None:
        """It was."""
        self._said.value = 1

    def __call__(self) -> bool:
        """Whether it was."""
        return bool(self._said.value)


def wants_no_wait(number: int) -> bool:
    """Whether a signal comes from somebody who sits before a terminal and waits for the end: an interrupt there."""
    try:
        return number == signal.SIGINT and os.isatty(0)
    except OSError:  # closed
        return False


def announcing(app: ASGIApp, ending: Ending) -> ASGIApp:
    """
    An application whose answers, once the service ends, ask clients to send what they have next over another connection:
    the server closes each behind its answer. HTTP/2 has words of its own for it, which the server says when it stops.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["http_version"].startswith("2"):
            await app(scope, receive, send)
            return

        async def announced(message: Message) -> None:
            if message["type"] == "http.response.start" and ending():
                message = {**message, "headers": [*message.get("headers", ()), _CLOSE]}
            await send(message)

        await app(scope, receive, announced)

    return answer
