"""Companies: the list of those that have statements, with their scores."""

from __future__ import annotations

from typing import Any

from almanac.api.contract.errors import ApiError
from almanac.dashboard.explorer.places import names, places
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, Visit

_PAGE = 50
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
        told = visit.ask("/companies", **asked, sort=sort, order=order, limit=_PAGE, cursor=cursor)
    except ApiError as error:
        field = (error.details or {}).get("parameter", "") if isinstance(error.details, dict) else ""
        if error.status != 400:
            raise
        if field == "cursor":
            expired = _EXPIRED
        else:
            errors = [{"field": field if field in asked else "", "message": error.message}]
        # The page stays, with the whole list below what was refused.
        told = visit.ask("/companies", sort=sort, limit=_PAGE, **(asked if expired else {}))
    values: dict[str, Any] = {
        "rows": told.data,
        "countries": names(visit, {row["country"] for row in told.data if row["country"]}),
        "asked": asked,
        "sort": sort,
        "order": order,
        "sorts": SORTS,
        "places": places(visit),
        "warnings": told.meta.get("warnings", []),
        "next": visit.here(cursor=told.next_cursor) if told.next_cursor else "",
        "first": visit.here(cursor=None) if cursor else "",
        "expired": expired,
        "errors": errors,
    }
    return Html("explorer/companies.html", values, 400 if errors or expired else 200)


PAGES = (Page("/companies", listing),)
