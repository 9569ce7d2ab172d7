"""
All that is computed from the financials of a company at one period end: twelve months of each flow, ratios, scores.

Ratios are fractions: 0.25 is 25 %. A denominator or a base of growth that is not positive gives no value, nor does an
input the company does not state. Balances that flows are set against are means of now and a year ago. Inputs have names:

| name | is |
| --- | --- |
| `revenue_ttm` | twelve months ending at the end |
| `total_assets` | the balance at the end |
| `…_1y_ago`, `…_2y_ago`, `…_3y_ago` | the same one, two, three times twelve months earlier |
| `minority_interest?` | a balance that counts as zero where the company states none |
| `statutory_tax_rate` | the United States' federal rate on corporate income on that day |

"Earlier" is the day before the twelve months begin, not 365 days ago, so years of 52 and 53 weeks meet. All flows of
one measure cover the same days. MeasureValues that depend on the number of shares are there for an earlier time only if both
times are on one basis.

A score is on twelve months, compared with the twelve months before. It has a value only if every test has one: a part
of it is shown in the detail, never served as a score. Sources: Piotroski, "Value Investing" (2000); Altman, Hartzell
and Peck, "Emerging Market Corporate Bonds" (1995), without its constant; Beneish, "The Detection of Earnings
Manipulation" (1999); Sloan, "Do Stock Prices Fully Reflect Information in Accruals" (1996).

Chosen where they leave it open: net income stands for income before extraordinary items; the leverage test is failed
by a company without debt in both years, as in the paper; no shares were issued if the diluted average did not rise;
EBIT is operating income; equity is the parent's; depreciation includes amortisation and property is net of it; assets
other than current ones and property are not reduced by securities, as in Beneish's paper.
"""

from __future__ import annotations

import ast
import functools
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Final, NamedTuple

import msgspec

from almanac.catalog import measures as catalogue
from almanac.derived.companies.financials import MISMATCH, CompanyFinancials, MeasureValue
from almanac.derived.companies.ttm import (
    AVERAGES,
    FREQUENCIES,
    PER_SHARE,
    REACH_DAYS,
    one_basis,
    trailing_twelve_months,
)
from almanac.domain.numbers import significant
from almanac.domain.periods import Frequency

# -- inputs ----------------------------------------------------------------------------------------------------

#: Flows that tell where the twelve months begin, the surest first.
_FRAME: Final = (
    "net_income",
    "revenue",
    "income_before_tax",
    "net_cash_flow_from_operations",
    "operating_income",
    "income_tax",
    "net_cash_flow_from_investing",
    "net_cash_flow_from_financing",
)

#: An input that is no item: what is taken for a tax rate where there is no income to tax.
STATUTORY_TAX: Final = "statutory_tax_rate"
_RATES = (0.35, 0.21)
_RATE_CUT = date(2018, 1, 1).toordinal()


class InputName(NamedTuple):
    """Name of an input, taken apart."""

    item: str
    flow: bool
    back: int
    optional: bool


_NAME = re.compile(r"(?P<item>[a-z_]+?)(?P<flow>_ttm)?(?:_(?P<back>[123])y_ago)?(?P<optional>\?)?")


@functools.cache
def parsed(name: str) -> InputName:
    """Parse `long_term_debt_1y_ago` into item, flow or balance, and years back. Raises ValueError for another form."""
    match = _NAME.fullmatch(name)
    if match is None or (match["flow"] and match["optional"]):
        raise ValueError(
            f"{name!r} is no input: allowed are ITEM, ITEM_ttm, each with _1y_ago to _3y_ago; ITEM? is optional"
        )
    return InputName(match["item"], match["flow"] is not None, int(match["back"] or 0), match["optional"] is not None)


class RatioInputs:
    """Readings of a company's financials from one end. `frequency` is what the company reports in (`ttm.periods`). Nothing before REACH_DAYS is looked at."""

    def __init__(self, financials: CompanyFinancials, end: int, frequency: Frequency) -> None:
        """Raise ValueError for a frequency that companies do not report in."""
        if frequency not in FREQUENCIES:
            raise ValueError(f"frequency must be one of {', '.join(FREQUENCIES)}, not {frequency}")
        self.financials = financials
        self.end = end
        self.frequency = frequency
        self._floor = end - REACH_DAYS
        self._twelve: dict[tuple[str, int], MeasureValue | None] = {}
        self._figures: dict[str, MeasureValue | None] = {}
        #: The flows that tell where the twelve months begin: of those now, one, two and three years ago, as far as they are known.
        self._frames: list[MeasureValue] = []
        for _ in range(4):
            last = self._frames[-1].start - 1 if self._frames else end
            flows = (self.trailing_twelve_months(item, last) for item in _FRAME)
            frame = next((flow for flow in flows if flow is not None), None)
            if frame is None:
                break
            self._frames.append(frame)

    def start(self, back: int = 0) -> int | None:
        """Return the first day of the twelve months that many years back; None where no flow has twelve months there."""
        return self._frames[back].start if back < len(self._frames) else None

    def trailing_twelve_months(self, item: str, end: int) -> MeasureValue | None:
        """Return the twelve months of an item ending on that day."""
        if end < self._floor:
            return None
        if (item, end) not in self._twelve:
            twelve = trailing_twelve_months(self.financials, item, end, self.frequency, self._floor)
            self._twelve[item, end] = twelve
        return self._twelve[item, end]

    def read(self, name: str) -> MeasureValue | None:
        """Return an input by name, or None where the company does not state what it takes. Raise ValueError for an unknown form."""
        if name not in self._figures:
            self._figures[name] = self._read(parsed(name))
        return self._figures[name]

    def _read(self, wanted: InputName) -> MeasureValue | None:
        if wanted.back > len(self._frames):
            return None
        end = self._frames[wanted.back - 1].start - 1 if wanted.back else self.end
        if wanted.item == STATUTORY_TAX:
            return MeasureValue(_RATES[end >= _RATE_CUT], end, end, ())
        if not wanted.flow:
            amount = self.financials.balances.get(wanted.item, {}).get(end) if end >= self._floor else None
            if amount is None:
                return MeasureValue(0.0, end, end, ()) if wanted.optional else None
            # Nothing of another standard or currency is set against the twelve months now.
            is_comparable = bool(self._frames) and amount.reporting_basis == self._frames[0].reporting_basis
            return MeasureValue(amount.value, end, end, (amount,)) if is_comparable else None
        flow = self.trailing_twelve_months(wanted.item, end)
        if flow is None or flow.start != self.start(wanted.back):
            return None
        if flow.reporting_basis != self._frames[0].reporting_basis:
            return None
        if wanted.back and (wanted.item in AVERAGES or wanted.item in PER_SHARE):
            # The average numbers of shares show whether an earlier figure is on today's basis.
            counted = next(
                (
                    before.parts + twelve.parts
                    for shares in PER_SHARE.get(wanted.item, (wanted.item,))
                    if (twelve := self.trailing_twelve_months(shares, self.end)) is not None
                    and (before := self.trailing_twelve_months(shares, end)) is not None
                ),
                (),
            )
            if not counted or not one_basis(amount.value for amount in counted):
                return None
            return flow._replace(parts=flow.parts + counted)
        return flow


# -- formulas and scores ----------------------------------------------------------------------------------------


def _over(number: float, base: float) -> float:
    """Return a quotient. Raise ZeroDivisionError for a base that is not positive: a ratio to it would say nothing."""
    if base <= 0:
        raise ZeroDivisionError
    return number / base


def _mean(now: float, then: float) -> float:
    return (now + then) / 2


def _cube_root(growth: float) -> float:
    """Return a cube root; a value that is not positive now has no rate either."""
    if growth <= 0:
        raise ZeroDivisionError
    return math.cbrt(growth)


#: Most of income before tax that is taken for a lasting tax rate.
_HIGHEST_TAX = 0.35


def _tax_rate(tax: float, before_tax: float, statutory: float) -> float:
    return min(max(tax / before_tax, 0.0), _HIGHEST_TAX) if before_tax > 0 else statutory


#: What formulas may call.
_FUNCTIONS: Final = {"over": _over, "mean": _mean, "cube_root": _cube_root, "tax_rate": _tax_rate}
_WORD = re.compile(r"[a-z][a-z_0-9]*\??")


class _Quotients(ast.NodeTransformer):
    """Replacement of each division by `_over`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node = ast.BinOp(self.visit(node.left), node.op, self.visit(node.right))
        if not isinstance(node.op, ast.Div):
            return node
        return ast.Call(ast.Name("over", ast.Load()), [node.left, node.right], [])


@dataclass(frozen=True)
class ScoreCriterion:
    """
    A ratio, or one test of a score: the `formula` over inputs (named above), and how a value that passes compares
    with zero (None: nothing does). A division by what is not positive has no value.
    """

    name: str
    formula: str
    passes: Callable[[float, int], bool] | None = None

    @functools.cached_property
    def inputs(self) -> tuple[str, ...]:
        """Return the names of all inputs, each once, as they come in the formula."""
        return tuple(dict.fromkeys(name for name in _WORD.findall(self.formula) if name not in _FUNCTIONS))

    @functools.cached_property
    def _function(self) -> Callable[..., float]:
        tree = ast.parse(f"lambda {', '.join(self.inputs)}: {self.formula}".replace("?", ""), mode="eval")
        code = compile(ast.fix_missing_locations(_Quotients().visit(tree)), self.formula, "eval")
        function: Callable[..., float] = eval(code, dict(_FUNCTIONS))  # noqa: S307  # formulas are constants of the code
        return function

    def value(self, inputs: RatioInputs) -> MeasureValue | None:
        """Return the value at the end that the inputs are of, or None."""
        figures: list[MeasureValue] = []
        for name in self.inputs:
            figure = inputs.read(name)
            if figure is None:
                return None
            figures.append(figure)
        try:
            value = self._function(*[figure.value for figure in figures])
        except (ZeroDivisionError, OverflowError):
            return None
        return _made_of(inputs, figures, value)


def criteria(**texts: str) -> tuple[ScoreCriterion, ...]:
    """Return ratios or tests by name. Behind the formula of a test is how a value that passes compares with zero: `> 0`."""
    tests: list[ScoreCriterion] = []
    for name, text in texts.items():
        formula, _, sign = text.removesuffix(" 0").rpartition(" ") if text.endswith(" 0") else (text, "", "")
        tests.append(ScoreCriterion(name, formula, _SIGNS.get(sign)))
    return tuple(tests)


_SIGNS: Final = {">": operator.gt, "<": operator.lt, "<=": operator.le}


class CriterionResult(msgspec.Struct, frozen=True):
    """Inputs of a test by name (None: missing), its value and whether it is passed (None: cannot be told, or not asked)."""

    name: str
    inputs: dict[str, float | None]
    value: float | None
    passed: bool | None


class ScoreBreakdown(msgspec.Struct, frozen=True):
    """
    A score with its `tests`. `value` None unless all of them have one; `present` counts those that have, `of` all.

    `verdict` is the paper's word for the value, None where it has none; `passed` counts tests, None where none can be.
    """

    value: float | None
    verdict: str | None
    present: int
    of: int
    passed: int | None
    tests: list[CriterionResult]


class Score(NamedTuple):
    """Score of several tests: their weighted sum and a constant, or without weights the number that are passed."""

    tests: tuple[ScoreCriterion, ...]
    weights: tuple[float, ...] = ()
    constant: float = 0.0
    verdict: Callable[[float], str] | None = None

    def value(self, inputs: RatioInputs) -> MeasureValue | None:
        """Return the score at the end that the inputs are of, None unless every test has a value."""
        figures: list[MeasureValue] = []
        for test in self.tests:
            figure = test.value(inputs)
            if figure is None:
                return None
            figures.append(figure)
        if self.weights:
            weighted = zip(self.weights, figures, strict=True)
            return _made_of(inputs, figures, self.constant + sum(weight * figure.value for weight, figure in weighted))
        passed = (
            test.passes and test.passes(figure.value, 0) for test, figure in zip(self.tests, figures, strict=True)
        )
        return _made_of(inputs, figures, float(sum(map(bool, passed))))

    def over(self, inputs: RatioInputs) -> ScoreBreakdown:
        """Return the score at the end that the inputs are of, with all its tests."""
        results: list[CriterionResult] = []
        for test in self.tests:
            figure = test.value(inputs)
            shown = {name.removesuffix("?"): (read := inputs.read(name)) and read.value for name in test.inputs}
            passed = None if figure is None or test.passes is None else test.passes(figure.value, 0)
            results.append(CriterionResult(test.name, shown, figure and figure.value, passed))
        present = sum(result.value is not None for result in results)
        total = self.value(inputs)
        verdict = self.verdict(total.value) if self.verdict is not None and total is not None else None
        judged = [result.passed for result in results if result.passed is not None]
        return ScoreBreakdown(
            total and total.value, verdict, present, len(results), sum(judged) if judged else None, results
        )


def _made_of(inputs: RatioInputs, figures: list[MeasureValue], value: float) -> MeasureValue | None:
    """
    Return a value to twelve significant digits, for the twelve months that the inputs are of, with the amounts that figures
    were made of; None for one not finite.
    """
    start = inputs.start()
    if start is None or not math.isfinite(value):
        return None
    parts = tuple([amount for figure in figures for amount in figure.parts])
    is_mismatch = any(figure.method == MISMATCH for figure in figures)
    return MeasureValue(significant(value), start, inputs.end, parts, MISMATCH if is_mismatch else None)


PIOTROSKI: Final = Score(
    criteria(
        return_on_assets_positive="net_income_ttm / total_assets_1y_ago > 0",
        cash_flow_positive="net_cash_flow_from_operations_ttm / total_assets_1y_ago > 0",
        return_on_assets_rising="net_income_ttm / total_assets_1y_ago - net_income_ttm_1y_ago / total_assets_2y_ago > 0",
        cash_flow_above_income="net_cash_flow_from_operations_ttm / total_assets_1y_ago - net_income_ttm / total_assets_1y_ago > 0",
        leverage_falling=(
            "long_term_debt / mean(total_assets, total_assets_1y_ago)"
            " - long_term_debt_1y_ago / mean(total_assets_1y_ago, total_assets_2y_ago) < 0"
        ),
        current_ratio_rising="current_assets / current_liabilities - current_assets_1y_ago / current_liabilities_1y_ago > 0",
        no_shares_issued="weighted_average_shares_diluted_ttm / weighted_average_shares_diluted_ttm_1y_ago - 1 <= 0",
        gross_margin_rising="gross_profit_ttm / revenue_ttm - gross_profit_ttm_1y_ago / revenue_ttm_1y_ago > 0",
        asset_turnover_rising="revenue_ttm / total_assets_1y_ago - revenue_ttm_1y_ago / total_assets_2y_ago > 0",
    )
)

ALTMAN: Final = Score(
    criteria(
        working_capital_to_assets="(current_assets - current_liabilities) / total_assets",
        retained_earnings_to_assets="retained_earnings / total_assets",
        operating_income_to_assets="operating_income_ttm / total_assets",
        equity_to_liabilities="shareholders_equity / total_liabilities",
    ),
    (6.56, 3.26, 6.72, 1.05),
    verdict=lambda z: "safe" if z > 2.6 else "distress" if z < 1.1 else "grey",
)

#: Where calling an honest company a manipulator costs a twentieth of missing one.
BENEISH_THRESHOLD = -1.78
BENEISH: Final = Score(
    criteria(
        days_sales_in_receivables_index="(accounts_receivable / revenue_ttm) / (accounts_receivable_1y_ago / revenue_ttm_1y_ago)",
        gross_margin_index="(gross_profit_ttm_1y_ago / revenue_ttm_1y_ago) / (gross_profit_ttm / revenue_ttm)",
        asset_quality_index=(
            "(1 - (current_assets + property_plant_equipment) / total_assets)"
            " / (1 - (current_assets_1y_ago + property_plant_equipment_1y_ago) / total_assets_1y_ago)"
        ),
        sales_growth_index="revenue_ttm / revenue_ttm_1y_ago",
        depreciation_index=(
            "(depreciation_and_amortization_ttm_1y_ago"
            " / (depreciation_and_amortization_ttm_1y_ago + property_plant_equipment_1y_ago))"
            " / (depreciation_and_amortization_ttm / (depreciation_and_amortization_ttm + property_plant_equipment))"
        ),
        overhead_index=(
            "(selling_general_and_administrative_ttm / revenue_ttm)"
            " / (selling_general_and_administrative_ttm_1y_ago / revenue_ttm_1y_ago)"
        ),
        accruals_to_assets="(net_income_ttm - net_cash_flow_from_operations_ttm) / total_assets",
        leverage_index=(
            "((current_liabilities + long_term_debt) / total_assets)"
            " / ((current_liabilities_1y_ago + long_term_debt_1y_ago) / total_assets_1y_ago)"
        ),
    ),
    (0.920, 0.528, 0.404, 0.892, 0.115, -0.172, 4.679, -0.327),
    -4.84,
    lambda m: "possible_manipulation" if m > BENEISH_THRESHOLD else "unlikely_manipulation",
)

SCORES: Final = {"piotroski_f": PIOTROSKI, "altman_z2": ALTMAN, "beneish_m": BENEISH}


# -- ratios, and all measures -----------------------------------------------------------------------------------


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
    values: dict[str, MeasureValue] = {}
    for slug, item in _TTM:
        twelve = inputs.trailing_twelve_months(item, end)
        if twelve is not None:
            values[slug] = twelve
    for slug in _applicable(financials.template):
        made = (RATIOS.get(slug) or SCORES[slug]).value(inputs)
        if made is not None:
            values[slug] = made
    return values


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
