"""Scales, paper and labels that all charts share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from markupsafe import Markup, escape

from almanac.dashboard.formatting import dates
from almanac.dashboard.formatting.dates import NBSP, SHORT_MONTHS
from almanac.dashboard.formatting.numbers import NO_SCALE, Scale, common_scale, in_scale, number
from almanac.dashboard.formatting.values import ChartPoint
from almanac.domain.numbers import exact
from almanac.domain.periods import Frequency

_FEWEST, _MOST = 4, 6
#: About how wide a character of an axis label is, in units of the drawing (12 px type).
CHARACTER = 7.0
#: No number is told from zero below it: floats have no even steps left there.
_NOTHING = 1e-290
#: Room between neighbouring labels of days.
_ROOM = 10.0


class LinearScale(NamedTuple):
    """Numbers from `low` to `high` laid over paper from `start` to `stop`; upside down where stop is before start."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        """Return the position of a number on the axis."""
        return self.start + (value - self.low) * (self.stop - self.start) / (self.high - self.low)

    def back(self, place: float) -> float:
        """Return the number at a place: inverse of a call."""
        return self.low + (place - self.start) * (self.high - self.low) / (self.stop - self.start)


class Axis(NamedTuple):
    """Ticks of a value axis, ascending and round, with their labels; the first and last bound the axis."""

    ticks: tuple[float, ...]
    labels: tuple[str, ...]
    #: What the labels leave out: `million`.
    scale: Scale

    @property
    def low(self) -> float:
        return self.ticks[0]

    @property
    def high(self) -> float:
        return self.ticks[-1]

    @property
    def room(self) -> float:
        """Return the width of the widest label."""
        return CHARACTER * max(map(len, self.labels))


def value_axis(
    values: Iterable[float], *, from_zero: bool = False, whole: bool = False, fraction: bool = False
) -> Axis:
    """
    Return an axis that holds all values, with four to six ticks of the 1-2-5 row.

    It holds zero if `from_zero` (columns), or where zero is nearer than half the range. `whole`: ticks are whole numbers;
    `fraction`: labels are percentages of fractions.
    """
    values = list(values) or [0.0]
    low, high = min(values), max(values)
    near = (high - low) / 2
    if low > 0 and (from_zero or low < near):
        low = 0.0
    elif high < 0 and (from_zero or -high < near):
        high = 0.0
    if max(-low, high) < _NOTHING:
        low = high = 0.0
    if low == high:
        # Of one value only: a range about it that shows its first digits.
        around = 10.0 ** (math.floor(math.log10(abs(low))) - 1) if low else 1.0
        low, high = (0.0, 2 * around) if from_zero and min(values) >= 0 else (low - around, high + around)
    step, first, last = _steps(low, high, whole=whole)
    ticks = [step * count for count in range(first, last + 1)]
    scale = NO_SCALE if fraction else common_scale(ticks)
    shown = [tick.scaleb(2) if fraction else in_scale(tick, scale) for tick in ticks]
    digits = max(max(0, -int(tick.normalize().as_tuple().exponent)) for tick in shown)
    return Axis(tuple(map(float, ticks)), tuple(number(tick, digits) for tick in shown), scale)


def _steps(low: float, high: float, *, whole: bool) -> tuple[Decimal, int, int]:
    """Return a step of the 1-2-5 row and the numbers of the first and last tick that hold a range, in steps."""
    below, above = exact(low), exact(high)
    power = (above - below).adjusted() - 2
    step = Decimal(1).scaleb(max(power, 0) if whole else power)
    for factor in itertools.cycle((Decimal(2), Decimal("2.5"), Decimal(2))):
        first, last = math.floor(below / step), math.ceil(above / step)
        if last - first + 1 <= _MOST:
            break
        step *= factor
    while last - first + 1 < _FEWEST:
        # One more on the side where the data come nearer to the end; never past a zero they stop at.
        if first != 0 and (last == 0 or below - first * step < last * step - above):
            first -= 1
        else:
            last += 1
    return step, first, last


# -- time ---------------------------------------------------------------------------------------------------------------


class TimeTick(NamedTuple):
    """A labelled day, as an ordinal."""

    at: int
    label: str


#: Steps of the calendar, finest first.
_MONTH_STEPS = (1, 3, 6)
_YEAR_STEPS = (1, 2, 5, 10, 20, 25, 50, 100)
_DAY_STEPS = (1, 7, 14)


def time_ticks(first: int, last: int, width: float, frequency: Frequency) -> list[TimeTick]:
    """
    Labels between two days (ordinals) on so much paper: days, months, quarters or years, never finer than the series.

    The finest step whose labels do not touch; at least one label.
    """
    most = width / (CHARACTER * 4 + _ROOM)
    candidates = (_days(first, last, frequency), _months(first, last, frequency, most), _years(first, last))
    for ticks in itertools.chain.from_iterable(candidates):
        if ticks and _fits(ticks, first, last, width):
            return ticks
    return [TimeTick(first, str(date.fromordinal(first).year))]


def _fits(ticks: Sequence[TimeTick], first: int, last: int, width: float) -> bool:
    if last == first:
        return len(ticks) == 1
    per_day = width / (last - first)
    nearest = min((b.at - a.at for a, b in itertools.pairwise(ticks)), default=last - first)
    return nearest * per_day >= CHARACTER * max(len(tick.label) for tick in ticks) + _ROOM


def _days(first: int, last: int, frequency: Frequency) -> Iterable[list[TimeTick]]:
    if frequency.months or last - first > 120:
        return
    for step in _DAY_STEPS:
        if frequency is Frequency.WEEKLY and step == 1:
            continue
        # Of weeks the days that they end with.
        begin = last - (last - first) // step * step
        yield [TimeTick(at, dates.day(date.fromordinal(at))) for at in range(begin, last + 1, step)]


def _months(first: int, last: int, frequency: Frequency, most: float) -> Iterable[list[TimeTick]]:
    if frequency.months > 6:
        return
    for step in _MONTH_STEPS:
        # Steps that are far too many are not even counted out.
        if step >= frequency.months and (last - first) / 31 / step <= most:
            yield [
                TimeTick(at, _month(at, frequency))
                for at in _beginnings(first, last, step)
            ]  # fmt: skip


def _month(at: int, frequency: Frequency) -> str:
    day = date.fromordinal(at)
    if frequency is Frequency.QUARTERLY:
        return f"{day.year}{NBSP}Q{(day.month + 2) // 3}"
    if frequency is Frequency.SEMIANNUAL:
        return f"{day.year}{NBSP}H{(day.month + 5) // 6}"
    return f"{SHORT_MONTHS[day.month - 1]}{NBSP}{day.year}"


def _years(first: int, last: int) -> Iterable[list[TimeTick]]:
    for step in _YEAR_STEPS:
        years = ((at, date.fromordinal(at).year) for at in _beginnings(first, last, 12))
        yield [TimeTick(at, str(year)) for at, year in years if year % step == 0]


def _beginnings(first: int, last: int, months: int) -> Iterable[int]:
    """First days of every so many months, counted from January, from `first` to `last`."""
    day = date.fromordinal(first)
    number_ = day.year * 12 + day.month - 1 + (day.day > 1)
    number_ += -number_ % months
    while number_ // 12 <= date.max.year:
        at = date(number_ // 12, number_ % 12 + 1, 1).toordinal()
        if at > last:
            return
        yield at
        number_ += months


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
    """Return a coordinate to one decimal."""
    return f"{round(value, 1) + 0.0:.12g}"


def at(x: float, y: float) -> str:
    """Return a place on paper: `12.5,40`."""
    return f"{place(x)},{place(y)}"


def path(places: Iterable[tuple[float, float]]) -> str:
    """Return a line through places, as the data of a path."""
    joined = "L".join([f"{x:.1f},{y:.1f}" for x, y in places])
    return "M" + joined.replace(".0,", ",").replace(".0L", "L").removesuffix(".0")


def text(words: str, x: float, y: float, name: str, anchor: str = "start") -> Markup:
    """Draw a level text; what it says is escaped."""
    where = f'class="{name}" x="{place(x)}" y="{place(y)}" text-anchor="{anchor}"'
    return Markup(f"<text {where}>{escape(words)}</text>")  # noqa: S704  (our own classes and numbers, and the words escaped)


def clipped(words: str, room: float) -> str:
    """Words cut to so much room, with an ellipsis; whole ones are in the legend."""
    most = max(2, int(room / CHARACTER))
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def plot(
    sheet: Sheet, x: tuple[float, float], axis: Axis, *, right: float, left: float = 0.0, height: int | None = None
) -> Plot:
    """Return the plot of a paper: `x` from and to, room for the axis at the left (at least `left`), for labels at the `right`."""
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


def drawn(on: Plot, parts: Iterable[str], height: int) -> Markup:
    """
    Return the finished SVG of one paper: hidden from readers, who have the caption and the table.

    Its plot says in data attributes where it lies, for the script's cursor and for tests: from, to, first place, last place.
    """
    sheet = on.sheet
    x, y = (" ".join(f"{number:.10g}" for number in span) for span in (on.x, on.y))
    return Markup(  # noqa: S704  (all texts in it went through `text`, which escapes)
        f'<svg class="chart {sheet.name}" viewBox="0 0 {sheet.width} {height}" width="{sheet.width}" height="{height}"'
        f' aria-hidden="true" focusable="false"><g class="plot" data-x="{x}" data-y="{y}">{"".join(parts)}</g></svg>'
    )


def draw(paint: Callable[[Sheet], tuple[Plot, Iterable[str]]], *, height: int | None = None, lane: int = 0) -> Drawing:
    """Draw a chart on each paper. `height`: of all, else each has its paper's and the `lane`."""
    painted = [paint(sheet) for sheet in SHEETS]
    svgs = [drawn(on, parts, height or on.sheet.height + lane) for on, parts in painted]
    return Drawing(tuple(svgs), tuple(on for on, _ in painted), lane)


def small(name: str, width: int, height: int, inside: str) -> Markup:
    """Return a drawing without axes, of a class of its own; hidden from readers, who have the number beside it."""
    return Markup(  # noqa: S704  (made of our own classes and numbers only)
        f'<svg class="{name}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true"'
        f' focusable="false">{inside}</svg>'
    )


def small_scale(low: float, high: float, height: int, edge: int) -> LinearScale:
    """Return the value scale of a small drawing; a line that never moves lies in its middle."""
    return LinearScale(low, high, height - edge, edge) if low < high else LinearScale(low - 1, low + 1, height, 0)


def dot(x: float, y: float, name: str, radius: float) -> str:
    """Return a circle about a place."""
    return f'<circle class="{name}" cx="{place(x)}" cy="{place(y)}" r="{place(radius)}"/>'


#: Colours that are told apart by everybody; a line beyond them has the colour of an earlier one and a dash of its own.
COLOURS = 7
#: Lines of one chart: more are small multiples.
MOST_LINES = 12


def colour(number: int) -> str:
    """Return the class of a line's colour, `c2`; from the eighth on that of an earlier line, `c2 again`. Raises ValueError for a thirteenth."""
    if not 1 <= number <= MOST_LINES:
        raise ValueError(f"a chart has lines 1 to {MOST_LINES}, not {number}")
    return f"c{number}" if number <= COLOURS else f"c{number - COLOURS} again"


#: Between the base lines of neighbouring labels.
APART = 15.0
#: Right of the plot where labels stand, with leaders and without.
_LEADER, _BESIDE = 18.0, 8.0
#: A line that ends so near to the right edge ends there.
_NEAR = 24.0


class End(NamedTuple):
    """The end of a line and its label."""

    x: float
    y: float
    label: str


def spread(places: Sequence[float], low: float, high: float, gap: float = APART) -> list[float]:
    """
    Places pushed apart to at least `gap`, each as near to its own as that allows, in the order they have.

    Within `low` and `high` where there is room for all.
    """
    order = sorted(range(len(places)), key=lambda index: places[index])
    # Neighbours that touch move as one block about the mean of where its members want to be.
    blocks: list[tuple[float, int]] = []
    for rank, index in enumerate(order):
        blocks.append((places[index] - rank * gap, 1))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (late, late_count), (early, early_count) = blocks.pop(), blocks.pop()
            count = early_count + late_count
            blocks.append(((early * early_count + late * late_count) / count, count))
    room = max(low, high - (len(places) - 1) * gap)
    found, rank = [0.0] * len(places), 0
    for wanted, count in blocks:
        for _ in range(count):
            found[order[rank]] = min(max(wanted, low), room) + rank * gap
            rank += 1
    return found


def end_labels(on: Plot, ends: Sequence[End], room: float, *, column: bool = False) -> str:
    """
    Labels of lines, in one column right of the plot; a leader goes to each that stands elsewhere than its line's end.

    A line that ends well within the plot, as a past one does, has its label above its end: a leader across the plot
    would look like data. `column`: it stands in the column too, for among many lines such a label would lie on others.
    """
    within = [] if column else [end for end in ends if end.x < on.right - _NEAR]
    beside = [end for end in ends if column or end.x >= on.right - _NEAR]
    heights = spread([end.y for end in beside], on.top, on.bottom)
    moved = [abs(height - end.y) > 1 or end.x < on.right - _NEAR for end, height in zip(beside, heights, strict=True)]
    x = on.right + (_LEADER if any(moved) else _BESIDE)
    parts: list[str] = []
    for end in within:
        words = clipped(end.label, room)
        x_within = max(end.x, CHARACTER * len(words) / 2)
        parts.append(text(words, x_within, max(end.y - 10, on.top), "end", "middle"))
    for end, height, leads in zip(beside, heights, moved, strict=True):
        if leads:
            # Across the plot it goes level, along the edge it turns.
            edge = f"H{place(on.right)}" if end.x < on.right - _NEAR else ""
            far = " far" if edge else ""
            parts.append(f'<path class="leader{far}" d="M{at(end.x + 4, end.y)}{edge}L{at(x - 3, height)}"/>')
        parts.append(text(clipped(end.label, room), x, height + 4, "end"))
    return "".join(parts)


def label_room(labels: Sequence[str], most: float) -> float:
    """Room that labels take right of a plot, leaders included, never more than `most`."""
    widest = max((len(label) for label in labels), default=0) * CHARACTER
    return min(widest, most) + _LEADER + 4


#: Points that are drawn one by one.
MOST = 1_500


def thinned(run: Sequence[ChartPoint], span: tuple[float, float], columns: float) -> list[ChartPoint]:
    """
    Points of one run (all with values), of days in `span`, thinned to so many columns; in their order.

    All lows and highs stay true; what goes lies between them within one unit of the paper.
    """
    if len(run) <= 2:
        return list(run)
    values = np.array([point.value for point in run], dtype=float)
    days = np.array([point.at for point in run], dtype=float)
    # Divided last: a day on the border of two columns falls into the one it begins.
    column = ((days - span[0]) * columns / max(span[1] - span[0], 1.0)).astype(int)
    # Sorted by value within each column, its low is the first and its high the last.
    order = np.lexsort((values, column))
    first = np.flatnonzero(np.diff(column, prepend=column[0] - 1))
    last = np.append(first[1:], len(run)) - 1
    kept = np.unique(np.concatenate(([0, len(run) - 1], order[first], order[last])))
    return [run[index] for index in kept.tolist()]
