"""Real companies' figures that filings gave twice: restated, rounded, with the other sign, before and after a split."""

from collections import Counter

import pytest

from .company_files import swept, whole_companies
from .files import REAL
from .test_statements import body, of

pytestmark = REAL

MCDONALDS, TEXAS, WALMART, NIKE, HOME_DEPOT, NVIDIA, TESLA, HERTZ, NIKOLA, DISNEY = (
    63908, 97476, 104169, 320187, 354950, 1045810, 1318605, 1657853, 1731289, 1744489,
)  # fmt: skip


def failed(statement):
    """Name → detail of the checks that a statement fails."""
    return {check["name"]: check["detail"] for check in statement["quality"]["checks"] if check["status"] == "failed"}


def test_exact_figures_outlive_their_repetition_in_millions():
    # 8,468.8 million in 0000063908-24-000072, "8469" in the two reports after it.
    assert of(MCDONALDS, "net_income", "A", "2023-01-01", "2023-12-31") == 8_468_800_000
    # 4,681,507 thousand in 0001045810-15-000036, 4,682 million in the report two years later.
    assert of(NVIDIA, "revenue", "A", "2014-01-27", "2015-01-25") == 4_681_507_000
    assert of(TESLA, "revenue", "A", "2018-01-01", "2018-12-31") == 21_461_268_000
    # 19,014.0 million less 10,213.6 in 0001193125-10-161874, 8,800 two years later.
    assert of(NIKE, "gross_profit", "A", "2009-06-01", "2010-05-31") == 8_800_400_000


def test_a_last_quarter_takes_the_nine_months_that_were_restated_with_the_year():
    # The report of 2016 shows taxes on share-based pay otherwise, and 2015 anew: 4,614 (0001564590-17-002142) less the
    # 3,227 that the report of September 2017 gives for nine months of 2016, where that of 2016 gave 3,029.
    last = ("2016-10-01", "2016-12-31")
    assert of(TEXAS, "net_cash_flow_from_operations", "Q", *last) == 1_387e6
    # Half a year of 1,615 less 785 of the first quarter as restated in May 2025, where it had been 837.
    assert of(HOME_DEPOT, "depreciation_and_amortization", "Q", "2024-04-29", "2024-07-28") == 830e6
    # The first quarter of 2020 was a shell's, −536,222; the company restated it in May 2021: −45,561 + 21,897 thousand.
    second = ("2020-04-01", "2020-06-30")
    assert of(NIKOLA, "net_cash_flow_from_operations", "Q", *second) == -23_664e3


def test_a_last_quarter_of_two_signs_is_not_served():
    # Interest of −1,973 million in the 10-K of 2023, of 1,472 in the nine months before: not −3,445.
    assert of(DISNEY, "interest_expense", "Q", "2023-07-02", "2023-09-30") is None
    checks = body(DISNEY, "income", "Q", "2023-09-30")["quality"]["checks"]
    detail = next(check["detail"] for check in checks if check["name"] == "absent_with_reason")
    assert (
        "no interest_expense: not_of_one_basis: us-gaap:InterestExpense: the year -1,973,000,000 and the nine months"
        in detail
    )


def test_a_turned_sign_in_a_later_comparative_does_not_win_and_is_marked():
    # 7,145 million in 0001193125-10-071652; the report a year later has −7,133, and 7,133 in another tag: that leads from
    # its 20,867 before tax to the 13,880 of all owners, with the 146 of what was discontinued.
    statement = body(WALMART, "income", "A", "2009-01-31")
    assert statement["items"]["income_tax"] == 7_133_000_000
    assert "signs_agree" not in failed(statement)
    # The year after: 7,139, −7,156, and 7,156 in 0001193125-12-134679.
    assert body(WALMART, "income", "A", "2010-01-31")["items"]["income_tax"] == 7_156_000_000
    # 7,156 less the 5,157 million of nine months that 0001193125-10-274171 restated; the report of 2011 that restated the
    # year turned every tax. The year after: 7,579 (−7,579 there) less 5,285.
    assert of(WALMART, "income_tax", "Q", "2009-11-01", "2010-01-31") == 1_999_000_000
    assert of(WALMART, "income_tax", "Q", "2010-11-01", "2011-01-31") == 2_294_000_000
    # A deficit of 4,718.8 million; the report of June 2019 forgot the brackets.
    statement = body(MCDONALDS, "balance", "Q", "2018-03-31")
    assert statement["items"]["shareholders_equity"] == -4_718_800_000
    assert statement["quality"]["status"] == "warning"
    assert "shareholders_equity: us-gaap:StockholdersEquity was filed with the other sign" in failed(statement)["signs_agree"]  # fmt: skip
    # Interest of 2022 is 1,549 million, −1,549 in the report of 2023.
    assert of(DISNEY, "interest_expense", "A", "2021-10-03", "2022-10-01") == 1_549e6
    # Capital expenditure is −91 and −317 million to date in the reports of 2009, 91 and 317 in those of 2010.
    assert of(TEXAS, "capital_expenditure", "Q", "2009-07-01", "2009-09-30") == 226e6


@pytest.mark.parametrize(
    ("kind", "frequency", "end", "marked"),
    [
        # Ten for one in June 2024: 10-K 0001045810-25-000023 restates the year to January 2023, no report its quarters.
        ("income", "A", "2023-01-29", True),
        ("income", "Q", "2023-01-29", True),
        ("balance", "A", "2023-01-29", True),
        # Quarters of the year to January 2024 were restated one by one.
        ("income", "Q", "2023-10-29", False),
        ("income", "A", "2025-01-26", False),
        ("balance", "A", "2025-01-26", False),
    ],
)
def test_nvidia_is_marked_where_its_split_goes_through_a_year(kind, frequency, end, marked):
    assert ("shares_of_one_basis" in failed(body(NVIDIA, kind, frequency, end))) is marked


@pytest.mark.slow
def test_what_cannot_be_negative_is_never_served_so_as_if_nothing_were():
    """Of all own periods of all companies. Nikola took back trucks in 2023: revenue of one quarter was below zero."""
    below = Counter()
    for cik in whole_companies():
        for versions in swept(cik).statements.values():
            for version in versions:
                for key in ("revenue", "cost_of_revenue", "research_and_development"):
                    if version.body and version.body.items.get(key, 0) < 0:
                        below[key, version.body.quality.status, key in version.body.derived_items] += 1
    assert {status for _, status, _ in below} <= {"warning", "failed"}


def test_nikola_has_revenue_where_its_reports_give_gross_profit_and_cost():
    # 0001731289-24-000050 and the 10-K of October 2025: −214,067 + 249,906 and −230,426 + 299,288 thousand.
    assert of(NIKOLA, "revenue", "A", "2023-01-01", "2023-12-31") == 35_839e3
    assert of(NIKOLA, "revenue", "A", "2024-01-01", "2024-12-31") == 68_862e3
    # −125,503 + 123,771 in the quarter in which it took back its trucks: served as filed, with a warning.
    statement = body(NIKOLA, "income", "Q", "2023-09-30")
    assert (statement["items"]["revenue"], statement["quality"]["status"]) == (-1_732_000, "warning")


def test_hertz_has_a_cost_of_revenue():
    # 4,808 of 8,685 million: "direct vehicle and operating" in the report of 2022.
    items = body(HERTZ, "income", "A", "2022-12-31")["items"]
    assert (items["cost_of_revenue"], items["gross_profit"]) == (4_808_000_000, 8_685_000_000 - 4_808_000_000)


def test_a_balance_sheet_keeps_its_own_cash():
    # 1,723 million at the end of the year 2014 in 0000354950-15-000008; a cash flow statement two years later says 2,216.
    assert body(HOME_DEPOT, "balance", "A", "2015-02-01")["items"]["cash_and_equivalents"] == 1_723_000_000


def test_a_balance_sheet_keeps_its_equity_where_a_later_report_gives_that_of_another_company():
    # The shell that became Nikola: 236,545,521 of assets and 5,000,001 of equity in 0001104659-19-016327; reports from
    # August 2020 on give 186.24 million of equity for that day, of the company that took its place.
    statement = body(NIKOLA, "balance", "A", "2018-12-31")
    assert (statement["items"]["total_assets"], statement["items"]["shareholders_equity"]) == (236_545_521, 5_000_001)
    assert "us-gaap:StockholdersEquity 186,240,000 in " in failed(statement)["one_basis"]
    assert statement["quality"]["status"] == "warning"
