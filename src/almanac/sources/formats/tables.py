"""Tables with one row a day and one column a series, as most central banks send them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from almanac.domain.observations import UNKNOWN, ReportedValue
from almanac.domain.periods import Frequency, Period
from almanac.sources.base import Block, Parsed, SourceChanged, Specs
from almanac.sources.formats import strict


def by_day(
    rows: Iterable[Sequence[str]],
    columns: Sequence[str],
    day: Callable[[str], date],
    where: str,
    *,
    ragged: bool = False,
) -> dict[date, list[str]]:
    """
    Return cells by day, one for each column. `rows` begin with the day, which `day` reads; empty ones are passed over.

    `ragged`: a row may end at its last value, and the cells it lacks are empty. Raise SourceChanged for a day that is
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


class Cell(NamedTuple):
    """One period of a series as a payload states it."""

    period: int
    #: As written; None: there is no value.
    written: str | float | None
    #: Words with which an error begins.
    where: str
    note: str | None = None
    flags: int = UNKNOWN


def period_ending(day: date, frequency: Frequency, where: str) -> int:
    """Return the key of the period that ends on a day. Raise SourceChanged if no period of that frequency does."""
    period = Period.ending(day, frequency)
    if period.end != day:
        raise SourceChanged(f"{where}: {day} is not the last day of a {frequency.word} period")
    return period.key


def as_read(cell: Cell, value: float) -> ReportedValue:
    """Return a value that states no time of publication."""
    return ReportedValue(cell.period, value, flags=cell.flags, note=cell.note)


def add_block(
    parsed: Parsed,
    native: str,
    cells: Iterable[Cell],
    statement: Callable[[Cell, float], ReportedValue] = as_read,
    *,
    complete: tuple[int, int] | None = None,
    updated: int | None = None,
) -> None:
    """
    Add what a payload says of one mapped series.

    The block is `complete` over that span, else from the first period to the last; not if a value is in doubt.
    Raise SourceChanged naming a period that is there twice, or a value that is no number.
    """
    by_period: dict[int, Cell] = {}
    for cell in cells:
        if by_period.setdefault(cell.period, cell) is not cell:
            raise SourceChanged(f"{cell.where} is there twice")
    statements: list[ReportedValue] = []
    in_doubt = False
    for _, cell in sorted(by_period.items()):
        value = None if cell.written is None else strict.value(cell.written, cell.where, parsed)
        if value is not None:
            statements.append(statement(cell, value))
        in_doubt = in_doubt or (value is None and cell.written is not None)
    span = complete or ((min(by_period), max(by_period)) if by_period else None)
    parsed.blocks.append(Block(native, statements, None if in_doubt else span, updated))


def take(
    parsed: Parsed,
    native: str,
    cells: Mapping[date, str | float | None],
    series: Specs,
    where: str,
    statement: Callable[[Cell, float], ReportedValue] = as_read,
    *,
    complete: tuple[int, int] | None = None,
) -> None:
    """
    Add one column to what a payload says, as `add_block` does: numbers as written by day, None where there is none.

    Count one that the catalogue does not map. Raise SourceChanged naming column and day.
    """
    if native not in series:
        parsed.unmapped[native] = sum(text is not None for text in cells.values())
        return
    frequency, named = series[native].frequency, f"{where}: {native}"
    read = (Cell(period_ending(day, frequency, named), text, f"{named} {day}") for day, text in cells.items())
    add_block(parsed, native, read, statement, complete=complete)
