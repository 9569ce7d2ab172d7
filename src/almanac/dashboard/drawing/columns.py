"""Counts as stacked columns, always from zero. The last may be hatched: its time is not over."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from almanac.dashboard.drawing.scales import CHARACTER, value_axis
from almanac.dashboard.drawing.svg import SHEETS, Drawing, Plot, at, colour, drawn, names_below, place, plot, value_grid

#: Of the room of one column what its bar takes.
_FILLED = 0.7
_WIDEST = 48.0
#: Between the strokes of a hatch.
_HATCH = 5.0


class CountColumn(NamedTuple):
    """One column: its label below, and a count for each part, from the bottom up."""

    label: str
    counts: Sequence[int]


def column_chart(columns: Sequence[CountColumn], *, so_far: bool = False) -> Drawing | None:
    """
    Stacked columns; None where nothing was counted. `so_far`: the last is not over.

    Raises ValueError for counts below zero, or of different lengths.
    """
    if len({len(column.counts) for column in columns}) > 1 or any(min(column.counts) < 0 for column in columns):
        raise ValueError("columns have the same parts, each counted from zero up")
    if not any(sum(column.counts) for column in columns):
        return None
    axis = value_axis([sum(column.counts) for column in columns], from_zero=True, whole=True)
    plots = [plot(sheet, (-0.5, len(columns) - 0.5), axis, right=8) for sheet in SHEETS]
    svgs = [drawn(on, [value_grid(on, axis), *_bars(on, columns, so_far), _names(on, columns)]) for on in plots]
    return Drawing(tuple(svgs), tuple(plots))


def _bars(on: Plot, columns: Sequence[CountColumn], so_far: bool) -> list[str]:
    width = min((on.x(1) - on.x(0)) * _FILLED, _WIDEST)
    outlines: dict[int, list[str]] = {}
    for index, column in enumerate(columns):
        left = on.x(index) - width / 2
        total = 0
        for part, count in enumerate(column.counts):
            if count > 0:
                low, high = on.y(total), on.y(total + count)
                outlines.setdefault(part, []).append(f"M{at(left, low)}V{place(high)}h{place(width)}V{place(low)}z")
            total += count
    bars = [
        f'<path class="column {colour(part + 1)}" d="{"".join(found)}"/>' for part, found in sorted(outlines.items())
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
        strokes.append(f"M{at(*start)}L{at(*stop)}")
        begin += _HATCH
    return f'<path class="hatch" d="{"".join(strokes)}"/>'


def _names(on: Plot, columns: Sequence[CountColumn]) -> str:
    """Every first, second, fifth … label, the newest always among them."""
    widest = CHARACTER * max(len(column.label) for column in columns) + 10
    per_column = on.x(1) - on.x(0)
    step = next(step for step in itertools.count(1) if step * per_column >= widest or step >= len(columns))
    last = len(columns) - 1
    return names_below(on, [(index, columns[index].label) for index in range(last % step, last + 1, step)])
