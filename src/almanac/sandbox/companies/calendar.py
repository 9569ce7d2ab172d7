"""
Fiscal calendars of the simulated companies: quarters in a row, and the fiscal years that they make up.

Days are proleptic ordinals.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from almanac.domain.periods import add_months
from almanac.sandbox.companies.filers import Filer, YearEnd

_SATURDAY = 5


@dataclass(frozen=True, slots=True)
class FiscalYear:
    """Quarters `first` to `last` (places in the calendar), under the name the filer gives the year."""

    label: int
    first: int
    last: int
    #: Half a year between the old year end and the new one.
    transition: bool = False


@dataclass(frozen=True, slots=True)
class Calendar:
    """Quarter q runs from `starts[q]` to `ends[q]`. Only quarters that are over are in it; the last year may be short."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    years: tuple[FiscalYear, ...]


def _month_end(rule: YearEnd, year: int, months_before: int = 0) -> date:
    return add_months(date(year, rule.month, 1), 1 - months_before) - timedelta(days=1)


def _last_day(rule: YearEnd, year: int) -> int:
    """Return the day on which the fiscal year ends whose month lies in that calendar year."""
    end = _month_end(rule, year)
    if rule.rule == "month":
        return end.toordinal()
    days_since_saturday = (end.weekday() - _SATURDAY) % 7
    if rule.rule == "near" and days_since_saturday > 3:
        days_since_saturday -= 7
    return end.toordinal() - days_since_saturday


def _quarter_ends(rule: YearEnd, label: int) -> list[int]:
    """
    Return the four quarter ends of a fiscal year: ends of months, or thirteen weeks each where the year ends on a Saturday,
    when the last may have fourteen.
    """
    year = label + rule.behind
    if rule.rule == "month":
        return [_month_end(rule, year, months).toordinal() for months in (9, 6, 3, 0)]
    before = _last_day(rule, year - 1)
    return [before + 91, before + 182, before + 273, _last_day(rule, year)]


def fiscal_calendar(company: Filer, today: date) -> Calendar:
    """Return all quarters of a company that ended before `today`, from its first fiscal year on."""
    rule, label, transition = company.year_end, company.first_year, False
    start = _last_day(rule, label + rule.behind - 1) + 1
    starts: list[int] = []
    ends: list[int] = []
    years: list[FiscalYear] = []
    while True:
        year_ends = _quarter_ends(rule, label)
        if company.moved and label == company.moved + 1:
            transition = rule.month == 12
            year_ends = year_ends[:2] if transition else year_ends
        over = [end for end in year_ends if end < today.toordinal()]
        if not over:
            return Calendar(tuple(starts), tuple(ends), tuple(years))
        years.append(FiscalYear(label, len(ends), len(ends) + len(year_ends) - 1, transition))
        starts += [start, *(end + 1 for end in over[:-1])]
        ends += over
        start = year_ends[-1] + 1
        label += 1
        if transition:
            rule, transition = YearEnd(6), False
