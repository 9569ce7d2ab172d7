"""
From the vintages of facts to the vintages of items, measures and statements, for every moment of knowledge at once.

At each instant at which a fact or the fiscal calendar changed, what that can touch is computed anew from the facts
known then, and where the result differs from the one before, a vintage is made. So derive(as of T) = (derive)(as of T)
for every T; `line_items.as_known` is the plain way to the same.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from almanac.derived.companies.facts import CompanyInput, Disclosure, disclosures, known_at
from almanac.derived.companies.financials import Amount, CompanyFinancials
from almanac.derived.companies.fiscal_calendar import FiscalPeriods, Span
from almanac.derived.companies.item_reader import COVER_DAYS, PROOF_DAYS
from almanac.derived.companies.line_items import HALF, INSTANT, QUARTER, YEAR, LineItems
from almanac.derived.companies.ratios import MeasureValue
from almanac.derived.companies.statements import StatementHistory, StatementKey, StatementVersion
from almanac.domain.companies import Filing, is_periodic
from almanac.domain.observations import DAY
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


#: Measures of the period that ends on a day, looking at that day and `reach` days before it only.
MeasureFunction = Callable[[CompanyFinancials, int, Frequency], Mapping[str, MeasureValue]]

#: (item or measure, frequency) → period key → vintages, ascending by knowledge time.
Vintages = dict[tuple[str, Frequency], dict[int, list[ItemVintage]]]


class CompanyVintages(NamedTuple):
    """All vintages of a company."""

    items: Vintages
    statements: dict[StatementKey, list[StatementVersion]]


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
        self.disclosures = disclosures(company.facts)
        self.line_items = LineItems(company, self.disclosures)
        self.mapping = self.line_items.mapping
        self.served = {key for key, item in self.line_items.items.items() if item.served}
        self.out: Vintages = defaultdict(lambda: defaultdict(list))
        #: (item, frequency, end) → period key and value that stand.
        self.standing: dict[tuple[str, Frequency, int], tuple[int, float]] = {}
        #: Measures that stand, by end.
        self.measured: dict[int, dict[str, tuple[int, float]]] = {}
        self.frequency = Frequency.ANNUAL
        self.statements = StatementHistory(self.line_items)
        self.quarter_ends: list[int] = []
        self.year_ends: list[int] = []
        self.half_ends: list[int] = []
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
        return CompanyVintages({name: dict(cells) for name, cells in self.out.items()}, self.statements.versions)

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
            line_items.known_facts.learn(disclosure, self.company.facts)
            self.ingested = max(self.ingested, disclosure.vintage.ingested)
        dirty: dict[str, dict[int, set[str]]] = {kind: {} for kind in (INSTANT, QUARTER, HALF, YEAR)}
        self.changed = {}
        moved: set[tuple[str, int]] = set()
        if moment in line_items.calendar.moments:
            moved = self._use_calendar(line_items.calendar.at(moment), dirty)
        for disclosure in disclosures:
            self._mark(disclosure, dirty)
        for kind in (INSTANT, QUARTER, HALF, YEAR):
            for end in sorted(dirty[kind]):
                self._compute(kind, end, dirty)
        for kind, end in moved:
            self.changed.setdefault((kind, end), set()).update(line_items.keys(kind))
        for (kind, end), keys in self.changed.items():
            for key in keys:
                if key in self.served:
                    self._emit_item(moment, kind, end, key)
        if self.measure is not None:
            self._emit_measures(moment)
        self.statements.write(moment, filings, self.changed)

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
        ):
            for end in _differing(old, new):
                moved.add((kind, end))
                moved.add((INSTANT, end))
        if not moved:
            return moved
        self.line_items.use_calendar(fiscal_periods)
        self.quarter_ends, self.year_ends = sorted(fiscal_periods.quarters), sorted(fiscal_periods.years)
        self.half_ends = sorted(fiscal_periods.halves)
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
        if disclosure.start is None:
            first = end - COVER_DAYS if disclosure.tag.startswith("dei:") else end
            for ends in (self.quarter_ends, self.year_ends, self.half_ends):
                for last in _within(ends, first, end):
                    dirty[INSTANT].setdefault(last, set()).update(keys)
            return
        for kind, ends, days in (
            (QUARTER, self.quarter_ends, PROOF_DAYS),
            (HALF, self.half_ends, PROOF_DAYS),
            (YEAR, self.year_ends, 390),
        ):
            for last in _within(ends, end, end + days):
                dirty[kind].setdefault(last, set()).update(keys)

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
                self._withdraw(moment, key, frequency, held[0])
            return
        period = key_of(amount.start, end)
        if held == (period, amount.value):
            return
        self.standing[name] = (period, amount.value)
        if held is not None and held[0] != period:
            self._withdraw(moment, key, frequency, held[0])
        self._make(key, frequency, period, _made(moment, amount))

    def _make(self, key: str, frequency: Frequency, period: int, made: ItemVintage) -> None:
        self.out[key, frequency][period].append(made)

    def _withdraw(self, moment: int, key: str, frequency: Frequency, period: int) -> None:
        self._make(key, frequency, period, ItemVintage(moment, None, None, self.ingested, 0, (), None))

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
        if self.quarter_ends:
            return Frequency.QUARTERLY, sorted({*self.quarter_ends, *self.year_ends})
        if self.half_ends:
            return Frequency.SEMIANNUAL, sorted({*self.half_ends, *self.year_ends})
        return Frequency.ANNUAL, self.year_ends

    def _remeasure(self, moment: int, end: int, found: Mapping[str, MeasureValue], frequency: Frequency) -> None:
        standing = self.measured.setdefault(end, {})
        for slug in [slug for slug in standing if slug not in found]:
            self._withdraw(moment, slug, frequency, standing.pop(slug)[0])
        for slug, one in found.items():
            period = key_of(one.start, one.end)
            held = standing.get(slug)
            if held == (period, one.value):
                continue
            if held is not None and held[0] != period:
                self._withdraw(moment, slug, frequency, held[0])
            standing[slug] = (period, one.value)
            self._make(slug, frequency, period, _made(moment, one))
        if not standing:
            del self.measured[end]


def _made(moment: int, of: Amount | MeasureValue) -> ItemVintage:
    released = of.released
    flags = of.flags if released is not None else of.flags & ~DAY
    return ItemVintage(moment, of.value, released, of.ingested, flags, of.tags, of.method)


def _differing(old: Mapping[int, Span], new: Mapping[int, Span]) -> Iterator[int]:
    for end in old.keys() | new.keys():
        if old.get(end) != new.get(end):
            yield end


def _within(ends: list[int], first: int, last: int) -> list[int]:
    return ends[bisect_left(ends, first) : bisect_right(ends, last)]
