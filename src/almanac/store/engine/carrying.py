"""What is kept beside the data, carried from one engine to the other: all its rows, as one state, or none."""

from __future__ import annotations

from itertools import islice

from almanac.store.engine.areas import Area
from almanac.store.engine.protocol import Database

_AT_ONCE = 1_000


def carry(source: Database, target: Database, area: Area) -> None:
    """Put what one database holds of an area in the place of what another holds. Both are opened, of today's schema."""
    with source.snapshot(), target.transaction():
        for name in reversed(area.tables):
            target.execute(f"DELETE FROM {name}")
        for name in area.tables:
            rows = source.scan(f"SELECT * FROM {name}")
            while some := list(islice(rows, _AT_ONCE)):
                target.executemany(f"INSERT INTO {name} VALUES({', '.join('?' * len(some[0]))})", some)


def holdings(db: Database, area: Area) -> list[str]:
    """Tables that hold what is nowhere else: all with rows, but for what the area makes for itself."""
    asked = [name for name in area.tables if name not in area.own]
    return [name for name in asked if db.execute(f"SELECT 1 FROM {name} LIMIT 1").get]
