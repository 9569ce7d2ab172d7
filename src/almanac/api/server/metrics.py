"""What the interface counts. Labels are path templates, methods and statuses: never a key, an account or a query."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from prometheus_client import Counter, Histogram

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

REQUESTS = Counter("almanac_requests", "Answers sent.", ("path", "method", "status"))
LATENCY = Histogram("almanac_request_seconds", "Time from request to answer.", ("path",), buckets=_BUCKETS)
FAILURES = Counter("almanac_authentication_failures", "Requests refused for want of a good key.", ("reason",))
FAULTS = Counter("almanac_faults", "Answers that are our own fault.", ("kind",))
LIMITER_FALLBACKS = Counter("almanac_limiter_fallbacks", "Times local counters stood in for the shared limiter.")

#: Stands for every path and method outside the declared ones, so that labels stay few.
OTHER = "other"
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


@lru_cache(maxsize=4096)
def _children(path: str, method: str, status: int) -> tuple[Counter, Histogram]:
    return REQUESTS.labels(path, method if method in _METHODS else OTHER, str(status)), LATENCY.labels(path)


def observe(path: str, method: str, status: int, seconds: Sequence[float]) -> None:
    """Count answers that differ in nothing but how long they took."""
    requests, latency = _children(path, method if method in _METHODS else OTHER, status)
    requests.inc(len(seconds))
    for one in seconds:
        latency.observe(one)
