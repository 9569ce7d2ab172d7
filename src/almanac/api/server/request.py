"""One request as far as it is known, its id, and its reply."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from random import getrandbits
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


def new_id() -> bytes:
    """Return a request id, 30 characters: `req_` and a ULID (https://github.com/ulid/spec), unique and sorted by time."""
    now, high, low = time.time_ns() // 1_000_000, getrandbits(40), getrandbits(40)
    return b"".join((
        b"req_", _PAIRS[now >> 40 & 1023], _PAIRS[now >> 30 & 1023], _PAIRS[now >> 20 & 1023], _PAIRS[now >> 10 & 1023], _PAIRS[now & 1023],
        _PAIRS[high >> 30], _PAIRS[high >> 20 & 1023], _PAIRS[high >> 10 & 1023], _PAIRS[high & 1023],
        _PAIRS[low >> 30], _PAIRS[low >> 20 & 1023], _PAIRS[low >> 10 & 1023], _PAIRS[low & 1023],
    ))  # fmt: skip


class Reply(msgspec.Struct):
    """An answer but for the headers that every answer has. `parts`: what follows the body, which has no length then."""

    status: int
    headers: list[Header]
    body: bytes = b""
    parts: AsyncIterator[bytes] | None = None


class ClientRequest:
    """A request; each step of its way adds what it learns. Errors and the log line tell as much as is known."""

    def __init__(self, scope: Scope) -> None:
        self.id = new_id()
        self.method: str = scope["method"]
        self.target: str = scope["path"]
        #: The query, split at `&`, then at the first `=`, and then decoded, once. Empty pieces between ampersands are nothing.
        self.pairs: list[tuple[str, str]] = []
        #: The first name in it that is not strict UTF-8 percent-encoding, or whose value is not.
        self.broken: str | None = None
        raw: bytes = scope["query_string"]
        plain = raw.isascii() and b"%" not in raw and b"+" not in raw
        for piece in filter(None, raw.split(b"&")):
            key, _, word = piece.partition(b"=")
            if plain:
                self.pairs.append((key.decode("ascii"), word.decode("ascii")))
                continue
            (decoded, fine), (value, also_fine) = _decode(key), _decode(word)
            if not (fine and also_fine) and self.broken is None:
                self.broken = decoded
            self.pairs.append((decoded, value))
        self.client: Any = scope.get("client")
        self.http_version: str | None = scope.get("http_version")
        #: Headers by name; a repeated one is joined by commas, so a second key makes the first malformed.
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        if len(self.headers) != len(scope["headers"]):
            self.headers.clear()
            for name, content in scope["headers"]:
                self.headers[name] = self.headers[name] + b", " + content if name in self.headers else content
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


def _decode(raw: bytes) -> tuple[str, bool]:
    plain = unquote_to_bytes(raw.replace(b"+", b" "))
    try:
        return plain.decode("utf-8"), _BROKEN_PERCENT.search(raw) is None
    except UnicodeDecodeError:
        return plain.decode("utf-8", "replace"), False
