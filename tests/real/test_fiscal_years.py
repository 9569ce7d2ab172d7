"""Fiscal calendars of real companies, from the facts and the regulator's whole index of their reports."""

from collections import Counter
from functools import lru_cache

import pytest

from almanac.derived.companies.facts import disclosures
from almanac.derived.companies.fiscal_calendar import FiscalCalendar
from almanac.derived.companies.line_items import line_items_at
from almanac.derived.companies.reading.tag_mapping import mapping_for

from .company_files import company, day, indexed_filings, whole_companies
from .files import REAL

pytestmark = REAL
NOW = 1 << 40


@lru_cache(maxsize=2)
def indexed(cik):
    return company(cik)._replace(filings=indexed_filings(cik))


def calendar(cik):
    mine = indexed(cik)
    return FiscalCalendar(mine, disclosures(mine.facts), mapping_for(mine.template).core)


def years(cik):
    return {end: span.fiscal_year for end, span in calendar(cik).at(NOW).years.items()}


def test_nike():
    # Its own word, DocumentFiscalYearFocus, in 0000320187-25-000047 and in the first tagged one, 0001193125-10-161874.
    found = years(320187)
    assert (found[day("2025-05-31")], found[day("2010-05-31")]) == (2025, 2010)
    assert [found[end] - (2000 + place) for place, end in enumerate(sorted(found)[5:])] == [0] * 26


def test_home_depot():
    # The same in 0001628280-26-019436 (year to 2026-02-01), 0001193125-10-067178 (to 2010-01-31).
    found = years(354950)
    assert (found[day("2026-02-01")], found[day("2010-01-31")], found[day("2009-02-01")]) == (2025, 2009, 2008)


def test_walmart():
    # Its report of the year to 2009-01-31, 0000104169-09-000006, is dated 2009-04-01 in the index: the day it was filed.
    # 404,254 million of revenue, 13,381 of net income, 23,147 of cash flow: the last columns of 10-K 0001193125-11-083157.
    found = line_items_at(indexed(104169), NOW)
    year = found.of("A", day("2009-01-31")).amounts
    items = ("revenue", "net_income", "net_cash_flow_from_operations")
    assert [year[item].value for item in items] == [404_254e6, 13_381e6, 23_147e6]
    assert day("2009-04-01") not in found.fiscal_periods.years


@pytest.mark.parametrize("cik", whole_companies())
def test_no_two_periods_share_a_name_at_any_moment(cik):
    mine = calendar(cik)
    for moment in sorted(mine.moments):
        found = mine.at(moment)
        for spans in found:
            assert [name for name, many in Counter(span[3:] for span in spans.values()).items() if many > 1] == []
        names = [span.fiscal_year for _, span in sorted(found.years.items())]
        assert names == sorted(names)
