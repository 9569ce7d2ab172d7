"""
Statements as edgartools makes them from a company-facts file, as JSON: run by the Python that has it, never imported.

    .venv-oracle/bin/python tests/support/oracle.py CIK0000320193.json.gz

Prints a list of [annual or quarterly, last day, item, value]. It says a period by a name of its own; its last day is
that on which most of the amounts of its column end.
"""

import gzip
import json
import math
import sys
import warnings
from collections import Counter, defaultdict
from pathlib import Path

#: Statement → item → rows in order, as edgartools names them.
ROWS = {
    "income_statement": {
        "revenue": [
            "TotalRevenue_Consolidated",
            "Revenues",
            "RevenueFromContractWithCustomerExcludingAssessedTax",
            "SalesRevenueNet",
            "Revenue",
        ],
        "cost_of_revenue": ["CostOfRevenue", "CostOfGoodsAndServicesSold", "CostOfGoodsSold", "CostOfSales"],
        "gross_profit": ["GrossProfit"],
        "research_and_development": ["ResearchAndDevelopmentExpense"],
        "selling_general_and_administrative": ["SellingGeneralAndAdministrativeExpense"],
        "operating_income": ["OperatingIncomeLoss", "ProfitLossFromOperatingActivities"],
        "income_before_tax": [
            "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest",
            "IncomeLossFromContinuingOperationsBeforeIncomeTaxesMinorityInterestAndIncomeLossFromEquityMethodInvestments",
            "ProfitLossBeforeTax",
        ],
        "income_tax": ["IncomeTaxExpenseBenefit", "IncomeTaxExpenseContinuingOperations"],
        "net_income": ["NetIncomeLoss", "ProfitLossAttributableToOwnersOfParent"],
        "earnings_per_share_diluted": [
            "EarningsPerShareDiluted",
            "EarningsPerShareBasicAndDiluted",
            "DilutedEarningsLossPerShare",
        ],
        "weighted_average_shares_diluted": [
            "WeightedAverageNumberOfDilutedSharesOutstanding",
            "WeightedAverageNumberOfShareOutstandingBasicAndDiluted",
            "AdjustedWeightedAverageShares",
        ],
    },
    "balance_sheet": {
        "cash_and_equivalents": ["CashAndCashEquivalentsAtCarryingValue", "CashAndCashEquivalents"],
        "total_assets": ["Assets"],
        "total_liabilities": ["Liabilities"],
        "shareholders_equity": ["StockholdersEquity", "EquityAttributableToOwnersOfParent"],
    },
    "cash_flow_statement": {
        "net_cash_flow_from_operations": [
            "NetCashProvidedByUsedInOperatingActivities",
            "CashFlowsFromUsedInOperatingActivities",
        ],
        "capital_expenditure": ["PaymentsToAcquirePropertyPlantAndEquipment", "PaymentsToAcquireProductiveAssets"],
    },
}
#: Frequency → how many periods are asked for, and the days that one has.
PERIODS = {"annual": (40, 330, 420), "quarterly": (20, 70, 125)}


def cells(path):
    """Every cell of both frequencies."""
    from edgar.entity.parser import EntityFactsParser

    data = path.read_bytes()
    body = gzip.decompress(data) if path.suffix == ".gz" else data
    company = EntityFactsParser.parse_company_facts(json.loads(body))
    for frequency, (count, low, high) in PERIODS.items():
        facts = (company if frequency == "annual" else company._ttm_ready_facts).get_all_facts()
        for statement, items in ROWS.items():
            frame = getattr(company, statement)(periods=count, period=frequency, as_dataframe=True)
            for column, end in ends(frame, facts, low, high).items():
                for item, rows in items.items():
                    row = next((row for row in rows if row in frame.index), None)
                    value = None if row is None else first(frame[column][row])
                    if value is not None:
                        yield frequency, end.isoformat(), item, value


def ends(frame, facts, low, high):
    """Column → last day of the period it is about."""
    by_value = defaultdict(set)
    for fact in facts:
        start, end = fact.period_start, fact.period_end
        if end is not None and (start is None or low <= (end - start).days + 1 <= high):
            by_value[fact.concept.rpartition(":")[2], fact.numeric_value].add(end)
    found = {}
    for column in (name for name in frame.columns if name[:2] in {"FY", "Q1", "Q2", "Q3", "Q4"}):
        votes = Counter()
        for row, cell in frame[column].items():
            value = first(cell)
            places = by_value.get((row, value), ()) if value else ()
            for end in places:
                votes[end] += 1 / len(places)
        if votes:
            found[column] = max(votes, key=votes.get)
    return found


def first(cell):
    """The number in a cell; None where there is none."""
    value = cell.iloc[0] if hasattr(cell, "iloc") else cell
    return None if value is None or math.isnan(value) else float(value)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump(list(cells(Path(sys.argv[1]))), sys.stdout)
