"""
Which of an item's candidates is it: the whole rather than a part, and of two wholes the one that the filer's own arithmetic bears out.

A part never stands for the whole. Candidates below a part of the item are none of it; one that other filers use for a
part counts only where no part stands beside it or arithmetic proves it. Of the rest those win that satisfy most
identities, then those of the style, then the largest where the item is never less than a part of it, then the first.
What must agree and agrees with nothing is absent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

from almanac.catalog.companies import Expression, Item, Term
from almanac.derived.companies.facts import HistoriesByStart, letter
from almanac.derived.companies.financials import Amount
from almanac.derived.companies.fiscal_calendar import Span
from almanac.derived.companies.precision import granularity, rounding, spelled
from almanac.derived.companies.reading.quarters import REFUSED, TagCriteria, total
from almanac.derived.companies.reading.share_counts import doubt
from almanac.derived.companies.reading.tag_mapping import DWARFS, NET_INCOME, Reading, TagMapping
from almanac.derived.companies.reading.tag_sums import TagSums

#: Items of one period that are computed already.
Values = Mapping[str, Amount]

#: Why an item is absent: codes that a reason begins with.
ONLY_PART, CONFLICT, IMPLAUSIBLE, OWN_TAG = "only_part_reported", "in_conflict", "implausible", "own_tag"

#: Part of a line below which another one beside it does not make it a slice.
_TRIFLE = 0.005


#: Part of what other lines come to below which a total is contradicted by them: gains may stand among the lines.
_FLOOR = 0.9
#: Part of an amount that is no rounding, however round the numbers are.
_ROUNDED = 0.01
#: Part of an amount by which what is given elsewhere may exceed it: notes count what the statement has in other lines.
_NOTES = 0.05
#: Times by which the rounding of a note's text is coarser than that of a statement.
_COARSER = 100
#: Days before the end of a period within which the last fiscal year ended.
_YEAR_AND_QUARTERS = 380


#: Methods by which a value is what one filing states for the period.
_STATED = (None, "sum_of_tags")
_NOTHING: dict[int, HistoriesByStart] = {}


class _Option(NamedTuple):
    """
    One value an item may have. `whole`: not a tag that other filers use for a part. `own`: of the style itself. `proven`:
    of a tag that is mostly another line, so that it counts only where arithmetic says so.
    """

    amount: Amount
    whole: bool
    own: bool
    proven: bool


class _Proof(NamedTuple):
    """What an item must be for an identity to hold, and how far rounding may put it off."""

    value: float
    allowed: float


class TagSelector:
    """Chooses for one item and period at a time. `reason` says why the item asked for last is absent, None where nothing does."""

    def __init__(self, sums: TagSums, mapping: TagMapping) -> None:
        self.sums = sums
        self.mapping = mapping
        self.known_facts = sums.known_facts
        self.reason: str | None = None
        #: The largest part of the item asked for last: less than it is none.
        self._least = -math.inf

    def reading(self, item: Item, end: int) -> Reading:
        """How an item is read at the end of a period: the style of which most signs are given for it."""
        if not item.for_style:
            return self.mapping.reading
        found: dict[str, int] = {}
        tags = self.known_facts.tags
        for tag, style in self.mapping.signs_of_style.items():
            if tag in tags and end in tags[tag]:
                found[style] = found.get(style, 0) + 1
        if not found:
            return self.mapping.reading
        most = max(found.values())
        mine = self.mapping.style
        if most < 2 or found.get(mine) == most:
            return self.mapping.reading
        return self.mapping.styles[next(style for style, count in found.items() if count == most)]

    def choose(self, item: Item, kind: str, end: int, span: Span | None, held: Values) -> Amount | None:
        """Return an item over a span, or at the end of a period where there is none; `held` are its other items."""
        self.reason, self._least = None, -math.inf
        reading = self.reading(item, end)
        criteria = reading.criteria[item.key]
        candidates = reading.candidates[item.key]
        if item.key not in self.mapping.weighed:
            for candidate in candidates:
                if item.kind != "cover" and not self._is_given(candidate, end):
                    continue
                amount = self.sums.value(candidate, end, span, kind, criteria)
                if amount is None:
                    continue
                why = self._implausible(amount, end) if item.kind == "cover" else None
                if why is None:
                    self.reason = None
                    return amount
                self.reason = self.reason or f"{IMPLAUSIBLE}: {why}"
            self.reason = self.reason or self._unfiled(item, candidates, end)
            return None
        own, sure = reading.own[item.key], reading.sure[item.key]
        options: list[_Option] = []
        for place, candidate in enumerate(candidates):
            if not self._is_given(candidate, end):
                continue
            amount = self.sums.value(candidate, end, span, kind, criteria)
            if amount is not None and amount.value < 0 and item.never_negative and amount.method not in _STATED:
                continue  # what a filing states below zero is its word; a difference that comes to it is none
            if amount is not None and all(amount.value != option.amount.value for option in options):
                options.append(_Option(amount, not _tags(amount) <= item.slices, place < own, place >= sure))
        if not options and not item.parts:
            self.reason = self._unfiled(item, candidates, end)
            return None
        return self._weigh(item, kind, end, span, held, options)

    def _unfiled(self, item: Item, candidates: Iterable[Expression], end: int) -> str | None:
        """Return why an item that every company has is absent where no candidate has a value; None of others."""
        if not item.expected:
            return None
        if any(self._is_given(candidate, end) for candidate in candidates):
            return f"{REFUSED}: it is given for a longer period alone"
        return f"{OWN_TAG}: no tag of a taxonomy gives it"

    def _implausible(self, count: Amount, end: int) -> str | None:
        tag = count.tags[0].rpartition(":")[0]
        day = self.sums.cover_day(tag, end) if tag.startswith("dei:") else end
        return None if day is None else doubt(self.known_facts, tag, day, end, count.value)

    def formula(self, item: Item, kind: str, end: int, span: Span | None, held: Values) -> Amount | None:
        """Return an item that no tag gives, from other items; None too where it must agree and does not."""
        if item.key not in self.mapping.computed or (self.reason is not None and self.reason.startswith(CONFLICT)):
            return None
        made = [amount for formula in item.formulas if (amount := from_items(formula, end, span, held)) is not None]
        if item.positive:
            made = [amount for amount in made if amount.value > 0]
        made = [amount for amount in made if amount.value >= self._least - rounding([self._least, amount.value])]
        if not made or not item.agrees:
            self.reason = None if made else self.reason
            return made[0] if made else None
        proof = next((found for found in self._proofs(item, kind, end, span, held) if found), None)
        for amount in made:
            if proof is None or _bears_out(proof, amount.value):
                self.reason = None
                return amount
        assert proof is not None
        self.reason = f"{CONFLICT}: {spelled(made[0].value)} where the other lines give {spelled(proof[0].value)}"
        return None

    def _is_given(self, candidate: Expression, end: int) -> bool:
        """Whether a candidate can have a value: most have none, and that is soon told."""
        tags = self.known_facts.tags
        first = candidate[0]
        if len(candidate) == 1 or not first.optional:
            return end in tags.get(first.name, _NOTHING)
        return any(end in tags.get(term.name, _NOTHING) for term in candidate)

    def _weigh(
        self, item: Item, kind: str, end: int, span: Span | None, held: Values, options: list[_Option]
    ) -> Amount | None:
        parts, dropped = self._parts(item, kind, end, span), bool(options)
        if parts:
            least = self._least = max(parts.values())
            options = [
                one for one in options if one.own or one.amount.value >= least - rounding([least, one.amount.value])
            ]
        floor = self._floor(item, kind, end, span) if options else None
        if floor is not None and options and all(one.amount.value < floor for one in options):
            self.reason = (
                f"{CONFLICT}: {spelled(options[0].amount.value)} where other lines come to {spelled(floor)} at least"
            )
            return None
        options = [one for one in options if floor is None or one.amount.value >= floor]
        if not options:
            if parts and (dropped or item.key in self.mapping.computed):
                self.reason = f"{ONLY_PART}: {', '.join(parts)}"
            elif item.expected:
                self.reason = f"{OWN_TAG}: no tag of a taxonomy gives it"
            return None
        if len(options) == 1 and options[0].whole and not (options[0].proven or item.agrees or item.notes):
            return options[0].amount
        proofs = [found for found in self._proofs(item, kind, end, span, held) if found]
        if item.agrees:
            proofs = proofs[:1]
        scores = [sum(_is_proof(proof, one) for proof in proofs) for one in options]
        best = max(scores)
        made = self.mapping.made_of_proof.get(item.key, frozenset())
        if best and made:
            # What is added up from the very lines that prove it proves nothing: it counts where there is nothing else.
            given = [one for one in options if not _tags(one.amount) <= made]
            if given and len(given) < len(options):
                return self._weigh(item, kind, end, span, held, given)
        if best:
            return next(one.amount for one, score in zip(options, scores, strict=True) if score == best)
        sure = [one for one in options if not one.proven]
        if proofs and (item.agrees or (not sure and parts)):
            self.reason = f"{CONFLICT}: {spelled(options[0].amount.value)} where the other lines give {spelled(proofs[0][0].value)}"
            return None
        options = sure
        mine = [one for one in options if one.own]
        if mine:
            return mine[0].amount
        beside = (
            [tag for tag, value in parts.items() if abs(value) > _TRIFLE * abs(options[0].amount.value)]
            if options
            else []
        )
        whole = [one for one in options if one.whole or not beside]
        if not whole:
            slices = {tag for one in options for tag in _tags(one.amount)} or parts.keys()
            self.reason = f"{ONLY_PART}: {', '.join(sorted(slices))}" if slices else None
            return None
        if item.undisputed:
            amounts = [one.amount for one in whole]
            if _are_lines(item, amounts):
                self.reason = f"{ONLY_PART}: {', '.join(sorted({tag for amount in amounts for tag in _tags(amount)}))}"
                return None
            income = held.get(NET_INCOME)
            return self._undisputed(item, amounts, kind, end, span, income)
        return _largest(whole) if item.largest else whole[0].amount

    def _undisputed(
        self, item: Item, amounts: list[Amount], kind: str, end: int, span: Span | None, income: Amount | None
    ) -> Amount | None:
        """Return the first amount unless another is larger: then one of the two is a part, and size does not tell which."""
        notes = [self.sums.tag(tag, end, span, kind, TagCriteria(additive=False)) for tag in item.notes]
        every = [*amounts, *(note for note in notes if note is not None)]
        coarse = _coarse(every, income) if item.notes else []
        first = next((amount for amount in amounts if amount not in coarse), amounts[0])
        rival = next((one for one in every if _disputes(item, one, first, is_note=one in coarse)), None)
        if rival is None:
            return first
        usual = self._usual(item, end)
        for amount in amounts:
            if _tags(amount) == usual:
                return amount
        self.reason = f"{CONFLICT}: {_told(first)} beside {_told(rival)}, and no other line tells which is the total"
        return None

    def _usual(self, item: Item, end: int) -> frozenset[str]:
        """Return the one tag that can be the item in the last fiscal year, one that ends on this day too; none where several can."""
        years: dict[int, dict[str, float]] = {}
        for tag in (*_singles(item), *item.notes):
            for last, facts in self.known_facts.tags.get(tag, _NOTHING).items():
                if end - _YEAR_AND_QUARTERS < last <= end:
                    for start, fact in facts.items():
                        if letter(start, last) == "A":
                            years.setdefault(last, {})[tag] = fact.latest.value
        if not years:
            return frozenset()
        values = years[max(years)]
        least = (1 - _NOTES) * sum(value for tag, value in values.items() if tag in item.notes)
        found = [tag for tag, value in values.items() if tag not in item.notes and value >= least]
        return frozenset(found) if len(found) == 1 else frozenset()

    def _floor(self, item: Item, kind: str, end: int, span: Span | None) -> float | None:
        """Return what an item cannot be less than by the filer's other lines; None where they do not tell."""
        lowest: list[float] = []
        for sum_ in item.at_least:
            values = [self._may_be(term, kind, end, span) for term in sum_]
            if all(values):
                lowest.append(sum(min(value) for value in values))
        least = max(lowest, default=0.0)
        return least * _FLOOR if least > 0 else None

    def _parts(self, item: Item, kind: str, end: int, span: Span | None) -> dict[str, float]:
        """Tags of parts with their values, none of zero."""
        found: dict[str, float] = {}
        for tag in item.parts:
            if self.known_facts.given(tag, end):
                amount = self.sums.tag(tag, end, span, kind, TagCriteria(item.additive))
                if amount is not None and amount.value:
                    found[tag] = amount.value
        return found

    def _proofs(self, item: Item, kind: str, end: int, span: Span | None, held: Values) -> Iterable[list[_Proof]]:
        """For each identity of an item what it must be; nothing where a term of the identity has no value."""
        place = self.mapping.places[item.key]
        for proof in item.proofs:
            terms: list[list[float]] = []
            for term in proof:
                earlier = self.mapping.places[term.name] < place
                values = (
                    [amount.value for amount in [held.get(term.name)] if amount is not None]
                    if earlier
                    else self._may_be(term, kind, end, span)
                )
                if not values and not term.optional:
                    break
                terms.append([term.sign * value for value in values or [0.0]])
            else:
                yield [_Proof(sum(values), rounding(values)) for values in product(*terms)]

    def _may_be(self, term: Term, kind: str, end: int, span: Span | None) -> list[float]:
        """All that an item may be that is read later."""
        reading, refused = self.mapping.reading, self.sums.quarters.refused
        found: list[float] = []
        for place, candidate in enumerate(reading.candidates[term.name]):
            if not self._is_given(candidate, end):
                continue
            amount = self.sums.value(candidate, end, span, kind, TagCriteria(additive=True))
            if amount is None or amount.value in found:
                continue
            if term.optional and not found and place >= reading.sure[term.name]:
                found.append(0.0)  # what counts only with proof may be another line, and this one not there
            found.append(amount.value)
        self.sums.quarters.refused = refused  # why another item is absent is no reason of this one
        return found


def from_items(formula: Expression, end: int, span: Span | None, held: Values) -> Amount | None:
    """Return a sum of other items; None where one that is not optional is not there."""
    amounts: list[Amount] = []
    signs: list[int] = []
    for term in formula:
        amount = held.get(term.name)
        if amount is None:
            if not term.optional:
                return None
            continue
        amounts.append(amount)
        signs.append(term.sign)
    if not amounts:
        return None
    if len(amounts) == 1 and signs[0] > 0:
        return amounts[0]
    return total(amounts, "formula", None if span is None else span.start, end, signs)


def _bears_out(proof: Iterable[_Proof], value: float) -> bool:
    return any(abs(one.value - value) <= one.allowed + rounding([value]) for one in proof)


def _is_proof(proof: list[_Proof], option: _Option) -> bool:
    """Whether an identity holds with an option; where that counts only with proof, only if it does not hold without it too."""
    return _bears_out(proof, option.amount.value) and not (option.proven and _bears_out(proof, 0.0))


def _largest(options: list[_Option]) -> Amount:
    """Return the total: the first that is no slice unless another dwarfs it, of slices the largest."""
    found = options[0]
    for one in options[1:]:
        least = DWARFS if found.whole else 1.0
        if one.amount.value > least * found.amount.value > 0:
            found = one
    return found.amount


def _are_lines(item: Item, amounts: list[Amount]) -> bool:
    """Whether amounts are several lines of business, and none of them is a total."""
    least = _TRIFLE * max(abs(amount.value) for amount in amounts)
    material = [amount for amount in amounts if abs(amount.value) > least]
    return len(material) > 1 and all(_tags(amount) <= item.lines for amount in amounts)


def _coarse(amounts: list[Amount], income: Amount | None) -> list[Amount]:
    """Return amounts that are rounded far more coarsely than the statement: they are from the text of a note."""
    values = [amount.value for amount in amounts] + ([] if income is None else [income.value])
    finest = min((unit for value in values if (unit := granularity(value))), default=0.0)
    return [amount for amount in amounts if granularity(amount.value) >= _COARSER * finest > 0]


def _disputes(item: Item, rival: Amount, first: Amount, *, is_note: bool) -> bool:
    """Whether another candidate says that the first one is not the total."""
    if _tags(rival) > _tags(first):
        return False  # the first and a line beside it, as excise taxes
    allowed = min(rounding([rival.value, first.value]), _ROUNDED * first.value)
    if item.notes and (is_note or not _tags(rival) <= {*item.notes} or len(_tags(rival)) > 1):
        allowed = max(allowed, _NOTES * first.value)
    if _tags(rival) <= item.lines and not _tags(first) <= item.lines:
        allowed = max(allowed, (DWARFS - 1) * first.value)
    return first.value > 0 and rival.value - first.value > allowed


def _told(amount: Amount) -> str:
    return f"{spelled(amount.value)} of {' + '.join(sorted(_tags(amount)))}"


def _singles(item: Item) -> Iterator[str]:
    return (candidate[0].name for candidate in item.candidates if len(candidate) == 1)


def _tags(amount: Amount) -> frozenset[str]:
    return frozenset(name.rpartition(":")[0] for name in amount.tags)
