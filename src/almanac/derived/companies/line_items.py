"""
The line items of a company as they stand: every item of every own period, computed from the facts that are known.

`as_known` computes all of them for one moment, plainly. A derivation keeps them and computes only what changed.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable

from almanac.catalog.companies import items as catalogue_items
from almanac.derived.companies.facts import CompanyInput, Disclosure, KnownFacts, disclosures
from almanac.derived.companies.financials import Amount, CompanyFinancials
from almanac.derived.companies.fiscal_calendar import FiscalCalendar, FiscalPeriods, Span
from almanac.derived.companies.item_reader import ItemReader, Values
from almanac.derived.companies.tag_mapping import TagMapping, mapping_for

#: Letters of the kinds of period; balances are instants.
QUARTER, YEAR, HALF, INSTANT = "Q", "A", "S", "I"
#: Kinds of statements.
INCOME, BALANCE, CASH_FLOW = "income", "balance", "cash_flow"
#: More than any fiscal year has.
_YEAR_DAYS = 400


@functools.lru_cache(maxsize=8)
def mapping_of(template: str) -> TagMapping:
    """The catalogue's items for a template, in order."""
    return mapping_for(catalogue_items(), template)


class LineItems:
    """Amounts of all own periods, by kind of period, item and last day."""

    def __init__(self, company: CompanyInput, disclosures: Iterable[Disclosure]) -> None:
        self.company = company
        self.mapping = mapping_of(company.template)
        self.known_facts = KnownFacts(self.mapping.signs)
        listed = list(disclosures)
        self.calendar = FiscalCalendar(company, listed, self.mapping.core)
        covers = sorted(
            {disclosure.end for disclosure in listed if disclosure.tag.startswith("dei:") and disclosure.start is None}
        )
        self.fiscal_periods = FiscalPeriods({}, {}, {})
        self.reader = ItemReader(self.known_facts, self.fiscal_periods, self.mapping, covers, self.calendar.own_end)
        self.values: dict[str, Values] = {
            kind: {item.key: {} for item in self.mapping.order} for kind in (QUARTER, YEAR, HALF, INSTANT)
        }
        #: Why an item is absent, or that a filing gave it with the other sign; kind, item, last day.
        self.remarks: dict[str, dict[str, dict[int, str]]] = {kind: defaultdict(dict) for kind in self.values}
        self.items = {item.key: item for item in self.mapping.order}
        flows = tuple(item.key for item in self.mapping.order if not item.is_instant)
        instants = tuple(item.key for item in self.mapping.order if item.is_instant)
        self._keys = {QUARTER: flows, YEAR: flows, HALF: flows, INSTANT: instants}
        #: Keys in the order in which statements list them.
        self.items_in_order = [key for key in catalogue_items() if key in self.items]

    def use_calendar(self, fiscal_periods: FiscalPeriods) -> None:
        """Go on with another calendar."""
        self.fiscal_periods = fiscal_periods
        self.reader.use_calendar(fiscal_periods)

    def span(self, kind: str, end: int) -> Span | None:
        """The own period of that kind with that last day."""
        spans = (
            self.fiscal_periods.quarters
            if kind == QUARTER
            else self.fiscal_periods.years
            if kind == YEAR
            else self.fiscal_periods.halves
        )
        return spans.get(end)

    def compute(self, kind: str, end: int, key: str) -> bool:
        """Compute one item of one period anew; whether it, or what is to remark on it, came out different."""
        values = self.values[kind]
        item = self.items[key]
        if kind == INSTANT:
            made = self.reader.balance(item, end, values) if end in self.ends else None
        else:
            span = self.span(kind, end)
            made = None if span is None else self.reader.flow(item, kind, span, values)
            if made is None and span is not None and kind == YEAR:
                made = self.reader.year_of_quarters(item, span, self.values[QUARTER][key])
        remark = self.reader.refused if made is None else self.reader.turned(made)
        remarks = self.remarks[kind][key]
        if remarks.get(end) != remark:
            if remark is None:
                del remarks[end]
            else:
                remarks[end] = remark
        elif made == values[key].get(end):
            return False
        if made is None:
            values[key].pop(end, None)
        else:
            values[key][end] = made
        return True

    @property
    def ends(self) -> set[int]:
        """Every own period end."""
        return self.fiscal_periods.ends

    def keys(self, kind: str) -> tuple[str, ...]:
        """Items that a kind of period has, in the order in which they are computed."""
        return self._keys[kind]

    def financials(self) -> CompanyFinancials:
        """What stands, for measures and readers. It shares the dictionaries: look, do not keep."""
        return CompanyFinancials(
            {key: of for key, of in self.values[QUARTER].items() if not self.items[key].is_instant},
            {key: of for key, of in self.values[YEAR].items() if not self.items[key].is_instant},
            {key: of for key, of in self.values[HALF].items() if not self.items[key].is_instant},
            {key: of for key, of in self.values[INSTANT].items() if self.items[key].is_instant},
            tuple(sorted(self.fiscal_periods.years)),
            tuple(sorted(self.fiscal_periods.quarters)),
            self.company.template,
            self.company.currency,
        )


def line_items_at(company: CompanyInput, moment: int, ends: range | None = None) -> LineItems:
    """
    All line items as known at a moment, each computed once, from the facts known by then.

    `ends`: only periods that end on one of these days (ordinals), and the quarters of years that do.
    """
    told = disclosures(company.facts)
    line_items = LineItems(company, told)
    for disclosure in told:
        if disclosure.known > moment:
            break
        line_items.known_facts.learn(disclosure, company.facts)
    line_items.use_calendar(line_items.calendar.at(moment))
    fiscal_periods = line_items.fiscal_periods
    # A year that no filing gives is made of its quarters.
    quarters = None if ends is None else range(ends.start - _YEAR_DAYS, ends.stop)
    for kind, every, among in (
        (INSTANT, fiscal_periods.ends, ends),
        (QUARTER, fiscal_periods.quarters, quarters),
        (HALF, fiscal_periods.halves, ends),
        (YEAR, fiscal_periods.years, ends),
    ):
        keys = line_items.keys(kind)
        for end in sorted(every if among is None else (one for one in every if one in among)):
            for key in keys:
                line_items.compute(kind, end, key)
    return line_items


def as_known(company: CompanyInput, moment: int, ends: range | None = None) -> CompanyFinancials:
    """
    The financials as of a moment, computed from nothing but what was known by then: the plain way, which the derivation must
    equal at every instant. Items without any amount are left out. `ends`: as in `line_items_at`.
    """
    financials = line_items_at(company, moment, ends).financials()
    return financials._replace(
        quarters=_filled(financials.quarters),
        years=_filled(financials.years),
        halves=_filled(financials.halves),
        balances=_filled(financials.balances),
    )


def _filled(values: dict[str, dict[int, Amount]]) -> dict[str, dict[int, Amount]]:
    return {key: amounts for key, amounts in values.items() if amounts}
