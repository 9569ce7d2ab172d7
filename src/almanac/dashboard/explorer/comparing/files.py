"""A comparison as files: rows for programs, a workbook for spreadsheets, a picture that says where it is from."""

from __future__ import annotations

import csv
import io
from datetime import date

from almanac.dashboard.drawing.picture import PicturePanel, picture
from almanac.dashboard.explorer.comparing import naming, view
from almanac.dashboard.explorer.comparing.reading import ComparedLine, ReadComparison, known_words
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.dates import NBSP, day, day_of
from almanac.dashboard.words.numbers import full
from almanac.dashboard.words.points import ChartPoint
from almanac.dashboard.words.transforms import LEVEL, TRANSFORMS
from almanac.dashboard.workbook import Cell, workbook

_COLUMNS = (
    "line", "seriesId", "indicator", "place", "knownOn", "frequency", "periodStart", "periodEnd", "value", "unit", "transform", "withheld",
)  # fmt: skip


def as_csv(compared: ReadComparison) -> bytes:
    """One row a value, unrounded, by line and then by period, oldest first; a withheld value is empty and `withheld` says so."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for line in compared.shown:
        for point in line.points:
            writer.writerow(
                [
                    naming.full_name(line).replace(NBSP, " "),
                    line.series_id,
                    line.indicator["slug"],
                    line.place,
                    line.known,
                    line.frequency.word,
                    "" if point.start is None else date.fromordinal(point.start).isoformat(),
                    date.fromordinal(point.end).isoformat(),
                    "" if point.value is None else full(point.value),
                    line.unit.head,
                    compared.asked.show,
                    str(point.state == "withheld").lower(),
                ]
            )
    return out.getvalue().encode()


def as_workbook(visit: Visit, compared: ReadComparison) -> bytes:
    """A column for each line, newest period first, and the sheet that says what they are."""
    cells: dict[tuple[date, date], dict[int, ChartPoint]] = {}
    for place, line in enumerate(compared.shown):
        for point in line.points:
            end = date.fromordinal(point.end)
            start = end if point.start is None else date.fromordinal(point.start)
            cells.setdefault((end, start), {})[place] = point
    columns = ["Period", "First day", "Last day"]
    columns += [f"{naming.full_name(line)} ({line.unit.head})" for line in compared.shown]
    alone = view.states(compared.shown[0]) if len(compared.shown) == 1 else {}
    if alone:
        columns += ["Known since", "Revision status"]
    rows: list[list[Cell]] = []
    for (end, start), found in sorted(cells.items(), reverse=True):
        row: list[Cell] = [next(iter(found.values())).period, start, end]
        for place in range(len(compared.shown)):
            row.append(_cell(found.get(place)))
        state = alone.get((start.isoformat(), end.isoformat()))
        if state is not None:
            row += [day_of(state["observedAt"]), state["revisionStatus"]]
        rows.append(row)
    return workbook(columns, rows, _about(visit, compared))


def _cell(point: ChartPoint | None) -> Cell:
    return None if point is None else "withheld" if point.state == "withheld" else point.value


def _about(visit: Visit, compared: ReadComparison) -> list[list[Cell]]:
    asked = compared.asked
    title = naming.chart_name(compared.shown, compared)
    found: list[list[Cell]] = [
        ["Title", title],
        ["As of", date.fromisoformat(asked.as_of) if asked.as_of else visit.today],
        ["Shown", TRANSFORMS[asked.show].title],
    ]
    if asked.show != LEVEL:
        found.append(["How computed", naming.computed_words(compared)])
    found += [
        ["Address", _address(visit)],
        *_requests(visit),
        [],
        ["Line", "Series", "Known", "Unit", "Source", "Licence", "Licence class", "Attribution", "Lineage"],
    ]
    for line in compared.shown:
        rights = _rights(line)
        found.append(
            [
                naming.full_name(line),
                line.series_id,
                known_words(line) or "known today",
                line.unit.head,
                line.series_id.partition(":")[0],
                rights.get("license", ""),
                rights.get("licenseClass", ""),
                rights.get("attribution", ""),
                f"{visit.settings.dashboard_address}{line.address}#lineage",
            ]
        )
    return found


def as_picture(visit: Visit, compared: ReadComparison) -> bytes:
    """The charts as one picture, at their widest."""
    marked = view.events(visit, compared)
    shown = view.panels(visit, compared, marked)
    panels = [PicturePanel(panel.figure.unit, panel.figure.drawing, panel.figure.empty) for panel in shown]
    known = day(compared.asked.as_of or visit.today)
    foot = [f"Source: {attribution}. Licence: {terms}." for attribution, terms in view.sources(compared.shown)]
    if naming.computed_words(compared):
        foot.append(naming.computed_words(compared))
    if marked is not None and marked.words:
        foot.append(marked.words)
    foot.append(f"{'As first published, known' if compared.asked.firsts else 'As known'} on {known}. {_address(visit)}")
    return picture(naming.chart_name(compared.shown, compared), panels, foot)


def _rights(line: ComparedLine) -> dict[str, str]:
    rows = [*line.rows[:1], *([line.newest] if line.newest is not None else [])]
    return rows[0]["rights"] if rows else {}


def _address(visit: Visit) -> str:
    """The page that shows the same."""
    return f"{visit.settings.dashboard_address}{visit.here(page=None)}"


def _requests(visit: Visit) -> list[list[Cell]]:
    """What a program asks the interface for the same."""
    address = visit.settings.api_address
    return [[f"Request {number}", f"{address}{one.path_and_query}"] for number, one in enumerate(visit.asked, 1)]
