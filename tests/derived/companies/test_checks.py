"""What checks say of statements: each right once and wrong once."""

import pytest

from almanac.derived.companies import checks
from almanac.derived.companies.checks import FAILED, NOT_APPLICABLE, PASSED, CheckedPeriod, QualityCheck
from almanac.derived.companies.financials import Amount


def getter(values, tags=("us-gaap:Invented:Q",)):
    def get(key):
        stated = values.get(key)
        if stated is None:
            return None
        return stated if isinstance(stated, Amount) else Amount(float(stated), None, 0, tags)

    return get


def around(now, *, before=None, closing=None, opening=None, quarters=(), contradicted=()):
    return CheckedPeriod(
        get=getter(now),
        before=getter(before or {}),
        closing=getter(closing or {}),
        opening=getter(opening or {}),
        quarters=[getter(lines) for lines in quarters],
        additive=[key for key in now if key != "earnings_per_share_basic"],
        keys=list(now),
        contradicted=contradicted,
    )


#: The statement that a check is of, where it is not income.
STATEMENTS = {
    "two_bases": "cash_flow", "cash_flows_add_up": "cash_flow", "cash_reconciles": "cash_flow", "balance_identity": "balance",
    "parts_within_whole": "balance", "scale": "balance", "consistent_filing": "balance", "shares_of_one_basis": "balance",
}  # fmt: skip


def check(name, now, **beside):
    """Return one check of a period with these lines; `beside` as in `around`."""
    (made,) = [made for made in checks.checks_of(STATEMENTS.get(name, "income"), around(now, **beside)) if made.name == name]  # fmt: skip
    return made


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
    assert check("gross_profit_within_revenue", values).status == expected


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
    made = check("lines_add_up", TAXED | more)
    assert made.status == expected
    if expected == FAILED:
        assert made.items == ("income_before_tax", "income_tax", "net_income")


def test_a_tax_with_the_other_sign_is_told_once():
    values = TAXED | {"income_tax": -3_107, "net_income": 5_994, "income_before_minorities": 5_994}
    assert (check("lines_add_up", values).status, check("signs_agree", values).status) == (PASSED, FAILED)


def per_share(amount, shares, income):
    return {
        "earnings_per_share_basic": amount, "weighted_average_shares_basic": shares, "net_income_to_common": income,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (per_share(2.02, 14_673_278_000, 29_578_000_000), PASSED),
        (per_share(1.97, 947_217_000, 29_578_000_000), FAILED),  # per share after a split, shares before it
        (per_share(2.02, 14_673.278, 29_578_000_000), FAILED),  # shares in millions
        # Earnings per share made of income and shares prove nothing.
        (per_share(Amount(1.0, None, 0, (), "approximate_income_over_shares"), 10, 10), NOT_APPLICABLE),
    ],
)
def test_earnings_per_share_times_shares_is_income(values, expected):
    assert check("earnings_per_share_times_shares", values).status == expected


@pytest.mark.parametrize(
    ("number", "detail"),
    [
        (52_030, "1.09 a share times 52,030 shares is 56,712.7, income is 56,938,000: the shares seem to be a thousand times too few"),
        (52.03, "1.09 a share times 52.03 shares is 56.7127, income is 56,938,000: the shares seem to be a million times too few"),
        (52_030e6, "1.09 a share times 52,030,000,000 shares is 56,712,700,000, income is 56,938,000: the shares seem to be a thousand times too many"),
        (45_030_000, "1.09 a share times 45,030,000 shares is 49,082,700, income is 56,938,000"),
    ],
)  # fmt: skip
def test_shares_of_another_scale_are_said_to_be(number, detail):
    assert check("earnings_per_share_times_shares", per_share(1.09, number, 56_938_000)).detail == detail


@pytest.mark.parametrize(("year", "expected"), [(1_016, PASSED), (1_018, PASSED), (1_019, FAILED)])
def test_quarters_sum_to_the_year(year, expected):
    """Each of five figures may be off by half a unit."""
    made = check("quarters_sum_to_year", {"revenue": year}, quarters=[{"revenue": n} for n in (101, 203, 305, 407)])
    assert made.status == expected
    assert made.detail == ("the quarters give revenue 1,016 for 1,019" if expected == FAILED else None)
    assert check("quarters_sum_to_year", {"revenue": year}).status == NOT_APPLICABLE


def test_a_difference_of_two_bases_is_named():
    made = check("two_bases", {"net_cash_flow_from_operations": Amount(3.0, None, 0, (), "fy_minus_9m_mixed")})
    assert made.status == FAILED
    assert "net_cash_flow_from_operations" in made.detail


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
    assert check("cash_flows_add_up", values).status == expected


CASH = "cash_of_cash_flow_statement"


@pytest.mark.parametrize(
    ("change", "effect", "closing", "expected"),
    [
        (113, None, 616, PASSED),
        (113, None, 716, FAILED),
        # Cash with restricted cash at one end and without it at the other cannot be compared.
        (313, None, Amount(616.0, None, 0, ("us-gaap:Other:Q",)), NOT_APPLICABLE),
        (113, 0, 616, PASSED),
        (113, 40, 616, PASSED),  # the change after exchange rates
        (113, -40, 616, PASSED),
        (73, 40, 616, PASSED),  # and before them
        (153, -40, 616, PASSED),
        (153, 40, 616, FAILED),
        (73, -40, 616, FAILED),
    ],
)
def test_cash_reconciles_before_or_after_the_effect_of_exchange_rates(change, effect, closing, expected):
    flows = {"net_change_in_cash": change, "effect_of_exchange_rate_on_cash": effect}
    assert check("cash_reconciles", flows, closing={CASH: closing}, opening={CASH: 503}).status == expected


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
    ends = {"closing": {CASH: 442, **closing}, "opening": {CASH: 503, **opening}}
    assert check("cash_reconciles", {"net_change_in_cash": 113}, **ends).status == expected


#: Lines of a filing in thousands beside one that a later filing gives in millions, rounded up so that its own column foots.
ROUNDED = {
    "total_assets": 29_739_614_000, "total_liabilities": 23_427_000_000, "shareholders_equity": 4_923_243_000,
    "minority_interest": 834_397_000, "temporary_equity": 555_964_000,
}  # fmt: skip
#: Total liabilities that follow from the total of the sheet.
DIFFERENCE = Amount(601.0, None, 0, (), "formula")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"total_assets": 1_001, "total_liabilities": 601, "shareholders_equity": 400}, PASSED),
        ({"total_assets": 1_001, "total_liabilities": 601, "shareholders_equity": 357}, FAILED),
        ({"total_assets": 1_001, "total_liabilities": 601, "shareholders_equity": 357, "temporary_equity": 43}, PASSED),
        ({"total_assets": 1_001, "liabilities_and_equity": 1_001}, PASSED),
        ({"total_assets": 1_001, "liabilities_and_equity": 951}, FAILED),
        ({"total_assets": 1_001}, NOT_APPLICABLE),
        # What follows from the total proves nothing more.
        ({"total_assets": 1_001, "liabilities_and_equity": 1_001, "total_liabilities": DIFFERENCE, "shareholders_equity": 400}, PASSED),
        # Lines of two filings may be off by the units they round to.
        (ROUNDED, PASSED),
        (ROUNDED | {"total_liabilities": 23_428_000_000}, FAILED),
    ],
)  # fmt: skip
def test_assets_are_liabilities_and_equity(values, expected):
    assert check("balance_identity", values).status == expected


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
    made = {check.name: check.status for check in checks.checks_of("balance", period)}
    assert made["shares_of_one_basis"] == expected


@pytest.mark.parametrize(("inventory", "expected"), [(10_001, PASSED), (50_001, FAILED)])
def test_a_part_is_within_its_whole(inventory, expected):
    values = {"total_assets": 100_001, "current_assets": 40_001, "inventory": inventory}
    assert check("parts_within_whole", values).status == expected


@pytest.mark.parametrize(
    ("now", "then", "expected", "detail"),
    [
        (5_000, 4, FAILED, "total_assets 5,000 is more than 1,000 times the one of the period before"),
        (50_000, 43, FAILED, "total_assets 50,000 is more than 1,000 times the one of the period before"),
        (31, 43_210, FAILED, "total_assets 31 is less than a 1,000th of the one of the period before"),
        (900, 4, PASSED, None),
        (900, None, NOT_APPLICABLE, None),
    ],
)
def test_another_scale_is_told_without_the_figure_of_the_period_before(now, then, expected, detail):
    """A plan may not reach that period: what is told of this one must not tell the other's figure."""
    made = check("scale", {"total_assets": now}, before={"total_assets": then})
    assert (made.status, made.detail) == (expected, detail)


def test_two_values_in_one_filing_are_inconsistent():
    made = check("consistent_filing", {"total_assets": 5, "goodwill": 2}, contradicted=("goodwill",))
    assert made.status == FAILED
    assert made.detail == "inconsistent: the filing gives two values for goodwill; the first is served"
    assert check("consistent_filing", {"total_assets": 5}).status == PASSED


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ({"scale": PASSED, "one_basis": NOT_APPLICABLE}, "ok"),
        ({"scale": PASSED, "cash_reconciles": FAILED}, "warning"),
        ({"balance_identity": FAILED, "one_basis": FAILED}, "failed"),
    ],
)
def test_the_verdict(statuses, expected):
    assert checks.verdict([QualityCheck(name, status, "x") for name, status in statuses.items()]) == expected


def test_rounding_is_half_a_unit_of_each_but_never_more_than_half_a_million():
    assert checks.rounding([1_000.0, 12.0]) == pytest.approx(500.5)
    assert checks.rounding([7e12]) == pytest.approx(500_000)
    assert checks.rounding([0.0]) == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize(
    ("more", "expected"), [({}, FAILED), ({"selling_general_and_administrative": 50}, PASSED)], ids=["alone", "selling"]
)
def test_a_gross_profit_computed_from_a_fraction_of_the_costs_is_marked(more, expected):
    gross = Amount(97.0, None, 0, (), "formula")
    now = {"gross_profit": gross, "revenue": 100, "cost_of_revenue": 3, "costs_and_expenses": 90} | more
    assert check("gross_profit_within_revenue", now).status == expected
