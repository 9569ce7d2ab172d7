"""Statements of simulated companies with calendars of their own: by halves, by halves and quarters, with years to January."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date

import pytest

from almanac.derived.companies.checks import rounding
from almanac.derived.companies.line_items import as_known
from almanac.derived.companies.ratios import measures, periods
from almanac.derived.companies.ttm import chain
from almanac.domain.periods import Frequency
from almanac.sandbox.companies.cast import cast
from tests.sandbox.simulated_statements import filer, statements

LAST = 1 << 40
HALVES = [one.number for one in cast() if one.cadence == "half"]
MIXED = [one.number for one in cast() if one.cadence == "quarter" and one.seat]
JANUARY = [one.number for one in cast() if one.year_end.month == 1 and one.year_end.behind and not one.gone][:4]
#: These, one that moved its year end, one that was split, and others without anything special.
CHOSEN = [*HALVES[:3], *MIXED, *JANUARY, 72, 9, 1, 100]


@pytest.mark.parametrize("number", HALVES[:3])
def test_a_half_yearly_filer_has_all_its_halves(number):
    told = statements(number)
    assert not any(frequency is Frequency.QUARTERLY for _, frequency in told)
    years = {one.fiscal_year for one in told["income", Frequency.ANNUAL]}
    halves = told["income", Frequency.SEMIANNUAL]
    by_year = defaultdict(dict)
    for one in halves:
        by_year[one.fiscal_year][one.fiscal_period] = one
    whole = [year for year in by_year if len(by_year[year]) == 2]
    # From the first half-year that was tagged on, each year that is over has both.
    assert whole == [year for year in sorted(by_year) if year in years]
    assert len(whole) >= 3
    annual = {one.fiscal_year: one.items for one in told["income", Frequency.ANNUAL]}
    for year in whole:
        first, second = by_year[year]["H1"], by_year[year]["H2"]
        assert first.items["revenue"] + second.items["revenue"] == annual[year]["revenue"]
        assert (first.basis, second.basis) != ("reported", "reported")


@pytest.mark.parametrize("number", MIXED)
def test_a_filer_whose_second_report_shows_the_half_has_four_quarters_and_two_halves(number):
    told = statements(number)
    names = defaultdict(dict)
    for frequency in (Frequency.QUARTERLY, Frequency.SEMIANNUAL):
        for one in told["income", frequency]:
            names[one.fiscal_year][one.fiscal_period] = one.items["revenue"]
    annual = {one.fiscal_year: one.items["revenue"] for one in told["income", Frequency.ANNUAL]}
    whole = [year for year in annual if names[year].keys() == {"Q1", "Q2", "Q3", "Q4", "H1", "H2"}]
    assert len(whole) >= 3
    for year in whole:
        of = names[year]
        assert of["Q1"] + of["Q2"] == of["H1"]
        assert of["H1"] + of["H2"] == of["Q1"] + of["Q2"] + of["Q3"] + of["Q4"] == annual[year]


@pytest.mark.parametrize("number", JANUARY)
def test_a_year_that_ends_in_january_is_called_by_the_year_before(number):
    annual = statements(number)["income", Frequency.ANNUAL]
    ends = [date.fromisoformat(one.period_end[:10]) for one in annual]
    # Four or three days into February or back in January: the Saturday nearest to its last day.
    assert {end.month for end in ends} <= {1, 2}
    assert [one.fiscal_year for one in annual] == [end.year - 1 for end in ends]
    assert len(annual) > 5


@pytest.mark.parametrize("number", CHOSEN)
def test_no_two_statements_share_a_last_day_or_a_name(number):
    for bodies in statements(number).values():
        for names in (
            Counter(one.period_end for one in bodies),
            Counter((one.fiscal_year, one.fiscal_period) for one in bodies),
        ):
            assert max(names.values()) == 1


@pytest.mark.parametrize("number", CHOSEN)
def test_the_last_quarters_or_halves_add_up_to_twelve_months_or_it_says_why_not(number):
    financials = as_known(filer(number), LAST)
    frequency, ends = periods(financials)
    parts, count = (financials.halves, 2) if frequency is Frequency.SEMIANNUAL else (financials.quarters, 4)
    compared = 0
    for end in ends:
        for slug, found in measures(financials, end, frequency).items():
            item = slug.removesuffix("_ttm")
            if item not in ("revenue", "net_income", "net_cash_flow_from_operations", "free_cash_flow"):
                continue
            values = [amount.value for amount in chain(parts.get(item, {}), end, count, 0)]
            if values and found.method != "ttm_mismatch":
                assert abs(sum(values) - found.value) <= rounding([*values, *(part.value for part in found.parts)])
                compared += 1
    assert compared > 10
