"""
What the address of a comparison says: its lines, their days, the range, and what is made of the values.

`indicator` and `entities` are lists of which every pair is a line; `series` lists single ones. Lines are numbered from 1
in that order; `off=2,3` hides some, `known=2:2024-04-30,3:first` has them as known on a past day or as first published.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import msgspec

from almanac.dashboard.drawing.svg import MOST_LINES
from almanac.dashboard.explorer.known import FieldProblem
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.dates import day, read_day
from almanac.dashboard.words.numbers import read_whole
from almanac.dashboard.words.transforms import INDEX, LEVEL, TRANSFORMS

#: In place of a day: each period as it was first published.
FIRST = "first"
#: In place of the first day of a range: all periods.
ALL = "all"
#: Names of an address that a comparison has; a form keeps those that it does not show.
NAMES = ("indicator", "entities", "series", "off", "known", "as_of", "from", "to", "show", "base", "firsts", "events")


class LineKey(msgspec.Struct, frozen=True):
    """One line as the address names it: a series, or an indicator of an entity."""

    number: int
    series: str = ""
    indicator: str = ""
    entity: str = ""
    #: A day like 2024-04-30, `first`, or empty for what all lines have.
    known: str = ""
    off: bool = False


class Comparison(msgspec.Struct):
    """An address that was read. What could not be read is left out and told in `problems`."""

    keys: list[LineKey]
    as_of: str | None = None
    first: str | None = None
    last: str | None = None
    show: str = LEVEL
    base: date | None = None
    firsts: bool = False
    problems: list[FieldProblem] = []

    def known(self, key: LineKey) -> str:
        """What a line is known by: its own day or `first`, else that of all; empty for today."""
        return key.known or (FIRST if self.firsts else self.as_of or "")


def read(visit: Visit) -> Comparison:
    """The comparison of an address."""
    query, problems = visit.query, list[FieldProblem]()
    names = _names(query, "series")
    pairs = [(one, entity) for one in _names(query, "indicator") for entity in _names(query, "entities")]
    off = {number for text in _names(query, "off") if (number := read_whole(text))}
    known = _known(visit, problems)
    keys = [
        LineKey(number, indicator=indicator, entity=entity, known=known.get(number, ""), off=number in off)
        for number, (indicator, entity) in enumerate(pairs, 1)
    ]
    keys += [
        LineKey(number, series=name, known=known.get(number, ""), off=number in off)
        for number, name in enumerate(names, len(keys) + 1)
    ]
    if len(keys) > MOST_LINES:
        problems.append(
            FieldProblem(
                "add", f"A chart has {MOST_LINES} lines at most, and {len(keys)} were asked for. Take some out"
            )
        )
    found = Comparison(keys[:MOST_LINES], problems=problems)
    found.as_of = _day(visit, "as_of", problems, past=True)
    first = query.get("from") or None
    found.first = ALL if first == ALL else _day(visit, "from", problems)
    found.last = _day(visit, "to", problems)
    if found.first not in {None, ALL} and found.last is not None and (found.first or "") > found.last:
        problems.append(FieldProblem("to", "The range ends before it begins. Write a later last day"))
        found.last = None
    found.show = query.get("show") or LEVEL
    if found.show not in TRANSFORMS:
        problems.append(FieldProblem("show", f"“{found.show[:40]}” is none of {', '.join(TRANSFORMS)}"))
        found.show = LEVEL
    base = _day(visit, "base", problems) if found.show == INDEX else None
    found.base = None if base is None else date.fromisoformat(base)
    found.firsts = query.get("firsts") == "1"
    return found


def _names(query: Mapping[str, str], name: str) -> list[str]:
    """A list of the address, in its order; the same twice is two lines."""
    return [part.strip() for part in query.get(name, "").split(",") if part.strip()]


def _known(visit: Visit, problems: list[FieldProblem]) -> dict[int, str]:
    found: dict[int, str] = {}
    for part in _names(visit.query, "known"):
        number, _, text = part.partition(":")
        place = read_whole(number)
        if place is None:
            problems.append(
                FieldProblem("", f"“{part[:40]}” in `known` is no line and its day. Write 2:2024-04-30 or 2:first")
            )
        elif text == FIRST:
            found[place] = FIRST
        else:
            try:
                found[place] = past_day(visit, text)
            except ValueError as refused:
                problems.append(FieldProblem(f"known-{place}", str(refused)))
    return found


def _day(visit: Visit, name: str, problems: list[FieldProblem], *, past: bool = False) -> str | None:
    text = visit.query.get(name)
    if not text:
        return None
    try:
        return past_day(visit, text) if past else read_day(text).isoformat()
    except ValueError as refused:
        problems.append(FieldProblem(name, str(refused)))
        return None


def past_day(visit: Visit, text: str) -> str:
    """A day up to today, as addresses have it. Raises ValueError with the sentence for the page."""
    found = read_day(text)
    if found > visit.today:
        raise ValueError(f"{day(found)} is after today, {day(visit.today)}. Write a day up to today")
    return found.isoformat()


def sent(visit: Visit) -> dict[str, str | None]:
    """
    What the form sent, as names of the address: boxes that are not ticked are `off`, days beside lines `known`.

    A day that cannot be is left in the address, where it is refused with its sentence.
    """
    query = visit.query
    count = read_whole(query.get("lines")) or 0
    numbers = range(1, min(count, MOST_LINES) + 1)
    off = [str(number) for number in numbers if f"on-{number}" not in query]
    known = [f"{number}:{text}" for number in numbers if (text := query.get(f"known-{number}", "").strip())]
    kept: dict[str, str | None] = {name: query.get(name) or None for name in NAMES}
    kept |= {"off": ",".join(off) or None, "known": ",".join(known) or None}
    if kept["show"] == LEVEL:
        kept["show"] = None
    if kept["show"] != INDEX:
        kept["base"] = None
    return kept
