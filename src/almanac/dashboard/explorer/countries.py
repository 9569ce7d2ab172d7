"""Countries: all as a heat map, and one with its series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from markupsafe import Markup

from almanac.api.contract.errors import ApiError
from almanac.dashboard.drawing.columns import sparkline
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.histories import SPANS, histories
from almanac.dashboard.explorer.indicators import every_indicator
from almanac.dashboard.explorer.past import past_slider
from almanac.dashboard.formatting.dates import day
from almanac.dashboard.formatting.numbers import number, unit_of
from almanac.dashboard.formatting.values import FormattedValue, look_reading, masked
from almanac.dashboard.visit import Answer, Html, NotFound, Page, Redirect, Visit

#: What the view of all sections in short has; of growth whichever is told of an economy.
_SHORT = (
    "gdp_growth_yoy", "gdp_growth_official_yoy", "gdp_growth_annual", "industrial_production_growth_yoy", "cpi_inflation_yoy",
    "cpi_inflation_annual", "core_cpi_inflation_yoy", "house_price_growth_yoy", "unemployment_rate", "policy_rate", "gov_yield_10y",
    "long_term_rate_10y", "current_account_pct_gdp", "government_debt_pct_gdp", "fiscal_balance_pct_gdp",
)  # fmt: skip
#: Decimals at most: a quarter of a point is told, an eighth is not needed at a glance.
_DIGITS = 2
#: Of so large a share of the economies a measure is told, to be a column.
_COVERED = 0.1
#: Words for a place among ten years, by the percentile below which each is said; and their classes.
_PLACES = ((10, "very low", "p1"), (30, "low", "p2"), (70, "usual", "p3"), (90, "high", "p4"), (101, "very high", "p5"))


class HeatCell(msgspec.Struct, frozen=True):
    """A reading: how its value looks, its place in words with its class, and where it leads. Empty where there is none."""

    look: FormattedValue | None = None
    place: str = ""
    kind: str = ""
    href: str = ""
    title: str = ""


def heat_map(visit: Visit, places: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the map of economies (rows of /countries) on the day of the address, of the section it names or of all in short."""
    briefs = _briefs(visit, places)
    wanted = visit.query.get("section", "")
    keys = {one["key"]: one["title"] for brief in briefs.values() for one in brief["sections"]}
    wanted = wanted if wanted in keys else ""
    chosen = _columns(briefs, wanted)
    readings = {
        row["slug"]: {
            reading["indicatorId"]: reading for one in briefs[row["slug"]]["sections"] for reading in one["readings"]
        }
        for row in places
        if row["slug"] in briefs
    }
    digits = {
        slug: min(unit_of(some[0]).digits([row["value"] for row in some]), _DIGITS)
        for slug in chosen
        if (some := [found[slug] for found in readings.values() if slug in found and not masked(found[slug])])
    }
    by, order = visit.query.get("sort", ""), visit.query.get("order", "desc")
    rows = [
        (row, [_cell(visit, readings[row["slug"]].get(slug), digits.get(slug)) for slug in chosen])
        for row in places
        if row["slug"] in readings
    ]
    without = [row["name"] for row, cells in rows if not any(cell.look for cell in cells)]
    rows = [(row, cells) for row, cells in rows if any(cell.look for cell in cells)]
    if f"indicator_{by}" in chosen:
        rows = _sorted(rows, readings, f"indicator_{by}", ascending=order == "asc")
    counts = Counter(cell.kind for _, cells in rows for cell in cells)
    return {
        "columns": [_head(visit, slug, readings.values(), by, order) for slug in chosen],
        "rows": [
            {"name": row["name"], "href": f"/countries/{row['slug']}{visit.then}", "cells": cells}
            for row, cells in rows
        ],
        "sections": [
            {"title": title, "href": visit.here(section=key or None, sort=None, order=None), "current": key == wanted}
            for key, title in {"": "In short", **keys}.items()
        ],
        "without": without,
        "places": [(word, kind, counts[kind]) for _, word, kind in _PLACES],
    }


def _briefs(visit: Visit, places: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the briefs by slug. The first is among the requests that the page shows: the others differ by their name alone."""
    found: dict[str, Any] = {}
    for row in places:
        ask = visit.follow if found else visit.ask
        found[row["slug"]] = ask(f"/briefs/{row['slug']}", as_of=visit.as_of).data
    return found


def _columns(briefs: Mapping[str, Any], wanted: str) -> list[str]:
    """Ids of the indicators that are columns, in the order of a brief."""
    counts: Counter[str] = Counter()
    # Sections are told in one order, whichever of them an economy has readings of.
    order: dict[str, list[str]] = {one["key"]: [] for brief in briefs.values() for one in brief["sections"]}
    for brief in briefs.values():
        for one in brief["sections"]:
            for reading in one["readings"]:
                counts[reading["indicatorId"]] += 1
                if reading["indicatorId"] not in order[one["key"]]:
                    order[one["key"]].append(reading["indicatorId"])
    least = max(1, round(len(briefs) * _COVERED))
    found: list[str] = []
    for key, names in order.items():
        covered = [name for name in names if counts[name] >= least]
        if wanted:
            found += covered if key == wanted else []
        else:
            found += [name for name in covered if name.removeprefix("indicator_") in _SHORT]
    return found


def _cell(visit: Visit, reading: Mapping[str, Any] | None, digits: int | None) -> HeatCell:
    if reading is None:
        return HeatCell()
    told = look_reading(reading, digits=digits, today=visit.today)
    href = series_address(reading["seriesId"]) + visit.then
    title = f"{reading['name']}, period to {day(reading['periodEnd'])}"
    percentile = reading["percentile10y"]
    if told.state == "stale" or percentile is None or not told.shown:
        # What is behind says nothing of now: it has no colour, and its chip would fill the cell.
        return HeatCell(told._replace(chip=None), "stale" if told.state == "stale" else "", "", href, title)
    word, kind = next((word, kind) for below, word, kind in _PLACES if percentile < below)
    return HeatCell(told, f"{word}, {number(percentile, 0)}", kind, href, title)


def _sorted(
    rows: list[tuple[Mapping[str, Any], list[HeatCell]]], readings: Mapping[str, Any], slug: str, *, ascending: bool
) -> list[tuple[Mapping[str, Any], list[HeatCell]]]:
    """By the values of a column; those without one that may be shown last."""

    def value(pair: tuple[Mapping[str, Any], list[HeatCell]]) -> float | None:
        reading = readings[pair[0]["slug"]].get(slug)
        return None if reading is None or masked(reading) else reading["value"]

    there = sorted(
        (pair for pair in rows if value(pair) is not None), key=lambda pair: value(pair) or 0.0, reverse=not ascending
    )
    return there + [pair for pair in rows if value(pair) is None]


def _head(visit: Visit, slug: str, readings: Any, by: str, order: str) -> dict[str, Any]:
    some = [found[slug] for found in readings if slug in found]
    units = {unit_of(row).head for row in some}
    name = slug.removeprefix("indicator_")
    turned = by == name and order == "desc"
    address = visit.here(sort=name, order="asc" if turned else None)
    state = "" if by != name else "ascending" if order == "asc" else "descending"
    return {
        "slug": name,
        "name": some[0]["name"],
        "unit": units.pop() if len(units) == 1 else "",
        "sort": address,
        "sorted": state,
    }


Row = Mapping[str, Any]
#: Small lines of a page: more of them would be most of its weight.
_SPARKS = 60


def listing(visit: Visit) -> Answer:
    """Countries and regions that have data, as a heat map of their briefs on any day."""
    rows = visit.ask("/countries", has_data=True, limit=500).data
    values = {
        "rows": rows,
        "map": heat_map(visit, rows),
        "slider": past_slider(visit),
        "keep": visit.kept("section", "sort", "order"),
    }
    return Html("explorer/countries.html", values)


def country(visit: Visit) -> Answer:
    """Show the brief of one country, as known on any day."""
    name = visit.values["name"]
    told = visit.ask_if_known(f"/countries/{name}")
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
    values: dict[str, Any] = {
        "record": record,
        "brief": brief,
        "held": held,
        "sparks": _sparks(visit, brief, latest, known),
        "spans": SPANS,
        "slider": past_slider(visit),
        "since": None if held or visit.as_of is None else _first_known(visit, record["id"]),
        "upcoming": upcoming,
        "releases": brief["recentReleases"][:5],
        "series_address": series_address,
    }
    return Html("explorer/country.html", values)


def _latest_readings(latest: Sequence[Row], known: Mapping[str, Row]) -> dict[str, list[dict[str, Any]]]:
    """Return the latest reading of every indicator of a place, by category, which sections of a brief have as their key; a brief is of some of them only."""
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
    """Return the time at which a place's first value became known; None if it has none, or too many to sort."""
    try:
        told = visit.look_up("/observations/vintages", entity_id=entity, sort="observed_at", order="asc", limit=1)
    except ApiError:  # more vintages than the interface sorts
        return None
    first: str | None = told.data[0]["observedAt"] if told is not None and told.data else None
    return first


PAGES = (
    Page("/countries", listing),
    Page("/countries/{name}", country),
)
