"""Figures of a series (how many rows and vintages, from when to when, and a sum of checksums), kept in step as its rows come and go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from almanac.domain.observations import AHEAD, Vintage
from almanac.store.engine.protocol import Database
from almanac.store.engine.sqlite import OPEN

#: A row as it was bound.
_Bound = Sequence[tuple[Any, ...]]


class MovedRows(NamedTuple):
    """
    What came and went of one series, ascending by period: vintages closed and inserted, periods of which the latest vintage ended,
    such as have another latest one, and by how much the sum of checksums grew.
    """

    closed: _Bound
    inserted: _Bound
    ended: Sequence[int]
    shown: Sequence[tuple[int, Vintage]]
    grown: int


def keep(db: Database, topic: int, series: int, moved: MovedRows) -> None:
    """Bring the figures of a series into step with its rows. Only what may have shrunk is looked up."""
    closed, inserted, ended, shown, grown = moved
    times = [row[3] for row in inserted]
    db.execute(
        _GROW,
        (
            series,
            len(shown) - len(ended),
            len(inserted) - len(closed),
            shown[0][0] if shown else None,
            next((period for period, last in reversed(shown) if not last.flags & AHEAD), None),
            min(times, default=None),
            max(times, default=None),
            grown,
        ),
    )
    # Read, then written: tables that stand on different machines are not spoken of in one statement that writes.
    if ended:
        periods = db.execute(_PERIODS, (topic, series)).fetchone() or (None, None)
        db.execute("UPDATE series SET first_period = ?, last_period = ? WHERE series = ?", (*periods, series))
    if closed:
        known = db.execute(_KNOWN, (topic, series)).fetchone() or (None, None)
        db.execute("UPDATE series SET first_known = ?, last_known = ? WHERE series = ?", (*known, series))


#: Figures of a series after rows were added, of which any may be NULL.
_GROW = (
    "UPDATE series SET rows = rows + ?2, vintages = vintages + ?3, checksum = checksum + ?8,"
    " first_period = CASE WHEN first_period < ?4 THEN first_period ELSE coalesce(?4, first_period) END,"
    " last_period = CASE WHEN last_period > ?5 THEN last_period ELSE coalesce(?5, last_period) END,"
    " first_known = CASE WHEN first_known < ?6 THEN first_known ELSE coalesce(?6, first_known) END,"
    " last_known = CASE WHEN last_known > ?7 THEN last_known ELSE coalesce(?7, last_known) END WHERE series = ?1"
)


def _periods(shown: str) -> str:
    return (
        f"SELECT (SELECT x.period {shown} ORDER BY x.period LIMIT 1),"
        f" (SELECT x.period {shown} AND x.flags & {AHEAD} = 0 ORDER BY x.period DESC LIMIT 1)"
    )


_THIS = f"x WHERE x.topic = ?1 AND x.series = ?2 AND x.to_version = {OPEN}"
_PERIODS = _periods(f"FROM vintages {_THIS} AND x.until IS NULL AND (x.value IS NOT NULL OR x.text IS NOT NULL)")
_KNOWN = f"SELECT min(known_at), max(known_at) FROM vintages WHERE topic = ?1 AND series = ?2 AND to_version = {OPEN}"
