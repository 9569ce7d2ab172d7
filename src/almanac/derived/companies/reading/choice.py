"""
Which of an item's candidates is it: the whole rather than a part, and of two wholes the one that the filer's own arithmetic bears out.

A part never stands for the whole. Candidates below a part of the item are none of it; one that other filers use for a
part counts only where no part stands beside it or arithmetic proves it. Of the rest those win that satisfy most
identities, then those of the style, then the largest where the item is never less than a part of it, then the first.
What must agree and agrees with nothing is absent.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable
from itertools import product
from typing import NamedTuple

from almanac.catalog.companies import Expression, Item, Term
from almanac.derived.companies.facts import HistoriesByStart, KnownFacts
from almanac.derived.companies.financials import Amount
from almanac.derived.companies.fiscal_calendar import Span
from almanac.derived.companies.precision import rounding, spelled
from almanac.derived.companies.reading.quarters import Sought, total
from almanac.derived.companies.reading.share_counts import doubt
from almanac.derived.companies.reading.tag_mapping import DWARFS, Reading, TagMapping
from almanac.derived.companies.reading.tag_sums import TagSums

#: Item → last day → amount.
Values = dict[str, dict[int, Amount]]

#: Why an item is absent: codes that a reason begins with.
ONLY_PART, CONFLICT, IMPLAUSIBLE, OWN_TAG = "only_part_reported", "in_conflict", "implausible", "own_tag"

#: Part of a line below which another one beside it does not make it a slice.
_TRIFLE = 0.005


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


class Choice:
    """Chooses for one item and period at a time. `reason` says why the item asked for last is absent, None where nothing does."""

    def __init__(self, sums: TagSums, mapping: TagMapping, known_facts: KnownFacts, filed: Container[str]) -> None:
        """`filed`: all tags that a filing ever has; what is none of them is not looked for at each period."""
        self.sums = sums
        self.mapping = mapping
        self.known_facts = known_facts
        self._filed = filed
        self._signs = [(tag, style) for tag, style in mapping.signs_of_style.items() if tag in filed]
        #: By the reading's identity and item: places of candidates that the filer has tags for.
        self._possible: dict[tuple[int, str], list[tuple[int, Expression]]] = {}
        self.reason: str | None = None
        #: The largest part of the item asked for last: less than it is none.
        self._least = -math.inf

    def reading(self, item: Item, end: int) -> Reading:
        """How an item is read at the end of a period: the style of which most signs are given for it."""
        if not item.for_style:
            return self.mapping.reading
        found: dict[str, int] = {}
        tags = self.known_facts.tags
        for tag, style in self._signs:
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
        """An item over a span, or at the end of a period where there is none; `held` are the other items of that kind."""
        self.reason, self._least = None, -math.inf
        reading = self.reading(item, end)
        sought = reading.sought[item.key]
        candidates = self._candidates(reading, item.key)
        if item.key not in self.mapping.weighed:
            for _, candidate in candidates:
                if item.kind != "cover" and not self._is_given(candidate, end):
                    continue
                amount = self.sums.value(candidate, end, span, kind, sought)
                if amount is None:
                    continue
                why = self._implausible(amount, end) if item.kind == "cover" else None
                if why is None:
                    self.reason = None
                    return amount
                self.reason = self.reason or f"{IMPLAUSIBLE}: {why}"
            return None
        own, sure = reading.own[item.key], reading.sure[item.key]
        options: list[_Option] = []
        for place, candidate in candidates:
            if not self._is_given(candidate, end):
                continue
            amount = self.sums.value(candidate, end, span, kind, sought)
            if amount is not None and amount.value < 0 and item.never_negative and amount.method not in _STATED:
                continue  # what a filing states below zero is its word; a difference that comes to it is none
            if amount is not None and all(amount.value != option.amount.value for option in options):
                options.append(_Option(amount, not _tags(amount) <= item.slices, place < own, place >= sure))
        if not options and not item.parts:
            return None
        return self._weigh(item, kind, end, span, held, options)

    def _implausible(self, count: Amount, end: int) -> str | None:
        tag = count.tags[0].rpartition(":")[0]
        day = self.sums.cover_day(tag, end) if tag.startswith("dei:") else end
        return None if day is None else doubt(self.known_facts, tag, day, end, count.value)

    def formula(self, item: Item, kind: str, end: int, span: Span | None, held: Values) -> Amount | None:
        """An item that no tag gives, from other items; None too where it must agree and does not."""
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

    def _candidates(self, reading: Reading, key: str) -> list[tuple[int, Expression]]:
        found = self._possible.get((id(reading), key))
        if found is None:
            found = self._possible[id(reading), key] = [
                (place, candidate)
                for place, candidate in enumerate(reading.candidates[key])
                if any(term.name in self._filed for term in candidate)
                and all(term.optional or term.name in self._filed for term in candidate)
            ]
        return found

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
        parts = self._parts(item, kind, end, span)
        if parts:
            least = self._least = max(parts.values())
            options = [
                one for one in options if one.own or one.amount.value >= least - rounding([least, one.amount.value])
            ]
        if not options:
            if parts:
                self.reason = f"{ONLY_PART}: {', '.join(parts)}"
            elif item.expected:
                self.reason = f"{OWN_TAG}: no tag of a taxonomy gives it"
            return None
        if len(options) == 1 and options[0].whole and not options[0].proven and not item.agrees:
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
        return _largest(whole) if item.largest else whole[0].amount

    def _parts(self, item: Item, kind: str, end: int, span: Span | None) -> dict[str, float]:
        """Tags of parts with their values, none of zero."""
        found: dict[str, float] = {}
        for tag in item.parts:
            if self.known_facts.given(tag, end):
                amount = self.sums.tag(tag, end, span, kind, Sought(item.additive))
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
                    [amount.value for amount in [held.get(term.name, {}).get(end)] if amount is not None]
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
        reading = self.mapping.reading
        found: list[float] = []
        for place, candidate in self._candidates(reading, term.name):
            if not self._is_given(candidate, end):
                continue
            amount = self.sums.value(candidate, end, span, kind, Sought(additive=True))
            if amount is None or amount.value in found:
                continue
            if term.optional and not found and place >= reading.sure[term.name]:
                found.append(0.0)  # what counts only with proof may be another line, and this one not there
            found.append(amount.value)
        return found


def from_items(formula: Expression, end: int, span: Span | None, held: Values) -> Amount | None:
    """A sum of other items; None where one that is not optional is not there."""
    amounts: list[Amount] = []
    signs: list[int] = []
    for term in formula:
        amount = held.get(term.name, {}).get(end)
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
    """The total: the first that is no slice unless another dwarfs it, of slices the largest."""
    found = options[0]
    for one in options[1:]:
        least = DWARFS if found.whole else 1.0
        if one.amount.value > least * found.amount.value > 0:
            found = one
    return found.amount


def _tags(amount: Amount) -> frozenset[str]:
    return frozenset(name.rpartition(":")[0] for name in amount.tags)
