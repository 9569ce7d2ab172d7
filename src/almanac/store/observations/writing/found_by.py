"""Noting what lists are found by that no index orders: when rows of a topic were taken in, and what some of them lack."""

from __future__ import annotations

from collections.abc import Sequence

from almanac.domain.periods import INSTANT, LONGEST, SPAN_BITS, days_of
from almanac.domain.times import day_at
from almanac.store.engine.protocol import Database

#: What a vintage may lack.
NO_RELEASE, NO_START = "release", "start"


def note_new(db: Database, topic: int, series: int, rows: Sequence[tuple[int, int, int | None, int]]) -> None:
    """Note new vintages of a series of a topic: (period key, known at, released at, ingested at) of each, by period."""
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
    for at_once in (False, True):
        some = [one for one in rows if (one[1] == one[2]) is at_once]
        if some:
            first_day = min(min(day for day in days_of(period) if day is not None) for period, *_ in some)
            known = [one[1] for one in some]
            ahead = max((period >> SPAN_BITS) - day_at(at) for period, at, *_ in some)
            short = {period & INSTANT for period, *_ in some} - {INSTANT} or {LONGEST}
            lengths = LONGEST - max(short), LONGEST - min(short)
            figures = (some[0][0], some[-1][0], len(some), first_day, ahead, min(known), max(known), *lengths)
            db.execute(_EXTENT, (at_once, *figures, topic, series))
    if lacking:
        db.executemany("INSERT OR IGNORE INTO lacking VALUES(?, ?)", sorted(lacking))


_SPAN = (
    "INSERT INTO ingested VALUES(?, ?, ?, ?) ON CONFLICT(at, topic)"
    " DO UPDATE SET low = min(low, excluded.low), high = max(high, excluded.high)"
)
_EXTENT = (
    "INSERT INTO extent SELECT t.kind, t.frequency, CASE WHEN t.entity BETWEEN 'company_' AND 'company_~' THEN 1 ELSE 0 END, s.source, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
    " FROM topic t CROSS JOIN series s WHERE t.topic = ? AND s.series = ?"
    " ON CONFLICT(kind, frequency, company, source, at_once) DO UPDATE SET low = min(low, excluded.low), high = max(high, excluded.high),"
    " vintages = vintages + excluded.vintages, first_day = min(first_day, excluded.first_day),"
    " ahead = max(ahead, excluded.ahead), first_known = min(first_known, excluded.first_known),"
    " last_known = max(last_known, excluded.last_known), shortest = min(shortest, excluded.shortest),"
    " longest = max(longest, excluded.longest)"
)
