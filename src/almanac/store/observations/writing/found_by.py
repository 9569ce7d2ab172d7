"""Noting what lists are found by that no index orders: when rows of a topic were taken in, and what some of them lack."""

from __future__ import annotations

from collections.abc import Sequence

from almanac.domain.periods import INSTANT, SPAN_BITS, days_of
from almanac.domain.times import day_at
from almanac.store.engine.protocol import Database

#: What a vintage may lack.
NO_RELEASE, NO_START = "release", "start"


def note_new(db: Database, topic: int, rows: Sequence[tuple[int, int, int | None, int]]) -> None:
    """Note new vintages of a topic: (period key, known at, released at, ingested at) of each, by period."""
    spans: dict[int, tuple[int, int]] = {}
    lacking = set()
    for period, _, released, ingested in rows:
        low, high = spans.get(ingested, (period, period))
        spans[ingested] = (min(low, period), max(high, period))
        if released is None:
            lacking.add((NO_RELEASE, topic))
        if period & INSTANT == INSTANT:
            lacking.add((NO_START, topic))
    db.executemany(_SPAN, [(at, topic, *span) for at, span in spans.items()])
    if rows:
        first_day = min(min(day for day in days_of(period) if day is not None) for period, *_ in rows)
        ahead = max((period >> SPAN_BITS) - day_at(known) for period, known, *_ in rows)
        db.execute(_EXTENT, (rows[0][0], rows[-1][0], len(rows), first_day, ahead, topic))
    if lacking:
        db.executemany("INSERT OR IGNORE INTO lacking VALUES(?, ?)", sorted(lacking))


_SPAN = (
    "INSERT INTO ingested VALUES(?, ?, ?, ?) ON CONFLICT(at, topic)"
    " DO UPDATE SET low = min(low, excluded.low), high = max(high, excluded.high)"
)
_EXTENT = (
    "INSERT INTO extent SELECT kind, frequency, CASE WHEN entity BETWEEN 'company_' AND 'company_~' THEN 1 ELSE 0 END, ?, ?, ?, ?, ? FROM topic WHERE topic = ?"
    " ON CONFLICT(kind, frequency, company) DO UPDATE SET low = min(low, excluded.low), high = max(high, excluded.high),"
    " vintages = vintages + excluded.vintages, first_day = min(first_day, excluded.first_day),"
    " ahead = max(ahead, excluded.ahead)"
)
