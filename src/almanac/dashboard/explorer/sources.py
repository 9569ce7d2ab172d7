"""Sources: under which licence each is, what may be done with it, and how fresh it is."""

from __future__ import annotations

from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, NotFound, Visit

#: Worst first.
_ORDER = {"failing": 0, "late": 1, "never_run": 2, "ok": 3}


def listing(visit: Visit) -> Answer:
    """All sources."""
    rows = sorted(visit.ask("/sources", limit=500).data, key=lambda row: (_ORDER[row["health"]], row["name"].lower()))
    return Html("explorer/sources.html", {"rows": rows, "publishers": _publishers(visit)})


def _publishers(visit: Visit) -> dict[str, str]:
    return {row["id"]: row["name"] for row in visit.ask("/providers", limit=500).data}


def source(visit: Visit) -> Answer:
    """One source."""
    wanted = visit.values["id"]
    for row in visit.ask("/sources", limit=500).data:
        if row["id"] == wanted:
            return Html(
                "explorer/source.html", {"row": row, "publisher": _publishers(visit).get(row["providerId"], "")}
            )
    raise NotFound(f"There is no source “{wanted[:80]}”.")


PAGES = (Page("/sources", listing), Page("/sources/{id}", source))
