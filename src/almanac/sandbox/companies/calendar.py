"""Fiscal calendars of the simulated companies: quarters in a row, and the fiscal years they make up.

Days are proleptic ordinals.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date

from almanac.sandbox.companies.cast import Filer, YearEnd

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

    def days(self, first: int, last: int) -> int:
        """Length of a span of quarters."""
        return self.ends[last] - self.starts[first] + 1


def last_day(rule: YearEnd, year: int) -> date:
    """The day a fiscal year ends whose month lies in that calendar year."""
    end = date(year, rule.month, calendar.monthrange(year, rule.month)[1])
    back = (end.weekday() - _SATURDAY) % 7
    if rule.rule == "month":
        return end
    if rule.rule == "near" and back > 3:
        back -= 7
    return date.fromordinal(end.toordinal() - back)


def _quarter_ends(rule: YearEnd, label: int) -> list[int]:
    """The four quarter ends of a fiscal year. Thirteen weeks each where the year ends on a Saturday, the last may have 14."""
    year = label + rule.behind
    end = last_day(rule, year)
    if rule.rule != "month":
        before = last_day(rule, year - 1).toordinal()
        return [before + 91, before + 182, before + 273, end.toordinal()]
    months = [(year * 12 + rule.month - 1 - back) for back in (9, 6, 3, 0)]
    return [
        date(month // 12, month % 12 + 1, calendar.monthrange(month // 12, month % 12 + 1)[1]).toordinal()
        for month in months
    ]


def fiscal_calendar(company: Filer, today: date) -> Calendar:
    """All quarters of a company that ended before `today`, from its first fiscal year on."""
    rule, until = company.year_end, today.toordinal()
    start = last_day(rule, company.first_year + rule.behind - 1).toordinal() + 1
    starts: list[int] = []
    ends: list[int] = []
    years: list[FiscalYear] = []
    label, transition = company.first_year, False
    while True:
        wanted = _quarter_ends(rule, label)
        if company.moved and label == company.moved + 1:
            transition = rule.month == 12
            wanted = wanted[:2] if transition else wanted
        over = [end for end in wanted if end < until]
        if not over:
            return Calendar(tuple(starts), tuple(ends), tuple(years))
        first = len(ends)
        starts += [start, *(end + 1 for end in over[:-1])]
        ends += over
        years.append(FiscalYear(label, first, first + len(wanted) - 1, transition))
        start = wanted[-1] + 1
        label += 1
        if transition:
            rule, transition = YearEnd("month", 6), False
