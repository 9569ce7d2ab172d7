"""What holds for all statements of real companies, at every moment: their names, and what is said of their filings."""

from collections import Counter, defaultdict
from functools import lru_cache

import pytest

from almanac.derived.companies.checks import rounding
from almanac.derived.companies.derivation import derive
from almanac.derived.companies.line_items import as_known
from almanac.derived.companies.ratios import measures
from almanac.derived.companies.ttm import chain, periods
from almanac.domain.periods import Frequency

from .company_files import whole_companies
from .files import REAL
from .test_fiscal_years import NOW, indexed

pytestmark = REAL
#: Flows of twelve months that profiles show.
ITEMS = ("revenue", "net_income", "net_cash_flow_from_operations", "free_cash_flow")
#: TSMC, whose later annual reports add lines to earlier years and change none.
NOTHING_REVISED = {1046179}


@lru_cache(maxsize=1)
def statements(cik):
    return derive(indexed(cik)).statements


def bodies(cik):
    """Bodies of each statement, oldest first. It stays the same one where its first day moves."""
    found = defaultdict(list)
    for key, versions in statements(cik).items():
        found[key.kind, key.frequency, key.period >> 14].extend(one for one in versions if one.body is not None)
    return {key: [one.body for one in sorted(told, key=lambda one: one.known)] for key, told in found.items()}


@pytest.mark.parametrize("cik", whole_companies())
def test_no_two_statements_share_type_frequency_and_last_day_or_name(cik):
    standing = [(key, versions[-1].body) for key, versions in statements(cik).items() if versions[-1].body is not None]
    for names in (
        Counter((key.kind, key.frequency, body.period_end) for key, body in standing),
        Counter((key.kind, key.frequency, body.fiscal_year, body.fiscal_period) for key, body in standing),
    ):
        assert [name for name, count in names.items() if count > 1] == []
    assert len(standing) > 25


@pytest.mark.parametrize("cik", whole_companies())
def test_revised_means_that_a_number_changed_and_the_filing_is_the_one_that_changed_an_item(cik):
    revised = 0
    for key, told in bodies(cik).items():
        numbers, source, moved = {}, None, False
        for body in told:
            moved |= any(body.items.get(item) != value for item, value in numbers.items())
            if body.items != numbers:
                source = body.accession
            assert (body.accession == source, body.revision_status == "revised" and not moved) == (True, False), key
            numbers = body.items
        revised += told[-1].revision_status == "revised"
    assert revised > 0 or cik in NOTHING_REVISED


@pytest.mark.parametrize("cik", whole_companies())
def test_the_last_four_quarters_are_the_twelve_months_or_it_says_why_not(cik):
    financials = as_known(indexed(cik), NOW)
    frequency, ends = periods(financials)
    compared = 0
    for end in ends:
        for slug, found in measures(financials, end, frequency).items():
            item = slug.removesuffix("_ttm")
            values = [one.value for one in chain(financials.quarters.get(item, {}), end, 4, 0)] if item in ITEMS else []
            if values and found.method != "ttm_mismatch":
                assert abs(sum(values) - found.value) <= rounding([*values, *(part.value for part in found.parts)])
                compared += 1
    assert compared > 40 or frequency is not Frequency.QUARTERLY
