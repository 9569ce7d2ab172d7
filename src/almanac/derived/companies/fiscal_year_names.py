"""
What a company's fiscal years are called: the filer's own word for each in its annual report, else counted from those
that have one.

Names rise with the years. A word that leaves no room for its neighbours' is overruled (covers are filled in wrongly,
most often in the first tagged reports), so one odd word moves no other year.
"""

from __future__ import annotations

from collections.abc import Mapping
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


def fiscal_years(words: Mapping[int, int | None]) -> dict[int, int]:
    """The fiscal year of each year end, from the filer's word for each, None where it has given none."""
    in_order = sorted(words)
    #: Ways by the last name's distance from the calendar year, and whether a word was overruled for it.
    ways: dict[tuple[int, bool], _Naming] = {}
    for place, end in enumerate(in_order):
        year = _plain_year(end)
        word = words[end]
        if word is not None and abs(word - year) > 1:
            word = None
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
    """A way to name years with one more; a name that does not rise costs more than any slip."""
    (off, against), step = now, year + now[0] - way.names[-1]
    slip = (against and not before[1]) + (step > passed) + (_NO_RISE if step < 1 else 0)
    moved = off != before[0]
    return _Naming(
        way.slips + slip, way.overruled + against, way.moves + moved, way.odd + abs(off), (*way.names, year + off)
    )


def _plain_year(end: int) -> int:
    """A year that ends in the first days of January is the one before."""
    return date.fromordinal(end - 7).year
