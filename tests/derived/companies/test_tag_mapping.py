"""Which tag an item is read from, what applies to which kind of company, and items that follow from others."""

import pytest

from almanac.derived.companies.reading.tag_mapping import mapping_for, needs
from tests.support.filer import Filer, day, method, plain_year, quarter, value, ytd

END = "2020-12-31"


def year(lines, **options):
    """The financials of one annual report: flows of 2020 and balances at its end."""
    filer = Filer(**options)
    by_tag = {
        name: {END if kind == "I" else ytd(2020, 4): number} for kind, tags in lines.items() for name, number in tags.items()
    }  # fmt: skip
    filer.file("10-K", "2021-02-20", END, {"NetIncomeLoss": {ytd(2020, 4): 1}, **by_tag}, fy=2020, fp="FY")
    return filer.financials()


def test_the_first_candidate_with_a_value_wins():
    both = year({"A": {"CostOfRevenue": 7, "CostOfGoodsAndServicesSold": 5}})
    assert value(both.years, "cost_of_revenue", END) == 7
    assert both.years["cost_of_revenue"][day(END)].tags == ("us-gaap:CostOfRevenue:A",)
    assert value(year({"A": {"CostOfGoodsAndServicesSold": 5}}).years, "cost_of_revenue", END) == 5


def test_inventory_of_those_who_hold_finished_goods_only():
    """Traders tag finished goods for all they hold; where a total is tagged, finished goods are a part of it."""
    assert value(year({"I": {"InventoryFinishedGoodsNetOfReserves": 5}}).balances, "inventory", END) == 5
    both = year({"I": {"InventoryFinishedGoodsNetOfReserves": 5, "InventoryNet": 8}})
    assert value(both.balances, "inventory", END) == 8


def test_a_sum_of_tags_needs_all_that_are_not_optional():
    only_services = year({"A": {"CostOfServices": 3}})
    assert value(only_services.years, "cost_of_revenue", END) == 3
    goods = year({"A": {"CostOfGoodsSold": 4}})
    assert value(goods.years, "cost_of_revenue", END) == 4
    assert method(goods.years, "cost_of_revenue", END) is None
    both = year({"A": {"CostOfGoodsSold": 4, "CostOfServices": 3}})
    assert value(both.years, "cost_of_revenue", END) == 7
    assert method(both.years, "cost_of_revenue", END) == "sum_of_tags"


def test_gross_profit_follows_from_revenue_and_cost():
    financials = year({"A": {"Revenues": 10, "CostOfRevenue": 7}})
    assert value(financials.years, "gross_profit", END) == 3
    assert method(financials.years, "gross_profit", END) == "formula"
    assert financials.years["gross_profit"][day(END)].tags == ("us-gaap:CostOfRevenue:A", "us-gaap:Revenues:A")


def test_costs_in_one_line_less_cost_of_revenue_are_operating_expenses():
    financials = year({"A": {"CostsAndExpenses": 9, "CostOfRevenue": 7}})
    assert value(financials.years, "operating_expenses", END) == 2
    assert value(year({"A": {"CostsAndExpenses": 9}}).years, "operating_expenses", END) is None


def test_free_cash_flow_is_cash_from_operations_less_capital_expenditure():
    financials = year({"A": {"NetCashProvidedByUsedInOperatingActivities": 9, "PaymentsToAcquireProductiveAssets": 4}})
    assert value(financials.years, "capital_expenditure", END) == 4
    assert value(financials.years, "free_cash_flow", END) == 5


def test_net_income_leaves_minority_interests_out():
    filer = Filer()
    lines = {"ProfitLoss": {ytd(2020, 4): 110}, "NetIncomeLossAttributableToNoncontrollingInterest": {ytd(2020, 4): 10}}
    filer.file("10-K", "2021-02-20", END, lines, fy=2020, fp="FY")
    assert value(filer.financials().years, "net_income", END) == 100


def test_equity_leaves_minority_interests_out():
    tags = {"StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest": 50, "MinorityInterest": 8}
    assert value(year({"I": tags}).balances, "shareholders_equity", END) == 42


@pytest.mark.parametrize("template", ["bank", "insurer"])
def test_banks_and_insurers_have_no_gross_profit_ebitda_or_free_cash_flow(template):
    tags = {"Revenues": 10, "CostOfRevenue": 7, "OperatingIncomeLoss": 2, "DepreciationAndAmortization": 1, "NetCashProvidedByUsedInOperatingActivities": 9, "PaymentsToAcquirePropertyPlantAndEquipment": 4}  # fmt: skip
    financials = year({"A": tags, "I": {"AssetsCurrent": 5}}, template=template)
    for key in ("gross_profit", "ebitda", "free_cash_flow"):
        assert key not in financials.years
    # What is filed is served, whatever the kind.
    assert value(financials.years, "cost_of_revenue", END) == 7
    assert value(financials.balances, "current_assets", END) == 5
    assert value(financials.years, "revenue", END) == 10
    assert value(financials.years, "net_cash_flow_from_operations", END) == 9


def test_a_banks_revenue_is_net_of_interest_expense():
    tags = {"Revenues": 300, "RevenuesNetOfInterestExpense": 180, "InterestIncomeExpenseNet": 90}
    bank = year({"A": tags, "I": {"Deposits": 7, "LongTermDebt": 3}}, template="bank")
    assert value(bank.years, "revenue", END) == 180
    assert value(bank.years, "net_interest_income", END) == 90
    assert value(bank.balances, "deposits", END) == 7
    assert value(bank.balances, "long_term_debt", END) == 3
    industrial = year({"A": tags})
    assert value(industrial.years, "revenue", END) == 300
    assert value(industrial.years, "net_interest_income", END) == 90


def test_a_banks_revenue_from_its_parts():
    tags = {"InterestIncomeExpenseNet": 90, "NoninterestIncome": 40}
    assert value(year({"A": tags}, template="bank").years, "revenue", END) == 130


def test_shares_on_the_cover_belong_to_the_report_and_not_to_the_next():
    filer = Filer()
    plain_year(filer, 2020)
    cover = "dei:EntityCommonStockSharesOutstanding"
    names = list(filer.filings)
    for name, when, number in zip(names, ("2020-04-24", "2020-07-24", "2020-10-23", "2021-02-12"), (11, 12, 13, 14), strict=True):  # fmt: skip
        filer.say(name, {cover: {when: number}})
    shares = filer.financials().balances["shares_outstanding"]
    assert {end: amount.value for end, amount in shares.items()} == {
        day("2020-03-31"): 11,
        day("2020-06-30"): 12,
        day("2020-09-30"): 13,
        day("2020-12-31"): 14,
    }
    assert shares[day("2020-12-31")].end == day("2020-12-31")
    assert shares[day("2020-12-31")].start is None


def test_without_a_cover_count_the_balance_sheets_is_taken():
    assert value(year({"I": {"CommonStockSharesOutstanding": 9}}).balances, "shares_outstanding", END) == 9
    tags = {"CommonStockSharesIssued": 12, "TreasuryStockCommonShares": 2}
    assert value(year({"I": tags}).balances, "shares_outstanding", END) == 10


def test_a_column_of_the_statement_of_equity_is_not_total_equity():
    tags = {
        "StockholdersEquity": 12_707,
        "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest": 1_246,
    }
    financials = year({"I": tags})
    assert value(financials.balances, "equity_with_minority", END) == 12_707


def test_foreign_names():
    filer = Filer(currency="TWD")
    lines = {
        "ifrs-full:Revenue": {ytd(2020, 4): 100},
        "ifrs-full:CostOfSales": {ytd(2020, 4): 47},
        "ifrs-full:DepreciationExpense": {ytd(2020, 4): 30},
        "ifrs-full:AmortisationExpense": {ytd(2020, 4): 2},
        "ifrs-full:ProfitLossFromOperatingActivities": {ytd(2020, 4): 42},
        "ifrs-full:ProfitLossAttributableToOwnersOfParent": {ytd(2020, 4): 38},
        "ifrs-full:EquityAttributableToOwnersOfParent": {END: 70},
        "ifrs-full:ShorttermBorrowings": {END: 5},
        "ifrs-full:NoncurrentPortionOfNoncurrentBondsIssued": {END: 20},
    }
    filer.file("20-F", "2021-04-20", END, lines, fy=2020, fp="FY")
    financials = filer.financials()
    assert value(financials.years, "gross_profit", END) == 53
    assert value(financials.years, "ebitda", END) == 74
    assert value(financials.years, "net_income", END) == 38
    assert value(financials.balances, "shareholders_equity", END) == 70
    assert value(financials.balances, "total_debt", END) == 25


def test_times_and_lineage_are_those_of_all_inputs():
    filer = Filer()
    names = plain_year(filer, 2020)
    filer.say(names[3], {"Revenues": {ytd(2020, 4): 10}})
    filer.file("10-K/A", "2021-03-20", END, {"CostOfRevenue": {ytd(2020, 4): 4}}, fy=2020, fp="FY")
    amount = filer.financials().years["gross_profit"][day(END)]
    assert amount.value == 6
    assert amount.released == filer.filings[list(filer.filings)[-1]].known_at
    assert amount.ingested == amount.released + 60


@pytest.mark.parametrize("template", ["industrial", "bank", "insurer", "reit", "fund"])
def test_each_item_comes_after_all_it_needs(template):
    plan = mapping_for(template)
    place = {item.key: number for number, item in enumerate(plan.order)}
    for item in plan.order:
        for needed in needs(item):
            assert place.get(needed, -1) < place[item.key]


def test_a_quarter_stays_on_one_tag():
    filer = Filer()
    names = plain_year(filer, 2020)
    filer.say(names[1], {"GrossProfit": {quarter(2020, 2): 6, ytd(2020, 2): 11}})
    filer.say(names[2], {"GrossProfit": {ytd(2020, 3): 18}, "Revenues": {ytd(2020, 3): 50}, "CostOfRevenue": {ytd(2020, 3): 33}})  # fmt: skip
    amount = filer.financials().quarters["gross_profit"][day("2020-09-30")]
    assert (amount.value, amount.tags) == (7, ("us-gaap:GrossProfit:N", "us-gaap:GrossProfit:S"))


def test_a_report_without_a_cover_count_does_not_borrow_the_next_ones():
    filer = Filer()
    names = plain_year(filer, 2020)
    # 115 days after the first quarter's end, but of the second quarter's report.
    filer.say(names[1], {"dei:EntityCommonStockSharesOutstanding": {"2020-07-24": 12}})
    shares = filer.financials().balances["shares_outstanding"]
    assert {end: amount.value for end, amount in shares.items()} == {day("2020-06-30"): 12}


def test_revenue_is_what_gross_profit_and_cost_add_up_to_where_no_tag_gives_it():
    filer = Filer()
    names = plain_year(filer, 2020)
    cost = "CostOfGoodsAndServicesSold"
    filer.say(names[3], {"GrossProfit": {ytd(2020, 4): -214}, cost: {ytd(2020, 4): 250}})
    filer.say(names[2], {"GrossProfit": {ytd(2020, 3): -176}, cost: {ytd(2020, 3): 200}})
    financials = filer.financials()
    assert value(financials.years, "revenue", "2020-12-31") == 36
    assert value(financials.quarters, "revenue", "2020-12-31") == 12
    assert financials.years["revenue"][day("2020-12-31")].method == "sum_of_tags"


def test_direct_operating_costs_are_the_cost_of_revenue_of_who_rents_out():
    filer = Filer()
    names = plain_year(filer, 2020)
    filer.say(names[3], {"Revenues": {ytd(2020, 4): 1_754}, "DirectOperatingCosts": {ytd(2020, 4): 700}})
    assert value(filer.financials().years, "gross_profit", "2020-12-31") == 1_054
    # What new goods cost that are sold beside is a part of the costs of revenue, a fraction.
    filer.say(names[3], {"CostOfGoodsSold": {ytd(2020, 4): 40}})
    assert value(filer.financials().years, "cost_of_revenue", "2020-12-31") == 700
