"""
Which table says what is served: `current` without `as_of`, `vintages` for a past moment, and for companies always.

What a company's cell serves now is its last vintage, the same as at a moment after all that can be known. So a list
without `as_of` is read in two parts, of companies and of all others, and each in the way that is there already.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from almanac.domain.companies import is_company
from almanac.store.observations.reading.selection import EVER, Selection

_Row = TypeVar("_Row")


class ListPart(NamedTuple):
    """Rows of a list that are in one table: `current` where `as_of` is None, else `vintages` known by then."""

    selection: Selection
    as_of: int | None


def parts(selection: Selection, as_of: int | None) -> list[ListPart]:
    """What together is the list asked for; no topic is in two of them."""
    if as_of is not None:
        return [ListPart(selection, as_of)]
    entities = selection.entities
    if entities is None:
        found = [
            ListPart(replace(selection, companies=False), None),
            ListPart(replace(selection, countries=False), EVER),
        ]
    else:
        found = [
            ListPart(replace(selection, entities=tuple(one for one in entities if not is_company(one))), None),
            ListPart(replace(selection, entities=tuple(one for one in entities if is_company(one))), EVER),
        ]
    return [part for part in found if not part.selection.empty]


def merged(
    walks: Iterable[Iterator[tuple[_Row, list[Any]]]], *, valued: bool, descending: bool
) -> Iterator[tuple[_Row, list[Any]]]:
    """
    Walks over different topics as one, in the order of their places. `valued`: a place begins with the value sorted by,
    nulls last either way; then come indicator, entity and frequency.
    """

    def turn(found: tuple[_Row, list[Any]]) -> tuple[Any, ...]:
        place = found[1]
        if not valued:
            return tuple(place[:3])
        value = place[0]
        return ((value is None) != descending, 0 if value is None else value, *place[1:4])

    return heapq.merge(*walks, key=turn, reverse=descending)
