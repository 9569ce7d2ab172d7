"""Logging as JSON lines on stderr, with every text of the shape of a key blotted out."""

from __future__ import annotations

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


class _Access:
    """Where access lines go. They are by far the most frequent, so they pass structlog's processors by."""

    def __init__(self) -> None:
        self.stream: BinaryIO | None = None
        self._second = -1
        self._stamp = ""

    def __call__(self, line: Line) -> None:
        """Write one line."""
        if self.stream is not None:
            line.timestamp = self._now()
            text = _encode(line) + b"\n"
            # A key's prefix looks like the beginning of a key. One more such beginning, and there may be a whole one.
            self.stream.write(redact(text.decode()).encode() if text.count(b"alm_") > (line.key is not None) else text)
            self.stream.flush()

    def _now(self) -> str:
        second, microsecond = divmod(time.time_ns() // 1_000, 1_000_000)
        if second != self._second:
            self._second, self._stamp = second, time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second))
        return f"{self._stamp}{microsecond:06}Z"


_encode = msgspec.json.Encoder().encode

access = _Access()


def configure(level: str = "info", stream: BinaryIO | None = None) -> None:
    """Set up structlog for the process. Raises ValueError for a level that is none."""
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        raise ValueError(f"log level must be one of debug, info, warning, error, critical, not {level!r}")
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
