"""Latencies as a small histogram: adding two up is adding their counts, and a quantile is known to a part of a bucket."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

#: Upper bounds in seconds; one more bucket holds what took longer.
BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
BUCKETS = len(BOUNDS) + 1


def bucket(seconds: float) -> int:
    """Which bucket a latency falls into: the first whose bound it does not exceed."""
    return bisect_left(BOUNDS, seconds)


def quantile(counts: Sequence[int], share: float) -> float | None:
    """Seconds that this share of the requests did not exceed, as if they lay evenly in their bucket.

    None: there were no requests. What took longer than the last bound is told as the last bound.
    """
    total = sum(counts)
    if not total:
        return None
    wanted, below = share * total, 0
    for place, count in enumerate(counts):
        if count and below + count >= wanted:
            low = BOUNDS[place - 1] if place else 0.0
            high = BOUNDS[place] if place < len(BOUNDS) else low
            return min(low + (high - low) * (wanted - below) / count, high)  # rounding may lead past it
        below += count
    return BOUNDS[-1]
