"""
How long after a period its row came to be known, in classes: what leads from bounds on periods to knowledge times.

The index of knowledge times is in parts by it. A row whose period ends in a span of days, and that lags so many days
behind its end at least and so many at most, came to be known in a span hardly longer than that: no part is searched
beyond it. Neither are parts where no row can be, so that whoever wants old periods does not pass over all new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from almanac.domain.periods import SPAN_BITS
from almanac.domain.times import midnight
from almanac.store.observations.period_sql import LAGS, LEAST_LAGS, PART_KNOWN_SQL
from almanac.store.observations.reading.selection import Selection
from almanac.store.observations.reading.wanted_keys import Extents

#: The part of the index that a row `x` is in.
PART_KNOWN = f"({PART_KNOWN_SQL.format('x.')})"
#: A row `x` in one of the spans of `listed`, called `s`.
KNOWN_WITHIN = f"{PART_KNOWN} = s.column1 AND x.known_at BETWEEN s.column2 AND s.column3"


class KnownSpan(NamedTuple):
    """Rows of a part of the index, and between which knowledge times they may be, both included."""

    part: int
    low: int
    high: int

    @property
    def lag(self) -> int:
        """The class of lag."""
        return self.part % LAGS

    @property
    def at_once(self) -> bool:
        """Whether its rows were known when they were released."""
        return self.part >= LAGS


def known_spans(extents: Extents, selection: Selection, as_of: int | None) -> list[KnownSpan]:
    """
    Where rows may be that are asked for. Parts that can have none are left out.

    Bounds on knowledge itself hold exactly, what follows from periods to the day.
    """
    spans = []
    for at_once in (False, True):
        extent = extents.of(selection, at_once=at_once)
        first, last = (day >> SPAN_BITS for day in selection.keys)
        first, last = max(first, extent.low >> SPAN_BITS), min(last, extent.high >> SPAN_BITS)
        lows = (extent.first_known, selection.observed_from)
        highs = (extent.last_known, selection.observed_to, as_of)
        low = max(one for one in lows if one is not None)
        high = min(one for one in highs if one is not None)
        for lag in range(LAGS) if extent.vintages and first <= last else ():
            least = LEAST_LAGS[lag - 1] if lag else -extent.ahead
            # A day to spare: before 1970 the class is told from a day too late.
            from_here = max(low, midnight(first + least - 1))
            to_here = high if lag == len(LEAST_LAGS) else min(high, midnight(last + LEAST_LAGS[lag] + 2))
            if from_here <= to_here:
                spans.append(KnownSpan(lag + LAGS * at_once, from_here, to_here))
    return spans


def listed(spans: Sequence[KnownSpan]) -> str:
    """Spans as a table, whose values are bound."""
    return f"(VALUES {', '.join(['(?, ?, ?)'] * len(spans))})"
