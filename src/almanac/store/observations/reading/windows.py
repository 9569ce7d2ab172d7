"""A walk over values, a stretch of them at a time: as wide as brings few rows, and given up where hardly any are wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from almanac.store.engine.patience import check
from almanac.store.observations.reading.topic_rows import Key
from almanac.store.observations.reading.wanted_keys import KEY, TooFewError

#: So many rows are sorted at once at most; a value that more share is walked topic by topic.
CHUNK = 1_000
#: Of so many rows in the order of an index at least one in a hundred should be wanted: else other ways are shorter.
_IN_VAIN, _RARE = 60_000, 100
#: So many rows are counted at most before that is said of them.
COUNTED = 100_000


class Windows:
    """Walks of one question, one way: `least` rows may be looked at in vain in any case."""

    def __init__(self, *, descending: bool, least: int) -> None:
        self._down, self._least = descending, least
        #: Rows of indexes that were gone through, and those of them that were wanted.
        self._looked_at, self._found = 0.0, 0

    @property
    def _in_vain(self) -> bool:
        """Whether hardly any of many rows were wanted so far."""
        return self._looked_at > max(_IN_VAIN, self._least) and self._found * _RARE < self._looked_at

    def keys(
        self,
        low: int,
        high: int,
        place: Sequence[Any] | None,
        some: Callable[[int, int, Sequence[Any] | None], list[Key]],
        single: Callable[[int, Sequence[Any] | None], Iterator[Key]],
        *,
        width: int,
        widest: int,
        density: float,
        counted: Callable[[int, int], int] | None = None,
    ) -> Iterator[Key]:
        """
        Rows by a value that lies between two, so many values at once as bring few rows.

        `some` finds those from a value to another, both included, and from a place on where that is among them: `CHUNK` at
        most, in no order. `single` has those of a value that more rows share. `density`: how many rows there are of a value,
        were they evenly spread; where they are not, `counted` says how many there are from a value to another, `COUNTED` at
        most.
        """
        begun, passed, before = None, 0.0, 0
        value = (high if self._down else low) if place is None else place[0]
        value = min(value, high) if self._down else max(value, low)
        while low <= value <= high:
            check()
            first, last = (max(low, value - width + 1), value) if self._down else (value, min(high, value + width - 1))
            here = place if place is not None and first <= place[0] <= last else None
            found = some(first, last, here)
            if len(found) < CHUNK:
                yield from sorted(found, key=lambda key: key[:KEY], reverse=self._down)
            elif first == last:
                yield from single(value, here)
                width, before = max(width, before), 0
            else:
                before = max(before, width // 4)
                width = self._narrower(found, first, last)
                continue
            begun = value if begun is None else begun
            estimated = density * (last - first + 1)
            passed, self._looked_at, self._found = (
                passed + estimated,
                self._looked_at + estimated,
                self._found + len(found),
            )
            if self._in_vain and counted is not None:
                real = counted(first, begun) if self._down else counted(begun, last)
                if real < min(passed, COUNTED):
                    self._looked_at, passed = self._looked_at + real - passed, real
            if self._in_vain:
                raise TooFewError
            value = first - 1 if self._down else last + 1
            if 4 * len(found) < CHUNK:
                width = min(2 * width, widest)

    def _narrower(self, found: list[Key], first: int, last: int) -> int:
        """
        How many values to look at instead of those from one to another, which more rows have than are sorted.

        Up to the one that most of them share, where there is such a one, so that it is come to soon: half as many at most,
        for those found are the first of an index, and of days that all have many rows each would come to be that one. Else
        up to where half of what was found ends: there are as many at least.
        """
        shared: int
        shared, rows = Counter(key[0] for key in found).most_common(1)[0]
        if 2 * rows >= len(found):
            return max(1, min(last - shared, (last - first + 1) // 2) if self._down else shared - first)
        middle: int = sorted(key[0] for key in found)[len(found) // 2]
        return max(1, min((last - first + 1) // 4, last - middle if self._down else middle - first))
