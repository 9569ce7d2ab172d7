"""
Scores of a company's accounts, each test with its inputs and its result.

All on twelve months, compared with the twelve months before. A score has a value only if every test has one: a part
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
from typing import Final, NamedTuple

import msgspec

from almanac.derived.companies.ratio_inputs import Figure, RatioInputs
from almanac.domain.numbers import significant


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
_NAME = re.compile(r"[a-z][a-z_0-9]*\??")


class _Quotients(ast.NodeTransformer):
    """Replacement of each division by `_over`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node = ast.BinOp(self.visit(node.left), node.op, self.visit(node.right))
        if not isinstance(node.op, ast.Div):
            return node
        return ast.Call(ast.Name("over", ast.Load()), [node.left, node.right], [])


class ScoreCriterion(NamedTuple):
    """
    A ratio, or one test of a score: the `formula` over inputs (see `ratio_inputs`), and how a value that passes compares
    with zero (None: nothing does). A division by what is not positive has no value.
    """

    name: str
    formula: str
    passes: Callable[[float, int], bool] | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the names of all inputs, each once, as they come in the formula."""
        return _inputs(self.formula)

    def value(self, inputs: RatioInputs) -> Figure | None:
        """Return the value at the end that the inputs are of, or None."""
        figures = inputs.all(_inputs(self.formula))
        if figures is None:
            return None
        try:
            value = _function(self.formula)(*[figure.value for figure in figures])
        except (ZeroDivisionError, OverflowError):
            return None
        return _made_of(figures, value)


def criteria(**texts: str) -> tuple[ScoreCriterion, ...]:
    """Return ratios or tests by name. Behind the formula of a test is how a value that passes compares with zero: `> 0`."""
    found: list[ScoreCriterion] = []
    for name, text in texts.items():
        formula, _, sign = text.removesuffix(" 0").rpartition(" ") if text.endswith(" 0") else (text, "", "")
        found.append(ScoreCriterion(name, formula, _SIGNS.get(sign)))
    return tuple(found)


_SIGNS: Final = {">": operator.gt, "<": operator.lt, "<=": operator.le}


@functools.cache
def _inputs(formula: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in _NAME.findall(formula) if name not in _FUNCTIONS))


@functools.cache
def _function(formula: str) -> Callable[..., float]:
    names = ", ".join(_inputs(formula))
    tree = ast.parse(f"lambda {names}: {formula}".replace("?", ""), mode="eval")
    code = compile(ast.fix_missing_locations(_Quotients().visit(tree)), formula, "eval")
    function: Callable[..., float] = eval(code, dict(_FUNCTIONS))  # noqa: S307  # formulas are constants of the code
    return function


class CriterionResult(msgspec.Struct, frozen=True):
    """A test's inputs by name (None: missing), its value and whether it is passed (None: cannot be told, or not asked)."""

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
    """A score: its tests, and the sum that weights make of their values (none: how many are passed) with its name."""

    tests: tuple[ScoreCriterion, ...]
    weights: tuple[float, ...] = ()
    constant: float = 0.0
    verdict: Callable[[float], str] | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of all inputs, each once."""
        return tuple(dict.fromkeys(name for test in self.tests for name in test.inputs))

    def value(self, inputs: RatioInputs) -> Figure | None:
        """Return the score at the end that the inputs are of, None unless every test has a value."""
        figures: list[Figure] = []
        for test in self.tests:
            figure = test.value(inputs)
            if figure is None:
                return None
            figures.append(figure)
        if self.weights:
            weighted = zip(self.weights, figures, strict=True)
            return _made_of(figures, self.constant + sum(weight * figure.value for weight, figure in weighted))
        passed = (
            test.passes and test.passes(figure.value, 0) for test, figure in zip(self.tests, figures, strict=True)
        )
        return _made_of(figures, float(sum(map(bool, passed))))

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


def _made_of(figures: list[Figure], value: float) -> Figure | None:
    """Return a value to twelve significant digits with the amounts that figures were made of; None for one not finite."""
    if not math.isfinite(value):
        return None
    parts = tuple([amount for figure in figures for amount in figure.parts])
    return Figure(significant(value), parts, any(figure.mismatch for figure in figures))


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
