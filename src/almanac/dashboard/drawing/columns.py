"""Columns, small multiples, rows of dots and the small marks in tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from statistics import quantiles
from typing import NamedTuple

from markupsafe import Markup

from almanac.dashboard.drawing import svg
from almanac.dashboard.formatting.values import NO_DATA, ChartPoint, runs, with_values

#: Of the room of one column what its bar takes.
_FILLED = 0.7
_WIDEST = 48.0
#: Between the strokes of a hatch.
_HATCH = 5.0


class CountColumn(NamedTuple):
    """One column: its label below, and a count for each part, from the bottom up."""

    label: str
    counts: Sequence[int]


def column_chart(columns: Sequence[CountColumn], *, so_far: bool = False) -> svg.Drawing | None:
    """
    Stacked columns; None where nothing was counted. `so_far`: the last is not over.

    Raises ValueError for counts below zero, or of different lengths.
    """
    if len({len(column.counts) for column in columns}) > 1 or any(min(column.counts) < 0 for column in columns):
        raise ValueError("columns have the same parts, each counted from zero up")
    if not any(sum(column.counts) for column in columns):
        return None
    axis = svg.value_axis([sum(column.counts) for column in columns], from_zero=True, whole=True)
    plots = [svg.plot(sheet, (-0.5, len(columns) - 0.5), axis, right=8) for sheet in svg.SHEETS]
    svgs = [svg.drawn(on, [svg.value_grid(on, axis), *_bars(on, columns, so_far), _names(on, columns)]) for on in plots]
    return svg.Drawing(tuple(svgs), tuple(plots))


def _bars(on: svg.Plot, columns: Sequence[CountColumn], so_far: bool) -> list[str]:
    width = min((on.x(1) - on.x(0)) * _FILLED, _WIDEST)
    outlines: dict[int, list[str]] = {}
    for index, column in enumerate(columns):
        left = on.x(index) - width / 2
        total = 0
        for part, count in enumerate(column.counts):
            if count > 0:
                low, high = on.y(total), on.y(total + count)
                outlines.setdefault(part, []).append(
                    f"M{svg.at(left, low)}V{svg.place(high)}h{svg.place(width)}V{svg.place(low)}z"
                )
            total += count
    bars = [
        f'<path class="column {svg.colour(part + 1)}" d="{"".join(found)}"/>'
        for part, found in sorted(outlines.items())
    ]
    newest = sum(columns[-1].counts)
    if so_far and newest:
        bars.append(_hatch(on.x(len(columns) - 1) - width / 2, width, on.y(newest), on.bottom))
    return bars


def _hatch(left: float, width: float, top: float, bottom: float) -> str:
    """Strokes from the lower left to the upper right, cut to a bar."""
    strokes, begin = [], _HATCH
    while begin < width + bottom - top:
        # A stroke leaves the left edge or the bottom, and ends at the top or the right edge.
        start = (left, bottom - begin) if begin <= bottom - top else (left + begin - (bottom - top), top)
        stop = (left + begin, bottom) if begin <= width else (left + width, bottom - (begin - width))
        strokes.append(f"M{svg.at(*start)}L{svg.at(*stop)}")
        begin += _HATCH
    return f'<path class="hatch" d="{"".join(strokes)}"/>'


def _names(on: svg.Plot, columns: Sequence[CountColumn]) -> str:
    """Every first, second, fifth … label, the newest always among them."""
    widest = svg.CHARACTER * max(len(column.label) for column in columns) + 10
    per_column = on.x(1) - on.x(0)
    step = next(step for step in itertools.count(1) if step * per_column >= widest or step >= len(columns))
    last = len(columns) - 1
    return svg.names_below(on, [(index, columns[index].label) for index in range(last % step, last + 1, step)])


_WIDTH, _HEIGHT, _EDGE = 160, 48, 4
_AMONG_WIDTH, _AMONG_HEIGHT = 240, 96
#: Tukey's fences: what lies further than so many times the middle half's breadth beyond it is far from the others.
_FENCE = 1.5


def span_of(histories: Sequence[Sequence[ChartPoint]]) -> tuple[int, int]:
    """The first and the last day that any of them has a value at. Raises ValueError where none has."""
    days = [point.at for points in histories for point in with_values(points)]
    return min(days), max(days)


def multiple(points: Sequence[ChartPoint], span: tuple[int, int]) -> Markup:
    """
    A line of 160 × 48 over the days of all, on a scale of its own, with zero drawn where it lies in it; gaps where there
    are gaps; nothing for fewer than two values.
    """
    values = [point.value or 0.0 for point in with_values(points)]
    if len(values) < 2:
        return Markup()
    return _drawing(points, (), span, (min(values), max(values)), (_WIDTH, _HEIGHT))


def among(points: Sequence[ChartPoint], others: Sequence[Sequence[ChartPoint]]) -> Markup:
    """
    A line of 240 × 96 over its own days, others behind it on the same scale; nothing for fewer than two values.

    The scale holds all of the line, and of the others' values those within Tukey's fences: one line far from the rest would
    press that flat. What goes beyond is cut off at the edge.
    """
    shown = with_values(points)
    if len(shown) < 2:
        return Markup()
    first, last = span = (shown[0].at, shown[-1].at)
    behind = [[point for point in line if first <= point.at <= last] for line in others]
    own = [point.value or 0.0 for point in shown]
    theirs = [point.value or 0.0 for line in behind for point in with_values(line)]
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
    x = svg.LinearScale(span[0], max(span[1], span[0] + 1), _EDGE, width - _EDGE)
    y = (
        svg.LinearScale(low, high, height - _EDGE, _EDGE)
        if low < high
        else svg.LinearScale(low - 1, low + 1, height, 0)
    )

    def lines(points: Sequence[ChartPoint]) -> Iterator[list[tuple[float, float]]]:
        for run in runs([point for point in points if not point.forecast]):
            yield [(x(point.at), y(point.value or 0.0)) for point in svg.thinned(run, span, width)]

    own = list(lines(points))
    zero = f'<path class="axis" d="M{svg.at(_EDGE, y(0))}H{width - _EDGE}"/>' if low < 0 < high else ""
    behind = "".join(svg.path(line) for other in others for line in lines(other) if len(line) > 1)
    behind = f'<path class="line past" d="{behind}"/>' if behind else ""
    joined = "".join(svg.path(line) for line in own if len(line) > 1)
    alone = "".join(
        f'<circle class="dot c1" cx="{svg.place(line[0][0])}" cy="{svg.place(line[0][1])}" r="1.5"/>'
        for line in own
        if len(line) == 1
    )
    newest = with_values(points)[-1]
    end = f'<circle class="newest" cx="{svg.place(x(newest.at))}" cy="{svg.place(y(newest.value or 0.0))}" r="2.5"/>'
    return Markup(  # noqa: S704  (made of our own classes and numbers only)
        f'<svg class="multiple" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true"'
        f' focusable="false">{zero}{behind}<path class="line c1" d="{joined}"/>{alone}{end}</svg>'
    )


_ROW, _EDGES = 28, 34


class Dot(NamedTuple):
    """One row. `value` None: no data; `label` is the value as it is told; `own`: the row that the chart is about."""

    name: str
    value: float | None
    label: str = ""
    own: bool = False


def dot_plot(rows: Sequence[Dot]) -> svg.Drawing | None:
    """Rows from the top down, with zero in sight; None where no row has a value."""
    values = [row.value for row in rows if row.value is not None]
    if not values:
        return None
    axis = svg.value_axis([0.0, *values])
    names = svg.CHARACTER * max(len(row.name) for row in rows) + 8
    told = svg.CHARACTER * max(len(row.label) for row in rows) + 20
    height = _ROW * len(rows) + _EDGES
    plots, svgs = [], []
    for sheet in svg.SHEETS:
        left = min(names, sheet.width / 3)
        on = _plot(sheet, svg.LinearScale(axis.low, axis.high, left + 8, sheet.width - told), len(rows), height)
        rules = "".join(f"M{svg.at(on.x(tick), on.top)}V{svg.place(on.bottom)}" for tick in axis.ticks if tick)
        parts = [
            f'<path class="grid" d="{rules}"/>',
            f'<path class="axis" d="M{svg.at(on.x(0), on.top)}V{svg.place(on.bottom)}"/>',
        ]
        parts.append(svg.names_below(on, list(zip(axis.ticks, axis.labels, strict=True))))
        parts += [_row(on, index, row, left) for index, row in enumerate(rows)]
        plots.append(on)
        svgs.append(svg.drawn(on, parts, height=height))
    return svg.Drawing(tuple(svgs), tuple(plots))


def _plot(sheet: svg.Sheet, x: svg.LinearScale, rows: int, height: int) -> svg.Plot:
    # Rows are counted downwards.
    return svg.Plot(sheet, x, svg.LinearScale(rows - 0.5, -0.5, height - 26.0, 8.0))


def _row(on: svg.Plot, index: int, row: Dot, room: float) -> str:
    y = on.y(index)
    name = svg.text(svg.clipped(row.name, room), room, y + 4, "name own" if row.own else "name", "end")
    if row.value is None:
        return name + svg.text(NO_DATA, on.x(0) + 8, y + 4, "none")
    x = on.x(row.value)
    stem = f'<path class="stem" d="M{svg.at(on.x(0), y)}H{svg.place(x)}"/>'
    kind = "own c1" if row.own else "ghost"
    dot = f'<circle class="dot {kind}" cx="{svg.place(x)}" cy="{svg.place(y)}" r="5"/>'
    return f"{name}{stem}{dot}{svg.text(row.label, on.right + 12, y + 4, 'end')}"


_NOTHING = Markup()
_SPARK_WIDTH, _SPARK_HEIGHT, _MARK_EDGE = 72, 20, 3


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
    shown = with_values(points)
    if len(shown) < 2:
        return _NOTHING
    values = [point.value or 0.0 for point in shown]
    low, high = min(values), max(values)
    span = (shown[0].at, shown[-1].at)
    x = svg.LinearScale(span[0], max(span[1], span[0] + 1), _MARK_EDGE, _SPARK_WIDTH - _MARK_EDGE)
    # A line that never moves lies in the middle.
    y = (
        svg.LinearScale(low, high, _SPARK_HEIGHT - _MARK_EDGE, _MARK_EDGE)
        if low < high
        else svg.LinearScale(low - 1, low + 1, _SPARK_HEIGHT, 0)
    )
    lines = [
        [(x(point.at), y(point.value or 0.0)) for point in svg.thinned(run, span, _SPARK_WIDTH)]
        for run in runs([point for point in points if not point.forecast])
    ]
    joined = "".join(svg.path(line) for line in lines if len(line) > 1)
    alone = "".join(
        f'<circle class="dot c1" cx="{svg.place(line[0][0])}" cy="{svg.place(line[0][1])}" r="1"/>'
        for line in lines
        if len(line) == 1
    )
    newest = f'<circle class="newest" cx="{svg.place(x(shown[-1].at))}" cy="{svg.place(y(values[-1]))}" r="2"/>'
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
        return _mark("bar", width, height, f'<path class="axis" d="M{svg.at(0.5, 0)}V{height}"/>')
    x = svg.LinearScale(low, high, 0.5, width - 0.5)
    left, right = sorted((x(0), x(value)))
    sign = "minus" if value < 0 else "plus"
    rect = f'<rect class="fill {sign}" x="{svg.place(left)}" y="2" width="{svg.place(right - left)}" height="{height - 4}"/>'
    return _mark("bar", width, height, f'{rect}<path class="axis" d="M{svg.at(x(0), 0)}V{height}"/>')


def percentile(value: float | None, *, width: int = 100) -> Markup:
    """A rule from 0 to 100 with a dot, its middle marked; nothing without a value."""
    if value is None:
        return _NOTHING
    x = svg.LinearScale(0, 100, 5, width - 5)
    rule = f'<path class="axis" d="M5,6H{width - 5}M{svg.at(x(50), 3)}v6"/>'
    where = x(min(max(value, 0), 100))
    return _mark("percentile", width, 12, f'{rule}<circle class="dot" cx="{svg.place(where)}" cy="6" r="4"/>')


def meter(share: float | None, *, width: int = 96, height: int = 8) -> Markup:
    """Draw a share from 0 to 1 as a bar; nothing for None."""
    if share is None:
        return _NOTHING
    filled = min(max(share, 0), 1) * width
    track = f'<rect class="track" x="0" y="0" width="{width}" height="{height}" rx="2"/>'
    fill = f'<rect class="fill" x="0" y="0" width="{svg.place(filled)}" height="{height}" rx="2"/>' if filled else ""
    return _mark("meter", width, height, track + fill)
