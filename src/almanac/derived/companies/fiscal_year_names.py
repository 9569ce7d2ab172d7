"""
What a company's fiscal years are called: the filer's own word for each in its annual report, else counted from those
that have one. And which calendar quarter each of its quarters stands beside.

Names rise with the years. A word that leaves no room for its neighbours' is overruled (covers are filled in wrongly,
most often in the first tagged reports), so one odd word moves no other year.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import NamedTuple

#: Slips that a name counts for which is not above the one before: more than there can be words.
_NO_RISE = 1_000


class _Naming(NamedTuple):
    """
    One way to name years up to one of them. Of all ways the least counts: the one with the fewest slips of the filer.

    A slip is a run of neighbouring words that are overruled, or a number skipped between two years that adjoin.
    """

    slips: int
    overruled: int
    #: How often the names move against the calendar, and how far they are from it, where no word says so.
    moves: int
    odd: int
    names: tuple[int, ...]


def likely_year(end: int, word: int | None) -> int | None:
    """Return a filer's word for the fiscal year of a period that ends on a day; None where it cannot be: years are off by one at most."""
    return word if word is not None and abs(word - _plain_year(end)) <= 1 else None


def fiscal_years(words: Mapping[int, int | None]) -> Mapping[int, int]:
    """Return the fiscal year of each year end, from the filer's word for each, None where it has given none."""
    return _fiscal_years(tuple(sorted(words.items())))


@functools.lru_cache(maxsize=64)
def _fiscal_years(said: tuple[tuple[int, int | None], ...]) -> dict[int, int]:
    # Asked again at every report, of which few say something of a year.
    words = dict(said)
    in_order = list(words)
    #: Ways by the last name's distance from the calendar year, and whether a word was overruled for it.
    ways: dict[tuple[int, bool], _Naming] = {}
    for place, end in enumerate(in_order):
        year = _plain_year(end)
        word = likely_year(end, words[end])
        passed = year - _plain_year(in_order[place - 1]) if place else 0
        found: dict[tuple[int, bool], _Naming] = {}
        for off in (-1, 0, 1):
            against = word is not None and word != year + off
            found[off, against] = min(
                (_named(way, before, (off, against), year, max(1, passed)) for before, way in ways.items()),
                default=_Naming(int(against), int(against), 0, abs(off), (year + off,)),
            )
        ways = found
    names = min(ways.values()).names if ways else ()
    labels: dict[int, int] = {}
    last: int | None = None
    for end, name in zip(in_order, names, strict=True):
        labels[end] = last = name if last is None else max(name, last + 1)
    return labels


def _named(way: _Naming, before: tuple[int, bool], now: tuple[int, bool], year: int, passed: int) -> _Naming:
    """Extend a way to name years by one; a name that does not rise costs more than any slip."""
    (off, against), step = now, year + now[0] - way.names[-1]
    slip = (against and not before[1]) + (step > passed) + (_NO_RISE if step < 1 else 0)
    moved = off != before[0]
    return _Naming(
        way.slips + slip, way.overruled + against, way.moves + moved, way.odd + abs(off), (*way.names, year + off)
    )


def _plain_year(end: int) -> int:
    """Return the year a day is of; one in the first days of January is of the year before."""
    return date.fromordinal(end - 7).year


def calendar_quarters(spans: Iterable[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """
    Return calendar year and quarter of each of a company's quarters (first and last day), by the last day.

    It is the one in which the middle lies, or the next where the quarter just before has that: quarters of 12 and 16 weeks,
    and such as end in the middle of a calendar quarter, have two middles in one.
    """
    found: dict[int, int] = {}
    for start, end in sorted(spans, key=lambda span: span[1]):
        middle = date.fromordinal((start + end) // 2)
        number = 4 * middle.year + (middle.month - 1) // 3
        found[end] = max(number, found[start - 1] + 1) if start - 1 in found else number
    return {end: (number // 4, number % 4 + 1) for end, number in found.items()}


def quarter_at(days: int) -> int:
    """Which quarter of a year ends so many days after the year began."""
    return max(1, min(4, round(days / 91.3)))


def year_from(start: int) -> int:
    """Return what a fiscal year is called that begins on a day, where no filing says so."""
    (name,) = fiscal_years({start + 364: None}).values()
    return name


def told_apart(names: Mapping[int, tuple[int, str]], doubt: Callable[[int], int]) -> dict[int, int]:
    """
    Last day of a quarter → its fiscal year, so that no two have one name. `names` are years and quarters as they came out;
    of two that share one the less doubtful keeps it.
    """
    if len(set(names.values())) == len(names):
        return {end: year for end, (year, _) in names.items()}
    found = _stepped(names, sorted(names, key=lambda end: (doubt(end), end)))
    if all(likely_year(end, year) for end, year in found.items()):
        return found
    # The word is the one that is off: of neighbouring years there is none left for the other. Earlier ones keep their names.
    return _stepped(names, sorted(names, key=lambda end: (doubt(end) > 0, end)))


def _stepped(names: Mapping[int, tuple[int, str]], order: Iterable[int]) -> dict[int, int]:
    """Quarters that keep their names in an order: of one whose name is taken the year goes on to the next that is free."""
    found: dict[int, int] = {}
    holders: dict[tuple[int, str], int] = {}
    for end in order:
        year, quarter = names[end]
        step = 1 if end > holders.get((year, quarter), end) else -1
        while (year, quarter) in holders:
            year += step
        holders[year, quarter] = end
        found[end] = year
    return found
