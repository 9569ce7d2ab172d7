"""Which keys of rows are wanted, what a key is made of, and how much is held at most of what is asked for."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from msgspec.structs import replace

from almanac.domain.periods import SPAN_BITS
from almanac.domain.times import day_at
from almanac.store.engine.protocol import Database
from almanac.store.observations.reading.selection import Conditions, Selection

#: What tells a row from the others of its table, and may stand in an index.
KEYS = {"current": "x.series, x.from_version", "vintages": "x.series, x.known_at, x.from_version"}
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
    """
    Period keys between which vintages are, both included, and how many there ever were. Both may be more than is left.

    `first_day`: before it no period begins (an ordinal). `ahead`: a period ended so many days at most after its vintage
    was known.
    """

    low: int
    high: int
    vintages: int
    first_day: int
    ahead: int


def extent_of(db: Database, selection: Selection) -> Extent:
    """What is held at most of the kind and frequency asked for, of companies or not."""
    query = Conditions()
    for column, name in (("kind", selection.kind), ("frequency", selection.frequency)):
        if name is not None:
            query.add(f"{column} = ?", name)
    if not selection.companies:
        query.add("company = 0")
    if not selection.countries:
        query.add("company = 1")
    found = db.execute(
        f"SELECT min(low), max(high), sum(vintages), min(first_day), max(ahead) FROM extent WHERE {query.where}",
        query.values,
    ).fetchone()
    return _NOTHING if found is None or found[0] is None else Extent._make(found)


def reachable(db: Database, selection: Selection, as_of: int | None) -> Selection:
    """
    The same rows, their periods bounded by when they were known: none ends long after it was.

    So what was known by a past moment is not looked for among all that came later.
    """
    moments = [moment for moment in (as_of, selection.observed_to) if moment is not None]
    if not moments:
        return selection
    extent = extent_of(db, selection)
    last = day_at(min(moments)) + extent.ahead
    if last >= extent.high >> SPAN_BITS or last < 1:
        return selection
    ends_by = date.fromordinal(last)
    if selection.ends_by is not None and selection.ends_by <= ends_by:
        return selection
    return replace(selection, ends_by=ends_by)


_NOTHING = Extent(1, 0, 0, 1, 0)
