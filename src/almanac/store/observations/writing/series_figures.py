"""Figures of a series (how many rows and vintages, from when to when), kept in step as its rows come and go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from almanac.domain.observations import AHEAD
from almanac.store.engine.protocol import Database
from almanac.store.engine.sqlite import OPEN

#: A row as it was bound.
_Bound = Sequence[tuple[Any, ...]]


def keep(
    db: Database,
    topic: int,
    series: int,
    *,
    closed: _Bound,
    inserted: _Bound,
    ended: _Bound,
    shown: _Bound,
) -> None:
    """
    Bring the figures into step with vintages that were closed and inserted, and rows of `current` that were ended and
    shown, all of one series and ascending by period. Only what may have shrunk is looked up.
    """
    times = [row[3] for row in inserted]
    db.execute(
        _GROW,
        (
            series,
            len(shown) - len(ended),
            len(inserted) - len(closed),
            shown[0][1] if shown else None,
            next((row[1] for row in reversed(shown) if not row[7] & AHEAD), None),
            min(times, default=None),
            max(times, default=None),
        ),
    )
    # Read, then written: tables that stand on different machines are not spoken of in one statement that writes.
    if ended:
        periods = db.execute(_PERIODS, (topic, series)).fetchone() or (None, None)
        db.execute("UPDATE series SET first_period = ?, last_period = ? WHERE series = ?", (*periods, series))
    if closed:
        known = db.execute(_KNOWN, (topic, series)).fetchone() or (None, None)
        db.execute("UPDATE series SET first_known = ?, last_known = ? WHERE series = ?", (*known, series))


#: Figures of a series after rows were added. `min` and `max` with a NULL are NULL, hence the rest.
_GROW = (
    "UPDATE series SET rows = rows + ?2, vintages = vintages + ?3,"
    " first_period = coalesce(min(first_period, ?4), first_period, ?4),"
    " last_period = coalesce(max(last_period, ?5), last_period, ?5),"
    " first_known = coalesce(min(first_known, ?6), first_known, ?6),"
    " last_known = coalesce(max(last_known, ?7), last_known, ?7) WHERE series = ?1"
)


def _periods(shown: str) -> str:
    return (
        f"SELECT (SELECT x.period {shown} ORDER BY x.period LIMIT 1),"
        f" (SELECT x.period {shown} AND x.flags & {AHEAD} = 0 ORDER BY x.period DESC LIMIT 1)"
    )


_THIS = f"x WHERE x.topic = ?1 AND x.series = ?2 AND x.to_version = {OPEN}"
_PERIODS = _periods(f"FROM vintages {_THIS} AND x.until IS NULL AND (x.value IS NOT NULL OR x.text IS NOT NULL)")
_KNOWN = f"SELECT min(known_at), max(known_at) FROM vintages WHERE topic = ?1 AND series = ?2 AND to_version = {OPEN}"
