"""A chart with its caption, legend and readout, and the same as a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from almanac.dashboard.drawing.columns import CountColumn
from almanac.dashboard.drawing.curves import Curve
from almanac.dashboard.drawing.lines import ChartLine, EventMark
from almanac.dashboard.drawing.svg import CHARACTER, MOST, Drawing, colour, thinned
from almanac.dashboard.formatting.captions import NOTHING
from almanac.dashboard.formatting.numbers import UnitWords
from almanac.dashboard.formatting.values import NO_DATA, ChartPoint, runs
from almanac.domain.periods import Frequency


@dataclass(frozen=True, slots=True, kw_only=True)
class LegendEntry:
    """A name and its sign: `kind` line, dash, ghost, past, first, forecast, withheld, event, column or hatch; `colour` 1 to 12, 0 for none."""

    name: str
    kind: str = "line"
    colour: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartFigure:
    """
    A chart as the template shows it. `empty` is the sentence in place of a drawing if there is nothing to draw.

    `readout` is the data block of `almanac.dashboard.drawing.readout`. Raises ValueError without id, title or caption.
    """

    id: str
    title: str
    caption: str
    #: What its values are in, beside the title.
    unit: str = ""
    drawing: Drawing | None = None
    legend: Sequence[LegendEntry] = ()
    readout: Markup = field(default_factory=Markup)
    empty: str = NOTHING
    #: Whether events are read as a line of their own.
    events: bool = False

    def __post_init__(self) -> None:
        for name in ("id", "title", "caption", "empty"):
            if not getattr(self, name).strip():
                raise ValueError(f"figure {self.id or self.title!r} has no {name}")

    @property
    def svgs(self) -> tuple[Markup, ...]:
        """The drawing at its three widths, of which media queries show one; none where there is nothing to draw."""
        return () if self.drawing is None else self.drawing.svgs

    @property
    def label(self) -> str:
        """Return the plot's name for screen readers, with the keys that move through it."""
        lanes = " Up and Down change between the values and the events." if self.events else ""
        return f"{self.title}. Left and Right go from point to point, Page Up and Page Down by a year, Home and End to the ends.{lanes}"


#: Columns that a line of very many points is told in: its lows and highs of each.
_COLUMNS = 400
_A_YEAR = {Frequency.DAILY: 250, Frequency.WEEKLY: 52}
#: What ends a data block or a string of a script early.
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def data_block(value: Any) -> Markup:
    """JSON that stands in `<script type="application/json">` whatever texts are in it."""
    return Markup(json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_UNSAFE))  # noqa: S704  (escaped above)


def line_readout(
    lines: Sequence[ChartLine],
    unit: UnitWords,
    digits: int,
    *,
    firsts: bool = False,
    since: Mapping[tuple[int | None, int], str] | None = None,
    events: Sequence[EventMark] = (),
) -> Markup:
    """
    `{"year": 4, "lines": [{"name", "class", "points": [[day, value or null, "2020 Q4: −0.9%"], …]}]}`.

    `year`: points that a Page key goes; days are ordinals, as in the plot's `data-x`. Above some 1,500 points a line is
    told by its lows and highs; the table has all. `since`: the day from which on a value is known, written, by its period's
    first and last day. `events` are read as a line of their own, which has no values.
    """
    several = len(lines) > 1

    def describe(point: ChartPoint, name: str) -> str:
        told = f"{f'{name}, ' if several else ''}{point.period}: {describe_value(point, unit, digits)}"
        if firsts and point.revised and point.first is not None:
            told += f", first published {unit.sentence(point.first, digits)}"
        known = (since or {}).get((point.start, point.end)) if point.value is not None else None
        return f"{told}, known since {known}" if known else told

    found = [
        (
            line.name,
            f"c{line.colour}",
            [[point.at, point.value, describe(point, line.name)] for point in _few(line.points)],
        )
        for line in lines
    ]
    return readout(found, year=_a_year(lines), events=events)


def readout(
    lines: Iterable[tuple[str, str, list[list[Any]]]], *, year: int = 1, events: Sequence[EventMark] = (), **more: Any
) -> Markup:
    """
    Write a readout of lines, each a name, a class and points; `year`: points that a Page key goes. `events` are a line of their
    own, whose sentences are `whole`: they name their day themselves.
    """
    told: list[dict[str, Any]] = [{"name": name, "class": kind, "points": points} for name, kind, points in lines]
    if events:
        marks = [[mark.at, None, mark.words] for mark in events]
        told.append({"name": "Events", "class": "", "whole": True, "points": marks})
    return data_block({"year": year, **more, "lines": told})


def lines_readout(
    lines: Sequence[ChartLine], told: Sequence[Sequence[str]], *, events: Sequence[EventMark] = ()
) -> Markup:
    """
    Read out lines beside each other: a point's third is what is told of it without its name and period, which stand once in
    `periods`, by day. `told`: of each point of each line. `events`: as in `line_readout`.
    """
    periods: dict[int, str] = {}
    found = []
    for line, words in zip(lines, told, strict=True):
        of = {id(point): text for point, text in zip(line.points, words, strict=True)}
        few = _few(line.points)
        periods |= {point.at: point.period for point in few}
        found.append((line.name, colour(line.colour), [[point.at, point.value, of[id(point)]] for point in few]))
    return readout(found, year=_a_year(lines), events=events, periods=periods)


def curve_readout(curves: Sequence[Curve], tenors: Sequence[str], unit: UnitWords, digits: int) -> Markup:
    """Write the readout of curves; the first of a point is the tenor's place, from 0."""
    found = []
    for curve in curves:
        values = {step.tenor: step.value for step in curve.steps}
        points = []
        for index, tenor in enumerate(tenors):
            value = values.get(tenor)
            told = NO_DATA.lower() if value is None else unit.sentence(value, digits)
            points.append([index, value, f"{curve.name}, {tenor}: {told}"])
        found.append((curve.name, f"c{curve.colour}", points))
    return readout(found)


def column_readout(columns: Sequence[CountColumn], parts: Sequence[str], *, so_far: bool = False) -> Markup:
    """Write the readout of stacked columns, all parts in one sentence: `14 Nov: 4,212, of these 4,100 answered, 112 refused`."""
    points = []
    for index, column in enumerate(columns):
        total = sum(column.counts)
        told = ", ".join(f"{count:,} {part}" for part, count in zip(parts, column.counts, strict=True) if count)
        end = " so far" if so_far and index == len(columns) - 1 else ""
        points.append([index, total, f"{column.label}: {total:,}{end}{f', of these {told}' if total else ''}"])
    return readout([("", "c1", points)], year=7)


def describe_value(point: ChartPoint, unit: UnitWords, digits: int) -> str:
    """Return what a readout says of a point's value: `2.1%, forecast`, or why there is none."""
    if point.value is None:
        return "withheld" if point.state == "withheld" else NO_DATA.lower()
    return unit.sentence(point.value, digits) + (", forecast" if point.forecast else "")


def _few(points: Sequence[ChartPoint]) -> Sequence[ChartPoint]:
    if len(points) <= MOST:
        return points
    span = (points[0].at, points[-1].at)
    return [point for run in runs(points) for point in thinned(run, span, _COLUMNS)]


def _a_year(lines: Sequence[ChartLine]) -> int:
    """Return how many points a Page key goes: as many as the line that has most of them has in a year."""
    frequencies = (line.points[-1].frequency for line in lines if line.points)
    return max((_A_YEAR.get(one) or max(1, 12 // one.months) for one in frequencies), default=1)


_SHEET = Path(__file__).parent.parent / "static" / "app.css"
_RULE = re.compile(r"^([^{}@/]+)\{([^{}]*)\}$", re.MULTILINE)
_VAR = re.compile(r"var\(--([a-z0-9-]+)(?:, var\(--[a-z]+\))?\)")
#: Of the style sheet's rules those that a drawing of lines needs, by what they are about.
_WANTED = re.compile(
    r"\.chart (?:text|\.end|\.newest)|\.newest|\.event"
    r"|(?:\.(?:grid|axis|line|stem|leader|dot)|circle\.first|path\.withheld)(?:\.[a-z0-9]+)*"
)
_COLOURS = 7
_EDGE, _TITLE, _LINE, _SMALL = 20, 24, 17, 12


class PicturePanel(NamedTuple):
    """One drawing of a picture with what its values are in; `words` instead of it where there is nothing to draw."""

    unit: str
    drawing: Drawing | None
    words: str = ""


def picture(title: str, panels: Sequence[PicturePanel], foot: Sequence[str]) -> bytes:
    """Return the picture: title, panels below each other, and what must be said of them. Texts are escaped, and broken to fit."""
    plots = [panel.drawing.plots[0].sheet for panel in panels if panel.drawing is not None]
    width = max([sheet.width for sheet in plots], default=880)
    most = int(width / CHARACTER)
    parts: list[str] = []
    y = _EDGE
    for line in wrap(title, int(width / 11.5), break_on_hyphens=False):
        y += _TITLE
        parts.append(_text(line, y, "title"))
    for panel in panels:
        y += _TITLE
        parts.append(_text(panel.unit, y, "unit"))
        y += 6
        if panel.drawing is None:
            y += _TITLE
            parts.append(_text(panel.words, y, "foot"))
            continue
        inside = str(panel.drawing.svgs[0])
        height = panel.drawing.height
        inside = inside[inside.index("<g ") : inside.rindex("</svg>")]
        parts.append(f'<g class="chart" transform="translate({_EDGE} {y})">{inside}</g>')
        y += height
    y += 8
    for sentence in foot:
        for line in wrap(sentence, most, break_on_hyphens=False):
            y += _LINE
            parts.append(_text(line, y, "foot"))
    height = y + _EDGE
    whole = width + 2 * _EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {height}" width="{whole}" height="{height}" role="img">'
        f"<title>{escape(title)}</title><style>{_style()}</style>"
        f'<rect width="{whole}" height="{height}" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    ).encode()


def _text(words: str, y: int, name: str) -> Markup:
    return Markup('<text class="{}" x="{}" y="{}">{}</text>').format(name, _EDGE, y, words)


@cache
def _style() -> str:
    """Return the rules of the page's drawings, with the light theme's colours written out: other programs know no variables."""
    sheet = _SHEET.read_text("utf-8")
    declared = (one.strip().partition(": ") for one in sheet.partition(":root {")[2].partition("}")[0].split(";"))
    tokens = {name.removeprefix("--"): value for name, _, value in declared if value.startswith("#")}
    found = [
        "text{font-family:'IBM Plex Sans',system-ui,sans-serif}",
        f".title{{font-size:19px;font-weight:600;fill:{tokens['ink']}}}",
        f".unit{{font-size:13px;fill:{tokens['ink-2']}}}.foot{{font-size:{_SMALL}px;fill:{tokens['ink-2']}}}",
    ]
    for selectors, body in _RULE.findall(sheet.partition("@media (max-width")[0]):
        wanted = ",".join(one.strip() for one in selectors.split(",") if _WANTED.fullmatch(one.strip()))
        if not wanted:
            continue
        if "--c:" in body:  # the ghost, which has a colour of its own
            tokens["c"] = tokens[_VAR.findall(body)[0]]
        if "var(--c)" in body or "var(--c," in body:
            for number in range(1, _COLOURS + 1) if "--c:" not in body else ():
                of = ",".join(f"{one}.c{number}" for one in wanted.split(","))
                found.append(f"{of}{{{_written(body, tokens | {'c': tokens[f'c{number}']})}}}")
            plain = [part for part in body.split(";") if "var(--c" not in part and part.strip()]
            if plain:
                found.append(f"{wanted}{{{_written(';'.join(plain), tokens)}}}")
        else:
            plain_body = body.partition(";")[2] + f"stroke:{tokens['ghost']}" if "--c:" in body else body
            found.append(f"{wanted}{{{_written(plain_body, tokens)}}}")
    return "".join(found)


def _written(body: str, tokens: dict[str, str]) -> str:
    def colour(match: re.Match[str]) -> str:
        return tokens[match[1]]

    return _VAR.sub(colour, body).replace(": ", ":").replace("; ", ";").strip()
