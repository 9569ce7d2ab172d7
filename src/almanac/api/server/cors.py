"""Cross-origin requests of browsers, for the origins of the settings (ALMANAC_CORS_ORIGINS)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from almanac.api.contract.errors import Header

#: What a browser's script may read beyond the few headers it always may.
_EXPOSED = (
    b"x-request-id, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, x-ratelimit-policy, ratelimit, "
    b"ratelimit-policy, retry-after, x-data-version, x-history-from, etag, allow, www-authenticate, "
    b"link, x-as-of, x-warnings, x-total-count, content-disposition"
)
_PREFLIGHT: list[Header] = [
    (b"access-control-allow-methods", b"GET, HEAD"),
    (b"access-control-allow-headers", b"x-api-key, authorization, accept, if-none-match, x-request-id"),
    (b"access-control-max-age", b"600"),
]


class Cors:
    """
    Access of browsers for some origins; `*` lets any in. No origin, no headers.

    Starlette's middleware answers preflights with 200, and those of other origins with 400 before any key is asked for; here they
    get 204, and others are refused like any request without a key.
    """

    def __init__(self, origins: Iterable[str]) -> None:
        self._origins = frozenset(origin.encode() for origin in origins)
        self._any = b"*" in self._origins

    @property
    def vary(self) -> bytes:
        """Return what to add to Vary: answers differ by origin only where origins are configured."""
        return b", origin" if self._origins else b""

    def headers(self, origin: bytes) -> tuple[Header, ...]:
        """Return the headers of an answer to a request from an origin."""
        if not self._allows(origin):
            return ()
        return ((b"access-control-allow-origin", origin), (b"access-control-expose-headers", _EXPOSED))

    def is_preflight(self, headers: Mapping[bytes, bytes]) -> bool:
        """Return whether an OPTIONS is a preflight from a configured origin: the one request that needs no key."""
        origin = headers.get(b"origin")
        return origin is not None and b"access-control-request-method" in headers and self._allows(origin)

    @property
    def preflight(self) -> list[Header]:
        """Return what a preflight is told beyond `headers`."""
        return _PREFLIGHT

    def _allows(self, origin: bytes) -> bool:
        return self._any or origin in self._origins
