"""
Statements as they stood after each filing that changed one: their lines, how each was come by, and what checks say.

A body is the statement as it is stored and served: its fields in the order of the wire, numbers in the shortest form.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from datetime import date
from functools import partial
from typing import NamedTuple

import msgspec

from almanac.derived.companies import checks
from almanac.derived.companies.checks import CheckedPeriod
from almanac.derived.companies.financials import Amount, AmountOf, series_ids, with_currency
from almanac.derived.companies.fiscal_calendar import SLACK, Span
from almanac.derived.companies.line_items import (
    BALANCE,
    CASH_FLOW,
    HALF,
    INCOME,
    INSTANT,
    QUARTER,
    YEAR,
    LineItems,
)
from almanac.derived.companies.marks import Marks
from almanac.derived.companies.quality_check import QualityCheck
from almanac.derived.companies.reading.choice import Values
from almanac.derived.companies.reading.quarters import BEFORE_RECAST, MIXED
from almanac.derived.companies.reliance import Reliance
from almanac.derived.companies.scales import is_money
from almanac.derived.companies.ttm import LONGEST, mixed
from almanac.domain.companies import Filing, cik_of
from almanac.domain.filings import page_of
from almanac.domain.numbers import plain
from almanac.domain.observations import UNKNOWN
from almanac.domain.periods import Frequency, key_of
from almanac.domain.times import midnight, wire_day, wire_time

_CHECKS = {INCOME: checks.of_income, BALANCE: checks.of_balance, CASH_FLOW: checks.of_cash_flow}
#: What a statement has of these one at least, or is none: single figures beside another period stay observations.
_IS_STATEMENT = {
    INCOME: frozenset(["net_income"]),
    BALANCE: frozenset(["total_assets", "net_assets"]),
    CASH_FLOW: frozenset(["net_cash_flow_from_operations"]),
}
_WORD = {YEAR: "annual", QUARTER: "quarterly", HALF: "semiannual"}
_FREQUENCY = {YEAR: Frequency.ANNUAL, QUARTER: Frequency.QUARTERLY, HALF: Frequency.SEMIANNUAL}
_SHARES = "weighted_average_shares_basic"
#: Days within which the next period of a length ends.
_NEXT = {QUARTER: 130, HALF: 230, YEAR: 400}
#: Methods that compute a line from other lines of the same period: they do not make a statement derived.
_WITHIN = frozenset(["formula", "sum_of_tags"])


class StatementKey(NamedTuple):
    """One statement of a company: income, balance or cash_flow; ANNUAL, SEMIANNUAL or QUARTERLY; period key."""

    kind: str
    frequency: Frequency
    period: int


class DerivedLine(msgspec.Struct, frozen=True, rename="camel"):
    """How a line was come by (`Amount.method`), and the ids of the raw series it came from."""

    method: str
    derived_from: list[str]


class Quality(msgspec.Struct, frozen=True):
    """What the checks say of a statement, and their verdict."""

    status: str
    checks: list[QualityCheck]


class StatementBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """
    A statement of one period. `items`: line → value, as filed; `derived_items`: those that are not as filed.

    What is said of the filing has a default: it is that of the one that last changed an item, known when all is told.
    """

    frequency: str
    fiscal_year: int
    fiscal_period: str
    calendar_year: int
    calendar_quarter: int | None
    period_start: str | None
    period_end: str
    filed_at: str = ""
    observed_at: str = ""
    form: str = ""
    accession: str = ""
    source_url: str | None = None
    currency: str
    revision_status: str = ""
    basis: str
    items: dict[str, float]
    derived_items: dict[str, DerivedLine]
    quality: Quality


class StatementVersion(NamedTuple):
    """One state of a statement, known from an instant; None: there is none any more."""

    known: int
    body: StatementBody | None


class StatementHistory:
    """All versions of a company's statements, written as its line items go through time."""

    def __init__(self, line_items: LineItems) -> None:
        self.line_items = line_items
        self.versions: dict[StatementKey, list[StatementVersion]] = {}
        self.lines: dict[str, list[str]] = {INCOME: [], BALANCE: [], CASH_FLOW: []}
        self.additive: dict[str, list[str]] = {INCOME: [], BALANCE: [], CASH_FLOW: []}
        for item in line_items.items.values():
            if item.served:
                self.lines[item.statement].append(item.key)
                if item.additive and item.kind == "flow":
                    self.additive[item.statement].append(item.key)
        for lines in self.lines.values():
            lines.sort(key=line_items.items_in_order.index)
        self._statement_of = {item.key: item.statement for item in line_items.items.values()}
        #: (statement, letter, end) → period key and body that stand.
        self._standing: dict[tuple[str, str, int], tuple[int, StatementBody]] = {}
        self._contradictions = any(
            vintage.inconsistent
            for periods in line_items.company.facts.values()
            for history in periods.values()
            for vintage in history
        )
        self._never_negative = frozenset(item.key for item in line_items.items.values() if item.never_negative)
        self._ids: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        self._reliance = Reliance(line_items)
        self.marks = Marks(line_items)
        self._moment = 0
        #: Instants at which a warning of the company became known.
        self.moments = self._reliance.moments

    def write(
        self, moment: int, filings: list[Filing], changed: Mapping[tuple[str, int], set[str]]
    ) -> set[tuple[str, int, str]]:
        """
        Write what changed at an instant. `filings` became known at it, the one that counts last: none where only a warning
        did, which changes no line. Returns the amounts of which checks say something else now: kind of period, end, item.
        """
        self._moment = moment
        slipped = any(slip.since == moment for slip in self.line_items.slips.values())
        doubted = {name for name in self._standing if slipped or self._reliance.touched(moment, name[0], name[2])}
        for kind, letter, end in sorted(self._concerned(changed) | doubted):
            self._write(moment, filings[-1] if filings else None, kind, letter, end)
        return self.marks.taken()

    # -- which -------------------------------------------------------------------------------------------------------

    def _concerned(self, changed: Mapping[tuple[str, int], set[str]]) -> set[tuple[str, str, int]]:
        """Statements whose lines or checks look at what changed."""
        fiscal_periods = self.line_items.fiscal_periods
        spans = {QUARTER: fiscal_periods.quarters, HALF: fiscal_periods.halves, YEAR: fiscal_periods.years}
        ends = {letter: sorted(of) for letter, of in spans.items()}
        found: set[tuple[str, str, int]] = set()
        for (letter, end), keys in changed.items():
            if letter == INSTANT:
                for other, own in ends.items():
                    found.add((BALANCE, other, end))
                    found.add((CASH_FLOW, other, end))
                    for last in own[bisect_right(own, end) :][:1]:
                        # The next one compares with this, and begins with this cash.
                        found.add((BALANCE, other, last))
                        found.add((CASH_FLOW, other, last))
                continue
            for kind in {self._statement_of[key] for key in keys}:
                found.add((kind, letter, end))
                own = ends[letter]
                found.update((kind, letter, last) for last in own[bisect_right(own, end) :][:1])
                # Twelve months of later quarters are of this period and of the one a year before.
                found.update((kind, QUARTER, last) for last in _after(ends[QUARTER], end, 2 * LONGEST))
                if letter == QUARTER:
                    years = ends[YEAR]
                    found.update((kind, YEAR, last) for last in years[bisect_left(years, end) :][:1])
            if _SHARES in keys:
                found.update((BALANCE, letter, last) for last in ends[letter] if end <= last <= end + _NEXT[letter])
            if letter == QUARTER and "revenue" in keys:
                found.update(
                    (INCOME, QUARTER, last) for last in ends[QUARTER] if end - 130 <= last <= end + 365 + SLACK
                )
            if letter == YEAR and INCOME in {self._statement_of[key] for key in keys}:
                found.add((INCOME, QUARTER, end))
            if letter == YEAR and _SHARES in keys:
                found.update((INCOME, QUARTER, last) for last in ends[QUARTER] if end - 390 <= last <= end)
        return found

    # -- one statement -----------------------------------------------------------------------------------------------

    def _write(self, moment: int, filing: Filing | None, kind: str, letter: str, end: int) -> None:
        span = self.line_items.span(letter, end)
        name = (kind, letter, end)
        held = self._standing.get(name)
        content = None if span is None else self._content(kind, letter, span)
        if content is None or span is None:
            if held is not None:
                del self._standing[name]
                self.versions[StatementKey(kind, _FREQUENCY[letter], held[0])].append(StatementVersion(moment, None))
                self.marks.put(name, ())
            return
        period = key_of(None if kind == BALANCE else span.start, end)
        versions = self.versions.setdefault(StatementKey(kind, _FREQUENCY[letter], period), [])
        told = [held[1]] if held is not None else [version.body for version in versions if version.body is not None]
        before = told[-1] if told else None
        if before is not None and before.items == content.items:
            body = _as_told(before, content)
        else:
            assert filing is not None
            body = self._body(moment, filing, self._status(moment, name, before, content), content)
        warning = self._reliance.check(moment, kind, end, body.accession, tuple(body.items))
        if warning is not None:
            found = [*body.quality.checks, warning]
            body = msgspec.structs.replace(body, quality=Quality(checks.verdict(found), found))
        if held == (period, body):
            return
        self.marks.put(name, body.quality.checks)
        if held is not None and held[0] != period:
            self.versions[StatementKey(kind, _FREQUENCY[letter], held[0])].append(StatementVersion(moment, None))
        self._standing[name] = (period, body)
        versions.append(StatementVersion(moment, body))

    def _status(
        self, moment: int, name: tuple[str, str, int], before: StatementBody | None, content: StatementBody
    ) -> str:
        """Return initial, revised or unknown by the rule for observations; revised once a served number has changed."""
        kind, letter, end = name
        if any(amount.flags & UNKNOWN for amount in self._amounts(kind, letter, end).values()):
            return "unknown"
        if before is not None:
            changed = any(content.items.get(key) != value for key, value in before.items.items())
            return "revised" if changed else before.revision_status
        allowance = Frequency(letter).allowance_days
        return "initial" if moment <= midnight(end + allowance + 1) else "unknown"

    def _amounts(self, kind: str, letter: str, end: int) -> dict[str, Amount]:
        values = self.line_items.values[INSTANT if kind == BALANCE else letter]
        return {key: amount for key in self.lines[kind] if (amount := values[key].get(end)) is not None}

    def _content(self, kind: str, letter: str, span: Span) -> StatementBody | None:
        """Return the body without what is said of the filing that made it; None where what is there is no statement."""
        amounts = self._amounts(kind, letter, span.end)
        if not _IS_STATEMENT[kind].intersection(amounts):
            return None
        line_items = self.line_items
        found = _CHECKS[kind](self._checked_period(kind, letter, span))
        year, quarter = span.calendar or (date.fromordinal((span.start + span.end) // 2).year, None)
        currency = line_items.regimes.names[next(iter(amounts.values())).regime].currency
        return StatementBody(
            frequency=_WORD[letter],
            fiscal_year=span.fiscal_year,
            fiscal_period=span.fiscal_period,
            calendar_year=year,
            calendar_quarter=quarter,
            period_start=None if kind == BALANCE else _day(span.start),
            period_end=_day(span.end),
            currency=currency,
            basis=_basis(amounts.values()),
            items={key: plain(amount.value) for key, amount in amounts.items()},
            derived_items={
                key: DerivedLine(amount.method, self._from(currency, amount.tags))
                for key, amount in amounts.items()
                if amount.method is not None
            },
            quality=Quality(checks.verdict(found), found),
        )

    def _from(self, currency: str, tags: tuple[str, ...]) -> list[str]:
        found = self._ids.get((currency, tags))
        if found is None:
            company = self.line_items.company
            names = with_currency(company, tags, currency)
            found = self._ids[currency, tags] = series_ids(company.source, company.entity, names)
        return found

    def _body(self, moment: int, filing: Filing, status: str, content: StatementBody) -> StatementBody:
        return msgspec.structs.replace(
            content,
            filed_at=_day(filing.filed),
            observed_at=wire_time(moment),
            form=filing.form,
            accession=filing.accession,
            source_url=self._url(filing),
            revision_status=status,
        )

    def _url(self, filing: Filing) -> str | None:
        company = self.line_items.company
        if not company.archived:
            return None
        return page_of(cik_of(company.entity), filing.accession, filing.document)

    # -- what checks look at -----------------------------------------------------------------------------------------

    def _checked_period(self, kind: str, letter: str, span: Span) -> CheckedPeriod:
        line_items = self.line_items
        values = line_items.values
        own = values[INSTANT if kind == BALANCE else letter]
        instants = values[INSTANT]
        end, before = span.end, span.previous
        regime = line_items.regime(INSTANT if kind == BALANCE else letter, end)
        _at = partial(_of_regime, regime)
        return CheckedPeriod(
            get=partial(_at, own, end),
            before=partial(_at, own, before),
            closing=partial(_at, instants, end),
            opening=partial(_at, instants, span.start - 1),
            quarters=self._quarters(span, regime) if letter == YEAR and kind != BALANCE else (),
            additive=self.additive[kind],
            keys=self.lines[kind],
            contradicted=self._contradicted if self._contradictions else None,
            in_another_scale=self._in_another_scale if line_items.slips else None,
            remark=partial(self._remark, INSTANT if kind == BALANCE else letter, end),
            never_negative=self._never_negative,
            neighbours=self._neighbours(span, regime) if letter == QUARTER and kind == INCOME else (),
            year=partial(_at, values[YEAR], self._year_of(end))
            if letter == QUARTER and kind == INCOME
            else checks.nothing,
            incomes=(partial(_at, values[letter], end), partial(_at, values[letter], before)),
            mixed=partial(mixed, line_items.financials(), end=end, frequency=_FREQUENCY[letter])
            if kind != BALANCE and (letter == QUARTER or (letter == HALF and not line_items.fiscal_periods.quarters))
            else checks.nothing,
        )

    def _remark(self, kind: str, end: int, key: str) -> str | None:
        return self.line_items.remarks[kind][key].get(end)

    def _year_of(self, end: int) -> int | None:
        """Return the end of the own year that a day lies in."""
        years = self.line_items.fiscal_periods.years.values()
        return next((year.end for year in years if year.start <= end <= year.end), None)

    def _neighbours(self, span: Span, regime: int) -> list[AmountOf]:
        quarters = self.line_items.fiscal_periods.quarters
        after = next((one.end for one in quarters.values() if one.previous == span.end), None)
        year_before = next((end for end in quarters if abs(span.end - 365 - end) <= SLACK), None)
        ends = [end for end in (span.previous, after, year_before) if end is not None]
        return [partial(_of_regime, regime, self.line_items.values[QUARTER], end) for end in ends]

    def _quarters(self, year: Span, regime: int) -> list[AmountOf]:
        """Quarters that fill a year exactly; none where one is not there."""
        values = self.line_items.values[QUARTER]
        found: list[AmountOf] = []
        last: int | None = year.end
        while last is not None:
            span = self.line_items.fiscal_periods.quarters.get(last)
            if span is None or span.start < year.start:
                return []
            found.append(partial(_of_regime, regime, values, last))
            if span.start == year.start:
                return found
            last = span.previous
        return []

    def _in_another_scale(self, amount: Amount) -> bool:
        """Whether an amount comes from a filing that is known to be in another scale."""
        slips = self.line_items.slips
        within = amount.start is None or amount.method is None or amount.method in _WITHIN
        first = amount.end if within or amount.start is None else amount.start - 1
        for name in amount.tags:
            tag = name.rpartition(":")[0]
            if not is_money(tag):
                continue
            for end, facts in self.line_items.known_facts.views[amount.regime].get(tag, {}).items():
                for start, fact in facts.items() if first <= end <= amount.end else ():
                    slip = slips.get(fact.latest.accession)
                    if slip is not None and slip.since <= self._moment and slip.concerns(start):
                        return True
        return False

    def _contradicted(self, amount: Amount) -> bool:
        for name in amount.tags:
            tag = name.rpartition(":")[0]
            for fact in self.line_items.known_facts.views[amount.regime].get(tag, {}).get(amount.end, {}).values():
                if fact.latest.inconsistent:
                    return True
        return False


def _after(ends: list[int], end: int, days: int) -> list[int]:
    return ends[bisect_right(ends, end) : bisect_right(ends, end + days)]


def _as_told(before: StatementBody, content: StatementBody) -> StatementBody:
    """Content under the filing of a statement with the same numbers: one that only repeats them is not their source."""
    return msgspec.structs.replace(
        content,
        filed_at=before.filed_at,
        observed_at=before.observed_at,
        form=before.form,
        accession=before.accession,
        source_url=before.source_url,
        revision_status=before.revision_status,
    )


def _of_regime(regime: int, values: Values, end: int | None, item: str) -> Amount | None:
    """Return an item's amount for the period that ends on a day; None where there is none of one standard and currency."""
    amount = values[item].get(end) if end is not None and item in values else None
    return amount if amount is not None and amount.regime == regime else None


def _basis(amounts: Iterable[Amount]) -> str:
    """
    Return `reported`: each line as filed for the period; `derived`: none is; `mixed`: some are, or a difference is of
    figures that were recast, or may be, for one of its periods.
    """
    methods = {amount.method for amount in amounts if amount.method not in _WITHIN}
    if any(method is not None and method.endswith((MIXED, BEFORE_RECAST)) for method in methods):
        return "mixed"
    if None not in methods:
        return "derived" if methods else "reported"
    return "reported" if len(methods) == 1 else "mixed"


def _day(day: int) -> str:
    return wire_day(date.fromordinal(day))
