"""Lines over time, with events under their axis, and all published lines of a series."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from markupsafe import escape

from almanac.dashboard.drawing import svg
from almanac.dashboard.formatting.values import ChartPoint, runs, with_values
from almanac.domain.periods import Frequency

#: How much lower a drawing is that has the lane, and where its middle lies below the plot.
LANE = 10
_MIDDLE, _HALF = 29.0, 4.0
#: Marks nearer to each other than this are drawn as one, which names so many.
_APART, _NAMED = 9.0, 3


class EventMark(NamedTuple):
    """Something that happened on a day (ordinal), in words that name the day too."""

    at: int
    words: str


def event_lane(on: svg.Plot, marks: Sequence[EventMark]) -> str:
    """Return the marks of a paper, oldest first; empty without any."""
    groups: list[list[EventMark]] = []
    for mark in marks:
        if groups and on.x(mark.at) - on.x(groups[-1][0].at) < _APART:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    diamonds, half = [], f"{_HALF:g}"
    for group in groups:
        x, y = (on.x(group[0].at) + on.x(group[-1].at)) / 2, on.bottom + _MIDDLE
        words = "; ".join(mark.words for mark in group[:_NAMED])
        if len(group) > _NAMED:
            words += f"; {len(group) - _NAMED} more"
        outline = f"M{svg.at(x, y - _HALF)}l{half},{half}l-{half},{half}l-{half},-{half}z"
        diamonds.append(f'<path class="event" d="{outline}"><title>{escape(words)}</title></path>')
    return "".join(diamonds)


#: From so many lines on each has its dash as well as its colour.
DASHED_FROM = 4
#: First publications and withheld periods nearer to each other than this are drawn as one.
_FIRST_APART, _WITHHELD_APART = 4, 10


class ChartLine(NamedTuple):
    """One line. `colour` 1 to 12; `label` stands at its end: the newest value, or the name where there are several."""

    name: str
    points: Sequence[ChartPoint]
    colour: int = 1
    label: str = ""


class Frame(NamedTuple):
    """The layout that panels of one time axis share: first and last day, labels at the right, and room for values at the left."""

    span: tuple[int, int]
    labels: Sequence[str]
    left: float = 0.0


def room_left(lines: Sequence[ChartLine], *, fraction: bool = False) -> float:
    """Return the room that the labels of the lines' value axis take."""
    return svg.value_axis(
        [point.value for line in lines for point in line.points if point.value is not None], fraction=fraction
    ).room


def line_chart(
    lines: Sequence[ChartLine],
    *,
    ghost: Sequence[ChartPoint] = (),
    firsts: bool = False,
    fraction: bool = False,
    frame: Frame | None = None,
    events: Sequence[EventMark] = (),
) -> svg.Drawing | None:
    """
    Lines over time; None where there is no value to draw. `ghost`: the same line as known today; `firsts`: with first
    publications, which one line alone has; `fraction`: the axis is labelled in percent (`UnitWords.fraction`); `frame`:
    what panels that stand below each other share; `events`: what is marked under the axis, oldest first, which then reaches
    to the last of them: a number is published when its period is over.

    Raises ValueError for more than twelve lines.
    """
    every = [line.points for line in lines] + [ghost]
    values = [point.value for points in every for point in points if point.value is not None]
    if not values:
        return None
    if firsts:
        values += [point.first for line in lines for point in line.points if point.first is not None and point.revised]
    axis = svg.value_axis(values, fraction=fraction)
    filled = [points for points in every if points]
    span = (min(points[0].at for points in filled), max(points[-1].at for points in filled))
    labels = [line.label for line in lines if line.label]
    if events:
        span = (min(span[0], events[0].at), max(span[1], events[-1].at))
    if frame is not None:
        span, labels = frame.span, list(frame.labels)
    frequency = min((points[-1].frequency for points in filled), key=lambda frequency: frequency.rank)
    shut = [point for points in every for point in points if point.state == "withheld"]
    dashed = len(lines) >= DASHED_FROM
    # Runs are found once, and each paper thins what the wider one before it left.
    shapes = [
        _Shape(line, f"{svg.colour(line.colour)}{' dash' if dashed else ''}", list(runs(line.points))) for line in lines
    ]
    behind = _Shape(ChartLine("", ghost), "ghost", list(runs(ghost)))

    def paint(sheet: svg.Sheet) -> tuple[svg.Plot, list[str]]:
        nonlocal shapes, behind
        right = svg.label_room(labels, sheet.label_room) if labels else 14.0
        on = svg.plot(sheet, span, axis, right=right, left=0.0 if frame is None else frame.left)
        width = on.right - on.left
        shapes, behind = [shape.thin(span, width) for shape in shapes], behind.thin(span, width)
        ticks = svg.time_ticks(span[0], span[1], width, frequency)
        parts = [svg.value_grid(on, axis), svg.time_labels(on, ticks), *_ghost(on, behind)]
        if firsts:
            parts += [_firsts(on, line.points) for line in lines]
        parts += [part for shape in shapes for part in _line(on, shape)]
        parts += [_withheld(on, shut), _ends(on, lines, column=frame is not None), event_lane(on, events)]
        return on, parts

    return svg.draw(paint, lane=LANE if events else 0)


class _Shape(NamedTuple):
    """A line as it is drawn: its class, and its points in runs."""

    line: ChartLine
    name: str
    runs: list[list[ChartPoint]]

    def thin(self, span: tuple[float, float], columns: float) -> _Shape:
        if len(self.line.points) <= svg.MOST:
            return self
        return self._replace(runs=[svg.thinned(run, span, columns) for run in self.runs])


def _line(on: svg.Plot, shape: _Shape) -> Iterator[str]:
    where = _where(on)
    solid: list[str] = []
    dotted: list[str] = []
    alone: list[ChartPoint] = []
    for run in shape.runs:
        if len(run) == 1:
            alone.append(run[0])
        before: list[ChartPoint] = []
        for forecast, group in groupby(run, key=lambda point: point.forecast):
            part = [*before, *group]
            if len(part) > 1:
                (dotted if forecast else solid).append(svg.path(map(where, part)))
            # The next part begins where this one ends, so that a forecast hangs on what it goes on from.
            before = part[-1:]
    if solid:
        yield f'<path class="line {shape.name}" d="{"".join(solid)}"/>'
    if dotted:
        yield f'<path class="line forecast {shape.name}" d="{"".join(dotted)}"/>'
    for point in alone:
        yield svg.dot(*where(point), f"dot {shape.name}", 2.5)
    newest = _newest(shape.line.points)
    if newest is not None:
        yield svg.dot(*where(newest), f"newest {shape.name}", 4)


def _ghost(on: svg.Plot, shape: _Shape) -> Iterator[str]:
    where = _where(on)
    for run in shape.runs:
        if len(run) == 1:
            yield svg.dot(*where(run[0]), "dot ghost", 1.5)
    joined = "".join(svg.path(map(where, run)) for run in shape.runs if len(run) > 1)
    if joined:
        yield f'<path class="line ghost" d="{joined}"/>'


def _firsts(on: svg.Plot, points: Sequence[ChartPoint]) -> str:
    """Circles and stems; of those that would lie on each other the one that was revised most."""

    def moved(point: ChartPoint) -> float:
        return abs((point.value or 0.0) - (point.first or 0.0))

    chosen: dict[int, ChartPoint] = {}
    for point in points:
        if point.revised:
            column = int(on.x(point.at) / _FIRST_APART)
            if column not in chosen or moved(point) > moved(chosen[column]):
                chosen[column] = point
    stems, circles = [], []
    for point in chosen.values():
        x, y = _where(on)(point)
        first = on.y(point.first or 0.0)
        stems.append(f"M{svg.at(x, y)}V{svg.place(first)}")
        circles.append(svg.dot(x, first, "first", 3))
    return f'<path class="stem" d="{"".join(stems)}"/>{"".join(circles)}' if stems else ""


def _withheld(on: svg.Plot, points: Sequence[ChartPoint]) -> str:
    """Crossed circles on the axis, where something is that may not be shown."""
    places: dict[int, float] = {}
    for point in points:
        x = on.x(point.at)
        places.setdefault(int(x / _WITHHELD_APART), x)
    signs = "".join(
        f"M{svg.at(x - 4, on.bottom)}a4,4 0 1,0 8,0a4,4 0 1,0 -8,0M{svg.at(x - 2.8, on.bottom + 2.8)}l5.6,-5.6"
        for x in places.values()
    )
    return f'<path class="withheld" d="{signs}"/>' if signs else ""


def _ends(on: svg.Plot, lines: Sequence[ChartLine], *, column: bool) -> str:
    where = _where(on)
    ends = [
        svg.End(*where(newest), line.label)
        for line in lines
        if line.label and (newest := _newest(line.points)) is not None
    ]  # fmt: skip
    return svg.end_labels(on, ends, on.sheet.label_room, column=column)


def _where(on: svg.Plot) -> Callable[[ChartPoint], tuple[float, float]]:
    left, first, per_day = on.left, on.x.low, (on.right - on.left) / (on.x.high - on.x.low)
    bottom, low, per_unit = on.bottom, on.y.low, (on.top - on.bottom) / (on.y.high - on.y.low)

    def found(point: ChartPoint) -> tuple[float, float]:
        return left + (point.at - first) * per_day, bottom + ((point.value or 0.0) - low) * per_unit

    return found


def _newest(points: Sequence[ChartPoint]) -> ChartPoint | None:
    """Return the newest point with a value that is no forecast."""
    return next((point for point in reversed(points) if point.value is not None and not point.forecast), None)


class FigureState(NamedTuple):
    """A value from a day (an ordinal) on, and the label at its end."""

    day: int
    value: float
    label: str = ""


def fan_chart(
    newest: Sequence[ChartPoint], older: Sequence[Sequence[ChartPoint]], *, label: str, fraction: bool = False
) -> svg.Drawing | None:
    """
    Draw the newest line in front of older ones, oldest at the back; None where there is no value to draw.

    Of an older line only what differs from the newest is drawn, with a point more at either side: what is the same lies
    under the newest.
    """
    shown = with_values(newest)
    if not shown:
        return None
    values = {point.at: point.value for point in shown}
    parts = [part for line in older for part in _apart(line, values)]
    every = [point.value or 0.0 for point in [*shown, *(point for part in parts for point in part)]]
    axis = svg.value_axis(every, fraction=fraction)
    days = [point.at for point in [*shown, *(point for part in parts for point in part)]]
    span = (min(days), max(days))

    def paint(sheet: svg.Sheet) -> tuple[svg.Plot, list[str]]:
        on = svg.plot(sheet, span, axis, right=svg.label_room([label], sheet.label_room))

        def places(points: Sequence[ChartPoint]) -> list[tuple[float, float]]:
            return [(on.x(point.at), on.y(point.value or 0.0)) for point in points]

        behind = "".join(svg.path(places(part)) for part in parts if len(part) > 1)
        alone = "".join(svg.dot(*places(part)[0], "dot past", 1.5) for part in parts if len(part) == 1)
        front = "".join(svg.path(places(run)) for run in runs(shown) if len(run) > 1)
        ticks = svg.time_ticks(span[0], span[1], on.right - on.left, shown[-1].frequency)
        (newest_place,) = places(shown[-1:])
        return on, [
            svg.value_grid(on, axis),
            svg.time_labels(on, ticks),
            f'<path class="line past" d="{behind}"/>' if behind else "",
            alone,
            f'<path class="line own c1" d="{front}"/>',
            svg.dot(*newest_place, "newest c1", 4),
            svg.end_labels(on, [svg.End(*newest_place, label)], sheet.label_room),
        ]

    return svg.draw(paint)


def life_chart(states: Sequence[FigureState], until: int, *, fraction: bool = False) -> svg.Drawing | None:
    """
    Draw steps of one figure: each value holds until the next was published, the last until a day (an ordinal); a dot at each
    beginning. None for no states.
    """
    if not states:
        return None
    axis = svg.value_axis([state.value for state in states], fraction=fraction)
    span = (states[0].day, max(until, states[-1].day + 1))

    def paint(sheet: svg.Sheet) -> tuple[svg.Plot, list[str]]:
        on = svg.plot(sheet, span, axis, right=svg.label_room([states[-1].label], sheet.label_room))
        places = [(on.x(state.day), on.y(state.value)) for state in states]
        steps = f"M{svg.at(*places[0])}" + "".join(f"H{svg.place(x)}V{svg.place(y)}" for x, y in places[1:])
        dots = "".join(svg.dot(x, y, f"dot {'c1' if number else 'first'}", 3.5) for number, (x, y) in enumerate(places))
        return on, [
            svg.value_grid(on, axis),
            svg.time_labels(on, svg.time_ticks(span[0], span[1], on.right - on.left, Frequency.DAILY)),
            f'<path class="line c1" d="{steps}H{svg.place(on.right)}"/>',
            dots,
            svg.end_labels(on, [svg.End(on.right, places[-1][1], states[-1].label)], sheet.label_room),
        ]

    return svg.draw(paint)


def _apart(line: Sequence[ChartPoint], newest: dict[int, float | None]) -> Iterator[list[ChartPoint]]:
    """Yield stretches of a line that differ from the newest, each with its neighbours in the same run."""
    for run in runs(line):
        differs = [False, *(point.value != newest.get(point.at) for point in run), False]
        kept = [any(differs[number : number + 3]) for number in range(len(run))]
        for keep, part in groupby(zip(run, kept, strict=True), key=lambda pair: pair[1]):
            if keep:
                yield [point for point, _ in part]
