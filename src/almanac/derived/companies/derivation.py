"""
From the filings of a company to the vintages of its items, measures and statements, for every moment of knowledge.

At each moment the facts and the calendar that became known then touch some periods. All that these periods have is
computed anew, as `line_items.as_known` computes it for any moment, and where the result differs from what stands a
vintage is made. So derive(as of T) = (derive)(as of T) for every T.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from almanac.catalog.measures import measures
from almanac.derived.companies.company_history import CompanyHistory
from almanac.derived.companies.facts import CompanyInput, Disclosure, known_at
from almanac.derived.companies.financials import Amount, CompanyFinancials, MeasureValue, with_currency
from almanac.derived.companies.line_items import (
    BALANCE,
    CASH_FLOW,
    HALF,
    INCOME,
    INSTANT,
    KINDS,
    PROOF_DAYS,
    QUARTER,
    TO_DATE,
    YEAR,
    LineItems,
    PeriodName,
)
from almanac.derived.companies.misstatements import NEIGHBOUR_DAYS
from almanac.derived.companies.reading.tag_mapping import COVER_DAYS, SHARES_OUTSTANDING
from almanac.derived.companies.statements import StatementHistory, StatementKey, StatementName, StatementVersion
from almanac.derived.companies.ttm import FREQUENCIES, LONGEST, periods
from almanac.domain.companies import Filing, is_periodic
from almanac.domain.observations import DAY, QUALITY
from almanac.domain.periods import Frequency, key_of

__all__ = ["CompanyVintages", "ItemVintage", "StatementKey", "StatementVersion", "derive"]

#: Days after the last day of a flow within which periods are read with it.
_FLOW_AFTER = PROOF_DAYS
#: Days before and after a count of shares within which it tells whether another one, or that of a period's cover, can be.
_SHARES_BEFORE, _SHARES_AFTER = NEIGHBOUR_DAYS + COVER_DAYS, NEIGHBOUR_DAYS
#: Days before a period within which statements look at it: a quarter at the one after it, and at its year.
_STATEMENTS_BEFORE = {INSTANT: 0, QUARTER: 130, HALF: 0, YEAR: 390, TO_DATE: 0}
#: Days after a period within which statements look at it: at the balances with which they begin, or at flows of the twelve
#: months and of the twelve months before.
_STATEMENTS_AFTER = {INSTANT: 400, **dict.fromkeys((QUARTER, HALF, YEAR, TO_DATE), 2 * LONGEST)}


class ItemVintage(NamedTuple):
    """One vintage of a derived series. `value` None: it can no longer be computed. `tags` as in `Amount`."""

    known: int
    value: float | None
    released: int | None
    ingested: int
    flags: int
    tags: tuple[str, ...]
    #: How it was come by; None: as reported.
    note: str | None
    #: Fiscal year and period (FY, Q1 to Q4, H1, H2) that the company calls it by, as known then; None: not known.
    fiscal: tuple[int, str] | None


#: Measures of the period that ends on a day, looking at that day and `reach` days before it only.
MeasureFunction = Callable[[CompanyFinancials, int, Frequency], Mapping[str, MeasureValue]]

#: (item or measure, frequency) → period key → vintages, ascending by knowledge time.
Vintages = dict[tuple[str, Frequency], dict[int, list[ItemVintage]]]


#: Currency if not the main one, and period key.
_Cell = tuple[str, int]
#: Cell, value and quality of what stands, and what its period is called.
_Standing = tuple[_Cell, float, int, tuple[int, str] | None]


class CompanyVintages(NamedTuple):
    """All vintages of a company."""

    items: Vintages
    #: Money of periods that are in another currency than the company's main one, by ISO code.
    others: dict[str, Vintages]
    statements: dict[StatementKey, list[StatementVersion]]


_MONEY = frozenset(["money", "per_share"])
#: What the part of a fiscal year is called that ends with it.
_LAST_PART = {Frequency.QUARTERLY: "Q4", Frequency.SEMIANNUAL: "H2", Frequency.ANNUAL: "FY"}


def derive(company: CompanyInput, *, measure: MeasureFunction | None = None, reach: int = 0) -> CompanyVintages:
    """
    All vintages of what is derived for a company, from every instant at which something became known.

    There is no deriving of a part: one report can move the calendar of years long past. `measure` and `reach` as
    `MeasureFunction` says. Raises ValueError where a filing that facts name has no time or is not there.
    """
    return _Derivation(company, measure, reach).run()


class _Derivation:
    def __init__(self, company: CompanyInput, measure: MeasureFunction | None, reach: int) -> None:
        self.company = company
        self.measure = measure
        self.reach = reach
        self.history = history = CompanyHistory(company)
        self.line_items = LineItems(history)
        self.statements = StatementHistory(self.line_items)
        #: Amounts of each period with what checks say of them, and the same by kind of period, item and last day.
        self.amounts: dict[PeriodName, dict[str, Amount]] = {}
        self.values: dict[str, dict[str, dict[int, Amount]]] = {kind: defaultdict(dict) for kind in KINDS}
        #: By currency, empty for the main one and for what is no money.
        self.out: dict[str, Vintages] = {}
        served = [item for item in history.items.values() if item.served]
        #: Keys of served items, of balances and of flows.
        self._served = {flag: [item.key for item in served if item.is_instant == flag] for flag in (True, False)}
        self._money = {item.key for item in history.items.values() if item.unit in _MONEY}
        self._money |= {measure.key for measure in measures().values() if measure.unit in _MONEY}
        #: Frequency and end → item or measure → what stands.
        self.standing: dict[tuple[Frequency, int], dict[str, _Standing]] = defaultdict(dict)
        #: Ends of periods that may have measures, at a frequency.
        self.measured: set[int] = set()
        self.frequency = Frequency.ANNUAL
        #: What own periods are called, by their frequency and end: of one that is gone, what it was called last.
        self.names: dict[tuple[Frequency, int], tuple[int, str]] = {}
        self.ingested = 0

    def run(self) -> CompanyVintages:
        """Go through all instants."""
        named = {disclosure.vintage.accession for disclosure in self.history.disclosures}
        missing = sorted(named - self.company.filings.keys())
        if missing:
            raise ValueError(f"facts of {self.company.entity} name the filing {missing[0]}, which is not there")
        # The filing that counts last of each moment: what is periodic does.
        counting = [f for f in self.company.filings.values() if f.accession in named or is_periodic(f.form)]
        counting.sort(key=lambda filing: (is_periodic(filing.form), filing.accession))
        filings = {known_at(filing): filing for filing in counting}
        by_moment = {
            known: list(group)
            for known, group in groupby(self.history.disclosures, key=lambda disclosure: disclosure.known)
        }
        for moment in sorted({*by_moment, *self.history.calendar.moments, *self.statements.moments}):
            self._at(moment, by_moment.get(moment, []), filings.get(moment))
        return CompanyVintages(self.out.pop("", {}), self.out, self.statements.versions)

    def _at(self, moment: int, disclosures: list[Disclosure], filing: Filing | None) -> None:
        """Go on to a moment: facts and calendar → items → statements and their checks → vintages."""
        line_items = self.line_items
        for disclosure in disclosures:
            line_items.facts[disclosure.reporting_basis].learn(disclosure)
            self.ingested = max(self.ingested, disclosure.vintage.ingested)
        moved = self._use_calendar(moment)
        changed = line_items.compute(moved | self._touched(disclosures, moved)) | moved
        for name in changed:
            self._put(name, {})
        # Statements first: what their checks say is part of what items and measures are.
        financials = line_items.financials(self.values)
        rewritten = self.statements.write(moment, filing, self._statements_of(changed), financials)
        for name in changed | {name for statement in rewritten for name in _flagged_by(statement)}:
            if self._put(name, self.statements.flags(*name)):
                changed.add(name)
        for kind, end in changed:
            amounts = self.amounts.get((kind, end), {})
            for frequency in FREQUENCIES:
                if kind in {frequency, INSTANT}:
                    is_own = kind != INSTANT or end in line_items.fiscal_periods.of(frequency)
                    self._stand(moment, frequency, end, self._served[kind == INSTANT], amounts if is_own else {})
        if self.measure is not None and changed:
            self._emit_measures(self.measure, moment, {end for _, end in changed}, financials)

    def _use_calendar(self, moment: int) -> set[PeriodName]:
        """Take the calendar of a moment. Returns the periods that came, went or moved."""
        if moment not in self.history.calendar.moments:
            return set()
        before, now = self.line_items.fiscal_periods, self.history.calendar.at(moment)
        moved: set[PeriodName] = set()
        for kind in (QUARTER, HALF, YEAR, TO_DATE):
            old, new = before.of(kind), now.of(kind)
            moved.update((kind, end) for end in old.keys() | new.keys() if old.get(end) != new.get(end))
        moved |= {(INSTANT, end) for kind, end in moved if kind != TO_DATE}
        if moved:
            self.line_items.fiscal_periods = now
            for frequency in FREQUENCIES:
                for end, span in now.of(frequency).items():
                    self.names[frequency, end] = (span.fiscal_year, span.fiscal_period)
        return moved

    def _touched(self, disclosures: Iterable[Disclosure], moved: Iterable[PeriodName]) -> set[PeriodName]:
        """Return the periods on which facts, and other periods that moved, can bear."""
        counts_of_shares = self.history.items[SHARES_OUTSTANDING].tags()
        flows = {(end, end + _FLOW_AFTER) for kind, end in moved if kind == QUARTER}
        balances = set(flows)
        for disclosure in disclosures:
            end = disclosure.end
            if disclosure.start is None and disclosure.tag in counts_of_shares:
                balances.add((end - _SHARES_BEFORE, end + _SHARES_AFTER))
            else:  # the tag of an instant may tell the style of the period
                days = (end, end if disclosure.start is None else end + _FLOW_AFTER)
                flows.add(days)
                balances.add(days)
        return {
            (kind, end)
            for kind in KINDS
            for end in self.line_items.spans_of(kind)
            if _is_within(end, balances if kind == INSTANT else flows)
        }

    def _statements_of(self, changed: Iterable[PeriodName]) -> set[StatementName]:
        """Return the statements whose lines or checks look at periods that changed."""
        days = {(end - _STATEMENTS_BEFORE[kind], end + _STATEMENTS_AFTER[kind]) for kind, end in changed}
        standing = ((letter, end) for letter in FREQUENCIES for end in self.line_items.spans_of(letter))
        return {
            (statement, letter, end)
            for letter, end in {*standing, *((kind, end) for kind, end in changed if kind in FREQUENCIES)}
            if _is_within(end, days)
            for statement in (INCOME, BALANCE, CASH_FLOW)
        }

    def _put(self, name: PeriodName, flags: Mapping[str, int]) -> bool:
        """Put the amounts of a period, with the flags of its items, in place; return whether they are others than before."""
        kind, end = name
        amounts = {
            key: amount._replace(flags=amount.flags | flags[key]) if key in flags else amount
            for key, amount in self.line_items.of(kind, end).amounts.items()
        }
        before = self.amounts.get(name, {})
        if amounts == before:
            return False
        self.amounts[name] = amounts
        for key in before.keys() - amounts.keys():
            del self.values[kind][key][end]
        for key, amount in amounts.items():
            self.values[kind][key][end] = amount
        return True

    # -- what is made of it -----------------------------------------------------------------------------------------

    def _stand(
        self,
        moment: int,
        frequency: Frequency,
        end: int,
        slugs: Iterable[str],
        values: Mapping[str, Amount] | Mapping[str, MeasureValue],
    ) -> None:
        """Make vintages of the items or measures of a period whose values are not what stands."""
        standing = self.standing[frequency, end]
        name, year = self.names.get((frequency, end)), self.names.get((Frequency.ANNUAL, end))
        if name is None and year is not None:
            # A measure of a filer of quarters stands at the end of a year too of which no quarter is known yet.
            name = year[0], _LAST_PART[frequency]
        for slug in slugs:
            before, value = standing.get(slug), values.get(slug)
            now: _Standing | None = None
            if value is not None:
                currency = self.history.bases[value.reporting_basis].currency
                other = currency if currency != self.company.currency and slug in self._money else ""
                now = (other, key_of(value.start, end)), value.value, value.flags & QUALITY, name
            if before == now:
                continue
            if before is not None and (now is None or before[0] != now[0]):
                withdrawal = ItemVintage(moment, None, None, self.ingested, 0, (), None, name)
                self._cell(slug, frequency, before[0]).append(withdrawal)
                del standing[slug]
            if now is not None and value is not None:
                standing[slug] = now
                released = value.released
                flags = value.flags if released is not None else value.flags & ~DAY
                tags = with_currency(self.company, value.tags, currency)
                vintage = ItemVintage(moment, value.value, released, value.ingested, flags, tags, value.method, name)
                self._cell(slug, frequency, now[0]).append(vintage)

    def _cell(self, slug: str, frequency: Frequency, cell: _Cell) -> list[ItemVintage]:
        return self.out.setdefault(cell[0], {}).setdefault((slug, frequency), {}).setdefault(cell[1], [])

    def _emit_measures(
        self, measure: MeasureFunction, moment: int, changed: Iterable[int], financials: CompanyFinancials
    ) -> None:
        frequency, ends = periods(financials)
        wanted = {
            last for end in changed for last in ends[bisect_left(ends, end) : bisect_right(ends, end + self.reach)]
        }
        if frequency is not self.frequency:
            for end in self.measured:
                self._stand(moment, self.frequency, end, self._measured_at(self.frequency, end), {})
            self.frequency, self.measured, wanted = frequency, set(), set(ends)
        for end in sorted(wanted | self.measured.difference(ends)):
            measured = measure(financials, end, frequency) if end in wanted else {}
            self._stand(moment, frequency, end, {*measured, *self._measured_at(frequency, end)}, measured)
        self.measured = (self.measured | wanted).intersection(ends)

    def _measured_at(self, frequency: Frequency, end: int) -> set[str]:
        """Return the measures that stand at the end of a period."""
        return self.standing[frequency, end].keys() - self.history.items.keys()


def _flagged_by(statement: StatementName) -> Iterator[PeriodName]:
    """Yield the periods whose amounts have flags by the checks of a statement."""
    kind, letter, end = statement
    yield (INSTANT if kind == BALANCE else letter), end
    if kind != BALANCE and letter == YEAR:
        yield QUARTER, end


def _is_within(end: int, days: Iterable[tuple[int, int]]) -> bool:
    """Tell whether a day is in any of some ranges of days."""
    return any(first <= end <= last for first, last in days)
