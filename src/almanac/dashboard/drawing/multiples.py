"""Small multiples: one line each, over the same days, so that turns at one time stand above each other."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from almanac.dashboard.drawing.scales import LinearScale
from almanac.dashboard.drawing.svg import at, path, place
from almanac.dashboard.drawing.thinning import thinned
from almanac.dashboard.words.points import ChartPoint, drawn, runs

_WIDTH, _HEIGHT, _EDGE = 160, 48, 4


def span_of(histories: Sequence[Sequence[ChartPoint]]) -> tuple[int, int]:
    """The first and the last day that any of them has a value at. Raises ValueError where none has."""
    days = [point.at for points in histories for point in drawn(points)]
    return min(days), max(days)


def multiple(points: Sequence[ChartPoint], span: tuple[int, int]) -> Markup:
    """
    A line of 160 × 48 over the days of all, on a scale of its own, with zero drawn where it lies in it; gaps where there
    are gaps; nothing for fewer than two values.
    """
    shown = drawn(points)
    if len(shown) < 2:
        return Markup()
    values = [point.value or 0.0 for point in shown]
    low, high = min(values), max(values)
    x = LinearScale(span[0], max(span[1], span[0] + 1), _EDGE, _WIDTH - _EDGE)
    y = LinearScale(low, high, _HEIGHT - _EDGE, _EDGE) if low < high else LinearScale(low - 1, low + 1, _HEIGHT, 0)
    lines = [
        [(x(point.at), y(point.value or 0.0)) for point in thinned(run, span, _WIDTH)]
        for run in runs([point for point in points if not point.forecast])
    ]
    zero = f'<path class="axis" d="M{at(_EDGE, y(0))}H{_WIDTH - _EDGE}"/>' if low < 0 < high else ""
    joined = "".join(path(line) for line in lines if len(line) > 1)
    alone = "".join(
        f'<circle class="dot c1" cx="{place(line[0][0])}" cy="{place(line[0][1])}" r="1.5"/>'
        for line in lines
        if len(line) == 1
    )
    newest = f'<circle class="newest" cx="{place(x(shown[-1].at))}" cy="{place(y(values[-1]))}" r="2.5"/>'
    return Markup(  # noqa: S704  (made of our own classes and numbers only)
        f'<svg class="multiple" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" aria-hidden="true"'
        f' focusable="false">{zero}<path class="line c1" d="{joined}"/>{alone}{newest}</svg>'
    )
