"""Logging as JSON lines on stderr, with every text of the shape of a key blotted out."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from typing import BinaryIO

import msgspec
import structlog
from structlog.typing import EventDict, WrappedLogger

from almanac.api.auth import redact


def render(_logger: WrappedLogger, _method: str, event: EventDict) -> bytes:
    """Last processor: one JSON line, in which no key is left in any field, tracebacks and names included."""
    line = msgspec.json.encode(event, enc_hook=repr)
    return redact(line.decode()).encode() if b"alm_" in line else line


class Line(msgspec.Struct):
    """One request in the log, as structlog would write it at level info."""

    request_id: str
    client_request_id: str | None
    method: str
    path: str | None
    status: int
    ms: float
    account: str | None
    #: Prefix of the key, which is no secret.
    key: str | None
    event: str = "request"
    level: str = "info"
    timestamp: str = ""


#: What is written to a pipe in one go, and never mixed with another worker's lines (POSIX guarantees 512, Linux this).
_ATOMIC = 4_096


class _Access:
    """Where access lines go. They are by far the most frequent, so they pass structlog's processors by.

    Lines are held for up to `hold_seconds` and written together, whole lines at a time. For one thread.
    """

    def __init__(self) -> None:
        self.stream: BinaryIO | None = None
        self.hold_seconds = 0.0
        self._held: list[bytes] = []
        self._size = 0
        self._second = -1
        self._stamp = ""

    def __call__(self, line: Line) -> None:
        """Write one line."""
        if self.stream is not None:
            line.timestamp = self._now()
            text = _encode(line) + b"\n"
            # A key's prefix looks like the beginning of a key. One more such beginning, and there may be a whole one.
            if text.count(b"alm_") > (line.key is not None):
                text = redact(text.decode()).encode()
            if self._size + len(text) > _ATOMIC:
                self.flush()
            if not self._held and self.hold_seconds:
                asyncio.get_running_loop().call_later(self.hold_seconds, self.flush)
            self._held.append(text)
            self._size += len(text)
            if not self.hold_seconds:
                self.flush()

    def flush(self) -> None:
        """Write what is held."""
        if self._held and self.stream is not None:
            lines = b"".join(self._held)
            self._held.clear()
            self._size = 0
            self.stream.write(lines)
            self.stream.flush()

    def _now(self) -> str:
        second, microsecond = divmod(time.time_ns() // 1_000, 1_000_000)
        if second != self._second:
            self._second, self._stamp = second, time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second))
        return f"{self._stamp}{microsecond:06}Z"


_encode = msgspec.json.Encoder().encode

access = _Access()


def configure(level: str = "info", stream: BinaryIO | None = None, *, hold_seconds: float = 0.0) -> None:
    """Set up structlog for the process. Raises ValueError for a level that is none.

    `hold_seconds`: how long the line of a request may wait for others to be written with; it then needs a running
    event loop, and `access.flush` at the end.
    """
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        raise ValueError(f"log level must be one of debug, info, warning, error, critical, not {level!r}")
    access.flush()
    access.hold_seconds = hold_seconds
    access.stream = (stream or sys.stderr.buffer) if number <= logging.INFO else None
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.BytesLoggerFactory(stream or sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )
