"""The second line of every page: its parts, and which of them one is in."""

from __future__ import annotations

from typing import NamedTuple

from almanac.dashboard.visit import Visit


class NavigationPart(NamedTuple):
    """A link of the navigation."""

    title: str
    path: str
    current: bool


#: Title, address, and the first segments of the addresses that belong to it.
_PARTS = (
    ("Today", "/", ("",)),
    ("Countries", "/countries", ("countries",)),
    ("Indicators", "/indicators", ("indicators",)),
    ("Rates", "/rates", ("rates",)),
    ("Screeners", "/screeners", ("screeners",)),
    ("Companies", "/companies", ("companies",)),
    ("Compare", "/compare", ("compare",)),
    ("Calendar", "/calendar", ("calendar",)),
    ("Watchlist", "/watchlist", ("watchlist",)),
    ("Keys", "/keys", ("keys",)),
    ("Usage", "/usage", ("usage",)),
)
_OPERATE = ("Operate", "/operate", ("operate",))


#: Of the entity in a series' id, which part of the site it is in.
_OF_ENTITY = {"country": "countries", "region": "countries", "company": "companies"}


def _part_of(path: str) -> str:
    """The first segment of an address; of a series that of the entity it is of."""
    first, _, rest = path[1:].partition("/")
    entity = rest.split(":")[1] if first == "series" and ":" in rest else ""
    return _OF_ENTITY.get(entity.partition("_")[0], first)


def navigation(visit: Visit) -> list[NavigationPart]:
    """What a visitor is shown; nobody signed in, nothing."""
    if visit.person is None:
        return []
    parts = (*_PARTS, _OPERATE) if visit.operator else _PARTS
    first = _part_of(visit.path)
    return [NavigationPart(title, path, first in segments) for title, path, segments in parts]
