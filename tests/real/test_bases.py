"""Real companies' figures that filings gave twice: restated, rounded, with the other sign, before and after a split."""

from collections import Counter

import pytest

from .company_files import swept, whole_companies
from .files import REAL
from .test_statements import of

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
