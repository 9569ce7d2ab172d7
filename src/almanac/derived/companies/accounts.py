"""
The accounts of a company as they stand: every item of every own period, computed from an open book.

`as_known` computes all of them for one moment, plainly. A sweep keeps them open and computes only what changed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from almanac.catalog.companies import items as catalogue_items
from almanac.derived.companies.book import Book, CompanyInput, Event, events
from almanac.derived.companies.calendar import Calendar, Grid, Span
from almanac.derived.companies.items import Plan, Reader, Values, plan_for
from almanac.derived.companies.ledger import Amount, Ledger

#: Letters of the kinds of period; balances are instants.
QUARTER, YEAR, HALF, INSTANT = "Q", "A", "S", "I"


@functools.lru_cache(maxsize=8)
def plan_of(template: str) -> Plan:
    """The catalogue's items for a template, in order."""
    return plan_for(catalogue_items(), template)


class Accounts:
    """Amounts of all own periods, by kind of period, item and last day."""

    def __init__(self, company: CompanyInput, happened: Iterable[Event]) -> None:
        self.company = company
        self.plan = plan_of(company.template)
        self.book = Book()
        listed = list(happened)
        self.calendar = Calendar(company, listed, self.plan.core)
        covers = sorted({event.end for event in listed if event.tag.startswith("dei:") and event.start is None})
        self.grid = Grid({}, {}, {})
        self.reader = Reader(self.book, self.grid, self.plan, covers, self.calendar.own_end)
        self.values: dict[str, Values] = {
            kind: {item.key: {} for item in self.plan.order} for kind in (QUARTER, YEAR, HALF, INSTANT)
        }
        self.items = {item.key: item for item in self.plan.order}
        flows = tuple(item.key for item in self.plan.order if not item.is_instant)
        instants = tuple(item.key for item in self.plan.order if item.is_instant)
        self._keys = {QUARTER: flows, YEAR: flows, HALF: flows, INSTANT: instants}
        #: Keys in the order in which statements list them.
        self.items_in_order = [key for key in catalogue_items() if key in self.items]

    def turn(self, grid: Grid) -> None:
        """Go on with another calendar."""
        self.grid = grid
        self.reader.turn(grid)

    def span(self, kind: str, end: int) -> Span | None:
        """The own period of that kind with that last day."""
        spans = self.grid.quarters if kind == QUARTER else self.grid.years if kind == YEAR else self.grid.halves
        return spans.get(end)

    def compute(self, kind: str, end: int, key: str) -> bool:
        """Compute one item of one period anew; whether it came out different."""
        values = self.values[kind]
        item = self.items[key]
        if kind == INSTANT:
            made = self.reader.balance(item, end, values) if end in self.ends else None
        else:
            span = self.span(kind, end)
            made = None if span is None else self.reader.flow(item, kind, span, values)
            if made is None and span is not None and kind == YEAR:
                made = self.reader.year_of_quarters(item, span, self.values[QUARTER][key])
        held = values[key].get(end)
        if made == held:
            return False
        if made is None:
            del values[key][end]
        else:
            values[key][end] = made
        return True

    @property
    def ends(self) -> set[int]:
        """Every own period end."""
        return self.grid.ends

    def keys(self, kind: str) -> tuple[str, ...]:
        """Items that a kind of period has, in the order in which they are computed."""
        return self._keys[kind]

    def ledger(self) -> Ledger:
        """What stands, for measures and readers. It shares the dictionaries: look, do not keep."""
        return Ledger(
            {key: of for key, of in self.values[QUARTER].items() if not self.items[key].is_instant},
            {key: of for key, of in self.values[YEAR].items() if not self.items[key].is_instant},
            {key: of for key, of in self.values[HALF].items() if not self.items[key].is_instant},
            {key: of for key, of in self.values[INSTANT].items() if self.items[key].is_instant},
            tuple(sorted(self.grid.years)),
            tuple(sorted(self.grid.quarters)),
            self.company.template,
            self.company.currency,
        )


def opened(company: CompanyInput, moment: int) -> Accounts:
    """All accounts as known at a moment, each computed once, from the facts known by then."""
    happened = events(company.facts)
    accounts = Accounts(company, happened)
    for event in happened:
        if event.known > moment:
            break
        accounts.book.learn(event, company.facts)
    accounts.turn(accounts.calendar.at(moment))
    grid = accounts.grid
    for kind, ends in (
        (INSTANT, sorted(grid.ends)),
        (QUARTER, sorted(grid.quarters)),
        (HALF, sorted(grid.halves)),
        (YEAR, sorted(grid.years)),
    ):
        keys = accounts.keys(kind)
        for end in ends:
            for key in keys:
                accounts.compute(kind, end, key)
    return accounts


def as_known(company: CompanyInput, moment: int) -> Ledger:
    """
    The ledger as of a moment, computed from nothing but what was known by then: the plain way, which a sweep must
    equal at every instant. Items without any amount are left out.
    """
    ledger = opened(company, moment).ledger()
    return ledger._replace(
        quarters=_filled(ledger.quarters),
        years=_filled(ledger.years),
        halves=_filled(ledger.halves),
        balances=_filled(ledger.balances),
    )


def _filled(values: dict[str, dict[int, Amount]]) -> dict[str, dict[int, Amount]]:
    return {key: amounts for key, amounts in values.items() if amounts}
