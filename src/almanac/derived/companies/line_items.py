"""
The line items of a company at one moment: every item of every own period, computed plainly from the facts that are known.

Reporting basis → fiscal calendar → tags → selection → quarters → items: `period_items` is the one way to a period's items,
for a derivation that goes from moment to moment and for `as_known`, which looks at one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from almanac.derived.companies.company_history import CompanyHistory
from almanac.derived.companies.facts import CompanyInput, KnownFacts, letter
from almanac.derived.companies.financials import Amount, CompanyFinancials
from almanac.derived.companies.fiscal_calendar import FiscalPeriods
from almanac.derived.companies.reading.item_reader import item_of, remark, year_of_quarters
from almanac.derived.companies.reading.quarters import Known
from almanac.derived.companies.reading.tag_selector import Place
from almanac.derived.companies.reporting_basis import basis_of

#: Letters of the kinds of period; balances are instants. A year to date is on no statement: it is for twelve months.
QUARTER, YEAR, HALF, INSTANT, TO_DATE = "Q", "A", "S", "I", "T"
#: In the order in which they are computed: a year that no filing gives is made of its quarters.
KINDS = (INSTANT, QUARTER, HALF, YEAR, TO_DATE)
#: Kinds of statements.
INCOME, BALANCE, CASH_FLOW = "income", "balance", "cash_flow"
#: More than any fiscal year has.
_YEAR_DAYS = 400

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
                year = year_of_quarters(self.fiscal_periods, item, span, lambda last: self.of(QUARTER, last).amounts)
                made = year or made
            said = remark(known[basis], item, made) if isinstance(made, Amount) else made
            if isinstance(made, Amount):
                amounts[item.key] = made._replace(reporting_basis=basis) if basis else made
            if said is not None:
                remarks[item.key] = said
        return PeriodItems(basis, amounts, remarks)

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
