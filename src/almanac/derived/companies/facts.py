"""
The facts of one company as known at a moment: for each tag and period the states of its value, and how many are known.

The derivation goes through one instant after another with the same known facts, so a state that becomes known moves one counter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from almanac.derived.companies.precision import agree, unit
from almanac.domain.companies import Filing


class Signs(NamedTuple):
    """Tags whose values must have a sign, or one sign together."""

    #: Never negative, by what they mean.
    positive: frozenset[str] = frozenset()
    #: Incomes after interest, before or after tax, and earnings per share.
    incomes: tuple[str, ...] = ()
    taxes: frozenset[str] = frozenset()
    before_tax: tuple[str, ...] = ()
    after_tax: tuple[str, ...] = ()


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


#: Part of a figure by which it may be corrected and still be on its basis.
CORRECTION = 0.005
#: Times by which changes of figures may differ in size and be one change of basis.
_ALIKE = 5

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
    #: Of a balance sheet given anew (`reported_values.SHEET_ANEW`): tags that are not on it any more.
    without: tuple[str, ...] = ()


#: Tag with its taxonomy → (start or None, end) → states, ascending by knowledge time.
Facts = Mapping[str, Mapping[tuple[int | None, int], Sequence[FactVintage]]]


class CompanyInput(NamedTuple):
    """
    All that statements are made from: settled states of the raw series in the filer's main currency and in shares, of
    those in other currencies, and every filing they name, each with its `known_at`.
    """

    entity: str
    source: str
    facts: Facts
    filings: Mapping[str, Filing]
    template: str
    currency: str
    #: Facts in other currencies, by ISO code.
    others: Mapping[str, Facts] = {}
    #: Whether its filings are in the regulator's archive (`domain.filings.page_of`); what is invented was filed nowhere.
    archived: bool = True


class Basis(NamedTuple):
    """One number a fact has had, in its most precise form, and since when it was known in any form."""

    since: int
    state: FactVintage


#: The sign a fact must have by what else is known of its period: 1, -1, or 0 where nothing tells.
SignVote = Callable[[], int]


class FactHistory:
    """
    The states of one fact that are known.

    A state that repeats the number more coarsely is no change, and neither is one that turns its sign: that is an error
    of one of the two filings. What tells is `sign`, else the filing that came first.
    """

    __slots__ = ("_bases", "sign", "states")

    def __init__(self, sign: SignVote, states: Sequence[FactVintage] = ()) -> None:
        self.sign = sign
        self.states = list(states)
        self._bases: list[Basis] | None = None

    def add(self, state: FactVintage) -> None:
        """Add the next state."""
        self.states.append(state)
        self._bases = None

    @property
    def latest(self) -> FactVintage:
        """Return the state that holds now. Only for a fact of which something is known."""
        return self.states[0] if len(self.states) == 1 else self.bases[-1].state

    @property
    def bases(self) -> list[Basis]:
        """Return the numbers it has had, oldest first."""
        if self._bases is not None:
            return self._bases
        bases: list[Basis] = []
        is_lasting = True
        for state in self.states:
            now = Basis(state.known, state)
            if not bases:
                bases.append(now)
                continue
            before = bases[-1].state
            if agree(state.value, before.value):
                finer = unit(state.value) < unit(before.value)
                bases[-1] = Basis(bases[-1].since, state if finer else before)
            elif not _turned(before.value, state.value):
                bases.append(now)
            else:
                is_lasting = False  # facts that become known later may tell the sign
                vote = self.sign() * state.value
                if agree(-state.value, before.value):
                    if vote > 0:
                        bases[-1] = Basis(bases[-1].since, state)
                elif vote >= 0:
                    bases.append(now)
        if is_lasting:
            self._bases = bases
        return bases

    def as_of(self, moment: int) -> FactVintage | None:
        """Return the number it had at an earlier moment, in the form known now."""
        return next((basis.state for basis in reversed(self.bases) if basis.since <= moment), None)

    def misread_at(self, moment: int) -> bool:
        """Return whether what was stated last by a moment has the wrong sign, as is known now."""
        stated = next((s for s in reversed(self.states) if s.known <= moment), None)
        now = self.as_of(moment)
        return stated is not None and now is not None and stated.value * now.value < 0


def _turned(before: float, now: float) -> bool:
    """Return whether only the sign of a number is another, but for a fiftieth of its size."""
    return now * before < 0 and 0.98 < -now / before < 1.02


#: Start (None: an instant) → history, for one tag and one last day.
HistoriesByStart = dict[int | None, FactHistory]
_NO_FACTS: HistoriesByStart = {}
_NO_ENDS: dict[int, HistoriesByStart] = {}


class Disclosure(NamedTuple):
    """One state becoming known."""

    known: int
    tag: str
    start: int | None
    end: int
    vintage: FactVintage
    #: The reporting basis it is of, by number (`company_history`).
    reporting_basis: int = 0


class KnownFacts:
    """
    What is known of the facts of one reporting basis, by tag and last day. One of which nothing is known is not in it.

    `signs` tell which must be positive.
    """

    def __init__(self, signs: Signs) -> None:
        self.signs = signs
        self.tags: dict[str, dict[int, HistoriesByStart]] = {}
        #: Since when a restated figure is on another basis than before, by `TAG:LETTER` and last day.
        self.recasts: dict[tuple[str, int], int] = {}
        #: When figures of a tag came to be on another basis, ascending, and by which part of them.
        self._changes: dict[str, list[tuple[int, float]]] = {}

    def learn(self, disclosure: Disclosure) -> None:
        """Take in the next state of a fact."""
        by_start = self.tags.setdefault(disclosure.tag, {}).setdefault(disclosure.end, {})
        fact = by_start.get(disclosure.start)
        if fact is None:
            vote = partial(self._sign, disclosure.tag, disclosure.start, disclosure.end)
            by_start[disclosure.start] = FactHistory(vote, [disclosure.vintage])
        else:
            fact.add(disclosure.vintage)
            self._note_recast(disclosure, fact)

    def _note_recast(self, disclosure: Disclosure, fact: FactHistory) -> None:
        """
        Remember since when a restated figure is on another basis.

        One change of basis shows in many periods, and each is restated with a report of its own, up to a year later: a figure
        has been on the other basis since the first of those reports that came after the figure itself.
        """
        *before, now = fact.bases
        kind = letter(disclosure.start, disclosure.end)
        if disclosure.start is None or kind is None or not before or now.since != disclosure.known:
            return
        then = before[-1]
        size = abs(now.state.value - then.state.value) / max(abs(now.state.value), abs(then.state.value))
        if size <= CORRECTION or self._told_before(disclosure, now.state.value):
            return
        changes = self._changes.setdefault(disclosure.tag, [])
        of_one_size = (since for since, other in changes if then.since < since and 1 / _ALIKE <= size / other <= _ALIKE)
        since = next(of_one_size, None)
        if since is None:
            since = now.since
            changes.append((since, size))
        self.recasts[f"{disclosure.tag}:{kind}", disclosure.end] = since

    def _told_before(self, disclosure: Disclosure, value: float) -> bool:
        """Return whether another tag had that value for the period before: a filer may swap its tags and restate nothing."""
        beside = (
            fact
            for tag, ends in self.tags.items()
            if tag != disclosure.tag and (fact := ends.get(disclosure.end, {}).get(disclosure.start)) is not None
        )
        return any(
            state.known < disclosure.known and agree(state.value, value) for fact in beside for state in fact.states
        )

    def ending(self, tag: str, end: int) -> HistoriesByStart:
        """Return what is known of a tag for the periods that end on a day, or for the instant."""
        return self.tags.get(tag, _NO_ENDS).get(end, _NO_FACTS)

    def fact(self, tag: str, start: int | None, end: int) -> FactHistory | None:
        """Return what is known of one fact."""
        return self.tags.get(tag, _NO_ENDS).get(end, _NO_FACTS).get(start)

    def given(self, tag: str, end: int) -> bool:
        """Return whether anything is known of a tag for an instant, or a period of any length, that ends on a day."""
        return end in self.tags.get(tag, ())

    def _sign(self, tag: str, start: int | None, end: int) -> int:
        if tag in self.signs.positive:
            return 1
        own = self.fact(tag, start, end)
        assert own is not None
        if tag in self.signs.taxes:
            return self._sign_of_tax(own.states[0].value, start, end)
        if tag not in self.signs.incomes:
            return 0
        # Incomes and what they come to per share are gains or losses together. Who spoke first was not mistaken yet.
        beside = (self.fact(other, start, end) for other in self.signs.incomes if other != tag)
        first = [fact.states[0] for fact in beside if fact is not None]
        return _sign(sum(_sign(state.value) for state in first if state.known <= own.states[0].known))

    def _sign_of_tax(self, tax: float, start: int | None, end: int) -> int:
        """Return the sign with which the tax leads from the income before it to the income after it."""
        before = next((f for tag in self.signs.before_tax if (f := self.fact(tag, start, end))), None)
        after = next((f for tag in self.signs.after_tax if (f := self.fact(tag, start, end))), None)
        if before is None or after is None:
            return 0
        paid = before.states[0].value - after.states[0].value
        return _sign(paid) if abs(abs(paid) - abs(tax)) < abs(tax) / 2 else 0


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def disclosures(facts: Facts) -> list[Disclosure]:
    """Every state of every fact that has a place on a statement, in the order it became known."""
    disclosed = [
        Disclosure(vintage.known, tag, start, end, vintage)
        for tag, periods in facts.items()
        for (start, end), history in periods.items()
        if letter(start, end) is not None
        for vintage in history
    ]
    disclosed.sort(key=attrgetter("known"))
    return disclosed


def known_at(filing: Filing) -> int:
    """When a filing could be read. Raises ValueError where nobody has said: its day alone is not a time."""
    if filing.known_at is None:
        raise ValueError(f"filing {filing.accession} has no time at which it was known")
    return filing.known_at
