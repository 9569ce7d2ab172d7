"""What all charts are drawn on: three widths of paper, their frames and axes, and how coordinates and texts are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from almanac.dashboard.drawing.scales import CHARACTER, Axis, LinearScale, TimeTick

#: Above the plot, and below it for the labels of its lower axis.
_ABOVE, _BELOW = 14.0, 26.0
#: A line more above it for the word of the scale.
_SCALE_WORD = 14.0
#: Between labels and plot.
_GAP = 8.0


class Sheet(NamedTuple):
    """One width that a chart is drawn at. `name` is the class by which media queries show one of them."""

    name: str
    width: int
    height: int

    @property
    def label_room(self) -> float:
        """At most so wide are labels at the ends of lines."""
        return 136.0 if self.width > 600 else 88.0


SHEETS = (Sheet("wide", 880, 316), Sheet("middle", 640, 280), Sheet("narrow", 358, 250))


class Plot(NamedTuple):
    """The part of a paper that data are drawn on: where values and days (or steps) lie."""

    sheet: Sheet
    x: LinearScale
    y: LinearScale

    @property
    def left(self) -> float:
        return self.x.start

    @property
    def right(self) -> float:
        return self.x.stop

    @property
    def top(self) -> float:
        return self.y.stop

    @property
    def bottom(self) -> float:
        return self.y.start


class Drawing(NamedTuple):
    """A chart at its three widths: `svgs` to be shown, `plots` to read places back; `lane`: by how much it is taller than its paper."""

    svgs: tuple[Markup, ...]
    plots: tuple[Plot, ...]
    lane: int = 0

    @property
    def height(self) -> int:
        """The height of the widest of them."""
        return self.plots[0].sheet.height + self.lane


def place(value: float) -> str:
    """A coordinate to one decimal."""
    return f"{round(value, 1) + 0.0:.12g}"


def at(x: float, y: float) -> str:
    """A place on paper: `12.5,40`."""
    return f"{place(x)},{place(y)}"


def path(places: Iterable[tuple[float, float]]) -> str:
    """A line through places, as the data of a path."""
    joined = "L".join([f"{x:.1f},{y:.1f}" for x, y in places])
    return "M" + joined.replace(".0,", ",").replace(".0L", "L").removesuffix(".0")


def text(words: str, x: float, y: float, name: str, anchor: str = "start") -> Markup:
    """A level text; what it says is escaped."""
    where = f'class="{name}" x="{place(x)}" y="{place(y)}" text-anchor="{anchor}"'
    return Markup(f"<text {where}>{escape(words)}</text>")  # noqa: S704  (our own classes and numbers, and the words escaped)


def clipped(words: str, room: float) -> str:
    """Words cut to so much room, with an ellipsis; whole ones are in the legend."""
    most = max(2, int(room / CHARACTER))
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def plot(
    sheet: Sheet, x: tuple[float, float], axis: Axis, *, right: float, left: float = 0.0, height: int | None = None
) -> Plot:
    """The plot of a paper: `x` from and to, room for the axis at the left (at least `left`), for labels at the `right`."""
    above = _ABOVE + (_SCALE_WORD if axis.scale.power else 0)
    low, high = x if x[0] < x[1] else (x[0] - 0.5, x[1] + 0.5)
    return Plot(
        sheet,
        LinearScale(low, high, max(axis.room, left) + _GAP, sheet.width - right),
        LinearScale(axis.low, axis.high, (height or sheet.height) - _BELOW, above),
    )


def value_grid(on: Plot, axis: Axis) -> str:
    """Rules and labels of the value axis; zero is the stronger rule."""
    rules = "".join(f"M{at(on.left, on.y(tick))}H{place(on.right)}" for tick in axis.ticks if tick)
    labels = "".join(
        text(label, on.left - _GAP, on.y(tick) + 4, "tick", "end")
        for tick, label in zip(axis.ticks, axis.labels, strict=True)
    )
    zero = f'<path class="axis" d="M{at(on.left, on.y(0))}H{place(on.right)}"/>' if 0 in axis.ticks else ""
    word = text(axis.scale.word, 0, 11, "tick") if axis.scale.power else ""
    return f'<path class="grid" d="{rules}"/>{zero}{labels}{word}'


def time_labels(on: Plot, ticks: Sequence[TimeTick]) -> str:
    """Labels of days below the plot, with short strokes."""
    strokes = "".join(f"M{at(on.x(tick.at), on.bottom)}v4" for tick in ticks)
    return f'<path class="axis ticks" d="{strokes}"/>' + names_below(on, [(tick.at, tick.label) for tick in ticks])


def names_below(on: Plot, names: Sequence[tuple[float, str]]) -> str:
    """Labels below the plot, none reaching over the edge of the paper."""
    found = []
    for x, name in names:
        centre, half = on.x(x), CHARACTER * len(name) / 2
        anchor, where = "middle", centre
        if centre + half > on.sheet.width:
            anchor, where = "end", float(on.sheet.width)
        elif centre - half < 0:
            anchor, where = "start", 0.0
        found.append(text(name, where, on.bottom + 18, "tick", anchor))
    return "".join(found)


def drawn(on: Plot, parts: Iterable[str], *, height: int | None = None) -> Markup:
    """
    The finished SVG of one paper: hidden from readers, who have the caption and the table.

    Its plot says in data attributes where it lies, for the script's cursor and for tests: from, to, first place, last place.
    """
    sheet, inside = on.sheet, "".join(parts)
    tall = height or sheet.height
    x, y = (" ".join(f"{number:.10g}" for number in span) for span in (on.x, on.y))
    return Markup(  # noqa: S704  (all texts in it went through `text`, which escapes)
        f'<svg class="chart {sheet.name}" viewBox="0 0 {sheet.width} {tall}" width="{sheet.width}" height="{tall}"'
        f' aria-hidden="true" focusable="false"><g class="plot" data-x="{x}" data-y="{y}">{inside}</g></svg>'
    )


#: Colours that are told apart by everybody; a line beyond them has the colour of an earlier one and a dash of its own.
COLOURS = 7
#: Lines of one chart: more are small multiples.
MOST_LINES = 12


def colour(number: int) -> str:
    """The class of a line's colour, `c2`; from the eighth on that of an earlier line, `c2 again`. Raises ValueError for a thirteenth."""
    if not 1 <= number <= MOST_LINES:
        raise ValueError(f"a chart has lines 1 to {MOST_LINES}, not {number}")
    return f"c{number}" if number <= COLOURS else f"c{number - COLOURS} again"


def attribute(value: str) -> str:
    """A text for an attribute, escaped."""
    return str(escape(value))
