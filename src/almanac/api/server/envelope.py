"""Bodies and headers of answers: envelopes, ETag, conditional requests, content coding.

A page is one join of bytes. ETag is weak: it speaks for the data an account sees, whatever the request id and coding.
"""

from __future__ import annotations

import gzip
import hashlib
from typing import Any

import msgspec
import zstandard

from almanac.api.contract.endpoint import ListAnswer
from almanac.api.contract.errors import ApiError
from almanac.api.contract.keyshape import redact
from almanac.domain.times import DAY_SECONDS

JSON = (b"content-type", b"application/json")
PLAIN = (b"content-type", b"text/plain; charset=utf-8")
CACHE_CONTROL = (b"cache-control", b"private, no-cache")
VARY = b"x-api-key, authorization, accept, accept-encoding"
#: Smaller bodies gain nothing from coding.
CODING_MIN_BYTES = 1024
_ZSTD_LEVEL = 3
_GZIP_LEVEL = 5
_ETAG_BYTES = 16

_encode = msgspec.json.Encoder(enc_hook=str).encode


def list_body(
    page: ListAnswer,
    data: bytes,
    request_id: bytes,
    *,
    limit: int,
    cursor: str | None,
    following: str | None,
    warnings: bytes = b"",
) -> bytes:
    """
    Return the list envelope. `data` are the joined rows, `warnings` a JSON list or empty; cursors are base64url, so they need
    no escaping.
    """
    used = b"null" if cursor is None else b'"%b"' % cursor.encode()
    next_page = b'null,"has_more":false' if following is None else b'"%b","has_more":true' % following.encode()
    total = b',"total":%d' % page.total if page.total is not None else b""
    more = b',"warnings":' + warnings if warnings else b""
    pagination = b',"pagination":{"limit":%d,"cursor":%b,"next_cursor":%b%b}%b' % (limit, used, next_page, total, more)
    return b"".join((b'{"data":[', data, b"]", _meta(request_id, pagination)))


def item_body(data: bytes, request_id: bytes) -> bytes:
    """Return the single-object envelope."""
    return b"".join((b'{"data":', data, _meta(request_id)))


def _meta(request_id: bytes, more: bytes = b"") -> bytes:
    """Return what stands behind the data of an envelope."""
    return b',"meta":{"request_id":"%b","requestId":"%b","api_version":"v1"%b},"requestId":"%b"}' % (
        request_id, request_id, more, request_id,
    )  # fmt: skip


def error_body(error: ApiError, request_id: bytes) -> bytes:
    """Return the error envelope; `details` is left out where there are none."""
    text = request_id.decode()
    inner: dict[str, Any] = {"code": error.code, "message": error.message, "request_id": text, "requestId": text}
    if error.details is not None:
        inner["details"] = error.details
    # Whatever a message repeats of a request: a key belongs in no answer, which caches and tools keep.
    return redact(_encode({"error": inner, "requestId": text}).decode()).encode()


def page_etag(
    page: ListAnswer, data: bytes, warnings: bytes, *, limit: int, cursor: str | None, epoch: str, issued: int
) -> bytes:
    """
    Weak ETag over data, pagination and warnings: a 304 must not hide that something else is said of the question.

    `next_cursor` differs from second to second because it holds its time of issue, so what it leads to is hashed in
    its place: the key, the epoch, and the day of issue, lest a cached page be confirmed after its cursor has expired.
    """
    following = None if page.next_key is None else [page.next_key, issued // DAY_SECONDS]
    digest = hashlib.sha256(_encode([limit, cursor, page.total, epoch, following, warnings]))
    digest.update(data)
    return _weak(digest)


def body_etag(data: bytes) -> bytes:
    """Weak ETag over one object or text."""
    return _weak(hashlib.sha256(data))


def _weak(digest: hashlib._Hash) -> bytes:
    return b'W/"%s"' % digest.digest()[:_ETAG_BYTES].hex().encode()


def matches(if_none_match: bytes, etag: bytes) -> bool:
    """Weak comparison with `*`, one tag, or a list of tags (RFC 9110, 13.1.2)."""
    opaque = etag.removeprefix(b"W/")
    return any(tag.strip().removeprefix(b"W/") in {opaque, b"*"} for tag in if_none_match.split(b","))


def encode(body: bytes, accept_encoding: bytes | None) -> tuple[bytes, bytes | None]:
    """Return the body as the client likes it, and the name of the coding (None: as it was)."""
    if accept_encoding is None or len(body) < CODING_MIN_BYTES:
        return body, None
    coding = choose_coding(accept_encoding)
    if coding == b"zstd":
        # A compressor of its own: one must not be shared between threads, and heavy endpoints wrap their answers in theirs.
        return zstandard.compress(body, _ZSTD_LEVEL), coding
    if coding == b"gzip":
        # A fixed time keeps equal answers equal byte for byte.
        return gzip.compress(body, _GZIP_LEVEL, mtime=0), coding
    return body, None


def choose_coding(accept_encoding: bytes) -> bytes | None:
    """Return the best of zstd and gzip by q-value (ties: zstd), None where the client prefers or only takes plain bytes."""
    weights: dict[bytes, float] = {}
    for part in accept_encoding.lower().split(b","):
        name, _, parameters = part.partition(b";")
        weights[name.strip()] = _quality(parameters)
    other = weights.get(b"*", 0.0)
    best, weight = None, weights.get(b"identity", 0.0)
    for coding in (b"gzip", b"zstd"):
        offered = weights.get(coding, other)
        if offered > 0 and offered >= weight:
            best, weight = coding, offered
    return best


def _quality(parameters: bytes) -> float:
    name, _, value = parameters.strip().partition(b"=")
    if not name:
        return 1.0
    try:
        weight = float(value) if name.strip() == b"q" else 1.0
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= 1 else 0.0
