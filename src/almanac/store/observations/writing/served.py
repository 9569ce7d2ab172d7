"""What a series serves while it is written to: how many cells, and which."""

from __future__ import annotations

from almanac.store.engine.protocol import Queryable
from almanac.store.engine.sqlite import OPEN


def count(db: Queryable, series: int) -> int:
    """How many cells of a series have a value."""
    return int(db.execute("SELECT rows FROM series WHERE series = ?", (series,)).get or 0)


def periods(db: Queryable, topic: int, series: int, span: tuple[int, int]) -> set[int]:
    """Period keys of those in a span, both ends included."""
    return {period for (period,) in db.execute(_PERIODS, (topic, *span, series))}


_PERIODS = (
    "SELECT period FROM vintages WHERE topic = ? AND period BETWEEN ? AND ? AND series = ?"
    f" AND to_version = {OPEN} AND until IS NULL AND (value IS NOT NULL OR text IS NOT NULL)"
)
