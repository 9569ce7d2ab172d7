"""Sources: under which licence each is, what may be done with it, and how fresh it is."""

from __future__ import annotations

from almanac.dashboard.visit import Answer, Html, NotFound, Page, Visit

#: Worst first.
_ORDER = {"failing": 0, "late": 1, "never_run": 2, "ok": 3}


def listing(visit: Visit) -> Answer:
    """All sources."""
    rows = sorted(visit.ask("/sources", limit=500).data, key=lambda row: (_ORDER[row["health"]], row["name"].lower()))
    values = {"rows": rows, "publishers": publishers(visit), "coverage": visit.ask("/coverage").data}
    return Html("explorer/sources.html", values)


def publishers(visit: Visit) -> dict[str, str]:
    """Names of publishers by id: what a feed is called says nothing without its publisher."""
    told = visit.look_up("/providers", limit=500)
    return {} if told is None else {row["id"]: row["name"] for row in told.data}


def source(visit: Visit) -> Answer:
    """One source."""
    wanted = visit.values["id"]
    for row in visit.ask("/sources", limit=500).data:
        if row["id"] == wanted:
            return Html("explorer/source.html", {"row": row, "publisher": publishers(visit).get(row["providerId"], "")})
    raise NotFound(f"There is no source “{wanted[:80]}”.")


PAGES = (Page("/sources", listing), Page("/sources/{id}", source))
