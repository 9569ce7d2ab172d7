"""Captures on their way in: arriving, parsed, grouped and ordered."""

from __future__ import annotations

import functools
import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import structlog

from almanac.domain.errors import UserError
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.times import wire_time
from almanac.pipeline.ingest.companies import reported_by, spoken_of
from almanac.pipeline.processes import Job
from almanac.sources import storable
from almanac.sources.base import Connector, Parsed, Payload, SourceChanged, connector
from almanac.store.engine.protocol import Queryable
from almanac.store.log import payloads
from almanac.store.raw.captures import Capture

log = structlog.get_logger("almanac.ingest")
#: Characters kept of an unforeseen error, whose text may repeat the payload.
_REASON = 300


class Arrival(NamedTuple):
    """A response on its way in. `fetched_at` None means now."""

    url: str
    body: bytes
    media_type: str
    fetched_at: int | None
    etag: str | None = None
    last_modified: str | None = None


class ClockBehindError(UserError, ValueError):
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


class ParsedPayload:
    """
    A capture and what reading it gave.

    A worker process may be reading it: it is waited for when the result is first asked for. Ask before a transaction
    begins, so that no lock is held meanwhile.
    """

    def __init__(self, capture: Capture, job: Job[Parsed] | None, refused: str | None = None) -> None:
        """`refused`: why the payload is quarantined without being read."""
        self.capture = capture
        self._job = job
        self._refused = refused

    @property
    def state(self) -> str:
        """Return `folded` if the payload is to be folded, else `ignored` or `quarantined`."""
        return self._result[0]

    @property
    def reason(self) -> str | None:
        """Return why the payload isn't folded."""
        return self._result[1]

    @property
    def parsed(self) -> Parsed | None:
        """Return the content if the payload is to be folded."""
        return self._result[2]

    @cached_property
    def _result(self) -> tuple[str, str | None, Parsed | None]:
        if self._job is None:
            return payloads.QUARANTINED, self._refused, None
        try:
            content = self._job.result()
        except SourceChanged as error:
            return payloads.QUARANTINED, str(error), None
        except Exception as error:  # a fault of the reader, whatever it is: it costs this payload, never the others
            log.exception("a response could not be read", source=self.capture.source, url=self.capture.url)
            return payloads.QUARANTINED, f"reader failed: {describe_error(error)}", None
        if content.ignored is not None:
            return payloads.IGNORED, content.ignored, None
        return payloads.FOLDED, None, content


def describe_error(error: Exception) -> str:
    """Return type and message of an unforeseen error, on one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= _REASON else text[:_REASON] + "…"


def describe_source(source: Source, series: dict[str, SeriesSpec]) -> bytes:
    """Serialise the context that `parse_described` needs for a source's payloads."""
    return pickle.dumps((source, series))


def parse_described(about: bytes, payload: Payload) -> Parsed:
    """Parse a payload of the source that `about` describes, in a worker process. Raises what `parse` raises."""
    source, series = _described(about)
    return parse(connector(source.connector), payload, source, series)


def parse(reader: Connector, payload: Payload, source: Source, series: Mapping[str, SeriesSpec]) -> Parsed:
    """Parse a payload and check that everything in it can be stored. Raises SourceChanged, and any fault of its reader."""
    return storable.check(reader.parse(payload, source, series))


@functools.lru_cache(maxsize=64)
def _described(about: bytes) -> tuple[Source, dict[str, SeriesSpec]]:
    described: tuple[Source, dict[str, SeriesSpec]] = pickle.loads(about)  # noqa: S301  (made by this program a moment ago)
    return described


class Window:
    """
    Captures that are being read, in groups of a limited number and size, to bound the memory they take.

    One group is read while the one before it is written, unless groups have one item.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._before: list[ParsedPayload] = []
        self._group: list[ParsedPayload] = []

    def holds(self, capture: Capture) -> bool:
        """Return whether a capture is being read."""
        return any(capture.id == payload.capture.id for payload in (*self._before, *self._group))

    def put(self, payload: ParsedPayload) -> list[ParsedPayload]:
        """Add a capture. Returns those to be written now, in order."""
        self._group.append(payload)
        self._bytes += payload.capture.bytes
        if len(self._group) < self._most and self._bytes < self._most_bytes:
            return []
        group, self._before = self._before, self._group
        self._group, self._bytes = [], 0
        if self._most == 1:
            group, self._before = self._before, []
        return group

    def rest(self) -> Iterator[list[ParsedPayload]]:
        """Yield all remaining groups, in order."""
        left = [self._before, self._group]
        self._before, self._group, self._bytes = [], [], 0
        yield from left


def mentions(several: Iterable[ParsedPayload]) -> Counter[str]:
    """Count, for each company, the captures that contain inputs of its statements."""
    return Counter(entity for each in several if each.parsed is not None for entity in reported_by(each.parsed))


def place(payload: ParsedPayload) -> int:
    """
    Return the sort key of a capture within its group: captures about companies come after all others, so that these
    stay together.

    Captures about a single company come first among them, because workers derive it while those that only name
    companies are written. Captures with inputs of several come last.
    """
    if payload.parsed is None or not about_companies(payload):
        return 0
    reported = len(reported_by(payload.parsed))
    return 1 if reported == 1 else 2 if not reported else 3


def about_companies(payload: ParsedPayload) -> bool:
    return payload.parsed is not None and bool(spoken_of(payload.parsed))
