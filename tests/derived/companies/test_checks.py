"""What checks say of statements: each right once and wrong once."""

from __future__ import annotations

import pytest

from almanac.derived.companies import checks
from almanac.derived.companies.checks import FAILED, NOT_APPLICABLE, PASSED, CheckedPeriod, QualityCheck
from almanac.derived.companies.financials import Amount


def getter(values, tags=("us-gaap:Invented:Q",)):
    def get(key):
        found = values.get(key)
        if found is None:
            return None
        return found if isinstance(found, Amount) else Amount(float(found), None, 0, tags)

    return get


def around(now, *, before=None, closing=None, opening=None, quarters=(), contradicted=()):
    get = getter(now)
    return CheckedPeriod(
        get=get,
        before=getter(before or {}),
        closing=getter(closing or {}),
        opening=getter(opening or {}),
        quarters=[getter(one) for one in quarters],
        additive=[key for key in now if key != "earnings_per_share_basic"],
        keys=list(now),
        contradicted=lambda amount: any(get(key) == amount for key in contradicted),
    )


def status(made, name):
    (check,) = [check for check in made if check.name == name]
    return check.status


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"gross_profit": 5, "revenue": 10}, PASSED),
        ({"gross_profit": -5, "revenue": 10}, PASSED),
        ({"gross_profit": 11, "revenue": 10}, FAILED),
        ({"gross_profit": 11}, NOT_APPLICABLE),
    ],
)
def test_gross_profit_is_within_revenue(values, expected):
    assert status(checks.of_income(around(values)), "gross_profit_within_revenue") == expected


@pytest.mark.parametrize(
    ("per_share", "number", "expected"),
    [
        (2.02, 14_673_278_000, PASSED),
        (1.97, 947_217_000, FAILED),  # per share after a split, shares before it
        (2.02, 14_673.278, FAILED),  # shares in millions
    ],
)
def test_earnings_per_share_times_shares_is_income(per_share, number, expected):
    values = {
        "earnings_per_share_basic": per_share,
        "weighted_average_shares_basic": number,
        "net_income_to_common": 29_578_000_000,
    }
    assert status(checks.of_income(around(values)), "earnings_per_share_times_shares") == expected


def test_earnings_per_share_made_of_income_and_shares_prove_nothing():
    made = Amount(1.0, None, 0, (), "approximate_income_over_shares")
    values = {"earnings_per_share_basic": made, "weighted_average_shares_basic": 10, "net_income_to_common": 10}
    assert status(checks.of_income(around(values)), "earnings_per_share_times_shares") == NOT_APPLICABLE


def test_quarters_sum_to_the_year():
    quarters = [{"revenue": number} for number in (101, 203, 305, 407)]
    assert status(checks.of_income(around({"revenue": 1_016}, quarters=quarters)), "quarters_sum_to_year") == PASSED
    # Each of five figures may be off by half a unit.
    assert status(checks.of_income(around({"revenue": 1_018}, quarters=quarters)), "quarters_sum_to_year") == PASSED
    failed = checks.of_income(around({"revenue": 1_019}, quarters=quarters))
    assert status(failed, "quarters_sum_to_year") == FAILED
    assert [c.detail for c in failed if c.name == "quarters_sum_to_year"] == [
        "the quarters give revenue 1,016 for 1,019"
    ]
    assert status(checks.of_income(around({"revenue": 1_019})), "quarters_sum_to_year") == NOT_APPLICABLE


def test_a_difference_of_two_bases_is_named():
    mixed = Amount(3.0, None, 0, (), "fy_minus_9m_mixed")
    made = checks.of_cash_flow(around({"net_cash_flow_from_operations": mixed}))
    assert status(made, "one_basis") == FAILED
    assert "net_cash_flow_from_operations" in next(c.detail for c in made if c.name == "one_basis")


@pytest.mark.parametrize(
    ("change", "effect", "expected"), [(6, None, PASSED), (5, -1, PASSED), (6, -1, PASSED), (9, -1, FAILED)]
)
def test_cash_flows_add_up_with_or_without_exchange_rates(change, effect, expected):
    values = {
        "net_cash_flow_from_operations": 11_001,
        "net_cash_flow_from_investing": -4_997,
        "net_cash_flow_from_financing": -5_998,
        "net_change_in_cash": change,
        "effect_of_exchange_rate_on_cash": effect,
    }
    assert status(checks.of_cash_flow(around(values)), "cash_flows_add_up") == expected


def test_cash_reconciles_with_the_balance_sheets():
    flows = {"net_change_in_cash": 113}
    key = "cash_of_cash_flow_statement"
    assert (
        status(checks.of_cash_flow(around(flows, closing={key: 616}, opening={key: 503})), "cash_reconciles") == PASSED
    )
    assert (
        status(checks.of_cash_flow(around(flows, closing={key: 716}, opening={key: 503})), "cash_reconciles") == FAILED
    )
    # Cash with restricted cash at one end and without it at the other cannot be compared.
    other = Amount(616.0, None, 0, ("us-gaap:Other:Q",))
    made = checks.of_cash_flow(around(flows, closing={key: other}, opening={key: 303}))
    assert status(made, "cash_reconciles") == NOT_APPLICABLE


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"total_assets": 1_001, "total_liabilities": 601, "equity_with_minority": 400}, PASSED),
        ({"total_assets": 1_001, "total_liabilities": 601, "equity_with_minority": 357}, FAILED),
        ({"total_assets": 1_001, "total_liabilities": 601, "equity_with_minority": 357, "temporary_equity": 43}, PASSED),
        ({"total_assets": 1_001, "liabilities_and_equity": 1_001}, PASSED),
        ({"total_assets": 1_001, "liabilities_and_equity": 951}, FAILED),
        ({"total_assets": 1_001}, NOT_APPLICABLE),
    ],
)  # fmt: skip
def test_assets_are_liabilities_and_equity(values, expected):
    assert status(checks.of_balance(around(values)), "balance_identity") == expected


def test_liabilities_that_follow_from_the_total_prove_nothing_more():
    made = Amount(601.0, None, 0, (), "formula")
    values = {
        "total_assets": 1_001,
        "liabilities_and_equity": 1_001,
        "total_liabilities": made,
        "equity_with_minority": 1,
    }
    assert status(checks.of_balance(around(values)), "balance_identity") == PASSED


def test_a_part_is_within_its_whole():
    right = {"total_assets": 100_001, "current_assets": 40_001, "inventory": 10_001}
    assert status(checks.of_balance(around(right)), "parts_within_whole") == PASSED
    wrong = {**right, "inventory": 50_001}
    assert status(checks.of_balance(around(wrong)), "parts_within_whole") == FAILED


def test_a_thousandfold_jump_is_another_scale():
    assert status(checks.of_balance(around({"total_assets": 5_000}, before={"total_assets": 4})), "scale") == FAILED
    assert status(checks.of_balance(around({"total_assets": 3}, before={"total_assets": 4_000})), "scale") == FAILED
    assert status(checks.of_balance(around({"total_assets": 900}, before={"total_assets": 4})), "scale") == PASSED
    assert status(checks.of_balance(around({"total_assets": 900})), "scale") == NOT_APPLICABLE


@pytest.mark.parametrize(
    ("now", "then", "said"),
    [
        (50_000, 43, "total_assets 50,000 is more than 1,000 times the one of the period before"),
        (31, 43_210, "total_assets 31 is less than a 1,000th of the one of the period before"),
    ],
)
def test_another_scale_is_told_without_the_figure_of_the_period_before(now, then, said):
    """A plan may not reach that period: what is told of this one must not tell the other's figure."""
    (check,) = [
        one
        for one in checks.of_balance(around({"total_assets": now}, before={"total_assets": then}))
        if one.name == "scale"
    ]
    assert check.detail == said


def test_two_values_in_one_filing_are_inconsistent():
    made = checks.of_balance(around({"total_assets": 5, "goodwill": 2}, contradicted=("goodwill",)))
    (check,) = [check for check in made if check.name == "consistent_filing"]
    assert check.status == FAILED
    assert check.detail == "inconsistent: the filing gives two values for goodwill; the first is served"
    assert status(checks.of_balance(around({"total_assets": 5})), "consistent_filing") == PASSED


def test_the_verdict():
    assert checks.verdict([QualityCheck("scale", PASSED), QualityCheck("one_basis", NOT_APPLICABLE)]) == "ok"
    assert checks.verdict([QualityCheck("scale", PASSED), QualityCheck("one_basis", FAILED, "x")]) == "warning"
    assert (
        checks.verdict([QualityCheck("balance_identity", FAILED, "x"), QualityCheck("one_basis", FAILED, "x")])
        == "failed"
    )


def test_rounding_is_half_a_unit_of_each_but_never_more_than_half_a_million():
    assert checks.rounding([1_000.0, 12.0]) == pytest.approx(500.5)
    assert checks.rounding([7e12]) == pytest.approx(500_000)
    assert checks.rounding([0.0]) == pytest.approx(0, abs=1e-5)


def test_a_gross_profit_computed_from_a_fraction_of_the_costs_is_marked():
    gross = Amount(97.0, None, 0, (), "formula")
    now = {"gross_profit": gross, "revenue": 100, "cost_of_revenue": 3, "costs_and_expenses": 90}
    assert status(checks.of_income(around(now)), "gross_profit_within_revenue") == FAILED
    selling = {**now, "selling_general_and_administrative": 50}
    assert status(checks.of_income(around(selling)), "gross_profit_within_revenue") == PASSED
