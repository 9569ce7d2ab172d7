"""
Tags that the simulated companies use for the lines of their books: most the usual ones, some others, as time goes by.

A table has a line for each kind of value: conditions (`?` for what must hold of company and year, `!` for what must not),
the kind, and the columns of the books with their tags. Of several tags a company uses the one of its number; `*4` repeats.
"""

from __future__ import annotations

import functools
import itertools
from typing import NamedTuple

from almanac.sandbox.companies.books import RESTRICTED_SINCE
from almanac.sandbox.companies.cast import HABITS, Filer
from almanac.sandbox.companies.kinds import by_gaap


class Line(NamedTuple):
    """A line of a report: `kind` says how its value comes from the books' column `source`.

    Kinds: `income` and `cash` (flows; the second only from the year's beginning), `level`, `average`, `earnings`,
    `declared` (per share), `cover` and `float` (of the report's first page).
    """

    kind: str
    source: str
    taxonomy: str
    tag: str


_CONTRACT = "RevenueFromContractWithCustomer{}AssessedTax"
#: The fiscal year from which sales are tagged by the newer standard.
_NEW_REVENUE = 2018

_OWNERS = """
income tax=IncomeTaxExpenseBenefit income=NetIncomeLoss
earnings basic=EarningsPerShareBasic diluted=EarningsPerShareDiluted
average basic=WeightedAverageNumberOfSharesOutstandingBasic diluted=WeightedAverageNumberOfDilutedSharesOutstanding
level cash=CashAndCashEquivalentsAtCarryingValue plant=PropertyPlantAndEquipmentNet assets=Assets
level retained=RetainedEarningsAccumulatedDeficit equity=StockholdersEquity
cash from_operations=NetCashProvidedByUsedInOperatingActivities invested=NetCashProvidedByUsedInInvestingActivities
cash financed=NetCashProvidedByUsedInFinancingActivities capital=PaymentsToAcquirePropertyPlantAndEquipment
cash granted=ShareBasedCompensation issued=ProceedsFromIssuanceOfLongTermDebt|ProceedsFromIssuanceOfDebt
cash repaid=RepaymentsOfLongTermDebt|RepaymentsOfDebt
cash wearing=DepreciationDepletionAndAmortization|DepreciationAndAmortization|DepreciationDepletionAndAmortization|DepreciationAmortizationAndAccretionNet
?equity_method income before_tax=IncomeLossFromContinuingOperationsBeforeIncomeTaxesMinorityInterestAndIncomeLossFromEquityMethodInvestments
!equity_method income before_tax=IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest
?all_cash cash change=CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalentsPeriodIncreaseDecreaseIncludingExchangeRateEffect
!all_cash cash change=CashAndCashEquivalentsPeriodIncreaseDecrease
?liabilities level liabilities=Liabilities
?both_sides level assets=LiabilitiesAndStockholdersEquity
?minority income profit=ProfitLoss
?minority level minority=MinorityInterest
?minority level with_minority=StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest
?temporary level temporary=TemporaryEquityCarryingAmountAttributableToParent|RedeemableNoncontrollingInterestEquityCarryingAmount
?restricted level restricted=RestrictedCash|RestrictedCashAndCashEquivalents
?restricted ?all_cash level cash_total=CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents
?goodwill level goodwill=Goodwill intangible=IntangibleAssetsNetExcludingGoodwill|FiniteLivedIntangibleAssetsNet
?exchange ?all_cash cash exchange=EffectOfExchangeRateOnCashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents
?exchange !all_cash cash exchange=EffectOfExchangeRateOnCashAndCashEquivalents
?pays cash dividends=PaymentsOfDividendsCommonStock|PaymentsOfDividends
?pays declared =CommonStockDividendsPerShareDeclared
?repurchases cash repurchases=PaymentsForRepurchaseOfCommonStock
"""
_TABLES = {
    "goods": _OWNERS
    + """
income operating=OperatingIncomeLoss
level receivable=AccountsReceivableNetCurrent*4|ReceivablesNetCurrent short=DebtCurrent|LongTermDebtCurrent*2
level long=LongTermDebtNoncurrent*3|LongTermDebtAndCapitalLeaseObligations
?newer income cost=CostOfRevenue|CostOfGoodsAndServicesSold|CostOfRevenue
!newer income cost=CostOfRevenue|CostOfGoodsSold|CostOfRevenue
?nonoperating income interest=InterestExpenseNonoperating
!nonoperating income interest=InterestExpense*2|InterestExpenseDebt
?gross income gross=GrossProfit
?research income research=ResearchAndDevelopmentExpense
?selling_in_parts income marketing=SellingAndMarketingExpense general=GeneralAndAdministrativeExpense
!selling_in_parts income selling=SellingGeneralAndAdministrativeExpense
?expenses income expenses=OperatingExpenses
!expenses ?costs income costs=CostsAndExpenses
?discontinued income discontinued=IncomeLossFromDiscontinuedOperationsNetOfTax
!property level current=AssetsCurrent owed_soon=LiabilitiesCurrent payable=AccountsPayableCurrent*5|AccountsPayableTradeCurrent
?inventory level inventory=InventoryNet
?investments ?newer level investments=ShortTermInvestments|MarketableSecuritiesCurrent|AvailableForSaleSecuritiesDebtSecuritiesCurrent
?investments !newer level investments=ShortTermInvestments|MarketableSecuritiesCurrent|AvailableForSaleSecuritiesCurrent
""",
    # Some banks state no total: interest and the income beside it stand for themselves.
    "finance": _OWNERS
    + """
?no_total income interest_earned=InterestAndDividendIncomeOperating beside=NoninterestIncome
!no_total ?net_revenue income revenue=RevenuesNetOfInterestExpense
!no_total !net_revenue income revenue=Revenues
income interest=InterestExpense interest_left=InterestIncomeExpenseNet premiums=PremiumsEarnedNet
income provision=ProvisionForLoanAndLeaseLosses|ProvisionForLoanLeaseAndOtherLosses
level deposits=Deposits short=ShortTermBorrowings long=LongTermDebt
""",
    "fund": """
income expenses=OperatingExpenses income=NetIncomeLoss
level assets=Assets liabilities=Liabilities equity=StockholdersEquity cash=Cash
""",
    "shell": """
income expenses=OperatingExpenses operating=OperatingIncomeLoss income=NetIncomeLoss
level cash=CashAndCashEquivalentsAtCarryingValue assets=Assets liabilities=Liabilities
level temporary=TemporaryEquityCarryingAmountAttributableToParent
level retained=RetainedEarningsAccumulatedDeficit equity=StockholdersEquity
cash from_operations=NetCashProvidedByUsedInOperatingActivities invested=NetCashProvidedByUsedInInvestingActivities
cash financed=NetCashProvidedByUsedInFinancingActivities
cash change=CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalentsPeriodIncreaseDecreaseIncludingExchangeRateEffect
""",
    "abroad": """
income revenue=Revenue cost=CostOfSales gross=GrossProfit selling=SellingGeneralAndAdministrativeExpense
income operating=ProfitLossFromOperatingActivities interest=FinanceCosts before_tax=ProfitLossBeforeTax
income tax=IncomeTaxExpenseContinuingOperations profit=ProfitLoss income=ProfitLossAttributableToOwnersOfParent
earnings basic=BasicEarningsLossPerShare diluted=DilutedEarningsLossPerShare
average basic=WeightedAverageShares diluted=AdjustedWeightedAverageShares
level cash=CashAndCashEquivalents receivable=CurrentTradeReceivables inventory=Inventories current=CurrentAssets
level plant=PropertyPlantAndEquipment assets=Assets payable=TradeAndOtherCurrentPayables
level short=CurrentPortionOfLongtermBorrowings owed_soon=CurrentLiabilities long=LongtermBorrowings
level liabilities=Liabilities retained=RetainedEarnings equity=EquityAttributableToOwnersOfParent
level with_minority=Equity assets=EquityAndLiabilities
cash from_operations=CashFlowsFromUsedInOperatingActivities invested=CashFlowsFromUsedInInvestingActivities
cash financed=CashFlowsFromUsedInFinancingActivities wearing=AdjustmentsForDepreciationAndAmortisationExpense
cash capital=PurchaseOfPropertyPlantAndEquipmentClassifiedAsInvestingActivities granted=AdjustmentsForSharebasedPayments
cash issued=ProceedsFromBorrowingsClassifiedAsFinancingActivities
cash repaid=RepaymentsOfBorrowingsClassifiedAsFinancingActivities
cash exchange=EffectOfExchangeRateChangesOnCashAndCashEquivalents change=IncreaseDecreaseInCashAndCashEquivalents
?research income research=ResearchAndDevelopmentExpense
?minority level minority=NoncontrollingInterests
?goodwill level goodwill=Goodwill intangible=IntangibleAssetsOtherThanGoodwill
?pays cash dividends=DividendsPaidClassifiedAsFinancingActivities
?pays declared =DividendsRecognisedAsDistributionsToOwnersPerShare
?repurchases cash repurchases=PaymentsToAcquireOrRedeemEntitysShares
""",
}


@functools.lru_cache(maxsize=8192)
def lines(company: Filer, label: int, recast: str = "") -> tuple[Line, ...]:
    """Return the lines of a report for the fiscal year `label`; `recast`: how it shows older periods anew, if it does."""
    abroad = company.seat is not None and not by_gaap(company.kind, label)
    books, taxonomy = ("abroad", "ifrs-full") if abroad else (company.trade.books, "us-gaap")
    rows = [
        (kind, source, _pick(company.number, tags)) for kind, source, tags in _rows(books, _conditions(company, label))
    ]
    if books == "goods":
        rows.append(("income", "revenue", _revenue(company, label)))
    if not abroad and recast in {"narrowed", "spun_off"}:
        # The total in another tag than before; of a narrowed one what is left in it.
        before = next(tag for _, source, tag in rows if source == "revenue")
        rows = [row for row in rows if row[1] != "revenue"]
        total = "Revenues" if recast == "narrowed" else _CONTRACT.format("Excluding")
        rows += [("income", "contracts", before)] * (recast == "narrowed") + [("income", "revenue", total)]
    cover = [("float", "EntityPublicFloat")] if company.two_classes or not company.seat else []
    if not company.two_classes:  # stated by class, which this feed leaves out
        cover.append(("cover", "EntityCommonStockSharesOutstanding"))
    return (
        *(Line(kind, source, taxonomy, tag) for kind, source, tag in rows),
        *(Line(kind, "", "dei", tag) for kind, tag in cover),
    )


@functools.lru_cache(maxsize=1024)
def _rows(books: str, conditions: frozenset[str]) -> list[tuple[str, str, str]]:
    """Return kind, column and tags of what a table states under these conditions."""
    rows = []
    for line in filter(None, _TABLES[books].splitlines()):
        words = line.split()
        wanted = list(itertools.takewhile(lambda word: word[0] in "?!", words))
        if all((word[1:] in conditions) == (word[0] == "?") for word in wanted):
            kind, *columns = words[len(wanted) :]
            for source, _, tags in (column.partition("=") for column in columns):
                rows.append((kind, source, tags))
    return rows


def _conditions(company: Filer, label: int) -> frozenset[str]:
    number, trade = company.number, company.trade
    bank = trade.name == "banks"
    recast = company.recast
    holds = {habit: company.has(habit) for habit in HABITS} | {
        "all_cash": label >= RESTRICTED_SINCE,
        "newer": label >= _NEW_REVENUE,
        "pays": company.pays,
        "equity_method": number % 4 == 1,
        "research": trade.research > 0,
        "inventory": trade.inventory_days > 0,
        "property": trade.name == "property",
        "nonoperating": number % 6 == 1 and label >= 2024,
        "selling_in_parts": number % 6 == 5,
        "costs": number % 7 == 4,
        "discontinued": recast is not None and recast[1] == "discontinued" and label > recast[0],
        "no_total": bank and number % 7 == 0,
        "net_revenue": bank and number % 3 == 0,
    }
    return frozenset(name for name, is_so in holds.items() if is_so)


def _pick(number: int, tags: str) -> str:
    each = [tag for tag, _, times in (part.partition("*") for part in tags.split("|")) for _ in range(int(times or 1))]
    return each[number % len(each)]


def _revenue(company: Filer, label: int) -> str:
    newer = label >= _NEW_REVENUE
    trade = company.trade.name
    if trade == "property":
        return "Revenues" if newer or company.number % 2 else "RealEstateRevenueNet"
    if trade == "utilities" and company.number % 2:
        return "RegulatedAndUnregulatedOperatingRevenue"
    choice = company.number % 5
    if choice == 3:
        return "Revenues"
    if choice == 4:
        return _CONTRACT.format("Including") if newer else "Revenues"
    goods = "SalesRevenueGoodsNet" if trade == "shops" else "SalesRevenueNet"
    return _CONTRACT.format("Excluding") if newer else goods
