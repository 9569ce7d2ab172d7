"""Compare: lines of several places, indicators and past days on one chart, in one table, at one address."""

from __future__ import annotations

import msgspec

from almanac.dashboard.explorer import embedding
from almanac.dashboard.explorer.comparing import address, files, naming, view
from almanac.dashboard.explorer.comparing.compare_page import compare_page
from almanac.dashboard.explorer.comparing.reading import ReadComparison, compared
from almanac.dashboard.explorer.embedding import EmbeddedChart
from almanac.dashboard.explorer.finding import found
from almanac.dashboard.explorer.known import FieldProblem
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Download, Html, Redirect, Visit
from almanac.dashboard.workbook import MEDIA_TYPE

_LONGEST = 200


def page(visit: Visit) -> Answer:
    """The comparison of the address, or the way to the one that its form asks for."""
    if "lines" in visit.query or visit.query.get("add"):
        to, problem = _changed(visit)
        if problem is None:
            return Redirect(to)
    else:
        problem = None
    asked = address.read(visit)
    if problem is not None:
        asked.problems.append(problem)
    if visit.as_of is not None and asked.as_of is None:
        # A page that was refused a day is of today, and its frame says so.
        visit.query = {name: value for name, value in visit.query.items() if name != "as_of"}
    one = compared(visit, asked)
    return Html(
        "explorer/compare.html", msgspec.structs.asdict(compare_page(visit, one)), 400 if asked.problems else 200
    )


def _changed(visit: Visit) -> tuple[str, FieldProblem | None]:
    """Where a form leads; what cannot be added is said, and the page stays."""
    words = " ".join(visit.query.get("add", "").split())[:_LONGEST]
    changes = address.sent(visit) if "lines" in visit.query else {name: visit.query.get(name) for name in address.NAMES}
    problem = None
    if words:
        added = _added(visit, words, changes)
        if added is None:
            problem = FieldProblem("add", f"Nothing that can be drawn matches “{words}”. Name an indicator and a place")
        else:
            changes |= added
    visit.query = {}
    to = visit.here(**changes)
    visit.query = {name: value for name, value in changes.items() if value}
    visit.told.clear()
    return to, problem


def _added(visit: Visit, words: str, query: dict[str, str | None]) -> dict[str, str | None] | None:
    """What is added to an address for a few words: a place to the one indicator, else the best series."""
    result = found(visit, words)
    if not result.series:
        return None
    row = result.series[0]
    slug = row["indicatorId"].removeprefix("indicator_")
    if query.get("indicator") == slug and not query.get("series"):
        entities = [one for one in (query.get("entities") or "").split(",") if one]
        return {"entities": ",".join([*entities, row["entityId"]])}
    return {"series": ",".join([one for one in (query.get("series"), row["metadata"]["seriesId"]) if one])}


def _file(visit: Visit, ending: str) -> ReadComparison:
    """The comparison that a file is of: of the whole range, and without what could not be read."""
    visit.path = visit.path.removesuffix(ending)
    return compared(visit, address.read(visit))


def as_csv(visit: Visit) -> Answer:
    """The rows."""
    one = _file(visit, ".csv")
    return Download(files.as_csv(one), "text/csv; charset=utf-8", "comparison.csv")


def as_workbook(visit: Visit) -> Answer:
    """The rows for a spreadsheet."""
    one = _file(visit, ".xlsx")
    return Download(files.as_workbook(visit, one), MEDIA_TYPE, "comparison.xlsx")


def as_picture(visit: Visit) -> Answer:
    """The charts."""
    one = _file(visit, ".svg")
    return Download(files.as_picture(visit, one), "image/svg+xml", "comparison.svg")


def embedded(visit: Visit) -> Answer:
    """The charts alone, for a frame in another page."""
    return embedding.framed(visit, _embedded)


def _embedded(visit: Visit) -> EmbeddedChart:
    one = compared(visit, address.read(visit))
    return EmbeddedChart(
        naming.chart_name(one.shown, one) if one.shown else "Compare",
        [panel.figure for panel in view.panels(visit, one, view.events(visit, one))],
        view.sources(one.shown),
        one.asked.as_of,
        [f"{each.message.rstrip('.')}." for each in one.asked.problems],
    )


PAGES = (
    Page("/compare", page),
    Page(f"{embedding.PREFIX}/compare", embedded, who="anyone"),
    Page("/compare.csv", as_csv),
    Page("/compare.xlsx", as_workbook),
    Page("/compare.svg", as_picture),
)
