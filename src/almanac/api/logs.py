"""Logging as JSON lines on stderr, with every text of the shape of a key blotted out."""

from __future__ import annotations

import logging
import sys
from typing import Any, BinaryIO

import msgspec
import structlog
from structlog.typing import EventDict, WrappedLogger

from almanac.api.auth import redact


def redact_event(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Last processor before rendering: no key leaves in any field, tracebacks included."""
    return {name: _clean(value) for name, value in event.items()}


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {name: _clean(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(inner) for inner in value]
    return value


def _render(_logger: WrappedLogger, _method: str, event: EventDict) -> bytes:
    return msgspec.json.encode(event, enc_hook=repr)


def configure(level: str = "info", stream: BinaryIO | None = None) -> None:
    """Set up structlog for the process. Raises ValueError for a level that is none."""
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        raise ValueError(f"log level must be one of debug, info, warning, error, critical, not {level!r}")
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            redact_event,
            _render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.BytesLoggerFactory(stream or sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )
