"""Where values and days lie on paper: axes with four to six round ticks, and calendars with as many labels as there is room for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from almanac.dashboard.words.dates import NBSP, SHORT_MONTHS
from almanac.dashboard.words.numbers import NO_SCALE, Scale, common_scale, in_scale, number
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
        """Where a number lies."""
        return self.start + (value - self.low) * (self.stop - self.start) / (self.high - self.low)

    def back(self, place: float) -> float:
        """The number at a place: inverse of a call."""
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
        """How wide the widest label is."""
        return CHARACTER * max(map(len, self.labels))


def value_axis(
    values: Iterable[float], *, from_zero: bool = False, whole: bool = False, fraction: bool = False
) -> Axis:
    """
    An axis that holds all values, with four to six ticks of the 1-2-5 row.

    It holds zero if `from_zero` (columns), or where zero is nearer than half the range. `whole`: ticks are whole numbers;
    `fraction`: labels are percentages of fractions.
    """
    values = list(values) or [0.0]
    low, high = _with_zero(min(values), max(values), from_zero=from_zero)
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


def _with_zero(low: float, high: float, *, from_zero: bool) -> tuple[float, float]:
    """A range, widened to zero where it must be or zero is near."""
    near = (high - low) / 2
    if low > 0 and (from_zero or low < near):
        return 0.0, high
    if high < 0 and (from_zero or -high < near):
        return low, 0.0
    return low, high


def _steps(low: float, high: float, *, whole: bool) -> tuple[Decimal, int, int]:
    """A step of the 1-2-5 row and the numbers of the first and last tick that hold a range, in steps."""
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
        yield [TimeTick(at, _day(at)) for at in range(begin, last + 1, step)]


def _day(at: int) -> str:
    day = date.fromordinal(at)
    return f"{day.day}{NBSP}{SHORT_MONTHS[day.month - 1]}{NBSP}{day.year}"


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
        ticks = [
            TimeTick(at, str(date.fromordinal(at).year))
            for at in _beginnings(first, last, 12)
            if date.fromordinal(at).year % step == 0
        ]
        yield ticks


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
