"""
The latest reading of an indicator for a place at every moment, from its published states alone.

The series is chosen again at each moment from what was known then, as `/observations/latest?as_of=` does, because
today's list of series says nothing about those of 2018.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from almanac_client import _generated_models as m

Row = m.DerivedObservation

#: From the most values in a year to the fewest.
FREQUENCIES = ("daily", "weekly", "monthly", "quarterly", "nine_months", "semiannual", "annual")


class Step(NamedTuple):
    """The latest reading from a moment on, or None if everything was withdrawn."""

    since: datetime
    row: Row | None


class _Cell:
    """One period at one frequency, for which several series may have values."""

    __slots__ = ("key", "order", "standing")

    def __init__(self, row: Row) -> None:
        #: Sort key: newest end, then the higher frequency, then the shorter period; an instant is the shortest.
        self.key = (row.period_end, -rank(row.frequency), row.period_start is None, row.period_start or row.period_end)
        #: Preference of the series; lower is preferred.
        self.order: dict[str, int] = {}
        self.standing: dict[str, Row] = {}

    def chosen(self) -> Row | None:
        """Return the preferred row among the current ones. A withheld row never comes before a public one."""
        return min(self.standing.values(), key=self._place, default=None)

    def _place(self, row: Row) -> tuple[bool, int]:
        return row.rights.value_withheld, self.order[row.metadata.series_id]


def steps(rows: Iterable[Row]) -> list[Step]:
    """
    Return how the latest reading of one indicator in one place changed over time.

    `rows` holds all published states of all eligible series, in the service's order, which lists the series of a period
    by preference.
    """
    cells: dict[tuple[datetime, datetime | None, str], _Cell] = {}
    held: list[tuple[_Cell, Row]] = []
    for row in rows:
        name = (row.period_end, row.period_start, row.frequency)
        cell = cells.get(name) or cells.setdefault(name, _Cell(row))
        cell.order.setdefault(row.metadata.series_id, len(cell.order))
        held.append((cell, row))
    found: list[Step] = []
    readings: dict[tuple[object, ...], Row] = {}
    newest: tuple[object, ...] | None = None
    for cell, row in sorted(held, key=lambda one: one[1].observed_at):
        if row.metadata.withdrawn:
            cell.standing.pop(row.metadata.series_id, None)
        else:
            cell.standing[row.metadata.series_id] = row
        chosen = cell.chosen()
        if chosen is None or chosen.metadata.forecast:
            readings.pop(cell.key, None)
            if cell.key == newest:
                newest = max(readings, default=None)
        else:
            readings[cell.key] = chosen
            newest = cell.key if newest is None or cell.key > newest else newest
        reading = None if newest is None else readings[newest]
        if found and found[-1].since == row.observed_at:
            found[-1] = Step(row.observed_at, reading)
        elif not found or found[-1].row is not reading:
            found.append(Step(row.observed_at, reading))
    return found


def reading(found: Sequence[Step], at: datetime) -> Row | None:
    """Return the latest reading at a moment."""
    place = bisect_right(found, at, key=lambda step: step.since)
    return found[place - 1].row if place else None


def of_one_series(rows: Sequence[Row]) -> list[Row]:
    """
    Return the states of the series to use, from the states of several.

    Among series of the highest frequency, it is the one preferred over the others in every period they share, with
    withheld ones last. If several qualify, the newest one is used.
    """
    finest = min((rank(row.frequency) for row in rows), default=0)
    own = [row for row in rows if rank(row.frequency) == finest]
    cells: dict[tuple[datetime, datetime | None], dict[str, bool]] = {}
    newest: dict[str, tuple[datetime, bool]] = {}
    for row in own:
        name, withheld = row.metadata.series_id, row.rights.value_withheld
        cells.setdefault((row.period_end, row.period_start), {}).setdefault(name, withheld)
        newest[name] = max(newest.get(name, (row.period_end, not withheld)), (row.period_end, not withheld))
    behind: set[str] = set()
    for cell in cells.values():
        first = min(cell, key=lambda name: cell[name])  # the order within is the service's
        behind |= cell.keys() - {first}
    left = [name for name in newest if name not in behind] or list(newest)
    kept = max(left, key=lambda name: (newest[name], name), default=None)
    return [row for row in own if row.metadata.series_id == kept]


def rank(frequency: str) -> int:
    """Return the rank of a frequency; the highest frequency is 0."""
    return FREQUENCIES.index(frequency) if frequency in FREQUENCIES else len(FREQUENCIES)
