"""
The facts of one company as known at a moment: for each tag and period the states of its value, and how many are known.

The derivation goes through one instant after another with the same known facts, so a state that becomes known moves one counter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from almanac.domain.companies import Filing

#: Days of a period, first and last inclusive, by the letter of its frequency. Wide: quarters of 12, 16 and 17 weeks
#: and years of 53 weeks are real.
BUCKETS = {"Q": (70, 125), "S": (140, 229), "N": (230, 329), "A": (330, 390)}


def letter(start: int | None, end: int) -> str | None:
    """Frequency letter of a period of facts; instants count as quarterly. None: a length no statement has."""
    if start is None:
        return "Q"
    days = end - start + 1
    for name, (low, high) in BUCKETS.items():
        if low <= days <= high:
            return name
    return None


#: A raw cell: series id and period key.
RawCell = tuple[str, int]


class FactVintage(NamedTuple):
    """One state of a fact's value, as a filing made it known."""

    known: int
    value: float
    accession: str
    released: int | None
    ingested: int
    flags: int
    #: The filing gives two different values for this fact; this is the first.
    inconsistent: bool = False
    #: The raw cell it is a state of (series id, period key), where amounts shall tell the cells they came from.
    raw_cell: RawCell | None = None


#: Tag with its taxonomy → (start or None, end) → states, ascending by knowledge time.
Facts = Mapping[str, Mapping[tuple[int | None, int], Sequence[FactVintage]]]


class CompanyInput(NamedTuple):
    """
    All that statements are made from: settled states of the raw series in the filer's main currency and in shares,
    and every filing they name, each with its `known_at`.
    """

    entity: str
    source: str
    facts: Facts
    filings: Mapping[str, Filing]
    template: str
    currency: str
    #: Whether its filings are in the regulator's archive (`domain.filings.page_of`); what is invented was filed nowhere.
    archived: bool = True


class FactHistory:
    """The states of one fact, of which the first `count` are known."""

    __slots__ = ("count", "history")

    def __init__(self, history: Sequence[FactVintage], count: int = 0) -> None:
        self.history = history
        self.count = count

    @property
    def latest(self) -> FactVintage:
        """The state that holds now. Only for a fact of which something is known."""
        return self.history[self.count - 1]

    def as_of(self, moment: int) -> FactVintage | None:
        """The state known by an earlier moment."""
        for place in range(self.count - 1, -1, -1):
            if self.history[place].known <= moment:
                return self.history[place]
        return None


#: Start (None: an instant) → history, for one tag and one last day.
HistoriesByStart = dict[int | None, FactHistory]


class Disclosure(NamedTuple):
    """One state becoming known."""

    known: int
    tag: str
    start: int | None
    end: int
    vintage: FactVintage


class KnownFacts:
    """Facts by tag and last day. One of which nothing is known yet is not in it."""

    def __init__(self) -> None:
        self.tags: dict[str, dict[int, HistoriesByStart]] = {}

    def learn(self, disclosure: Disclosure, facts: Facts) -> None:
        """Take in the next state of a fact."""
        by_start = self.tags.setdefault(disclosure.tag, {}).setdefault(disclosure.end, {})
        fact = by_start.get(disclosure.start)
        if fact is None:
            by_start[disclosure.start] = fact = FactHistory(facts[disclosure.tag][disclosure.start, disclosure.end])
        fact.count += 1


def disclosures(facts: Facts) -> list[Disclosure]:
    """Every state of every fact that has a place on a statement, in the order it became known."""
    found = [
        Disclosure(vintage.known, tag, start, end, vintage)
        for tag, periods in facts.items()
        for (start, end), history in periods.items()
        if letter(start, end) is not None
        for vintage in history
    ]
    found.sort(key=_known)
    return found


def _known(disclosure: Disclosure) -> int:
    return disclosure.known


def known_at(filing: Filing) -> int:
    """When a filing could be read. Raises ValueError where nobody has said: its day alone is not a time."""
    if filing.known_at is None:
        raise ValueError(f"filing {filing.accession} has no time at which it was known")
    return filing.known_at
