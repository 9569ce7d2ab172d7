"""The page of a comparison, and the same as files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any

import msgspec

from almanac.dashboard.drawing.figure import ChartFigure, LegendEntry, PicturePanel, lines_readout, picture
from almanac.dashboard.drawing.lines import DASHED_FROM, ChartLine, EventMark, Frame, line_chart, room_left
from almanac.dashboard.drawing.svg import colour
from almanac.dashboard.explorer import comparison, embedding, event_markers
from almanac.dashboard.explorer.embedding import EmbeddedChart
from almanac.dashboard.explorer.event_markers import EventSubject, MarkedEvents
from almanac.dashboard.explorer.finding import found
from almanac.dashboard.explorer.past import FieldProblem
from almanac.dashboard.formatting.dates import NBSP, day, day_of
from almanac.dashboard.formatting.numbers import full
from almanac.dashboard.formatting.transforms import INDEX, LEVEL, TRANSFORMS
from almanac.dashboard.formatting.values import ChartPoint, with_values
from almanac.dashboard.visit import Answer, Download, Html, Page, Redirect, Visit, csv_download
from almanac.dashboard.workbook import MEDIA_TYPE, Cell, workbook

Row = dict[str, Any]
#: Rows of a page of the table, and its cells.
_ROWS, _CELLS = 60, 360
#: Beyond so many lines no sentence says since when a value is known: the page of each series does.
_DATED_LINES = 6
_WITHHELD = "Withheld. The licence of these sources forbids passing their values on. Periods and times are shown."


class Panel(msgspec.Struct):
    """Lines of one unit."""

    lines: list[comparison.ComparedLine]
    figure: ChartFigure


class ComparedCell(msgspec.Struct, frozen=True):
    """One line in one period: its text, its whole value, and its state where it has none."""

    text: str = ""
    full: str | None = None
    withheld: bool = False


def events(visit: Visit, compared: comparison.ReadComparison) -> MarkedEvents | None:
    """Return what is marked below the panels, or may be; None where nothing is drawn."""
    charts = [_subjects(lines) for lines in _panels(compared).values()]
    if not any(charts):
        return None
    points = [point for line in compared.shown for point in with_values(line.points)]
    oldest = min(point.end if point.start is None else point.start for point in points)
    return event_markers.marked(visit, charts, date.fromordinal(oldest), as_of=compared.known_on)


def _subjects(lines: Sequence[comparison.ComparedLine]) -> list[EventSubject]:
    return [subject for line in lines if (subject := line.subject) is not None]


def _panels(compared: comparison.ReadComparison) -> dict[tuple[str, bool], list[comparison.ComparedLine]]:
    groups: dict[tuple[str, bool], list[comparison.ComparedLine]] = {}
    for line in compared.shown:
        groups.setdefault((line.unit.head, line.unit.fraction), []).append(line)
    return groups


def draw_panels(visit: Visit, compared: comparison.ReadComparison, marked: MarkedEvents | None = None) -> list[Panel]:
    """
    Return a panel for each unit, in the order of the lines; all have one time axis and one column of labels. `marked`: under the axis
    of each panel that has a line the event is of.
    """
    groups = _panels(compared)
    marks = [[] if marked is None else marked.marks_of(_subjects(lines)) for lines in groups.values()]
    # A label says what tells a line from those beside it, its name what tells it from all.
    charts = [
        [
            ChartLine(
                comparison.line_name(line, compared.shown),
                line.points,
                line.key.number,
                comparison.line_label(line, lines),
            )
            for line in lines
        ]
        for lines in groups.values()
    ]
    places = [(points[0].at, points[-1].at) for line in compared.shown if (points := line.points)]
    places += [(some[0].at, some[-1].at) for some in marks if some]
    frame = None
    if places:
        rooms = [room_left(lines, fraction=fraction) for (_, fraction), lines in zip(groups, charts, strict=True)]
        frame = Frame(
            (min(first for first, _ in places), max(last for _, last in places)),
            [line.label for lines in charts for line in lines],
            max(rooms),
        )
    found = []
    for number, (lines, chart, marked_here) in enumerate(zip(groups.values(), charts, marks, strict=True), 1):
        found.append(Panel(lines, _figure(number, lines, chart, compared, frame, marked_here)))
    return found


def _figure(
    number: int,
    lines: list[comparison.ComparedLine],
    drawn: list[ChartLine],
    compared: comparison.ReadComparison,
    frame: Frame | None,
    marks: list[EventMark],
) -> ChartFigure:
    drawing = None
    if frame is not None:
        drawing = line_chart(drawn, fraction=lines[0].unit.fraction, frame=frame, events=marks)
    legend = [LegendEntry(name="Event", kind="event")] if marks else []
    if any(line.newest is not None for line in compared.shown):
        nothing = "No period of these lines lies in this range."
    elif compared.asked.as_of:
        nothing = f"Nothing of these lines was known on {day(compared.asked.as_of)}."
    else:
        nothing = "There are no values of these lines."
    shut = any(line.rows for line in lines) and all(p.state == "withheld" for line in lines for p in line.points)
    dated = len(compared.shown) <= _DATED_LINES
    told = [[_write_point(line, point, known if dated else "") for point, known in _with_rows(line)] for line in lines]
    return ChartFigure(
        id=f"chart-{number}",
        title=comparison.chart_name(lines, compared),
        unit=lines[0].unit.head,
        caption=comparison.caption(lines, compared),
        drawing=drawing,
        legend=legend,
        readout=lines_readout(drawn, told, events=marks),
        events=bool(marks),
        empty=_WITHHELD if shut else nothing,
    )


def _with_rows(line: comparison.ComparedLine) -> list[tuple[ChartPoint, str]]:
    """Its points, each with the day since when its value is known, where it is as published."""
    known = states(line)
    found = []
    for point in line.points:
        end = date.fromordinal(point.end).isoformat()
        start = end if point.start is None else date.fromordinal(point.start).isoformat()
        row = known.get((start, end))
        found.append((point, "" if row is None else row["observedAt"]))
    return found


def states(line: comparison.ComparedLine) -> dict[tuple[str, str], Row]:
    """Its rows by the first and last day of their periods; none where values were computed of several."""
    if line.made is None or line.made.formula:
        return {}
    return {((row["periodStart"] or row["periodEnd"])[:10], row["periodEnd"][:10]): row for row in line.rows}


def _write_point(line: comparison.ComparedLine, point: ChartPoint, known: str) -> str:
    if point.value is None:
        return "withheld" if point.state == "withheld" else "no data"
    text = line.unit.sentence(point.value, line.digits)
    if point.forecast:
        text += ", forecast"
    since = "first published" if line.known == comparison.FIRST else "known since"
    return f"{text}, {since} {day(known)}" if known else text


# -- table --------------------------------------------------------------------------------------------------------------


def table(compared: comparison.ReadComparison) -> list[tuple[str, dict[int, ChartPoint]]]:
    """Return the rows of the table, newest period first: its name, and the points of the lines by their places."""
    rows: dict[tuple[int, int], dict[int, ChartPoint]] = {}
    for place, line in enumerate(compared.shown):
        for point in line.points:
            rows.setdefault((point.end, point.end if point.start is None else point.start), {})[place] = point
    return [(next(iter(row.values())).period, row) for _, row in sorted(rows.items(), reverse=True)]


def _cell(line: comparison.ComparedLine, point: ChartPoint | None) -> ComparedCell:
    if point is None or (point.value is None and point.state != "withheld"):
        return ComparedCell()
    if point.value is None:
        return ComparedCell("Withheld", withheld=True)
    return ComparedCell(line.unit.cell(point.value, line.digits), full(point.value))


# -- form ---------------------------------------------------------------------------------------------------------------


def listed_lines(visit: Visit, compared: comparison.ReadComparison) -> list[dict[str, Any]]:
    """Return the lines of the form, the hidden ones too."""
    units = Counter(line.unit.head for line in compared.shown)
    dashed = {line.key.number for line in compared.shown if units[line.unit.head] >= DASHED_FROM}
    typed = dict(part.split(":", 1) for part in visit.query.get("known", "").split(",") if ":" in part)
    found = []
    for line in compared.lines:
        newest = next((p for p in reversed(line.points) if p.value is not None and not p.forecast), None)
        note = ""
        if newest is not None and newest.value is not None:
            note = f"{line.unit.figure(newest.value, line.digits)} {newest.period}"
        found.append(
            {
                "number": line.key.number,
                "name": comparison.line_name(line, compared.lines),
                "on": not line.key.off,
                "known": typed.get(str(line.key.number), ""),
                "note": note,
                "empty": _why_empty(line),
                "href": line.address,
                "sign": f"{colour(line.key.number)}{' dash' if line.key.number in dashed else ''}",
                "remove": _without(visit, compared, line),
            }
        )
    return found


def _why_empty(line: comparison.ComparedLine) -> str:
    if line.points:
        return "Withheld" if all(point.state == "withheld" for point in line.points) else ""
    if line.newest is None:
        return f"Nothing was known on {day(line.known)}" if line.known not in {"", comparison.FIRST} else "No data"
    return "No value in this range"


def _without(visit: Visit, compared: comparison.ReadComparison, line: comparison.ComparedLine) -> str:
    """Return the address without a line; empty where it is one of several that an indicator or a place stands for."""
    key, keys = line.key, compared.asked.keys
    if len(keys) == 1:
        return ""
    pairs = [one for one in keys if not one.series]
    if key.series:
        name, left = "series", [one.series for one in keys if one.series and one is not key]
    elif len({one.indicator for one in pairs}) == 1:
        name, left = "entities", [one.entity for one in pairs if one is not key]
    elif len({one.entity for one in pairs}) == 1 and len({one.indicator for one in pairs}) == len(pairs):
        name, left = "indicator", [one.indicator for one in pairs if one is not key]
    else:
        return ""
    off = [_moved(one.number, key.number) for one in keys if one.off and one is not key]
    known = [f"{_moved(one.number, key.number)}:{one.known}" for one in keys if one.known and one is not key]
    return visit.here(**{name: ",".join(left), "off": ",".join(map(str, off)), "known": ",".join(known), "page": None})


def _moved(number: int, gone: int) -> int:
    return number - (number > gone)


def ranges(visit: Visit, compared: comparison.ReadComparison) -> list[dict[str, Any]]:
    """Links to ranges, the one that is shown marked."""
    newest = compared.newest or visit.today
    usual = 1 if compared.often else 10
    found = []
    for years in (1, 5, 10, 25):
        start = (newest - timedelta(days=round(365.25 * years) - 1)).isoformat()
        current = compared.last is None and (
            compared.asked.first is None if years == usual else compared.asked.first == start
        )
        found.append(
            {
                "title": f"{years}Y",
                "href": visit.here(to=None, page=None, **{"from": None if years == usual else start}),
                "current": current,
                "aloud": "one year" if years == 1 else f"{years} years",
            }
        )
    every = {
        "title": "All",
        "href": visit.here(to=None, page=None, **{"from": comparison.ALL}),
        "current": compared.asked.first == comparison.ALL and compared.last is None,
        "aloud": "all periods",
    }
    return [*found, every]


def notes(compared: comparison.ReadComparison) -> list[str]:
    """Sentences below the charts: how values were computed, what is of another frequency, what was not read."""
    found = [words for words in (comparison.computed_words(compared),) if words]
    slow: dict[str, list[str]] = {}
    for line in compared.shown:
        if line.newest is not None:
            slow.setdefault(line.frequency.word, []).append(comparison.line_name(line, compared.shown))
    if len(slow) > 1:
        found.append("; ".join(f"{word}: {', '.join(names)}" for word, names in slow.items()) + ".")
    if any(not line.complete for line in compared.shown):
        found.append("There are more rows than a page reads: the oldest are left out. Choose a shorter range.")
    if compared.asked.show != LEVEL and any(p.forecast for line in compared.shown for p in line.points):
        found.append("What is computed from a forecast is dotted as one.")
    return found


def sources(lines: Sequence[comparison.ComparedLine]) -> list[tuple[str, str]]:
    """Attribution and licence of what is shown, each pair once."""
    pairs = [(row["rights"]["attribution"], row["rights"]["license"]) for line in lines for row in line.rows[:1]]
    return list(dict.fromkeys(pairs))


_COLUMNS = (
    "line", "seriesId", "indicator", "place", "knownOn", "frequency", "periodStart", "periodEnd", "value", "unit", "transform", "withheld",
)  # fmt: skip


def as_csv(compared: comparison.ReadComparison) -> Download:
    """
    Return a row for each value, unrounded, by line and then by period, oldest first. A withheld value is empty and `withheld`
    says so.
    """
    rows = (
        [
            comparison.full_name(line).replace(NBSP, " "), line.series_id, line.indicator["slug"], line.place, line.known, line.frequency.word,
            "" if point.start is None else date.fromordinal(point.start).isoformat(), date.fromordinal(point.end).isoformat(),
            "" if point.value is None else full(point.value), line.unit.head, compared.asked.show, str(point.state == "withheld").lower(),
        ]
        for line in compared.shown
        for point in line.points
    )  # fmt: skip
    return csv_download("comparison.csv", _COLUMNS, rows)


def as_workbook(visit: Visit, compared: comparison.ReadComparison) -> bytes:
    """Return a column for each line, newest period first, and the sheet that says what they are."""
    cells: dict[tuple[date, date], dict[int, ChartPoint]] = {}
    for place, line in enumerate(compared.shown):
        for point in line.points:
            end = date.fromordinal(point.end)
            start = end if point.start is None else date.fromordinal(point.start)
            cells.setdefault((end, start), {})[place] = point
    columns = ["Period", "First day", "Last day"]
    columns += [f"{comparison.full_name(line)} ({line.unit.head})" for line in compared.shown]
    alone = states(compared.shown[0]) if len(compared.shown) == 1 else {}
    if alone:
        columns += ["Known since", "Revision status"]
    rows: list[list[Cell]] = []
    for (end, start), points in sorted(cells.items(), reverse=True):
        there = [points.get(place) for place in range(len(compared.shown))]
        row: list[Cell] = [next(iter(points.values())).period, start, end]
        row += [None if one is None else "withheld" if one.state == "withheld" else one.value for one in there]
        state = alone.get((start.isoformat(), end.isoformat()))
        if state is not None:
            row += [day_of(state["observedAt"]), state["revisionStatus"]]
        rows.append(row)
    return workbook(columns, rows, _about(visit, compared))


def _about(visit: Visit, compared: comparison.ReadComparison) -> list[list[Cell]]:
    asked = compared.asked
    title = comparison.chart_name(compared.shown, compared)
    found: list[list[Cell]] = [
        ["Title", title],
        ["As of", date.fromisoformat(asked.as_of) if asked.as_of else visit.today],
        ["Shown", TRANSFORMS[asked.show].title],
    ]
    if asked.show != LEVEL:
        found.append(["How computed", comparison.computed_words(compared)])
    found.append(["Address", _address(visit)])
    for number, one in enumerate(visit.shown_requests, 1):
        found.append([f"Request {number}", f"{visit.settings.api_address}{one.path_and_query}"])
    found += [
        [],
        ["Line", "Series", "Known", "Unit", "Source", "Licence", "Licence class", "Attribution", "Lineage"],
    ]
    for line in compared.shown:
        rights: dict[str, str] = next((row["rights"] for row in (*line.rows, line.newest) if row is not None), {})
        found.append(
            [
                comparison.full_name(line),
                line.series_id,
                comparison.known_words(line) or "known today",
                line.unit.head,
                line.series_id.partition(":")[0],
                rights.get("license", ""),
                rights.get("licenseClass", ""),
                rights.get("attribution", ""),
                f"{visit.settings.dashboard_address}{line.address}#lineage",
            ]
        )
    return found


def as_picture(visit: Visit, compared: comparison.ReadComparison) -> bytes:
    """Return the charts as one picture, at their widest."""
    marked = events(visit, compared)
    shown = draw_panels(visit, compared, marked)
    panels = [PicturePanel(panel.figure.unit, panel.figure.drawing, panel.figure.empty) for panel in shown]
    known = day(compared.asked.as_of or visit.today)
    foot = [f"Source: {attribution}. Licence: {terms}." for attribution, terms in sources(compared.shown)]
    if comparison.computed_words(compared):
        foot.append(comparison.computed_words(compared))
    if marked is not None and marked.words:
        foot.append(marked.words)
    foot.append(f"{'As first published, known' if compared.asked.firsts else 'As known'} on {known}. {_address(visit)}")
    return picture(comparison.chart_name(compared.shown, compared), panels, foot)


def _address(visit: Visit) -> str:
    """Return the page that shows the same."""
    return f"{visit.settings.dashboard_address}{visit.here(page=None)}"


def compare_page(visit: Visit, one: comparison.ReadComparison) -> dict[str, Any]:
    """Return the page of a comparison that was read."""
    rows = table(one)
    # Of many lines there are fewer rows, for a page is not to grow with them.
    pager = visit.pager(len(rows), min(_ROWS, _CELLS // max(len(one.shown), 1)))
    marked = events(visit, one)
    query = visit.here(page=None).partition("?")[2]
    return {
        "one": one,
        "title": comparison.what(one.shown or one.lines) if one.lines else "Compare",
        "panels": draw_panels(visit, one, marked),
        "marked": marked,
        # Every line that there is; `count` is of those that the address asks for, of which some may be none.
        "lines": listed_lines(visit, one),
        "count": len(one.asked.keys),
        "ranges": ranges(visit, one) if one.lines else [],
        # Sentences below the panels, and pairs of attribution and licence.
        "notes": notes(one),
        "sources": sources(one.shown),
        # What the form keeps of the address and shows no field for.
        "kept": visit.kept("indicator", "entities", "series", "events"),
        "transforms": [{"value": each.name, "label": each.title} for each in TRANSFORMS.values()],
        # Whether lines begin at 100, and on which day, empty where none is common to them.
        "indexed": one.asked.show == INDEX,
        "base": "" if one.base is None else one.base.isoformat(),
        "columns": [{"name": comparison.line_name(line, one.shown), "href": line.address} for line in one.shown],
        # One page of the table.
        "rows": [
            {"period": period, "cells": [_cell(line, row.get(place)) for place, line in enumerate(one.shown)]}
            for period, row in rows[pager.rows]
        ],
        "pages": pager,
        "downloads": [{"kind": kind.upper(), "href": f"/compare.{kind}?{query}"} for kind in ("csv", "xlsx", "svg")],
        # The picture that a script makes a PNG of.
        "picture": f"/compare.svg?{query}",
        # The HTML that shows the panels elsewhere; empty where that is allowed nowhere.
        "embed": embedding.frame_markup(visit, "/compare", comparison.chart_name(one.shown, one)) if one.shown else "",
        "errors": one.asked.problems,
    }


_LONGEST = 200


def page(visit: Visit) -> Answer:
    """Show the comparison of the address, or the way to the one that its form asks for."""
    if "lines" in visit.query or visit.query.get("add"):
        to, problem = _changed(visit)
        if problem is None:
            return Redirect(to)
    else:
        problem = None
    asked = comparison.read(visit)
    if problem is not None:
        asked.problems.append(problem)
    if visit.as_of is not None and asked.as_of is None:
        # A page that was refused a day is of today, and its frame says so.
        visit.query = {name: value for name, value in visit.query.items() if name != "as_of"}
    one = comparison.compared(visit, asked)
    return Html("explorer/compare.html", compare_page(visit, one), 400 if asked.problems else 200)


def _changed(visit: Visit) -> tuple[str, FieldProblem | None]:
    """Where a form leads; what cannot be added is said, and the page stays."""
    words = " ".join(visit.query.get("add", "").split())[:_LONGEST]
    changes = (
        comparison.sent(visit) if "lines" in visit.query else {name: visit.query.get(name) for name in comparison.NAMES}
    )
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
    visit.responses.clear()
    return to, problem


def _added(visit: Visit, words: str, query: dict[str, str | None]) -> dict[str, str | None] | None:
    """Return what is added to an address for a few words: a place to the one indicator, else the best series."""
    result = found(visit, words)
    if not result.series:
        return None
    row = result.series[0]
    slug = row["indicatorId"].removeprefix("indicator_")
    if query.get("indicator") == slug and not query.get("series"):
        entities = [one for one in (query.get("entities") or "").split(",") if one]
        return {"entities": ",".join([*entities, row["entityId"]])}
    return {"series": ",".join([one for one in (query.get("series"), row["metadata"]["seriesId"]) if one])}


def _file(visit: Visit, ending: str) -> comparison.ReadComparison:
    """Return the comparison that a file is of: of the whole range, and without what could not be read."""
    visit.path = visit.path.removesuffix(ending)
    return comparison.compared(visit, comparison.read(visit))


def csv_file(visit: Visit) -> Answer:
    """Show the rows."""
    return as_csv(_file(visit, ".csv"))


def workbook_file(visit: Visit) -> Answer:
    """Show the rows for a spreadsheet."""
    one = _file(visit, ".xlsx")
    return Download(as_workbook(visit, one), MEDIA_TYPE, "comparison.xlsx")


def picture_file(visit: Visit) -> Answer:
    """Show the charts."""
    one = _file(visit, ".svg")
    return Download(as_picture(visit, one), "image/svg+xml", "comparison.svg")


def _embedded(visit: Visit) -> EmbeddedChart:
    one = comparison.compared(visit, comparison.read(visit))
    return EmbeddedChart(
        comparison.chart_name(one.shown, one) if one.shown else "Compare",
        [panel.figure for panel in draw_panels(visit, one, events(visit, one))],
        sources(one.shown),
        one.asked.as_of,
        [f"{each.message.rstrip('.')}." for each in one.asked.problems],
    )


PAGES = (
    Page("/compare", page),
    Page(f"{embedding.PREFIX}/compare", partial(embedding.framed, make=_embedded), who="anyone"),
    Page("/compare.csv", csv_file),
    Page("/compare.xlsx", workbook_file),
    Page("/compare.svg", picture_file),
)
