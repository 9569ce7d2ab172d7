"""The lines of statements in the order of accounts, what they are called, and how those no filing states are computed."""

from __future__ import annotations

from typing import NamedTuple

#: Name in an address, title, and where the interface has them.
KINDS = {
    "income": ("Income", "incomeStatements"),
    "balance": ("Balance", "balanceSheets"),
    "cash": ("Cash flow", "cashFlowStatements"),
}
#: What amounts are told in, by the name in an address.
SCALES = {"millions": 6, "thousands": 3, "units": 0}
#: How a line that no filing states was computed.
METHODS = {
    "ytd_difference": "The year to date, less the year to date of the quarter before",
    "fy_minus_9m": "The year, less its first nine months",
    "formula": "From other lines of the same period",
    "sum_of_tags": "Sum of several lines of the filing",
    "day_weighted": "From the averages of longer spans, weighted by their days",
    "approximate_income_over_shares": "Income divided by average shares: an approximation",
}
#: What a check that failed found, by its name.
FINDINGS = {
    "balance_identity": "Assets are not what liabilities and equity come to",
    "lines_add_up": "Lines of the income statement do not add up",
    "gross_profit_within_revenue": "Gross profit does not fit revenue",
    "cash_flows_add_up": "The cash flows do not come to the change in cash",
    "cash_reconciles": "The change in cash is not that between the balance sheets",
    "parts_within_whole": "A part is larger than its whole",
    "earnings_per_share_times_shares": "Earnings per share times shares are not income",
    "quarters_sum_to_year": "The quarters do not come to the year",
    "quarter_among_neighbours": "Revenue is far from that of the quarters beside it",
    "shares_of_one_basis": "Shares are counted otherwise than beside it",
    "scale": "A number is of another scale than in the period before",
    "signs_agree": "A sign does not fit the other lines",
    "one_basis": "A difference of two filings, of which one was recast",
    "two_bases": "A difference of two filings on different bases",
    "consistent_filing": "A filing gives two values for one line",
    "relied_upon": "The company says that this is not to be relied upon",
}


class StatementLine(NamedTuple):
    """A line of a statement. `level`: 0 a sum (strong), 1 a line, 2 a part of the one above."""

    key: str
    title: str
    level: int = 1


LINES: dict[str, tuple[StatementLine, ...]] = {
    "income": (
        StatementLine("revenue", "Revenue", 0),
        StatementLine("net_interest_income", "Net interest income", 2),
        StatementLine("premiums_earned", "Premiums earned", 2),
        StatementLine("cost_of_revenue", "Cost of revenue"),
        StatementLine("gross_profit", "Gross profit", 0),
        StatementLine("operating_expenses", "Operating expenses"),
        StatementLine("research_and_development", "Research and development", 2),
        StatementLine("selling_general_and_administrative", "Selling, general and administrative", 2),
        StatementLine("provision_for_credit_losses", "Provision for credit losses"),
        StatementLine("operating_income", "Operating income", 0),
        StatementLine("interest_expense", "Interest expense"),
        StatementLine("income_before_tax", "Income before tax", 0),
        StatementLine("income_tax", "Income tax"),
        StatementLine("net_income", "Net income", 0),
        StatementLine("earnings_per_share_basic", "Earnings per share, basic"),
        StatementLine("earnings_per_share_diluted", "Earnings per share, diluted"),
        StatementLine("weighted_average_shares_basic", "Average shares, basic"),
        StatementLine("weighted_average_shares_diluted", "Average shares, diluted"),
        StatementLine("dividends_per_share", "Dividends per share"),
        StatementLine("depreciation_and_amortization", "Depreciation and amortization"),
        StatementLine("ebitda", "EBITDA"),
    ),
    "balance": (
        StatementLine("cash_and_equivalents", "Cash and equivalents"),
        StatementLine("restricted_cash", "Restricted cash", 2),
        StatementLine("short_term_investments", "Short-term investments"),
        StatementLine("accounts_receivable", "Accounts receivable"),
        StatementLine("inventory", "Inventory"),
        StatementLine("current_assets", "Current assets", 0),
        StatementLine("property_plant_equipment", "Property, plant and equipment"),
        StatementLine("goodwill", "Goodwill"),
        StatementLine("intangible_assets", "Intangible assets"),
        StatementLine("total_assets", "Total assets", 0),
        StatementLine("accounts_payable", "Accounts payable"),
        StatementLine("deposits", "Deposits"),
        StatementLine("short_term_debt", "Short-term debt"),
        StatementLine("current_liabilities", "Current liabilities", 0),
        StatementLine("long_term_debt", "Long-term debt"),
        StatementLine("total_debt", "Total debt"),
        StatementLine("total_liabilities", "Total liabilities", 0),
        StatementLine("temporary_equity", "Temporary equity"),
        StatementLine("retained_earnings", "Retained earnings"),
        StatementLine("minority_interest", "Minority interest"),
        StatementLine("shareholders_equity", "Shareholders’ equity", 0),
        StatementLine("shares_outstanding", "Shares outstanding"),
    ),
    "cash": (
        StatementLine("stock_based_compensation", "Stock-based compensation"),
        StatementLine("net_cash_flow_from_operations", "From operations", 0),
        StatementLine("capital_expenditure", "Capital expenditure"),
        StatementLine("free_cash_flow", "Free cash flow", 0),
        StatementLine("net_cash_flow_from_investing", "From investing", 0),
        StatementLine("dividends_paid", "Dividends paid"),
        StatementLine("share_repurchases", "Share repurchases"),
        StatementLine("debt_issued", "Debt issued"),
        StatementLine("debt_repaid", "Debt repaid"),
        StatementLine("net_cash_flow_from_financing", "From financing", 0),
        StatementLine("effect_of_exchange_rate_on_cash", "Effect of exchange rates"),
        StatementLine("net_change_in_cash", "Net change in cash", 0),
    ),
}
