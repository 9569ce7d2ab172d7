"""A dot plot: one row a name, a dot where its value is, and the zero line through all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from almanac.dashboard.drawing.scales import CHARACTER, LinearScale, value_axis
from almanac.dashboard.drawing.svg import SHEETS, Drawing, Plot, Sheet, at, clipped, drawn, names_below, place, text
from almanac.dashboard.words.values import NO_DATA

_ROW, _EDGES = 28, 34


class Dot(NamedTuple):
    """One row. `value` None: no data; `label` is the value as it is told; `own`: the row that the chart is about."""

    name: str
    value: float | None
    label: str = ""
    own: bool = False


def dot_plot(rows: Sequence[Dot]) -> Drawing | None:
    """Rows from the top down, with zero in sight; None where no row has a value."""
    values = [row.value for row in rows if row.value is not None]
    if not values:
        return None
    axis = value_axis([0.0, *values])
    names = CHARACTER * max(len(row.name) for row in rows) + 8
    told = CHARACTER * max(len(row.label) for row in rows) + 20
    height = _ROW * len(rows) + _EDGES
    plots, svgs = [], []
    for sheet in SHEETS:
        left = min(names, sheet.width / 3)
        on = _plot(sheet, LinearScale(axis.low, axis.high, left + 8, sheet.width - told), len(rows), height)
        rules = "".join(f"M{at(on.x(tick), on.top)}V{place(on.bottom)}" for tick in axis.ticks if tick)
        parts = [
            f'<path class="grid" d="{rules}"/>',
            f'<path class="axis" d="M{at(on.x(0), on.top)}V{place(on.bottom)}"/>',
        ]
        parts.append(names_below(on, list(zip(axis.ticks, axis.labels, strict=True))))
        parts += [_row(on, index, row, left) for index, row in enumerate(rows)]
        plots.append(on)
        svgs.append(drawn(on, parts, height=height))
    return Drawing(tuple(svgs), tuple(plots))


def _plot(sheet: Sheet, x: LinearScale, rows: int, height: int) -> Plot:
    # Rows are counted downwards.
    return Plot(sheet, x, LinearScale(rows - 0.5, -0.5, height - 26.0, 8.0))


def _row(on: Plot, index: int, row: Dot, room: float) -> str:
    y = on.y(index)
    name = text(clipped(row.name, room), room, y + 4, "name own" if row.own else "name", "end")
    if row.value is None:
        return name + text(NO_DATA, on.x(0) + 8, y + 4, "none")
    x = on.x(row.value)
    stem = f'<path class="stem" d="M{at(on.x(0), y)}H{place(x)}"/>'
    kind = "own c1" if row.own else "ghost"
    dot = f'<circle class="dot {kind}" cx="{place(x)}" cy="{place(y)}" r="5"/>'
    return f"{name}{stem}{dot}{text(row.label, on.right + 12, y + 4, 'end')}"
