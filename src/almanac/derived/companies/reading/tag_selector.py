"""
Which of an item's candidates is it: the whole rather than a part, and of two wholes the one that the filer's own arithmetic bears out.

A part never stands for the whole. Candidates below a part of the item are none of it; one that other filers use for a
part counts only where no part stands beside it or arithmetic proves it. Of the rest those win that satisfy most
identities, then those of the style, then the largest where the item is never less than a part of it, then the first.
What must agree and agrees with nothing is absent.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

from almanac.catalog.companies import Expression, Item, Term
from almanac.derived.companies.facts import letter
from almanac.derived.companies.financials import REFUSED, Amount
from almanac.derived.companies.misstatements import doubt
from almanac.derived.companies.precision import granularity, rounding, spelled
from almanac.derived.companies.reading.quarters import Known, Outcome, Place, cover_day, one_tag, sum_of_tags, total
from almanac.derived.companies.reading.tag_mapping import DWARFS, NET_INCOME, Candidate, ItemRule, TagCriteria

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


class Absence(NamedTuple):
    """
    No value of an item from tags: why a difference was refused, why none of the candidates is it, and the largest of its
    parts, less than which it is not.
    """

    refused: str | None = None
    reason: str | None = None
    least: float = -math.inf


class _Option(NamedTuple):
    """One value an item may have, and where it is from. `whole`: not a tag that other filers use for a part."""

    amount: Amount
    candidate: Candidate
    whole: bool


class _Proof(NamedTuple):
    """What an item must be for an identity to hold, and how far rounding may put it off."""

    value: float
    allowed: float


def rule_of(known: Known, item: Item, end: int) -> ItemRule:
    """Return how an item is read at the end of a period: the style of which most signs are given for it."""
    mapping = known.mapping
    usual = mapping.rules[item.key]
    if not item.for_style:
        return usual
    signs: dict[str, int] = {}
    for tag, style in mapping.signs_of_style.items():
        if known.facts.given(tag, end):
            signs[style] = signs.get(style, 0) + 1
    most = max(signs.values(), default=0)
    if most < 2 or signs.get(mapping.style) == most:
        return usual
    return mapping.of_style[next(style for style, count in signs.items() if count == most)][item.key]


def choose(place: Place, item: Item) -> Amount | Absence:
    """Return the value of an item that tags give."""
    rule = rule_of(place.known, item, place.end)
    # Of others the first with a value is the item.
    is_weighed = bool(item.proofs or item.parts or item.largest or item.undisputed or item.slices)
    refused: str | None = None
    reason: str | None = None
    options: list[_Option] = []
    for candidate in rule.candidates:
        if item.kind != "cover" and not place.is_given(candidate.terms):
            continue
        amount = sum_of_tags(place, candidate.terms, rule.criteria)
        if not isinstance(amount, Amount):
            refused = amount or refused
        elif not is_weighed:
            why = _implausible(place, amount) if item.kind == "cover" else None
            if why is None:
                return amount
            reason = reason or f"{IMPLAUSIBLE}: {why}"
        elif amount.value < 0 and item.never_negative and amount.method not in _STATED:
            continue  # what a filing states below zero is its word; a difference that comes to it is none
        elif all(amount.value != option.amount.value for option in options):
            options.append(_Option(amount, candidate, not _tags(amount) <= item.slices))
    if not options and not item.parts:
        if reason is None and item.expected:
            given = any(place.is_given(candidate.terms) for candidate in rule.candidates)
            reason = f"{REFUSED}: it is given for a longer period alone" if given else _OWN_TAG
        return Absence(refused, reason)
    parts: dict[str, float] = {}
    for tag in item.parts:
        part = one_tag(place, tag, TagCriteria(item.additive))
        if not isinstance(part, Amount):
            refused = part or refused
        elif part.value:
            parts[tag] = part.value
    chosen = _weigh(place, item, rule, options, parts)
    return chosen if isinstance(chosen, Amount) else Absence(refused, chosen, max(parts.values(), default=-math.inf))


_OWN_TAG = f"{OWN_TAG}: no tag of a taxonomy gives it"


def _implausible(place: Place, count: Amount) -> str | None:
    tag = count.tags[0].rpartition(":")[0]
    day = cover_day(place.known, tag, place.end) if tag.startswith("dei:") else place.end
    return None if day is None else doubt(place.known.facts, tag, day, place.end, count.value)


def formula(place: Place, item: Item, absence: Absence) -> Outcome:
    """Return an item that no tag gives, from other items; no amount too where it must agree and does not."""
    refused, reason, least = absence
    if place.is_computed(item) and not (reason or "").startswith(CONFLICT):
        made = [
            amount
            for expression in item.formulas
            if (amount := _from_items(place, expression)) is not None
            and not (item.positive and amount.value <= 0)
            and _reaches(amount.value, least)
        ]
        proof = next(filter(None, _proofs(place, item)), None) if made and item.agrees else None
        for amount in made:
            if proof is None or _bears_out(proof, amount.value):
                return amount
        if made and proof is not None:
            reason = f"{CONFLICT}: {spelled(made[0].value)} where the other lines give {spelled(proof[0].value)}"
    return refused or reason


def _from_items(place: Place, expression: Expression) -> Amount | None:
    """Return a sum of other items; None where one that is not optional is not there."""
    there = [(term, amount) for term in expression if (amount := place.items.get(term.name)) is not None]
    if not there or any(not term.optional and term.name not in place.items for term in expression):
        return None
    if len(there) == 1 and there[0][0].sign > 0:
        return there[0][1]
    start = None if place.span is None else place.span.start
    return total([amount for _, amount in there], "formula", start, place.end, [term.sign for term, _ in there])


def _weigh(place: Place, item: Item, rule: ItemRule, options: list[_Option], parts: Mapping[str, float]) -> Outcome:
    has_options = bool(options)
    if parts:
        least = max(parts.values())
        options = [option for option in options if option.candidate.own or _reaches(option.amount.value, least)]
    floor = _floor(place, item) if options else None
    if floor is not None:
        above = [option for option in options if option.amount.value >= floor]
        if not above:
            lowest = spelled(options[0].amount.value)
            return f"{CONFLICT}: {lowest} where other lines come to {spelled(floor)} at least"
        options = above
    if not options:
        if parts and (has_options or place.is_computed(item)):
            return f"{ONLY_PART}: {', '.join(parts)}"
        return _OWN_TAG if item.expected else None
    if len(options) == 1 and options[0].whole and not (options[0].candidate.proven or item.agrees or item.notes):
        return options[0].amount
    proofs = [proof for proof in _proofs(place, item) if proof]
    if item.agrees:
        proofs = proofs[:1]
    scores = [sum(_is_proof(proof, option) for proof in proofs) for option in options]
    best = max(scores)
    if best:
        # What is added up from the very lines that prove it proves nothing: it counts where there is nothing else.
        proving = rule.made_of_proof
        given = [option for option in options if proving and not _tags(option.amount) <= proving]
        if given and len(given) < len(options):
            return _weigh(place, item, rule, given, parts)
        return options[scores.index(best)].amount
    sure = [option for option in options if not option.candidate.proven]
    if proofs and (item.agrees or (not sure and parts)):
        return (
            f"{CONFLICT}: {spelled(options[0].amount.value)} where the other lines give {spelled(proofs[0][0].value)}"
        )
    if own_amounts := [option.amount for option in sure if option.candidate.own]:
        return own_amounts[0]
    has_parts = bool(sure) and any(abs(value) > _TRIFLE * abs(sure[0].amount.value) for value in parts.values())
    whole = [option for option in sure if option.whole or not has_parts]
    amounts = [option.amount for option in whole]
    if not amounts:
        slices = _all_tags(option.amount for option in sure) or parts.keys()
        return f"{ONLY_PART}: {', '.join(sorted(slices))}" if slices else None
    if item.undisputed:
        least = _TRIFLE * max(abs(amount.value) for amount in amounts)
        material = [amount for amount in amounts if abs(amount.value) > least]
        # Several lines of business, and none of them a total.
        if len(material) > 1 and all(_tags(amount) <= item.lines for amount in amounts):
            return f"{ONLY_PART}: {', '.join(sorted(_all_tags(amounts)))}"
        return _undisputed(place, item, amounts)
    largest = whole[0]
    for option in whole[1:] if item.largest else ():
        # The first that is no slice stands unless another dwarfs it; of slices the largest.
        if option.amount.value > (DWARFS if largest.whole else 1.0) * largest.amount.value > 0:
            largest = option
    return largest.amount


def _undisputed(place: Place, item: Item, amounts: list[Amount]) -> Outcome:
    """Return the first amount unless another is larger: then one of the two is a part, and size does not tell which."""
    every = [*amounts]
    for tag in item.notes:
        note = one_tag(place, tag, TagCriteria(additive=False))
        every += [note] if isinstance(note, Amount) else []
    coarse = _coarse(every, place.items.get(NET_INCOME)) if item.notes else []
    first = next((amount for amount in amounts if amount not in coarse), amounts[0])
    rival = next((each for each in every if _disputes(item, each, first, is_note=each in coarse)), None)
    if rival is None:
        return first
    usual = _usual(place, item)
    for amount in amounts:
        if _tags(amount) == usual:
            return amount
    both = " beside ".join(
        f"{spelled(amount.value)} of {' + '.join(sorted(_tags(amount)))}" for amount in (first, rival)
    )
    return f"{CONFLICT}: {both}, and no other line tells which is the total"


def _usual(place: Place, item: Item) -> frozenset[str]:
    """Return the one tag that can be the item in the last fiscal year, one that ends on this day too; none where several can."""
    years: dict[int, dict[str, float]] = {}
    singles = [candidate[0].name for candidate in item.candidates if len(candidate) == 1]
    for tag in (*singles, *item.notes):
        for last, facts in place.known.facts.tags.get(tag, {}).items():
            if place.end - _YEAR_AND_QUARTERS < last <= place.end:
                for start, fact in facts.items():
                    if letter(start, last) == "A":
                        years.setdefault(last, {})[tag] = fact.latest.value
    if not years:
        return frozenset()
    values = years[max(years)]
    least = (1 - _NOTES) * sum(value for tag, value in values.items() if tag in item.notes)
    totals = [tag for tag, value in values.items() if tag not in item.notes and value >= least]
    return frozenset(totals) if len(totals) == 1 else frozenset()


def _floor(place: Place, item: Item) -> float | None:
    """Return what an item cannot be less than by the filer's other lines; None where they do not tell."""
    lowest = [0.0]
    for sum_ in item.at_least:
        values = [_may_be(place, term) for term in sum_]
        if all(values):
            lowest.append(sum(min(value) for value in values))
    return max(lowest) * _FLOOR if max(lowest) > 0 else None


def _proofs(place: Place, item: Item) -> Iterator[list[_Proof]]:
    """Yield for each identity of an item what it must be; nothing where a term of the identity has no value."""
    places = place.known.mapping.places
    for proof in item.proofs:
        terms: list[list[float]] = []
        for term in proof:
            if places[term.name] < places[item.key]:
                amount = place.items.get(term.name)
                values = [] if amount is None else [amount.value]
            else:
                values = _may_be(place, term)
            if not values and not term.optional:
                break
            terms.append([term.sign * value for value in values or [0.0]])
        else:
            yield [_Proof(sum(values), rounding(values)) for values in product(*terms)]


def _may_be(place: Place, term: Term) -> list[float]:
    """All that an item may be that is read later."""
    rule = place.known.mapping.rules[term.name]
    values: list[float] = []
    for candidate in rule.candidates:
        is_given = place.is_given(candidate.terms)
        amount = sum_of_tags(place, candidate.terms, TagCriteria(additive=True)) if is_given else None
        if not isinstance(amount, Amount) or amount.value in values:
            continue
        if term.optional and not values and candidate.proven:
            values.append(0.0)  # what counts only with proof may be another line, and this one not there
        values.append(amount.value)
    return values


def _reaches(value: float, least: float) -> bool:
    return value >= least - rounding([least, value])


def _bears_out(proof: Iterable[_Proof], value: float) -> bool:
    return any(abs(way.value - value) <= way.allowed + rounding([value]) for way in proof)


def _is_proof(proof: list[_Proof], option: _Option) -> bool:
    """Return whether an identity holds with an option; where that counts only with proof, only if it does not hold without it too."""
    return _bears_out(proof, option.amount.value) and not (option.candidate.proven and _bears_out(proof, 0.0))


def _coarse(amounts: list[Amount], income: Amount | None) -> list[Amount]:
    """Return amounts that are rounded far more coarsely than the statement: they are from the text of a note."""
    values = [amount.value for amount in amounts] + ([] if income is None else [income.value])
    finest = min((unit for value in values if (unit := granularity(value))), default=0.0)
    return [amount for amount in amounts if granularity(amount.value) >= _COARSER * finest > 0]


def _disputes(item: Item, rival: Amount, first: Amount, *, is_note: bool) -> bool:
    """Return whether another candidate says that the first one is not the total."""
    tags = _tags(rival)
    if tags > _tags(first):
        return False  # the first and a line beside it, as excise taxes
    allowed = min(rounding([rival.value, first.value]), _ROUNDED * first.value)
    if item.notes and (is_note or not tags <= {*item.notes} or len(tags) > 1):
        allowed = max(allowed, _NOTES * first.value)
    if tags <= item.lines and not _tags(first) <= item.lines:
        allowed = max(allowed, (DWARFS - 1) * first.value)
    return first.value > 0 and rival.value - first.value > allowed


def _tags(amount: Amount) -> frozenset[str]:
    return frozenset(name.rpartition(":")[0] for name in amount.tags)


def _all_tags(amounts: Iterable[Amount]) -> Collection[str]:
    return {tag for amount in amounts for tag in _tags(amount)}
