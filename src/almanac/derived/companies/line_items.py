"""
The line items of a company at one moment: every item of every own period, computed plainly from the facts that are known.

Reporting basis → fiscal calendar → tags → selection → quarters → items: `period_items` is the one way to a period's items,
for a derivation that goes from moment to moment and for `as_known`, which looks at one.

What is read from tags is chosen in `tag_selector`. Per-share amounts and average shares do not add up, so their missing quarters
come from days and from income. What needs other items reads them from what is computed already, so items are computed in the
order of `TagMapping.order`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from almanac.catalog.companies import Item
from almanac.derived.companies.company_history import CompanyHistory, basis_of
from almanac.derived.companies.facts import CompanyInput, KnownFacts, letter
from almanac.derived.companies.financials import REFUSED, Amount, CompanyFinancials
from almanac.derived.companies.fiscal_calendar import FiscalPeriods, Span
from almanac.derived.companies.misstatements import INCOMES
from almanac.derived.companies.precision import spelled
from almanac.derived.companies.reading.quarters import (
    BEFORE_RECAST,
    MOST,
    Known,
    Outcome,
    Place,
    as_amount,
    beside_the_sheet,
    difference,
    longer,
    own_period,
    shown_anew,
    together,
    total,
)
from almanac.derived.companies.reading.tag_mapping import BESIDE
from almanac.derived.companies.reading.tag_selector import choose, formula
from almanac.domain.numbers import significant

#: Letters of the kinds of period; balances are instants. A year to date is on no statement: it is for twelve months.
QUARTER, YEAR, HALF, INSTANT, TO_DATE = "Q", "A", "S", "I", "T"
#: In the order in which they are computed: a year that no filing gives is made of its quarters.
KINDS = (INSTANT, QUARTER, HALF, YEAR, TO_DATE)
#: Kinds of statements.
INCOME, BALANCE, CASH_FLOW = "income", "balance", "cash_flow"
#: More than any fiscal year has.
_YEAR_DAYS = 400

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

#: A kind of period and its last day.
PeriodName = tuple[str, int]


class PeriodItems(NamedTuple):
    """The items of one own period, or of the balance sheet at its end, all of one reporting basis (by number)."""

    basis: int
    amounts: Mapping[str, Amount]
    #: Item → why it is absent, or how a filing gave it otherwise.
    remarks: Mapping[str, str]


NO_ITEMS = PeriodItems(0, {}, {})


class LineItems:
    """Knowledge of a company at a moment: facts by reporting basis, its fiscal calendar, and the items that follow."""

    def __init__(self, history: CompanyHistory) -> None:
        self.history = history
        self.facts = [KnownFacts(history.mapping.signs) for _ in history.bases]
        self.fiscal_periods = FiscalPeriods({}, {}, {}, {})
        self.periods: dict[PeriodName, PeriodItems] = {}

    def spans_of(self, kind: str) -> Iterable[int]:
        """Return the last days of the own periods of a kind."""
        return self.fiscal_periods.ends if kind == INSTANT else self.fiscal_periods.of(kind)

    def of(self, kind: str, end: int) -> PeriodItems:
        """Return the items of a period, none where there is no such period."""
        return self.periods.get((kind, end), NO_ITEMS)

    def compute(self, names: Iterable[PeriodName]) -> set[PeriodName]:
        """Compute the items of some periods anew. Returns the periods that came out different."""
        known = [Known(facts, self.fiscal_periods, self.history) for facts in self.facts]
        changed: set[PeriodName] = set()
        for name in sorted(names, key=lambda name: (KINDS.index(name[0]), name[1])):
            made = self._period_items(known, *name)
            if made != self.periods.get(name, NO_ITEMS):
                changed.add(name)
                self.periods[name] = made
        return changed

    def _period_items(self, known: list[Known], kind: str, end: int) -> PeriodItems:
        """Compute every item of one period; none where there is no such period."""
        span = None if kind == INSTANT else self.fiscal_periods.of(kind).get(end)
        length = letter(span.start, end) if span is not None and kind == TO_DATE else kind
        if length is None or (span is None if kind != INSTANT else end not in self.fiscal_periods.ends):
            return NO_ITEMS
        mapping = self.history.mapping
        basis = basis_of(self.facts, mapping.whole_sheet if kind == INSTANT else mapping.core, kind, end)
        amounts: dict[str, Amount] = {}
        remarks: dict[str, str] = {}
        place = Place(known[basis], "" if span is None else length, end, span, amounts)
        for item in mapping.order:
            if item.is_instant != (kind == INSTANT) or (kind == TO_DATE and not item.additive):
                continue
            made = item_of(place, item)
            if not isinstance(made, Amount) and span is not None and kind == YEAR:
                made = self._year_of_quarters(item, span) or made
            said = remark(known[basis], item, made) if isinstance(made, Amount) else made
            if isinstance(made, Amount):
                amounts[item.key] = made._replace(reporting_basis=basis) if basis else made
            if said is not None:
                remarks[item.key] = said
        return PeriodItems(basis, amounts, remarks)

    def _year_of_quarters(self, item: Item, span: Span) -> Amount | None:
        """Return a year that no filing gives: the sum of its own quarters, whatever tags these came from."""
        quarters = self.fiscal_periods.quarters_within(span.start, span.end) if item.additive else []
        amounts = [self.of(QUARTER, quarter.end).amounts.get(item.key) for quarter in quarters]
        parts = [amount for amount in amounts if amount is not None]
        if not parts or len(parts) < len(quarters):
            return None
        return total(parts, "sum_of_quarters", span.start, span.end)

    def financials(self, values: Mapping[str, dict[str, dict[int, Amount]]] | None = None) -> CompanyFinancials:
        """Return the amounts of all periods; or `values`, the same by kind of period, item and last day with their flags."""
        if values is None:
            values = {kind: defaultdict(dict) for kind in KINDS}
            for (kind, end), period in self.periods.items():
                for key, amount in period.amounts.items():
                    values[kind][key][end] = amount
        company = self.history.company
        return CompanyFinancials(
            values[QUARTER],
            values[YEAR],
            values[HALF],
            values[TO_DATE],
            values[INSTANT],
            tuple(sorted(self.fiscal_periods.years)),
            tuple(sorted(self.fiscal_periods.quarters)),
            company.template,
            company.currency,
            recasts={
                (basis, *name): since for basis, facts in enumerate(self.facts) for name, since in facts.recasts.items()
            },
        )


def line_items_at(company: CompanyInput, moment: int, ends: range | None = None) -> LineItems:
    """
    Return all line items as known at a moment, each computed once, from the facts known by then.

    `ends`: only periods that end on one of these days (ordinals), and the quarters of years that do.
    """
    history = CompanyHistory(company)
    line_items = LineItems(history)
    for disclosure in history.disclosures:
        if disclosure.known > moment:
            break
        line_items.facts[disclosure.reporting_basis].learn(disclosure)
    line_items.fiscal_periods = history.calendar.at(moment)
    # A year that no filing gives is made of its quarters.
    quarters = None if ends is None else range(ends.start - _YEAR_DAYS, ends.stop)
    line_items.compute(
        (kind, end)
        for kind in KINDS
        for end in line_items.spans_of(kind)
        if (among := quarters if kind == QUARTER else ends) is None or end in among
    )
    return line_items


def as_known(company: CompanyInput, moment: int, ends: range | None = None) -> CompanyFinancials:
    """
    Return the financials as of a moment, computed from nothing but what was known by then. Items without any amount are
    left out. `ends`: as in `line_items_at`.
    """
    return line_items_at(company, moment, ends).financials()


# -- one item of one period -----------------------------------------------------------------------------------------------


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
    sums = (candidate.terms for candidate in known.mapping.rules[item.key].candidates)
    singles = [terms[0].name for terms in sums if len(terms) == 1]
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
    facts, rule = place.known.facts, place.known.mapping.rules[item.key]
    tags = [term.name for candidate in rule.candidates for term in candidate.terms]
    if income is None:
        return None
    if shares is None or shares.value <= 0:
        if any(facts.given(tag, span.end) for tag in tags):
            return f"{REFUSED}: no average number of shares of this period follows from longer ones"
        return None
    if is_of_partners(shares, income):
        return f"{REFUSED}: the part of income that is the limited partners' is not given"
    value = significant(income.value / shares.value)
    # Where they are of another size than those stated for a longer period that ends with this one, the average shares
    # were filed in thousands or millions, as some filers do, and nothing follows from them.
    if any(
        start is not None and start < span.start and abs(value) > _FAR * abs(fact.latest.value) > 0
        for tag in tags
        for start, fact in facts.ending(tag, span.end).items()
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
        tag = candidate.terms[0].name
        periods = longer(place.known, tag, span) if len(candidate.terms) == 1 else None
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
