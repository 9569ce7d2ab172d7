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
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from almanac.catalog.companies import SHEET_ANEW, Expression, Item
from almanac.derived.companies.company_history import CompanyHistory
from almanac.derived.companies.facts import (
    BUCKETS,
    Basis,
    FactHistory,
    FactVintage,
    HistoriesByStart,
    KnownFacts,
    letter,
)
from almanac.derived.companies.financials import REFUSED, Amount
from almanac.derived.companies.fiscal_calendar import SLACK, FiscalPeriods, Span
from almanac.derived.companies.precision import COARSEST, agree, granularity, repeats, spelled
from almanac.derived.companies.reading.tag_mapping import COVER_DAYS, TagCriteria, TagMapping
from almanac.domain.numbers import exact_sum
from almanac.domain.observations import DAY, UNKNOWN

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
#: Lengths of periods in words.
_WORDS = {"Q": "quarter", "S": "half-year", "N": "nine months", "A": "year"}

#: An amount; else why there is none although something of it was filed, None where nothing was.
Outcome = Amount | str | None


class Known(NamedTuple):
    """Facts and rules known in one reporting basis at a moment: facts, the fiscal calendar, and what applies to the company."""

    facts: KnownFacts
    periods: FiscalPeriods
    history: CompanyHistory

    @property
    def mapping(self) -> TagMapping:
        """Return the tags from which the company's items are read."""
        return self.history.mapping


class Place(NamedTuple):
    """A period that is being read (`kind` Q, S, N or A; `span` None: the day of a balance), and its items so far."""

    known: Known
    kind: str
    end: int
    span: Span | None
    items: Mapping[str, Amount]

    def is_given(self, candidate: Expression) -> bool:
        """Return whether a candidate can have a value: most have none, and that is soon told."""
        given = self.known.facts.given
        if len(candidate) == 1 or not candidate[0].optional:
            return given(candidate[0].name, self.end)
        return any(given(term.name, self.end) for term in candidate)

    def is_computed(self, item: Item) -> bool:
        """Return whether an item is computed from others: not all lines mean something for every kind of company."""
        return self.known.history.company.template in item.templates


class Operands(NamedTuple):
    """Two states to subtract from each other. `newest`: the longer one is as it stands now."""

    whole: Basis
    part: Basis
    newest: bool
    #: Whether the longer one was restated by an amendment of its own report, and the shorter one was not.
    amended: bool = False


def own_period(known: Known, tag: str, kind: str, span: Span, criteria: TagCriteria) -> Outcome:
    """Return the value of a tag over an own period (`kind` Q, S or A); a difference only of what adds up."""
    by_start = known.facts.ending(tag, span.end)
    fact = stated_in(by_start, span.start)
    if fact is not None:
        return as_amount(tag, kind, fact.latest, span.start, span.end)
    if not criteria.additive:
        return None
    if kind == "A":
        quarters = _filling(known, tag, span.start, span.end, criteria)
        return quarters if not isinstance(quarters, list) else total(quarters, "sum_of_quarters", span.start, span.end)
    if not by_start or span.previous is None:
        return None
    operands = longer(known, tag, span)
    if operands is not None:
        return _difference(known, tag, span, *operands, criteria)
    refused: str | None = None
    for start in _starts(by_start, span) if kind == "Q" else ():
        quarters = _filling(known, tag, start, span.previous, criteria)
        if not isinstance(quarters, list):
            refused = quarters or refused
            continue
        made = _less_quarters(tag, span, start, by_start[start], quarters)
        if not (criteria.never_negative and made.value < 0):
            return made
        refused = f"{REFUSED}: {tag}: the quarters before exceed the {_WORDS[letter(start, span.end) or 'A']}"
    return refused


def longer(known: Known, tag: str, span: Span) -> tuple[int, FactHistory, FactHistory] | None:
    """Start, longer and shorter fact of two periods from one day on whose difference is the span."""
    if span.previous is None:
        return None
    before, by_start = known.facts.ending(tag, span.previous), known.facts.ending(tag, span.end)
    return next(((start, by_start[start], before[start]) for start in _starts(by_start, span) if start in before), None)


def _difference(
    known: Known, tag: str, span: Span, start: int, whole: FactHistory, part: FactHistory, criteria: TagCriteria
) -> Outcome:
    """Return the difference of the newest pair of states that go together."""
    assert span.previous is not None
    name, shorter = letter(start, span.end), letter(start, span.previous)
    if name is None or shorter is None:
        return None
    rivals = [fact for rival in criteria.rivals if (fact := known.facts.fact(rival, start, span.end)) is not None]
    for operands in together(whole, part, known.history.calendar.own_end, span.end):
        doubt = _doubt(known, tag, start, span, operands)
        if doubt > 0 and (later := _first_after(part, operands.whole.since)) is not None:
            operands, doubt = operands._replace(part=later), 0.0
        total_, value = operands.whole.state.value, operands.whole.state.value - operands.part.state.value
        if (
            (criteria.never_negative and value < 0)
            or doubt > _MATERIAL * max(abs(value), abs(total_) / 10)
            or any(rival.latest.value >= criteria.dominance * total_ > 0 for rival in rivals)
            or _is_split(known, start, span, operands, criteria)
        ):
            continue
        method = "fy_minus_9m" if (name, shorter) == ("A", "N") else "ytd_difference"
        if doubt or operands.amended:
            method += MIXED
        elif not (operands.newest or any(agree(rival.latest.value, total_) for rival in rivals)):
            method += BEFORE_RECAST
        return difference((tag, tag), start, span, operands, method)
    return (
        f"{REFUSED}: {tag}: the {_WORDS[name]} {spelled(whole.latest.value)} and the {_WORDS[shorter]}"
        f" {spelled(part.latest.value)}"
    )


def difference(tags: tuple[str, str], start: int, span: Span, operands: Operands, method: str) -> Amount:
    """Return what a longer period from `start` leaves of a span after the shorter one; `tags`: those of both."""
    whole = as_amount(tags[0], letter(start, span.end) or "A", operands.whole.state, span.start, span.end)
    part = as_amount(tags[1], letter(start, span.start - 1) or "A", operands.part.state, span.start, span.end)
    return total([whole, part], method, span.start, span.end, [1, -1])


def _doubt(known: Known, tag: str, start: int, span: Span, operands: Operands) -> float:
    """Measure how much of the year before was recast by the report that first gave the longer period, and by none of the shorter."""
    assert span.previous is not None
    whole, part = _year_before(known, tag, start, span.end), _year_before(known, tag, start, span.previous)
    since = operands.whole.since
    if whole is None:
        return 0.0
    if whole.misread_at(since):
        # Where other lines say that a value has its sign, a slip in the year before is one of that column.
        fact = known.facts.fact(tag, start, span.end)
        if fact is None or fact.sign() * operands.whole.state.value <= 0:
            return math.inf
    now, then = whole.as_of(since), whole.as_of(since - 1)
    if part is None or now is None or then is None or not _is_restated(then.value, now.value):
        return 0.0
    mine, before = part.as_of(since), part.as_of(operands.part.since - 1)
    if mine is None or before is None or _is_restated(before.value, mine.value):
        return 0.0
    return abs(now.value - then.value)


def _is_restated(before: float, now: float) -> bool:
    """Return whether two figures differ by more than the rounding of the coarser one, a unit being at most a million."""
    return abs(now - before) > min(max(granularity(before), granularity(now)), COARSEST) / 2


def _year_before(known: Known, tag: str, start: int, end: int) -> FactHistory | None:
    for last in range(end - 365 - _YEAR_DRIFT, end - 365 + _YEAR_DRIFT + 1):
        for first, fact in known.facts.ending(tag, last).items():
            if first is not None and abs((last - first) - (end - start)) <= _YEAR_DRIFT:
                return fact
    return None


def _is_split(known: Known, start: int, span: Span, operands: Operands, criteria: TagCriteria) -> bool:
    """Return whether shares were split between the reports of both operands."""
    assert span.previous is not None
    for tag in criteria.shares:
        whole, part = known.facts.fact(tag, start, span.end), known.facts.fact(tag, start, span.previous)
        a = whole and whole.as_of(operands.whole.since)
        b = part and part.as_of(operands.part.since)
        if a and b and a.value > 0 and b.value > 0:
            return MOST <= max(a.value / b.value, b.value / a.value) < SCALE
    return False


def _filling(known: Known, tag: str, start: int, end: int, criteria: TagCriteria) -> list[Amount] | str | None:
    """Return the quarters that fill the days from `start` to `end` without a gap; else why one has no value."""
    quarters: list[Amount] = []
    for span in known.periods.quarters_within(start, end):
        quarter = own_period(known, tag, "Q", span, criteria)
        if not isinstance(quarter, Amount):
            return quarter
        quarters.append(quarter)
    return quarters or None


def stated_in(by_start: HistoriesByStart, start: int) -> FactHistory | None:
    """Return the fact of the period that begins nearest to a day, within the slack of starts."""
    if start in by_start:
        return by_start[start]
    near = [first for first in by_start if first is not None and abs(first - start) <= SLACK]
    return by_start[min(near, key=lambda first: (abs(first - start), first))] if near else None


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
    wholes, pairs = whole.bases, []
    for place in range(len(wholes) - 1, 0, -1):
        before, now = wholes[place - 1].since, wholes[place].since
        restated = next((basis for basis in reversed(part.bases) if before < basis.since <= now), None)
        restated = restated or _first_after(part, now)
        if restated is not None:
            pairs.append(Operands(wholes[place], restated, newest=place == len(wholes) - 1))
        elif own_end.get(wholes[place].state.accession) == end is not None:
            beside = [basis for basis in part.bases if basis.since <= now]
            if beside:
                pairs.append(Operands(wholes[place], beside[-1], newest=place == len(wholes) - 1, amended=True))
    first = wholes[0]
    then = [basis for basis in part.bases if basis.since <= first.since]
    pairs.append(Operands(first, then[-1] if then else part.bases[0], newest=len(wholes) == 1))
    return pairs


def _first_after(fact: FactHistory, moment: int) -> Basis | None:
    return next((basis for basis in fact.bases if basis.since > moment), None)


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


def as_amount(tag: str, kind: str, state: FactVintage, start: int | None, end: int) -> Amount:
    """One stated value as an amount of an own period."""
    return Amount(
        state.value,
        start,
        end,
        (f"{tag}:{kind}",),
        None,
        state.released,
        state.ingested,
        state.flags & (UNKNOWN | DAY),
        () if state.raw_cell is None else (state.raw_cell,),
    )


def _less_quarters(tag: str, span: Span, start: int, whole: FactHistory, quarters: list[Amount]) -> Amount:
    """Return what a longer period leaves after its first quarters: as it stands now, if one of these is newer than its first state."""
    name, bases = letter(start, span.end) or "A", whole.bases
    released = [quarter.released for quarter in quarters]
    is_newer = all(time is not None for time in released) and any(time > bases[0].since for time in released if time)
    method = "fy_minus_quarters" if name == "A" else "ytd_minus_quarters"
    if len(bases) > 1:
        method += MIXED if is_newer else BEFORE_RECAST
    longest = as_amount(tag, name, bases[-1 if is_newer else 0].state, span.start, span.end)
    return total([longest, *quarters], method, span.start, span.end, [1] + [-1] * len(quarters))


def total(
    amounts: Sequence[Amount], method: str, start: int | None, end: int, signs: Sequence[int] | None = None
) -> Amount:
    """Return the sum of amounts as one; tags, times and flags are those of all."""
    signs = signs or [1] * len(amounts)
    released: int | None = 0
    flags = 0
    for amount in amounts:
        released = None if released is None or amount.released is None else max(released, amount.released)
        flags |= amount.flags
    return Amount(
        exact_sum(*[sign * amount.value for sign, amount in zip(signs, amounts, strict=True)]),
        start,
        end,
        tuple(sorted({tag for amount in amounts for tag in amount.tags})),
        method,
        released,
        max(amount.ingested for amount in amounts),
        flags,
        tuple(place for amount in amounts for place in amount.raw_cells),
        amounts[0].reporting_basis,
    )


# -- sums of tags, balances, presentations --------------------------------------------------------------------------------

#: Part of a number within which another one may be the same line as a later filing restates it.
_NEARLY = 0.05
#: Part of a number by which another one is not a correction of it, but of another basis.
_ANOTHER_BASIS = 0.1


def sum_of_tags(place: Place, candidate: Expression, criteria: TagCriteria) -> Outcome:
    """
    Return the sum over a period, at its end where there is no span; no amount where a part of it is not known.

    An optional part is left out only where nothing that ends on that day gives it: not where it is in a longer period.
    """
    if len(candidate) == 1:
        return one_tag(place, candidate[0].name, criteria)
    # A part that may stand alone is what the item is; another may be less than nothing.
    alone = all(term.optional for term in candidate[1:])
    # Its other parts are no rivals of one: the smaller of two is not a slice of the larger.
    terms = {term.name for term in candidate}
    rivals = tuple(rival for rival in criteria.rivals if rival not in terms)
    parts = criteria._replace(rivals=rivals) if alone else TagCriteria(criteria.additive)
    amounts: list[Amount] = []
    signs: list[int] = []
    for term in candidate:
        amount = one_tag(place, term.name, parts)
        adds = place.span is not None and term.sign > 0
        if not isinstance(amount, Amount):
            if not term.optional:
                return amount
            if adds and place.known.facts.given(term.name, place.end):
                return amount or f"{REFUSED}: {term.name} is given for a longer period, and not for this one"
        elif not (adds and term.optional and any(_is_one_line(place.known, other, amount) for other in amounts)):
            amounts.append(amount)
            signs.append(term.sign)
    if not amounts or (len(amounts) == 1 and signs[0] > 0):
        return amounts[0] if amounts else None
    method = next((amount.method for amount in amounts if amount.method), "sum_of_tags")
    return total(amounts, method, amounts[0].start, place.end, signs)


def _is_one_line(known: Known, one: Amount, other: Amount) -> bool:
    """Return whether two tags of a sum are one line said twice: the same number, or nearly so and in no filing beside each other."""
    if one.value == other.value != 0:
        return True
    if one.method or other.method or abs(one.value - other.value) > _NEARLY * abs(one.value):
        return False
    filings: list[set[str]] = []
    for amount in (one, other):
        fact = stated_in(known.facts.ending(amount.tags[0].rpartition(":")[0], amount.end), amount.start or 0)
        filings.append(set() if fact is None else {state.accession for state in fact.states})
    return filings[0].isdisjoint(filings[1])


def one_tag(place: Place, tag: str, criteria: TagCriteria) -> Outcome:
    """Return the value of a tag over a period, or at its end."""
    known, kind, end, span, _ = place
    if span is not None:
        return own_period(known, tag, kind, span, criteria)
    is_cover = tag.startswith("dei:")
    day = cover_day(known, tag, end) if is_cover else end
    fact = None if day is None else known.facts.fact(tag, None, day)
    if fact is None:
        return None
    state = on_the_sheet(known, tag, fact, end) if criteria.whole and not is_cover else fact.latest
    return None if state is None else as_amount(tag, "Q", state, None, end)


def cover_day(known: Known, tag: str, end: int) -> int | None:
    """Return the day of the cover of the report about a period: dated after it, and not of a later report."""
    covers = known.history.covers
    for day in covers[bisect_left(covers, end) : bisect_left(covers, end + COVER_DAYS)]:
        fact = known.facts.fact(tag, None, day)
        if fact is not None and known.history.calendar.own_end.get(fact.states[0].accession, end) == end:
            return day
    return None


def on_the_sheet(known: Known, tag: str, fact: FactHistory, end: int) -> FactVintage | None:
    """
    Return the state of a tag that the balance sheet of a day shows; None where it shows none.

    The sheet is that of the report about the day, its amendments with it, until a later one gives the sheet anew:
    then its lines replace all others. Single lines that later reports give, as the cash and the equity that another
    period begins with, may be of another basis, and replace nothing.
    """
    anew = known.facts.fact(SHEET_ANEW, None, end)
    sheet = None if anew is None else anew.states[-1]
    if sheet is not None and tag in sheet.without:
        return None
    if len(fact.states) == 1:
        return fact.latest
    own = known.history.calendar.own_known.get(end, ())
    shown, *later = fact.bases
    for basis in later:
        if basis.since in own or (sheet is not None and basis.since <= sheet.known):
            shown = basis
    return shown.state


def beside_the_sheet(known: Known, tag: str, fact: FactHistory, end: int) -> FactVintage | None:
    """Return the state of a tag that was given last where that is another number than the sheet's; None where it is none."""
    shown, last = on_the_sheet(known, tag, fact, end), fact.latest
    return None if shown is None or repeats(shown.value, last.value) else last


def shown_anew(
    known: Known, item: Item, kind: str, span: Span, tags: Collection[str]
) -> tuple[str, FactVintage] | None:
    """
    Tag and state of the report that recast a stated period of `tags`, where that report gives it in another tag only.

    A group that spun a part off shows the years before without it, and its revenue perhaps in a tag of its own: the
    old tag would stay, beside the income of what is left.
    """
    stated = {
        tag: fact
        for tag in known.mapping.rules[item.key].criteria.rivals
        if (fact := stated_in(known.facts.ending(tag, span.end), span.start)) is not None
    }
    last = max((fact.latest.known for tag, fact in stated.items() if tag in tags), default=None)
    for tag, fact in stated.items():
        state = fact.latest
        if last is None or state.known <= last or tag in tags:
            continue
        # The filing gives its own period in that tag, and not in those of the item before.
        end = known.history.calendar.own_end.get(state.accession)
        if end is None or end <= span.end:
            continue
        given = {name for name in (tag, *tags) if _gives(known, name, kind, end, state.known)}
        if given == {tag} and _was_recast(known, span, state.known):
            return tag, state
    return None


def _gives(known: Known, tag: str, kind: str, end: int, moment: int) -> bool:
    return any(
        start is not None and letter(start, end) == kind and fact.states[0].known <= moment
        for start, fact in known.facts.ending(tag, end).items()
    )


def _was_recast(known: Known, span: Span, moment: int) -> bool:
    """Return whether incomes or cash flows of a period became others at a moment, by more than a correction."""
    for tag in known.mapping.core:
        fact = stated_in(known.facts.ending(tag, span.end), span.start)
        for before, now in pairwise(fact.bases) if fact is not None and len(fact.states) > 1 else ():
            change = abs(now.state.value - before.state.value)
            if now.since == moment and change > _ANOTHER_BASIS * abs(before.state.value):
                return True
    return False
