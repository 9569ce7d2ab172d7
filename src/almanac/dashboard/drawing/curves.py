"""Yield curves: tenors at even steps, a gap where a tenor is absent, the newest curve before a year-old ghost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from almanac.dashboard.drawing import svg
from almanac.dashboard.drawing.lines import DASHED_FROM
from almanac.dashboard.formatting.captions import CurveStep


class Curve(NamedTuple):
    """One curve over the chart's tenors. `own`: of the scope itself, drawn stronger."""

    name: str
    steps: Sequence[CurveStep]
    colour: int = 1
    label: str = ""
    own: bool = False


def curve_chart(
    curves: Sequence[Curve], tenors: Sequence[str], *, ghost: Sequence[CurveStep] = ()
) -> svg.Drawing | None:
    """
    Curves over tenors; None where there is no yield. `ghost`: the scope's curve a year earlier.

    Raises ValueError for a tenor that is none of the chart's.
    """
    places = {tenor: index for index, tenor in enumerate(tenors)}
    for step in [*ghost, *(step for curve in curves for step in curve.steps)]:
        if step.tenor not in places:
            raise ValueError(f"{step.tenor!r} is none of the tenors {', '.join(tenors)}")
    rows = [_row(curve.steps, places) for curve in curves]
    before = _row(ghost, places)
    values = [value for row in (*rows, before) for value in row if value is not None]
    if not values:
        return None
    axis = svg.value_axis(values)
    room = [curve.label for curve in curves if curve.label]

    def paint(sheet: svg.Sheet) -> tuple[svg.Plot, list[str]]:
        on = svg.plot(sheet, (-0.3, len(tenors) - 1), axis, right=svg.label_room(room, sheet.label_room))
        parts = [svg.value_grid(on, axis), svg.names_below(on, [(index, tenor) for tenor, index in places.items()])]
        parts += _curve(on.x, on.y, before, "ghost")
        # The scope's own lies on top of its peers.
        for curve, row in sorted(zip(curves, rows, strict=True), key=lambda pair: pair[0].own):
            name = f"{svg.colour(curve.colour)}{' own' if curve.own else ''}{' dash' if len(curves) >= DASHED_FROM else ''}"
            parts += _curve(on.x, on.y, row, name)
        ends = []
        for curve, row in zip(curves, rows, strict=True):
            there = [(index, value) for index, value in enumerate(row) if value is not None]
            if curve.label and there:
                ends.append(svg.End(on.x(there[-1][0]), on.y(there[-1][1]), curve.label))
        return on, [*parts, svg.end_labels(on, ends, sheet.label_room)]

    return svg.draw(paint)


def _row(steps: Sequence[CurveStep], places: dict[str, int]) -> list[float | None]:
    row: list[float | None] = [None] * len(places)
    for step in steps:
        row[places[step.tenor]] = step.value
    return row


def _curve(
    x: svg.LinearScale, y: svg.LinearScale, row: Sequence[float | None], name: str, radius: int = 3
) -> Iterator[str]:
    """Return a line for each stretch of tenors that are all there, and a dot at each."""
    stretch: list[tuple[float, float]] = []
    joined, dots = [], []
    for index, value in enumerate([*row, None]):
        if value is not None:
            stretch.append((x(index), y(value)))
            dots.append(stretch[-1])
            continue
        if len(stretch) > 1:
            joined.append(svg.path(stretch))
        stretch = []
    if joined:
        yield f'<path class="line {name}" d="{"".join(joined)}"/>'
    for across, up in dots:
        yield svg.dot(across, up, f"dot {name}", radius)


#: A curve that stands beside its name and its number.
_SMALL = (140, 56, 4)


def small_curve(steps: Sequence[CurveStep], tenors: Sequence[str]) -> Markup:
    """One curve over the tenors in small, without axes; nothing for fewer than two yields."""
    places = {tenor: index for index, tenor in enumerate(tenors)}
    row = _row(steps, places)
    values = [value for value in row if value is not None]
    if len(values) < 2:
        return Markup()
    width, height, edge = _SMALL
    x = svg.LinearScale(0, max(len(tenors) - 1, 1), edge, width - edge)
    y = svg.small_scale(min(values), max(values), height, edge)
    return svg.small("small-curve", width, height, "".join(_curve(x, y, row, "c1", 2)))
