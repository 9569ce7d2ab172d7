"""Captures on their way in: arriving, being read, grouped and ordered, and judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from almanac.domain.times import wire_time
from almanac.pipeline.ingest.companies import reported_by, spoken_of
from almanac.pipeline.processes import Job
from almanac.sources.base import Parsed
from almanac.store.engine.protocol import Queryable
from almanac.store.log import payloads
from almanac.store.raw.captures import Capture


class Arrival(NamedTuple):
    """A response on its way in. `fetched_at` None means now."""

    url: str
    body: bytes
    media_type: str
    fetched_at: int | None
    etag: str | None = None
    last_modified: str | None = None


class ClockBehindError(ValueError):
    """The clock is behind the store's newest data: an answer fetched now would be sorted before that and never be served."""


#: Tolerated difference, in seconds, between clocks of hosts that ask different sources for one store.
_APART = 3_600


def check_clock(db: Queryable, source: str, now: int) -> None:
    """Raise ClockBehindError if `now` lies before the newest capture of the source, or well before the newest of all."""
    of_source, of_all = payloads.newest(db, source)
    for newest, earliest in ((of_source, of_source), (of_all, None if of_all is None else of_all - _APART)):
        if newest is not None and earliest is not None and now < earliest:
            raise ClockBehindError(
                f"the clock says {wire_time(now)} and the newest capture of the store is of {wire_time(newest)}:"
                f" {source} is not asked until the clock is right"
            )


class BeingRead(NamedTuple):
    """A capture that is being read."""

    capture: Capture
    read: Job[Parsed]


class Judged(NamedTuple):
    """A capture that was read: `parsed` if it is to be folded, or else its state and the reason."""

    capture: Capture
    state: str
    reason: str | None = None
    parsed: Parsed | None = None


class Window:
    """
    Captures that are being read, in groups of a limited number and size, to bound the memory they take.

    One group is read while the one before it is written, unless groups have one item.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._before: list[BeingRead] = []
        self._group: list[BeingRead] = []

    def holds(self, capture: Capture) -> bool:
        """Return whether a capture is being read."""
        return any(capture.id == kept.capture.id for kept in (*self._before, *self._group))

    def put(self, kept: BeingRead) -> list[BeingRead]:
        """Add a capture. Returns those to be written now, in order."""
        self._group.append(kept)
        self._bytes += kept.capture.bytes
        if len(self._group) < self._most and self._bytes < self._most_bytes:
            return []
        found, self._before = self._before, self._group
        self._group, self._bytes = [], 0
        if self._most == 1:
            found, self._before = self._before, []
        return found

    def rest(self) -> Iterator[list[BeingRead]]:
        """Yield all remaining groups, in order."""
        left = [self._before, self._group]
        self._before, self._group, self._bytes = [], [], 0
        yield from left


def mentions(several: Iterable[Judged]) -> Counter[str]:
    """Count, for each company, the captures that contain inputs of its statements."""
    return Counter(entity for one in several if one.parsed is not None for entity in reported_by(one.parsed))


def place(judged: Judged) -> int:
    """
    Return the sort key of a capture within its group: captures about companies come after all others, so that these
    stay together.

    Captures about a single company come first among them, because workers derive it while those that only name
    companies are written. Captures with inputs of several come last.
    """
    if judged.parsed is None or not about_companies(judged):
        return 0
    reported = len(reported_by(judged.parsed))
    return 1 if reported == 1 else 2 if not reported else 3


def about_companies(judged: Judged) -> bool:
    return judged.parsed is not None and bool(spoken_of(judged.parsed))
