"""What was known when, as pictures: a fan of all published lines, and the life of one figure from release to release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from almanac.dashboard.drawing.labels import End, end_labels, label_room
from almanac.dashboard.drawing.scales import time_ticks, value_axis
from almanac.dashboard.drawing.svg import SHEETS, Drawing, Plot, at, drawn, path, place, plot, time_labels, value_grid
from almanac.dashboard.words.points import ChartPoint, runs
from almanac.dashboard.words.points import drawn as with_values
from almanac.domain.periods import Frequency


class FigureState(NamedTuple):
    """What a figure was from a day on (an ordinal), with how that is told at its end."""

    day: int
    value: float
    label: str = ""


def fan_chart(
    newest: Sequence[ChartPoint], older: Sequence[Sequence[ChartPoint]], *, label: str, fraction: bool = False
) -> Drawing | None:
    """
    The newest line in front of older ones, oldest at the back; None where there is no value to draw.

    Of an older line only what differs from the newest is drawn, with a point more at either side: what is the same lies
    under the newest.
    """
    shown = with_values(newest)
    if not shown:
        return None
    values = {point.at: point.value for point in shown}
    parts = [part for line in older for part in _apart(line, values)]
    every = [point.value or 0.0 for point in [*shown, *(point for part in parts for point in part)]]
    axis = value_axis(every, fraction=fraction)
    days = [point.at for point in [*shown, *(point for part in parts for point in part)]]
    span = (min(days), max(days))
    plots, svgs = [], []
    for sheet in SHEETS:
        on = plot(sheet, span, axis, right=label_room([label], sheet.label_room))
        behind = "".join(path(_places(on, part)) for part in parts if len(part) > 1)
        alone = "".join(_dot(on, part[0], "dot past", 1.5) for part in parts if len(part) == 1)
        front = "".join(path(_places(on, run)) for run in runs(shown) if len(run) > 1)
        ticks = time_ticks(span[0], span[1], on.right - on.left, shown[-1].frequency)
        x, y = next(_places(on, shown[-1:]))
        svgs.append(
            drawn(
                on,
                [
                    value_grid(on, axis),
                    time_labels(on, ticks),
                    f'<path class="line past" d="{behind}"/>' if behind else "",
                    alone,
                    f'<path class="line own c1" d="{front}"/>',
                    _dot(on, shown[-1], "newest c1", 4),
                    end_labels(on, [End(x, y, label)], sheet.label_room),
                ],
            )
        )
        plots.append(on)
    return Drawing(tuple(svgs), tuple(plots))


def life_chart(states: Sequence[FigureState], until: int, *, fraction: bool = False) -> Drawing | None:
    """
    Steps of one figure: each value holds until the next was published, the last until a day (an ordinal); a dot at each
    beginning. None for no states.
    """
    if not states:
        return None
    axis = value_axis([state.value for state in states], fraction=fraction)
    span = (states[0].day, max(until, states[-1].day + 1))
    plots, svgs = [], []
    for sheet in SHEETS:
        on = plot(sheet, span, axis, right=label_room([states[-1].label], sheet.label_room))
        steps = f"M{at(on.x(states[0].day), on.y(states[0].value))}" + "".join(
            f"H{place(on.x(after.day))}V{place(on.y(after.value))}" for _, after in pairwise(states)
        )
        dots = "".join(
            f'<circle class="dot {"c1" if number else "first"}" cx="{place(on.x(state.day))}" cy="{place(on.y(state.value))}" r="3.5"/>'
            for number, state in enumerate(states)
        )
        ticks = time_ticks(span[0], span[1], on.right - on.left, Frequency.DAILY)
        svgs.append(
            drawn(
                on,
                [
                    value_grid(on, axis),
                    time_labels(on, ticks),
                    f'<path class="line c1" d="{steps}H{place(on.right)}"/>',
                    dots,
                    end_labels(on, [End(on.right, on.y(states[-1].value), states[-1].label)], sheet.label_room),
                ],
            )
        )
        plots.append(on)
    return Drawing(tuple(svgs), tuple(plots))


def _apart(line: Sequence[ChartPoint], newest: dict[int, float | None]) -> Iterator[list[ChartPoint]]:
    """Stretches of a line that differ from the newest, each with its neighbours in the same run."""
    for run in runs(line):
        differs = [point.value != newest.get(point.at) for point in run]
        kept = [
            different or (number > 0 and differs[number - 1]) or (number + 1 < len(run) and differs[number + 1])
            for number, different in enumerate(differs)
        ]
        part: list[ChartPoint] = []
        for point, keep in zip(run, kept, strict=True):
            if keep:
                part.append(point)
            elif part:
                yield part
                part = []
        if part:
            yield part


def _places(on: Plot, points: Sequence[ChartPoint]) -> Iterator[tuple[float, float]]:
    return ((on.x(point.at), on.y(point.value or 0.0)) for point in points)


def _dot(on: Plot, point: ChartPoint, name: str, radius: float) -> str:
    x, y = on.x(point.at), on.y(point.value or 0.0)
    return f'<circle class="{name}" cx="{place(x)}" cy="{place(y)}" r="{place(radius)}"/>'
