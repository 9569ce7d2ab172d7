"""Which tag an item is read from, what applies to which kind of company, and items that follow from others."""

import pytest

from almanac.derived.companies.reading.tag_mapping import mapping_for, needs
from tests.support.filer import Filer, day, method, plain_year, quarter, value, ytd

END = "2020-12-31"


def year(lines, **options):
    """The financials of one annual report: flows of 2020 and balances at its end."""
    filer = Filer(**options)
    by_tag = {"NetIncomeLoss": {ytd(2020, 4): 1}} | {
        name: {END if kind == "I" else ytd(2020, 4): number} for kind, tags in lines.items() for name, number in tags.items()
    }  # fmt: skip
    stated = {name: cells for name, cells in by_tag.items() if None not in cells.values()}
    filer.file("10-K", "2021-02-20", END, stated, fy=2020, fp="FY")
    return filer.financials()


CONTRACTS = "RevenueFromContractWithCustomerExcludingAssessedTax"
ALL_EQUITY = "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest"
BANK = {"Revenues": 300, "RevenuesNetOfInterestExpense": 180, "InterestIncomeExpenseNet": 90}


@pytest.mark.parametrize(
    ("template", "flows", "balances", "expected"),
    [
        # Of two tags that say the same the first counts.
        ("industrial", {"CostOfRevenue": 7, "CostOfGoodsAndServicesSold": 5}, {}, {"cost_of_revenue": 7}),
        ("industrial", {"CostOfGoodsAndServicesSold": 5}, {}, {"cost_of_revenue": 5}),
        # Traders tag finished goods for all they hold; where a total is tagged, finished goods are a part of it.
        ("industrial", {}, {"InventoryFinishedGoodsNetOfReserves": 5}, {"inventory": 5}),
        ("industrial", {}, {"InventoryFinishedGoodsNetOfReserves": 5, "InventoryNet": 8}, {"inventory": 8}),
        # A sum of tags needs all that are not optional.
        ("industrial", {"CostOfServices": 3}, {}, {"cost_of_revenue": 3}),
        ("industrial", {"CostOfGoodsSold": 4}, {}, {"cost_of_revenue": (4, None)}),
        ("industrial", {"CostOfGoodsSold": 4, "CostOfServices": 3}, {}, {"cost_of_revenue": (7, "sum_of_tags")}),
        ("industrial", {"Revenues": 10, "CostOfRevenue": 7}, {}, {"gross_profit": (3, "formula")}),
        # Costs in one line less the cost of revenue are operating expenses.
        ("industrial", {"CostsAndExpenses": 9, "CostOfRevenue": 7}, {}, {"operating_expenses": 2}),
        ("industrial", {"CostsAndExpenses": 9}, {}, {"operating_expenses": None}),
        (
            "industrial", {"NetCashProvidedByUsedInOperatingActivities": 9, "PaymentsToAcquireProductiveAssets": 4}, {},
            {"capital_expenditure": 4, "free_cash_flow": 5},
        ),
        # Depreciation under an unusual tag.
        (
            "industrial", {"Depreciation": 30, "AmortizationOfIntangibleAssets": 5, "OperatingIncomeLoss": 100}, {},
            {"depreciation_and_amortization": (35, "sum_of_tags"), "ebitda": 135},
        ),
        # What belongs to minorities is neither income nor equity of the shareholders.
        (
            "industrial", {"NetIncomeLoss": None, "ProfitLoss": 110, "NetIncomeLossAttributableToNoncontrollingInterest": 10}, {},
            {"net_income": 100},
        ),
        ("industrial", {}, {ALL_EQUITY: 50, "MinorityInterest": 8}, {"shareholders_equity": 42}),
        # A column of the statement of equity is not total equity.
        ("industrial", {}, {"StockholdersEquity": 12_707, ALL_EQUITY: 1_246}, {"equity_with_minority": 12_707}),
        # A bank's revenue is net of interest expense.
        (
            "bank", BANK, {"Deposits": 7, "LongTermDebt": 3},
            {"revenue": 180, "net_interest_income": 90, "deposits": 7, "long_term_debt": 3},
        ),
        ("industrial", BANK, {}, {"revenue": 300, "net_interest_income": 90}),
        ("bank", {"InterestIncomeExpenseNet": 90, "NoninterestIncome": 40}, {}, {"revenue": 130}),
        # A slice of revenue is not the total; where tags of it differ, cost and gross profit decide.
        ("insurer", {CONTRACTS: 2_400, "RevenuesNetOfInterestExpense": 77_100}, {}, {"revenue": 77_100}),
        (
            "industrial",
            {"Revenues": 1_650, "SalesRevenueNet": 1_790, "SalesRevenueGoodsNet": 1_835, "CostOfGoodsSold": 956, "GrossProfit": 879},
            {}, {"revenue": 1_835},
        ),
        # Total liabilities are never liabilities and equity.
        (
            "industrial", {},
            {
                "Assets": 1_000, "LiabilitiesAndStockholdersEquity": 1_000, "StockholdersEquity": 350, "MinorityInterest": 40,
                "TemporaryEquityCarryingAmountAttributableToParent": 10,
            },
            {"total_liabilities": (600, "formula"), "shareholders_equity": 350},
        ),
        # Current maturities are counted once, and debt in current liabilities already holds the current part.
        (
            "industrial", {}, {"LongTermDebt": 500, "LongTermDebtCurrent": 80, "CommercialPaper": 20},
            {"long_term_debt": 420, "short_term_debt": 100, "total_debt": 520},
        ),
        (
            "industrial", {}, {"LongTermDebtNoncurrent": 420, "LongTermDebtCurrent": 80, "DebtCurrent": 100},
            {"short_term_debt": 100, "total_debt": 520},
        ),
        # Without a count on the cover that of the balance sheet is taken.
        ("industrial", {}, {"CommonStockSharesOutstanding": 9}, {"shares_outstanding": 9}),
        ("industrial", {}, {"CommonStockSharesIssued": 12, "TreasuryStockCommonShares": 2}, {"shares_outstanding": 10}),
    ],
)  # fmt: skip
def test_an_item_of_one_annual_report(template, flows, balances, expected):
    financials = year({"A": flows, "I": balances}, template=template)
    for item, wanted in expected.items():
        cells = financials.balances if item in financials.balances else financials.years
        if isinstance(wanted, tuple):
            assert (value(cells, item, END), method(cells, item, END)) == wanted, item
        else:
            assert value(cells, item, END) == wanted, item


def test_a_value_names_the_tags_it_is_read_from():
    years = year({"A": {"Revenues": 10, "CostOfRevenue": 7, "CostOfGoodsAndServicesSold": 5}}).years
    assert years["cost_of_revenue"][day(END)].tags == ("us-gaap:CostOfRevenue:A",)
    assert years["gross_profit"][day(END)].tags == ("us-gaap:CostOfRevenue:A", "us-gaap:Revenues:A")


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
