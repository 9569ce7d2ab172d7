"""Bodies and headers of answers: envelopes, ETag, conditional requests, content coding.

A page is one join of bytes. ETag is weak: it speaks for the data an account sees, whatever the request id and coding.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import zstandard

from almanac.api.contract.errors import ApiError, Header, redact
from almanac.api.formats.forms import FORMS, Form

JSON = (b"content-type", b"application/json")
PLAIN = (b"content-type", b"text/plain; charset=utf-8")
CACHE_CONTROL = (b"cache-control", b"private, no-cache")
VARY = b"x-api-key, authorization, accept, accept-encoding"
#: Smaller bodies gain nothing from coding.
CODING_MIN_BYTES = 1024
_ZSTD_LEVEL = 3
_GZIP_LEVEL = 5
#: How zlib is told to write gzip.
_GZIP_BITS = 31

#: Forms by the names that `Accept` has for them; what stands for JSON there, and how well it names it.
_NAMED = 2
_FORMS = {form.media_type.encode(): form for form in FORMS}
_FOR_JSON = {b"application/json": _NAMED, b"application/*": 1, b"*/*": 0}

_encode = msgspec.json.Encoder(enc_hook=str).encode


def error_body(error: ApiError, request_id: bytes) -> bytes:
    """Return the error envelope; `details` is left out where there are none."""
    text = request_id.decode()
    inner: dict[str, Any] = {"code": error.code, "message": error.message, "request_id": text, "requestId": text}
    if error.details is not None:
        inner["details"] = error.details
    # Whatever a message repeats of a request: a key belongs in no answer, which caches and tools keep.
    return redact(_encode({"error": inner, "requestId": text}).decode()).encode()


def is_unchanged(asked: Mapping[bytes, bytes], headers: Sequence[Header]) -> bool:
    """
    Return whether the client has the answer of these headers, the first of which is its ETag.

    `If-None-Match` is compared weakly, as `*`, one tag, or a list of tags (RFC 9110, 13.1.2).
    """
    opaque = headers[0][1].removeprefix(b"W/")
    tags = asked.get(b"if-none-match", b"").split(b",")
    return any(tag.strip().removeprefix(b"W/") in {opaque, b"*"} for tag in tags)


def encode(body: bytes, accept_encoding: bytes) -> tuple[bytes, bytes | None]:
    """Return the body as the client likes it, and the name of the coding (None: as it was)."""
    if len(body) < CODING_MIN_BYTES:
        return body, None
    compress, coding = compressor(accept_encoding, len(body))
    return compress(body, True), coding


def compressor(accept_encoding: bytes | None, size: int = -1) -> tuple[Callable[[bytes, bool], bytes], bytes | None]:
    """
    Return what codes a body part by part, told whether one is the last, and the name of the coding (None: as it is).

    `size`: bytes of the body, where that is known. Equal bodies are equal when coded: gzip writes no time.
    """
    coding = None if accept_encoding is None else choose_coding(accept_encoding)
    if coding is None:
        return lambda part, _: part, None
    stream: Any = (
        zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compressobj(size)
        if coding == b"zstd"
        else zlib.compressobj(_GZIP_LEVEL, wbits=_GZIP_BITS)
    )

    def compress(part: bytes, last: bool) -> bytes:
        coded: bytes = stream.compress(part)
        return coded + stream.flush() if last else coded

    return compress, coding


def accepted_form(accept: bytes | None) -> Form | None:
    """
    Return the form that an `Accept` header likes best, None for JSON: also without one, and where it names none that there is.

    Of those it likes as well, what is named wins over a wildcard, then the first.
    """
    if accept is None or accept == b"*/*":
        return None
    best: tuple[float, int] = (0.0, 0)
    form: Form | None = None
    for name, weight in _weighed(accept):
        rank = (weight, _FOR_JSON.get(name, _NAMED))
        if (name in _FORMS or name in _FOR_JSON) and rank[0] > 0 and rank > best:
            best, form = rank, _FORMS.get(name)
    return form


def choose_coding(accept_encoding: bytes) -> bytes | None:
    """Return the best of zstd and gzip by q-value (ties: zstd), None where the client prefers or only takes plain bytes."""
    weights = dict(_weighed(accept_encoding))
    other = weights.get(b"*", 0.0)
    best, weight = None, weights.get(b"identity", 0.0)
    for coding in (b"gzip", b"zstd"):
        offered = weights.get(coding, other)
        if offered > 0 and offered >= weight:
            best, weight = coding, offered
    return best


def _weighed(header: bytes) -> Iterator[tuple[bytes, float]]:
    """Yield what a header accepts with its q-values: 1 where there is none, 0 where it is no number from 0 to 1."""
    for part in header.lower().split(b","):
        name, *parameters = part.split(b";")
        named = (parameter.partition(b"=") for parameter in parameters)
        try:
            weight = float(next((value for key, _, value in named if key.strip() == b"q"), b"1"))
        except ValueError:
            weight = 0.0
        yield name.strip(), weight if 0 <= weight <= 1 else 0.0
