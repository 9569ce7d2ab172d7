"""The star of a page: whether its thing is watched, and what its form says."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from almanac.dashboard.explorer.screening.filters import EQUITY, MACRO
from almanac.dashboard.visit import Visit
from almanac.store.accounts.watchlist import SavedScreen

_NARROWS = {one.name: one.narrows for one in (MACRO, EQUITY)}


class Star(NamedTuple):
    """One thing, whether it is watched, and the address that the form leads back to."""

    kind: str
    what: str
    on: bool
    to: str


class ScreenStar(NamedTuple):
    """A screen that may be kept, and the one that is."""

    screener: str
    query: str
    kept: SavedScreen | None
    to: str


def star(visit: Visit, kind: str, what: str, path: str = "") -> Star | None:
    """The star of a thing, on a page at `path`, else at this one; None while the accounts do not answer."""
    on = visit.people.look_up(lambda lists: lists.watches(visit.who.account, kind, what))
    return None if on is None else Star(kind, what, on, _here(visit, path))


def screen_star(visit: Visit, screener: str) -> ScreenStar | None:
    """The star of the screen of this page; None where there is no filter, and while the accounts do not answer."""
    query = screen_query(screener, visit.query_string)
    if not query:
        return None
    kept = visit.people.look_up(lambda lists: lists.screens(visit.who.account))
    if kept is None:
        return None
    same = next((one for one in kept if (one.screener, one.query) == (screener, query)), None)
    return ScreenStar(screener, query, same, _here(visit))


def _here(visit: Visit, path: str = "") -> str:
    query = f"?{visit.query_string}" if visit.query_string else ""
    return f"{path or visit.path}{query}"


def screen_query(screener: str, sent: str) -> str:
    """
    What of the query of a screener's page makes the screen: the filter, what narrows it and its order. Of no day: a screen is
    of today whenever it is opened. Empty without a filter.
    """
    kept = ("filter", *_NARROWS[screener], "sort", "order")
    found = {name: value for name, value in parse_qsl(sent) if name in kept}
    if not found.get("filter"):
        return ""
    return urlencode([(name, found[name]) for name in kept if name in found], safe=":,")
