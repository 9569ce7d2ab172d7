"""
From what filings state of one tag to its own quarters, halves and years.

Interim reports give many flows from the beginning of the year only, and no report gives the last quarter. A period
that is not stated is the difference of two that are, if these begin on the same day, are of the same tag and of one
basis; else it is absent, never the longer period in its place.

A longer period that was restated goes with the shorter one as restated, or both as they were when the longer one was
first known. A report that shows the year before on another basis than was known, where the reports of the shorter period did
not, is itself on a basis that the shorter period is not on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from almanac.derived.companies.facts import (
    BUCKETS,
    Basis,
    FactHistory,
    FactVintage,
    HistoriesByStart,
    KnownFacts,
    letter,
)
from almanac.derived.companies.financials import Amount
from almanac.derived.companies.fiscal_calendar import SLACK, FiscalPeriods, Span
from almanac.derived.companies.precision import COARSEST, agree, granularity, spelled
from almanac.domain.numbers import exact_sum
from almanac.domain.observations import DAY, UNKNOWN

#: Code with which the reason begins why a difference was not taken.
REFUSED = "not_of_one_basis"
#: Mark of a method whose operands may be of different bases, by little.
MIXED = "_mixed"
#: Mark of a method whose longer operand was restated later, and the shorter one was not.
BEFORE_RECAST = "_before_recast"
#: Times by which an average number of shares changes at most without a split.
MOST = 1.5
#: Times from which on numbers of shares are filed in another scale, not split.
SCALE = 500
#: Part of a difference that may be of another basis; beyond it nothing is left of the difference.
_MATERIAL = 0.25
#: Days by which a period and the one a year before may differ in their end and in their length: weeks of 52 and 53.
_YEAR_DRIFT = 8


class Operands(NamedTuple):
    """Two states to subtract from each other. `newest`: the longer one is as it stands now."""

    whole: Basis
    part: Basis
    newest: bool
    #: Whether the longer one was restated by an amendment of its own report, and the shorter one was not.
    amended: bool = False


class TagCriteria(NamedTuple):
    """What an item asks of the periods of its tags."""

    #: Whether parts are differences of longer periods.
    additive: bool
    never_negative: bool = False
    #: Tags of which one may hold the total, and how many times the value is then a slice of it.
    rivals: tuple[str, ...] = ()
    dominance: float = math.inf
    #: Of amounts per share and averages of shares: tags of the basic average.
    shares: tuple[str, ...] = ()
    #: Whether a balance must be of the same sheet as others.
    whole: bool = False


class Quarters:
    """
    Own periods of single tags, from the facts known so far on the calendar known so far.

    `refused` says why the last difference that was asked for and has operands was not taken; None where none was.
    """

    def __init__(
        self, known_facts: KnownFacts, fiscal_periods: FiscalPeriods, own_end: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        self.known_facts = known_facts
        self.own_end = own_end
        self.fiscal_periods = fiscal_periods
        self.refused: str | None = None

    def period(self, tag: str, kind: str, span: Span, criteria: TagCriteria) -> Amount | None:
        """Return the value over an own period (`kind` Q, S or A); a difference only of what adds up."""
        by_start = self._facts(tag, span.end)
        fact = stated_in(by_start, kind, span.start)
        if fact is not None:
            return as_amount(tag, kind, fact.latest, span.start, span.end)
        if not criteria.additive:
            return None
        if kind == "A":
            return self._sum(tag, span, criteria)
        return self._difference(tag, kind, by_start, span, criteria)

    def longer(self, tag: str, span: Span) -> tuple[int, FactHistory, FactHistory] | None:
        """Start, longer and shorter fact of two periods from one day on whose difference is the span."""
        if span.previous is None:
            return None
        before = self._facts(tag, span.previous)
        by_start = self._facts(tag, span.end)
        for start in _starts(by_start, span):
            part = before.get(start)
            if part is not None:
                return start, by_start[start], part
        return None

    def _facts(self, tag: str, end: int) -> HistoriesByStart:
        return self.known_facts.tags.get(tag, _NO_ENDS).get(end, _NO_FACTS)

    def _difference(
        self, tag: str, kind: str, by_start: HistoriesByStart, span: Span, criteria: TagCriteria
    ) -> Amount | None:
        if not by_start or span.previous is None:
            return None
        found = self.longer(tag, span)
        if found is not None:
            start, whole, part = found
            return self._of_one_basis(tag, start, span, whole, part, criteria)
        if kind != "Q":
            return None
        for start in _starts(by_start, span):
            amounts = self._chain(tag, start, span.previous, criteria)
            name = letter(start, span.end)
            if amounts is not None and name is not None:
                made = _less_quarters(tag, span, name, by_start[start], amounts)
                if not (criteria.never_negative and made.value < 0):
                    return made
                self.refused = f"{REFUSED}: {tag}: the quarters before exceed the {_WORDS[name]}"
        return None

    def _of_one_basis(
        self, tag: str, start: int, span: Span, whole: FactHistory, part: FactHistory, criteria: TagCriteria
    ) -> Amount | None:
        """Return the difference of the newest pair of states that go together."""
        assert span.previous is not None
        name, shorter = letter(start, span.end), letter(start, span.previous)
        if name is None or shorter is None:
            return None
        method = "fy_minus_9m" if (name, shorter) == ("A", "N") else "ytd_difference"
        for operands in together(whole, part, self.own_end, span.end):
            doubt = self._doubt(tag, start, span, operands)
            if doubt > 0 and (later := _first_after(part, operands.whole.since)) is not None:
                operands, doubt = operands._replace(part=later), 0.0
            value = operands.whole.state.value - operands.part.state.value
            if (
                (criteria.never_negative and value < 0)
                or doubt > _MATERIAL * max(abs(value), abs(operands.whole.state.value) / 10)
                or self._is_slice(operands.whole.state.value, start, span.end, criteria)
                or self._split(start, span, operands, criteria)
            ):
                continue
            mark = MIXED if doubt or operands.amended else self._mark(operands, start, span.end, criteria)
            return _less(tag, span, method + mark, operands, (name, shorter))
        self.refused = (
            f"{REFUSED}: {tag}: the {_WORDS[name]} {spelled(whole.latest.value)} and the {_WORDS[shorter]}"
            f" {spelled(part.latest.value)}"
        )
        return None

    def _doubt(self, tag: str, start: int, span: Span, operands: Operands) -> float:
        """How much of the year before was recast by the report that first gave the longer period, and by none of the shorter."""
        assert span.previous is not None
        whole, part = self._year_before(tag, start, span.end), self._year_before(tag, start, span.previous)
        since = operands.whole.since
        if whole is None:
            return 0.0
        if whole.misread_at(since) and not self._is_borne_out(tag, start, span.end, operands.whole.state.value):
            return math.inf
        now, then = whole.as_of(since), whole.as_of(since - 1)
        if part is None or now is None or then is None or not _restated(then.value, now.value):
            return 0.0
        mine, before = part.as_of(since), part.as_of(operands.part.since - 1)
        if mine is None or before is None or _restated(before.value, mine.value):
            return 0.0
        return abs(now.value - then.value)

    def _is_borne_out(self, tag: str, start: int, end: int, value: float) -> bool:
        """Whether other lines say that a value has its sign: a slip in the year before is one of that column then."""
        fact = self.known_facts.fact(tag, start, end)
        return fact is not None and fact.sign() * value > 0

    def _year_before(self, tag: str, start: int, end: int) -> FactHistory | None:
        ends = self.known_facts.tags.get(tag, _NO_ENDS)
        for last in range(end - 365 - _YEAR_DRIFT, end - 365 + _YEAR_DRIFT + 1):
            for first, fact in ends.get(last, _NO_FACTS).items():
                if first is not None and abs((last - first) - (end - start)) <= _YEAR_DRIFT:
                    return fact
        return None

    def _is_slice(self, value: float, start: int, end: int, criteria: TagCriteria) -> bool:
        rivals = (self.known_facts.fact(rival, start, end) for rival in criteria.rivals)
        return any(fact is not None and fact.latest.value >= criteria.dominance * value > 0 for fact in rivals)

    def _split(self, start: int, span: Span, operands: Operands, criteria: TagCriteria) -> bool:
        """Whether shares were split between the reports of both operands."""
        assert span.previous is not None
        for tag in criteria.shares:
            whole, part = self.known_facts.fact(tag, start, span.end), self.known_facts.fact(tag, start, span.previous)
            a = whole and whole.as_of(operands.whole.since)
            b = part and part.as_of(operands.part.since)
            if a and b and a.value > 0 and b.value > 0:
                ratio = max(a.value / b.value, b.value / a.value)
                return MOST <= ratio < SCALE
        return False

    def _mark(self, operands: Operands, start: int, end: int, criteria: TagCriteria) -> str:
        if operands.newest:
            return ""
        rivals = (self.known_facts.fact(rival, start, end) for rival in criteria.rivals)
        still = any(fact is not None and agree(fact.latest.value, operands.whole.state.value) for fact in rivals)
        return "" if still else BEFORE_RECAST

    def _chain(self, tag: str, start: int, end: int, criteria: TagCriteria) -> list[Amount] | None:
        """Return the quarters that fill the days from `start` to `end` without a gap; None where one has no value."""
        found: list[Amount] = []
        for span in self.fiscal_periods.quarters_within(start, end):
            amount = self.period(tag, "Q", span, criteria)
            if amount is None:
                return None
            found.append(amount)
        return found or None

    def _sum(self, tag: str, span: Span, criteria: TagCriteria) -> Amount | None:
        amounts = self._chain(tag, span.start, span.end, criteria)
        return None if amounts is None else total(amounts, "sum_of_quarters", span.start, span.end)


def stated_in(by_start: HistoriesByStart, kind: str, start: int) -> FactHistory | None:
    """Return the fact of a period of that length that begins nearest to a day, within the slack of starts."""
    best: int | None = None
    for candidate in by_start:
        if candidate is None or abs(candidate - start) > SLACK:
            continue
        if best is None or (abs(candidate - start), candidate) < (abs(best - start), best):
            best = candidate
    return None if best is None else by_start[best]


def together(
    whole: FactHistory, part: FactHistory, own_end: Mapping[str, int] = MappingProxyType({}), end: int | None = None
) -> list[Operands]:
    """
    Pairs of states that go together, as far as the times at which they were known tell; the newest first.

    A restated longer period goes with the shorter one that was restated since the state before it, with it or, where
    the shorter one's report came later, after it. Where an amendment of the report about the longer one, which ends on
    `end`, restated it alone, the shorter one stands beside it as it was. The last pair is both as known when the longer
    one first was.
    """
    wholes, found = whole.bases, []
    for place in range(len(wholes) - 1, 0, -1):
        before, now = wholes[place - 1].since, wholes[place].since
        restated = next((basis for basis in reversed(part.bases) if before < basis.since <= now), None)
        restated = restated or _first_after(part, now)
        if restated is not None:
            found.append(Operands(wholes[place], restated, newest=place == len(wholes) - 1))
        elif own_end.get(wholes[place].state.accession) == end is not None:
            beside = [basis for basis in part.bases if basis.since <= now]
            if beside:
                found.append(Operands(wholes[place], beside[-1], newest=place == len(wholes) - 1, amended=True))
    first = wholes[0]
    known = [basis for basis in part.bases if basis.since <= first.since]
    found.append(Operands(first, known[-1] if known else part.bases[0], newest=len(wholes) == 1))
    return found


def _first_after(fact: FactHistory, moment: int) -> Basis | None:
    return next((basis for basis in fact.bases if basis.since > moment), None)


def _restated(before: float, now: float) -> bool:
    """Whether two figures differ by more than the rounding of the coarser one, a unit being at most a million."""
    coarse = min(max(granularity(before), granularity(now)), COARSEST)
    return abs(now - before) > coarse / 2


#: Lengths of periods in words.
_WORDS = {"Q": "quarter", "S": "half-year", "N": "nine months", "A": "year"}
_NO_FACTS: HistoriesByStart = {}
_NO_ENDS: dict[int, HistoriesByStart] = {}


def _starts(by_start: HistoriesByStart, span: Span) -> list[int]:
    """Return starts of periods that end with the span and began before it, the longest last but for whole years first."""
    low, high = BUCKETS["A"]
    starts = [
        start
        for start in by_start
        if start is not None and start < span.start - SLACK and letter(start, span.end) is not None
    ]
    if len(starts) < 2:
        return starts
    return sorted(starts, key=lambda start: (not low <= span.end - start + 1 <= high, start))


def name_of(tag: str, kind: str) -> str:
    """Return a raw series as amounts name it: tag and frequency letter."""
    return f"{tag}:{kind}"


def as_amount(tag: str, kind: str, state: FactVintage, start: int | None, end: int) -> Amount:
    """One stated value as an amount of an own period."""
    return Amount(
        state.value,
        start,
        end,
        (name_of(tag, kind),),
        None,
        state.released,
        state.ingested,
        state.flags & (UNKNOWN | DAY),
        () if state.raw_cell is None else (state.raw_cell,),
    )


def _less(tag: str, span: Span, method: str, operands: Operands, names: tuple[str, str]) -> Amount:
    a, b = operands.whole.state, operands.part.state
    return Amount(
        exact_sum(a.value, -b.value),
        span.start,
        span.end,
        tuple(sorted(name_of(tag, name) for name in names)),
        method,
        None if a.released is None or b.released is None else max(a.released, b.released),
        max(a.ingested, b.ingested),
        (a.flags | b.flags) & (UNKNOWN | DAY),
        () if a.raw_cell is None or b.raw_cell is None else (a.raw_cell, b.raw_cell),
    )


def _less_quarters(tag: str, span: Span, name: str, whole: FactHistory, quarters: list[Amount]) -> Amount:
    parts = total(quarters, "", span.start, span.end)
    bases = whole.bases
    together_ = parts.released is not None and parts.released > bases[0].since
    state = bases[-1 if together_ else 0].state
    released = None if parts.released is None or state.released is None else max(parts.released, state.released)
    method = "fy_minus_quarters" if name == "A" else "ytd_minus_quarters"
    return Amount(
        exact_sum(state.value, -parts.value),
        span.start,
        span.end,
        tuple(sorted({name_of(tag, name), *parts.tags})),
        method if len(bases) == 1 else method + (MIXED if together_ else BEFORE_RECAST),
        released,
        max(parts.ingested, state.ingested),
        parts.flags | state.flags & (UNKNOWN | DAY),
        parts.raw_cells if state.raw_cell is None else (state.raw_cell, *parts.raw_cells),
    )


def total(amounts: list[Amount], method: str, start: int | None, end: int, signs: list[int] | None = None) -> Amount:
    """Return the sum of amounts as one; tags, times and flags are those of all."""
    if signs is None:
        signs = [1] * len(amounts)
    released: int | None = 0
    for amount in amounts:
        released = None if released is None or amount.released is None else max(released, amount.released)
    return Amount(
        exact_sum(*[sign * amount.value for sign, amount in zip(signs, amounts, strict=True)]),
        start,
        end,
        tuple(sorted({tag for amount in amounts for tag in amount.tags})),
        method,
        released,
        max(amount.ingested for amount in amounts),
        _flags(amounts),
        tuple(place for amount in amounts for place in amount.raw_cells),
        amounts[0].reporting_basis,
    )


def _flags(amounts: list[Amount]) -> int:
    flags = 0
    for amount in amounts:
        flags |= amount.flags
    return flags
