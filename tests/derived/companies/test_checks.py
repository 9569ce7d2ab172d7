"""What checks say of statements: each right once and wrong once."""

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
    return CheckedPeriod(
        get=getter(now),
        before=getter(before or {}),
        closing=getter(closing or {}),
        opening=getter(opening or {}),
        quarters=[getter(one) for one in quarters],
        additive=[key for key in now if key != "earnings_per_share_basic"],
        keys=list(now),
        contradicted=contradicted,
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
    assert status(checks.checks_of("income", around(values)), "gross_profit_within_revenue") == expected


TAXED = {"income_before_tax": 9_101, "income_tax": 3_107, "net_income": 5_701}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"income_before_minorities": 6_001}, FAILED),
        ({"income_before_minorities": 5_994}, PASSED),
        ({"income_before_minorities": 6_057, "discontinued_operations": 63}, PASSED),
        ({"income_before_minorities": 5_994, "discontinued_operations": 63}, FAILED),
        # Income of associates may be in what is taxed already.
        ({"income_before_minorities": 6_031, "equity_method_income": 37}, PASSED),
        ({"income_before_minorities": 5_994, "equity_method_income": 37}, PASSED),
        # Net income alone may be without minorities that no line gives.
        ({}, NOT_APPLICABLE),
    ],
)
def test_income_less_tax_is_net_income_before_minorities(more, expected):
    made = checks.checks_of("income", around(TAXED | more))
    assert status(made, "lines_add_up") == expected
    (check,) = [check for check in made if check.name == "lines_add_up"]
    if expected == FAILED:
        assert check.items == ("income_before_tax", "income_tax", "net_income")


def test_a_tax_with_the_other_sign_is_told_once():
    made = checks.checks_of("income", around(TAXED | {"income_tax": -3_107, "net_income": 5_994, "income_before_minorities": 5_994}))  # fmt: skip
    assert (status(made, "lines_add_up"), status(made, "signs_agree")) == (PASSED, FAILED)


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
    assert status(checks.checks_of("income", around(values)), "earnings_per_share_times_shares") == expected


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (52_030, "1.09 a share times 52,030 shares is 56,712.7, income is 56,938,000: the shares seem to be a thousand times too few"),
        (52.03, "1.09 a share times 52.03 shares is 56.7127, income is 56,938,000: the shares seem to be a million times too few"),
        (52_030e6, "1.09 a share times 52,030,000,000 shares is 56,712,700,000, income is 56,938,000: the shares seem to be a thousand times too many"),
        (45_030_000, "1.09 a share times 45,030,000 shares is 49,082,700, income is 56,938,000"),
    ],
)  # fmt: skip
def test_shares_of_another_scale_are_said_to_be(number, told):
    values = {
        "earnings_per_share_basic": 1.09,
        "weighted_average_shares_basic": number,
        "net_income_to_common": 56_938_000,
    }
    made = checks.checks_of("income", around(values))
    assert [c.detail for c in made if c.name == "earnings_per_share_times_shares"] == [told]


def test_a_balance_of_two_filings_may_be_off_by_the_units_they_round_to():
    """Lines of a filing in thousands beside one that a later filing gives in millions, rounded up so that its own column foots."""
    sheet = {
        "total_assets": 29_739_614_000, "total_liabilities": 23_427_000_000, "shareholders_equity": 4_923_243_000,
        "minority_interest": 834_397_000, "temporary_equity": 555_964_000,
    }  # fmt: skip
    assert status(checks.checks_of("balance", around(sheet)), "balance_identity") == PASSED
    assert (
        status(checks.checks_of("balance", around(sheet | {"total_liabilities": 23_428_000_000})), "balance_identity")
        == FAILED
    )


def test_earnings_per_share_made_of_income_and_shares_prove_nothing():
    made = Amount(1.0, None, 0, (), "approximate_income_over_shares")
    values = {"earnings_per_share_basic": made, "weighted_average_shares_basic": 10, "net_income_to_common": 10}
    assert status(checks.checks_of("income", around(values)), "earnings_per_share_times_shares") == NOT_APPLICABLE


def test_quarters_sum_to_the_year():
    quarters = [{"revenue": number} for number in (101, 203, 305, 407)]
    assert (
        status(checks.checks_of("income", around({"revenue": 1_016}, quarters=quarters)), "quarters_sum_to_year")
        == PASSED
    )
    # Each of five figures may be off by half a unit.
    assert (
        status(checks.checks_of("income", around({"revenue": 1_018}, quarters=quarters)), "quarters_sum_to_year")
        == PASSED
    )
    failed = checks.checks_of("income", around({"revenue": 1_019}, quarters=quarters))
    assert status(failed, "quarters_sum_to_year") == FAILED
    assert [c.detail for c in failed if c.name == "quarters_sum_to_year"] == [
        "the quarters give revenue 1,016 for 1,019"
    ]
    assert status(checks.checks_of("income", around({"revenue": 1_019})), "quarters_sum_to_year") == NOT_APPLICABLE


def test_a_difference_of_two_bases_is_named():
    mixed = Amount(3.0, None, 0, (), "fy_minus_9m_mixed")
    made = checks.checks_of("cash_flow", around({"net_cash_flow_from_operations": mixed}))
    assert status(made, "two_bases") == FAILED
    assert "net_cash_flow_from_operations" in next(c.detail for c in made if c.name == "two_bases")


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
    assert status(checks.checks_of("cash_flow", around(values)), "cash_flows_add_up") == expected


def test_cash_reconciles_with_the_balance_sheets():
    flows = {"net_change_in_cash": 113}
    key = "cash_of_cash_flow_statement"
    assert (
        status(checks.checks_of("cash_flow", around(flows, closing={key: 616}, opening={key: 503})), "cash_reconciles")
        == PASSED
    )
    assert (
        status(checks.checks_of("cash_flow", around(flows, closing={key: 716}, opening={key: 503})), "cash_reconciles")
        == FAILED
    )
    # Cash with restricted cash at one end and without it at the other cannot be compared.
    other = Amount(616.0, None, 0, ("us-gaap:Other:Q",))
    made = checks.checks_of("cash_flow", around(flows, closing={key: other}, opening={key: 303}))
    assert status(made, "cash_reconciles") == NOT_APPLICABLE


@pytest.mark.parametrize(
    ("change", "effect", "expected"),
    [
        (113, 0, PASSED),
        (113, 40, PASSED),  # the change after exchange rates
        (113, -40, PASSED),
        (73, 40, PASSED),  # and before them
        (153, -40, PASSED),
        (153, 40, FAILED),
        (73, -40, FAILED),
    ],
)
def test_cash_reconciles_before_or_after_the_effect_of_exchange_rates(change, effect, expected):
    key = "cash_of_cash_flow_statement"
    flows = {"net_change_in_cash": change, "effect_of_exchange_rate_on_cash": effect}
    made = checks.checks_of("cash_flow", around(flows, closing={key: 616}, opening={key: 503}))
    assert status(made, "cash_reconciles") == expected


@pytest.mark.parametrize(
    ("closing", "opening", "expected"),
    [
        # A part of the company is for sale from now on, with cash of 174: it is not in that of the sheet any more.
        ({"cash_of_disposal_group": 174}, {"cash_of_disposal_group": 0}, PASSED),
        ({"cash_of_disposal_group": -174}, {"cash_of_disposal_group": 0}, PASSED),
        ({"cash_of_disposal_group": 134}, {"cash_of_disposal_group": 308}, FAILED),
        ({"cash_of_disposal_group": 308}, {"cash_of_disposal_group": 134}, PASSED),
        ({"cash_of_disposal_group": 181}, {"cash_of_disposal_group": 0}, FAILED),
        # What the other end had is not known.
        ({"cash_of_disposal_group": 174}, {}, PASSED),
        ({"cash_of_disposal_group": 99}, {}, NOT_APPLICABLE),
        ({"cash_of_disposal_group": 0}, {}, FAILED),
        # A tag for the widest cash that this filer gives for another one.
        ({"cash_with_restricted_cash": 1_113}, {"cash_with_restricted_cash": 1_000}, PASSED),
    ],
)
def test_cash_that_is_for_sale_with_a_part_of_the_company_is_no_difference(closing, opening, expected):
    key = "cash_of_cash_flow_statement"
    made = checks.checks_of(
        "cash_flow", around({"net_change_in_cash": 113}, closing={key: 442, **closing}, opening={key: 503, **opening})
    )
    assert status(made, "cash_reconciles") == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"total_assets": 1_001, "total_liabilities": 601, "shareholders_equity": 400}, PASSED),
        ({"total_assets": 1_001, "total_liabilities": 601, "shareholders_equity": 357}, FAILED),
        ({"total_assets": 1_001, "total_liabilities": 601, "shareholders_equity": 357, "temporary_equity": 43}, PASSED),
        ({"total_assets": 1_001, "liabilities_and_equity": 1_001}, PASSED),
        ({"total_assets": 1_001, "liabilities_and_equity": 951}, FAILED),
        ({"total_assets": 1_001}, NOT_APPLICABLE),
    ],
)  # fmt: skip
def test_assets_are_liabilities_and_equity(values, expected):
    assert status(checks.checks_of("balance", around(values)), "balance_identity") == expected


def test_liabilities_that_follow_from_the_total_prove_nothing_more():
    made = Amount(601.0, None, 0, (), "formula")
    values = {
        "total_assets": 1_001,
        "liabilities_and_equity": 1_001,
        "total_liabilities": made,
        "shareholders_equity": 400,
    }
    assert status(checks.checks_of("balance", around(values)), "balance_identity") == PASSED


@pytest.mark.parametrize(
    ("now", "then", "average", "average_before", "expected"),
    [
        (1_000, 990, 1_010, 1_000, PASSED),
        (4_000, 990, 1_010, 1_000, FAILED),
        # One of two classes is on the cover alone, in both periods.
        (4_000, 3_990, 1_010, 1_000, PASSED),
        # The period before has no shares to compare with, or none at all.
        (1_000, 990, 1_010, 0, PASSED),
        (4_000, 990, 1_010, 0, FAILED),
        (1_000, 0, 1_010, 1_000, NOT_APPLICABLE),
        (1_000, 990, 0, 1_000, NOT_APPLICABLE),
        (1_000, None, 1_010, 1_000, NOT_APPLICABLE),
    ],
)
def test_shares_outstanding_are_those_that_income_counts(now, then, average, average_before, expected):
    key = "weighted_average_shares_basic"
    period = around({"shares_outstanding": now}, before={"shares_outstanding": then})
    period = period._replace(incomes=(getter({key: average}), getter({key: average_before})))
    assert status(checks.checks_of("balance", period), "shares_of_one_basis") == expected


def test_a_part_is_within_its_whole():
    right = {"total_assets": 100_001, "current_assets": 40_001, "inventory": 10_001}
    assert status(checks.checks_of("balance", around(right)), "parts_within_whole") == PASSED
    wrong = {**right, "inventory": 50_001}
    assert status(checks.checks_of("balance", around(wrong)), "parts_within_whole") == FAILED


def test_a_thousandfold_jump_is_another_scale():
    assert (
        status(checks.checks_of("balance", around({"total_assets": 5_000}, before={"total_assets": 4})), "scale")
        == FAILED
    )
    assert (
        status(checks.checks_of("balance", around({"total_assets": 3}, before={"total_assets": 4_000})), "scale")
        == FAILED
    )
    assert (
        status(checks.checks_of("balance", around({"total_assets": 900}, before={"total_assets": 4})), "scale")
        == PASSED
    )
    assert status(checks.checks_of("balance", around({"total_assets": 900})), "scale") == NOT_APPLICABLE


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
        for one in checks.checks_of("balance", around({"total_assets": now}, before={"total_assets": then}))
        if one.name == "scale"
    ]
    assert check.detail == said


def test_two_values_in_one_filing_are_inconsistent():
    made = checks.checks_of("balance", around({"total_assets": 5, "goodwill": 2}, contradicted=("goodwill",)))
    (check,) = [check for check in made if check.name == "consistent_filing"]
    assert check.status == FAILED
    assert check.detail == "inconsistent: the filing gives two values for goodwill; the first is served"
    assert status(checks.checks_of("balance", around({"total_assets": 5})), "consistent_filing") == PASSED


def test_the_verdict():
    assert checks.verdict([QualityCheck("scale", PASSED), QualityCheck("one_basis", NOT_APPLICABLE)]) == "ok"
    assert checks.verdict([QualityCheck("scale", PASSED), QualityCheck("cash_reconciles", FAILED, "x")]) == "warning"
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
    assert status(checks.checks_of("income", around(now)), "gross_profit_within_revenue") == FAILED
    selling = {**now, "selling_general_and_administrative": 50}
    assert status(checks.checks_of("income", around(selling)), "gross_profit_within_revenue") == PASSED
