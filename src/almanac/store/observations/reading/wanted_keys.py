"""Which keys of rows are wanted, what a key is made of, and how much is held at most of what is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

from msgspec.structs import replace

from almanac.domain.periods import EVERY_KEY, SPAN_BITS
from almanac.domain.times import day_at
from almanac.store.engine.queryable import Queryable
from almanac.store.observations.reading.selection import Selection

#: What tells a row from the others of its table, and may stand in an index.
KEYS = {"current": "x.series, x.from_version", "vintages": "x.series, x.known_at, x.from_version"}
#: Of so many rows at most that there ever were all are sorted, rather than walked in their order.
FEW_EVER = 25_000
#: Where the key's columns begin in what is found: the sort value, the topic's three names and the period stand before.
KEY = 5


class TooFewError(Exception):
    """Hardly any of the rows in this order are wanted: what is asked for is found sooner in another way."""


class WantedKeys(NamedTuple):
    """Which keys. `table`: `current` or `vintages`; `version` and `as_of` as everywhere, `share` rows of a page."""

    table: str
    selection: Selection
    sort: str
    version: int
    as_of: int | None
    descending: bool
    share: int
    #: Every state of a cell, those that were superseded by `as_of` and withdrawals too.
    history: bool = False


class Extent(NamedTuple):
    """
    Period keys between which vintages are, both included, and how many there ever were. Both may be more than is left.

    `first_day`: before it no period begins (an ordinal). `ahead`: a period ended so many days at most after its vintage
    was known. `first_known`, `last_known`: when the first and the last was. `shortest`, `longest`: so many days lie between
    the first and the last day of periods that are no instants; `longest` is less where there are none.
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


class _Held(NamedTuple):
    """What the extent is of, one row of its table."""

    kind: str
    frequency: str
    company: int
    source: str
    at_once: int
    extent: Extent


class Extents:
    """
    What is held at most, of one state of the store. The table has a row for each kind, frequency and source: it is read
    once, and what was asked of it is remembered.
    """

    def __init__(self, db: Queryable) -> None:
        self._db = db
        self._rows: list[_Held] | None = None
        self._told: dict[tuple[Any, ...], Extent] = {}

    def of(self, selection: Selection, *, at_once: bool | None = None) -> Extent:
        """
        Of the kind, frequency and sources asked for, of companies or not.

        `at_once`: of vintages known when they were released, or of the others.
        """
        asked = (
            selection.kind,
            selection.frequency,
            selection.sources,
            selection.companies,
            selection.countries,
            at_once,
        )
        told = self._told.get(asked)
        if told is None:
            if len(self._told) >= _TOLD:
                self._told.clear()
            told = self._told[asked] = _together([one.extent for one in self._all() if _among(one, selection, at_once)])
        return told

    def ahead(self) -> dict[tuple[str, bool], int]:
        """How many days at most before the end of its period a vintage was known, by frequency and whether it is a company's."""
        found: dict[tuple[str, bool], int] = {}
        for one in self._all():
            key = one.frequency, bool(one.company)
            found[key] = max(found.get(key, one.extent.ahead), one.extent.ahead)
        return found

    def _all(self) -> list[_Held]:
        if self._rows is None:
            found = self._db.execute(
                "SELECT kind, frequency, company, source, at_once, low, high, vintages, first_day, ahead, first_known,"
                " last_known, shortest, longest FROM extent"
            )
            self._rows = [_Held._make((*row[:5], Extent._make(row[5:]))) for row in found]
        return self._rows


def _among(one: _Held, selection: Selection, at_once: bool | None) -> bool:
    return (
        (selection.kind is None or one.kind == selection.kind)
        and (selection.frequency is None or one.frequency == selection.frequency)
        and (selection.sources is None or one.source in selection.sources)
        and (selection.companies if one.company else selection.countries)
        and (at_once is None or bool(one.at_once) is at_once)
    )


def _together(some: Sequence[Extent]) -> Extent:
    if not some:
        return _NOTHING
    low, high, vintages, first_day, ahead, first_known, last_known, shortest, longest = zip(*some, strict=True)
    return Extent(
        min(low), max(high), sum(vintages), min(first_day), max(ahead), min(first_known), max(last_known),
        min(shortest), max(longest),
    )  # fmt: skip


def reachable(extents: Extents, selection: Selection, as_of: int | None) -> Selection:
    """
    The same rows, their periods bounded by when they were known: none ends long after it was. And no companies, nor all
    others, where none of those has such rows, nor a source named that all of them are of; an open side of the periods asked
    for is closed by the last or first there is.

    So what was known by a past moment is not looked for among all that came later, nor new periods among old ones.
    """
    moments = [moment for moment in (as_of, selection.observed_to) if moment is not None]
    if moments:
        if selection.companies:
            of_companies = extents.of(_OF_COMPANIES)
            if not of_companies.vintages or of_companies.first_known > min(moments):
                selection = replace(selection, companies=False)
        extent = extents.of(selection)
        last = day_at(min(moments)) + extent.ahead
        if 1 <= last < extent.high >> SPAN_BITS:
            selection = ending(selection, to=last)
    if selection.starts_from is not None:
        # No instant has a first day, and every other period ends so many days after it at least.
        since = selection.starts_from.toordinal() + extents.of(selection).shortest
        selection = ending(selection, since=min(since, _LAST_DAY))
    if selection.indicators is not None or selection.entities is not None:
        return selection
    low, high = selection.keys
    for side, other in (("companies", "countries"), ("countries", "companies")):
        if getattr(selection, side):
            extent = extents.of(replace(selection, **{other: False}))
            if not extent.vintages or extent.high < low or extent.low > high:
                selection = replace(selection, **{side: False})
    if selection.sources is not None:
        every = extents.of(replace(selection, sources=None)).vintages
        if extents.of(selection).vintages == every:  # no others have such rows
            selection = replace(selection, sources=None)
    if (low, high) == EVERY_KEY:
        return selection
    extent = extents.of(selection)
    return ending(selection, since=extent.low >> SPAN_BITS, to=extent.high >> SPAN_BITS)


def apart(extents: Extents, selection: Selection) -> list[Selection]:
    """
    The same rows, those of companies and all others apart where of either there are few, and many of the other.

    Few are sorted; among the others they would be looked for a long way.
    """
    if not (selection.companies and selection.countries) or selection.entities is not None:
        return [selection]
    both = [replace(selection, companies=False), replace(selection, countries=False)]
    fewer, more = sorted(extents.of(one).vintages for one in both)
    return both if fewer < FEW_EVER <= more else [selection]


def ending(selection: Selection, *, since: int | None = None, to: int | None = None) -> Selection:
    """The same rows, as far as their periods end in a span of days (ordinals), both included."""
    if since is not None and since >= 1 and (selection.ends_from is None or selection.ends_from.toordinal() < since):
        selection = replace(selection, ends_from=date.fromordinal(since))
    if to is not None and 1 <= to <= _LAST_DAY and (selection.ends_by is None or selection.ends_by.toordinal() > to):
        selection = replace(selection, ends_by=date.fromordinal(to))
    return selection


_LAST_DAY = date.max.toordinal()
#: Questions that are remembered of one state.
_TOLD = 1_000
_OF_COMPANIES = Selection(countries=False)
#: Of nothing there are no periods between the lowest and the highest.
_NOTHING = Extent(1, 0, 0, 1, 0, 1, 0, 1, 0)
