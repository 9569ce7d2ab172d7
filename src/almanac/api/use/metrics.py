"""What the interface counts. Labels are path templates, methods and statuses: never a key, an account or a query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prometheus_client import Counter, Histogram

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

REQUESTS = Counter("almanac_requests", "Answers sent.", ("path", "method", "status"))
LATENCY = Histogram("almanac_request_seconds", "Time from request to answer.", ("path",), buckets=_BUCKETS)
FAILURES = Counter("almanac_authentication_failures", "Requests refused for want of a good key.", ("reason",))
FAULTS = Counter("almanac_faults", "Answers that are our own fault.", ("kind",))
HEAVY = Counter("almanac_heavy_requests", "Heavy requests that were begun.", ("path",))
HEAVY_REFUSALS = Counter(
    "almanac_heavy_refusals", "Heavy requests refused: the account had as many as it may.", ("path",)
)
SLOW = Counter("almanac_slow_requests", "Requests that took longer than ALMANAC_SLOW_SECONDS.", ("path",))
HUNG_UP = Counter("almanac_hung_up", "Requests whose client had gone before the answer was there.", ("path",))
USAGE_LOST = Counter("almanac_usage_lost", "Requests whose usage could not be written down.")
LIMITER_FALLBACKS = Counter("almanac_limiter_fallbacks", "Times a process counted for itself because Redis failed.")

PASSWORD_REFUSALS = Counter("almanac_password_refusals", "Passwords refused in the dashboard.", ("reason",))

# There from the beginning: a counter that comes into being with its first count shows no increase.
for _reason in ("missing", "malformed", "unknown"):
    FAILURES.labels(_reason)
for _kind in ("internal", "late", "storage"):
    FAULTS.labels(_kind)
for _reason in ("wrong", "wait", "disabled"):
    PASSWORD_REFUSALS.labels(_reason)

#: Stands for every path and method outside the declared ones, so that labels stay few.
OTHER = "other"
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


def begin(paths: Iterable[str]) -> None:
    """Have the counters of paths there from the beginning, as those above are."""
    for path in paths:
        for counter in (HEAVY, HEAVY_REFUSALS, HUNG_UP, SLOW):
            counter.labels(path)


def observe(path: str, method: str, status: int, seconds: Sequence[float]) -> None:
    """Count answers that differ in nothing but how long they took."""
    REQUESTS.labels(path, method if method in _METHODS else OTHER, str(status)).inc(len(seconds))
    latency = LATENCY.labels(path)
    for taken in seconds:
        latency.observe(taken)
