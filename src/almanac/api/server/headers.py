"""Headers every answer may carry: rate limits, CORS, request id, data version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from math import ceil

from almanac.api.contract.errors import Header
from almanac.api.use.limits import Decision

WINDOW_SECONDS = 60
#: What a browser's script may read beyond the few headers it always may.
_EXPOSED = (
    b"x-request-id, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, x-ratelimit-policy, ratelimit, "
    b"ratelimit-policy, retry-after, x-data-version, x-history-from, etag, allow, www-authenticate"
)
_PREFLIGHT: list[Header] = [
    (b"access-control-allow-methods", b"GET, HEAD"),
    (b"access-control-allow-headers", b"x-api-key, authorization, accept, if-none-match, x-request-id"),
    (b"access-control-max-age", b"600"),
]


def _policy(plan: str, limit: int) -> tuple[Header, ...]:
    return (
        (b"x-ratelimit-limit", b"%d" % limit),
        (b"x-ratelimit-policy", f"{limit} per {WINDOW_SECONDS}s (plan {plan})".encode()),
        (b"ratelimit-policy", b'"minute";q=%d;w=%d' % (limit, WINDOW_SECONDS)),
    )


def _reset(reset_at: int) -> Header:
    return (b"x-ratelimit-reset", datetime.fromtimestamp(reset_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ").encode())


def limit_headers(plan: str, decision: Decision, now: float) -> tuple[Header, ...]:
    """State of the account's limit. `now` is real time, unix seconds.

    The last pair is draft-ietf-httpapi-ratelimit-headers: `t` seconds until the window ends, rounded up.
    """
    remaining = max(decision.remaining, 0)
    left = max(ceil(decision.reset_at - now), 0)
    return (
        *_policy(plan, decision.limit),
        (b"x-ratelimit-remaining", b"%d" % remaining),
        _reset(decision.reset_at),
        (b"ratelimit", b'"minute";r=%d;t=%d' % (remaining, left)),
    )


def is_any_preflight(method: str, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a browser asks whether a page of another origin may ask."""
    return method == "OPTIONS" and b"origin" in headers and b"access-control-request-method" in headers


class Cors:
    """Browsers' access for the origins of the settings; `*` lets any in. No origin, no headers."""

    def __init__(self, origins: Iterable[str]) -> None:
        self._origins = frozenset(origin.encode() for origin in origins)
        self._any = b"*" in self._origins

    @property
    def vary(self) -> bytes:
        """What to add to Vary: answers differ by origin only where origins are configured."""
        return b", origin" if self._origins else b""

    def headers(self, origin: bytes | None) -> tuple[Header, ...]:
        """For a normal answer."""
        if origin is None or not self._allows(origin):
            return ()
        return ((b"access-control-allow-origin", origin), (b"access-control-expose-headers", _EXPOSED))

    def is_preflight(self, method: str, headers: dict[bytes, bytes]) -> bool:
        """A preflight from a configured origin: the one request that needs no key."""
        return is_any_preflight(method, headers) and self._allows(headers[b"origin"])

    @property
    def preflight(self) -> list[Header]:
        """What a preflight is told beyond `headers`."""
        return _PREFLIGHT

    def _allows(self, origin: bytes) -> bool:
        return self._any or origin in self._origins
