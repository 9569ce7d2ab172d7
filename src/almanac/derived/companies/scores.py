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

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from almanac.derived.companies.ratio_inputs import Figure, RatioInputs
from almanac.domain.numbers import significant


class ScoreCriterion(NamedTuple):
    """
    A ratio, or one test of a score: input names (see `ratio_inputs`), the formula over them (ZeroDivisionError: no value), and
    what passes (None: nothing does).
    """

    name: str
    inputs: tuple[str, ...]
    formula: Callable[..., float]
    passes: Callable[[float], bool] | None = None

    def value(self, inputs: RatioInputs) -> Figure | None:
        """Return the value at the end that the inputs are of, or None."""
        figures = inputs.all(self.inputs)
        return None if figures is None else _computed_from(figures, self.formula, [figure.value for figure in figures])


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
    """A score: its tests, how what they passed and their values make it (in the tests' order), and what a value is called."""

    tests: tuple[ScoreCriterion, ...]
    total: Callable[[list[bool | None], list[float]], float]
    verdict: Callable[[float], str] | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of all inputs, each once."""
        return tuple(dict.fromkeys(name for test in self.tests for name in test.inputs))

    def value(self, inputs: RatioInputs) -> Figure | None:
        """Return the score at the end that the inputs are of, None unless every test has a value; as `over`, without the detail."""
        figures: list[Figure] = []
        passed: list[bool | None] = []
        for test in self.tests:
            figure = test.value(inputs)
            if figure is None:
                return None
            figures.append(figure)
            passed.append(None if test.passes is None else test.passes(figure.value))
        return _computed_from(figures, self.total, [passed, [figure.value for figure in figures]])

    def over(self, inputs: RatioInputs) -> ScoreBreakdown:
        """Return the score at the end that the inputs are of, with all its tests."""
        results: list[CriterionResult] = []
        for test in self.tests:
            readings = [inputs.read(name) for name in test.inputs]
            found = [reading for reading in readings if reading is not None]
            whole = len(found) == len(readings)
            value = _computed(test.formula, [reading.value for reading in found]) if whole else None
            shown = {
                name.removesuffix("?"): reading and reading.value
                for name, reading in zip(test.inputs, readings, strict=True)
            }
            passed = None if value is None or test.passes is None else test.passes(value)
            results.append(CriterionResult(test.name, shown, value, passed))
        values = [result.value for result in results if result.value is not None]
        total = None
        if len(values) == len(results):
            total = _computed(self.total, [[result.passed for result in results], values])
        verdict = self.verdict(total) if self.verdict is not None and total is not None else None
        judged = [result.passed for result in results if result.passed is not None]
        return ScoreBreakdown(total, verdict, len(values), len(results), sum(judged) if judged else None, results)


def _computed_from(figures: Sequence[Figure], formula: Callable[..., float], arguments: Sequence[Any]) -> Figure | None:
    """Return what a formula gives, with the amounts that the figures behind its arguments were made of."""
    value = _computed(formula, arguments)
    if value is None:
        return None
    parts = tuple([amount for figure in figures for amount in figure.parts])
    return Figure(value, parts, any(figure.mismatch for figure in figures))


def _computed(formula: Callable[..., float], arguments: Sequence[Any]) -> float | None:
    """Return what a formula gives, to twelve significant digits; None where it has no value or none that is finite."""
    try:
        value = formula(*arguments)
    except (ZeroDivisionError, OverflowError):
        return None
    return significant(value) if math.isfinite(value) else None


def over(number: float, base: float) -> float:
    """Return a quotient. Raise ZeroDivisionError for a base that is not positive: a ratio to it would say nothing."""
    if base <= 0:
        raise ZeroDivisionError
    return number / base


def mean(one: float, other: float) -> float:
    """Of a balance now and a year ago."""
    return (one + other) / 2


# -- Piotroski F --------------------------------------------------------------------------------------------------------


def _roa_change(income: float, assets1: float, income1: float, assets2: float) -> float:
    return over(income, assets1) - over(income1, assets2)


def _leverage_change(debt: float, assets: float, assets1: float, debt1: float, assets2: float) -> float:
    return over(debt, mean(assets, assets1)) - over(debt1, mean(assets1, assets2))


def _quotient_change(number: float, base: float, number1: float, base1: float) -> float:
    return over(number, base) - over(number1, base1)


PIOTROSKI: Final = Score(
    (
        ScoreCriterion("return_on_assets_positive", ("net_income_ttm", "total_assets_1y_ago"), over, lambda x: x > 0),
        ScoreCriterion(
            "cash_flow_positive", ("net_cash_flow_from_operations_ttm", "total_assets_1y_ago"), over, lambda x: x > 0
        ),
        ScoreCriterion(
            "return_on_assets_rising",
            ("net_income_ttm", "total_assets_1y_ago", "net_income_ttm_1y_ago", "total_assets_2y_ago"),
            _roa_change,
            lambda x: x > 0,
        ),
        ScoreCriterion(
            "cash_flow_above_income",
            ("net_cash_flow_from_operations_ttm", "net_income_ttm", "total_assets_1y_ago"),
            lambda cash, income, assets1: over(cash, assets1) - over(income, assets1),
            lambda x: x > 0,
        ),
        ScoreCriterion(
            "leverage_falling",
            ("long_term_debt", "total_assets", "total_assets_1y_ago", "long_term_debt_1y_ago", "total_assets_2y_ago"),
            _leverage_change,
            lambda x: x < 0,
        ),
        ScoreCriterion(
            "current_ratio_rising",
            ("current_assets", "current_liabilities", "current_assets_1y_ago", "current_liabilities_1y_ago"),
            _quotient_change,
            lambda x: x > 0,
        ),
        ScoreCriterion(
            "no_shares_issued",
            ("weighted_average_shares_diluted_ttm", "weighted_average_shares_diluted_ttm_1y_ago"),
            lambda shares, shares1: over(shares, shares1) - 1,
            lambda x: x <= 0,
        ),
        ScoreCriterion(
            "gross_margin_rising",
            ("gross_profit_ttm", "revenue_ttm", "gross_profit_ttm_1y_ago", "revenue_ttm_1y_ago"),
            _quotient_change,
            lambda x: x > 0,
        ),
        ScoreCriterion(
            "asset_turnover_rising",
            ("revenue_ttm", "total_assets_1y_ago", "revenue_ttm_1y_ago", "total_assets_2y_ago"),
            _roa_change,
            lambda x: x > 0,
        ),
    ),
    lambda passed, _: float(passed.count(True)),
)


# -- Altman Z″ ----------------------------------------------------------------------------------------------------------

_ALTMAN = (6.56, 3.26, 6.72, 1.05)


def _zone(z: float) -> str:
    return "safe" if z > 2.6 else "distress" if z < 1.1 else "grey"


ALTMAN: Final = Score(
    (
        ScoreCriterion(
            "working_capital_to_assets",
            ("current_assets", "current_liabilities", "total_assets"),
            lambda assets, liabilities, total: over(assets - liabilities, total),
        ),
        ScoreCriterion("retained_earnings_to_assets", ("retained_earnings", "total_assets"), over),
        ScoreCriterion("operating_income_to_assets", ("operating_income_ttm", "total_assets"), over),
        ScoreCriterion("equity_to_liabilities", ("shareholders_equity", "total_liabilities"), over),
    ),
    lambda _, values: sum(weight * value for weight, value in zip(_ALTMAN, values, strict=True)),
    _zone,
)


# -- Beneish M ----------------------------------------------------------------------------------------------------------

_BENEISH = (0.920, 0.528, 0.404, 0.892, 0.115, -0.172, 4.679, -0.327)
#: Where calling an honest company a manipulator costs a twentieth of missing one.
BENEISH_THRESHOLD = -1.78


def _index(number: float, base: float, number1: float, base1: float) -> float:
    """Return a quotient over the same a year ago."""
    return over(over(number, base), over(number1, base1))


def _asset_quality(
    current: float, property_: float, total: float, current1: float, property1: float, total1: float
) -> float:
    return over(1 - over(current + property_, total), 1 - over(current1 + property1, total1))


def _depreciation(charge: float, property_: float, charge1: float, property1: float) -> float:
    return over(over(charge1, charge1 + property1), over(charge, charge + property_))


def _leverage(current: float, debt: float, total: float, current1: float, debt1: float, total1: float) -> float:
    return over(over(current + debt, total), over(current1 + debt1, total1))


BENEISH: Final = Score(
    (
        ScoreCriterion(
            "days_sales_in_receivables_index",
            ("accounts_receivable", "revenue_ttm", "accounts_receivable_1y_ago", "revenue_ttm_1y_ago"),
            _index,
        ),
        ScoreCriterion(
            "gross_margin_index",
            ("gross_profit_ttm_1y_ago", "revenue_ttm_1y_ago", "gross_profit_ttm", "revenue_ttm"),
            _index,
        ),
        ScoreCriterion(
            "asset_quality_index",
            (
                "current_assets",
                "property_plant_equipment",
                "total_assets",
                "current_assets_1y_ago",
                "property_plant_equipment_1y_ago",
                "total_assets_1y_ago",
            ),
            _asset_quality,
        ),
        ScoreCriterion("sales_growth_index", ("revenue_ttm", "revenue_ttm_1y_ago"), over),
        ScoreCriterion(
            "depreciation_index",
            (
                "depreciation_and_amortization_ttm",
                "property_plant_equipment",
                "depreciation_and_amortization_ttm_1y_ago",
                "property_plant_equipment_1y_ago",
            ),
            _depreciation,
        ),
        ScoreCriterion(
            "overhead_index",
            (
                "selling_general_and_administrative_ttm",
                "revenue_ttm",
                "selling_general_and_administrative_ttm_1y_ago",
                "revenue_ttm_1y_ago",
            ),
            _index,
        ),
        ScoreCriterion(
            "accruals_to_assets",
            ("net_income_ttm", "net_cash_flow_from_operations_ttm", "total_assets"),
            lambda income, cash, assets: over(income - cash, assets),
        ),
        ScoreCriterion(
            "leverage_index",
            (
                "current_liabilities",
                "long_term_debt",
                "total_assets",
                "current_liabilities_1y_ago",
                "long_term_debt_1y_ago",
                "total_assets_1y_ago",
            ),
            _leverage,
        ),
    ),
    lambda _, values: -4.84 + sum(weight * value for weight, value in zip(_BENEISH, values, strict=True)),
    lambda m: "possible_manipulation" if m > BENEISH_THRESHOLD else "unlikely_manipulation",
)

SCORES: Final = {"piotroski_f": PIOTROSKI, "altman_z2": ALTMAN, "beneish_m": BENEISH}
