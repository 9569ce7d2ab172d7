"""Twelve-month figures, ratios and scores of real companies, by hand from their reports, and what was known of them when."""

from datetime import date

import pytest

from almanac.catalog import measures as catalogue
from almanac.derived.companies.derivation import derive
from almanac.derived.companies.line_items import as_known
from almanac.derived.companies.ratios import measures
from almanac.derived.companies.ttm import REACH_DAYS, periods
from almanac.domain.observations import quality
from almanac.domain.periods import Period

from .company_files import company, day, end_of
from .files import REAL

pytestmark = REAL

APPLE, WALMART, HOME_DEPOT, UNDER_ARMOUR, TSMC, NVIDIA, JPMORGAN = (
    320193, 104169, 354950, 1336917, 1046179, 1045810, 19617,
)  # fmt: skip


def known(cik, end, filed):
    """Measures of the period ending on a day as known two days after a filing."""
    financials = as_known(company(cik), end_of(day(filed)))
    frequency, ends = periods(financials)
    assert day(end) in ends
    return measures(financials, day(end), frequency)


def values(found, *slugs):
    return [found[slug].value if slug in found else None for slug in slugs]


def test_apple_2024():
    """10-K 0000320193-24-000123: the same figures as those computed by hand from its pages."""
    found = known(APPLE, "2024-09-28", "2024-11-01")
    slugs = ("revenue_ttm", "net_income_ttm", "earnings_per_share_diluted_ttm", "free_cash_flow_ttm")
    assert values(found, *slugs) == [391_035e6, 93_736e6, 6.08, 108_807e6]
    assert values(found, "return_on_equity", "current_ratio", "net_debt_to_ebitda", "revenue_cagr_3y") == pytest.approx(
        [1.5741251, 0.8673126, 0.3078694, 0.0224700], abs=1e-6
    )
    assert values(found, "piotroski_f", "altman_z2", "beneish_m") == pytest.approx([7, 1.871023, -2.727274], abs=1e-6)


def test_apple_after_three_quarters():
    """10-Q 0000320193-24-000081: 383,285 of the last year, 296,105 of this year to date, less 293,787 a year before."""
    found = known(APPLE, "2024-06-29", "2024-08-02")
    assert values(found, "revenue_ttm", "net_income_ttm") == [385_603e6, 96_995e6 + 79_000e6 - 74_039e6]
    assert (found["revenue_ttm"].method, found["revenue_ttm"].start) == ("year_to_date", day("2023-07-02"))


def test_apple_around_its_split():
    """7:1 in June 2014. Quarters from before it stay in old shares until a later report restates them."""
    slugs = ("earnings_per_share_diluted_ttm", "share_count_change_yoy")
    # 0001193125-14-157311: 7.47 + 8.26 + 14.50 + 11.62, all before the split.
    assert values(known(APPLE, "2014-03-29", "2014-04-24"), slugs[0]) == pytest.approx([41.85])
    # 0001193125-14-277160: 1.28 in new shares after 14.50 and 11.62 in old ones.
    assert values(known(APPLE, "2014-06-28", "2014-07-23"), *slugs) == [None, None]
    # 0001193125-14-383437: the year and the one before are both in new shares, 6,122,663 thousand and 6,521,634.
    assert values(known(APPLE, "2014-09-27", "2014-10-27"), *slugs) == pytest.approx([6.45, -0.0611766], abs=1e-6)
    # 0001193125-15-153166: four quarters in new shares, 1.28 + 1.42 + 3.06 + 2.33.
    assert values(known(APPLE, "2015-03-28", "2015-04-28"), slugs[0]) == pytest.approx([8.09])


def test_nvidia_around_its_split():
    """10:1 in June 2024: nothing per share over quarters of both kinds, the year from its own line."""
    slugs = ("earnings_per_share_diluted_ttm", "eps_growth_yoy", "share_count_change_yoy", "piotroski_f")
    assert values(known(NVIDIA, "2024-07-28", "2024-08-28"), *slugs) == [None] * 4
    # 0001045810-25-000023: 2.94 after 1.19, 24,804 million shares after 24,940.
    found = values(known(NVIDIA, "2025-01-26", "2025-02-26"), *slugs)
    assert found == pytest.approx([2.94, 2.94 / 1.19 - 1, 24_804 / 24_940 - 1, found[3]])
    assert found[3] in range(10)


def test_walmart_2024():
    """10-K 0000104169-24-000056: 648,125 of revenue with membership income, 15,511 of net income, 35,726 of cash flow."""
    found = known(WALMART, "2024-01-31", "2024-03-15")
    assert values(found, "net_margin", "cash_conversion", "revenue_ttm") == pytest.approx(
        [15_511 / 648_125, 35_726 / 15_511, 648_125e6]
    )


def test_home_depot_without_equity():
    """It bought back more than it had: equity of −1,878 million in February 2019 gives no debt to equity."""
    found = known(HOME_DEPOT, "2019-02-03", "2019-03-28")
    assert values(found, "debt_to_equity") == [None]
    assert found["net_margin"].value == pytest.approx(11_121 / 108_203)


def test_a_bank_has_no_ratios_of_industry():
    financials = as_known(company(JPMORGAN), 1 << 40)
    frequency, ends = periods(financials)
    found = set(measures(financials, ends[-1], frequency))
    assert {"net_margin", "return_on_assets", "return_on_equity"} <= found
    assert not found & {"gross_margin", "current_ratio", "ebitda_ttm", "altman_z2", "beneish_m", "piotroski_f"}


def test_a_foreign_filer():
    """20-F of 2024 in Taiwan dollars: 2,894,307.7 million of revenue after 2,161,735.8 million."""
    found = known(TSMC, "2024-12-31", "2025-04-17")
    assert found["revenue_growth_yoy"].value == pytest.approx(2_894_307.7 / 2_161_735.8 - 1)
    assert found["revenue_ttm"].start == day("2024-01-01")


def standing(outcome, moment):
    """Measures of a sweep as known at a moment: (slug, frequency, period key) → value."""
    slugs = catalogue.measures()
    found = {}
    for (slug, frequency), cells in outcome.items.items():
        if slug in slugs:
            for key, history in cells.items():
                last = [made.value for made in history if made.known <= moment][-1:]
                if last not in ([], [None]):
                    found[slug, frequency, key] = last[0]
    return found


@pytest.mark.parametrize("cik", [UNDER_ARMOUR, TSMC])
def test_swept_measures_are_those_of_what_was_known(cik):
    """derive(as of T) = (derive)(as of T), at twelve moments over the whole history."""
    of = company(cik)
    outcome = derive(of, measure=measures, reach=REACH_DAYS)
    moments = sorted({v.known for cells in of.facts.values() for history in cells.values() for v in history})
    compared = 0
    for moment in moments[:: max(1, len(moments) // 12)]:
        financials = as_known(of, moment)
        frequency, ends = periods(financials)
        plain = {
            (slug, frequency, Period(date.fromordinal(made.start), date.fromordinal(made.end)).key): made.value
            for end in ends
            for slug, made in measures(financials, end, frequency).items()
        }
        assert standing(outcome, moment) == plain
        compared += len(plain)
    assert compared > 500


def test_twelve_months_are_the_year_moved_on_by_what_reports_state_by_then():
    """
    Under Armour's revenue to September 2017, in thousands. After the 10-Q 0001336917-17-000049: 4,825,335 of 2016, and
    3,611,192 of nine months for 3,520,058 a year before. After the 10-K 0001336917-19-000011 the year is 4,833,338 and the
    nine months are 3,620,028, of which those a year before were not told anew: it is said that four quarters differ.
    """
    then = known(UNDER_ARMOUR, "2017-09-30", "2017-11-09")["revenue_ttm"]
    assert (then.value, then.method, quality(then.flags)) == (4_916_469e3, "year_to_date", "ok")
    assert sorted(part.value for part in then.parts) == [3_520_058e3, 3_611_192e3, 4_825_335e3]
    now = known(UNDER_ARMOUR, "2017-09-30", "2019-03-01")
    assert (now["revenue_ttm"].value, now["revenue_ttm"].method) == (4_933_308e3, "ttm_mismatch")
    assert (now["net_margin"].method, quality(now["net_margin"].flags)) == ("ttm_mismatch", "warning")
