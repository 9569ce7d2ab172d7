"""
Statements as they stood after each filing that changed one: their lines, how each was come by, and what checks say.

A body is the statement as it is stored and served: its fields in the order of the wire, numbers in the shortest form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import date
from functools import partial
from typing import NamedTuple

import msgspec

from almanac.catalog.companies import items as catalogue_items
from almanac.derived.companies import checks
from almanac.derived.companies.checks import CheckedPeriod, QualityCheck
from almanac.derived.companies.facts import known_at
from almanac.derived.companies.financials import Amount, AmountOf, CompanyFinancials, series_ids, with_currency
from almanac.derived.companies.fiscal_calendar import DRIFT, SLACK, ReportPeriod, Span
from almanac.derived.companies.line_items import (
    BALANCE,
    CASH_FLOW,
    HALF,
    INCOME,
    INSTANT,
    NO_ITEMS,
    QUARTER,
    YEAR,
    LineItems,
)
from almanac.derived.companies.misstatements import is_money
from almanac.derived.companies.reading.quarters import BEFORE_RECAST, MIXED
from almanac.derived.companies.ttm import mixed
from almanac.domain.companies import Filing, cik_of, is_warning
from almanac.domain.filings import page_of
from almanac.domain.numbers import plain
from almanac.domain.observations import FAILED, UNKNOWN, WARNED
from almanac.domain.periods import Frequency, key_of
from almanac.domain.times import midnight, wire_day, wire_time

#: What a statement has of these one at least, or is none: single figures beside another period stay observations.
_IS_STATEMENT = {
    INCOME: frozenset(["net_income"]),
    BALANCE: frozenset(["total_assets", "net_assets"]),
    CASH_FLOW: frozenset(["net_cash_flow_from_operations"]),
}
#: Days before the end of a fiscal year on which none of its own quarters ends.
_OWN_YEAR = 350
#: Methods that compute a line from other lines of the same period: they do not make a statement derived.
_WITHIN = frozenset(["formula", "sum_of_tags"])


class StatementKey(NamedTuple):
    """One statement of a company: income, balance or cash_flow; ANNUAL, SEMIANNUAL or QUARTERLY; period key."""

    kind: str
    frequency: Frequency
    period: int


#: Kind of statement, letter of its length, last day.
StatementName = tuple[str, str, int]


class DerivedLine(msgspec.Struct, frozen=True, rename="camel"):
    """How a line was come by (`Amount.method`), and the ids of the raw series it came from."""

    method: str
    derived_from: list[str]


class Quality(msgspec.Struct, frozen=True):
    """Results of the checks of a statement, and their verdict."""

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


#: What a body says of the filing that it is from.
_OF_FILING = ("filed_at", "observed_at", "form", "accession", "source_url", "revision_status")


class StatementVersion(NamedTuple):
    """One state of a statement, known from an instant; None: there is none any more."""

    known: int
    body: StatementBody | None


class StatementHistory:
    """All versions of a company's statements, written as its line items go through time."""

    def __init__(self, line_items: LineItems) -> None:
        self.line_items = line_items
        self.history = history = line_items.history
        self.versions: dict[StatementKey, list[StatementVersion]] = {}
        served = [history.items[key] for key in catalogue_items() if key in history.items and history.items[key].served]
        self.lines = {kind: [item for item in served if item.statement == kind] for kind in _IS_STATEMENT}
        #: Period key and body of the statements that stand.
        self._standing: dict[StatementName, tuple[int, StatementBody]] = {}
        self._contradictions = any(disclosure.vintage.inconsistent for disclosure in history.disclosures)
        self._never_negative = frozenset(item.key for item in history.items.values() if item.never_negative)
        #: 8-K filings that say that statements are not to be relied upon (item 4.02), the last first.
        self._warnings = sorted(filter(is_warning, history.company.filings.values()), key=known_at, reverse=True)
        self.moments = {known_at(warning) for warning in self._warnings}

    def write(
        self, moment: int, filing: Filing | None, names: AbstractSet[StatementName], financials: CompanyFinancials
    ) -> set[StatementName]:
        """
        Write statements anew, and those that a warning is about. `filing` became known at the moment and counts last: None
        where only a warning did, which changes no line. Returns the statements that changed.
        """
        doubted = set[StatementName]()
        if moment in self.moments or any(slip.since == moment for slip in self.history.slips.values()):
            doubted = {*self._standing}
        elif self._warnings:
            own_reports = [report for report in self.history.calendar.own_reports if report.known == moment]
            doubted = {
                name for name in self._standing if any(_reports(report, name[0], name[2]) for report in own_reports)
            }
        return {name for name in sorted(names | doubted) if self._write(moment, filing, name, financials)}

    def flags(self, kind: str, end: int) -> dict[str, int]:
        """
        Return what checks say of the items of a period (Q, S or A), or of the balances at its end (I): WARNED or FAILED.

        What is computed from an item has its flag, and a fourth quarter that is computed from its year the failures of the
        year. So quality travels: sums of twelve months, ratios and scores have the flags of all that they are made of.
        """
        amounts = self.line_items.of(kind, end).amounts
        letters, kinds = ((QUARTER, YEAR, HALF), (BALANCE,)) if kind == INSTANT else ((kind,), (INCOME, CASH_FLOW))
        flags: dict[str, int] = {}
        for name in ((statement, letter, end) for statement in kinds for letter in letters):
            _, body = self._standing.get(name, (0, None))
            for check in body.quality.checks if body is not None else ():
                if check.status == checks.FAILED:
                    flag = FAILED if check.name in checks.FATAL else WARNED
                    for key in self._with_dependents(amounts, check.items or ()):
                        flags[key] = max(flags.get(key, 0), flag)
        if kind == QUARTER:
            of_year = [key for key, amount in amounts.items() if any(tag.endswith(f":{YEAR}") for tag in amount.tags)]
            failed = self.flags(YEAR, end) if of_year else {}
            for key in self._with_dependents(amounts, [key for key in of_year if failed.get(key) == FAILED]):
                flags[key] = FAILED
        return flags

    def _with_dependents(self, amounts: Mapping[str, Amount], keys: Iterable[str]) -> set[str]:
        """Return items, and those of the period that are computed from them."""
        dependents = self.history.mapping.dependents
        items: set[str] = set()
        left = [key for key in keys if key in dependents]
        while left:
            key = left.pop()
            if key not in items:
                items.add(key)
                left += [name for name in dependents[key] if name in amounts and amounts[name].method == "formula"]
        return items

    # -- one statement -----------------------------------------------------------------------------------------------

    def _write(self, moment: int, filing: Filing | None, name: StatementName, financials: CompanyFinancials) -> bool:
        """Write one statement; return whether it changed."""
        kind, letter, end = name
        key = partial(StatementKey, kind, Frequency(letter))
        span = self.line_items.fiscal_periods.of(letter).get(end)
        standing = self._standing.get(name)
        content = None if span is None else self._content(moment, kind, letter, span, financials)
        if content is None or span is None:
            if standing is not None:
                del self._standing[name]
                self.versions[key(standing[0])].append(StatementVersion(moment, None))
            return standing is not None
        period = key_of(None if kind == BALANCE else span.start, end)
        versions = self.versions.setdefault(key(period), [])
        earlier = (version.body for version in reversed(versions) if version.body is not None)
        before = standing[1] if standing is not None else next(earlier, None)
        if before is not None and before.items == content.items:
            # A filing that only repeats the numbers is not their source.
            source = {field: getattr(before, field) for field in _OF_FILING}
        else:
            assert filing is not None
            company, status = self.history.company, self._status(moment, name, before, content)
            page = page_of(cik_of(company.entity), filing.accession, filing.document) if company.archived else None
            values = (_day(filing.filed), wire_time(moment), filing.form, filing.accession, page, status)
            source = dict(zip(_OF_FILING, values, strict=True))
        body = msgspec.structs.replace(content, **source)
        warning = self._warning(moment, name, body.accession)
        if warning is not None:
            detail = (
                f"on {date.fromordinal(warning.filed).isoformat()} the company said that statements it had filed are not to be relied upon"
                f" (8-K {warning.accession}, item 4.02)"
            )
            outcomes = [*body.quality.checks, QualityCheck("relied_upon", checks.FAILED, detail, tuple(body.items))]
            body = msgspec.structs.replace(body, quality=Quality(checks.verdict(outcomes), outcomes))
        if standing == (period, body):
            return False
        if standing is not None and standing[0] != period:
            self.versions[key(standing[0])].append(StatementVersion(moment, None))
        self._standing[name] = (period, body)
        versions.append(StatementVersion(moment, body))
        return True

    def _warning(self, moment: int, name: StatementName, accession: str) -> Filing | None:
        """
        Return the last warning against a statement that is of the filing `accession`; None if it may be relied upon.

        The index of filings does not say which periods a warning is about. It is taken to be about the last fiscal year
        that was reported and all that was after it, until a later filing changes the statement, reports on its period
        anew or shows it again beside the same one a year later.
        """
        kind, _, end = name
        for warning in self._warnings:
            since = known_at(warning)
            if since > moment or end > warning.filed or known_at(self.history.company.filings[accession]) >= since:
                continue
            own_reports = [report for report in self.history.calendar.own_reports if report.known <= moment]
            last_year = max(
                (report.end for report in own_reports if report.kind == "year" and report.known <= since), default=0
            )
            if end > last_year - _OWN_YEAR and not any(
                report.known > since and _reports(report, kind, end) for report in own_reports
            ):
                return warning
        return None

    def _status(self, moment: int, name: StatementName, before: StatementBody | None, content: StatementBody) -> str:
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
        amounts = self.line_items.of(INSTANT if kind == BALANCE else letter, end).amounts
        return {item.key: amounts[item.key] for item in self.lines[kind] if item.key in amounts}

    def _content(
        self, moment: int, kind: str, letter: str, span: Span, financials: CompanyFinancials
    ) -> StatementBody | None:
        """Return the body without what is said of the filing that made it; None where what is there is no statement."""
        amounts = self._amounts(kind, letter, span.end)
        if not _IS_STATEMENT[kind].intersection(amounts):
            return None
        outcomes = checks.checks_of(kind, self._checked_period(moment, kind, letter, span, amounts, financials))
        year, quarter = span.calendar or (date.fromordinal((span.start + span.end) // 2).year, None)
        company = self.history.company
        currency = self.history.bases[next(iter(amounts.values())).reporting_basis].currency
        return StatementBody(
            frequency=Frequency(letter).word,
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
                key: DerivedLine(
                    amount.method,
                    series_ids(company.source, company.entity, with_currency(company, amount.tags, currency)),
                )
                for key, amount in amounts.items()
                if amount.method is not None
            },
            quality=Quality(checks.verdict(outcomes), outcomes),
        )

    # -- what checks look at -----------------------------------------------------------------------------------------

    def _checked_period(
        self,
        moment: int,
        kind: str,
        letter: str,
        span: Span,
        lines: Mapping[str, Amount],
        financials: CompanyFinancials,
    ) -> CheckedPeriod:
        line_items, end, periods = self.line_items, span.end, self.line_items.fiscal_periods
        cell_kind = INSTANT if kind == BALANCE else letter
        period = line_items.of(cell_kind, end)
        is_quarter = letter == QUARTER and kind == INCOME
        has_twelve_months = kind != BALANCE and (letter == QUARTER or (letter == HALF and not periods.quarters))
        filling = periods.quarters_within(span.start, end) if letter == YEAR and kind != BALANCE else ()

        def amounts(kind: str, end: int | None) -> AmountOf:
            """Return the amounts of another period, none where it is of another reporting basis."""
            other = NO_ITEMS if end is None else line_items.of(kind, end)
            return other.amounts.get if other.basis == period.basis else checks.nothing

        neighbours: Iterable[int | None] = ()
        year: int | None = None
        if is_quarter:
            after = next((quarter.end for quarter in periods.quarters.values() if quarter.previous == end), None)
            year_before = next((last for last in periods.quarters if abs(end - 365 - last) <= SLACK), None)
            neighbours = (span.previous, after, year_before)
            year = next((year.end for year in periods.years.values() if year.start <= end <= year.end), None)
        return CheckedPeriod(
            get=period.amounts.get,
            before=amounts(cell_kind, span.previous),
            closing=amounts(INSTANT, end),
            opening=amounts(INSTANT, span.start - 1),
            quarters=[amounts(QUARTER, quarter.end) for quarter in filling],
            additive=[item.key for item in self.lines[kind] if item.additive and item.kind == "flow"],
            keys=[item.key for item in self.lines[kind]],
            contradicted=[key for key in lines if self._contradictions and self._contradicted(lines[key])],
            in_another_scale=[key for key in lines if self._in_another_scale(moment, lines[key])]
            if self.history.slips
            else None,
            remark=period.remarks.get,
            never_negative=self._never_negative,
            neighbours=[amounts(QUARTER, last) for last in neighbours if last is not None],
            year=amounts(YEAR, year),
            incomes=(amounts(letter, end), amounts(letter, span.previous)),
            mixed=partial(mixed, financials, end=end, frequency=Frequency(letter))
            if has_twelve_months
            else checks.nothing,
        )

    def _in_another_scale(self, moment: int, amount: Amount) -> bool:
        """Return whether an amount comes from a filing that is known to be in another scale."""
        within = amount.start is None or amount.method is None or amount.method in _WITHIN
        first = amount.end if within or amount.start is None else amount.start - 1
        for name in amount.tags:
            tag = name.rpartition(":")[0]
            if not is_money(tag):
                continue
            for end, facts in self.line_items.facts[amount.reporting_basis].tags.get(tag, {}).items():
                for start, fact in facts.items() if first <= end <= amount.end else ():
                    slip = self.history.slips.get(fact.latest.accession)
                    if slip is not None and slip.since <= moment and slip.concerns(start):
                        return True
        return False

    def _contradicted(self, amount: Amount) -> bool:
        tags = self.line_items.facts[amount.reporting_basis].tags
        return any(
            fact.latest.inconsistent
            for name in amount.tags
            for fact in tags.get(name.rpartition(":")[0], {}).get(amount.end, {}).values()
        )


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


def _reports(report: ReportPeriod, kind: str, end: int) -> bool:
    """
    Return whether a report is about a period, or shows it as the one that ended a year before its own; of balances quarterly
    reports do not.
    """
    beside = abs(report.end - 365 - end) <= DRIFT and (kind != BALANCE or report.kind == "year")
    return report.end == end or beside
