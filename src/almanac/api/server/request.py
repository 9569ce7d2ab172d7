"""One request as far as it is known, its id, and its reply."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec
from starlette.types import Scope

from almanac.api.contract.endpoint import Endpoint, Where
from almanac.api.contract.errors import Header
from almanac.api.formats.forms import Form
from almanac.api.use.limits import Decision
from almanac.store.accounts.records import KeyRecord
from almanac.store.engine.deadline import Deadline
from almanac.store.observations.reading.query import ScanStrategy

_ALPHABET = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#: Ten bits at a time.
_PAIRS = [bytes((high, low)) for high in _ALPHABET for low in _ALPHABET]
#: Ids that share a random part, and the pairs of digits they are numbered by.
_NUMBERED = 1 << 20
_RANDOM_BITS = range(50, -1, -10)


class RequestIds:
    """
    Makes request ids: `req_` and a ULID (https://github.com/ulid/spec), unique and sorted by time.

    Eighty fresh random bits per id take a tenth of the time of a kept page. So the random part is fresh once in a million ids
    and counted up between, as the specification has it for ids of one millisecond. Safe between threads and after a fork.
    """

    def __init__(self, clock_ns: Callable[[], int] = time.time_ns) -> None:
        self._clock_ns = clock_ns
        self._lock = threading.Lock()
        self._millisecond = -1
        self._time = self._random = b""
        self._number = 0
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._number = 0

    def __call__(self) -> bytes:
        """Return the next id, 30 characters."""
        with self._lock:
            millisecond = self._clock_ns() // 1_000_000
            if millisecond != self._millisecond:
                self._millisecond = millisecond
                self._time = b"req_%b%b%b%b%b" % (
                    _PAIRS[millisecond >> 40 & 1023],
                    _PAIRS[millisecond >> 30 & 1023],
                    _PAIRS[millisecond >> 20 & 1023],
                    _PAIRS[millisecond >> 10 & 1023],
                    _PAIRS[millisecond & 1023],
                )
            number = self._number
            if number == 0:
                bits = int.from_bytes(os.urandom(8), "big")
                self._random = b"".join([_PAIRS[bits >> shift & 1023] for shift in _RANDOM_BITS])
            self._number = (number + 1) % _NUMBERED
            return self._time + self._random + _PAIRS[number >> 10] + _PAIRS[number & 1023]


_next_id = RequestIds()


class Reply(msgspec.Struct):
    """An answer but for the headers that every answer has. `parts`: what follows the body, which has no length then."""

    status: int
    headers: list[Header]
    body: bytes = b""
    parts: AsyncIterator[bytes] | None = None


class ClientRequest:
    """A request; each step of its way adds what it learns. Errors and the log line tell as much as is known."""

    def __init__(self, scope: Scope) -> None:
        self.id = _next_id()
        self.method: str = scope["method"]
        self.target: str = scope["path"]
        #: The decoded query, and the first name in it that is not strict UTF-8 percent-encoding.
        self.pairs, self.broken = split_query(scope["query_string"])
        self.client: Any = scope.get("client")
        self.http_version: str | None = scope.get("http_version")
        #: Headers by name; a repeated one is joined by commas, so a second key makes the first malformed.
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        if len(self.headers) != len(scope["headers"]):
            self.headers.clear()
            for name, value in scope["headers"]:
                self.headers[name] = self.headers[name] + b", " + value if name in self.headers else value
        #: Whether the headers announce a body: under HTTP/1, the only one that is spoken, there is no other.
        self.announced = b"transfer-encoding" in self.headers or bool(
            self.headers.get(b"content-length", b"0").strip(b"0 ")
        )
        #: What stands in the braces of the path.
        self.path: dict[str, str] = {}
        self.endpoint: Endpoint | None = None
        #: Whether its path is that of a list with the ending of a form.
        self.is_twin = False
        #: The form of the answer; None: JSON.
        self.form: Form | None = None
        self.key: KeyRecord | None = None
        self.decision: Decision | None = None
        #: Where it was answered, and by when it had to be.
        self.where: Where = "loop"
        self.deadline: Deadline | None = None
        #: How the list of observations is read that answers it, where one was read.
        self.list_plan: ScanStrategy | None = None
        #: Data version the answer speaks of.
        self.version: int | None = None
        self.reply: Reply | None = None


_BROKEN_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def split_query(raw: bytes) -> tuple[list[tuple[str, str]], str | None]:
    """
    Split a query string at `&`, then at the first `=`, decoding both sides once. Empty pieces between ampersands are nothing.

    Return the pairs, and the first name that is not strict UTF-8 percent-encoding, or whose value is not.
    """
    pairs: list[tuple[str, str]] = []
    broken = None
    if raw.isascii() and b"%" not in raw and b"+" not in raw:
        for text in filter(None, raw.decode("ascii").split("&")):
            name, _, value = text.partition("=")
            pairs.append((name, value))
        return pairs, None
    for piece in filter(None, raw.split(b"&")):
        (name, fine), (value, also_fine) = map(_decode, piece.partition(b"=")[::2])
        if not (fine and also_fine) and broken is None:
            broken = name
        pairs.append((name, value))
    return pairs, broken


def _decode(raw: bytes) -> tuple[str, bool]:
    plain = unquote_to_bytes(raw.replace(b"+", b" "))
    try:
        return plain.decode("utf-8"), _BROKEN_PERCENT.search(raw) is None
    except UnicodeDecodeError:
        return plain.decode("utf-8", "replace"), False
