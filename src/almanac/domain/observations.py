"""
Observations and their vintages: the values that payloads report and those that are served.

`settle` turns everything ever stated of one cell of a series into its served vintages. It depends only on the reported
values and their order of arrival, so the store can be rebuilt and reordered at will.
"""

from __future__ import annotations

import functools
import math
import struct
import zlib
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from almanac.domain.periods import days_of
from almanac.domain.times import DAY_SECONDS, midnight

#: Flags of a reported value and of a vintage.
FINAL = 1  # the source says this value will not change again
UNKNOWN = 2  # the source cannot say when this value was first published (a backfill, a snapshot)
DAY = 4  # the release time is a date, not an instant
INITIAL = 8  # served as the first release
REVISED = 16  # served as a later, different state
FORECAST = 32  # the period starts after the value was known
WARNED = 64  # a check of what it was computed from does not hold
FAILED = 128  # a grave one does not: it is no value for a screen, a score or a further formula
QUALITY = WARNED | FAILED
PROJECTION = 256  # the publisher calls the value a projection, or it was computed from one
#: Flags of values about the future, which are no latest readings and take no part in comparisons.
AHEAD = FORECAST | PROJECTION
#: Flags stated by a source or formula. The others follow from a vintage's position.
STATED = FINAL | UNKNOWN | DAY | QUALITY | PROJECTION
#: Flags that are part of the compared state.
COMPARED = FINAL | QUALITY | PROJECTION


class Marks(msgspec.Struct, frozen=True, rename="camel"):
    """The publisher's remarks that are part of a value's state: flags, and the base year or price basis it counts in."""

    flags: tuple[str, ...] = ()
    basis: str | None = None
    price_basis: str | None = None

    @property
    def base(self) -> tuple[str | None, str | None]:
        return self.basis, self.price_basis


_MARK_KEYS = tuple(f'"{key}":' for key in Marks.__struct_encode_fields__)


def marks_of(note: str | None) -> Marks | None:
    """Return the marks in a note, or None if it has none."""
    if note is None or not any(key in note for key in _MARK_KEYS):
        return None
    return _marks(note)


@functools.lru_cache(maxsize=4_096)
def _marks(note: str) -> Marks | None:
    found = msgspec.json.decode(note, type=Marks)
    return found if found != Marks() else None


class ReportedValue(NamedTuple):
    """One payload's statement about one cell: a number, a text, or (both None) that there is no value any more."""

    period: int
    value: float | None
    #: Unix seconds when it could first be known; None: the time of the fetch.
    known: int | None = None
    released: int | None = None
    flags: int = 0
    text: str | None = None
    #: `known` and `released` hold only for the cell's first vintage (a documented publication time);
    #: a later state is known from its capture.
    first_only: bool = False
    #: A small JSON object of row-level metadata, its keys sorted.
    note: str | None = None


class Vintage(NamedTuple):
    """One published state of one cell of one series."""

    known: int
    value: float | None
    text: str | None
    flags: int
    released: int | None
    ingested: int
    payload: int
    note: str | None = None
    #: Set of input series, if a derived vintage has its own lineage (0: the series').
    lineage: int = 0

    @property
    def withdrawn(self) -> bool:
        return self.value is None and self.text is None

    @property
    def state(self) -> State:
        """
        The part that is compared between vintages: value and text, `FINAL`, quality, projection and the publisher's
        marks.
        """
        return (self.value, self.text, self.flags & COMPARED, marks_of(self.note))


class InputCell(NamedTuple):
    """One input cell of a value: series id, period key, and its vintage as known then."""

    series: str
    period: int
    vintage: Vintage


class Recomputed(NamedTuple):
    """A derived value recomputed from its inputs as known at its knowledge time."""

    value: float | None
    text: str | None
    inputs: list[InputCell]


State = tuple[float | None, str | None, int, Marks | None]
_NOTHING: State = (None, None, 0, None)


def settle(stated: Iterable[Vintage], period: int, allowance_days: int) -> list[Vintage]:
    """
    Return the served vintages of one cell, ascending by knowledge time.

    `stated` comes in order of arrival. Of several values with one knowledge time the last counts; if it equals the
    value before, the first keeps its payload and ingestion time, and takes over a release time if it had none. Of equal
    consecutive vintages only the earliest is served, and a withdrawal before any value is dropped. A vintage that
    differs from the one before only in quality, marks or projection keeps that one's revision status.
    """
    winners: dict[int, Vintage] = {}
    for vintage in stated:
        held = winners.get(vintage.known)
        if held is None or held.state != vintage.state:
            winners[vintage.known] = vintage
        elif held.released is None and vintage.released is not None:
            winners[vintage.known] = held._replace(
                released=vintage.released, flags=held.flags & ~(UNKNOWN | DAY) | vintage.flags & STATED
            )
    begins, ends = _midnights(period)
    timely = ends + (allowance_days + 1) * DAY_SECONDS
    served: list[Vintage] = []
    previous = _NOTHING
    for known in sorted(winners) if len(winners) > 1 else winners:
        vintage = winners[known]
        # Unpack by position: this runs for every stated or derived vintage, and access by name takes half as long
        # again.
        _, value, text, stated_flags, released, ingested, payload, note, lineage = vintage
        state = (value, text, stated_flags & COMPARED, None if note is None else marks_of(note))
        if state == previous or (not served and value is None and text is None):
            continue
        same = bool(served) and value == previous[0] and text == previous[1]
        previous = state
        flags = stated_flags & STATED
        if begins is not None and begins > known:
            flags |= FORECAST
        if not flags & (FINAL | UNKNOWN):
            if same and not served[-1].flags & FINAL:
                flags |= served[-1].flags & (INITIAL | REVISED)
            elif served:
                flags |= REVISED
            elif released is not None and released <= timely:
                flags |= INITIAL
        if flags != stated_flags:
            vintage = Vintage(known, value, text, flags, released, ingested, payload, note, lineage)
        served.append(vintage)
    return served


@functools.lru_cache(maxsize=65_536)
def _midnights(period: int) -> tuple[int | None, int]:
    """Return the first instants of a period's first day (None for an instant) and of its last day."""
    start, end = days_of(period)
    return None if start is None else midnight(start), midnight(end)


def checksum(period: int, vintage: Vintage) -> int:
    """
    Return a CRC-32 over everything that a vintage states. The sum over a series shows whether something other than the
    writer changed a row.
    """
    known, value, text, flags, released, ingested, payload, note, lineage = vintage
    numbers = _PACKED(
        period,
        known,
        math.nan if value is None else value,
        flags,
        -1 if released is None else released,
        ingested,
        payload,
        lineage,
    )
    return zlib.crc32(numbers if text is None and note is None else b"%s%s\0%s" % (numbers, _bytes(text), _bytes(note)))


_PACKED = struct.Struct("<qqdqqqqq").pack


def _bytes(text: str | None) -> bytes:
    return b"" if text is None else text.encode("utf-8", "surrogatepass")


def status(flags: int) -> str:
    """Return the `revisionStatus` that the wire states."""
    if flags & FINAL:
        return "final"
    if flags & UNKNOWN:
        return "unknown"
    if flags & INITIAL:
        return "initial"
    return "revised" if flags & REVISED else "unknown"


def number(value: float | None) -> float | None:
    """
    Return the canonical float of a value, without a negative zero. Raises ValueError for NaN and infinities, which are
    never data.
    """
    if value is None:
        return None
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a number that can be served")
    return float(value) + 0.0


def quality(flags: int) -> str:
    """Return the verdict of the checks on a value and its inputs: `ok`, `warning` or `failed`."""
    if flags & FAILED:
        return "failed"
    return "warning" if flags & WARNED else "ok"


def is_unknown(flags: int) -> bool:
    """Return whether a vintage is served as `unknown`: its source said so, or nothing supports another status."""
    return bool(flags & UNKNOWN) or not flags & (FINAL | INITIAL | REVISED)
