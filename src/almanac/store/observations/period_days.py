"""
Rows by the days of their periods: how an index has them in order of the last one, and what that tells of the first.

A period that begins on a day ends one of a few usual numbers of days later; periods of other lengths have an index.
"""

from __future__ import annotations

from collections.abc import Sequence

from almanac.domain.periods import INSTANT, LONGEST, SPAN_BITS
from almanac.store.observations.period_sql import END_ORDINAL_SQL

#: The index by the end of periods is in sixteen parts by topic: a new series writes to its own part only, where its
#: periods are closer neighbours, instead of to a page for nearly each of its rows. Eight topics in a row share a part,
#: so that a new day of a source, which made its topics one after another, writes to few.
PARTS = 16
PART = f"(x.topic >> 3 & {PARTS - 1})"
END = END_ORDINAL_SQL.format("x.period")
#: The first day of a period that is no instant, as the index of odd ones has it.
START = f"(x.period >> {SPAN_BITS}) + (x.period & {INSTANT}) - {LONGEST}"
#: Days from the first to the last of nearly every period: of days, weeks, months, quarters of 13 and 14 weeks, halves,
#: three quarters, years of 52 and 53 weeks. All others are in an index of their own.
SPANS = ((0, 0), (6, 6), (27, 30), (88, 91), (97, 97), (180, 183), (272, 274), (279, 279), (363, 365), (370, 370))
_REGULAR = ", ".join(str(days) for low, high in SPANS for days in range(low, high + 1))
#: Said one by one, the most usual first: of a list SQLite makes a table, and that for each row that it writes.
ODD = " AND ".join(
    [
        f"(x.period & {INSTANT}) < {INSTANT}",
        *(
            f"{LONGEST} - (x.period & {INSTANT}) {f'NOT BETWEEN {low} AND {high}' if high > low else f'<> {low}'}"
            for low, high in SPANS
        ),
    ]
)
EVEN = f"{LONGEST} - (x.period & {INSTANT}) IN ({_REGULAR})"
#: The most days after its first that a period of a usual length ends.
LAST_SPAN = SPANS[-1][1]

#: Rows that may end in spans of days: what `ending` says.
ENDING = f"{PART} = p.n AND {END} BETWEEN e.low AND e.high"


def ending(first: int, last: int, after: Sequence[tuple[int, int]], lowest: int, highest: int) -> tuple[str, list[int]]:
    """Where rows may end so many days after a span of days, between two others: `e`, and the parts of the index `p`."""
    spans: list[list[int]] = []
    for low, high in after:
        if spans and first + low <= spans[-1][1] + 1:
            spans[-1][1] = last + high
        else:
            spans.append([first + low, last + high])
    clipped = [(max(low, lowest), min(high, highest)) for low, high in spans]
    ends = ", ".join(["(?, ?)"] * len(spans))
    parts = ", ".join(f"({part})" for part in range(PARTS))
    return f"WITH e(low, high) AS (VALUES {ends}), p(n) AS (VALUES {parts})", [
        edge for span in clipped for edge in span
    ]
