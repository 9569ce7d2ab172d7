"""Who is asking: the key in the headers, a key where it must not be, and the address behind trusted proxies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec
from starlette.types import Scope

from almanac.api.contract.errors import refuse
from almanac.api.contract.keyshape import has_key, redact

#: Names of query parameters that would carry a key, compared without regard to case.
KEY_NAMES = frozenset(
    {
        "api_key",
        "apikey",
        "api-key",
        "x-api-key",
        "x_api_key",
        "key",
        "token",
        "access_token",
        "authorization",
        "auth",
        "bearer",
    }
)
_BROKEN_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")


class QueryString(msgspec.Struct, frozen=True):
    """A decoded query string. `broken` names the first parameter that is not strict UTF-8 percent-encoding."""

    pairs: list[tuple[str, str]]
    broken: str | None = None


def split_query(raw: bytes) -> QueryString:
    """Split at `&`, then at the first `=`, decoding both sides once. Empty pieces between ampersands are nothing."""
    if b"%" not in raw and b"+" not in raw and raw.isascii():
        return QueryString([piece.partition("=")[::2] for piece in raw.decode("ascii").split("&") if piece])
    pairs = []
    broken = None
    for piece in raw.split(b"&"):
        if not piece:
            continue
        name_bytes, _, value_bytes = piece.partition(b"=")
        name, fine = _decode(name_bytes)
        value, also_fine = _decode(value_bytes)
        if not (fine and also_fine) and broken is None:
            broken = name
        pairs.append((name, value))
    return QueryString(pairs, broken)


def _decode(raw: bytes) -> tuple[str, bool]:
    if b"%" not in raw and b"+" not in raw and raw.isascii():
        return raw.decode("ascii"), True
    plain = unquote_to_bytes(raw.replace(b"+", b" "))
    try:
        return plain.decode("utf-8"), _BROKEN_PERCENT.search(raw) is None
    except UnicodeDecodeError:
        return plain.decode("utf-8", "replace"), False


def key_in_query(pairs: Iterable[tuple[str, str]]) -> str | None:
    """Name of the first parameter that carries a key, redacted where the name itself is one; None if there is none."""
    for name, value in pairs:
        if name.lower() in KEY_NAMES or has_key(value) or has_key(name):
            return redact(name)
    return None


class Presented(msgspec.Struct, frozen=True):
    """The key text a request carries, or (text None) why there is none to verify."""

    text: str | None
    problem: str = ""


_MISSING = Presented(None, "no API key was sent; send it as `x-api-key: <key>` or `Authorization: Bearer <key>`")
_DIFFERENT = Presented(None, "x-api-key and Authorization carry different keys; send one key")


def presented_key(headers: Mapping[bytes, bytes]) -> Presented:
    """Read the key from `x-api-key` or `Authorization: Bearer` (the scheme in any case)."""
    direct = headers.get(b"x-api-key")
    authorization = headers.get(b"authorization")
    bearer = None
    if authorization is not None:
        scheme, _, rest = authorization.strip().partition(b" ")
        if scheme.lower() == b"bearer":
            bearer = rest.strip()
    if direct is None:
        return _MISSING if bearer is None else Presented(bearer.decode("latin-1"))
    direct = direct.strip()
    if bearer is not None and bearer != direct:
        return _DIFFERENT
    return Presented(direct.decode("latin-1"))


def read_headers(pairs: Sequence[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Headers by name; a repeated one is joined by commas, so a second key makes the first malformed."""
    headers = dict(pairs)
    if len(headers) != len(pairs):
        headers = {}
        for name, value in pairs:
            headers[name] = headers[name] + b", " + value if name in headers else value
    return headers


def one_host(scope: Scope) -> None:
    """
    Raise ApiError 400 for a request that says twice whom it is for, or under HTTP/1.1 not at all (RFC 9112, 3.2).

    Programs that take it for different requests would let one pass in the name of another.
    """
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if len(hosts) > 1 or (hosts and b"," in hosts[0]):
        raise refuse("host", "was sent more than once; send one Host header", code="repeated")
    if not any(hosts) and scope.get("http_version") == "1.1":
        raise refuse("host", "is missing; send a Host header", code="required")


class Addresses:
    """Tells the client's address from the peer and, where the peer is trusted, from X-Forwarded-For."""

    def __init__(self, trusted: Iterable[str]) -> None:
        """`trusted` are addresses or networks. Raises ValueError naming one that is neither."""
        self._trusted = [ip_network(text, strict=False) for text in trusted]

    def of(self, client: Any, forwarded: bytes | None) -> str:
        """The socket's peer, unless it is a trusted proxy: then the right-most untrusted address it forwards for."""
        address = str(client[0]) if client else "unknown"
        if forwarded is None or not self._trusted or not self._is_trusted(address):
            return address
        for hop in reversed(forwarded.decode("latin-1").split(",")):
            text = _bare(hop.strip())
            try:
                # One spelling per address, so that a client cannot count as many.
                address = str(ip_address(text))
            except ValueError:
                # Whoever wrote this is the last we can name: the hop that passed it on.
                return address
            if not self._is_trusted(address):
                return address
        return address

    def _is_trusted(self, text: str) -> bool:
        try:
            address = ip_address(text)
        except ValueError:
            return False
        return any(address in network for network in self._trusted)


def _bare(hop: str) -> str:
    """An address without port and brackets: `[::1]:80` and `10.0.0.1:80` as some proxies write them."""
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    host, _, port = hop.partition(":")
    return host if port.isdigit() and "." in host else hop
