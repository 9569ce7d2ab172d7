"""What a sum of tags comes to over one own period, or at its end."""

from __future__ import annotations

from bisect import bisect_left

from almanac.catalog.companies import Expression
from almanac.derived.companies.company_history import CompanyHistory
from almanac.derived.companies.facts import KnownFacts
from almanac.derived.companies.financials import Amount
from almanac.derived.companies.fiscal_calendar import FiscalPeriods, Span
from almanac.derived.companies.reading.quarters import REFUSED, Quarters, TagCriteria, as_amount, stated_in, total
from almanac.derived.companies.reading.restated_presentation import RestatedPresentation
from almanac.derived.companies.reading.tag_mapping import COVER_DAYS

AS_STATED = TagCriteria(additive=False)
#: Part of a number within which another one may be the same line as a later filing restates it.
_NEARLY = 0.05


class TagSums:
    """Sums of tags from the known facts on a calendar."""

    def __init__(self, known_facts: KnownFacts, fiscal_periods: FiscalPeriods, history: CompanyHistory) -> None:
        self.known_facts = known_facts
        self.covers = history.covers
        self.own_end = history.calendar.own_end
        self.restated = RestatedPresentation(known_facts, history.mapping, history.calendar)
        self.quarters = Quarters(known_facts, fiscal_periods, self.own_end)

    def value(
        self, candidate: Expression, end: int, span: Span | None, kind: str, criteria: TagCriteria = AS_STATED
    ) -> Amount | None:
        """
        Return the sum over a period, at its end where there is no span; None where a part of it is not known.

        An optional part is left out only where nothing that ends on that day gives it: not where it is in a longer period.
        """
        if len(candidate) == 1:
            return self.tag(candidate[0].name, end, span, kind, criteria)
        # A part that may stand alone is what the item is; another may be less than nothing.
        alone = all(term.optional for term in candidate[1:])
        # Its other parts are no rivals of one: the smaller of two is not a slice of the larger.
        terms = {term.name for term in candidate}
        rivals = tuple(rival for rival in criteria.rivals if rival not in terms)
        parts = criteria._replace(rivals=rivals) if alone else TagCriteria(criteria.additive)
        amounts: list[Amount] = []
        signs: list[int] = []
        for term in candidate:
            amount = self.tag(term.name, end, span, kind, parts)
            if amount is None:
                if not term.optional:
                    return None
                if span is not None and term.sign > 0 and self.known_facts.given(term.name, end):
                    why = f"{REFUSED}: {term.name} is given for a longer period, and not for this one"
                    self.quarters.refused = self.quarters.refused or why
                    return None
                continue
            if (
                span is not None
                and term.optional
                and term.sign > 0
                and any(self._is_one_line(one, amount) for one in amounts)
            ):
                continue
            amounts.append(amount)
            signs.append(term.sign)
        if not amounts:
            return None
        if len(amounts) == 1 and signs[0] > 0:
            return amounts[0]
        method = next((amount.method for amount in amounts if amount.method), "sum_of_tags")
        return total(amounts, method, amounts[0].start, end, signs)

    def _is_one_line(self, one: Amount, other: Amount) -> bool:
        """Return whether two tags of a sum are one line said twice: the same number, or nearly so and in no filing beside each other."""
        if one.value == other.value != 0:
            return True
        if one.method or other.method or abs(one.value - other.value) > _NEARLY * abs(one.value):
            return False
        filings: list[set[str]] = []
        for amount in (one, other):
            tag, _, kind = amount.tags[0].rpartition(":")
            facts = self.known_facts.tags[tag][amount.end]
            fact = stated_in(facts, kind, amount.start or 0)
            filings.append(set() if fact is None else {state.accession for state in fact.states})
        return filings[0].isdisjoint(filings[1])

    def tag(self, tag: str, end: int, span: Span | None, kind: str, criteria: TagCriteria) -> Amount | None:
        """One tag over a period, or at its end."""
        if span is not None:
            return self.quarters.period(tag, kind, span, criteria)
        if tag.startswith("dei:"):
            return self._cover(tag, end)
        fact = self.known_facts.fact(tag, None, end)
        if fact is None:
            return None
        state = self.restated.on_the_sheet(tag, fact, end) if criteria.whole else fact.latest
        return None if state is None else as_amount(tag, "Q", state, None, end)

    def _cover(self, tag: str, end: int) -> Amount | None:
        day = self.cover_day(tag, end)
        return None if day is None else as_amount(tag, "Q", self.known_facts.tags[tag][day][None].latest, None, end)

    def cover_day(self, tag: str, end: int) -> int | None:
        """Return the day of the cover of the report about a period: dated after it, and not of a later report."""
        days = self.known_facts.tags.get(tag, {})
        for place in range(bisect_left(self.covers, end), len(self.covers)):
            day = self.covers[place]
            if day >= end + COVER_DAYS:
                return None
            fact = days.get(day, {}).get(None)
            if fact is None:
                continue
            if self.own_end.get(fact.states[0].accession, end) != end:
                continue
            return day
        return None
