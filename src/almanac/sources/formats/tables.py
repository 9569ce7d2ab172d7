"""Tables with one row a day and one column a series, as most central banks send them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date

from almanac.domain.observations import UNKNOWN, ReportedValue
from almanac.domain.reference import SeriesSpec
from almanac.sources.base import Block, Parsed, SourceChanged
from almanac.sources.formats import dates, strict


def by_day(
    rows: Iterable[Sequence[str]],
    columns: Sequence[str],
    day: Callable[[str], date],
    where: str,
    *,
    ragged: bool = False,
) -> dict[date, list[str]]:
    """
    Cells by day, one for each column. `rows` begin with the day, which `day` reads; empty ones are passed over.

    `ragged`: a row may end at its last value, and the cells it lacks are empty. Raises SourceChanged for a day that is
    there twice and for a row with more or fewer cells than the header.
    """
    days: dict[date, list[str]] = {}
    for row in rows:
        if not any(row):
            continue
        read = day(row[0])
        if read in days:
            raise SourceChanged(f"{where}: {read} is there twice")
        missing = len(columns) + 1 - len(row)
        if missing < 0 or (missing and not ragged):
            raise SourceChanged(f"{where}: {read} has {len(row) - 1} values, the header {len(columns)}")
        days[read] = [*row[1:], *[""] * missing]
    return days


def take(
    parsed: Parsed, native: str, cells: Mapping[date, str | None], series: Mapping[str, SeriesSpec], where: str
) -> None:
    """
    Add one column to what a payload says: numbers as written by day, empty or None where there is none.

    One that the catalogue does not map is counted. The block is complete from the first day to the last unless a value is
    in doubt, and of values that state no time of publication. Raises SourceChanged naming column and day.
    """
    present = [(day, text) for day, text in sorted(cells.items()) if text]
    if native not in series:
        parsed.unmapped[native] = len(present)
        return
    frequency, named = series[native].frequency, f"{where}: {native}"
    values = {day: strict.value(text, f"{named} {day}", parsed) for day, text in present}
    statements = [
        ReportedValue(dates.period(day, frequency, named), value, flags=UNKNOWN)
        for day, value in values.items()
        if value is not None
    ]
    span = None
    if cells and None not in values.values():
        span = dates.period(min(cells), frequency, named), dates.period(max(cells), frequency, named)
    parsed.blocks.append(Block(native, statements, span))
