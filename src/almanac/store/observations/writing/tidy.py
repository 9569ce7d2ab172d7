"""Dropping rows of `current` that ended before the oldest cursor began. The vintages themselves are never dropped."""

from __future__ import annotations

from almanac.store.engine.protocol import Database
from almanac.store.engine.sqlite import OPEN

#: Rows dropped in one transaction, so that a writer never waits long.
_SLICE = 5_000


def purge(db: Database, before: int) -> int:
    """
    Drop rows that ended in data versions made before a moment (unix seconds, real time), and none of them behind a later one: a
    clock may have been set back. Returns how many.
    """
    newest: int | None = db.execute(
        "SELECT max(version) FROM version WHERE version < coalesce((SELECT min(version) FROM version WHERE at >= ?), version + 1)",
        (before,),
    ).get
    if newest is None:
        return 0
    dropped = 0
    while True:
        with db.transaction():
            # The second condition is the index's own: without it SQLite may not use it.
            found = list(
                db.execute(
                    "SELECT topic, period, series, from_version FROM current WHERE to_version <= ?"
                    f" AND to_version < {OPEN} LIMIT {_SLICE}",
                    (newest,),
                )
            )
            db.executemany(
                "DELETE FROM current WHERE topic = ? AND period = ? AND series = ? AND from_version = ?", found
            )
        dropped += len(found)
        if len(found) < _SLICE:
            return dropped
