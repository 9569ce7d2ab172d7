"""How much asking is: requests, what their answers hold, and how long it takes at a publisher's pace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from almanac.sources.base import Limit, Request
from almanac.sources.reckoning import Size


class Workload(msgspec.Struct, frozen=True):
    """Requests with what they lead to, values and bytes of the answers as reckoned, and seconds between them, answers not counted."""

    requests: float = 0
    values: float = 0
    bytes: float = 0
    seconds: float = 0

    def times(self, factor: float) -> Workload:
        """So many times as much."""
        return Workload(self.requests * factor, self.values * factor, self.bytes * factor, self.seconds * factor)

    def rounded(self) -> Workload:
        """In whole numbers."""
        return Workload(round(self.requests), round(self.values), round(self.bytes), round(self.seconds))


def together(amounts: Iterable[Workload]) -> Workload:
    """All of them, one after the other."""
    found = list(amounts)
    return Workload(
        sum(one.requests for one in found),
        sum(one.values for one in found),
        sum(one.bytes for one in found),
        sum(one.seconds for one in found),
    )


def workload_of(
    asked: Sequence[Request], per_second: float, limit: Limit | None, *, only_news: bool = False
) -> Workload:
    """What these requests of one publisher come to, and those that their answers lead to; `only_news`: of those what is new."""
    sizes = [(1, one.size) for one in asked] + [led(one, only_news=only_news) for one in asked if one.leads is not None]
    count = sum(number for number, _ in sizes)
    return Workload(
        count,
        sum(number * size.values for number, size in sizes if size is not None),
        sum(number * size.bytes for number, size in sizes if size is not None),
        seconds_at(count, per_second, limit),
    )


def led(request: Request, *, only_news: bool) -> tuple[int, Size | None]:
    """How many requests an answer leads to, and how large each of their answers is."""
    count, size = request.leads or (0, None)
    return (request.news if only_news and request.news is not None else count), size


def seconds_at(count: int, per_second: float, limit: Limit | None) -> int:
    """How long so many requests take at a pace and within a publisher's limit, by their spacing alone."""
    if count < 2:
        return 0
    rate = per_second if limit is None or limit.per_second is None else min(per_second, limit.per_second)
    spans = [(count - 1) // most * seconds for most, seconds in (limit.budgets if limit else ())]
    return round(max((count - 1) / rate, *spans, 0.0))


def span(seconds: float) -> str:
    """A length of time in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


def volume(size: float) -> str:
    """A number of bytes in words."""
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= step:
            return f"{size / step:,.0f} {unit}" if size >= 10 * step else f"{size / step:,.1f} {unit}"
    return f"{size:,.0f} bytes"


def in_words(workload: Workload) -> str:
    """A workload in words."""
    return (
        f"{workload.requests:,.0f} requests, {workload.values:,.0f} values in {volume(workload.bytes)} at most,"
        f" about {span(workload.seconds)}"
    )
