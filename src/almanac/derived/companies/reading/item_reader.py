"""
The items of a company's own periods: which of an item's candidates has a value for a period, and what follows from it.

What is read from tags is chosen in `tag_selector`. Per-share amounts and average shares do not add up, so their missing quarters
come from days and from income. What needs other items reads them from what is computed already, so items are computed
in the order of `TagMapping.order`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from almanac.catalog.companies import Item
from almanac.derived.companies.facts import letter
from almanac.derived.companies.financials import Amount
from almanac.derived.companies.fiscal_calendar import FiscalPeriods, Span
from almanac.derived.companies.precision import spelled
from almanac.derived.companies.reading.quarters import (
    BEFORE_RECAST,
    MOST,
    REFUSED,
    Known,
    Outcome,
    as_amount,
    beside_the_sheet,
    difference,
    longer,
    own_period,
    shown_anew,
    together,
    total,
)
from almanac.derived.companies.reading.share_counts import INCOMES
from almanac.derived.companies.reading.tag_mapping import BESIDE
from almanac.derived.companies.reading.tag_selector import Place, choose, formula
from almanac.domain.numbers import significant

#: Parts of a total within this of each other are of one line.
_SAME = 0.001
#: Times the earnings per share of a longer period, beyond which those of its last quarter are of another scale.
_FAR = 100
#: What tags of partnerships have in their names: of amounts per unit and averages of units; of income that is the limited partners'.
_UNITS, _TO_PARTNERS = "LimitedPartnershipUnit", "ToLimitedPartners"
#: Code with which a remark begins on a line of a sheet that a later report gives otherwise, without its sheet.
LONE = "another_basis"
#: Days before a period within which two tags must have agreed to stand for each other in one difference.
PROOF_DAYS = 800


def item_of(place: Place, item: Item) -> Outcome:
    """Return an item of a period whose items before it in the order of the mapping have been read."""
    known, kind, _, span, _ = place
    chosen = choose(place, item)
    if isinstance(chosen, Amount):
        return chosen if span is None or not item.proofs else _recast(known, item, kind, span, chosen)
    if span is not None and not item.additive:
        made = None if kind == "A" else _not_additive(place, item, span)
        return made or chosen.refused or chosen.reason
    if span is not None and kind != "A":
        across = _across_tags(known, item, span)
        if across is not None:
            return across
    return formula(place, item, chosen)


def remark(known: Known, item: Item, amount: Amount) -> str | None:
    """Return a remark where filings gave what an amount came from with the other sign, or anew without its sheet; else None."""
    for name in amount.tags:
        tag, _, kind = name.rpartition(":")
        for start, fact in known.facts.ending(tag, amount.end).items():
            if len(fact.states) == 1 or letter(start, amount.end) != kind:
                continue
            if fact.states[-1].value * fact.latest.value < 0:
                return f"{tag} was filed with the other sign"
            lone = beside_the_sheet(known, tag, fact, amount.end) if item.kind == "instant" else None
            if lone is not None and amount.method != "formula":
                return f"{LONE}: {tag} {spelled(lone.value)} in {lone.accession}"
    return None


def year_of_quarters(
    fiscal_periods: FiscalPeriods, item: Item, span: Span, quarters: Callable[[int], Mapping[str, Amount]]
) -> Amount | None:
    """Return a year that no filing gives: the sum of its own quarters, whatever tags these came from."""
    filling = fiscal_periods.quarters_within(span.start, span.end) if item.additive else []
    amounts = [amount for quarter in filling if (amount := quarters(quarter.end).get(item.key)) is not None]
    if not filling or len(amounts) < len(filling):
        return None
    return total(amounts, "sum_of_quarters", span.start, span.end)


def _recast(known: Known, item: Item, kind: str, span: Span, chosen: Amount) -> Amount:
    """Return the item in the tag of the report that recast the period, or the longer one of a difference."""
    tags = tuple(name.rpartition(":")[0] for name in chosen.tags)
    if chosen.method is None:
        anew = shown_anew(known, item, kind, span, tags)
        return chosen if anew is None else as_amount(anew[0], kind, anew[1], span.start, span.end)
    for tag in dict.fromkeys(tags):
        operands = longer(known, tag, span)
        name = letter(operands[0], span.end) if operands else None
        if operands is None or name is None:
            continue
        anew = shown_anew(known, item, name, span._replace(start=operands[0]), tags)
        if anew is not None:
            # What was given before the part left is more, not a total of which this is a slice.
            criteria = known.mapping.rules[item.key].criteria._replace(dominance=math.inf)
            made = own_period(known, anew[0], kind, span, criteria)
            return made if isinstance(made, Amount) else chosen
    return chosen


def _across_tags(known: Known, item: Item, span: Span) -> Amount | None:
    """Return a difference of two tags of the item that agreed wherever both had a value shortly before."""
    if span.previous is None:
        return None
    singles = [candidate[0].name for candidate in known.mapping.rules[item.key].candidates if len(candidate) == 1]
    singles += item.parts  # of one that never stands for the whole the whole's own values tell that it is it here
    for whole in singles:
        by_start = known.facts.ending(whole, span.end)
        for part in singles if by_start else ():
            before = known.facts.ending(part, span.previous) if part != whole else {}
            starts = sorted(s for s in by_start if s is not None and s in before and s < span.start)
            if not starts or not _agreed(known, whole, part, span.end):
                continue
            for start in starts:
                for operands in together(by_start[start], before[start]):
                    if not item.never_negative or operands.whole.state.value >= operands.part.state.value:
                        method = "ytd_difference" + ("" if operands.newest else BEFORE_RECAST)
                        return difference((whole, part), start, span, operands, method)
    return None


def _agreed(known: Known, one: str, other: str, end: int) -> bool:
    """Return whether two tags had one value at some time for each earlier period that has both, within the days of proof."""
    pairs = [
        (fact.bases, theirs.bases)
        for day, by_start in known.facts.tags.get(one, {}).items()
        if end - PROOF_DAYS < day < end
        for start, fact in by_start.items()
        if (theirs := known.facts.fact(other, start, day)) is not None
    ]
    return bool(pairs) and all(
        any(abs(a.state.value - b.state.value) <= _SAME * abs(b.state.value) for a in ours for b in theirs)
        for ours, theirs in pairs
    )


def _not_additive(place: Place, item: Item, span: Span) -> Outcome:
    """Compute what does not add up from other items; a reason where longer periods are filed and it cannot be."""
    if item.kind == "average":
        return _day_weighted(place, item, span)
    income, shares = (place.items.get(key) for key in BESIDE[item.key])
    facts, candidates = place.known.facts, place.known.mapping.rules[item.key].candidates
    if income is None:
        return None
    if shares is None or shares.value <= 0:
        if any(facts.given(term.name, span.end) for candidate in candidates for term in candidate):
            return f"{REFUSED}: no average number of shares of this period follows from longer ones"
        return None
    if is_of_partners(shares, income):
        return f"{REFUSED}: the part of income that is the limited partners' is not given"
    value = significant(income.value / shares.value)
    # Where they are of another size than those stated for a longer period that ends with this one, the average shares
    # were filed in thousands or millions, as some filers do, and nothing follows from them.
    if any(
        start is not None and start < span.start and abs(value) > _FAR * abs(fact.latest.value) > 0
        for candidate in candidates
        for term in candidate
        for start, fact in facts.ending(term.name, span.end).items()
    ):
        return None
    return total([income, shares], "approximate_income_over_shares", span.start, span.end)._replace(value=value)


def _day_weighted(place: Place, item: Item, span: Span) -> Outcome:
    """Average shares of a quarter from the averages of two longer periods, each weighted by its days."""
    income, basic = (place.items.get(key) for key in ("net_income_to_common", "weighted_average_shares_basic"))
    is_diluted = item.key == "weighted_average_shares_diluted"
    if is_diluted and income is not None and income.value < 0 and basic is not None:
        return basic  # a loss dilutes nothing
    refused: str | None = None
    for candidate in place.known.mapping.rules[item.key].candidates:
        tag = candidate[0].name
        periods = longer(place.known, tag, span) if len(candidate) == 1 else None
        if periods is None:
            continue
        start, whole, part = periods
        if is_diluted and (reason := _uncounted_dilution(place.known, item, tag, start, span)) is not None:
            refused = reason
            continue
        operands = together(whole, part)[0]
        a, b = operands.whole.state, operands.part.state
        value = (a.value * (span.end - start + 1) - b.value * (span.start - start)) / (span.end - span.start + 1)
        # An average beyond these multiples of the one it is taken from was split in between, or misread.
        if 1 / MOST * b.value <= value <= MOST * b.value:
            method = "day_weighted" + ("" if operands.newest else BEFORE_RECAST)
            return difference((tag, tag), start, span, operands, method)._replace(value=float(round(value)))
    return refused


def _uncounted_dilution(known: Known, item: Item, tag: str, start: int, span: Span) -> str | None:
    """
    Say why no diluted average of a part with income follows: of the two longer periods one with a loss counts no dilution.

    Nothing dilutes the shares of a filer that has had income lately and has counted no dilution for it.
    """
    assert span.previous is not None
    dilution = dict(_dilution(known, item, tag, span))
    uncounted = [
        period
        for period in ((start, span.end), (start, span.previous))
        if dilution.get(period, 0.0) == 0 and (period in dilution or _income(known, *period) < 0)
    ]
    if not uncounted:
        return None
    if not any(dilution.values()) and (
        any(_income(known, *period) > 0 for period in dilution)
        or not any(_income(known, *period) < 0 for period in uncounted)
    ):
        return None
    word = "year" if letter(start, uncounted[0][1]) == "A" else "year to date"
    return f"{REFUSED}: {tag}: the {word} counts no dilution"


def _dilution(known: Known, item: Item, tag: str, span: Span) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield the shares that dilute, for each period of some years that has a diluted and a basic average."""
    for basic in known.mapping.rules[item.key].criteria.shares:
        for last, facts in known.facts.tags.get(basic, {}).items() if basic != tag else ():
            for first, fact in facts.items() if span.end - PROOF_DAYS < last <= span.end else ():
                diluted = known.facts.fact(tag, first, last)
                if first is not None and diluted is not None:
                    yield (first, last), diluted.latest.value - fact.latest.value


def _income(known: Known, start: int, end: int) -> float:
    """Return the income of a period, 0 where it is not filed."""
    incomes = (known.facts.fact(tag, start, end) for tag in INCOMES)
    return next((income.latest.value for income in incomes if income is not None), 0.0)


def is_of_partners(per_unit: Amount, income: Amount) -> bool:
    """Tell whether an amount is per limited partner's unit, or a number of them, and income is also the general partner's."""
    units = any(_UNITS in tag for tag in per_unit.tags)
    return units and not any(_TO_PARTNERS in tag for tag in income.tags)
