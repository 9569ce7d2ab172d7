"""
The line items of a company as they stand: every item of every own period, computed from the facts that are known.

`as_known` computes all of them for one moment, plainly. A derivation keeps them and computes only what changed.
"""

from __future__ import annotations

import functools
from collections import defaultdict

from almanac.catalog.companies import items as catalogue_items
from almanac.catalog.companies import styles as catalogue_styles
from almanac.derived.companies.facts import CompanyInput, Disclosure, KnownFacts, letter
from almanac.derived.companies.financials import Amount, CompanyFinancials
from almanac.derived.companies.fiscal_calendar import FiscalCalendar, FiscalPeriods, Span
from almanac.derived.companies.quotations import without_quotations
from almanac.derived.companies.reading.choice import Values
from almanac.derived.companies.reading.item_reader import ItemReader
from almanac.derived.companies.reading.tag_mapping import TagMapping, mapping_for
from almanac.derived.companies.regimes import Regimes
from almanac.derived.companies.scales import slips, without_restated
from almanac.domain.observations import QUALITY

#: Letters of the kinds of period; balances are instants. A year to date is on no statement: it is for twelve months.
QUARTER, YEAR, HALF, INSTANT, TO_DATE = "Q", "A", "S", "I", "T"
#: Kinds of statements.
INCOME, BALANCE, CASH_FLOW = "income", "balance", "cash_flow"
#: More than any fiscal year has.
_YEAR_DAYS = 400


@functools.lru_cache(maxsize=8)
def mapping_of(template: str) -> TagMapping:
    """Return the catalogue's items for a template, in order."""
    return mapping_for(catalogue_items(), template, catalogue_styles())


class LineItems:
    """Amounts of all own periods, by kind of period, item and last day."""

    def __init__(self, company: CompanyInput) -> None:
        #: Filings in another scale, by accession.
        self.slips = slips(company)
        self.company = company = without_quotations(without_restated(company, self.slips))
        self.mapping = mapping_of(company.template)
        self.regimes = Regimes(company, self.mapping.core, self.mapping.whole_sheet)
        self.known_facts = KnownFacts(self.mapping.signs, len(self.regimes.names))
        listed = self.regimes.disclosures
        self.calendar = FiscalCalendar(company, listed, self.mapping.core)
        covers = sorted(
            {disclosure.end for disclosure in listed if disclosure.tag.startswith("dei:") and disclosure.start is None}
        )
        self.fiscal_periods = FiscalPeriods({}, {}, {}, {})
        filed = frozenset(tag for facts in self.regimes.facts for tag in facts)
        self.reader = ItemReader(self.known_facts, self.fiscal_periods, self.mapping, covers, self.calendar, filed)
        self.values: dict[str, Values] = {
            kind: {item.key: {} for item in self.mapping.order} for kind in (QUARTER, YEAR, HALF, INSTANT, TO_DATE)
        }
        #: Why an item is absent, or how a filing gave it otherwise; kind, item, last day.
        self.remarks: dict[str, dict[str, dict[int, str]]] = {kind: defaultdict(dict) for kind in self.values}
        self.items = {item.key: item for item in self.mapping.order}
        flows = tuple(item.key for item in self.mapping.order if not item.is_instant)
        instants = tuple(item.key for item in self.mapping.order if item.is_instant)
        additive = tuple(key for key in flows if self.items[key].additive)
        self._keys = {QUARTER: flows, YEAR: flows, HALF: flows, INSTANT: instants, TO_DATE: additive}
        #: Keys in the order in which statements list them.
        self.items_in_order = [key for key in catalogue_items() if key in self.items]

    def use_calendar(self, fiscal_periods: FiscalPeriods) -> None:
        """Go on with another calendar."""
        self.fiscal_periods = fiscal_periods
        self.reader.use_calendar(fiscal_periods)

    def span(self, kind: str, end: int) -> Span | None:
        """Return the own period of that kind with that last day."""
        return self.fiscal_periods.of(kind).get(end)

    def compute(self, kind: str, end: int, key: str) -> bool:
        """Compute one item of one period anew; whether it, or what is to remark on it, came out different."""
        values = self.values[kind]
        item = self.items[key]
        regime = self.regime(kind, end)
        if kind == INSTANT:
            made = self.reader.balance(item, end, values) if end in self.ends else None
        else:
            span = self.span(kind, end)
            length = letter(span.start, end) if span is not None and kind == TO_DATE else kind
            made = None if span is None or length is None else self.reader.flow(item, length, span, values)
            if made is None and span is not None and kind == YEAR:
                made = self.reader.year_of_quarters(item, span, self.values[QUARTER][key])
        held = values[key].get(end)
        if made is not None:
            # What checks say of it stands until they say something else.
            flags = made.flags & ~QUALITY | (0 if held is None else held.flags & QUALITY)
            if regime or flags != made.flags:
                made = made._replace(regime=regime, flags=flags)
        remark = self.reader.refused if made is None else self.reader.remark(item, made)
        remarks = self.remarks[kind][key]
        if remarks.get(end) != remark:
            if remark is None:
                del remarks[end]
            else:
                remarks[end] = remark
        elif made == held:
            return False
        if made is None:
            values[key].pop(end, None)
        else:
            values[key][end] = made
        return True

    def learn(self, disclosure: Disclosure) -> None:
        """Take in the next state of a fact."""
        self.known_facts.learn(disclosure, self.regimes.facts[disclosure.regime])

    def regime(self, kind: str, end: int) -> int:
        """Return the regime of a period, whose facts are looked at from now on."""
        if len(self.regimes.names) == 1:
            return 0
        found = self.regimes.of(self.known_facts, kind, end)
        self.known_facts.look_at(found)
        return found

    @property
    def ends(self) -> set[int]:
        """Every own period end."""
        return self.fiscal_periods.ends

    def keys(self, kind: str) -> tuple[str, ...]:
        """Items that a kind of period has, in the order in which they are computed."""
        return self._keys[kind]

    def financials(self) -> CompanyFinancials:
        """Return what stands, for measures and readers. It shares the dictionaries: look, do not keep."""
        return CompanyFinancials(
            {key: of for key, of in self.values[QUARTER].items() if not self.items[key].is_instant},
            {key: of for key, of in self.values[YEAR].items() if not self.items[key].is_instant},
            {key: of for key, of in self.values[HALF].items() if not self.items[key].is_instant},
            {key: of for key, of in self.values[TO_DATE].items() if not self.items[key].is_instant},
            {key: of for key, of in self.values[INSTANT].items() if self.items[key].is_instant},
            tuple(sorted(self.fiscal_periods.years)),
            tuple(sorted(self.fiscal_periods.quarters)),
            self.company.template,
            self.company.currency,
            recasts=self.known_facts.recasts,
        )


def line_items_at(company: CompanyInput, moment: int, ends: range | None = None) -> LineItems:
    """
    All line items as known at a moment, each computed once, from the facts known by then.

    `ends`: only periods that end on one of these days (ordinals), and the quarters of years that do.
    """
    line_items = LineItems(company)
    for disclosure in line_items.regimes.disclosures:
        if disclosure.known > moment:
            break
        line_items.learn(disclosure)
    line_items.use_calendar(line_items.calendar.at(moment))
    fiscal_periods = line_items.fiscal_periods
    # A year that no filing gives is made of its quarters.
    quarters = None if ends is None else range(ends.start - _YEAR_DAYS, ends.stop)
    for kind, every, among in (
        (INSTANT, fiscal_periods.ends, ends),
        (QUARTER, fiscal_periods.quarters, quarters),
        (HALF, fiscal_periods.halves, ends),
        (TO_DATE, fiscal_periods.to_date, ends),
        (YEAR, fiscal_periods.years, ends),
    ):
        keys = line_items.keys(kind)
        for end in sorted(every if among is None else (one for one in every if one in among)):
            for key in keys:
                line_items.compute(kind, end, key)
    return line_items


def as_known(company: CompanyInput, moment: int, ends: range | None = None) -> CompanyFinancials:
    """
    Return the financials as of a moment, computed from nothing but what was known by then: the plain way, which the derivation must
    equal at every instant. Items without any amount are left out. `ends`: as in `line_items_at`.
    """
    financials = line_items_at(company, moment, ends).financials()
    return financials._replace(
        quarters=_filled(financials.quarters),
        years=_filled(financials.years),
        halves=_filled(financials.halves),
        to_date=_filled(financials.to_date),
        balances=_filled(financials.balances),
    )


def _filled(values: dict[str, dict[int, Amount]]) -> dict[str, dict[int, Amount]]:
    return {key: amounts for key, amounts in values.items() if amounts}
