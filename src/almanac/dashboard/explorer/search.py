"""The one search box: results in groups, suggestions while typing, and a straight way to what is called exactly so."""

from __future__ import annotations

from typing import Any

import msgspec

from almanac.dashboard.explorer import finding
from almanac.dashboard.explorer.compare import wanted_comparison
from almanac.dashboard.formatting.company_names import company_name
from almanac.dashboard.visit import Answer, Download, Html, Page, Redirect, Visit
from almanac.reports.indicator_search import BEGUN

_LONGEST = 200
#: Suggestions below the box.
_SUGGESTED = 8
GROUPS = ("series", "indicators", "countries", "companies")


def search(visit: Visit) -> Answer:
    """Results for `q`; `type` narrows them to one group, `all` stays where one thing alone fits."""
    words = " ".join(visit.query.get("q", "").split())[:_LONGEST]
    narrowed = visit.query.get("type") or ""
    values: dict[str, Any] = {"words": words, "narrowed": narrowed if narrowed in GROUPS else ""}
    if not words:
        return Html("explorer/search.html", values | {"found": None, "groups": {}})
    stay = "all" in visit.query or values["narrowed"]
    wanted = wanted_comparison(visit, words)
    if wanted is not None and not stay:
        return Redirect(wanted.address)
    to = None if stay else finding.address(visit, words)
    if to is not None:
        return Redirect(to)
    result = finding.found(visit, words)
    if not stay and result.entity is not None and not result.rest and not result.entity.get("others"):
        return Redirect(finding.entity_address(result.entity))
    instead = ""
    if not result.total and result.suggestion is not None:
        # What was most likely meant, at once: one step less than to offer it.
        before, visit.responses = visit.responses, []
        better = finding.found(visit, result.suggestion)
        if better.total:
            instead, result = result.suggestion, better
        else:
            visit.responses = before
    groups = {name: getattr(result, name) for name in GROUPS}
    groups["companies"] = [row | {"href": company_address(row)} for row in result.companies]
    return Html("explorer/search.html", values | {"found": result, "groups": groups, "instead": instead})


def suggestions(visit: Visit) -> Answer:
    """Show what the box offers while somebody types: at most eight, each with its address and a word of what it is."""
    words = " ".join(visit.query.get("q", "").split())[:_LONGEST]
    wanted = wanted_comparison(visit, words) if words else None
    offered = [{"title": wanted.title, "kind": "compare", "href": wanted.address}] if wanted else []
    offered += _offered(finding.found(visit, words), words) if words and wanted is None else []
    offered = offered[:_SUGGESTED]
    return Download(msgspec.json.encode(offered), "application/json")


def _offered(result: finding.Found, words: str) -> list[dict[str, str]]:
    rows = [
        {
            "title": f"{row['indicatorName']}: {row['entityName']}",
            "kind": "series",
            "href": finding.series_address(row["metadata"]["seriesId"]),
        }
        for row in result.series[: _SUGGESTED - 3]
    ]
    places = [
        {"title": row["name"], "kind": row["type"], "href": finding.entity_address(row)} for row in result.countries
    ]
    # What a name begins with comes before a country that begins with it; what only mentions it comes after.
    first = [
        row for row in result.indicators if result.entity is None and (finding.nearest([row], words) or 0) <= BEGUN
    ]
    rows += [_indicator(row) for row in first]
    rows += places
    rows += [_indicator(row) for row in result.indicators if row not in first]
    rows += [
        {"title": company_name(row["name"]), "kind": "company", "href": company_address(row)}
        for row in result.companies
    ]
    return rows


def _indicator(row: dict[str, Any]) -> dict[str, str]:
    return {"title": row["name"], "kind": "indicator", "href": f"/indicators/{row['slug']}"}


def company_address(row: dict[str, Any]) -> str:
    """Return the page of a company: a row of a list has its id, what a name resolves to its slug too."""
    return f"/companies/{row.get('slug') or row['entityId']}"


PAGES = (Page("/search", search), Page("/search.json", suggestions))
