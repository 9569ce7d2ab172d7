"""Which keys of rows are wanted, what a key is made of, and how much is held at most of what is asked for."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from msgspec.structs import replace

from almanac.domain.periods import SPAN_BITS
from almanac.domain.times import day_at
from almanac.store.engine.queryable import Queryable
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
    was known. `first_known`, `last_known`: when the first and the last was. `shortest`, `longest`: so many days lie between
    the first and the last day of periods that are no instants.
    """

    low: int
    high: int
    vintages: int
    first_day: int
    ahead: int
    first_known: int
    last_known: int
    shortest: int
    longest: int


def extent_of(db: Queryable, selection: Selection, *, at_once: bool | None = None) -> Extent:
    """
    What is held at most of the kind, frequency and sources asked for, of companies or not.

    `at_once`: of vintages known when they were released, or of the others.
    """
    query = Conditions()
    for column, name in (("kind", selection.kind), ("frequency", selection.frequency), ("at_once", at_once)):
        if name is not None:
            query.add(f"{column} = ?", name)
    if not selection.companies:
        query.add("company = 0")
    if selection.sources is not None:
        query.add(f"source IN ({', '.join('?' * len(selection.sources))})", *sorted(selection.sources))
    if not selection.countries:
        query.add("company = 1")
    found = db.execute(
        f"SELECT min(low), max(high), sum(vintages), min(first_day), max(ahead), min(first_known), max(last_known),"
        f" min(shortest), max(longest) FROM extent WHERE {query.where}",
        query.values,
    ).fetchone()
    return _NOTHING if found is None or found[0] is None else Extent._make(found)


def reachable(db: Queryable, selection: Selection, as_of: int | None) -> Selection:
    """
    The same rows, their periods bounded by when they were known: none ends long after it was. And no companies, where
    nothing was known of any.

    So what was known by a past moment is not looked for among all that came later.
    """
    moments = [moment for moment in (as_of, selection.observed_to) if moment is not None]
    if not moments:
        return selection
    if selection.companies:
        none = "SELECT 1 FROM extent WHERE company = 1 AND first_known <= ? LIMIT 1"
        if db.execute(none, (min(moments),)).get is None:
            selection = replace(selection, companies=False)
    extent = extent_of(db, selection)
    last = day_at(min(moments)) + extent.ahead
    if last >= extent.high >> SPAN_BITS or last < 1:
        return selection
    return ending(selection, to=last)


def ending(selection: Selection, *, since: int | None = None, to: int | None = None) -> Selection:
    """The same rows, as far as their periods end in a span of days (ordinals), both included."""
    if since is not None and since >= 1 and (selection.ends_from is None or selection.ends_from.toordinal() < since):
        selection = replace(selection, ends_from=date.fromordinal(since))
    if to is not None and 1 <= to <= _LAST_DAY and (selection.ends_by is None or selection.ends_by.toordinal() > to):
        selection = replace(selection, ends_by=date.fromordinal(to))
    return selection


_LAST_DAY = date.max.toordinal()
#: Of nothing there are no periods between the lowest and the highest.
_NOTHING = Extent(1, 0, 0, 1, 0, 1, 0, 1, 0)
