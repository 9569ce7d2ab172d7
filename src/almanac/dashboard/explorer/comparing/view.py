"""What the page of a comparison shows: a panel for each unit, one table of all lines, and the form that changes them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import msgspec

from almanac.dashboard.drawing.figure import ChartFigure, LegendEntry
from almanac.dashboard.drawing.happenings import EventMark
from almanac.dashboard.drawing.lines import DASHED_FROM, ChartLine, Frame, line_chart, room_left
from almanac.dashboard.drawing.readout import lines_readout
from almanac.dashboard.drawing.svg import colour
from almanac.dashboard.explorer import happenings
from almanac.dashboard.explorer.comparing import naming
from almanac.dashboard.explorer.comparing.address import ALL, FIRST
from almanac.dashboard.explorer.comparing.reading import ComparedLine, ReadComparison
from almanac.dashboard.explorer.happenings import EventSubject, MarkedEvents
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.dates import day
from almanac.dashboard.words.numbers import full
from almanac.dashboard.words.points import ChartPoint, drawn
from almanac.dashboard.words.transforms import LEVEL

Row = dict[str, Any]
#: Rows of a page of the table, and its cells: of many lines there are fewer rows, for a page is not to grow with them.
_ROWS, _CELLS = 60, 360
#: Beyond so many lines no sentence says since when a value is known: the page of each series does.
_DATED_LINES = 6
_WITHHELD = "Withheld. The licence of these sources forbids passing their values on. Periods and times are shown."


class Panel(msgspec.Struct):
    """Lines of one unit."""

    lines: list[ComparedLine]
    figure: ChartFigure


class ComparedCell(msgspec.Struct, frozen=True):
    """One line in one period: its text, its whole value, and its state where it has none."""

    text: str = ""
    full: str | None = None
    withheld: bool = False


class ComparedPeriod(msgspec.Struct, frozen=True):
    """A row of the table: a period, and a cell for each line that is shown."""

    period: str
    cells: list[ComparedCell]


class FormLine(msgspec.Struct, frozen=True):
    """A line as the form has it: under its number, whether it is ticked, and the day that is typed beside it."""

    number: int
    name: str
    on: bool
    known: str
    #: Its newest value with the period, and why nothing of it is drawn; empty where there is none of the kind.
    note: str
    empty: str
    #: The page of its series.
    href: str
    #: Classes of the line in its swatch.
    sign: str
    #: The address without it; empty where it cannot be taken out alone.
    remove: str


class RangeLink(msgspec.Struct, frozen=True):
    """A range of time as a link, and what it is called where it is read aloud."""

    title: str
    href: str
    current: bool
    aloud: str


def events(visit: Visit, compared: ReadComparison) -> MarkedEvents | None:
    """What is marked below the panels, or may be; None where nothing is drawn."""
    charts = [_subjects(lines) for lines in _panels(compared).values()]
    if not any(charts):
        return None
    points = [point for line in compared.shown for point in drawn(line.points)]
    oldest = min(point.end if point.start is None else point.start for point in points)
    return happenings.marked(visit, charts, date.fromordinal(oldest), as_of=compared.known_on)


def _subjects(lines: Sequence[ComparedLine]) -> list[EventSubject]:
    return [subject for line in lines if (subject := line.subject) is not None]


def _panels(compared: ReadComparison) -> dict[tuple[str, bool], list[ComparedLine]]:
    groups: dict[tuple[str, bool], list[ComparedLine]] = {}
    for line in compared.shown:
        groups.setdefault((line.unit.head, line.unit.fraction), []).append(line)
    return groups


def panels(visit: Visit, compared: ReadComparison, marked: MarkedEvents | None = None) -> list[Panel]:
    """
    A panel for each unit, in the order of the lines; all have one time axis and one column of labels. `marked`: under the axis
    of each panel that has a line the event is of.
    """
    groups = _panels(compared)
    marks = [[] if marked is None else marked.marks_of(_subjects(lines)) for lines in groups.values()]
    charts = [[_chart_line(line, lines, compared) for line in lines] for lines in groups.values()]
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


def _chart_line(line: ComparedLine, beside: list[ComparedLine], compared: ReadComparison) -> ChartLine:
    """A line of a panel: its label says what tells it from those beside it, its name from all."""
    name, label = naming.line_name(line, compared.shown), naming.line_label(line, beside)
    return ChartLine(name, line.points, line.key.number, label)


def _figure(
    number: int,
    lines: list[ComparedLine],
    drawn: list[ChartLine],
    compared: ReadComparison,
    frame: Frame | None,
    marks: list[EventMark],
) -> ChartFigure:
    drawing = None
    if frame is not None:
        drawing = line_chart(drawn, fraction=lines[0].unit.fraction, frame=frame, events=marks)
    legend = [LegendEntry(name="Event", kind="event")] if marks else []
    shut = any(line.rows for line in lines) and all(p.state == "withheld" for line in lines for p in line.points)
    dated = len(compared.shown) <= _DATED_LINES
    told = [[_write_point(line, point, known if dated else "") for point, known in _with_rows(line)] for line in lines]
    return ChartFigure(
        id=f"chart-{number}",
        title=naming.chart_name(lines, compared),
        unit=lines[0].unit.head,
        caption=naming.caption(lines, compared),
        drawing=drawing,
        legend=legend,
        readout=lines_readout(drawn, told, events=marks),
        events=bool(marks),
        empty=_WITHHELD if shut else _nothing(compared),
    )


def _with_rows(line: ComparedLine) -> list[tuple[ChartPoint, str]]:
    """Its points, each with the day since when its value is known, where it is as published."""
    known = states(line)
    found = []
    for point in line.points:
        end = date.fromordinal(point.end).isoformat()
        start = end if point.start is None else date.fromordinal(point.start).isoformat()
        row = known.get((start, end))
        found.append((point, "" if row is None else row["observedAt"]))
    return found


def states(line: ComparedLine) -> dict[tuple[str, str], Row]:
    """Its rows by the first and last day of their periods; none where values were computed of several."""
    if line.made is None or line.made.formula:
        return {}
    return {((row["periodStart"] or row["periodEnd"])[:10], row["periodEnd"][:10]): row for row in line.rows}


def _write_point(line: ComparedLine, point: ChartPoint, known: str) -> str:
    if point.value is None:
        return "withheld" if point.state == "withheld" else "no data"
    text = line.unit.sentence(point.value, line.digits)
    if point.forecast:
        text += ", forecast"
    since = "first published" if line.known == FIRST else "known since"
    return f"{text}, {since} {day(known)}" if known else text


def _nothing(compared: ReadComparison) -> str:
    if any(line.newest is not None for line in compared.shown):
        return "No period of these lines lies in this range."
    if compared.asked.as_of:
        return f"Nothing of these lines was known on {day(compared.asked.as_of)}."
    return "There are no values of these lines."


# -- table --------------------------------------------------------------------------------------------------------------


def rows_of_page(compared: ReadComparison) -> int:
    """How many rows of the table a page has."""
    return min(_ROWS, _CELLS // max(len(compared.shown), 1))


def table(compared: ReadComparison, page: int) -> tuple[list[ComparedPeriod], int]:
    """A page of the table, newest period first, a column for each line; and how many rows there are in all."""
    cells: dict[tuple[int, int], dict[int, ChartPoint]] = {}
    periods: dict[tuple[int, int], str] = {}
    for place, line in enumerate(compared.shown):
        for point in line.points:
            key = (point.end, point.end if point.start is None else point.start)
            cells.setdefault(key, {})[place] = point
            periods.setdefault(key, point.period)
    order = sorted(cells, reverse=True)
    found = []
    step = rows_of_page(compared)
    for key in order[(page - 1) * step : page * step]:
        row = cells[key]
        found.append(
            ComparedPeriod(periods[key], [_cell(line, row.get(place)) for place, line in enumerate(compared.shown)])
        )
    return found, len(order)


def _cell(line: ComparedLine, point: ChartPoint | None) -> ComparedCell:
    if point is None or (point.value is None and point.state != "withheld"):
        return ComparedCell()
    if point.value is None:
        return ComparedCell("Withheld", withheld=True)
    return ComparedCell(line.unit.cell(point.value, line.digits), full(point.value))


# -- form ---------------------------------------------------------------------------------------------------------------


def listed_lines(visit: Visit, compared: ReadComparison) -> list[FormLine]:
    """The lines of the form, the hidden ones too."""
    dashed = {line.key.number for panel in _units(compared) if len(panel) >= DASHED_FROM for line in panel}
    typed = dict(part.split(":", 1) for part in visit.query.get("known", "").split(",") if ":" in part)
    found = []
    for line in compared.lines:
        newest = next((p for p in reversed(line.points) if p.value is not None and not p.forecast), None)
        note = ""
        if newest is not None and newest.value is not None:
            note = f"{line.unit.figure(newest.value, line.digits)} {newest.period}"
        found.append(
            FormLine(
                number=line.key.number,
                name=naming.line_name(line, compared.lines),
                on=not line.key.off,
                known=typed.get(str(line.key.number), ""),
                note=note,
                empty=_why_empty(line),
                href=line.address,
                sign=f"{colour(line.key.number)}{' dash' if line.key.number in dashed else ''}",
                remove=_without(visit, compared, line),
            )
        )
    return found


def _units(compared: ReadComparison) -> list[list[ComparedLine]]:
    groups: dict[str, list[ComparedLine]] = {}
    for line in compared.shown:
        groups.setdefault(line.unit.head, []).append(line)
    return list(groups.values())


def _why_empty(line: ComparedLine) -> str:
    if line.points:
        return "Withheld" if all(point.state == "withheld" for point in line.points) else ""
    if line.newest is None:
        return f"Nothing was known on {day(line.known)}" if line.known not in {"", FIRST} else "No data"
    return "No value in this range"


def _without(visit: Visit, compared: ReadComparison, line: ComparedLine) -> str:
    """The address without a line; empty where it is one of several that an indicator or a place stands for."""
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


def ranges(visit: Visit, compared: ReadComparison) -> list[RangeLink]:
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
            RangeLink(
                title=f"{years}Y",
                href=visit.here(to=None, page=None, **{"from": None if years == usual else start}),
                current=current,
                aloud="one year" if years == 1 else f"{years} years",
            )
        )
    every = RangeLink(
        title="All",
        href=visit.here(to=None, page=None, **{"from": ALL}),
        current=compared.asked.first == ALL and compared.last is None,
        aloud="all periods",
    )
    return [*found, every]


def notes(compared: ReadComparison) -> list[str]:
    """Sentences below the charts: how values were computed, what is of another frequency, what was not read."""
    found = [words for words in (naming.computed_words(compared),) if words]
    slow: dict[str, list[str]] = {}
    for line in compared.shown:
        if line.newest is not None:
            slow.setdefault(line.frequency.word, []).append(naming.line_name(line, compared.shown))
    if len(slow) > 1:
        found.append("; ".join(f"{word}: {', '.join(names)}" for word, names in slow.items()) + ".")
    if any(not line.complete for line in compared.shown):
        found.append("There are more rows than a page reads: the oldest are left out. Choose a shorter range.")
    if compared.asked.show != LEVEL and any(p.forecast for line in compared.shown for p in line.points):
        found.append("What is computed from a forecast is dotted as one.")
    return found


def sources(lines: Sequence[ComparedLine]) -> list[tuple[str, str]]:
    """Attribution and licence of what is shown, each pair once."""
    pairs = [(row["rights"]["attribution"], row["rights"]["license"]) for line in lines for row in line.rows[:1]]
    return list(dict.fromkeys(pairs))
