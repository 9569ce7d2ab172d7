"""The star of a page: whether its thing is watched, and what its form says."""

from __future__ import annotations

from typing import NamedTuple

from almanac.dashboard.visit import Visit


class Star(NamedTuple):
    """One thing, whether it is watched, and the address that the form leads back to."""

    kind: str
    what: str
    on: bool
    to: str


def star(visit: Visit, kind: str, what: str, path: str = "") -> Star | None:
    """The star of a thing, on a page at `path`, else at this one; None while the accounts do not answer."""
    on = visit.people.look_up(lambda lists: lists.watches(visit.who.account, kind, what))
    return None if on is None else Star(kind, what, on, _here(visit, path))


def _here(visit: Visit, path: str = "") -> str:
    query = f"?{visit.query_string}" if visit.query_string else ""
    return f"{path or visit.path}{query}"
