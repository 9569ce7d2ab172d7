"""Columns, small multiples, rows of dots and the small marks in tables."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
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

    def paint(sheet: svg.Sheet) -> tuple[svg.Plot, list[str]]:
        on = svg.plot(sheet, (-0.5, len(columns) - 0.5), axis, right=8)
        return on, [svg.value_grid(on, axis), *_bars(on, columns, so_far), _names(on, columns)]

    return svg.draw(paint)


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


#: Tukey's fences: what lies further than so many times the middle half's breadth beyond it is far from the others.
_FENCE = 1.5


def span_of(histories: Sequence[Sequence[ChartPoint]]) -> tuple[int, int]:
    """Return the first and the last day that any of them has a value at. Raises ValueError where none has."""
    days = [point.at for points in histories for point in with_values(points)]
    return min(days), max(days)


def multiple(points: Sequence[ChartPoint], span: tuple[int, int]) -> Markup:
    """
    Draw a line of 160 × 48 over the days of all, on a scale of its own, with zero drawn where it lies in it; gaps where there
    are gaps; nothing for fewer than two values.
    """
    return _small_line("multiple", points, span, (160, 48, 4))


def among(points: Sequence[ChartPoint], others: Sequence[Sequence[ChartPoint]]) -> Markup:
    """
    Draw a line of 240 × 96 over its own days, others behind it on the same scale; nothing for fewer than two values.

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
    return _small_line("multiple", points, span, (240, 96, 4), bounds=(min(values), max(values)), others=behind)


def _small_line(
    name: str,
    points: Sequence[ChartPoint],
    span: tuple[int, int],
    size: tuple[int, int, int],
    *,
    bounds: tuple[float, float] | None = None,
    others: Sequence[Sequence[ChartPoint]] = (),
    zero: bool = True,
    dots: tuple[float, float] = (1.5, 2.5),
) -> Markup:
    """
    Draw a line without axes on paper of a `size` (width, height, edge), others behind it; nothing for fewer than two values.
    `bounds`: lowest and highest of the scale, if not the line's own; `zero`: with a rule where it lies
    within the bounds; `dots`: radius of points that stand alone, and of the newest.
    """
    values = [point.value or 0.0 for point in with_values(points)]
    if len(values) < 2:
        return Markup()
    (low, high), (width, height, edge) = bounds or (min(values), max(values)), size
    x = svg.LinearScale(span[0], max(span[1], span[0] + 1), edge, width - edge)
    y = svg.small_scale(low, high, height, edge)

    def lines(points: Sequence[ChartPoint]) -> list[list[tuple[float, float]]]:
        return [
            [(x(point.at), y(point.value or 0.0)) for point in svg.thinned(run, span, width)]
            for run in runs([point for point in points if not point.forecast])
        ]

    own, newest = lines(points), with_values(points)[-1]
    rule = f'<path class="axis" d="M{svg.at(edge, y(0))}H{width - edge}"/>' if zero and low < 0 < high else ""
    behind = "".join(svg.path(line) for other in others for line in lines(other) if len(line) > 1)
    behind = f'<path class="line past" d="{behind}"/>' if behind else ""
    joined = "".join(svg.path(line) for line in own if len(line) > 1)
    alone = "".join(svg.dot(*line[0], "dot c1", dots[0]) for line in own if len(line) == 1)
    end = svg.dot(x(newest.at), y(newest.value or 0.0), "newest", dots[1])
    return svg.small(name, width, height, f'{rule}{behind}<path class="line c1" d="{joined}"/>{alone}{end}')


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

    def paint(sheet: svg.Sheet) -> tuple[svg.Plot, list[str]]:
        left = min(names, sheet.width / 3)
        x = svg.LinearScale(axis.low, axis.high, left + 8, sheet.width - told)
        # Rows are counted downwards.
        on = svg.Plot(sheet, x, svg.LinearScale(len(rows) - 0.5, -0.5, height - 26.0, 8.0))
        rules = "".join(f"M{svg.at(on.x(tick), on.top)}V{svg.place(on.bottom)}" for tick in axis.ticks if tick)
        zero = f'<path class="axis" d="M{svg.at(on.x(0), on.top)}V{svg.place(on.bottom)}"/>'
        names_below = svg.names_below(on, list(zip(axis.ticks, axis.labels, strict=True)))
        parts = [f'<path class="grid" d="{rules}"/>', zero, names_below]
        return on, parts + [_row(on, index, row, left) for index, row in enumerate(rows)]

    return svg.draw(paint, height=height)


def _row(on: svg.Plot, index: int, row: Dot, room: float) -> str:
    y = on.y(index)
    name = svg.text(svg.clipped(row.name, room), room, y + 4, "name own" if row.own else "name", "end")
    if row.value is None:
        return name + svg.text(NO_DATA, on.x(0) + 8, y + 4, "none")
    x = on.x(row.value)
    stem = f'<path class="stem" d="M{svg.at(on.x(0), y)}H{svg.place(x)}"/>'
    kind = "own c1" if row.own else "ghost"
    return f"{name}{stem}{svg.dot(x, y, f'dot {kind}', 5)}{svg.text(row.label, on.right + 12, y + 4, 'end')}"


_NOTHING = Markup()


def sparkline(points: Sequence[ChartPoint]) -> Markup:
    """
    Draw a line of 72 × 20 with a dot at its newest value; gaps where there are gaps, and a small dot for a value that stands
    alone between them; nothing for fewer than two values.
    """
    shown = with_values(points)
    if len(shown) < 2:
        return _NOTHING
    return _small_line("spark", points, (shown[0].at, shown[-1].at), (72, 20, 3), zero=False, dots=(1, 2))


def bar(value: float | None, low: float, high: float, *, width: int = 96, height: int = 12) -> Markup:
    """
    Draw a bar from zero to a value, in a table whose values lie from `low` to `high`; nothing without a value.

    All bars of a column are drawn with one low and high, so that they compare.
    """
    if value is None:
        return _NOTHING
    low, high = min(low, value, 0.0), max(high, value, 0.0)
    if low == high:
        return svg.small("bar", width, height, f'<path class="axis" d="M{svg.at(0.5, 0)}V{height}"/>')
    x = svg.LinearScale(low, high, 0.5, width - 0.5)
    left, right = sorted((x(0), x(value)))
    sign = "minus" if value < 0 else "plus"
    rect = f'<rect class="fill {sign}" x="{svg.place(left)}" y="2" width="{svg.place(right - left)}" height="{height - 4}"/>'
    return svg.small("bar", width, height, f'{rect}<path class="axis" d="M{svg.at(x(0), 0)}V{height}"/>')


def percentile(value: float | None, *, width: int = 100) -> Markup:
    """Draw a rule from 0 to 100 with a dot, its middle marked; nothing without a value."""
    if value is None:
        return _NOTHING
    x = svg.LinearScale(0, 100, 5, width - 5)
    rule = f'<path class="axis" d="M5,6H{width - 5}M{svg.at(x(50), 3)}v6"/>'
    return svg.small("percentile", width, 12, rule + svg.dot(x(min(max(value, 0), 100)), 6, "dot", 4))


def meter(share: float | None, *, width: int = 96, height: int = 8) -> Markup:
    """Draw a share from 0 to 1 as a bar; nothing for None."""
    if share is None:
        return _NOTHING
    filled = min(max(share, 0), 1) * width
    track = f'<rect class="track" x="0" y="0" width="{width}" height="{height}" rx="2"/>'
    fill = f'<rect class="fill" x="0" y="0" width="{svg.place(filled)}" height="{height}" rx="2"/>' if filled else ""
    return svg.small("meter", width, height, track + fill)
