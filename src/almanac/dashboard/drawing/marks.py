"""Small drawings that stand beside their number: sparkline, bar in a cell, percentile rule, meter. All hidden from readers."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from almanac.dashboard.drawing.scales import LinearScale
from almanac.dashboard.drawing.svg import at, path, place
from almanac.dashboard.drawing.thinning import thinned
from almanac.dashboard.words.points import ChartPoint, drawn, runs

_NOTHING = Markup()
_SPARK_WIDTH, _SPARK_HEIGHT, _EDGE = 72, 20, 3


def _mark(name: str, width: int, height: int, inside: str) -> Markup:
    return Markup(  # noqa: S704  (made of our own classes and numbers only)
        f'<svg class="{name}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true"'
        f' focusable="false">{inside}</svg>'
    )


def sparkline(points: Sequence[ChartPoint]) -> Markup:
    """
    A line of 72 × 20 with a dot at its newest value; gaps where there are gaps, and a small dot for a value that stands alone
    between them; nothing for fewer than two values.
    """
    shown = drawn(points)
    if len(shown) < 2:
        return _NOTHING
    values = [point.value or 0.0 for point in shown]
    low, high = min(values), max(values)
    span = (shown[0].at, shown[-1].at)
    x = LinearScale(span[0], max(span[1], span[0] + 1), _EDGE, _SPARK_WIDTH - _EDGE)
    # A line that never moves lies in the middle.
    y = (
        LinearScale(low, high, _SPARK_HEIGHT - _EDGE, _EDGE)
        if low < high
        else LinearScale(low - 1, low + 1, _SPARK_HEIGHT, 0)
    )
    lines = [
        [(x(point.at), y(point.value or 0.0)) for point in thinned(run, span, _SPARK_WIDTH)]
        for run in runs([point for point in points if not point.forecast])
    ]
    joined = "".join(path(line) for line in lines if len(line) > 1)
    alone = "".join(
        f'<circle class="dot c1" cx="{place(line[0][0])}" cy="{place(line[0][1])}" r="1"/>'
        for line in lines
        if len(line) == 1
    )
    newest = f'<circle class="newest" cx="{place(x(shown[-1].at))}" cy="{place(y(values[-1]))}" r="2"/>'
    return _mark("spark", _SPARK_WIDTH, _SPARK_HEIGHT, f'<path class="line c1" d="{joined}"/>{alone}{newest}')


def bar(value: float | None, low: float, high: float, *, width: int = 96, height: int = 12) -> Markup:
    """
    A bar from zero to a value, in a table whose values lie from `low` to `high`; nothing without a value.

    All bars of a column are drawn with one low and high, so that they compare.
    """
    if value is None:
        return _NOTHING
    low, high = min(low, value, 0.0), max(high, value, 0.0)
    if low == high:
        return _mark("bar", width, height, f'<path class="axis" d="M{at(0.5, 0)}V{height}"/>')
    x = LinearScale(low, high, 0.5, width - 0.5)
    left, right = sorted((x(0), x(value)))
    sign = "minus" if value < 0 else "plus"
    rect = f'<rect class="fill {sign}" x="{place(left)}" y="2" width="{place(right - left)}" height="{height - 4}"/>'
    return _mark("bar", width, height, f'{rect}<path class="axis" d="M{at(x(0), 0)}V{height}"/>')


def percentile(value: float | None, *, width: int = 100) -> Markup:
    """A rule from 0 to 100 with a dot, its middle marked; nothing without a value."""
    if value is None:
        return _NOTHING
    x = LinearScale(0, 100, 5, width - 5)
    rule = f'<path class="axis" d="M5,6H{width - 5}M{at(x(50), 3)}v6"/>'
    where = x(min(max(value, 0), 100))
    return _mark("percentile", width, 12, f'{rule}<circle class="dot" cx="{place(where)}" cy="6" r="4"/>')


def meter(share: float | None, *, width: int = 96, height: int = 8) -> Markup:
    """How much of something is there, from 0 to 1; nothing without a share."""
    if share is None:
        return _NOTHING
    filled = min(max(share, 0), 1) * width
    track = f'<rect class="track" x="0" y="0" width="{width}" height="{height}" rx="2"/>'
    fill = f'<rect class="fill" x="0" y="0" width="{place(filled)}" height="{height}" rx="2"/>' if filled else ""
    return _mark("meter", width, height, track + fill)
