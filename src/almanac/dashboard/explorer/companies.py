"""Companies: the list of those that have statements, with their scores."""

from __future__ import annotations

from typing import Any, NamedTuple

from almanac.api.contract.errors import ApiError
from almanac.dashboard.explorer.places import domiciles, names
from almanac.dashboard.visit import Answer, Html, Page, Visit

_PAGE = 50
#: Rows from which on a page that was filled by several requests is full.
_ENOUGH = 25
#: What the list can be sorted by, as the interface names it; scores go from the highest down.
SORTS = {
    "name": "Name",
    "ticker": "Ticker",
    "score": "Score",
    "profitability": "Profitability",
    "growth": "Growth",
    "strength": "Strength",
    "efficiency": "Efficiency",
    "quality": "Quality",
    "piotroski_f": "Piotroski F",
    "altman_z2": "Altman Z″",
}
_RISING = {"name", "ticker"}
_EXPIRED = "This list is older than 7 days."
#: In the address of a page of those without the value that is sorted by.
_REST = "rest"


def listing(visit: Visit) -> Answer:
    """Companies; sector, industry, country and `q` narrow them as they do for programs."""
    asked = {name: visit.query.get(name) or None for name in ("sector", "industry", "country", "q")}
    sort = visit.query.get("sort", "name")
    sort = sort if sort in SORTS else "name"
    order = visit.query.get("order") or ("asc" if sort in _RISING else "desc")
    errors: list[dict[str, str]] = []
    expired = ""
    cursor = visit.query.get("cursor") or None
    try:
        listed = _page(visit, asked, sort, order, cursor)
    except ApiError as error:
        field = (error.details or {}).get("parameter", "") if isinstance(error.details, dict) else ""
        if error.status != 400:
            raise
        if field == "cursor":
            expired = _EXPIRED
        else:
            errors = [{"field": field if field in asked else "", "message": error.message}]
        # The page stays, with the whole list below what was refused.
        listed = _page(visit, asked if expired else {}, sort, "asc" if sort in _RISING else "desc", None)
    values: dict[str, Any] = {
        "rows": listed.rows,
        "countries": names(visit, {row["country"] for row in listed.rows if row["country"]}),
        "asked": asked,
        "sort": sort,
        "order": order,
        "sorts": SORTS,
        "places": domiciles(visit),
        "warnings": listed.warnings,
        "next": visit.here(**listed.next) if listed.next else "",
        "first": visit.here(cursor=None, rest=None) if cursor or visit.query.get(_REST) else "",
        "expired": expired,
        "errors": errors,
    }
    return Html("explorer/companies.html", values, 400 if errors or expired else 200)


class _Listed(NamedTuple):
    """Rows of one page, what the interface warns of, and what the address of the next page has; empty: there is none."""

    rows: list[dict[str, Any]]
    warnings: list[dict[str, Any]]
    next: dict[str, str | None]


def _page(visit: Visit, asked: dict[str, str | None], sort: str, order: str, cursor: str | None) -> _Listed:
    """
    One page: companies with a value to sort by, then those without one from A on, whichever way the values go. The
    interface turns the names of those too; so they are taken from the list by name.
    """
    if sort == "name" or not visit.query.get(_REST):
        told = visit.ask("/companies", **asked, sort=sort, order=order, limit=_PAGE, cursor=cursor)
        rows = told.data if sort == "name" else [row for row in told.data if _value(row, sort) is not None]
        warnings = told.meta.get("warnings", [])
        if len(rows) == len(told.data):
            return _Listed(rows, warnings, {"cursor": told.next_cursor} if told.next_cursor else {})
        cursor = None
    else:
        rows, warnings = [], []
    while True:
        told = visit.ask("/companies", **asked, sort="name", order="asc", limit=_PAGE, cursor=cursor)
        rows += [row for row in told.data if _value(row, sort) is None]
        cursor = told.next_cursor
        if cursor is None or len(rows) >= _ENOUGH:
            return _Listed(rows, warnings, {"cursor": cursor, _REST: "1"} if cursor else {})


def _value(row: dict[str, Any], sort: str) -> Any:
    """Return what a row is sorted by."""
    return {"piotroski_f": row["piotroskiF"], "altman_z2": row["altmanZ2"], **row, **row["scores"]}[sort]


PAGES = (Page("/companies", listing),)
