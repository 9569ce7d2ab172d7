"""What users of other services complain of (a plausible wrong number), each as a test of its own."""

import msgspec
import pytest

from almanac.derived.companies.line_items import as_known
from almanac.domain.periods import Frequency
from tests.support.filer import Filer, at, day, method, plain_year, quarter, value, ytd


def body(outcome, kind, frequency, end):
    """The last version of a statement."""
    (last,) = [
        msgspec.to_builtins(versions[-1].body)
        for key, versions in outcome.statements.items()
        if key.kind == kind and key.frequency is frequency and key.period >> 14 == day(end)
        and versions[-1].body is not None
    ]  # fmt: skip
    return last


def test_a_comparative_year_is_never_served_under_the_filings_own_year():
    filer = Filer()
    # The regulator's rows of this report all carry its own fiscal year, 2020, the columns of 2018 and 2019 too.
    lines = {"NetIncomeLoss": {ytd(2020, 4): 30, ytd(2019, 4): 20, ytd(2018, 4): 10}}
    filer.file("10-K", "2021-02-20", "2020-12-31", lines, fy=2020, fp="FY")
    outcome = filer.swept()
    for year, income in ((2018, 10), (2019, 20), (2020, 30)):
        statement = body(outcome, "income", Frequency.ANNUAL, f"{year}-12-31")
        assert statement["items"]["net_income"] == income
        assert statement["fiscalYear"] == year


def test_all_lines_of_a_statement_are_of_one_period():
    filer = Filer()
    lines = {
        "NetIncomeLoss": {ytd(2020, 4): 30, ytd(2019, 4): 20},
        "OperatingIncomeLoss": {ytd(2019, 4): 25},
        "Assets": {"2020-12-31": 7},
        "Liabilities": {"2019-12-31": 3},
    }
    filer.file("10-K", "2021-02-20", "2020-12-31", lines, fy=2020, fp="FY")
    outcome = filer.swept()
    assert body(outcome, "income", Frequency.ANNUAL, "2020-12-31")["items"] == {"net_income": 30}
    assert body(outcome, "balance", Frequency.ANNUAL, "2020-12-31")["items"] == {"total_assets": 7}
    # One figure of the year before is an observation, no sheet.
    assert not any(key.kind == "balance" and key.period >> 14 == day("2019-12-31") for key in outcome.statements)
    assert ("total_liabilities", Frequency.ANNUAL) in outcome.items


def test_a_longer_period_is_never_a_quarter():
    filer = Filer()
    plain_year(filer, 2020)
    flows = filer.financials("2020-11-15").quarters
    # 1, 2 and 3 by quarter; 1, 3 and 6 to date.
    assert value(flows, "net_cash_flow_from_operations", "2020-09-30") == 3
    assert value(flows, "net_income", "2020-09-30") == 30
    # As of a day goes by the filing and not by the period: the annual report comes in February.
    assert value(filer.financials("2021-02-19").years, "net_income", "2020-12-31") is None
    financials = filer.financials("2021-02-20")
    assert value(financials.years, "net_income", "2020-12-31") == 100
    assert value(financials.quarters, "net_income", "2020-12-31") == 40
    assert method(financials.quarters, "net_income", "2020-12-31") == "fy_minus_9m"


def test_a_quarter_that_cannot_be_derived_is_absent():
    filer = Filer()
    cash = "NetCashProvidedByUsedInOperatingActivities"
    income = {"NetIncomeLoss": {quarter(2020, 2): 20}}
    filer.file("10-Q", "2020-08-01", "2020-06-30", {**income, cash: {ytd(2020, 2): 3}}, fy=2020, fp="Q2")
    financials = filer.financials()
    # Half a year is known and its first quarter is not.
    assert value(financials.quarters, "net_cash_flow_from_operations", "2020-06-30") is None
    assert value(financials.quarters, "net_income", "2020-06-30") == 20


def test_last_years_first_quarter_is_never_taken_from_this_years_half():
    filer = Filer()
    cash = "NetCashProvidedByUsedInOperatingActivities"
    filer.file("10-Q", "2019-05-01", "2019-03-31", {"NetIncomeLoss": {quarter(2019, 1): 1}, cash: {ytd(2019, 1): 100}}, fy=2019, fp="Q1")  # fmt: skip
    filer.file("10-Q", "2020-05-01", "2020-03-31", {"NetIncomeLoss": {quarter(2020, 1): 1}}, fy=2020, fp="Q1")
    filer.file("10-Q", "2020-08-01", "2020-06-30", {cash: {ytd(2020, 2): 30}}, fy=2020, fp="Q2")
    assert value(filer.financials().quarters, "net_cash_flow_from_operations", "2020-06-30") is None


def test_a_negative_quarter_is_kept():
    filer = Filer()
    plain_year(filer, 2020, income=(10, 20, 30, -45), cash=(1, -2, 3, -9))
    financials = filer.financials()
    assert value(financials.quarters, "net_income", "2020-12-31") == -45
    assert [value(financials.quarters, "net_cash_flow_from_operations", f"2020-{end}") for end in ("03-31", "06-30", "09-30", "12-31")] == [1, -2, 3, -9]  # fmt: skip


def shares(filer, averages, incomes, *, year=2020, scale=1):
    """A year whose reports give earnings and average shares by quarter, but for the last."""
    ends = ("03-31", "06-30", "09-30", "12-31")
    for number, end in enumerate(ends, start=1):
        span = quarter(year, number) if number < 4 else ytd(year, 4)
        lines = {
            "NetIncomeLoss": {span: incomes[number - 1]},
            "WeightedAverageNumberOfSharesOutstandingBasic": {span: averages[number - 1] / scale},
            "EarningsPerShareBasic": {span: round(incomes[number - 1] / averages[number - 1], 2)},
        }
        if number in (2, 3):
            lines["NetIncomeLoss"][ytd(year, number)] = sum(incomes[:number])
            lines["WeightedAverageNumberOfSharesOutstandingBasic"][ytd(year, number)] = averages[4 + number - 2] / scale
        form, fp = ("10-K", "FY") if number == 4 else ("10-Q", f"Q{number}")
        filed = f"{year + 1}-02-20" if number == 4 else f"{year}-{3 * number + 2:02d}-01"
        filer.file(form, filed, f"{year}-{end}", lines, fy=year, fp=fp)


def test_fourth_quarter_earnings_per_share_come_from_income_and_day_weighted_shares():
    filer = Filer()
    # Shares are bought back: 1000, 900, 800 and, in the last quarter, about 700. The year's average is 849.
    shares(filer, [1000, 900, 800, 849, 949, 899], [100, 90, 80, 340])
    financials = filer.financials()
    # (849 · 366 − 899 · 274) / 92 = 700.087, rounded to whole shares; 340 − 270 = 70.
    assert value(financials.quarters, "weighted_average_shares_basic", "2020-12-31") == 700
    assert method(financials.quarters, "weighted_average_shares_basic", "2020-12-31") == "day_weighted"
    assert value(financials.quarters, "earnings_per_share_basic", "2020-12-31") == pytest.approx(70 / 700)
    assert method(financials.quarters, "earnings_per_share_basic", "2020-12-31") == "approximate_income_over_shares"
    # Not the year less the sum of the quarters: 0.40 − 0.30.
    assert value(financials.years, "earnings_per_share_basic", "2020-12-31") == 0.4


@pytest.mark.parametrize("scale", [1_000, 1_000_000])
def test_shares_filed_in_another_scale_give_no_earnings_per_share(scale):
    """Some filers tag average shares in thousands or millions as if they were single ones."""
    averages, incomes = [500e6, 498e6, 496e6, 495e6, 499e6, 498e6], [1e9, 1.1e9, 0.9e9, 4.1e9]
    right, wrong = Filer(), Filer()
    shares(right, averages, incomes)
    shares(wrong, averages, incomes, scale=scale)
    # 4,100 − 3,000 million over (495 · 366 − 498 · 274) / 92 million; nothing where the shares are not in ones.
    last = ("earnings_per_share_basic", "2020-12-31")
    assert value(right.financials().quarters, *last) == pytest.approx(1_100 / 486.0652, abs=1e-6)
    assert value(wrong.financials().quarters, *last) is None
    # What is stated is served as filed, right or wrong.
    assert value(wrong.financials().quarters, "earnings_per_share_basic", "2020-03-31") == 2.0
    assert value(wrong.financials().quarters, "weighted_average_shares_basic", "2020-03-31") == 500e6 / scale


def test_average_shares_are_never_summed():
    filer = Filer()
    shares(filer, [1000, 900, 800, 849, 949, 899], [100, 90, 80, 340])
    financials = filer.financials("2020-12-31")
    assert value(financials.years, "weighted_average_shares_basic", "2020-12-31") is None
    assert value(financials.quarters, "weighted_average_shares_basic", "2020-09-30") == 800


def test_a_tag_that_was_given_up_does_not_freeze_the_item():
    filer = Filer()
    plain_year(filer, 2017)
    filer.say(next(iter(filer.filings)), {"SalesRevenueNet": {quarter(2017, 1): 100}})
    filer.file("10-Q", "2018-05-01", "2018-03-31", {"RevenueFromContractWithCustomerExcludingAssessedTax": {quarter(2018, 1): 120}, "NetIncomeLoss": {quarter(2018, 1): 5}}, fy=2018, fp="Q1")  # fmt: skip
    financials = filer.financials()
    assert value(financials.quarters, "revenue", "2017-03-31") == 100
    assert value(financials.quarters, "revenue", "2018-03-31") == 120


@pytest.mark.parametrize(
    ("before", "after", "last"),
    [
        # To September under one tag, the year under another, and nothing shows that they mean the same.
        ({}, {}, None),
        # They agreed before, and may stand for each other; two that ever differed never do.
        ({ytd(2017, 3): 270}, {ytd(2017, 3): 270}, 120),
        ({ytd(2017, 3): 270, quarter(2017, 3): 90}, {ytd(2017, 3): 270, quarter(2017, 3): 91}, None),
    ],
)
def test_two_revenue_tags_make_one_difference_only_where_they_agreed_before(before, after, last):
    filer = Filer()
    names = plain_year(filer, 2018)
    filer.say(names[2], {"SalesRevenueNet": {ytd(2018, 3): 300, **before}})
    filer.say(names[3], {"Revenues": {ytd(2018, 4): 420, **after}})
    quarters = filer.financials().quarters
    assert value(quarters, "revenue", "2018-12-31") == last
    if last is not None:
        assert quarters["revenue"][day("2018-12-31")].tags == ("us-gaap:Revenues:A", "us-gaap:SalesRevenueNet:N")


def test_an_incomplete_amendment_removes_no_line_and_keeps_both_states():
    filer = Filer()
    plain_year(filer, 2020)
    filer.file("10-K/A", "2021-04-20", "2020-12-31", {"NetIncomeLoss": {ytd(2020, 4): 95}}, fy=2020, fp="FY")
    assert value(filer.financials("2021-04-19").years, "net_income", "2020-12-31") == 100
    financials = filer.financials("2021-04-20")
    assert value(financials.years, "net_income", "2020-12-31") == 95
    assert value(financials.years, "net_cash_flow_from_operations", "2020-12-31") == 10
    assert value(financials.balances, "total_assets", "2020-12-31") == 1004


def test_per_share_values_keep_the_basis_they_were_filed_on():
    filer = Filer()
    shares(filer, [1000, 1000, 1000, 1000, 1000, 1000], [100, 100, 100, 400])
    # A split of two for one: next year's report restates the year.
    filer.file("10-K", "2022-02-20", "2021-12-31", {"EarningsPerShareBasic": {ytd(2020, 4): 0.2, ytd(2021, 4): 0.25}, "NetIncomeLoss": {ytd(2021, 4): 500}}, fy=2021, fp="FY")  # fmt: skip
    assert value(filer.financials("2021-12-31").years, "earnings_per_share_basic", "2020-12-31") == 0.4
    assert value(filer.financials().years, "earnings_per_share_basic", "2020-12-31") == 0.2
    # Its quarters were not restated, and are served as filed.
    assert value(filer.financials().quarters, "earnings_per_share_basic", "2020-06-30") == 0.1


def test_shares_before_and_after_a_split_give_no_average_in_between():
    filer = Filer()
    # To September on the old basis, the year on the new one: twice the shares.
    shares(filer, [1000, 1000, 1000, 2000, 1000, 1000], [100, 100, 100, 400])
    financials = filer.financials()
    assert value(financials.quarters, "weighted_average_shares_basic", "2020-12-31") is None
    assert value(financials.quarters, "earnings_per_share_basic", "2020-12-31") is None


def test_fiscal_and_calendar_names_are_both_given():
    filer = Filer()
    lines = {"NetIncomeLoss": {("2024-02-01", "2025-01-31"): 5}}
    filer.file("10-K", "2025-03-14", "2025-01-31", lines, fy=2025, fp="FY")
    statement = body(filer.swept(), "income", Frequency.ANNUAL, "2025-01-31")
    assert (statement["fiscalYear"], statement["fiscalPeriod"]) == (2025, "FY")
    assert (statement["calendarYear"], statement["calendarQuarter"]) == (2024, None)
    assert (statement["periodStart"], statement["periodEnd"]) == ("2024-02-01T00:00:00Z", "2025-01-31T00:00:00Z")


def test_a_foreign_filers_current_reports_are_statements():
    filer = Filer(currency="CAD")
    filer.file("40-F", "2021-02-20", "2020-12-31", {"ifrs-full:ProfitLoss": {ytd(2020, 4): 30}}, fy=2020, fp="FY")
    filer.file("6-K", "2021-05-05", "2021-05-05", {"ifrs-full:ProfitLoss": {quarter(2021, 1): 9}})
    statement = body(filer.swept(), "income", Frequency.QUARTERLY, "2021-03-31")
    assert (statement["items"], statement["form"], statement["currency"]) == ({"net_income": 9}, "6-K", "CAD")


def test_knowledge_is_the_filings_time_and_to_the_second():
    filer = Filer()
    filer.file("10-K", "2021-02-20", "2020-12-31", {"NetIncomeLoss": {ytd(2020, 4): 3}}, fy=2020, known=1_613_853_000)
    company = filer.company()

    assert value(as_known(company, 1_613_852_999).years, "net_income", "2020-12-31") is None
    assert value(as_known(company, 1_613_853_000).years, "net_income", "2020-12-31") == 3


def test_a_later_filing_that_leaves_a_line_out_never_takes_its_value_away():
    filer = Filer()
    plain_year(filer, 2020)
    filer.file("10-K", "2022-02-20", "2021-12-31", {"NetIncomeLoss": {ytd(2021, 4): 7}}, fy=2021, fp="FY")
    financials = filer.financials()
    assert value(financials.years, "net_income", "2020-12-31") == 100
    assert value(financials.balances, "total_assets", "2020-12-31") == 1004


def test_quality_is_judged_before_a_statement_is_served():
    filer = Filer()
    lines = {
        "Assets": {"2020-12-31": 1_001_234},
        "Liabilities": {"2020-12-31": 600_000},
        "StockholdersEquity": {"2020-12-31": 300_123},
    }
    filer.file("10-K", "2021-02-20", "2020-12-31", lines, fy=2020, fp="FY")
    quality = body(filer.swept(), "balance", Frequency.ANNUAL, "2020-12-31")["quality"]
    assert quality["status"] == "failed"
    (check,) = [check for check in quality["checks"] if check["name"] == "balance_identity"]
    assert check["status"] == "failed"
    assert "1,001,234" in check["detail"]
    assert "900,123" in check["detail"]


def test_filings_are_known_in_the_order_of_their_times_not_of_their_days():
    filer = Filer()
    filer.file(
        "10-K", "2021-02-20", "2020-12-31", {"NetIncomeLoss": {ytd(2020, 4): 3}}, fy=2020, known=at("2021-02-20")
    )
    # Filed the same day, accepted before it.
    filer.file("10-K/A", "2021-02-20", "2020-12-31", {"NetIncomeLoss": {ytd(2020, 4): 4}}, fy=2020, known=at("2021-02-20") - 60)  # fmt: skip
    assert value(filer.financials().years, "net_income", "2020-12-31") == 3
