"""What a chart says point by point: one sentence each, as a data block for the script that follows keys and pointer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from almanac.dashboard.drawing.columns import CountColumn
from almanac.dashboard.drawing.curves import Curve
from almanac.dashboard.drawing.happenings import EventMark
from almanac.dashboard.drawing.lines import ChartLine
from almanac.dashboard.drawing.svg import colour
from almanac.dashboard.drawing.thinning import MOST, thinned
from almanac.dashboard.words.points import ChartPoint, runs
from almanac.dashboard.words.units import UnitWords
from almanac.dashboard.words.values import NO_DATA
from almanac.domain.periods import Frequency

#: Columns that a line of very many points is told in: its lows and highs of each.
_COLUMNS = 400
_A_YEAR = {Frequency.DAILY: 250, Frequency.WEEKLY: 52}
_NAME = "name"
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
    return data_block(
        {
            "year": max((_a_year(line.points) for line in lines), default=1),
            "lines": [
                {
                    _NAME: line.name,
                    "class": f"c{line.colour}",
                    "points": [
                        [
                            point.at,
                            point.value,
                            _describe_point(point, unit, digits, line.name if several else "", firsts, since or {}),
                        ]
                        for point in _few(line.points)
                    ],
                }
                for line in lines
            ]
            + _told_events(events),
        }
    )


def _told_events(events: Sequence[EventMark]) -> list[dict[str, Any]]:
    """Events as a line of their own, whose sentences are `whole`: they name their day themselves; none where there are none."""
    points = [[mark.at, None, mark.words] for mark in events]
    return [{_NAME: "Events", "class": "", "whole": True, "points": points}] if points else []


def lines_readout(
    lines: Sequence[ChartLine], told: Sequence[Sequence[str]], *, events: Sequence[EventMark] = ()
) -> Markup:
    """
    Read out lines beside each other: a point's third is what is told of it without its name and period, which stand once in
    `periods`, by day. `told`: of each point of each line. `events`: as in `line_readout`.
    """
    periods: dict[int, str] = {}
    found: list[dict[str, Any]] = []
    for line, words in zip(lines, told, strict=True):
        of = {id(point): text for point, text in zip(line.points, words, strict=True)}
        few = _few(line.points)
        periods |= {point.at: point.period for point in few}
        found.append(
            {
                _NAME: line.name,
                "class": colour(line.colour),
                "points": [[point.at, point.value, of[id(point)]] for point in few],
            }
        )
    year = max((_a_year(line.points) for line in lines), default=1)
    return data_block({"year": year, "periods": periods, "lines": found + _told_events(events)})


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
        found.append({_NAME: curve.name, "class": f"c{curve.colour}", "points": points})
    return data_block({"year": 1, "lines": found})


def column_readout(columns: Sequence[CountColumn], parts: Sequence[str], *, so_far: bool = False) -> Markup:
    """Write the readout of stacked columns, all parts in one sentence: `14 Nov: 4,212, of these 4,100 answered, 112 refused`."""
    points = []
    for index, column in enumerate(columns):
        total = sum(column.counts)
        told = ", ".join(f"{count:,} {part}" for part, count in zip(parts, column.counts, strict=True) if count)
        end = " so far" if so_far and index == len(columns) - 1 else ""
        points.append([index, total, f"{column.label}: {total:,}{end}{f', of these {told}' if total else ''}"])
    return data_block({"year": 7, "lines": [{_NAME: "", "class": "c1", "points": points}]})


def _describe_point(
    point: ChartPoint,
    unit: UnitWords,
    digits: int,
    name: str,
    firsts: bool,
    since: Mapping[tuple[int | None, int], str],
) -> str:
    period = f"{name}, {point.period}" if name else point.period
    if point.value is None:
        return f"{period}: {'withheld' if point.state == 'withheld' else NO_DATA.lower()}"
    told = f"{period}: {unit.sentence(point.value, digits)}"
    if point.forecast:
        told += ", forecast"
    if firsts and point.revised and point.first is not None:
        told += f", first published {unit.sentence(point.first, digits)}"
    known = since.get((point.start, point.end))
    if known:
        told += f", known since {known}"
    return told


def _few(points: Sequence[ChartPoint]) -> Sequence[ChartPoint]:
    if len(points) <= MOST:
        return points
    span = (points[0].at, points[-1].at)
    return [point for run in runs(points) for point in thinned(run, span, _COLUMNS)]


def _a_year(points: Sequence[ChartPoint]) -> int:
    if not points:
        return 1
    frequency = points[-1].frequency
    return _A_YEAR.get(frequency) or max(1, 12 // frequency.months)
