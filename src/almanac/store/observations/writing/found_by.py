"""
Noting what lists are found by that no index orders: which cells changed, when rows of a topic were taken in, what some of
them lack, and between which bounds all of a kind lie.

Each write of a series adds to what is noted, which is small: it is kept until the batch ends, and written once for each
topic and kind rather than once for each series.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from almanac.domain.periods import INSTANT, LONGEST, SPAN_BITS
from almanac.domain.times import day_at
from almanac.store.engine.protocol import Database
from almanac.store.observations.writing.dependents import NOTE_SQL

#: What a vintage may lack.
NO_RELEASE, NO_START = "release", "start"


class ListedAs(NamedTuple):
    """What vintages are told apart by whose bounds are kept together: the columns of `extent` before them."""

    kind: str
    frequency: str
    company: bool
    source: str


class _Bounds(NamedTuple):
    """Bounds of some vintages, in the order of their table (between which periods, how many, …)"""

    low: int
    high: int
    vintages: int
    first_day: int
    ahead: int
    first_known: int
    last_known: int
    shortest: int
    longest: int

    def and_those(self, other: _Bounds) -> _Bounds:
        """Bounds of both."""
        return _Bounds(
            min(self.low, other.low),
            max(self.high, other.high),
            self.vintages + other.vintages,
            min(self.first_day, other.first_day),
            max(self.ahead, other.ahead),
            min(self.first_known, other.first_known),
            max(self.last_known, other.last_known),
            min(self.shortest, other.shortest),
            max(self.longest, other.longest),
        )


class Noted:
    """What a batch has to note of the vintages it writes."""

    def __init__(self) -> None:
        self._changed: dict[int, tuple[int, int]] = {}
        self._taken_in: dict[tuple[int, int], tuple[int, int]] = {}
        self._lacking: set[tuple[str, int]] = set()
        self._bounds: dict[tuple[ListedAs, bool], _Bounds] = {}

    def changed(self, topic: int, low: int, high: int) -> None:
        """Cells of a topic changed, between two period keys."""
        _widen(self._changed, topic, low, high)

    def new(self, topic: int, listed: ListedAs, rows: Sequence[tuple[Any, ...]]) -> None:
        """Vintages of a series of a topic are new: rows as `vintages` has them, ascending by period."""
        if not rows:
            return
        moments: dict[int, tuple[int, int]] = {}
        at_once: tuple[list[int], list[int]] = [], []
        later: tuple[list[int], list[int]] = [], []
        released_all = started_all = True
        for period, known, released, at in map(_FOUND_BY, rows):
            first = moments.get(at)
            moments[at] = (period, period) if first is None else (first[0], period)
            periods, times = at_once if released == known else later
            periods.append(period)
            times.append(known)
            if released is None:
                released_all = False
            if period & INSTANT == INSTANT:
                started_all = False
        for at, (low, high) in moments.items():
            _widen(self._taken_in, (at, topic), low, high)
        if not released_all:
            self._lacking.add((NO_RELEASE, topic))
        if not started_all:
            self._lacking.add((NO_START, topic))
        for name, (periods, times) in ((False, later), (True, at_once)):
            if periods:
                key = (listed, name)
                fresh, held = _bounds(periods, times), self._bounds.get(key)
                self._bounds[key] = fresh if held is None else held.and_those(fresh)

    def write(self, db: Database, version: int) -> None:
        """Write down all that was noted, as of a data version."""
        db.executemany(NOTE_SQL, [(topic, version, *span) for topic, span in self._changed.items()])
        db.executemany(_SPAN, [(*key, *span) for key, span in self._taken_in.items()])
        db.executemany("INSERT OR IGNORE INTO lacking VALUES(?, ?)", sorted(self._lacking))
        db.executemany(
            _EXTENT,
            [
                (listed.kind, listed.frequency, int(listed.company), listed.source, int(at_once), *bounds)
                for (listed, at_once), bounds in self._bounds.items()
            ],
        )


def _widen(spans: dict[Any, tuple[int, int]], key: Any, low: int, high: int) -> None:
    held = spans.get(key)
    spans[key] = (low, high) if held is None else (min(held[0], low), max(held[1], high))


def _bounds(periods: list[int], known: list[int]) -> _Bounds:
    """Bounds of vintages by their periods, ascending, and by when each was known."""
    codes = {period & INSTANT for period in periods}
    lengths = [LONGEST - code for code in codes if code != INSTANT]
    # An instant has its one day; of all other periods the code says how many lie between the first day and the last.
    first_day = min([(period >> SPAN_BITS) - (LONGEST - min(period & INSTANT, LONGEST)) for period in periods])
    ahead = max([(period >> SPAN_BITS) - day_at(at) for period, at in zip(periods, known, strict=True)])
    return _Bounds(
        periods[0],
        periods[-1],
        len(periods),
        first_day,
        ahead,
        min(known),
        max(known),
        min(lengths, default=LONGEST),
        max(lengths, default=-1),
    )


#: Of a row of `vintages`: period, when it was known, released and taken in.
_FOUND_BY = itemgetter(1, 3, 9, 10)
_SPAN = (
    "INSERT INTO ingested VALUES(?, ?, ?, ?) ON CONFLICT(at, topic)"
    " DO UPDATE SET low = min(low, excluded.low), high = max(high, excluded.high)"
)
_EXTENT = (
    "INSERT INTO extent VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT(kind, frequency, company, source, at_once) DO UPDATE SET low = min(low, excluded.low), high = max(high, excluded.high),"
    " vintages = vintages + excluded.vintages, first_day = min(first_day, excluded.first_day),"
    " ahead = max(ahead, excluded.ahead), first_known = min(first_known, excluded.first_known),"
    " last_known = max(last_known, excluded.last_known), shortest = min(shortest, excluded.shortest),"
    " longest = max(longest, excluded.longest)"
)
