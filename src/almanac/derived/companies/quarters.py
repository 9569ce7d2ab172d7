"""
From what filings state of one tag to its own quarters, halves and years.

Interim reports give many flows from the beginning of the year only, and no report gives the last quarter. A period
that is not stated is the difference of two that are, if these begin on the same day and are of the same tag; else it
is absent, never the longer period in its place.
"""

from __future__ import annotations

from typing import NamedTuple

from almanac.derived.companies.facts import BUCKETS, FactHistory, FactVintage, HistoriesByStart, KnownFacts, letter
from almanac.derived.companies.financials import Amount
from almanac.derived.companies.fiscal_calendar import SLACK, FiscalPeriods, Span
from almanac.domain.numbers import exact_sum
from almanac.domain.observations import DAY, UNKNOWN

#: Mark of a method whose operands were not restated together.
MIXED = "_mixed"


class Operands(NamedTuple):
    """Two states to subtract from each other, and whether only the first was restated."""

    whole: FactVintage
    part: FactVintage
    mixed: bool


class Quarters:
    """Own periods of single tags, from the facts known so far on the calendar known so far."""

    def __init__(self, known_facts: KnownFacts, fiscal_periods: FiscalPeriods) -> None:
        self.known_facts = known_facts
        self.fiscal_periods = fiscal_periods

    def instant(self, tag: str, end: int) -> Amount | None:
        """The value at the end of a day."""
        fact = self._facts(tag, end).get(None)
        return None if fact is None else as_amount(tag, "Q", fact.latest, None, end)

    def period(self, tag: str, kind: str, span: Span, *, additive: bool) -> Amount | None:
        """The value over an own period (`kind` Q, S or A); a difference only of what adds up."""
        by_start = self._facts(tag, span.end)
        fact = stated_in(by_start, kind, span.start)
        if fact is not None:
            return as_amount(tag, kind, fact.latest, span.start, span.end)
        if not additive:
            return None
        if kind == "A":
            return self._sum(tag, span)
        return self._difference(tag, kind, by_start, span)

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

    def _difference(self, tag: str, kind: str, by_start: HistoriesByStart, span: Span) -> Amount | None:
        if not by_start or span.previous is None:
            return None
        found = self.longer(tag, span)
        if found is not None:
            start, whole, part = found
            name, shorter = letter(start, span.end), letter(start, span.previous)
            if name is None or shorter is None:
                return None
            method = "fy_minus_9m" if (name, shorter) == ("A", "N") else "ytd_difference"
            operands = together(whole, part)
            return _less(tag, span, method, operands, (name, shorter))
        if kind != "Q":
            return None
        for start in _starts(by_start, span):
            amounts = self._chain(tag, start, span.previous)
            name = letter(start, span.end)
            if amounts is not None and name is not None:
                return _less_quarters(tag, span, name, by_start[start], amounts)
        return None

    def _chain(self, tag: str, start: int, end: int) -> list[Amount] | None:
        """Quarters that fill the days from `start` to `end` without a gap."""
        found: list[Amount] = []
        last: int | None = end
        while last is not None:
            span = self.fiscal_periods.quarters.get(last)
            if span is None or span.start < start:
                return None
            amount = self.period(tag, "Q", span, additive=True)
            if amount is None:
                return None
            found.append(amount)
            if span.start == start:
                return found
            last = span.previous
        return None

    def _sum(self, tag: str, span: Span) -> Amount | None:
        if span.end not in self.fiscal_periods.quarters:
            return None
        amounts = self._chain(tag, span.start, span.end)
        return None if amounts is None else total(amounts, "sum_of_quarters", span.start, span.end)


def stated_in(by_start: HistoriesByStart, kind: str, start: int) -> FactHistory | None:
    """The fact of a period of that length that begins nearest to a day, within the slack of starts."""
    best: int | None = None
    for candidate in by_start:
        if candidate is None or abs(candidate - start) > SLACK:
            continue
        if best is None or (abs(candidate - start), candidate) < (abs(best - start), best):
            best = candidate
    return None if best is None else by_start[best]


def together(whole: FactHistory, part: FactHistory) -> Operands:
    """
    The states to subtract: restated together, as far as can be told.

    Where the shorter period was restated after the longer one, the longer is still on the old basis, and so is the
    shorter one's state of that time. Where only the longer was restated, the difference takes all of the restatement
    and says so.
    """
    a, b = whole.latest, part.latest
    if b.known > a.known:
        earlier = part.as_of(a.known)
        return Operands(a, b if earlier is None else earlier, mixed=False)
    first = whole.history[0]
    mixed = whole.count > 1 and b.known <= first.known and _restated(first.value, a.value)
    return Operands(a, b, mixed)


def _restated(before: float, now: float) -> bool:
    """Whether two figures differ by more than the rounding of the coarser one, a unit being at most a million."""
    coarse = min(max(granularity(before), granularity(now)), 1_000_000.0)
    return abs(now - before) > coarse / 2


def granularity(value: float) -> float:
    """The power of ten a value seems to be rounded to: 1000 for 12000; at most 10^9."""
    if value == 0 or not value.is_integer():
        return 0.0
    whole, power = int(abs(value)), 1
    while whole % 10 == 0 and power < 1_000_000_000:
        whole //= 10
        power *= 10
    return float(power)


_NO_FACTS: HistoriesByStart = {}
_NO_ENDS: dict[int, HistoriesByStart] = {}


def _starts(by_start: HistoriesByStart, span: Span) -> list[int]:
    """Starts of periods that end with the span and began before it, the longest last but for whole years first."""
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
    """A raw series as amounts name it: tag and frequency letter."""
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
    a, b = operands.whole, operands.part
    return Amount(
        exact_sum(a.value, -b.value),
        span.start,
        span.end,
        tuple(sorted(name_of(tag, name) for name in names)),
        method + MIXED if operands.mixed else method,
        None if a.released is None or b.released is None else max(a.released, b.released),
        max(a.ingested, b.ingested),
        (a.flags | b.flags) & (UNKNOWN | DAY),
        () if a.raw_cell is None or b.raw_cell is None else (a.raw_cell, b.raw_cell),
    )


def _less_quarters(tag: str, span: Span, name: str, whole: FactHistory, quarters: list[Amount]) -> Amount:
    parts = total(quarters, "", span.start, span.end)
    state = whole.latest
    released = None if parts.released is None or state.released is None else max(parts.released, state.released)
    restated = whole.count > 1 and _restated(whole.history[0].value, state.value)
    method = "fy_minus_quarters" if name == "A" else "ytd_minus_quarters"
    return Amount(
        exact_sum(state.value, -parts.value),
        span.start,
        span.end,
        tuple(sorted({name_of(tag, name), *parts.tags})),
        method + MIXED if restated else method,
        released,
        max(parts.ingested, state.ingested),
        parts.flags | state.flags & (UNKNOWN | DAY),
        parts.raw_cells if state.raw_cell is None else (state.raw_cell, *parts.raw_cells),
    )


def total(amounts: list[Amount], method: str, start: int | None, end: int, signs: list[int] | None = None) -> Amount:
    """The sum of amounts as one; tags, times and flags are those of all."""
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
    )


def _flags(amounts: list[Amount]) -> int:
    flags = 0
    for amount in amounts:
        flags |= amount.flags
    return flags
