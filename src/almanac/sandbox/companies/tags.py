"""Which tags the simulated companies use for the lines of their books: most the usual ones, some others, as time goes by."""

from __future__ import annotations

import functools
from typing import NamedTuple

from almanac.sandbox.companies.books import RESTRICTED_SINCE
from almanac.sandbox.companies.cast import Filer
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


_FROM = "NetCashProvidedByUsedIn{}Activities"
_BEFORE_TAX = "IncomeLossFromContinuingOperationsBeforeIncomeTaxes"
_CONTRACT = "RevenueFromContractWithCustomer{}AssessedTax"
_ALL_CASH = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
#: The fiscal year from which sales are tagged by the newer standard.
_NEW_REVENUE = 2018


@functools.lru_cache(maxsize=8192)
def lines(company: Filer, label: int, recast: str = "") -> tuple[Line, ...]:
    """The lines of a report for the fiscal year `label`; `recast`: how it shows older periods anew, if it does."""
    if company.seat and not by_gaap(company.kind, label):
        chosen = _abroad(company)
        return tuple(Line(kind, source, "ifrs-full", tag) for kind, source, tag in chosen) + _cover(company)
    chosen = {"goods": _goods, "finance": _finance, "fund": _fund, "shell": _shell}[company.trade.books](company, label)
    if recast in {"narrowed", "spun_off"}:
        chosen = [row for old in chosen for row in (_sales_anew(old[2], recast) if old[1] == "revenue" else [old])]
    return tuple(Line(kind, source, "us-gaap", tag) for kind, source, tag in chosen) + _cover(company)


_Row = tuple[str, str, str]


def _sales_anew(tag: str, recast: str) -> list[_Row]:
    """The total in another tag than before; of a narrowed one what is left in it."""
    if recast == "spun_off":
        return [("income", "revenue", _CONTRACT.format("Excluding"))]
    return [("income", "contracts", tag), ("income", "revenue", "Revenues")]


def _cover(company: Filer) -> tuple[Line, ...]:
    if company.two_classes:  # stated by class, which this feed leaves out
        return (Line("float", "", "dei", "EntityPublicFloat"),)
    shares = Line("cover", "", "dei", "EntityCommonStockSharesOutstanding")
    return (shares,) if company.seat else (shares, Line("float", "", "dei", "EntityPublicFloat"))


def _pick(company: Filer, *tags: str) -> str:
    return tags[company.number % len(tags)]


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


def _owners(company: Filer, label: int) -> list[_Row]:
    """Lines that all kinds of operating companies have."""
    restricted = label >= RESTRICTED_SINCE
    pretax = "MinorityInterestAndIncomeLossFromEquityMethodInvestments"
    if company.number % 4 != 1:
        pretax = "ExtraordinaryItemsNoncontrollingInterest"
    rows = [
        ("income", "before_tax", _BEFORE_TAX + pretax),
        ("income", "tax", "IncomeTaxExpenseBenefit"),
        ("income", "income", "NetIncomeLoss"),
        ("earnings", "basic", "EarningsPerShareBasic"),
        ("earnings", "diluted", "EarningsPerShareDiluted"),
        ("average", "basic", "WeightedAverageNumberOfSharesOutstandingBasic"),
        ("average", "diluted", "WeightedAverageNumberOfDilutedSharesOutstanding"),
        ("level", "cash", "CashAndCashEquivalentsAtCarryingValue"),
        ("level", "plant", "PropertyPlantAndEquipmentNet"),
        ("level", "assets", "Assets"),
        ("level", "retained", "RetainedEarningsAccumulatedDeficit"),
        ("level", "equity", "StockholdersEquity"),
        ("cash", "from_operations", _FROM.format("Operating")),
        ("cash", "invested", _FROM.format("Investing")),
        ("cash", "financed", _FROM.format("Financing")),
        ("cash", "capital", "PaymentsToAcquirePropertyPlantAndEquipment"),
        ("cash", "granted", "ShareBasedCompensation"),
        ("cash", "issued", _pick(company, "ProceedsFromIssuanceOfLongTermDebt", "ProceedsFromIssuanceOfDebt")),
        ("cash", "repaid", _pick(company, "RepaymentsOfLongTermDebt", "RepaymentsOfDebt")),
        (
            "cash",
            "wearing",
            _pick(
                company,
                "DepreciationDepletionAndAmortization",
                "DepreciationAndAmortization",
                "DepreciationDepletionAndAmortization",
                "DepreciationAmortizationAndAccretionNet",
            ),
        ),
        (
            "cash",
            "change",
            f"{_ALL_CASH}PeriodIncreaseDecreaseIncludingExchangeRateEffect"
            if restricted
            else "CashAndCashEquivalentsPeriodIncreaseDecrease",
        ),
    ]
    if company.has("liabilities"):
        rows.append(("level", "liabilities", "Liabilities"))
    if company.has("both_sides"):
        rows.append(("level", "assets", "LiabilitiesAndStockholdersEquity"))
    if company.has("minority"):
        rows += [
            ("income", "profit", "ProfitLoss"),
            ("level", "minority", "MinorityInterest"),
            ("level", "with_minority", "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest"),
        ]
    if company.has("temporary"):
        either = (
            "TemporaryEquityCarryingAmountAttributableToParent",
            "RedeemableNoncontrollingInterestEquityCarryingAmount",
        )
        rows.append(("level", "temporary", _pick(company, *either)))
    if company.has("restricted"):
        rows.append(("level", "restricted", _pick(company, "RestrictedCash", "RestrictedCashAndCashEquivalents")))
        if restricted:
            rows.append(("level", "cash_total", _ALL_CASH))
    if company.has("goodwill"):
        rows += [
            ("level", "goodwill", "Goodwill"),
            (
                "level",
                "intangible",
                _pick(company, "IntangibleAssetsNetExcludingGoodwill", "FiniteLivedIntangibleAssetsNet"),
            ),
        ]
    if company.has("exchange"):
        of = _ALL_CASH if restricted else "CashAndCashEquivalents"
        rows.append(("cash", "exchange", f"EffectOfExchangeRateOn{of}"))
    if company.pays:
        rows += [
            ("cash", "dividends", _pick(company, "PaymentsOfDividendsCommonStock", "PaymentsOfDividends")),
            ("declared", "", "CommonStockDividendsPerShareDeclared"),
        ]
    if company.has("repurchases"):
        rows.append(("cash", "repurchases", "PaymentsForRepurchaseOfCommonStock"))
    return rows


def _goods(company: Filer, label: int) -> list[_Row]:
    newer = label >= _NEW_REVENUE
    sold = "CostOfGoodsAndServicesSold" if newer else "CostOfGoodsSold"
    interest = _pick(company, "InterestExpense", "InterestExpense", "InterestExpenseDebt")
    if company.number % 6 == 1 and label >= 2024:
        interest = "InterestExpenseNonoperating"
    rows: list[_Row] = [
        ("income", "revenue", _revenue(company, label)),
        ("income", "cost", _pick(company, "CostOfRevenue", sold, "CostOfRevenue")),
        ("income", "operating", "OperatingIncomeLoss"),
        ("income", "interest", interest),
        ("level", "receivable", _pick(company, *["AccountsReceivableNetCurrent"] * 4, "ReceivablesNetCurrent")),
        ("level", "short", _pick(company, "DebtCurrent", "LongTermDebtCurrent", "LongTermDebtCurrent")),
        ("level", "long", _pick(company, *["LongTermDebtNoncurrent"] * 3, "LongTermDebtAndCapitalLeaseObligations")),
    ]
    rows += _owners(company, label)
    if company.has("gross"):
        rows.append(("income", "gross", "GrossProfit"))
    if company.trade.research:
        rows.append(("income", "research", "ResearchAndDevelopmentExpense"))
    if company.number % 6 == 5:
        rows += [
            ("income", "marketing", "SellingAndMarketingExpense"),
            ("income", "general", "GeneralAndAdministrativeExpense"),
        ]
    else:
        rows.append(("income", "selling", "SellingGeneralAndAdministrativeExpense"))
    if company.has("expenses"):
        rows.append(("income", "expenses", "OperatingExpenses"))
    elif company.number % 7 == 4:
        rows.append(("income", "costs", "CostsAndExpenses"))
    if company.recast and company.recast[1] == "discontinued" and label > company.recast[0]:
        rows.append(("income", "discontinued", "IncomeLossFromDiscontinuedOperationsNetOfTax"))
    if company.trade.name != "property":
        rows += [
            ("level", "current", "AssetsCurrent"),
            ("level", "owed_soon", "LiabilitiesCurrent"),
            ("level", "payable", _pick(company, *["AccountsPayableCurrent"] * 5, "AccountsPayableTradeCurrent")),
        ]
    if company.trade.inventory_days:
        rows.append(("level", "inventory", "InventoryNet"))
    if company.has("investments"):
        older = "AvailableForSaleSecuritiesCurrent"
        newest = "AvailableForSaleSecuritiesDebtSecuritiesCurrent" if newer else older
        rows.append(
            ("level", "investments", _pick(company, "ShortTermInvestments", "MarketableSecuritiesCurrent", newest))
        )
    return rows


def _finance(company: Filer, label: int) -> list[_Row]:
    bank = company.trade.name == "banks"
    revenue = "RevenuesNetOfInterestExpense" if bank and company.number % 3 == 0 else "Revenues"
    stated: list[_Row] = [("income", "revenue", revenue)]
    if bank and company.number % 7 == 0:  # states no total: interest and the income beside it stand for themselves
        stated = [
            ("income", "interest_earned", "InterestAndDividendIncomeOperating"),
            ("income", "beside", "NoninterestIncome"),
        ]
    provision = "ProvisionForLoanLeaseAndOtherLosses" if company.number % 2 else "ProvisionForLoanAndLeaseLosses"
    return [
        *stated,
        ("income", "interest", "InterestExpense"),
        ("income", "interest_left", "InterestIncomeExpenseNet"),
        ("income", "provision", provision),
        ("income", "premiums", "PremiumsEarnedNet"),
        ("level", "deposits", "Deposits"),
        ("level", "short", "ShortTermBorrowings"),
        ("level", "long", "LongTermDebt"),
        *_owners(company, label),
    ]


def _fund(company: Filer, label: int) -> list[_Row]:
    return [
        ("income", "expenses", "OperatingExpenses"),
        ("income", "income", "NetIncomeLoss"),
        ("level", "assets", "Assets"),
        ("level", "liabilities", "Liabilities"),
        ("level", "equity", "StockholdersEquity"),
        ("level", "cash", "Cash"),
    ]


def _shell(company: Filer, label: int) -> list[_Row]:
    return [
        ("income", "expenses", "OperatingExpenses"),
        ("income", "operating", "OperatingIncomeLoss"),
        ("income", "income", "NetIncomeLoss"),
        ("level", "cash", "CashAndCashEquivalentsAtCarryingValue"),
        ("level", "assets", "Assets"),
        ("level", "liabilities", "Liabilities"),
        ("level", "temporary", "TemporaryEquityCarryingAmountAttributableToParent"),
        ("level", "retained", "RetainedEarningsAccumulatedDeficit"),
        ("level", "equity", "StockholdersEquity"),
        ("cash", "from_operations", _FROM.format("Operating")),
        ("cash", "invested", _FROM.format("Investing")),
        ("cash", "financed", _FROM.format("Financing")),
        ("cash", "change", f"{_ALL_CASH}PeriodIncreaseDecreaseIncludingExchangeRateEffect"),
    ]


def _abroad(company: Filer) -> list[_Row]:
    flows = "CashFlowsFromUsedIn{}Activities"
    rows: list[_Row] = [
        ("income", "revenue", "Revenue"),
        ("income", "cost", "CostOfSales"),
        ("income", "gross", "GrossProfit"),
        ("income", "selling", "SellingGeneralAndAdministrativeExpense"),
        ("income", "operating", "ProfitLossFromOperatingActivities"),
        ("income", "interest", "FinanceCosts"),
        ("income", "before_tax", "ProfitLossBeforeTax"),
        ("income", "tax", "IncomeTaxExpenseContinuingOperations"),
        ("income", "profit", "ProfitLoss"),
        ("income", "income", "ProfitLossAttributableToOwnersOfParent"),
        ("earnings", "basic", "BasicEarningsLossPerShare"),
        ("earnings", "diluted", "DilutedEarningsLossPerShare"),
        ("average", "basic", "WeightedAverageShares"),
        ("average", "diluted", "AdjustedWeightedAverageShares"),
        ("level", "cash", "CashAndCashEquivalents"),
        ("level", "receivable", "CurrentTradeReceivables"),
        ("level", "inventory", "Inventories"),
        ("level", "current", "CurrentAssets"),
        ("level", "plant", "PropertyPlantAndEquipment"),
        ("level", "assets", "Assets"),
        ("level", "payable", "TradeAndOtherCurrentPayables"),
        ("level", "short", "CurrentPortionOfLongtermBorrowings"),
        ("level", "owed_soon", "CurrentLiabilities"),
        ("level", "long", "LongtermBorrowings"),
        ("level", "liabilities", "Liabilities"),
        ("level", "retained", "RetainedEarnings"),
        ("level", "equity", "EquityAttributableToOwnersOfParent"),
        ("level", "with_minority", "Equity"),
        ("level", "assets", "EquityAndLiabilities"),
        ("cash", "from_operations", flows.format("Operating")),
        ("cash", "invested", flows.format("Investing")),
        ("cash", "financed", flows.format("Financing")),
        ("cash", "capital", "PurchaseOfPropertyPlantAndEquipmentClassifiedAsInvestingActivities"),
        ("cash", "wearing", "AdjustmentsForDepreciationAndAmortisationExpense"),
        ("cash", "granted", "AdjustmentsForSharebasedPayments"),
        ("cash", "issued", "ProceedsFromBorrowingsClassifiedAsFinancingActivities"),
        ("cash", "repaid", "RepaymentsOfBorrowingsClassifiedAsFinancingActivities"),
        ("cash", "exchange", "EffectOfExchangeRateChangesOnCashAndCashEquivalents"),
        ("cash", "change", "IncreaseDecreaseInCashAndCashEquivalents"),
    ]
    if company.trade.research:
        rows.append(("income", "research", "ResearchAndDevelopmentExpense"))
    if company.has("minority"):
        rows.append(("level", "minority", "NoncontrollingInterests"))
    if company.has("goodwill"):
        rows += [("level", "goodwill", "Goodwill"), ("level", "intangible", "IntangibleAssetsOtherThanGoodwill")]
    if company.pays:
        rows += [
            ("cash", "dividends", "DividendsPaidClassifiedAsFinancingActivities"),
            ("declared", "", "DividendsRecognisedAsDistributionsToOwnersPerShare"),
        ]
    if company.has("repurchases"):
        rows.append(("cash", "repurchases", "PaymentsToAcquireOrRedeemEntitysShares"))
    return rows
