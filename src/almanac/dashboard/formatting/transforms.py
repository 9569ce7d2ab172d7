"""
Transforms of a line: what its points become, in which unit, and what that is called.

They are computed as formulas of derived indicators are: differences of published numbers exact in decimals, all else to
twelve significant digits. A period without the one that it is compared with has no value; one that is computed from a
withheld value is withheld.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from datetime import date
from itertools import dropwhile
from typing import NamedTuple

from almanac.dashboard.formatting.dates import day, years_before
from almanac.dashboard.formatting.numbers import UnitWords
from almanac.dashboard.formatting.values import ChartPoint, parted
from almanac.domain.numbers import exact_sum, significant

LEVEL, INDEX = "level", "index"
#: Days that a look-up in daily and weekly data may go back from its target, as in formulas of derived indicators.
_LOOK_BACK = 7
_PERCENT = UnitWords("Percent", sign="%", least=1, move="percentage points", moves="points")
_POINTS = UnitWords("Percentage points", after="percentage points", least=1, move="percentage points", moves="points")


class Transform(NamedTuple):
    """One transform: its name in addresses, its title in a list, and the words that a chart's name ends with."""

    name: str
    title: str
    words: str


TRANSFORMS = {
    one.name: one
    for one in (
        Transform(LEVEL, "Level", ""),
        Transform("change", "Change on the period before", "change on the period before"),
        Transform("percent", "Percent change on the period before", "percent change on the period before"),
        Transform("year", "Percent change over a year", "percent change over a year"),
        Transform(INDEX, "Index, 100 at a day", "index"),
        Transform("log", "Logarithm", "natural logarithm"),
    )
}


class Transformed(NamedTuple):
    """A line after its transform: points, unit, decimals, and how each was computed (empty for a level)."""

    points: list[ChartPoint]
    unit: UnitWords
    digits: int
    formula: str = ""


def transformed(
    name: str, points: Sequence[ChartPoint], unit: UnitWords, digits: int, *, base: date | None = None
) -> Transformed:
    """
    Points under a transform. `base`: the day at which an index is 100.

    Of what is in percent no percent change is taken: it is told as a change in percentage points. Raises ValueError for
    a transform that there is not, and for an index without a day.
    """
    if name == LEVEL:
        return Transformed(list(points), unit, digits)
    if name not in TRANSFORMS:
        raise ValueError(f"“{name}” is no transform. There are {', '.join(TRANSFORMS)}")
    if name == "log":
        return Transformed(
            [_with(point, [point], lambda x: significant(math.log(x)) if x > 0 else None) for point in points],
            UnitWords("Natural logarithm", computed=3),
            3,
            "ln(x), of what is above zero",
        )
    if name == INDEX:
        return _index(points, base)
    a_year = name == "year"
    before = _year_before if a_year else _period_before
    lag = "of the year before" if a_year else "of the period before"
    if name == "change" or _in_percent(unit):
        return Transformed(
            _compared(points, before, _difference(unit)), _moved(unit), max(digits, unit.least), f"x less x {lag}"
        )

    def growth(now: float, base: float) -> float | None:
        return significant(100.0 * (now / base - 1.0)) if base > 0 else None

    return Transformed(_compared(points, before, growth), _PERCENT, 1, f"100·(x / x {lag} − 1)")


def common_base(lines: Sequence[Sequence[ChartPoint]]) -> date | None:
    """Return the first day at which all lines have a value, so that an index of all begins with 100; None where there is none."""
    firsts = [next((point for point in points if point.value), None) for points in lines if points]
    ends = [point.end for point in firsts if point is not None]
    return date.fromordinal(max(ends)) if ends else None


# -- computing ----------------------------------------------------------------------------------------------------------


def _compared(
    points: Sequence[ChartPoint],
    before: Callable[[Sequence[ChartPoint], int], ChartPoint | None],
    compute: Callable[[float, float], float | None],
) -> list[ChartPoint]:
    found = []
    for index, point in enumerate(points):
        base = before(points, index)
        found.append(
            point._replace(value=None, state="withheld" if point.state == "withheld" else "none", first=None)
            if base is None
            else _with(point, [point, base], compute)
        )
    # Points at the beginning that have nothing to be compared with are no gap.
    return list(dropwhile(lambda point: point.state == "none", found))


def _with(point: ChartPoint, inputs: Sequence[ChartPoint], compute: Callable[..., float | None]) -> ChartPoint:
    """Return a point with what is computed from its inputs; without a value where one of them has none, withheld where one is."""
    if any(one.state == "withheld" for one in inputs):
        return point._replace(value=None, state="withheld", first=None)
    values = [one.value for one in inputs]
    value = None if any(one is None for one in values) else compute(*values)
    if value is not None and not math.isfinite(value):
        value = None
    return point._replace(value=value, state="none" if value is None else "shown", first=None)


def _period_before(points: Sequence[ChartPoint], index: int) -> ChartPoint | None:
    if index == 0:
        return None
    before, now = points[index - 1], points[index]
    return None if before.frequency is not now.frequency or parted(before, now) else before


def _year_before(points: Sequence[ChartPoint], index: int) -> ChartPoint | None:
    """Find the same period a year before; of days and weeks the last one with a value in the week up to that day."""
    now = points[index]
    wanted = years_before(date.fromordinal(now.end), 1).toordinal()
    place = bisect_right(points, wanted, key=lambda point: point.end) - 1
    if now.frequency.months:
        # The last day of February is another one in a leap year.
        return next(
            (
                one
                for one in points[max(place - 1, 0) : place + 2]
                if abs(one.end - wanted) <= 1 and one.frequency is now.frequency
            ),
            None,
        )
    while place >= 0 and points[place].end > wanted - _LOOK_BACK:
        if points[place].state != "none":
            return points[place]
        place -= 1
    return None


def _index(points: Sequence[ChartPoint], base: date | None) -> Transformed:
    if base is None:
        raise ValueError("an index is 100 at a day, which was not given")
    wanted = base.toordinal()
    at = next((one for one in points if (one.start or one.end) <= wanted <= one.end), None)
    if at is None and points and points[-1].frequency.months == 0:
        place = bisect_right(points, wanted, key=lambda point: point.end) - 1
        at = points[place] if place >= 0 and points[place].end > wanted - _LOOK_BACK else None
    unit = UnitWords(f"Index, {day(base)} = 100", least=1, move="index points", moves="points")
    if at is None:
        return Transformed([], unit, 1, f"100·x / x of {day(base)}")

    def compute(now: float, then: float) -> float | None:
        return significant(100.0 * now / then) if then > 0 else None

    return Transformed([_with(point, [point, at], compute) for point in points], unit, 1, f"100·x / x of {at.period}")


def _difference(unit: UnitWords) -> Callable[[float, float], float]:
    times = 100 if unit.fraction else 1
    return lambda now, base: exact_sum(now, -base, times=times)


# -- units --------------------------------------------------------------------------------------------------------------


def _in_percent(unit: UnitWords) -> bool:
    return unit.fraction or unit.move == _POINTS.move


def _moved(unit: UnitWords) -> UnitWords:
    """Return the unit of a change."""
    if _in_percent(unit):
        return _POINTS._replace(least=max(unit.least, 1))
    if unit.move:
        return UnitWords(unit.move.capitalize(), after=unit.move, least=unit.least, move=unit.move, moves=unit.moves)
    return unit._replace(head=f"{unit.head}, change")
