"""Logging as JSON lines on stderr, with every text of the shape of a key blotted out."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from typing import BinaryIO

import msgspec
import structlog
from structlog.typing import EventDict, WrappedLogger

from almanac.api.auth import redact


def render(_logger: WrappedLogger, _method: str, event: EventDict) -> bytes:
    """Last processor: one JSON line, in which no key is left in any field, tracebacks and names included."""
    line = msgspec.json.encode(event, enc_hook=repr)
    return redact(line.decode()).encode() if b"alm_" in line else line


class _Access:
    """Where access lines go. They are by far the most frequent, so they pass structlog's processors by."""

    def __init__(self) -> None:
        self.stream: BinaryIO | None = None

    def __call__(self, **fields: object) -> None:
        """Write one access line; the same fields, in the same form, as a structlog line of level info."""
        if self.stream is not None:
            now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
            event = {**fields, "event": "request", "level": "info", "timestamp": now}
            self.stream.write(render(None, "info", event) + b"\n")
            self.stream.flush()


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
