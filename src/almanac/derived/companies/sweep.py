"""
From the vintages of facts to the vintages of items, measures and statements, for every moment of knowledge at once.

At each instant at which a fact or the fiscal calendar changed, what that can touch is computed anew from the facts
known then, and where the result differs from the one before, a vintage is made. So derive(as of T) = (derive)(as of T)
for every T; `accounts.as_known` is the plain way to the same.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple, Protocol

from almanac.derived.companies.accounts import HALF, INSTANT, QUARTER, YEAR, Accounts
from almanac.derived.companies.book import CompanyInput, Event, events, known_at
from almanac.derived.companies.calendar import Grid, Span
from almanac.derived.companies.items import COVER_DAYS, PROOF_DAYS
from almanac.derived.companies.ledger import Amount, Ledger
from almanac.derived.companies.statements import Book as StatementBook
from almanac.derived.companies.statements import StatementKey, Version
from almanac.domain.companies import Filing, is_periodic
from almanac.domain.observations import DAY
from almanac.domain.periods import Frequency, key_of

__all__ = ["Made", "Measured", "Outcome", "StatementKey", "Version", "sweep"]


class Made(NamedTuple):
    """One vintage of a derived series. `value` None: it can no longer be computed. `tags` as in `Amount`."""

    known: int
    value: float | None
    released: int | None
    ingested: int
    flags: int
    tags: tuple[str, ...]
    #: How it was come by; None: as reported.
    note: str | None


class Measured(Protocol):
    """What a measure gives (ratios.Measure)."""

    @property
    def value(self) -> float: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def method(self) -> str | None: ...
    @property
    def released(self) -> int | None: ...
    @property
    def ingested(self) -> int: ...
    @property
    def flags(self) -> int: ...


#: Measures of the period that ends on a day, looking at that day and `reach` days before it only.
Measure = Callable[[Ledger, int, Frequency], Mapping[str, Measured]]

#: (item or measure, frequency) → period key → vintages, ascending by knowledge time.
Vintages = dict[tuple[str, Frequency], dict[int, list[Made]]]


class Outcome(NamedTuple):
    """All vintages of a company."""

    items: Vintages
    statements: dict[StatementKey, list[Version]]


_FREQUENCIES = {QUARTER: Frequency.QUARTERLY, HALF: Frequency.SEMIANNUAL, YEAR: Frequency.ANNUAL}


def sweep(company: CompanyInput, *, measure: Measure | None = None, reach: int = 0) -> Outcome:
    """
    Sweep a company through all instants at which something became known.

    There is no sweeping of a part: one report can move the calendar of years long past. `measure` and `reach` as
    `Measure` says. Raises ValueError where a filing that facts name has no time or is not there.
    """
    return _Sweep(company, measure, reach).run()


class _Sweep:
    def __init__(self, company: CompanyInput, measure: Measure | None, reach: int) -> None:
        self.company = company
        self.measure = measure
        self.reach = reach
        self.events = events(company.facts)
        self.accounts = Accounts(company, self.events)
        self.plan = self.accounts.plan
        self.served = {key for key, item in self.accounts.items.items() if item.served}
        self.out: Vintages = defaultdict(lambda: defaultdict(list))
        #: (item, frequency, end) → period key and value that stand.
        self.standing: dict[tuple[str, Frequency, int], tuple[int, float]] = {}
        #: Measures that stand, by end.
        self.measured: dict[int, dict[str, tuple[int, float]]] = {}
        self.frequency = Frequency.ANNUAL
        self.statements = StatementBook(self.accounts)
        self.quarter_ends: list[int] = []
        self.year_ends: list[int] = []
        self.half_ends: list[int] = []
        self.ingested = 0
        #: Amounts of this instant that came out different, or whose period did, by kind and end.
        self.changed: dict[tuple[str, int], set[str]] = {}

    def run(self) -> Outcome:
        """Go through all instants."""
        filings = self._filings()
        by_moment = {known: list(group) for known, group in groupby(self.events, key=lambda event: event.known)}
        for moment in sorted({*by_moment, *self.accounts.calendar.moments}):
            self._at(moment, by_moment.get(moment, []), filings.get(moment, []))
        return Outcome({name: dict(cells) for name, cells in self.out.items()}, self.statements.versions)

    def _filings(self) -> dict[int, list[Filing]]:
        """Filings by the moment they became known, what is periodic last."""
        named = {event.vintage.accession for event in self.events}
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

    def _at(self, moment: int, happened: list[Event], filings: list[Filing]) -> None:
        accounts = self.accounts
        for event in happened:
            accounts.book.learn(event, self.company.facts)
            self.ingested = max(self.ingested, event.vintage.ingested)
        dirty: dict[str, dict[int, set[str]]] = {kind: {} for kind in (INSTANT, QUARTER, HALF, YEAR)}
        self.changed = {}
        moved: set[tuple[str, int]] = set()
        if moment in accounts.calendar.moments:
            moved = self._turn(accounts.calendar.at(moment), dirty)
        for event in happened:
            self._mark(event, dirty)
        for kind in (INSTANT, QUARTER, HALF, YEAR):
            for end in sorted(dirty[kind]):
                self._compute(kind, end, dirty)
        for kind, end in moved:
            self.changed.setdefault((kind, end), set()).update(accounts.keys(kind))
        for (kind, end), keys in self.changed.items():
            for key in keys:
                if key in self.served:
                    self._emit_item(moment, kind, end, key)
        if self.measure is not None:
            self._emit_measures(moment)
        self.statements.write(moment, filings, self.changed)

    # -- what can have changed --------------------------------------------------------------------------------------

    def _turn(self, grid: Grid, dirty: dict[str, dict[int, set[str]]]) -> set[tuple[str, int]]:
        """Take the calendar of this moment. Returns the periods that came, went or moved."""
        before = self.accounts.grid
        moved: set[tuple[str, int]] = set()
        for kind, old, new in (
            (QUARTER, before.quarters, grid.quarters),
            (HALF, before.halves, grid.halves),
            (YEAR, before.years, grid.years),
        ):
            for end in _differing(old, new):
                moved.add((kind, end))
                moved.add((INSTANT, end))
        if not moved:
            return moved
        self.accounts.turn(grid)
        self.quarter_ends, self.year_ends = sorted(grid.quarters), sorted(grid.years)
        self.half_ends = sorted(grid.halves)
        every = {kind: self.accounts.keys(kind) for kind in dirty}
        for kind, end in moved:
            dirty[kind].setdefault(end, set()).update(every[kind])
            if kind == QUARTER:
                # A quarter that comes to be known may make later ones, and its year, computable.
                for other, ends, days in ((QUARTER, self.quarter_ends, 330), (YEAR, self.year_ends, 390)):
                    for last in _within(ends, end, end + days):
                        dirty[other].setdefault(last, set()).update(every[other])
        return moved

    def _mark(self, event: Event, dirty: dict[str, dict[int, set[str]]]) -> None:
        keys = self.plan.direct.get(event.tag)
        if keys is None:
            return
        end = event.end
        if event.start is None:
            first = end - COVER_DAYS if event.tag.startswith("dei:") else end
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
        for key in self.accounts.keys(kind):
            if key in wanted and self.accounts.compute(kind, end, key):
                different.add(key)
                wanted |= self.plan.dependents[key]
        if not different:
            return
        self.changed.setdefault((kind, end), set()).update(different)
        if kind == QUARTER:
            place = bisect_left(self.year_ends, end)
            if place < len(self.year_ends):
                dirty[YEAR].setdefault(self.year_ends[place], set()).update(different)

    # -- what is made of it -----------------------------------------------------------------------------------------

    def _emit_item(self, moment: int, kind: str, end: int, key: str) -> None:
        amount = self.accounts.values[kind][key].get(end)
        grid = self.accounts.grid
        if kind != INSTANT:
            self._stand(moment, key, _FREQUENCIES[kind], end, amount)
            return
        for frequency, spans in (
            (Frequency.QUARTERLY, grid.quarters),
            (Frequency.SEMIANNUAL, grid.halves),
            (Frequency.ANNUAL, grid.years),
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

    def _make(self, key: str, frequency: Frequency, period: int, made: Made) -> None:
        self.out[key, frequency][period].append(made)

    def _withdraw(self, moment: int, key: str, frequency: Frequency, period: int) -> None:
        self._make(key, frequency, period, Made(moment, None, None, self.ingested, 0, (), None))

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
        ledger = self.accounts.ledger()
        known = set(ends)
        for end in sorted(wanted | (self.measured.keys() - known)):
            found = self.measure(ledger, end, frequency) if end in known else {}
            self._remeasure(moment, end, found, frequency)

    def _measured_ends(self) -> tuple[Frequency, list[int]]:
        if self.quarter_ends:
            return Frequency.QUARTERLY, sorted({*self.quarter_ends, *self.year_ends})
        if self.half_ends:
            return Frequency.SEMIANNUAL, sorted({*self.half_ends, *self.year_ends})
        return Frequency.ANNUAL, self.year_ends

    def _remeasure(self, moment: int, end: int, found: Mapping[str, Measured], frequency: Frequency) -> None:
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


def _made(moment: int, of: Amount | Measured) -> Made:
    released = of.released
    flags = of.flags if released is not None else of.flags & ~DAY
    return Made(moment, of.value, released, of.ingested, flags, of.tags, of.method)


def _differing(old: Mapping[int, Span], new: Mapping[int, Span]) -> Iterator[int]:
    for end in old.keys() | new.keys():
        if old.get(end) != new.get(end):
            yield end


def _within(ends: list[int], first: int, last: int) -> list[int]:
    return ends[bisect_left(ends, first) : bisect_right(ends, last)]
