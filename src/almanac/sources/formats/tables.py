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


def as_read(key: int, value: float) -> ReportedValue:
    """Return a value that states no time of publication."""
    return ReportedValue(key, value, flags=UNKNOWN)


def add_block(
    parsed: Parsed,
    native: str,
    cells: Iterable[tuple[int, str | float | None, str]],
    statement: Callable[[int, float], ReportedValue] = as_read,
    *,
    complete: tuple[int, int] | None = None,
    updated: int | None = None,
) -> None:
    """
    Add what a payload says of one mapped series.

    `cells` are the key of a period, the value as written (None: there is none) and the words for an error, in the order of
    periods. The block is `complete` over that span, else from the first period to the last; not if a value is in doubt.
    Raise SourceChanged naming a value that is no number.
    """
    keys: list[int] = []
    statements: list[ReportedValue] = []
    in_doubt = False
    for key, written, where in cells:
        keys.append(key)
        value = None if written is None else strict.value(written, where, parsed)
        if value is not None:
            statements.append(statement(key, value))
        in_doubt = in_doubt or (value is None and written is not None)
    span = complete or ((min(keys), max(keys)) if keys else None)
    parsed.blocks.append(Block(native, statements, None if in_doubt else span, updated))


def take(
    parsed: Parsed, native: str, cells: Mapping[date, str | None], series: Mapping[str, SeriesSpec], where: str
) -> None:
    """
    Add one column to what a payload says: numbers as written by day, empty or None where there is none.

    One that the catalogue does not map is counted. Values state no time of publication. Raise SourceChanged naming column and day.
    """
    if native not in series:
        parsed.unmapped[native] = sum(bool(text) for text in cells.values())
        return
    frequency, named = series[native].frequency, f"{where}: {native}"
    add_block(
        parsed,
        native,
        ((dates.period(day, frequency, named), text or None, f"{named} {day}") for day, text in sorted(cells.items())),
    )
