"""Which keys of rows are wanted, what a key is made of, and how much is held at most of what is asked for."""

from __future__ import annotations

from typing import NamedTuple

from almanac.store.engine.protocol import Database
from almanac.store.observations.reading.selection import Conditions, Selection

#: What tells a row from the others of its table, and may stand in an index.
KEYS = {"current": "x.series, x.from_version", "vintages": "x.series, x.known_at, x.from_version, x.payload"}
#: Where the key's columns begin in what is found: the sort value, the topic's three names and the period stand before.
KEY = 5


class WantedKeys(NamedTuple):
    """Which keys. `table`: `current` or `vintages`; `version` and `as_of` as everywhere, `limit` rows on a page."""

    table: str
    selection: Selection
    sort: str
    version: int
    as_of: int | None
    descending: bool
    limit: int
    #: Every state of a cell, those that were superseded by `as_of` and withdrawals too.
    history: bool = False


class Extent(NamedTuple):
    """Period keys between which vintages are, both included, and how many there ever were. Both may be more than is left."""

    low: int
    high: int
    vintages: int


def extent_of(db: Database, selection: Selection) -> Extent:
    """What is held at most of the kind and frequency asked for, of companies or not."""
    query = Conditions()
    for column, name in (("kind", selection.kind), ("frequency", selection.frequency)):
        if name is not None:
            query.add(f"{column} = ?", name)
    if not selection.companies:
        query.add("company = 0")
    sql = f"SELECT coalesce(min(low), 1), coalesce(max(high), 0), coalesce(sum(vintages), 0) FROM extent WHERE {query.where}"
    return Extent._make(db.execute(sql, query.values).fetchone() or (1, 0, 0))
