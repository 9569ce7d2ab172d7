"""
The items of a company's own periods: which of an item's candidates has a value for a period, and what follows from it.

What is read from tags is chosen in `tag_selector`. Per-share amounts and average shares do not add up, so their missing quarters
come from days and from income. What needs other items reads them from what is computed already, so items are computed
in the order of `TagMapping.order`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from almanac.catalog.companies import Expression, Item
from almanac.derived.companies.company_history import CompanyHistory
from almanac.derived.companies.facts import FactVintage, KnownFacts, letter
from almanac.derived.companies.financials import Amount
from almanac.derived.companies.fiscal_calendar import FiscalPeriods, Span
from almanac.derived.companies.precision import spelled
from almanac.derived.companies.reading.quarters import (
    BEFORE_RECAST,
    MOST,
    REFUSED,
    as_amount,
    together,
    total,
)
from almanac.derived.companies.reading.share_counts import INCOMES
from almanac.derived.companies.reading.tag_mapping import BESIDE
from almanac.derived.companies.reading.tag_selector import TagSelector, Values
from almanac.derived.companies.reading.tag_sums import TagSums
from almanac.domain.numbers import significant

#: An average of one quarter beyond these multiples of the average it is taken from was split in between, or misread.
_LEAST, _MOST = 1 / MOST, MOST
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


class ItemReader:
    """Items of own periods from the known facts of one reporting basis on a calendar."""

    def __init__(self, known_facts: KnownFacts, fiscal_periods: FiscalPeriods, history: CompanyHistory) -> None:
        self.known_facts = known_facts
        self.mapping = history.mapping
        self.sums = TagSums(known_facts, fiscal_periods, history)
        #: Own periods of single tags.
        self.quarters = self.sums.quarters
        self.selector = TagSelector(self.sums, history.mapping)
        self.fiscal_periods = fiscal_periods

    @property
    def refused(self) -> str | None:
        """Why the item read last is absent although parts or longer periods of it are there; None where they are not."""
        return self.quarters.refused or self.selector.reason

    def remark(self, item: Item, amount: Amount) -> str | None:
        """Return a remark where filings gave what an amount came from with the other sign, or anew without its sheet; else None."""
        for name in amount.tags:
            tag, _, kind = name.rpartition(":")
            for start, fact in self.known_facts.tags.get(tag, {}).get(amount.end, {}).items():
                if len(fact.states) == 1 or letter(start, amount.end) != kind:
                    continue
                if fact.misread:
                    return f"{tag} was filed with the other sign"
                lone = self.sums.restated.beside_the_sheet(tag, fact, amount.end) if item.kind == "instant" else None
                if lone is not None and amount.method != "formula":
                    return f"{LONE}: {tag} {spelled(lone.value)} in {lone.accession}"
        return None

    # -- instants ---------------------------------------------------------------------------------------------------

    def balance(self, item: Item, end: int, held: Values) -> Amount | None:
        """Return an item at the end of an own period; `held` are the other balances of that day."""
        self.quarters.refused = None
        return self.selector.choose(item, "", end, None, held) or self.selector.formula(item, "", end, None, held)

    # -- periods ----------------------------------------------------------------------------------------------------

    def flow(self, item: Item, kind: str, span: Span, held: Values) -> Amount | None:
        """Return an item over an own period (`kind` Q, S or A); `held` are its other items."""
        self.quarters.refused = None
        found = self.selector.choose(item, kind, span.end, span, held)
        if found is not None:
            return self._recast(item, kind, span, found) if item.proofs else found
        if not item.additive:
            return None if kind == "A" else self._unadded(item, kind, span, held)
        if kind != "A":
            found = self._across(item, kind, span)
            if found is not None:
                self.selector.reason = None
                return found
        return self.selector.formula(item, kind, span.end, span, held)

    def _recast(self, item: Item, kind: str, span: Span, found: Amount) -> Amount:
        """Return the item in the tag of the report that recast the period, or the longer one of a difference."""
        tags = tuple(name.rpartition(":")[0] for name in found.tags)
        if found.method is None:
            anew = self.sums.restated.successor(item, kind, span, tags)
            return found if anew is None else as_amount(anew[0], kind, anew[1], span.start, span.end)
        for tag in dict.fromkeys(tags):
            longer = self.quarters.longer(tag, span)
            name = letter(longer[0], span.end) if longer else None
            if longer is None or name is None:
                continue
            anew = self.sums.restated.successor(item, name, span._replace(start=longer[0]), tags)
            if anew is not None:
                # What was given before the part left is more, not a total of which this is a slice.
                criteria = self.mapping.reading.criteria[item.key]._replace(dominance=math.inf)
                return self.quarters.period(anew[0], kind, span, criteria) or found
        return found

    def year_of_quarters(
        self, item: Item, span: Span, quarters: Callable[[int], Mapping[str, Amount]]
    ) -> Amount | None:
        """Return a year that no filing gives: the sum of its own quarters, whatever tags these came from."""
        if not item.additive:
            return None
        filling = self.fiscal_periods.quarters_within(span.start, span.end)
        amounts = [amount for quarter in filling if (amount := quarters(quarter.end).get(item.key)) is not None]
        if not filling or len(amounts) < len(filling):
            return None
        return total(amounts, "sum_of_quarters", span.start, span.end)

    def _across(self, item: Item, kind: str, span: Span) -> Amount | None:
        """Return a difference of two tags of the item that agreed wherever both had a value shortly before."""
        if span.previous is None:
            return None
        singles = [c[0].name for c in self._candidates(item) if len(c) == 1]
        singles += item.parts  # of one that never stands for the whole the whole's own values tell that it is it here
        for longer in singles:
            by_start = self.known_facts.tags.get(longer, {}).get(span.end)
            if not by_start:
                continue
            for shorter in singles:
                if shorter == longer:
                    continue
                before = self.known_facts.tags.get(shorter, {}).get(span.previous)
                if not before:
                    continue
                for start in sorted(s for s in by_start if s is not None and s in before and s < span.start):
                    if not self._agreed(longer, shorter, span.end):
                        break
                    for operands in together(by_start[start], before[start]):
                        a, b = operands.whole.state, operands.part.state
                        if item.never_negative and a.value < b.value:
                            continue
                        return total(
                            [
                                _operand(longer, a, start, span.end, span),
                                _operand(shorter, b, start, span.previous, span),
                            ],
                            "ytd_difference" + ("" if operands.newest else BEFORE_RECAST),
                            span.start,
                            span.end,
                            [1, -1],
                        )
        return None

    def _agreed(self, one: str, other: str, end: int) -> bool:
        """Whether two tags had one value at some time for each earlier period that has both, within the days of proof."""
        mine, theirs = self.known_facts.tags.get(one, {}), self.known_facts.tags.get(other, {})
        pairs = [
            (fact.bases, theirs[day][start].bases)
            for day, by_start in mine.items()
            if end - PROOF_DAYS < day < end and day in theirs
            for start, fact in by_start.items()
            if start in theirs[day]
        ]
        return bool(pairs) and all(
            any(abs(a.state.value - b.state.value) <= _SAME * abs(b.state.value) for a in ours for b in others)
            for ours, others in pairs
        )

    # -- what does not add up ---------------------------------------------------------------------------------------

    def _unadded(self, item: Item, kind: str, span: Span, held: Values) -> Amount | None:
        """Compute what does not add up from other items; set the reason where longer periods are filed and it cannot be."""
        if item.kind == "average":
            return self._day_weighted(item, span, held)
        income_key, shares_key = BESIDE[item.key]
        income = held.get(income_key)
        shares = held.get(shares_key)
        if income is None or shares is None or shares.value <= 0:
            if income is not None and any(self._is_filed(candidate, span.end) for candidate in self._candidates(item)):
                self.quarters.refused = (
                    f"{REFUSED}: no average number of shares of this period follows from longer ones"
                )
            return None
        if is_of_partners(shares, income):
            self.quarters.refused = f"{REFUSED}: the part of income that is the limited partners' is not given"
            return None
        value = significant(income.value / shares.value)
        if self._far(item, span, value):
            return None
        made = total([income, shares], "approximate_income_over_shares", span.start, span.end)
        return made._replace(value=value)

    def _candidates(self, item: Item) -> tuple[Expression, ...]:
        return self.mapping.reading.candidates[item.key]

    def _is_filed(self, candidate: Expression, end: int) -> bool:
        return any(self.known_facts.given(term.name, end) for term in candidate)

    def _far(self, item: Item, span: Span, value: float) -> bool:
        """
        Whether earnings per share are of another size than those stated for a longer period that ends with this one.

        Then the average shares were filed in thousands or millions, as some filers do, and nothing follows from them.
        """
        return any(
            start is not None and start < span.start and abs(value) > _FAR * abs(fact.latest.value) > 0
            for candidate in self._candidates(item)
            for term in candidate
            for start, fact in self.known_facts.tags.get(term.name, {}).get(span.end, {}).items()
        )

    def _day_weighted(self, item: Item, span: Span, held: Values) -> Amount | None:
        """Average shares of a quarter from the averages of two longer periods, each weighted by its days."""
        income = held.get("net_income_to_common")
        diluted = item.key == "weighted_average_shares_diluted"
        if diluted and income is not None and income.value < 0:
            basic = held.get("weighted_average_shares_basic")
            if basic is not None:
                return basic  # a loss dilutes nothing
        for candidate in self._candidates(item):
            if len(candidate) != 1:
                continue
            tag = candidate[0].name
            longer = self.quarters.longer(tag, span)
            if longer is None:
                continue
            start, whole, part = longer
            if diluted and (reason := self._uncounted_dilution(item, tag, start, span)) is not None:
                self.quarters.refused = reason
                continue
            operands = together(whole, part)[0]
            a, b = operands.whole.state, operands.part.state
            days, before, own = span.end - start + 1, span.start - start, span.end - span.start + 1
            value = (a.value * days - b.value * before) / own
            if not _LEAST * b.value <= value <= _MOST * b.value:
                continue
            made = total(
                [_operand(tag, a, start, span.end, span), _operand(tag, b, start, span.start - 1, span)],
                "day_weighted" + ("" if operands.newest else BEFORE_RECAST),
                span.start,
                span.end,
            )
            return made._replace(value=float(round(value)))
        return None

    def _uncounted_dilution(self, item: Item, tag: str, start: int, span: Span) -> str | None:
        """
        Say why no diluted average of a part with income follows: of the two longer periods one with a loss counts no dilution.

        Nothing dilutes the shares of a filer that has had income lately and has counted no dilution for it.
        """
        assert span.previous is not None
        dilution = dict(self._dilution(item, tag, span))
        uncounted = [
            period
            for period in ((start, span.end), (start, span.previous))
            if dilution.get(period, 0.0) == 0 and (period in dilution or self._income(*period) < 0)
        ]
        if not uncounted:
            return None
        if not any(dilution.values()) and (
            any(self._income(*period) > 0 for period in dilution)
            or not any(self._income(*period) < 0 for period in uncounted)
        ):
            return None
        word = "year" if letter(start, uncounted[0][1]) == "A" else "year to date"
        return f"{REFUSED}: {tag}: the {word} counts no dilution"

    def _dilution(self, item: Item, tag: str, span: Span) -> Iterator[tuple[tuple[int, int], float]]:
        """Yield the shares that dilute, for each period of some years that has a diluted and a basic average."""
        for basic in self.mapping.reading.criteria[item.key].shares:
            for last, facts in self.known_facts.tags.get(basic, {}).items() if basic != tag else ():
                if span.end - PROOF_DAYS < last <= span.end:
                    for first, fact in facts.items():
                        diluted = self.known_facts.fact(tag, first, last)
                        if first is not None and diluted is not None:
                            yield (first, last), diluted.latest.value - fact.latest.value

    def _income(self, start: int, end: int) -> float:
        """Return the income of a period, 0 where it is not filed."""
        incomes = (self.known_facts.fact(tag, start, end) for tag in INCOMES)
        return next((income.latest.value for income in incomes if income is not None), 0.0)


def is_of_partners(per_unit: Amount, income: Amount) -> bool:
    """Tell whether an amount is per limited partner's unit, or a number of them, and income is also the general partner's."""
    units = any(_UNITS in tag for tag in per_unit.tags)
    return units and not any(_TO_PARTNERS in tag for tag in income.tags)


def _operand(tag: str, state: FactVintage, start: int, end: int, span: Span) -> Amount:
    """One operand of a difference of two tags, or of a weighted average."""
    return as_amount(tag, letter(start, end) or "A", state, span.start, span.end)
