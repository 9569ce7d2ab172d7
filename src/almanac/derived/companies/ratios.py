"""
All that is computed from the financials of a company at one period end: twelve months of each flow, ratios, scores.

Ratios are fractions: 0.25 is 25 %. A denominator or a base of growth that is not positive gives no value, nor does an
input the company does not state. Balances that flows are set against are means of now and a year ago.
"""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

from almanac.catalog import measures as catalogue
from almanac.derived.companies.financials import Amount, CompanyFinancials
from almanac.derived.companies.ratio_inputs import RatioInputs
from almanac.derived.companies.scores import SCORES, Score, ScoreBreakdown, criteria
from almanac.derived.companies.ttm import MISMATCH, REACH_DAYS, periods
from almanac.domain.observations import DAY, FAILED, UNKNOWN, WARNED
from almanac.domain.periods import Frequency

__all__ = ["REACH_DAYS", "MeasureValue", "detail", "measures", "periods"]


class MeasureValue(NamedTuple):
    """
    A figure for twelve months. `start`, `end`: ordinal days; `parts`: the amounts it was computed from.

    What follows from the parts is worked out when asked for, since most measures turn out equal to what was known.
    """

    value: float
    start: int
    end: int
    parts: tuple[Amount, ...]
    #: How the twelve months were had (`ttm.TrailingTwelveMonths.method`); of a ratio or score `ttm_mismatch` or None.
    method: str | None = None

    @property
    def tags(self) -> tuple[str, ...]:
        """Raw series of all parts (see `Amount.tags`), each once, sorted."""
        return tuple(sorted({tag for amount in self.parts for tag in amount.tags}))

    @property
    def reporting_basis(self) -> int:
        """Standard and currency of its parts, by number (see `Amount.reporting_basis`)."""
        return self.parts[0].reporting_basis if self.parts else 0

    @property
    def released(self) -> int | None:
        """Unix seconds of the latest release among the parts, None if any is not known."""
        times = [amount.released for amount in self.parts]
        return None if None in times else max((time for time in times if time is not None), default=None)

    @property
    def ingested(self) -> int:
        return max((amount.ingested for amount in self.parts), default=0)

    @property
    def flags(self) -> int:
        """
        UNKNOWN if any part has it; DAY if any has it and the release is known; the worst that checks say of any.

        Two ways to the same twelve months that differ are a warning too.
        """
        every = 0
        for amount in self.parts:
            every |= amount.flags
        quality = FAILED if every & FAILED else every & WARNED or WARNED * (self.method == MISMATCH)
        return every & (UNKNOWN | (DAY if self.released is not None else 0)) | quality


_RATIOS: Final = criteria(
    gross_margin="gross_profit_ttm / revenue_ttm",
    operating_margin="operating_income_ttm / revenue_ttm",
    net_margin="net_income_ttm / revenue_ttm",
    fcf_margin="free_cash_flow_ttm / revenue_ttm",
    return_on_equity="net_income_ttm / mean(shareholders_equity, shareholders_equity_1y_ago)",
    return_on_assets="net_income_ttm / mean(total_assets, total_assets_1y_ago)",
    return_on_invested_capital=(
        "operating_income_ttm * (1 - tax_rate(income_tax_ttm, income_before_tax_ttm, statutory_tax_rate)) / mean("
        "total_debt + shareholders_equity + minority_interest? - cash_and_equivalents - short_term_investments?, "
        "total_debt_1y_ago + shareholders_equity_1y_ago + minority_interest_1y_ago?"
        " - cash_and_equivalents_1y_ago - short_term_investments_1y_ago?)"
    ),
    current_ratio="current_assets / current_liabilities",
    quick_ratio="(cash_and_equivalents + short_term_investments? + accounts_receivable) / current_liabilities",
    debt_to_equity="total_debt / shareholders_equity",
    net_debt_to_ebitda="(total_debt - cash_and_equivalents - short_term_investments?) / ebitda_ttm",
    interest_coverage="operating_income_ttm / interest_expense_ttm",
    asset_turnover="revenue_ttm / mean(total_assets, total_assets_1y_ago)",
    inventory_turnover="cost_of_revenue_ttm / mean(inventory, inventory_1y_ago)",
    revenue_growth_yoy="revenue_ttm / revenue_ttm_1y_ago - 1",
    revenue_cagr_3y="cube_root(revenue_ttm / revenue_ttm_3y_ago) - 1",
    net_income_growth_yoy="net_income_ttm / net_income_ttm_1y_ago - 1",
    eps_growth_yoy="earnings_per_share_diluted_ttm / earnings_per_share_diluted_ttm_1y_ago - 1",
    accruals_ratio="(net_income_ttm - net_cash_flow_from_operations_ttm) / mean(total_assets, total_assets_1y_ago)",
    cash_conversion="net_cash_flow_from_operations_ttm / net_income_ttm",
    capex_to_revenue="capital_expenditure_ttm / revenue_ttm",
    rd_to_revenue="research_and_development_ttm / revenue_ttm",
    share_count_change_yoy="weighted_average_shares_diluted_ttm / weighted_average_shares_diluted_ttm_1y_ago - 1",
)
RATIOS: Final = {ratio.name: ratio for ratio in _RATIOS}

_TTM: Final = tuple((measure.key, measure.item) for measure in catalogue.of_kind("ttm"))


def measures(financials: CompanyFinancials, end: int, frequency: Frequency) -> dict[str, MeasureValue]:
    """
    Everything that can be computed for the twelve months ending on a day (an ordinal), by slug.

    `frequency` is what the company reports in: QUARTERLY, SEMIANNUAL or ANNUAL, as `periods` says. Looked at is only
    what ends on that day and up to REACH_DAYS before it. Ratios and scores have the period of the income statement's
    twelve months; where there are none, there are no ratios either. Raises ValueError for another frequency.
    """
    inputs = RatioInputs(financials, end, frequency)
    found: dict[str, MeasureValue] = {}
    for slug, item in _TTM:
        twelve = inputs.trailing_twelve_months(item, end)
        if twelve is not None:
            found[slug] = MeasureValue(twelve.value, twelve.start, end, twelve.parts + twelve.basis, twelve.method)
    start = inputs.start()
    if start is None:
        return found
    for slug in _applicable(financials.template):
        made = (RATIOS.get(slug) or SCORES[slug]).value(inputs)
        if made is not None:
            found[slug] = MeasureValue(made.value, start, end, made.parts, MISMATCH if made.mismatch else None)
    return found


#: Scores, and ratios that are shown with them as scores of one test.
_SHOWN: Final = {
    **SCORES,
    **{slug: Score((RATIOS[slug],), (1.0,)) for slug in ("accruals_ratio", "return_on_invested_capital")},
}


def detail(financials: CompanyFinancials, end: int, frequency: Frequency) -> dict[str, ScoreBreakdown]:
    """
    Each score, the accruals ratio and the return on invested capital with tests, inputs and values, by slug.

    A score that says nothing about this kind of company is left out.
    """
    inputs = RatioInputs(financials, end, frequency)
    applicable = _applicable(financials.template)
    return {slug: score.over(inputs) for slug, score in _SHOWN.items() if slug in applicable}


@functools.cache
def _applicable(template: str) -> tuple[str, ...]:
    """Slugs of the ratios and scores that say something about a kind of company."""
    return tuple(m.key for m in (*catalogue.of_kind("ratio"), *catalogue.of_kind("score")) if template in m.templates)
