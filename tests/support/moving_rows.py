"""Rows of which all are others in each data version: whoever reads a mixture of two versions is found out."""

from almanac.store.engine.data_schema import meta, set_meta
from almanac.store.engine.protocol import Database, Queryable
from almanac.store.engine.sqlite import OPEN

TOPICS = 64


def advance(db: Database) -> int:
    """Write the next data version: every row of the one before ends, and there is a new one in its place. Returns it."""
    with db.transaction():
        version = int(meta(db, "version") or 0) + 1
        db.execute(f"UPDATE vintages SET to_version = ? WHERE to_version = {OPEN}", (version,))
        db.executemany(
            f"INSERT INTO vintages VALUES(?, 1, 1, 1, NULL, ?, 1, {OPEN}, ?, NULL, 0, NULL, 1, NULL, 0)",
            [(topic, version, float(version)) for topic in range(TOPICS)],
        )
        set_meta(db, "version", str(version))
    return version


Seen = tuple[int, set[float], int]


def is_whole(found: Seen) -> bool:
    """Whether what was read is of one version, and all of it."""
    version, values, rows = found
    return (values, rows) == ({float(version)}, TOPICS) if version else not rows


def seen(db: Queryable) -> Seen:
    """The data version, the values of its rows, and how many rows there are."""
    version = int(meta(db, "version") or 0)
    rows = db.execute(
        "SELECT value FROM vintages WHERE from_version <= ? AND to_version > ?", (version, version)
    ).fetchall()
    return version, {value for (value,) in rows}, len(rows)
