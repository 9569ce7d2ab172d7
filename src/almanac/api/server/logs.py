"""Logging as JSON lines on stderr, with every text of the shape of a key blotted out."""

from __future__ import annotations

import logging
import logging.config
import re
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, BinaryIO
from urllib.parse import quote

import msgspec
import structlog
from msgspec import UNSET, UnsetType
from structlog.typing import EventDict, WrappedLogger

from almanac.api.contract.errors import redact
from almanac.domain.plain_text import escaped
from almanac.domain.times import cached_wire_time


def render(_logger: WrappedLogger, _method: str, event: EventDict) -> bytes:
    """Render an event as one JSON line without keys in any field, tracebacks and names included: structlog's last processor."""
    return _safe(msgspec.json.encode(event, enc_hook=repr))


def _safe(line: bytes, prefixes: int = 0) -> bytes:
    """Return a line as a terminal may read it, without a key. A key's prefix looks like the beginning of a key: so many may stand in it."""
    if not line.isascii():
        line = escaped(line.decode()).encode()
    return redact(line.decode()).encode() if line.count(b"alm_") > prefixes else line


#: Runs of letters and digits as long as any key of ours or of a publisher's: ids of ours are shorter.
_KEY_LIKE = re.compile(r"[0-9A-Za-z]{32,}")
_PATH_READ, _PATH_TOLD = 4_096, 200


def told_text(text: str, written: Callable[[str], str] = str) -> str:
    """Return a value that a client sent, for the log: what looks like a key blotted out, then written in some way, and cut."""
    shown = written(_KEY_LIKE.sub("[redacted]", redact(text[:_PATH_READ])))
    return shown if len(shown) <= _PATH_TOLD else f"{shown[:_PATH_TOLD]}..."


def told_path(path: str) -> str:
    """Return a client's path for the log, as `told_text` does, escaped as in an address."""
    return told_text(path, partial(quote, safe="/:@!$&'()*+,;=~[]", errors="replace"))


class AccessLine(msgspec.Struct):
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
    #: Of a 401, 403 or 429: from where it was asked, unless that is not to be kept.
    address: str | UnsetType = UNSET
    #: Of a 404: what was asked for.
    target: str | UnsetType = UNSET
    event: str = "request"
    level: str = "info"
    timestamp: str = ""


#: What is written to a pipe in one go, and never mixed with another worker's lines (POSIX guarantees 512, Linux this).
_ATOMIC = 4_096


class _Access:
    """Where access lines go. They are by far the most frequent, so they pass structlog's processors by."""

    stream: BinaryIO | None = None

    def write(self, lines: Iterable[tuple[int, AccessLine]]) -> None:
        """Write lines, each with its time (unix nanoseconds): several in one go, but whole ones.

        Raises what the stream raises, after all of them were tried.
        """
        if self.stream is None:
            return
        chunks = [b""]
        for at, line in lines:
            line.timestamp = _stamp(at)
            text = _safe(_encode(line), line.key is not None) + b"\n"
            if len(chunks[-1]) + len(text) > _ATOMIC:
                chunks.append(b"")
            chunks[-1] += text
        fault: OSError | None = None
        for chunk in filter(None, chunks):
            try:
                self.stream.write(chunk)
                # Each by itself: a buffer may be larger than what a pipe takes in one go.
                self.stream.flush()
            except OSError as error:
                fault = fault or error
        if fault is not None:
            raise fault


def _stamp(at: int) -> str:
    """Return a time in unix nanoseconds as lines have it: UTC, to the microsecond."""
    second, microsecond = divmod(at // 1_000, 1_000_000)
    return f"{cached_wire_time(second)[:-1]}.{microsecond:06}Z"


_encode = msgspec.json.Encoder().encode

access = _Access()


class RecordLine(logging.Formatter):
    """A record of a library's, or of the store's, as a line of ours."""

    def format(self, record: logging.LogRecord) -> str:
        event: EventDict = {
            "event": record.getMessage(),
            "logger": record.name.strip("_"),
            "level": record.levelname.lower(),
            "timestamp": _stamp(int(record.created * 1e9)),
        }
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        return render(None, "", event).decode()


def standard() -> dict[str, Any]:
    """Return what `logging` is to be told so that all of a service's lines are JSON on stderr: for its own, and its server's."""
    quiet = {"handlers": [], "level": "CRITICAL", "propagate": False}
    ours = {"handlers": ["stderr"], "level": "WARNING"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": RecordLine}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "stream": "ext://sys.stderr"}},
        "loggers": {"_granian": {**ours, "propagate": False}, "granian.access": quiet},
        "root": ours,
    }


def configure(level: str = "info", stream: BinaryIO | None = None) -> None:
    """Set up structlog for the process. Raises ValueError for a level that is none."""
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        raise ValueError(f"log level must be one of debug, info, warning, error, critical, not {level!r}")
    access.stream = (stream or sys.stderr.buffer) if number <= logging.INFO else None
    write_events(number, structlog.BytesLoggerFactory(stream or sys.stderr.buffer))


def write_events(number: int, factory: Callable[..., structlog.BytesLogger]) -> None:
    """Write events of this level and above as JSON lines, by the loggers that a factory makes."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=factory,
    )
