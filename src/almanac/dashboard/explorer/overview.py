"""The first page: how much there is, what came out last, what comes next, and which feeds are late."""

from __future__ import annotations

from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, Visit

_RELEASES, _EVENTS = 6, 6


def overview(visit: Visit) -> Answer:
    """The first page."""
    coverage = visit.ask("/coverage").data
    releases = visit.ask("/release-summaries", limit=_RELEASES).data
    coming = visit.ask("/events", status="scheduled", start_date=visit.today, order="asc", limit=_EVENTS).data
    sources = visit.ask("/sources", limit=500).data
    late = [row for row in sources if row["health"] in {"late", "failing"}]
    values = {"coverage": coverage, "releases": releases, "coming": coming, "late": late, "sources": sources}
    return Html("explorer/overview.html", values)


PAGES = (Page("/", overview),)
