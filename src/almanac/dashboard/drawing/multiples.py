"""Small multiples: one line each, over the same days, so that turns at one time stand above each other; and one among others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import quantiles

from markupsafe import Markup

from almanac.dashboard.drawing.scales import LinearScale
from almanac.dashboard.drawing.svg import at, path, place
from almanac.dashboard.drawing.thinning import thinned
from almanac.dashboard.words.points import ChartPoint, drawn, runs

_WIDTH, _HEIGHT, _EDGE = 160, 48, 4
_AMONG_WIDTH, _AMONG_HEIGHT = 240, 96
#: Tukey's fences: what lies further than so many times the middle half's breadth beyond it is far from the others.
_FENCE = 1.5


def span_of(histories: Sequence[Sequence[ChartPoint]]) -> tuple[int, int]:
    """The first and the last day that any of them has a value at. Raises ValueError where none has."""
    days = [point.at for points in histories for point in drawn(points)]
    return min(days), max(days)


def multiple(points: Sequence[ChartPoint], span: tuple[int, int]) -> Markup:
    """
    A line of 160 × 48 over the days of all, on a scale of its own, with zero drawn where it lies in it; gaps where there
    are gaps; nothing for fewer than two values.
    """
    values = [point.value or 0.0 for point in drawn(points)]
    if len(values) < 2:
        return Markup()
    return _drawing(points, (), span, (min(values), max(values)), (_WIDTH, _HEIGHT))


def among(points: Sequence[ChartPoint], others: Sequence[Sequence[ChartPoint]]) -> Markup:
    """
    A line of 240 × 96 over its own days, others behind it on the same scale; nothing for fewer than two values.

    The scale holds all of the line, and of the others' values those within Tukey's fences: one line far from the rest would
    press that flat. What goes beyond is cut off at the edge.
    """
    shown = drawn(points)
    if len(shown) < 2:
        return Markup()
    first, last = span = (shown[0].at, shown[-1].at)
    behind = [[point for point in line if first <= point.at <= last] for line in others]
    own = [point.value or 0.0 for point in shown]
    theirs = [point.value or 0.0 for line in behind for point in drawn(line)]
    lower, _, upper = quantiles([*own, *theirs], n=4, method="inclusive")
    reach = _FENCE * (upper - lower)
    values = [*own, *(value for value in theirs if lower - reach <= value <= upper + reach)]
    return _drawing(points, behind, span, (min(values), max(values)), (_AMONG_WIDTH, _AMONG_HEIGHT))


def _drawing(
    points: Sequence[ChartPoint],
    others: Sequence[Sequence[ChartPoint]],
    span: tuple[int, int],
    bounds: tuple[float, float],
    size: tuple[int, int],
) -> Markup:
    (low, high), (width, height) = bounds, size
    x = LinearScale(span[0], max(span[1], span[0] + 1), _EDGE, width - _EDGE)
    y = LinearScale(low, high, height - _EDGE, _EDGE) if low < high else LinearScale(low - 1, low + 1, height, 0)

    def lines(points: Sequence[ChartPoint]) -> Iterator[list[tuple[float, float]]]:
        for run in runs([point for point in points if not point.forecast]):
            yield [(x(point.at), y(point.value or 0.0)) for point in thinned(run, span, width)]

    own = list(lines(points))
    zero = f'<path class="axis" d="M{at(_EDGE, y(0))}H{width - _EDGE}"/>' if low < 0 < high else ""
    behind = "".join(path(line) for other in others for line in lines(other) if len(line) > 1)
    behind = f'<path class="line past" d="{behind}"/>' if behind else ""
    joined = "".join(path(line) for line in own if len(line) > 1)
    alone = "".join(
        f'<circle class="dot c1" cx="{place(line[0][0])}" cy="{place(line[0][1])}" r="1.5"/>'
        for line in own
        if len(line) == 1
    )
    newest = drawn(points)[-1]
    end = f'<circle class="newest" cx="{place(x(newest.at))}" cy="{place(y(newest.value or 0.0))}" r="2.5"/>'
    return Markup(  # noqa: S704  (made of our own classes and numbers only)
        f'<svg class="multiple" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true"'
        f' focusable="false">{zero}{behind}<path class="line c1" d="{joined}"/>{alone}{end}</svg>'
    )
