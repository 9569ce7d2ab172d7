"""Which of the numbers a fact has had is served, and which go together in a difference. All companies are invented."""

from datetime import date

import pytest

from almanac.derived.companies.precision import agree
from almanac.derived.companies.ratios import measures
from almanac.domain.periods import Frequency
from tests.support.filer import Filer, Q, day, method, plain_year, quarter, value, ytd

NARROW, WHOLE = "RevenueFromContractWithCustomerIncludingAssessedTax", "Revenues"
MILLION = 1_000_000


def statement(filer, kind, frequency, end):
    """The last version of a statement."""
    (found,) = [
        versions[-1].body
        for key, versions in filer.swept().statements.items()
        if (key.kind, key.frequency, key.period >> 14) == (kind, frequency, day(end)) and versions[-1].body
    ]
    return found


def failed(body):
    """Name → detail of the checks that a statement fails."""
    return {check.name: check.detail for check in body.quality.checks if check.status == "failed"}


def told(body):
    """Name → detail of the checks that say something of a statement."""
    return {check.name: check.detail for check in body.quality.checks if check.detail}


def year_of(filer, year, tag, amounts):
    """Three 10-Qs and a 10-K with one tag, to date. Amounts are millions of each quarter."""
    names = plain_year(filer, year)
    for number in (1, 2, 3, 4):
        filer.say(names[number - 1], {tag: {ytd(year, number): sum(amounts[:number]) * MILLION}})
    return names


def comparative(filer, form, filed, end, lines, **about):
    return filer.file(
        form, filed, end, {tag: {k: v * MILLION for k, v in of.items()} for tag, of in lines.items()}, **about
    )


# -- the last quarter ---------------------------------------------------------------------------------------------------


def narrowed():
    """Leases leave the tag: the report of 2022 shows the year 2021 as 273 of contracts within 2,073 in another tag."""
    filer = Filer()
    year_of(filer, 2021, NARROW, (450, 490, 555, 578))
    comparative(
        filer, "10-K", "2023-02-14", "2022-12-31", {NARROW: {ytd(2021, 4): 273}, WHOLE: {ytd(2021, 4): 2073}},
        fy=2022, fp="FY",
    )  # fmt: skip
    return filer


def test_the_last_quarter_does_not_take_nine_months_from_a_year_that_became_a_slice():
    financials = narrowed().financials()
    assert value(financials.years, "revenue", "2021-12-31") == 2073 * MILLION
    assert value(financials.quarters, "revenue", "2021-12-31") == 578 * MILLION
    # The year of that difference is the year as it is served: nothing to remark.
    assert method(financials.quarters, "revenue", "2021-12-31") == "fy_minus_9m"


def test_a_year_in_the_new_tag_less_nine_months_in_the_one_that_was_narrowed():
    filer = narrowed()
    names = year_of(filer, 2022, NARROW, (740, 802, 908, -1850))  # 600 for the year
    filer.say(names[3], {WHOLE: {ytd(2022, 4): 3282 * MILLION}})
    quarters = filer.financials().quarters
    assert value(quarters, "revenue", "2022-12-31") == 832 * MILLION


def recast_by_a_spin_off(quarters_too):
    filer = Filer()
    year_of(filer, 2020, WHOLE, (546, 646, 681, 610))
    comparative(filer, "8-K", "2021-06-29", None, {WHOLE: {ytd(2020, 4): 1647}})
    if quarters_too:
        comparative(filer, "10-Q", "2021-11-09", "2021-09-30", {WHOLE: {ytd(2020, 3): 1241}}, fy=2021, fp="Q3")
    return filer


def test_a_year_recast_for_a_spin_off_leaves_the_last_quarter_as_it_was_and_marks_it():
    filer = recast_by_a_spin_off(quarters_too=False)
    quarters = filer.financials().quarters
    assert value(quarters, "revenue", "2020-12-31") == 610 * MILLION  # not 1,647 − 1,873
    assert method(quarters, "revenue", "2020-12-31") == "fy_minus_9m_before_recast"
    body = statement(filer, "income", Frequency.QUARTERLY, "2020-12-31")
    assert (body.basis, body.quality.status) == ("mixed", "warning")
    assert failed(body)["one_basis"] == (
        "the longer period was recast later and the shorter one was not, both are as first known: revenue"
    )


def test_once_the_nine_months_are_recast_too_the_last_quarter_is():
    quarters = recast_by_a_spin_off(quarters_too=True).financials().quarters
    assert value(quarters, "revenue", "2020-12-31") == 406 * MILLION
    assert method(quarters, "revenue", "2020-12-31") == "fy_minus_9m"


def first_report_on_a_new_basis(share):
    """The annual report of 2021 shows 2020 with a part less, the quarterly reports of 2021 did not."""
    filer = Filer()
    year_of(filer, 2020, "CostOfRevenue", (100, 100, 100, 100))
    names = year_of(filer, 2021, "CostOfRevenue", (100, 100, 100, 100 - 4 * share))
    comparative(filer, "10-Q", "2021-11-02", "2021-09-30", {"CostOfRevenue": {ytd(2020, 3): 300}}, fy=2021, fp="Q3")
    filer.say(names[3], {"CostOfRevenue": {ytd(2020, 4): (400 - 4 * share) * MILLION}})
    return filer


def test_a_report_that_recasts_the_year_before_is_on_another_basis_than_the_quarters():
    filer = first_report_on_a_new_basis(20)
    assert value(filer.financials().quarters, "cost_of_revenue", "2021-12-31") is None  # 320 − 300
    body = statement(filer, "income", Frequency.QUARTERLY, "2021-12-31")
    assert "cost_of_revenue" not in body.items
    assert body.quality.status == "ok"
    assert (
        "no cost_of_revenue: not_of_one_basis: us-gaap:CostOfRevenue: the year 320,000,000 and the nine months 300,000,000"
        in told(body)["absent_with_reason"].split("; ")
    )
    comparative(filer, "10-Q", "2022-11-02", "2022-09-30", {"CostOfRevenue": {ytd(2021, 3): 240}}, fy=2022, fp="Q3")
    assert value(filer.financials().quarters, "cost_of_revenue", "2021-12-31") == 80 * MILLION


def test_a_little_of_another_basis_is_served_and_marked():
    filer = first_report_on_a_new_basis(1)
    quarters = filer.financials().quarters
    assert value(quarters, "cost_of_revenue", "2021-12-31") == 96 * MILLION
    assert method(quarters, "cost_of_revenue", "2021-12-31") == "fy_minus_9m_mixed"
    body = statement(filer, "income", Frequency.QUARTERLY, "2021-12-31")
    assert (body.quality.status, failed(body).keys()) == ("failed", {"two_bases"})


@pytest.mark.parametrize(("days", "marked"), [(-9, False), (-8, True), (0, True), (8, True), (9, False)])
def test_the_year_before_may_end_eight_days_off(days, marked):
    """A recast of the year before puts the last quarter in doubt, whichever day of a year of 52 or 53 weeks it ended on."""
    filer = Filer()
    names = year_of(filer, 2021, "CostOfRevenue", (100, 100, 100, 96))
    start, third, end = (
        date.fromordinal(day(text) + days).isoformat() for text in ("2020-01-01", "2020-09-30", "2020-12-31")
    )
    year, nine_months = (start, end), (start, third)
    before = {year: 400 * MILLION, nine_months: 300 * MILLION}
    filer.file("10-K", "2021-02-21", end, {"CostOfRevenue": before}, fy=2020, fp="FY")
    filer.say(names[2], {"CostOfRevenue": {nine_months: 300 * MILLION}})
    filer.say(names[3], {"CostOfRevenue": {year: 396 * MILLION}})
    expected = "fy_minus_9m_mixed" if marked else "fy_minus_9m"
    assert method(filer.financials().quarters, "cost_of_revenue", "2021-12-31") == expected


def test_a_part_of_a_year_that_would_be_negative_is_not_served():
    filer = Filer()
    year_of(filer, 2020, WHOLE, (100, 100, 100, -50))
    assert value(filer.financials().years, "revenue", "2020-12-31") == 250 * MILLION
    assert value(filer.financials().quarters, "revenue", "2020-12-31") is None
    detail = told(statement(filer, "income", Frequency.QUARTERLY, "2020-12-31"))["absent_with_reason"]
    assert detail.startswith("no revenue: not_of_one_basis: us-gaap:Revenues: the year 250,000,000")


def test_what_a_filing_states_below_zero_is_served_with_a_warning():
    filer = Filer()
    names = plain_year(filer, 2020)
    filer.say(names[2], {WHOLE: {quarter(2020, 3): -2 * MILLION}})
    body = statement(filer, "income", Frequency.QUARTERLY, "2020-09-30")
    assert (body.items["revenue"], body.quality.status) == (-2 * MILLION, "warning")
    assert failed(body)["signs_agree"] == "revenue -2,000,000 is negative"


@pytest.mark.parametrize("template", ["broker", "manager", "insurer", "fund"])
def test_revenue_below_zero_is_right_where_fees_are_given_back_and_losses_are_revenue(template):
    filer = Filer(template)
    year_of(filer, 2019, WHOLE, (90, 100, 110, 120))
    names = year_of(filer, 2020, WHOLE, (-300, 150, 200, -20))
    filer.say(names[0], {WHOLE: {quarter(2020, 1): -300 * MILLION}})
    quarters = filer.financials().quarters
    assert value(quarters, "revenue", "2020-03-31") == -300 * MILLION
    assert value(quarters, "revenue", "2020-12-31") == -20 * MILLION
    assert statement(filer, "income", Frequency.QUARTERLY, "2020-03-31").quality.status == "ok"
    assert twelve(filer, "2020-03-31", "2020-06-01")["revenue_ttm"].value == 30 * MILLION
    assert twelve(filer, "2020-06-30", "2020-09-01")["revenue_ttm"].value == 80 * MILLION


def test_nine_months_of_another_company_are_not_taken_from_its_successor():
    """A shell reports March; the half-year's report is of the company that took its place, and restates March later."""
    filer = Filer()
    cash = "NetCashProvidedByUsedInOperatingActivities"
    filer.file("10-Q", "2020-05-11", "2020-03-31", {cash: {ytd(2020, 1): -536_222}}, fy=2020, fp="Q1")
    filer.file(
        "10-Q", "2020-08-04", "2020-06-30", {cash: {ytd(2020, 2): -45_785_000}, "NetIncomeLoss": {quarter(2020, 2): -1}},
        fy=2020, fp="Q2",
    )  # fmt: skip
    filer.file("10-K/A", "2021-05-06", "2020-12-31", {cash: {ytd(2020, 2): -45_561_000}}, fy=2020, fp="FY")
    filer.file("10-Q", "2021-05-07", "2021-03-31", {cash: {ytd(2020, 1): -21_897_000}}, fy=2021, fp="Q1")
    quarters = filer.financials().quarters
    assert value(quarters, "net_cash_flow_from_operations", "2020-06-30") == -45_561_000 + 21_897_000


def test_what_an_amendment_of_the_annual_report_changes_falls_on_the_last_quarter_and_is_marked():
    filer = Filer()
    plain_year(filer, 2020, income=(10, 11, 12, 14))
    filer.file("10-K/A", "2021-04-02", "2020-12-31", {"NetIncomeLoss": {ytd(2020, 4): 44}}, fy=2020, fp="FY")
    quarters = filer.financials().quarters
    assert value(quarters, "net_income", "2020-12-31") == 11
    assert method(quarters, "net_income", "2020-12-31") == "fy_minus_9m_mixed"


def test_dividends_per_share_are_not_taken_from_each_other_across_a_split():
    filer = Filer()
    names = plain_year(filer, 2020)
    paid, shares = "CommonStockDividendsPerShareDeclared", "WeightedAverageNumberOfSharesOutstandingBasic"
    filer.say(names[2], {paid: {ytd(2020, 3): 0.3}, shares: {ytd(2020, 3): 4_000_000}})
    # One new share for ten old ones before the annual report: 4.00 for the year are 0.40 of the old ones.
    filer.say(names[3], {paid: {ytd(2020, 4): 4.0}, shares: {ytd(2020, 4): 400_000}})
    assert value(filer.financials().quarters, "dividends_per_share", "2020-12-31") is None


# -- the same number again ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1_899_200_000.0, 1_899_000_000.0, True),
        (1_899_600_000.0, 1_899_000_000.0, False),
        (4_681_507_000.0, 4_682_000_000.0, True),
        (4_700_000_000.0, 5_000_000_000.0, False),  # nobody rounds statements to thousands of millions
        (0.4975, 0.5, True),
        (1.8, 2.0, False),  # an amount per share that ends on the full unit is exact to the cent
        (0.0, 400.0, False),
        (12_345.0, 12_346.0, False),
    ],
)
def test_numbers_agree_within_their_own_rounding(one, other, same):
    assert (agree(one, other), agree(other, one), agree(-one, -other)) == (same, same, same)


def test_the_exact_number_outlives_its_repetition_in_millions():
    filer = Filer()
    names = plain_year(filer, 2020)
    filer.say(names[3], {WHOLE: {ytd(2020, 4): 4_681_507_000}})
    filer.file("10-K", "2022-02-20", "2021-12-31", {WHOLE: {ytd(2020, 4): 4_682_000_000}}, fy=2021, fp="FY")
    assert value(filer.financials().years, "revenue", "2020-12-31") == 4_681_507_000
    # A restatement by less than a million in exact figures is one.
    filer.file("10-K", "2023-02-20", "2022-12-31", {WHOLE: {ytd(2020, 4): 4_681_600_001}}, fy=2022, fp="FY")
    assert value(filer.financials().years, "revenue", "2020-12-31") == 4_681_600_001


def test_a_sheet_repeated_in_millions_that_add_up_is_the_same_sheet():
    filer = Filer()
    sheet = {"Assets": 29_739_614_000, "Liabilities": 23_426_010_000, "StockholdersEquity": 6_313_604_000}
    filer.file("10-K", "2019-02-19", "2018-12-31", {tag: {"2018-12-31": amount} for tag, amount in sheet.items()}, fy=2018, fp="FY")  # fmt: skip
    again = {"Assets": 29_740_000_000, "Liabilities": 23_427_000_000, "StockholdersEquity": 6_313_000_000}
    filer.file("10-Q", "2019-10-29", "2019-09-30", {tag: {"2018-12-31": amount} for tag, amount in again.items()}, fy=2019, fp="Q3")  # fmt: skip
    balances = filer.financials().balances
    assert value(balances, "total_liabilities", "2018-12-31") == sheet["Liabilities"]
    assert value(balances, "shareholders_equity", "2018-12-31") == sheet["StockholdersEquity"]
    # A unit that is no rounding is another number, and the sheet another one.
    anew = again | {"Liabilities": 23_425_000_000, "StockholdersEquity": 6_315_000_000}
    filer.file("10-K", "2020-02-13", "2019-12-31", {tag: {"2018-12-31": amount} for tag, amount in anew.items()}, fy=2019, fp="FY")  # fmt: skip
    balances = filer.financials().balances
    assert value(balances, "total_liabilities", "2018-12-31") == anew["Liabilities"]


def test_a_number_given_more_precisely_later_takes_the_place_of_the_rounded_one():
    filer = Filer()
    names = plain_year(filer, 2020)
    filer.say(names[3], {WHOLE: {ytd(2020, 4): 4_682_000_000}})
    filer.file("10-K", "2022-02-20", "2021-12-31", {WHOLE: {ytd(2020, 4): 4_681_507_000}}, fy=2021, fp="FY")
    assert value(filer.financials().years, "revenue", "2020-12-31") == 4_681_507_000


# -- statements of one basis --------------------------------------------------------------------------------------------


def spun_off():
    """The annual report of 2022 shows 2021 without a part that was spun off, and its revenue in another tag."""
    filer = Filer()
    cash = "NetCashProvidedByUsedInOperatingActivities"
    held, equity = "CashAndCashEquivalentsAtCarryingValue", "StockholdersEquity"
    for year, sales in ((2020, 10_775), (2021, 11_046)):
        names = plain_year(filer, year)
        end = f"{year}-12-31"
        lines = {
            WHOLE: {ytd(year, 4): sales},
            cash: {ytd(year, 4): 3_400},
            "Assets": {end: 24_423},
            held: {end: 423},
            equity: {end: 2_858},
        }
        filer.facts = [
            f for f in filer.facts if (f.accession, f.end) != (names[3], day(end)) or f.tag == "us-gaap:NetIncomeLoss"
        ]
        filer.say(names[3], lines)
    anew = {
        NARROW: {ytd(2022, 4): 1_555, ytd(2021, 4): 1_770},
        cash: {ytd(2022, 4): 433, ytd(2021, 4): 469},
        "NetIncomeLoss": {ytd(2022, 4): 20, ytd(2021, 4): 90},
        "Assets": {"2022-12-31": 3_466, "2021-12-31": 3_397},
        held: {"2022-12-31": 24, "2021-12-31": 25, "2020-12-31": 15},
        equity: {"2022-12-31": 318, "2021-12-31": 2_302, "2020-12-31": 1_877},
    }
    filer.file("10-K", "2023-02-20", "2022-12-31", anew, fy=2022, fp="FY")
    return filer


def test_revenue_of_the_old_group_is_not_served_beside_the_income_of_what_is_left():
    financials = spun_off().financials()
    items = ("revenue", "net_income", "net_cash_flow_from_operations")
    assert [value(financials.years, item, "2021-12-31") for item in items] == [1_770, 90, 469]
    assert [value(financials.years, item, "2020-12-31") for item in items] == [10_775, 100, 3_400]


def test_a_balance_sheet_does_not_take_single_lines_of_what_is_left_from_a_later_cash_flow_statement():
    filer = spun_off()
    financials = filer.financials()
    items = ("total_assets", "cash_and_equivalents", "shareholders_equity")
    assert [value(financials.balances, item, "2021-12-31") for item in items] == [3_397, 25, 2_302]
    assert [value(financials.balances, item, "2020-12-31") for item in items] == [24_423, 423, 2_858]
    # What replaces nothing is named: its number, and the report that gives it.
    told = {
        key.period >> 14: [version.body for version in versions]
        for key, versions in filer.swept().statements.items()
        if (key.kind, key.frequency) == ("balance", "A")
    }
    assert [body.quality.status for body in told[day("2020-12-31")]] == ["ok", "warning"]
    (check,) = [check for check in told[day("2020-12-31")][-1].quality.checks if check.name == "one_basis"]
    accession = list(filer.filings)[-1]
    assert check.items == ("cash_and_equivalents", "shareholders_equity")
    assert check.detail.endswith(
        f"cash_and_equivalents: us-gaap:CashAndCashEquivalentsAtCarryingValue 15 in {accession};"
        f" shareholders_equity: us-gaap:StockholdersEquity 1,877 in {accession}"
    )
    assert told[day("2021-12-31")][-1].quality.status == "ok"


# -- signs --------------------------------------------------------------------------------------------------------------


def with_a_loss(filer):
    """Four quarters of losses and the earnings per share of them."""
    names = plain_year(filer, 2020, income=(-10, -20, -30, -40))
    for number in (1, 2, 3):
        filer.say(names[number - 1], {"EarningsPerShareBasic": {quarter(2020, number): -0.1 * number}})
    return names


def test_a_loss_that_a_later_comparative_tags_as_a_gain_stays_a_loss():
    filer = Filer()
    with_a_loss(filer)
    filer.file("10-Q", "2021-08-01", "2021-06-30", {"NetIncomeLoss": {quarter(2020, 2): 20}}, fy=2021, fp="Q2")
    body = statement(filer, "income", Frequency.QUARTERLY, "2020-06-30")
    assert (body.items["net_income"], body.quality.status) == (-20, "warning")
    assert failed(body)["signs_agree"] == "net_income: us-gaap:NetIncomeLoss was filed with the other sign"


def test_a_gain_that_was_a_loss_by_its_earnings_per_share_is_corrected_by_the_later_filing():
    filer = Filer()
    names = with_a_loss(filer)
    filer.facts = [f for f in filer.facts if (f.accession, f.tag, f.start) != (names[1], "us-gaap:NetIncomeLoss", day("2020-04-01"))]  # fmt: skip
    filer.say(names[1], {"NetIncomeLoss": {quarter(2020, 2): 20}})
    body = statement(filer, "income", Frequency.QUARTERLY, "2020-06-30")
    assert failed(body)["signs_agree"] == "income 20 with -0.2 per share"
    filer.file("10-Q", "2021-08-01", "2021-06-30", {"NetIncomeLoss": {quarter(2020, 2): -20}}, fy=2021, fp="Q2")
    body = statement(filer, "income", Frequency.QUARTERLY, "2020-06-30")
    assert body.items["net_income"] == -20
    assert "signs_agree" not in failed(body)


def test_a_restatement_from_a_loss_to_another_gain_is_one():
    filer = Filer()
    with_a_loss(filer)
    changed = {"NetIncomeLoss": {quarter(2020, 2): 26}}
    filer.file("10-Q", "2021-08-01", "2021-06-30", changed, fy=2021, fp="Q2")
    assert value(filer.financials().quarters, "net_income", "2020-06-30") == 26


def test_a_tax_has_the_sign_that_leads_to_the_income():
    before = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"
    filer = Filer()
    names = plain_year(filer, 2020, income=(100, 200, 300, 400))
    filer.say(names[3], {before: {ytd(2020, 4): 1_400}, "IncomeTaxExpenseBenefit": {ytd(2020, 4): 400}})
    # Restated by a little, and with the other sign.
    filer.file("10-K", "2022-02-20", "2021-12-31", {"IncomeTaxExpenseBenefit": {ytd(2020, 4): -402}}, fy=2021, fp="FY")
    body = statement(filer, "income", Frequency.ANNUAL, "2020-12-31")
    assert body.items["income_tax"] == 400
    assert failed(body)["signs_agree"] == "income_tax: us-gaap:IncomeTaxExpenseBenefit was filed with the other sign"


def test_what_is_paid_is_positive_whichever_filing_says_so():
    filer = Filer()
    names = plain_year(filer, 2020)
    paid = "PaymentsToAcquirePropertyPlantAndEquipment"
    filer.say(names[3], {paid: {ytd(2020, 4): -317}})
    assert failed(statement(filer, "cash_flow", Frequency.ANNUAL, "2020-12-31"))["signs_agree"] == (
        "capital_expenditure -317 is negative"
    )
    filer.file("10-K", "2022-02-20", "2021-12-31", {paid: {ytd(2020, 4): 317}}, fy=2021, fp="FY")
    assert value(filer.financials().years, "capital_expenditure", "2020-12-31") == 317


# -- shares -------------------------------------------------------------------------------------------------------------


def split():
    """Two for one before the annual report: the year and its last quarter in new shares, the rest in old ones."""
    filer = Filer()
    names = plain_year(filer, 2020)
    shares = "WeightedAverageNumberOfSharesOutstandingBasic"
    for number in (1, 2, 3):
        filer.say(names[number - 1], {shares: {quarter(2020, number): 1_000_000}})
        filer.say(names[number - 1], {"CommonStockSharesOutstanding": {quarter(2020, number)[1]: 1_000_000}})
    filer.say(names[3], {shares: {ytd(2020, 4): 2_000_000}, "CommonStockSharesOutstanding": {"2020-12-31": 2_000_000}})
    return filer, names


def test_a_year_and_quarters_counted_in_shares_from_both_sides_of_a_split_are_marked():
    filer, _ = split()
    for frequency, end in ((Frequency.ANNUAL, "2020-12-31"), (Frequency.QUARTERLY, "2020-03-31")):
        assert "shares_of_one_basis" in failed(statement(filer, "income", frequency, end)), end
    # Once a later report restates the quarters, the year and they are of one basis.
    shares = {"WeightedAverageNumberOfSharesOutstandingBasic": {quarter(2020, n): 2_000_000 for n in (1, 2, 3)}}
    filer.file("10-K", "2022-02-20", "2021-12-31", shares, fy=2021, fp="FY")
    for frequency, end in ((Frequency.ANNUAL, "2020-12-31"), (Frequency.QUARTERLY, "2020-03-31")):
        assert "shares_of_one_basis" not in failed(statement(filer, "income", frequency, end)), end


def test_a_cover_that_counts_new_shares_beside_an_average_of_old_ones_is_marked():
    filer, names = split()
    filer.say(names[2], {"dei:EntityCommonStockSharesOutstanding": {"2020-10-30": 2_000_000}})
    body = statement(filer, "balance", Frequency.QUARTERLY, "2020-09-30")
    assert body.items["shares_outstanding"] == 2_000_000
    assert failed(body)["shares_of_one_basis"] == (
        "2,000,000 shares are counted otherwise than the average of 1,000,000"
    )
    assert "shares_of_one_basis" not in failed(statement(filer, "balance", Frequency.QUARTERLY, "2020-06-30"))


def test_a_quarter_far_outside_the_quarters_beside_it_is_marked():
    filer = Filer()
    for year, amounts in ((2020, (100, 110, 120, 130)), (2021, (105, 20, 125, 135))):
        year_of(filer, year, WHOLE, amounts)
    detail = failed(statement(filer, "income", Frequency.QUARTERLY, "2021-06-30"))["quarter_among_neighbours"]
    assert detail == "revenue 20,000,000 is far outside the quarters beside it"
    assert "quarter_among_neighbours" not in failed(statement(filer, "income", Frequency.QUARTERLY, "2021-09-30"))


# -- twelve months of two bases ---------------------------------------------------------------------------------------------


def reported(years, *, last=None, lines):
    """
    10-Qs and 10-Ks of calendar years up to the last quarter. `lines(year, number)`: tag → (of the quarter, of the year to date)
    as it is told of a quarter by the report of one day, which is asked for each with its comparative.
    """
    filer = Filer()
    for year in years:
        for number in (1, 2, 3, 4):
            if last is not None and (year, number) > last:
                return filer
            filed = (f"{year}-05-01", f"{year}-08-01", f"{year}-11-01", f"{year + 1}-02-20")[number - 1]
            told = {"Assets": {f"{year}-{Q[number]}": 1_000}}
            for past in (year, year - 1):
                for tag, (of_quarter, to_date) in lines((year, number), (past, number)).items():
                    told.setdefault(tag, {})[ytd(past, number)] = to_date
                    if number < 4:
                        told[tag][quarter(past, number)] = of_quarter
            filer.file(
                "10-K" if number == 4 else "10-Q",
                filed,
                f"{year}-{Q[number]}",
                told,
                fy=year,
                fp="FY" if number == 4 else f"Q{number}",
            )
    return filer


def twelve(filer, end, moment):
    return measures(filer.financials(moment), day(end), Frequency.QUARTERLY)


@pytest.mark.parametrize("ratio", [1.1, 1.25, 1.5, 2, 10, 0.125])
def test_twelve_months_per_share_across_a_split_are_absent_whatever_its_ratio(ratio):
    """40 million a quarter on 100 million shares, which are split in March 2022; each report tells the year before anew."""

    def lines(told, _):
        shares = 100e6 * (ratio if told >= (2022, 1) else 1)
        each = 40e6 / shares
        return {
            "NetIncomeLoss": (40e6, 40e6 * told[1]),
            "EarningsPerShareDiluted": (each, each * told[1]),
            "WeightedAverageNumberOfDilutedSharesOutstanding": (shares, shares),
        }

    filer = reported((2020, 2021, 2022), lines=lines)
    slugs = {
        "earnings_per_share_diluted_ttm", "weighted_average_shares_diluted_ttm", "eps_growth_yoy", "share_count_change_yoy",
    }  # fmt: skip
    before = twelve(filer, "2021-09-30", "2021-11-30")
    assert before["earnings_per_share_diluted_ttm"].value == pytest.approx(1.6)
    assert before["weighted_average_shares_diluted_ttm"].value == 100e6
    for end, moment in (("2022-03-31", "2022-06-01"), ("2022-06-30", "2022-09-01"), ("2022-09-30", "2022-12-01")):
        found = twelve(filer, end, moment)
        assert found.keys() & slugs == set()
        assert found["net_income_ttm"].value == 160e6
        assert "earnings_per_share_diluted_ttm" not in twelve(filer, "2021-06-30", moment)
    after = twelve(filer, "2022-12-31", "2023-03-01")
    assert after["earnings_per_share_diluted_ttm"].value == pytest.approx(1.6 / ratio)
    assert (after["eps_growth_yoy"].value, after["share_count_change_yoy"].value) == (pytest.approx(0), 0)
    assert twelve(filer, "2022-09-30", "2023-03-01")["earnings_per_share_diluted_ttm"].value == pytest.approx(
        1.6 / ratio
    )
    until_june = reported((2020, 2021, 2022), last=(2022, 2), lines=lines)
    detail = told(statement(until_june, "income", Frequency.QUARTERLY, "2022-03-31"))["absent_with_reason"]
    assert "no earnings_per_share_diluted_ttm: not_of_one_basis" in detail
    assert "net_income_ttm" not in detail
    detail = told(statement(filer, "income", Frequency.QUARTERLY, "2022-03-31"))["absent_with_reason"]
    assert "_ttm" not in detail


def test_twelve_months_of_two_companies_are_absent():
    """A shell with 2 a quarter merges in February 2022; its reports tell the operating company's 30 and 20 since, and of 2021."""

    def lines(told, of):
        each = 2e6 if told < (2022, 1) else -30e6 if of[0] == 2022 else -20e6
        return {
            "NetIncomeLoss": (each, each * of[1]),
            "NetCashProvidedByUsedInOperatingActivities": (each, each * of[1]),
        }

    filer = reported((2020, 2021, 2022), lines=lines)
    for end, moment in (("2022-03-31", "2022-06-01"), ("2022-06-30", "2022-09-01"), ("2022-09-30", "2022-12-01")):
        assert twelve(filer, end, moment).keys() & {"net_income_ttm", "net_cash_flow_from_operations_ttm"} == set()
        assert twelve(filer, "2021-12-31", moment)["net_income_ttm"].value == 8e6
    # Neither are those of which the last quarter alone was told anew.
    assert "net_income_ttm" not in twelve(filer, "2021-03-31", "2022-06-01")
    # The next 10-K tells the year anew.
    assert twelve(filer, "2022-03-31", "2023-03-01")["net_income_ttm"].value == -30e6 + 3 * -20e6
    assert twelve(filer, "2022-12-31", "2023-03-01")["net_income_ttm"].value == -120e6


def test_a_year_first_told_on_the_new_basis_goes_with_quarters_that_are_restated_later():
    """What is given up in the fourth quarter of 2021 leaves the years with the 10-K, the quarters with the reports after it."""

    def lines(told, of):
        each = 100e6 if told < (2021, 4) else 70e6
        return {"NetIncomeLoss": (50e6, 50e6 * of[1]), "Revenues": (each, each * of[1])}

    filer = reported((2020, 2021, 2022), lines=lines)
    assert twelve(filer, "2021-09-30", "2021-11-30")["revenue_ttm"].value == 400e6
    assert twelve(filer, "2022-03-31", "2022-06-01")["revenue_ttm"].value == 280e6
    # The year before was told anew, and its quarters were not: these are as they were.
    assert twelve(filer, "2021-09-30", "2022-03-01")["revenue_ttm"].value == 400e6


def test_a_correction_of_a_trifle_is_no_other_basis():
    def lines(told, of):
        each = 100e6 + (0.2e6 if told >= (2022, 1) and of == (2021, 1) else 0)
        return {"NetIncomeLoss": (each, each * of[1])}

    filer = reported((2020, 2021, 2022), last=(2022, 1), lines=lines)
    assert twelve(filer, "2022-03-31", "2022-06-01")["net_income_ttm"].value == 399.8e6


def test_tags_that_a_filer_swaps_restate_nothing():
    """All revenue stood in one tag and goods in the other; since 2022 it is the other way round."""
    goods, every = "SalesRevenueGoodsNet", "SalesRevenueNet"

    def lines(told, of):
        first, second = (every, goods) if told >= (2022, 1) else (goods, every)
        return {
            "NetIncomeLoss": (50e6, 50e6 * of[1]),
            # Which of the two is the total is told by cost and gross profit.
            "CostOfRevenue": (60e6, 60e6 * of[1]),
            "GrossProfit": (40e6, 40e6 * of[1]),
            first: (100e6, 100e6 * of[1]),
            second: (97e6, 97e6 * of[1]),
        }

    filer = reported((2020, 2021, 2022), last=(2022, 2), lines=lines)
    assert twelve(filer, "2022-06-30", "2022-09-01")["revenue_ttm"].value == 400e6
