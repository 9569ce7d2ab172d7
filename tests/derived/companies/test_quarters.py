"""Quarters from years and parts of years, and what happens when one of the two is restated."""

from __future__ import annotations

import pytest

from almanac.derived.companies.line_items import as_known, line_items_at
from almanac.derived.companies.reading.quarters import granularity
from tests.support.filer import NOW, Filer, day, method, plain_year, quarter, value, ytd

CASH = "NetCashProvidedByUsedInOperatingActivities"
ITEM = "net_cash_flow_from_operations"


def test_a_stated_quarter_goes_before_a_difference():
    filer = Filer()
    names = plain_year(filer, 2020)
    filer.say(names[3], {"NetIncomeLoss": {quarter(2020, 4): 41}})
    financials = filer.financials()
    assert value(financials.quarters, "net_income", "2020-12-31") == 41
    assert method(financials.quarters, "net_income", "2020-12-31") is None
    assert financials.quarters["net_income"][day("2020-12-31")].tags == ("us-gaap:NetIncomeLoss:Q",)


def test_methods_name_the_periods_subtracted():
    filer = Filer()
    plain_year(filer, 2020)
    quarters = filer.financials().quarters
    assert [method(quarters, ITEM, f"2020-{end}") for end in ("03-31", "06-30", "09-30", "12-31")] == [
        None,
        "ytd_difference",
        "ytd_difference",
        "fy_minus_9m",
    ]
    assert quarters[ITEM][day("2020-06-30")].tags == (f"us-gaap:{CASH}:Q", f"us-gaap:{CASH}:S")
    assert quarters[ITEM][day("2020-06-30")].start == day("2020-04-01")


def test_operands_must_begin_on_the_same_day():
    filer = Filer()
    names = plain_year(filer, 2020)
    # The nine months are tagged from the second of January.
    filer.facts = [f for f in filer.facts if not (CASH in f.tag and f.accession == names[2])]
    filer.say(names[2], {CASH: {("2020-01-02", "2020-09-30"): 6}})
    quarters = filer.financials().quarters
    assert value(quarters, ITEM, "2020-09-30") is None
    assert value(quarters, ITEM, "2020-12-31") is None
    assert value(quarters, ITEM, "2020-06-30") == 2


def test_a_stated_quarter_may_begin_some_days_off():
    filer = Filer()
    plain_year(filer, 2020)
    filer.file("10-Q", "2021-05-01", "2021-03-31", {"NetIncomeLoss": {("2021-01-04", "2021-03-31"): 8}}, fy=2021, fp="Q1")  # fmt: skip
    amount = filer.financials().quarters["net_income"][day("2021-03-31")]
    assert (amount.value, amount.start) == (8, day("2021-01-01"))


@pytest.mark.parametrize(
    ("stated", "end", "income", "how"),
    [
        ({1: 10, 2: 20, 3: 30, ytd(2020, 4): 100}, "2020-12-31", 40, "fy_minus_quarters"),
        ({1: 10, 2: 20, ytd(2020, 3): 60}, "2020-09-30", 30, "ytd_minus_quarters"),
    ],
)
def test_a_quarter_from_a_longer_period_and_stated_quarters(stated, end, income, how):
    filer = Filer()
    for number, (period, amount) in enumerate(stated.items(), 1):
        form, fp = ("10-K", "FY") if number == 4 else ("10-Q", f"Q{number}")
        filed = "2021-02-20" if number == 4 else f"2020-{3 * number + 2:02d}-01"
        span = quarter(2020, period) if isinstance(period, int) else period
        filer.file(form, filed, span[1], {"NetIncomeLoss": {span: amount}}, fy=2020, fp=fp)
    quarters = filer.financials().quarters
    assert (value(quarters, "net_income", end), method(quarters, "net_income", end)) == (income, how)


@pytest.mark.parametrize(("year", "last"), [(61, 1), (60, 0), (59, None)])
def test_a_last_quarter_of_three_stated_ones_may_be_nothing_and_never_less(year, last):
    filer = Filer()
    names = plain_year(filer, 2020)
    for number in (1, 2, 3):
        filer.say(names[number - 1], {"PaymentsOfDividends": {quarter(2020, number): 10 * number}})
    filer.say(names[3], {"PaymentsOfDividends": {ytd(2020, 4): year}})
    assert value(filer.financials().quarters, "dividends_paid", "2020-12-31") == last


def test_a_year_that_no_report_gives_is_the_sum_of_its_quarters():
    filer = Filer()
    names = plain_year(filer, 2020)
    for number in (1, 2, 3, 4):
        filer.say(names[number - 1], {"ResearchAndDevelopmentExpense": {quarter(2020, number): number}})
    years = filer.financials().years
    assert value(years, "research_and_development", "2020-12-31") == 10
    assert method(years, "research_and_development", "2020-12-31") == "sum_of_quarters"


def test_a_year_of_quarters_in_several_tags_is_made_where_it_is_asked_for_alone():
    filer = Filer()
    names = plain_year(filer, 2020)
    first, second = "ResearchAndDevelopmentExpense", "ResearchAndDevelopmentExpenseExcludingAcquiredInProcessCost"
    for number, tag in ((1, first), (2, first), (3, second), (4, second)):
        filer.say(names[number - 1], {tag: {quarter(2020, number): number}})
    end, company = day("2020-12-31"), filer.company()
    whole, alone = (as_known(company, NOW, ends).years for ends in (None, range(end, end + 1)))
    assert value(whole, "research_and_development", "2020-12-31") == 10
    assert alone == whole


def test_the_second_half_is_the_year_less_the_first():
    filer = Filer(currency="TWD")
    filer.file("20-F", "2021-04-20", "2020-12-31", {"ifrs-full:ProfitLoss": {ytd(2020, 4): 30}}, fy=2020, fp="FY")
    filer.file("6-K", "2021-10-18", "2021-06-30", {"ifrs-full:ProfitLoss": {ytd(2021, 2): 18}})
    filer.file("20-F", "2022-04-14", "2021-12-31", {"ifrs-full:ProfitLoss": {ytd(2021, 4): 40}}, fy=2021, fp="FY")
    financials = filer.financials()
    assert value(financials.halves, "net_income", "2021-06-30") == 18
    assert value(financials.halves, "net_income", "2021-12-31") == 22
    assert method(financials.halves, "net_income", "2021-12-31") == "ytd_difference"
    assert financials.quarter_ends == ()


@pytest.mark.parametrize(
    ("cash", "nine_months", "year", "last", "how"),
    [
        # Nine months restated before the year: 10 − 6, both as the annual report knew them, not 10 − 3; once both are: 5 − 3.
        ((1, 2, 3, 4), 3, None, 4, "fy_minus_9m"),
        ((1, 2, 3, 4), 3, 5, 2, "fy_minus_9m"),
        # A year restated alone: 15 − 6 as the annual report knew them; 13 − 6 is of two bases.
        ((1, 2, 3, 9), None, 13, 9, "fy_minus_9m_before_recast"),
        # Other rounding restates nothing.
        ((1_200_000, 2_300_000, 3_400_000, 4_512_000), None, 11_400_000, 4_512_000, "fy_minus_9m"),
    ],
)
def test_a_last_quarter_is_of_one_basis_when_next_years_reports_give_other_figures(cash, nine_months, year, last, how):
    filer = Filer()
    plain_year(filer, 2020, cash=cash)
    if nine_months is not None:
        filer.file("10-Q", "2021-11-01", "2021-09-30", {CASH: {ytd(2020, 3): nine_months}}, fy=2021, fp="Q3")
    if year is not None:
        filer.file("10-K", "2022-02-20", "2021-12-31", {CASH: {ytd(2020, 4): year}}, fy=2021, fp="FY")
    quarters = filer.financials().quarters
    assert (value(quarters, ITEM, "2020-12-31"), method(quarters, ITEM, "2020-12-31")) == (last, how)


def test_dividends_per_share_add_up_without_the_noise_of_binary_fractions():
    filer = Filer()
    names = plain_year(filer, 2020)
    filer.say(names[2], {"CommonStockDividendsPerShareDeclared": {ytd(2020, 3): 0.61}})
    filer.say(names[3], {"CommonStockDividendsPerShareDeclared": {ytd(2020, 4): 0.82}})
    assert value(filer.financials().quarters, "dividends_per_share", "2020-12-31") == 0.21


def test_diluted_shares_of_a_quarter_with_a_loss_are_the_basic_ones():
    filer = Filer()
    names = plain_year(filer, 2020, income=(10, 20, 30, -40))
    basic, diluted = (
        f"WeightedAverageNumberOf{kind}" for kind in ("SharesOutstandingBasic", "DilutedSharesOutstanding")
    )
    filer.say(names[2], {basic: {ytd(2020, 3): 1000}, diluted: {ytd(2020, 3): 1100}})
    filer.say(names[3], {basic: {ytd(2020, 4): 1000}, diluted: {ytd(2020, 4): 1050}})
    quarters = filer.financials().quarters
    assert value(quarters, "weighted_average_shares_basic", "2020-12-31") == 1000
    assert value(quarters, "weighted_average_shares_diluted", "2020-12-31") == 1000
    assert value(quarters, "earnings_per_share_diluted", "2020-12-31") == pytest.approx(-0.04)


BASIC, DILUTED = "WeightedAverageNumberOfSharesOutstandingBasic", "WeightedAverageNumberOfDilutedSharesOutstanding"


def shares_by_length(income, extra_shares):
    """A year of 1,000 basic shares, with what dilutes them in the quarters one to three, in nine months and in the year."""
    filer = Filer()
    names = plain_year(filer, 2020, income=income)
    *quarters, nine_months, year = extra_shares
    for number, extra in enumerate(quarters, start=1):
        filer.say(
            names[number - 1], {BASIC: {quarter(2020, number): 1000}, DILUTED: {quarter(2020, number): 1000 + extra}}
        )
    filer.say(names[2], {BASIC: {ytd(2020, 3): 1000}, DILUTED: {ytd(2020, 3): 1000 + nine_months}})
    filer.say(names[3], {BASIC: {ytd(2020, 4): 1000}, DILUTED: {ytd(2020, 4): 1000 + year}})
    filer.say(names[3], {"EarningsPerShareDiluted": {ytd(2020, 4): sum(income) / 1000}})
    return filer


@pytest.mark.parametrize(
    ("income", "extra_shares", "longer"),
    [
        # A loss of the year counts no dilution, and neither does one of nine months.
        ((-50, -60, 30, 40), (0, 0, 80, 0, 0), "year"),
        ((-50, -60, 30, 400), (0, 0, 80, 0, 90), "year to date"),
        # The first income ever: what dilutes has never counted.
        ((-50, -60, -30, 40), (0, 0, 0, 0, 0), "year"),
    ],
)
def test_nothing_diluted_follows_from_a_loss_for_a_quarter_with_income(income, extra_shares, longer):
    filer = shares_by_length(income, extra_shares)
    quarters = filer.financials().quarters
    assert value(quarters, "weighted_average_shares_basic", "2020-12-31") == 1000
    assert value(quarters, "weighted_average_shares_diluted", "2020-12-31") is None
    assert value(quarters, "earnings_per_share_diluted", "2020-12-31") is None
    (body,) = [
        versions[-1].body
        for key, versions in filer.swept().statements.items()
        if (key.kind, key.frequency, key.period >> 14) == ("income", "Q", day("2020-12-31"))
    ]
    (why,) = [check.detail for check in body.quality.checks if check.name == "absent_with_reason"]
    assert (
        f"no weighted_average_shares_diluted: not_of_one_basis: us-gaap:{DILUTED}: the {longer} counts no dilution"
        in why
    )
    assert "no earnings_per_share_diluted: not_of_one_basis: no average number of shares" in why


@pytest.mark.parametrize(
    ("income", "extra_shares", "diluted"),
    [
        ((50, -60, -30, 20), (0, 0, 0, 0, 0), 1000),  # a filer whose shares nothing dilutes
        ((50, 60, -30, 20), (80, 80, 0, 80, 80), 1080),
        ((50, -60, 30, 40), (80, 0, 80, 80, 80), 1080),
    ],
)
def test_diluted_shares_of_a_quarter_with_income_follow_where_longer_periods_count_all(income, extra_shares, diluted):
    quarters = shares_by_length(income, extra_shares).financials().quarters
    assert value(quarters, "weighted_average_shares_diluted", "2020-12-31") == pytest.approx(diluted, rel=0.001)


@pytest.mark.parametrize(
    ("number", "expected"),
    [(12_000, 1_000), (12_345, 1), (-500, 100), (0, 0), (0.5, 0), (7e12, 1e9)],
)
def test_granularity(number, expected):
    assert granularity(float(number)) == expected


def test_a_fourth_quarter_that_would_be_less_than_nothing_is_absent_with_the_reason():
    """What is repaid, paid or sold is never negative: a year below its nine months is of another basis than they are."""
    for tag, item in (
        ("Revenues", "revenue"),
        ("CostOfRevenue", "cost_of_revenue"),
        ("InterestExpense", "interest_expense"),
        ("PaymentsToAcquirePropertyPlantAndEquipment", "capital_expenditure"),
        ("ProceedsFromIssuanceOfLongTermDebt", "debt_issued"),
        ("RepaymentsOfLongTermDebt", "debt_repaid"),
        ("PaymentsOfDividends", "dividends_paid"),
    ):
        filer = Filer()
        plain_year(filer, 2023)
        ten_k = list(filer.filings)[-1]
        filer.say(list(filer.filings)[-2], {tag: {ytd(2023, 3): 3_000_000}})
        filer.say(ten_k, {tag: {ytd(2023, 4): 2_500_000}})
        lines = line_items_at(filer.company(), NOW)
        assert item not in lines.of("Q", day("2023-12-31")).amounts
        assert lines.of("Q", day("2023-12-31")).remarks[item].startswith("not_of_one_basis: ")


def test_a_sum_of_which_a_part_is_told_for_the_year_alone_is_absent_in_its_quarters_with_the_reason():
    filer = Filer()
    names = plain_year(filer, 2022)
    filer.say(names[2], {"PaymentsToAcquirePropertyPlantAndEquipment": {ytd(2022, 3): 118_436_000}})
    filer.say(
        names[3],
        {
            "PaymentsToAcquirePropertyPlantAndEquipment": {ytd(2022, 4): 168_257_000},
            "PaymentsToAcquireOtherPropertyPlantAndEquipment": {ytd(2022, 4): 170_726_000},
        },
    )
    lines = line_items_at(filer.company(), NOW)
    assert "capital_expenditure" not in lines.of("Q", day("2022-12-31")).amounts
    assert lines.of("Q", day("2022-12-31")).remarks["capital_expenditure"] == (
        "not_of_one_basis: us-gaap:PaymentsToAcquireOtherPropertyPlantAndEquipment is given for a longer period, and not for"
        " this one"
    )
