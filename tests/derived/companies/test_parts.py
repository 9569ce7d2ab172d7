"""A part never stands for the whole, and the filer's own arithmetic decides between candidates. All filers are invented."""

import pytest

from tests.support.filer import Filer, quarter, value, ytd

END = "2024-12-31"
YEAR = ytd(2024, 4)


def filed(flows=None, balances=None, template="industrial"):
    """One annual report with these lines."""
    filer = Filer(template)
    lines = {
        "NetIncomeLoss": {YEAR: 50},
        "NetCashProvidedByUsedInOperatingActivities": {YEAR: 90},
        "Assets": {END: 1_000},
    }
    lines |= {tag: {YEAR: amount} for tag, amount in (flows or {}).items()}
    lines |= {tag: {END: amount} for tag, amount in (balances or {}).items()}
    filer.file("10-K", "2025-02-20", END, lines, fy=2024, fp="FY")
    return filer


def year(item, **lines):
    return value(filed(lines).financials().years, item, END)


def sheet(item, template="industrial", **lines):
    return value(filed(None, lines, template).financials().balances, item, END)


def reason(filer, kind):
    """Item → why it is absent, as the statement says."""
    statements = filer.swept().statements
    (body,) = [versions[-1].body for key, versions in statements.items() if key.kind == kind and key.frequency == "A"]
    (told,) = [check.detail for check in body.quality.checks if check.name == "absent_with_reason"]
    assert body.quality.status == "ok"
    return dict(part.removeprefix("no ").split(": ", 1) for part in (told or "").split("; ") if part)


WELLS, OTHER = "PaymentsToAcquireOilAndGasPropertyAndEquipment", "PaymentsToAcquireOtherPropertyPlantAndEquipment"


def test_a_small_line_is_not_the_capital_expenditure():
    assert year("capital_expenditure", **{WELLS: 1_063, OTHER: 61}) == 1_124
    assert year("capital_expenditure", **{WELLS: 1_063}) == 1_063
    assert year("capital_expenditure", PaymentsToAcquirePropertyPlantAndEquipment=40, PaymentsToExploreAndDevelopOilAndGasProperties=1_500) == 1_540  # fmt: skip
    alone = filed({OTHER: 61})
    assert value(alone.financials().years, "capital_expenditure", END) is None
    assert "free_cash_flow" not in alone.financials().years
    assert reason(alone, "cash_flow")["capital_expenditure"] == f"only_part_reported: us-gaap:{OTHER}"


def test_bought_and_improved_real_estate_is_one_expenditure():
    assert year("capital_expenditure", PaymentsToAcquireRealEstate=300, PaymentsForCapitalImprovements=20) == 320


CONTRACTS = "RevenueFromContractWithCustomerExcludingAssessedTax"


def test_a_slice_of_94_percent_is_not_revenue():
    assert year("revenue", RegulatedAndUnregulatedOperatingRevenue=14_206, **{CONTRACTS: 13_300}) == 14_206
    assert year("revenue", RegulatedOperatingRevenue=2_427) == 2_427


def test_contracts_beside_leases_are_no_total_unless_arithmetic_says_so():
    lessor = filed({CONTRACTS: 12, "OperatingLeaseLeaseIncome": 3_094})
    assert value(lessor.financials().years, "revenue", END) is None
    assert reason(lessor, "income")["revenue"].startswith("only_part_reported")
    proved = {CONTRACTS: 1_000, "OperatingLeaseLeaseIncome": 30, "CostsAndExpenses": 700, "OperatingIncomeLoss": 300}
    assert year("revenue", **proved) == 1_000
    assert year("revenue", **{CONTRACTS: 1_000}) == 1_000


CONTRACTS, GOODS = "RevenueFromContractWithCustomerExcludingAssessedTax", "CostOfGoodsAndServicesSold"
COSTS = {GOODS: 65, "SellingGeneralAndAdministrativeExpense": 20, "OperatingIncomeLoss": 15}


@pytest.mark.parametrize("total", [CONTRACTS, "SalesRevenueNet"])
@pytest.mark.parametrize(
    "proof",
    [
        COSTS,
        {GOODS: 65, "GrossProfit": 35},
        {GOODS: 65, "OperatingExpenses": 20, "OperatingIncomeLoss": 15},
        {**COSTS, "SellingGeneralAndAdministrativeExpense": 17, "ResearchAndDevelopmentExpense": 3},
        # These do not add up, and leave nothing but the larger one.
        {GOODS: 65, "OperatingIncomeLoss": 15},
    ],
)
def test_revenue_of_the_home_market_is_not_revenue(total, proof):
    assert year("revenue", Revenues=70, **{total: 100}, **proof) == 100


@pytest.mark.parametrize(("part", "total"), [(70, 100), (97, 100), (10, 100)])
def test_of_two_revenues_that_nothing_tells_apart_neither_is_served(part, total):
    filer = filed({"Revenues": part, CONTRACTS: total})
    assert value(filer.financials().years, "revenue", END) is None
    assert reason(filer, "income")["revenue"].startswith(f"in_conflict: {part} of us-gaap:Revenues beside {total} of")


def test_revenue_less_than_its_cost_and_what_is_left_is_none():
    filer = filed({"Revenues": 70, GOODS: 65, "OperatingIncomeLoss": 15})
    assert value(filer.financials().years, "revenue", END) is None
    assert reason(filer, "income")["revenue"].startswith("in_conflict")
    # Gains among the lines may make them a little more than revenue.
    assert year("revenue", Revenues=77, CostOfRevenue=65, OperatingIncomeLoss=15) == 77


def test_revenue_may_be_less_than_one_of_its_lines():
    # Losses on hedges are in revenue.
    assert year("revenue", Revenues=100, OilAndGasRevenue=120) == 100
    assert year("revenue", Revenues=50, OilAndGasRevenue=120) is None


def test_several_lines_of_business_are_no_total():
    filer = filed({"PassengerRevenue": 80, "CargoAndFreightRevenue": 20})
    assert value(filer.financials().years, "revenue", END) is None
    assert reason(filer, "income")["revenue"].startswith("only_part_reported")
    assert year("revenue", PassengerRevenue=80) == 80
    assert (
        year("revenue", PassengerRevenue=80, CargoAndFreightRevenue=20, CostsAndExpenses=90, OperatingIncomeLoss=10)
        is None
    )
    assert year("revenue", RevenueFromContractWithCustomerExcludingAssessedTax=100, PassengerRevenue=80) == 100


@pytest.mark.parametrize("tag", ["CostOfRevenue", GOODS, "CostOfGoodsSold", "CostOfServices"])
@pytest.mark.parametrize(
    "benefits",
    [
        "PolicyholderBenefitsAndClaimsIncurredNet",
        "PolicyholderBenefitsAndClaimsIncurredHealthCare",
        "FinancialServicesCosts",
    ],
)
def test_the_cost_of_goods_beside_that_of_care_is_not_the_cost_of_revenue(tag, benefits):
    lines = {"Revenues": 1_000, tag: 500, benefits: 350, "CostsAndExpenses": 950, "OperatingIncomeLoss": 50}
    filer = filed(lines)
    years = filer.financials().years
    assert [value(years, item, END) for item in ("cost_of_revenue", "gross_profit")] == [None, None]
    assert reason(filer, "income")["cost_of_revenue"] == f"only_part_reported: us-gaap:{tag}"
    # Gross profit tells of which costs it is.
    assert year("cost_of_revenue", **lines, GrossProfit=500) == 500


def test_of_two_costs_that_nothing_tells_apart_neither_is_served():
    lines = {"Revenues": 199, GOODS: 71, "CostOfServices": 101}
    assert year("cost_of_revenue", **lines) is None
    assert year("cost_of_revenue", **lines, GrossProfit=98) == 101
    assert year("cost_of_revenue", Revenues=199, CostOfRevenue=101, CostOfServices=71) == 101


WRITTEN_OFF = "DepreciationDepletionAndAmortization"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # The two lines of the cash-flow statement are the total, or say that another tag is it.
        ({"Depreciation": 60, "AmortizationOfIntangibleAssets": 40}, 100),
        ({WRITTEN_OFF: 100, "Depreciation": 60, "AmortizationOfIntangibleAssets": 40}, 100),
        ({WRITTEN_OFF: 105, "Depreciation": 60, "AmortizationOfIntangibleAssets": 40}, 105),
        ({WRITTEN_OFF: 98, "Depreciation": 60, "AmortizationOfIntangibleAssets": 40}, 98),
        ({WRITTEN_OFF: 60, "Depreciation": 60, "AmortizationOfIntangibleAssets": 20}, None),
        ({WRITTEN_OFF: 60, "Depreciation": 60, "AmortizationOfIntangibleAssets": 80}, None),
        ({"DepreciationAndAmortization": 30, "AmortizationOfIntangibleAssets": 40}, None),
        ({"OtherDepreciationAndAmortization": 5, "Depreciation": 60}, None),
        ({WRITTEN_OFF: 70, "DepreciationAndAmortization": 100}, None),
        ({WRITTEN_OFF: 20, "DepreciationAndAmortization": 100}, None),
        # A note gives what is less than depreciation alone.
        ({WRITTEN_OFF: 20, "DepreciationAndAmortization": 100, "Depreciation": 80}, 100),
    ],
)
def test_a_part_of_depreciation_and_amortization_is_not_all(lines, expected):
    assert year("depreciation_and_amortization", **lines) == expected


def test_a_figure_from_the_text_of_a_note_is_no_rival_of_the_statement():
    lines = {"NetIncomeLoss": 50_123_000, WRITTEN_OFF: 14_600_000, "DepreciationAndAmortization": 16_919_000}
    assert year("depreciation_and_amortization", **lines) == 16_919_000


def test_a_quarter_reads_the_tag_that_was_the_total_in_the_last_year():
    filer = filed({WRITTEN_OFF: 20, "DepreciationAndAmortization": 100, "Depreciation": 80})
    lines = {WRITTEN_OFF: {quarter(2025, 1): 6}, "DepreciationAndAmortization": {quarter(2025, 1): 26}}
    lines |= {"NetIncomeLoss": {quarter(2025, 1): 12}}
    filer.file("10-Q", "2025-05-02", "2025-03-31", lines, fy=2025, fp="Q1")
    assert value(filer.financials().quarters, "depreciation_and_amortization", "2025-03-31") == 26


def test_what_no_standard_tag_gives_says_so():
    assert reason(filed({"OperatingIncomeLoss": 5}), "income")["revenue"].startswith("own_tag")


def test_the_totals_of_a_statement_win_over_its_lines():
    assert year("revenue", SalesRevenueGoodsNet=80, SalesRevenueServicesNet=20) == 100
    assert year("revenue", OilAndGasRevenue=80, **{"pre:TotalRevenue": 130}) == 130


def test_cost_and_expenses_are_those_that_lead_to_the_results():
    excise = {"Revenues": 101, "CostOfGoodsSold": 41, "ExciseAndSalesTaxes": 23, "GrossProfit": 37}
    assert year("cost_of_revenue", **excise) == 64
    assert year("cost_of_revenue", Revenues=101, GrossProfit=37) == 64
    # A tag stated by itself is proved by the lines beside it, although revenue might be added up from the same tag.
    stated = {"Revenues": 101, "GrossProfit": 37, "CostOfRevenue": 64, "CostOfGoodsSold": 58, "CostOfServices": 3}
    assert year("cost_of_revenue", **stated) == 64
    conflict = filed({"Revenues": 101, "CostOfRevenue": 53, "GrossProfit": 37})
    assert value(conflict.financials().years, "cost_of_revenue", END) is None
    assert reason(conflict, "income")["cost_of_revenue"].startswith("in_conflict")
    # Operating expenses with the cost of revenue in them, told by the operating income.
    lines = {"Revenues": 101, "CostOfRevenue": 61, "OperatingExpenses": 87, "OperatingIncomeLoss": 14}
    assert year("operating_expenses", **lines) == 26
    assert year("operating_expenses", **lines | {"OperatingExpenses": 26}) == 26
    assert year("operating_expenses", **lines | {"OperatingExpenses": 33}) is None


PRE_TAX = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"
OTHER_PRE_TAX = (
    "IncomeLossFromContinuingOperationsBeforeIncomeTaxesMinorityInterestAndIncomeLossFromEquityMethodInvestments"
)


def test_the_tax_and_the_income_before_it_are_those_that_lead_to_net_income():
    lines = {PRE_TAX: 9_101, "IncomeTaxExpenseBenefit": -3_107, "IncomeTaxExpenseBenefitContinuingOperations": 3_107}
    assert year("income_tax", **lines, ProfitLoss=5_994) == 3_107
    assert year("income_tax", **lines, NetIncomeLoss=5_994) == 3_107  # no line says that there are minorities
    assert year("income_tax", **lines, ProfitLoss=5_921, IncomeLossFromDiscontinuedOperationsNetOfTax=-73) == 3_107
    assert year("income_tax", **lines, ProfitLoss=5_921) == -3_107  # neither leads there: the declared order
    # Income of associates stands before tax in one tag, after it in the other.
    lines = {PRE_TAX: 9_163, OTHER_PRE_TAX: 9_101, "IncomeTaxExpenseBenefit": 3_107}
    assert year("income_before_tax", **lines, ProfitLoss=5_994) == 9_101
    assert year("income_before_tax", **lines, ProfitLoss=6_056, IncomeLossFromEquityMethodInvestments=62) == 9_163


def test_the_change_in_cash_has_the_effect_of_exchange_rates_in_it():
    flows = {
        "NetCashProvidedByUsedInOperatingActivities": 91, "NetCashProvidedByUsedInInvestingActivities": -41, "NetCashProvidedByUsedInFinancingActivities": -27,
        "EffectOfExchangeRateOnCashAndCashEquivalents": -6,
    }  # fmt: skip
    assert year("net_change_in_cash", CashAndCashEquivalentsPeriodIncreaseDecrease=17, **flows) == 17
    assert year("net_change_in_cash", CashAndCashEquivalentsPeriodIncreaseDecrease=23, **flows) == 17


DUE, DEPOSITS = "CashAndDueFromBanks", "InterestBearingDepositsInBanks"
ENDS_WITH = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"


def test_cash_of_a_bank_is_what_its_cash_flow_statement_ends_with():
    assert sheet("cash_and_equivalents", "bank", **{DUE: 22, DEPOSITS: 291, ENDS_WITH: 313}) == 313
    assert sheet("cash_and_equivalents", "bank", **{DUE: 22, DEPOSITS: 17, ENDS_WITH: 22}) == 22
    assert sheet("cash_and_equivalents", "bank", **{DUE: 22, DEPOSITS: 290}) is None
    assert sheet("cash_and_equivalents", "bank", **{DUE: 22}) == 22


@pytest.mark.parametrize(
    ("lines", "debt"),
    [
        ({"LongTermDebt": 400, "CommercialPaper": 60}, 460),
        ({"LongTermDebtNoncurrent": 200, "LinesOfCreditCurrent": 90, "LongTermDebtCurrent": 10}, 300),
        ({"LongTermDebtNoncurrent": 181, "DebtCurrent": 7}, 188),
        ({"SeniorLongTermNotes": 100, "ConvertibleDebtNoncurrent": 50}, 150),
    ],
)
def test_total_debt_is_all_of_it_once(lines, debt):
    assert sheet("total_debt", **lines) == debt


@pytest.mark.parametrize(
    "between",
    [
        "RedeemableNoncontrollingInterestEquityFairValue",
        "TemporaryEquityRedemptionValue",
        "TemporaryEquityCarryingAmount",
    ],
)
def test_what_can_be_redeemed_is_no_liability(between):
    lines = {"LiabilitiesAndStockholdersEquity": 1_000, "StockholdersEquity": -1_100, between: 1_400}
    assert sheet("total_liabilities", **lines) == 700


def test_minority_interests_are_what_all_equity_has_beyond_the_parents():
    all_of = "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest"
    lines = {"Liabilities": 600, "StockholdersEquity": 360, all_of: 400, "LiabilitiesAndStockholdersEquity": 1_000}
    assert sheet("minority_interest", **lines) == 40
    assert sheet("minority_interest", **lines | {"StockholdersEquity": 400}) is None


def test_liabilities_that_leave_out_the_current_ones_are_not_all():
    lines = {"Assets": 1_001, "Liabilities": 397, "LiabilitiesCurrent": 203, "StockholdersEquity": 401}
    assert sheet("total_liabilities", **lines) == 600


def test_the_style_of_a_period_is_told_by_its_tags():
    lines = {"InterestIncomeExpenseNet": 90, "NoninterestIncome": 40, "NoninterestExpense": 70, "InterestAndDividendIncomeOperating": 150}  # fmt: skip
    assert year("revenue", **lines) == 130  # a lender registered as something else


def balances(**lines):
    """Assets and the lines that they must be."""
    found = filed(None, {"Assets": 9_104, **lines}).financials().balances
    keys = ("total_liabilities", "shareholders_equity", "minority_interest", "temporary_equity")
    return tuple(value(found, key, END) for key in keys)


@pytest.mark.parametrize("tag", ["PreferredStockValue", "OtherMinorityInterests", "LimitedPartnersCapitalAccount"])
def test_what_stands_between_liabilities_and_equity_is_told_by_what_they_leave(tag):
    owned = {"StockholdersEquity": 2_907, "MinorityInterest": 101}
    assert balances(Liabilities=6_001, **owned, **{tag: 95}) == (6_001, 2_907, 101, 95)
    # Of most filers it is a line of equity, and then it is no other.
    assert balances(Liabilities=6_096, **owned, **{tag: 95}) == (6_096, 2_907, 101, None)
    assert balances(Liabilities=6_096, **owned, **{tag: 0}) == (6_096, 2_907, 101, None)
    assert balances(Liabilities=6_001, **owned, **{tag: 83}) == (6_001, 2_907, 101, None)
    assert balances(**owned, **{tag: 95}) == (6_096, 2_907, 101, None)


@pytest.mark.parametrize("tag", ["StockholdersEquity", "PartnersCapital"])
def test_equity_of_the_owners_is_without_minorities_whatever_its_tag_has_in_it(tag):
    assert balances(Liabilities=6_001, MinorityInterest=101, **{tag: 3_103}) == (6_001, 3_002, 101, None)
    assert balances(Liabilities=6_001, MinorityInterest=101, **{tag: 3_002}) == (6_001, 3_002, 101, None)
    # What is current and what is not give the liabilities.
    halves = {"LiabilitiesCurrent": 2_503, "LiabilitiesNoncurrent": 3_498}
    assert balances(MinorityInterest=101, **halves, **{tag: 3_103}) == (6_001, 3_002, 101, None)
    # Nothing tells: the tag means what it says.
    assert balances(MinorityInterest=101, **{tag: 3_002}) == (6_001, 3_002, 101, None)


def test_current_and_other_liabilities_are_all_only_where_the_sheet_says_so():
    lines = {"Assets": 9_104, "StockholdersEquity": 3_103, "LiabilitiesCurrent": 1_303, "LiabilitiesNoncurrent": 2_207}
    assert sheet("total_liabilities", **lines, LongTermDebtAndCapitalLeaseObligations=2_491) == 6_001
    assert sheet("total_liabilities", **lines | {"LiabilitiesNoncurrent": 4_698}) == 6_001
    short = filed(None, lines)
    assert value(short.financials().balances, "total_liabilities", END) is None
    assert reason(short, "balance")["total_liabilities"] == "in_conflict: 3,510 where the other lines give 6,001"


PLANT = "PaymentsToAcquirePropertyPlantAndEquipment"


def test_what_is_bought_beside_property_is_no_capital_expenditure():
    assert year("capital_expenditure", **{PLANT: 2_394}, PaymentsToAcquireOtherProductiveAssets=541) == 2_394
    # One tag is the total with some filers, and what was bought besides with others: never below the property.
    assert year("capital_expenditure", **{PLANT: 2_394}, PaymentsToAcquireProductiveAssets=541) == 2_394
    assert year("capital_expenditure", **{PLANT: 2_394}, PaymentsToAcquireProductiveAssets=2_935) == 2_935
    assert year("capital_expenditure", **{PLANT: 1_899}, PaymentsToAcquireRealEstate=75) == 1_899
    assert year("capital_expenditure", **{PLANT: 103}, PaymentsToAcquireRealEstate=2_900) == 3_003


def test_a_line_under_two_tags_is_counted_once():
    assert year("capital_expenditure", **{PLANT: 179, OTHER: 179}) == 179
    assert year("capital_expenditure", **{PLANT: 179, OTHER: 173}) == 352
    # A later report gives the line in another tag, and the year before restated in it.
    filer = filed({OTHER: 9_707})
    filer.file("10-K", "2026-02-20", "2025-12-31", {PLANT: {YEAR: 9_683, ytd(2025, 4): 8_101}, "NetIncomeLoss": {ytd(2025, 4): 7}}, fy=2025, fp="FY")  # fmt: skip
    assert value(filer.financials().years, "capital_expenditure", END) is None  # less than what was a part of it
    assert value(filer.financials().years, "capital_expenditure", "2025-12-31") == 8_101


# -- per unit, and what every company has -------------------------------------------------------------------------------

UNITS = "WeightedAverageLimitedPartnershipUnitsOutstanding"
PER_UNIT = "NetIncomeLossPerOutstandingLimitedPartnershipUnit"


def partnership(year_to_limited=None):
    """Of 100 million a quarter the general partner gets a tenth; four quarters on a million units."""
    filer = Filer()
    for number in (1, 2, 3, 4):
        lengths = [ytd(2024, number)] if number == 4 else [quarter(2024, number), *([ytd(2024, number)] * (number > 1))]
        lines = {
            "NetIncomeLoss": {span: 100e6 * (number if span[0].endswith("01-01") else 1) for span in lengths},
            f"{PER_UNIT}BasicNetOfTax": {span: 90.0 * (number if span[0].endswith("01-01") else 1) for span in lengths},
            f"{PER_UNIT}Diluted": {span: 89.0 * (number if span[0].endswith("01-01") else 1) for span in lengths},
            UNITS: dict.fromkeys(lengths, 1e6),
            f"{UNITS}Diluted": dict.fromkeys(lengths, 1.01e6),
        }
        if year_to_limited and number > 2:
            lines["NetIncomeLossAllocatedToLimitedPartners"] = {ytd(2024, number): year_to_limited * number / 4}
        day_filed = f"{2024 + number // 4}-{(3 * number + 2) % 12:02d}-10"
        form, period = ("10-K", "FY") if number == 4 else ("10-Q", f"Q{number}")
        filer.file(form, day_filed, ytd(2024, number)[1], lines, fy=2024, fp=period)
    return filer


def test_units_are_a_partnerships_shares_and_income_per_unit_its_earnings_per_share():
    filer = partnership()
    financials = filer.financials()
    for item, amount in {
        "earnings_per_share_basic": 360.0,
        "earnings_per_share_diluted": 356.0,
        "weighted_average_shares_basic": 1e6,
        "weighted_average_shares_diluted": 1.01e6,
    }.items():
        assert value(financials.years, item, END) == amount
    assert value(financials.quarters, "weighted_average_shares_basic", END) == 1e6
    assert reason(filer, "income")["income_before_tax"] == "own_tag: no tag of a taxonomy gives it"


def test_a_quarter_per_unit_follows_from_the_limited_partners_income_alone():
    assert value(partnership().financials().quarters, "earnings_per_share_basic", END) is None
    assert value(partnership(360e6).financials().quarters, "earnings_per_share_basic", END) == 90.0


def test_income_before_tax_that_is_domestic_alone_is_all_where_it_leads_to_net_income():
    domestic = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesDomestic"
    assert year("income_before_tax", **{domestic: 65, "IncomeTaxExpenseBenefit": 15}) == 65
    assert year("income_before_tax", **{domestic: 40, "IncomeTaxExpenseBenefit": 15}) is None


# -- who lets, who lends on mortgages, who gives depreciation apart -----------------------------------------------------


def test_rent_and_what_contracts_bring_is_the_revenue_of_one_who_lets():
    lease, contracts = "OperatingLeaseLeaseIncome", "RevenueFromContractWithCustomerExcludingAssessedTax"
    for lines, revenue in (
        ({lease: 900}, 900),
        ({lease: 900, contracts: 80}, 980),
        ({lease: 900, "Revenues": 1_015}, 1_015),
    ):
        filer = filed(lines, template="reit")
        assert value(filer.financials().years, "revenue", END) == revenue
    # Of one who sells, rent is a part.
    assert year("revenue", **{lease: 900}) is None


def test_net_interest_income_is_the_revenue_of_one_who_holds_mortgages_with_borrowed_money():
    interest = {"InterestIncomeOperating": 506, "InterestExpense": 118, "InterestIncomeExpenseNet": 388}
    filer = filed(interest, {"SecuritiesSoldUnderAgreementsToRepurchase": 700}, template="reit")
    assert value(filer.financials().years, "revenue", END) == 388
    # Net interest of one who lets is none of it.
    lessor = filed({"InterestIncomeExpenseNet": 4}, template="reit")
    assert value(lessor.financials().years, "revenue", END) is None


def test_cost_of_sales_without_depreciation_is_cost_of_revenue_where_a_filer_gives_no_other():
    excluding = "CostOfGoodsAndServiceExcludingDepreciationDepletionAndAmortization"
    assert year("cost_of_revenue", **{excluding: 60, "Revenues": 100}) == 60
    assert year("cost_of_revenue", **{excluding: 60, "CostOfRevenue": 70, "Revenues": 100}) == 70
