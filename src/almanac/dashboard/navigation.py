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
    ("Overview", "/", ("", "search", "indicators", "series", "sources")),
    ("Countries", "/countries", ("countries",)),
    ("Rates", "/rates", ("rates",)),
    ("Screeners", "/screeners", ("screeners",)),
    ("Companies", "/companies", ("companies",)),
    ("Calendar", "/calendar", ("calendar",)),
    ("Keys", "/keys", ("keys",)),
    ("Usage", "/usage", ("usage",)),
)
_OPERATE = ("Operate", "/operate", ("operate",))


def navigation(visit: Visit) -> list[NavigationPart]:
    """What a visitor is shown; nobody signed in, nothing."""
    if visit.person is None:
        return []
    parts = (*_PARTS, _OPERATE) if visit.person.role == "operator" else _PARTS
    first = visit.path.split("/", 2)[1]
    return [NavigationPart(title, path, first in segments) for title, path, segments in parts]
