"""The rows of a chart: what its drawing, its caption and its readout are all made from. A withheld value is never in one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Literal, NamedTuple

from almanac.dashboard.words.periods import frequency_of, notation, noun
from almanac.dashboard.words.values import is_forecast, masked
from almanac.domain.periods import Frequency, Period

#: Days between neighbours of a daily or weekly series beyond which something is missing, not a holiday.
_LONGEST_BREAK = {Frequency.DAILY: 10, Frequency.WEEKLY: 10}
#: A fiscal quarter of whole weeks ends in one month or the next.
_SHIFT = 1
#: Statuses of a first vintage that is the first publication, and not only the first state that we saw.
_PUBLISHED = frozenset({"initial", "final"})

Cell = tuple[str | None, str]


class ChartPoint(NamedTuple):
    """
    One period of a chart. Days are ordinals; `start` None for an instant.

    `at` is the day it is drawn at. `value` is None where there is none to draw; `state` says why. `first`: what it was at
    its first publication.
    """

    at: int
    start: int | None
    end: int
    frequency: Frequency
    value: float | None
    state: Literal["shown", "withheld", "none"] = "shown"
    forecast: bool = False
    first: float | None = None

    @property
    def period(self) -> str:
        """Its period in our notation."""
        start = None if self.start is None else date.fromordinal(self.start)
        return notation(Period(start, date.fromordinal(self.end)), self.frequency)

    @property
    def revised(self) -> bool:
        """Whether it differs from its first publication."""
        return self.value is not None and self.first is not None and self.first != self.value


def place_of(start: int | None, end: int, frequency: Frequency) -> int:
    """The day a period is drawn at: its first, so that 2016 Q1 stands at 2016; of a day, a week or an instant its last."""
    return end if start is None or frequency.months == 0 else start


def points(rows: Iterable[Mapping[str, Any]], firsts: Mapping[Cell, float] | None = None) -> list[ChartPoint]:
    """
    Observations of one series (or one topic under `sources=preferred`), as points from the oldest on.

    `firsts`: first publications, of `first_publications`.
    """
    firsts, found = firsts or {}, []
    frequencies: dict[str, Frequency] = {}
    for row in rows:
        start, end, name = row["periodStart"], row["periodEnd"], row["frequency"]
        frequency = frequencies.get(name)
        if frequency is None:
            frequency = frequencies[name] = frequency_of(name)
        shut = masked(row)
        number = None if shut else row["valueNumeric"]
        # A whole number may have come as an integer.
        value = None if number is None else float(number)
        begins, ends = None if start is None else _ordinal(start), _ordinal(end)
        found.append(
            ChartPoint(
                place_of(begins, ends, frequency),
                begins,
                ends,
                frequency,
                value,
                "withheld" if shut else "none" if value is None else "shown",
                is_forecast(row),
                None if value is None else firsts.get((start, end)),
            )
        )
    found.sort(key=_order)
    return found


def first_publications(vintages: Iterable[Mapping[str, Any]]) -> dict[Cell, float]:
    """
    What each cell of a series was when it was first published, from rows of /observations/vintages in any order.

    A cell of which only a later state was seen is not in it, nor is a withheld one.
    """
    oldest: dict[Cell, Mapping[str, Any]] = {}
    for row in vintages:
        cell = (row["periodStart"], row["periodEnd"])
        if cell not in oldest or row["observedAt"] < oldest[cell]["observedAt"]:
            oldest[cell] = row
    return {
        cell: float(row["valueNumeric"])
        for cell, row in oldest.items()
        if row["revisionStatus"] in _PUBLISHED and not masked(row) and row["valueNumeric"] is not None
    }


def drawn(points: Iterable[ChartPoint], *, forecasts: bool = False) -> list[ChartPoint]:
    """Points with a value: what captions, ranges and axes are made of."""
    return [point for point in points if point.value is not None and (forecasts or not point.forecast)]


def runs(points: Sequence[ChartPoint]) -> Iterator[list[ChartPoint]]:
    """Points to be joined: neighbours with values and no period between them missing or withheld. Some are of one point."""
    begin = 0
    for index in breaks(points):
        if index > begin:
            yield list(points[begin:index])
        begin = index + (index < len(points) and points[index].value is None)


def breaks(points: Sequence[ChartPoint]) -> Iterator[int]:
    """Places before which a line breaks: of points without a value, of those behind a missing period, and the end."""
    frequency, longest = None, None
    before: ChartPoint | None = None
    for index, point in enumerate(points):
        if point.value is None:
            yield index
            before = None
            continue
        # Ten thousand days are looked at for a page, and a look into a table by frequency is what costs.
        if point.frequency is not frequency:
            frequency = point.frequency
            longest = _LONGEST_BREAK.get(frequency)
        if before is not None and (point.end - before.end > longest if longest else parted(before, point)):
            yield index
        before = point
    yield len(points)


def missing(points: Sequence[ChartPoint]) -> int:
    """How many breaks a line has that no withheld value explains."""
    found, none = 0, False
    for index in breaks(points):
        if index < len(points):
            state = points[index].state
            # Neighbours without a value are one gap.
            after_none = none and index > 0 and points[index - 1].state == "none"
            found += state != "withheld" and not (state == "none" and after_none)
            none = state == "none"
    return found


def parted(before: ChartPoint, after: ChartPoint) -> bool:
    """Whether a period between two neighbours is missing."""
    months = after.frequency.months
    if not months:
        return after.end - before.end > _LONGEST_BREAK[after.frequency]
    slack = _SHIFT if months > 1 else 0
    return _month(after.end) - _month(before.end) > months + slack


def counted(count: int, frequency: Frequency) -> str:
    """`43 quarters`, `1 month`."""
    return f"{count:,} {noun(frequency, count)}"


def _order(point: ChartPoint) -> tuple[int, int]:
    return point.end, point.end if point.start is None else point.start


def _month(end: int) -> int:
    day = date.fromordinal(end)
    return day.year * 12 + day.month


def _ordinal(time: str) -> int:
    return date.fromisoformat(time[:10]).toordinal()
