"""
From the vintages of facts to the vintages of items, measures and statements, for every moment of knowledge at once.

At each instant at which a fact or the fiscal calendar changed, what that can touch is computed anew from the facts
known then, and where the result differs from the one before, a vintage is made. So derive(as of T) = (derive)(as of T)
for every T; `line_items.as_known` is the plain way to the same.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from almanac.catalog.companies import Item
from almanac.catalog.measures import measures
from almanac.derived.companies.facts import CompanyInput, Disclosure, known_at
from almanac.derived.companies.financials import Amount, CompanyFinancials, with_currency
from almanac.derived.companies.fiscal_calendar import FiscalPeriods, Span
from almanac.derived.companies.line_items import HALF, INSTANT, QUARTER, TO_DATE, YEAR, LineItems
from almanac.derived.companies.ratios import MeasureValue
from almanac.derived.companies.reading.item_reader import PROOF_DAYS
from almanac.derived.companies.reading.tag_mapping import COVER_DAYS, SHARES_OUTSTANDING
from almanac.derived.companies.statements import StatementHistory, StatementKey, StatementVersion
from almanac.domain.companies import Filing, is_periodic
from almanac.domain.observations import DAY, QUALITY
from almanac.domain.periods import Frequency, key_of

__all__ = ["CompanyVintages", "ItemVintage", "StatementKey", "StatementVersion", "derive"]


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


#: Period key, value, currency and marks of checks of what stands, and what its period is called.
_Standing = tuple[int, float, str | None, int, tuple[int, str] | None]


class CompanyVintages(NamedTuple):
    """All vintages of a company."""

    items: Vintages
    #: Money of periods that are in another currency than the company's main one, by ISO code.
    others: dict[str, Vintages]
    statements: dict[StatementKey, list[StatementVersion]]


#: In the order in which they are computed.
_KINDS = (INSTANT, QUARTER, HALF, YEAR, TO_DATE)
#: What the part of a fiscal year is called that ends with it.
_LAST_PART = {Frequency.QUARTERLY: "Q4", Frequency.SEMIANNUAL: "H2", Frequency.ANNUAL: "FY"}
_FREQUENCIES = {QUARTER: Frequency.QUARTERLY, HALF: Frequency.SEMIANNUAL, YEAR: Frequency.ANNUAL}


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
        self.line_items = LineItems(company)
        self.disclosures = self.line_items.regimes.disclosures
        self.mapping = self.line_items.mapping
        self.served = {key for key, item in self.line_items.items.items() if item.served}
        #: By currency, None for the main one and for what is no money.
        self.out: dict[str | None, Vintages] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
        self._money = {slug for slug, unit in _units(self.line_items.items) if unit in {"money", "per_share"}}
        #: (item, frequency, end) → period key, value and currency (as in `out`) that stand.
        self.standing: dict[tuple[str, Frequency, int], _Standing] = {}
        #: Measures that stand, by end.
        self.measured: dict[int, dict[str, _Standing]] = {}
        self.frequency = Frequency.ANNUAL
        self.statements = StatementHistory(self.line_items)
        self.quarter_ends: list[int] = []
        self.year_ends: list[int] = []
        self.half_ends: list[int] = []
        self.to_date_ends: list[int] = []
        #: What own periods are called, by their frequency and end: of one that is gone, what it was called last.
        self.names: dict[tuple[Frequency, int], tuple[int, str]] = {}
        self.ingested = 0
        #: Amounts of this instant that came out different, or whose period did, by kind and end.
        self.changed: dict[tuple[str, int], set[str]] = {}

    def run(self) -> CompanyVintages:
        """Go through all instants."""
        filings = self._filings()
        by_moment = {
            known: list(group) for known, group in groupby(self.disclosures, key=lambda disclosure: disclosure.known)
        }
        for moment in sorted({*by_moment, *self.line_items.calendar.moments, *self.statements.moments}):
            self._at(moment, by_moment.get(moment, []), filings.get(moment, []))
        others = {currency: _plain(out) for currency, out in self.out.items() if currency is not None}
        return CompanyVintages(_plain(self.out[None]), others, self.statements.versions)

    def _filings(self) -> dict[int, list[Filing]]:
        """Filings by the moment they became known, what is periodic last."""
        named = {disclosure.vintage.accession for disclosure in self.disclosures}
        missing = sorted(named - self.company.filings.keys())
        if missing:
            raise ValueError(f"facts of {self.company.entity} name the filing {missing[0]}, which is not there")
        found: dict[int, list[Filing]] = defaultdict(list)
        for filing in self.company.filings.values():
            if filing.accession in named or is_periodic(filing.form):
                found[known_at(filing)].append(filing)
        for group in found.values():
            group.sort(key=lambda filing: (is_periodic(filing.form), filing.accession))
        return found

    def _at(self, moment: int, disclosures: list[Disclosure], filings: list[Filing]) -> None:
        line_items = self.line_items
        for disclosure in disclosures:
            line_items.learn(disclosure)
            self.ingested = max(self.ingested, disclosure.vintage.ingested)
        dirty: dict[str, dict[int, set[str]]] = {kind: {} for kind in _KINDS}
        self.changed = {}
        moved: set[tuple[str, int]] = set()
        if moment in line_items.calendar.moments:
            moved = self._use_calendar(line_items.calendar.at(moment), dirty)
        for disclosure in disclosures:
            self._mark(disclosure, dirty)
        for kind in _KINDS:
            for end in sorted(dirty[kind]):
                self._compute(kind, end, dirty)
        for kind, end in moved:
            self.changed.setdefault((kind, end), set()).update(line_items.keys(kind))
        # Statements first: what their checks say is part of what items and measures are.
        stated = {name: keys for name, keys in self.changed.items() if name[0] != TO_DATE}
        for kind, end, key in self.statements.write(moment, filings, stated):
            self.changed.setdefault((kind, end), set()).add(key)
        for (kind, end), keys in self.changed.items():
            if kind == TO_DATE:
                continue  # for measures alone
            for key in keys:
                if key in self.served:
                    self._emit_item(moment, kind, end, key)
        if self.measure is not None:
            self._emit_measures(moment)

    # -- what can have changed --------------------------------------------------------------------------------------

    def _use_calendar(
        self, fiscal_periods: FiscalPeriods, dirty: dict[str, dict[int, set[str]]]
    ) -> set[tuple[str, int]]:
        """Take the calendar of this moment. Returns the periods that came, went or moved."""
        before = self.line_items.fiscal_periods
        moved: set[tuple[str, int]] = set()
        for kind, old, new in (
            (QUARTER, before.quarters, fiscal_periods.quarters),
            (HALF, before.halves, fiscal_periods.halves),
            (YEAR, before.years, fiscal_periods.years),
            (TO_DATE, before.to_date, fiscal_periods.to_date),
        ):
            for end in _differing(old, new):
                moved.add((kind, end))
                if kind != TO_DATE:
                    moved.add((INSTANT, end))
        if not moved:
            return moved
        self.line_items.use_calendar(fiscal_periods)
        self.quarter_ends, self.year_ends = sorted(fiscal_periods.quarters), sorted(fiscal_periods.years)
        self.half_ends, self.to_date_ends = sorted(fiscal_periods.halves), sorted(fiscal_periods.to_date)
        for kind, spans in (
            (QUARTER, fiscal_periods.quarters),
            (HALF, fiscal_periods.halves),
            (YEAR, fiscal_periods.years),
        ):
            frequency = _FREQUENCIES[kind]
            for end, span in spans.items():
                self.names[frequency, end] = (span.fiscal_year, span.fiscal_period)
        every = {kind: self.line_items.keys(kind) for kind in dirty}
        for kind, end in moved:
            dirty[kind].setdefault(end, set()).update(every[kind])
            if kind == QUARTER:
                # A quarter that comes to be known may make later ones, and its year, computable.
                for other, ends, days in ((QUARTER, self.quarter_ends, 330), (YEAR, self.year_ends, 390)):
                    for last in _within(ends, end, end + days):
                        dirty[other].setdefault(last, set()).update(every[other])
        return moved

    def _mark(self, disclosure: Disclosure, dirty: dict[str, dict[int, set[str]]]) -> None:
        keys = self.mapping.direct.get(disclosure.tag)
        if keys is None:
            return
        end = disclosure.end
        reach = self.mapping.reach_of_shares.get(disclosure.tag)
        if reach is not None:
            for ends in (self.quarter_ends, self.year_ends, self.half_ends):
                for last in _within(ends, end - reach, end + reach):
                    dirty[INSTANT].setdefault(last, set()).add(SHARES_OUTSTANDING)
        if disclosure.start is None:
            first = end - COVER_DAYS if disclosure.tag.startswith("dei:") else end
            for ends in (self.quarter_ends, self.year_ends, self.half_ends):
                for last in _within(ends, first, end):
                    dirty[INSTANT].setdefault(last, set()).update(self._moved_regime(disclosure, INSTANT, keys))
            return
        for kind, ends, days in (
            (QUARTER, self.quarter_ends, PROOF_DAYS),
            (HALF, self.half_ends, PROOF_DAYS),
            (YEAR, self.year_ends, 390),
        ):
            for last in _within(ends, end, end + days):
                dirty[kind].setdefault(last, set()).update(self._moved_regime(disclosure, kind, keys))
        for last in _within(self.to_date_ends, end, end + 390):
            dirty[TO_DATE].setdefault(last, set()).update(self._moved_regime(disclosure, TO_DATE, keys))

    def _moved_regime(self, disclosure: Disclosure, kind: str, keys: frozenset[str]) -> Collection[str]:
        """All items of a kind, where a fact may take its period into another regime."""
        core = disclosure.tag in self.mapping.core or disclosure.tag in self.mapping.whole_sheet
        return self.line_items.keys(kind) if core and len(self.line_items.regimes.names) > 1 else keys

    def _compute(self, kind: str, end: int, dirty: dict[str, dict[int, set[str]]]) -> None:
        wanted = dirty[kind][end]
        different: set[str] = set()
        for key in self.line_items.keys(kind):
            if key in wanted and self.line_items.compute(kind, end, key):
                different.add(key)
                wanted |= self.mapping.dependents[key]
        if not different:
            return
        self.changed.setdefault((kind, end), set()).update(different)
        if kind == QUARTER:
            place = bisect_left(self.year_ends, end)
            if place < len(self.year_ends):
                dirty[YEAR].setdefault(self.year_ends[place], set()).update(different)

    # -- what is made of it -----------------------------------------------------------------------------------------

    def _emit_item(self, moment: int, kind: str, end: int, key: str) -> None:
        amount = self.line_items.values[kind][key].get(end)
        fiscal_periods = self.line_items.fiscal_periods
        if kind != INSTANT:
            self._stand(moment, key, _FREQUENCIES[kind], end, amount)
            return
        for frequency, spans in (
            (Frequency.QUARTERLY, fiscal_periods.quarters),
            (Frequency.SEMIANNUAL, fiscal_periods.halves),
            (Frequency.ANNUAL, fiscal_periods.years),
        ):
            self._stand(moment, key, frequency, end, amount if end in spans else None)

    def _stand(self, moment: int, key: str, frequency: Frequency, end: int, amount: Amount | None) -> None:
        name = (key, frequency, end)
        held = self.standing.get(name)
        if amount is None:
            if held is not None:
                del self.standing[name]
                self._withdraw(moment, key, frequency, end, held)
            return
        quality = amount.flags & QUALITY
        called = self._name(frequency, end)
        now = (key_of(amount.start, end), amount.value, self._currency(key, amount.regime), quality, called)
        if held == now:
            return
        self.standing[name] = now
        if held is not None and _place(held) != _place(now):
            self._withdraw(moment, key, frequency, end, held)
        self._make(key, frequency, now, self._made(moment, amount, called))

    def _made(self, moment: int, of: Amount | MeasureValue, fiscal: tuple[int, str] | None) -> ItemVintage:
        released = of.released
        flags = of.flags if released is not None else of.flags & ~DAY
        tags = with_currency(self.company, of.tags, self.line_items.regimes.names[of.regime].currency)
        return ItemVintage(moment, of.value, released, of.ingested, flags, tags, of.method, fiscal)

    def _currency(self, slug: str, regime: int) -> str | None:
        """Return the currency of money that is not in the company's main one."""
        currency = self.line_items.regimes.names[regime].currency
        return currency if currency != self.company.currency and slug in self._money else None

    def _make(self, key: str, frequency: Frequency, now: _Standing, made: ItemVintage) -> None:
        self.out[now[2]][key, frequency][now[0]].append(made)

    def _withdraw(self, moment: int, key: str, frequency: Frequency, end: int, held: _Standing) -> None:
        name = self._name(frequency, end)
        self._make(key, frequency, held, ItemVintage(moment, None, None, self.ingested, 0, (), None, name))

    def _name(self, frequency: Frequency, end: int) -> tuple[int, str] | None:
        name, year = self.names.get((frequency, end)), self.names.get((Frequency.ANNUAL, end))
        # A measure of a filer of quarters stands at the end of a year too of which no quarter is known yet.
        return (year[0], _LAST_PART[frequency]) if name is None and year is not None else name

    def _emit_measures(self, moment: int) -> None:
        if not self.changed:
            return
        assert self.measure is not None
        frequency, ends = self._measured_ends()
        if frequency is not self.frequency:
            for end in list(self.measured):
                self._remeasure(moment, end, {}, self.frequency)
            self.frequency = frequency
            wanted = set(ends)
        else:
            wanted = set()
            for _, end in self.changed:
                wanted.update(_within(ends, end, end + self.reach))
        financials = self.line_items.financials()
        known = set(ends)
        for end in sorted(wanted | (self.measured.keys() - known)):
            found = self.measure(financials, end, frequency) if end in known else {}
            self._remeasure(moment, end, found, frequency)

    def _measured_ends(self) -> tuple[Frequency, list[int]]:
        # Second quarters alone, beside half-years, make no filer of quarters.
        quarters = self.line_items.fiscal_periods.quarters.values()
        if quarters and (not self.half_ends or any(span.previous is not None for span in quarters)):
            return Frequency.QUARTERLY, sorted({*self.quarter_ends, *self.year_ends})
        if self.half_ends:
            return Frequency.SEMIANNUAL, sorted({*self.half_ends, *self.year_ends})
        return Frequency.ANNUAL, self.year_ends

    def _remeasure(self, moment: int, end: int, found: Mapping[str, MeasureValue], frequency: Frequency) -> None:
        standing = self.measured.setdefault(end, {})
        for slug in [slug for slug in standing if slug not in found]:
            self._withdraw(moment, slug, frequency, end, standing.pop(slug))
        for slug, one in found.items():
            currency = self._currency(slug, one.regime)
            called = self._name(frequency, end)
            now = (key_of(one.start, one.end), one.value, currency, one.flags & QUALITY, called)
            held = standing.get(slug)
            if held == now:
                continue
            if held is not None and _place(held) != _place(now):
                self._withdraw(moment, slug, frequency, end, held)
            standing[slug] = now
            self._make(slug, frequency, now, self._made(moment, one, called))
        if not standing:
            del self.measured[end]


def _units(items: Mapping[str, Item]) -> Iterator[tuple[str, str | None]]:
    """Units of items and measures."""
    yield from ((item.key, item.unit) for item in items.values())
    yield from ((measure.key, measure.unit) for measure in measures().values())


def _place(one: _Standing) -> tuple[int, str | None]:
    return one[0], one[2]


def _plain(out: Vintages) -> Vintages:
    return {name: dict(cells) for name, cells in out.items()}


def _differing(old: Mapping[int, Span], new: Mapping[int, Span]) -> Iterator[int]:
    for end in old.keys() | new.keys():
        if old.get(end) != new.get(end):
            yield end


def _within(ends: list[int], first: int, last: int) -> list[int]:
    return ends[bisect_left(ends, first) : bisect_right(ends, last)]
