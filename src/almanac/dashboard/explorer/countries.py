"""Countries: the list of them, and the brief of one, in which each number leads to its series."""

from __future__ import annotations

from typing import Any

from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, NotFound, Redirect, Visit


def listing(visit: Visit) -> Answer:
    """Countries and regions that have data."""
    return Html("explorer/countries.html", {"rows": visit.ask("/countries", has_data=True, limit=500).data})


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
    values: dict[str, Any] = {
        "record": record,
        "brief": brief,
        "upcoming": upcoming,
        "releases": brief["recentReleases"][:5],
        "series_address": series_address,
    }
    return Html("explorer/country.html", values)


PAGES = (Page("/countries", listing), Page("/countries/{name}", country))
