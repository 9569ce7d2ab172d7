"""Countries: the list of them, and the brief of one, in which each number leads to its series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from almanac.api.contract.errors import ApiError
from almanac.dashboard.drawing.marks import sparkline
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.heat_map import heat_map
from almanac.dashboard.explorer.histories import SPANS, histories
from almanac.dashboard.explorer.indicators import every_indicator
from almanac.dashboard.explorer.past import past_slider
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, NotFound, Redirect, Visit
from almanac.dashboard.words.dates import day_of

Row = Mapping[str, Any]
#: Small lines of a page: more of them would be most of its weight.
_SPARKS = 60


def listing(visit: Visit) -> Answer:
    """Countries and regions that have data, as a heat map of their briefs on any day."""
    rows = visit.ask("/countries", has_data=True, limit=500).data
    history = next((told.history_from for told in visit.told if told.history_from), None)
    values = {
        "rows": rows,
        "map": heat_map(visit, rows),
        "slider": past_slider(visit, None if history is None else day_of(history)),
        "keep": {name: visit.query[name] for name in ("section", "sort", "order") if visit.query.get(name)},
    }
    return Html("explorer/countries.html", values)


def country(visit: Visit) -> Answer:
    """The brief of one country, as known on any day."""
    name = visit.values["name"]
    told = visit.ask_known(f"/countries/{name}")
    if told is None:
        raise NotFound(f"There is no country or region “{name[:80]}”.")
    record = told.data
    if record["slug"] != name:
        return Redirect(visit.here().replace(visit.path, f"/countries/{record['slug']}", 1), 301)
    brief = visit.ask(f"/briefs/{record['slug']}", as_of=visit.as_of).data
    upcoming = brief["upcomingEvents"][:5]
    latest = visit.ask("/observations/latest", entity_id=record["id"], as_of=visit.as_of, limit=500).data
    known = {row["id"]: row for row in every_indicator(visit)} if latest else {}
    held = _latest_readings(latest, known)
    history = next((told.history_from for told in visit.told if told.history_from), None)
    values: dict[str, Any] = {
        "record": record,
        "brief": brief,
        "held": held,
        "sparks": _sparks(visit, brief, latest, known),
        "spans": SPANS,
        "slider": past_slider(visit, None if history is None else day_of(history)),
        "since": None if held or visit.as_of is None else _first_known(visit, record["id"]),
        "upcoming": upcoming,
        "releases": brief["recentReleases"][:5],
        "series_address": series_address,
    }
    return Html("explorer/country.html", values)


def _latest_readings(latest: Sequence[Row], known: Mapping[str, Row]) -> dict[str, list[dict[str, Any]]]:
    """The latest reading of every indicator of a place, by category, which sections of a brief have as their key; a brief is of some of them only."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in latest:
        indicator = known.get(row["indicatorId"])
        if indicator is not None:
            found.setdefault(indicator["category"], []).append({**row, "name": indicator["name"]})
    return {category: sorted(found[category], key=lambda row: row["name"]) for category in sorted(found)}


def _sparks(visit: Visit, brief: Row, latest: Sequence[Row], known: Mapping[str, Row]) -> dict[str, Markup]:
    """Small lines by the id of their series: those of the brief first, and as many of the others as a page has room for."""
    told = {reading["seriesId"] for one in brief["sections"] for reading in one["readings"]}
    ordered = sorted(latest, key=lambda row: row["metadata"]["seriesId"] not in told)
    derived = {name for name, row in known.items() if row["kind"] == "derived"}
    lines = histories(visit, ordered[:_SPARKS], derived=derived, as_of=visit.as_of)
    return {series: drawn for series, points in lines.items() if (drawn := sparkline(points))}


def _first_known(visit: Visit, entity: str) -> str | None:
    """When the first value of a place was known, for a day before that; None where it never was, or cannot be told."""
    try:
        told = visit.look_up("/observations/vintages", entity_id=entity, sort="observed_at", order="asc", limit=1)
    except ApiError:  # more vintages than the interface sorts
        return None
    first: str | None = told.data[0]["observedAt"] if told is not None and told.data else None
    return first


PAGES = (Page("/countries", listing), Page("/countries/{name}", country))
