"""Indicators: the list of them, and one over all its entities."""

from __future__ import annotations

from collections import Counter
from typing import Any

from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.places import names
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, NotFound, Redirect, Visit

#: Readings of one indicator on a page, and indicators: a phone shows three of them at a time.
_PAGE, _LISTED = 100, 50


def listing(visit: Visit) -> Answer:
    """All indicators; `category`, `kind` and `q` narrow them as they do for programs."""
    asked = {name: visit.query.get(name) or None for name in ("category", "kind", "q")}
    rows = _all(visit, **asked)
    every = rows if not asked["category"] else _all(visit, kind=asked["kind"], q=asked["q"])
    counts = sorted(Counter(row["category"] for row in every).items(), key=lambda pair: (-pair[1], pair[0]))
    rows.sort(key=lambda row: (row["entityCount"] == 0, row["name"].lower()))
    number = visit.query.get("page", "1")
    page = int(number) if number.isascii() and number.isdigit() and 0 < len(number) < 6 else 1
    pages = max(1, -(-len(rows) // _LISTED))
    page = min(max(page, 1), pages)
    values = {
        "rows": rows[(page - 1) * _LISTED : page * _LISTED],
        "counts": counts,
        "asked": asked,
        "every": len(every),
        "total": len(rows),
        "first": (page - 1) * _LISTED + 1,
        "before": visit.here(page=str(page - 1)) if page > 1 else "",
        "after": visit.here(page=str(page + 1)) if page < pages else "",
    }
    return Html("explorer/indicators.html", values)


def _all(visit: Visit, **asked: str | None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        told = visit.ask("/indicators", limit=500, cursor=cursor, **asked)
        rows += told.data
        cursor = told.next_cursor
        if cursor is None:
            return rows


def indicator(visit: Visit) -> Answer:
    """One indicator: what it means, and its latest reading everywhere."""
    slug = visit.values["slug"]
    told = visit.ask_known(f"/indicators/{slug}")
    if told is None:
        raise NotFound(f"There is no indicator “{slug[:80]}”.")
    record = told.data
    if record["slug"] != slug:
        return Redirect(f"/indicators/{record['slug']}", 301)
    found = visit.ask(
        "/observations/latest",
        indicator_id=record["id"],
        limit=_PAGE,
        as_of=visit.as_of,
        cursor=visit.query.get("cursor") or None,
    )
    called = names(visit, {row["entityId"] for row in found.data})
    rows = [row | {"entityName": called.get(row["entityId"], row["entityId"])} for row in found.data]
    inputs = [visit.ask(f"/indicators/{one.removeprefix('indicator_')}").data for one in record["inputs"]]
    values = {
        "record": record,
        "rows": rows,
        "inputs": inputs,
        "next": visit.here(cursor=found.next_cursor) if found.next_cursor else "",
        "first": visit.here(cursor=None) if visit.query.get("cursor") else "",
        "series_address": series_address,
    }
    return Html("explorer/indicator.html", values)


PAGES = (Page("/indicators", listing), Page("/indicators/{slug}", indicator))
