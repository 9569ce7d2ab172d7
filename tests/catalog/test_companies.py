"""The lines of statements in the catalogue: complete, and any contradiction is an error that names it."""

import pytest

from almanac.catalog import companies
from almanac.catalog.companies import Term, expression, items
from almanac.catalog.load import shipped
from almanac.catalog.measures import measures
from almanac.catalog.records import CatalogError
from almanac.catalog.sectors import TEMPLATES

#: The keys the interface promises, by statement.
PROMISED = {
    "income": """revenue cost_of_revenue gross_profit operating_expenses research_and_development
        selling_general_and_administrative operating_income interest_expense income_before_tax income_tax net_income
        earnings_per_share_basic earnings_per_share_diluted weighted_average_shares_basic
        weighted_average_shares_diluted depreciation_and_amortization ebitda dividends_per_share net_interest_income
        provision_for_credit_losses premiums_earned""",
    "balance": """cash_and_equivalents short_term_investments accounts_receivable inventory current_assets
        property_plant_equipment goodwill intangible_assets total_assets accounts_payable short_term_debt
        current_liabilities long_term_debt total_debt total_liabilities retained_earnings shareholders_equity
        minority_interest temporary_equity restricted_cash deposits shares_outstanding""",
    "cash_flow": """net_cash_flow_from_operations capital_expenditure free_cash_flow net_cash_flow_from_investing
        net_cash_flow_from_financing dividends_paid share_repurchases debt_issued debt_repaid stock_based_compensation
        effect_of_exchange_rate_on_cash net_change_in_cash""",
}


@pytest.mark.parametrize("statement", PROMISED)
def test_every_promised_line_is_there_and_no_other(statement):
    served = {item.key for item in companies.served() if item.statement == statement}
    assert served == set(PROMISED[statement].split())


def test_wanted_tags_are_those_of_all_items():
    wanted = companies.wanted_tags()
    assert {"us-gaap:NetIncomeLoss", "ifrs-full:Revenue", "dei:EntityCommonStockSharesOutstanding"} <= wanted
    assert "us-gaap:Deposits" in wanted
    assert all(tag.partition(":")[0] in {"us-gaap", "ifrs-full", "dei", "pre"} for tag in wanted)
    read_from = set().union(*(item.tags() | {*item.parts} for item in items().values()))
    assert wanted == read_from | {companies.SHEET_ANEW} | {
        f"us-gaap:{tag}" for style in companies.styles().values() for tag in style.signs
    }


def test_indicators_are_one_for_each_line_and_each_tag():
    found = {indicator.slug: indicator for indicator in companies.indicators()}
    assert len(found) == len(companies.indicators()) == len(companies.served()) + len(companies.wanted_tags())
    income, raw = found["net_income"], found["us_gaap_net_income_loss"]
    assert (income.kind, income.category, income.unit, income.screenable) == ("derived", "fundamentals", None, False)
    # A balance is screened as it stands, a flow by its sum over twelve months, which is a measure.
    assert found["total_assets"].screenable
    assert income.inputs[0] == "us_gaap_net_income_loss"
    assert (raw.kind, raw.name, raw.unit, raw.screenable) == ("raw", "Net income loss", None, False)
    assert found["weighted_average_shares_basic"].unit == "shares"
    assert found["us_gaap_common_stock_shares_issued"].unit == "shares"
    assert found["free_cash_flow"].formula == "net_cash_flow_from_operations − capital_expenditure"
    assert "us_gaap_payments_to_acquire_productive_assets" in found["free_cash_flow"].inputs


def test_the_catalogue_has_them():
    assert {indicator.slug for indicator in companies.indicators()} <= set(shipped().indicators)


def test_inputs_of_derived_lines_are_raw_lines():
    found = {indicator.slug: indicator for indicator in companies.indicators()}
    for indicator in found.values():
        assert {found[slug].kind for slug in indicator.inputs} <= {"raw"}
        assert bool(indicator.inputs) == (indicator.kind == "derived")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A", (Term(1, "us-gaap:A", False),)),
        ("A + B?", (Term(1, "us-gaap:A", False), Term(1, "us-gaap:B", True))),
        ("A - dei:B?", (Term(1, "us-gaap:A", False), Term(-1, "dei:B", True))),
    ],
)
def test_expressions(text, expected):
    assert expression(text, "us-gaap") == expected


@pytest.mark.parametrize("text", ["", "A B", "+ A", "A +", "A * B", "A + + B"])
def test_what_is_no_sum_is_refused_in_its_own_words(text):
    with pytest.raises(ValueError, match="sum"):
        expression(text)


FILE = "companies/items.toml"
GOOD = {
    "key": "sales",
    "statement": "income",
    "kind": "flow",
    "name": "Sales",
    "description": "For this test.",
    "us_gaap": ["Revenues"],
}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"statement": "equity"},
            "item sales: Invalid enum value 'equity' at statement, allowed are income, balance, cash_flow",
        ),
        ({"us_gaap": []}, "item sales: neither tags nor formulas"),
        ({"agrees": True}, "item sales: it must agree, and with nothing"),
        ({"slices": ["SalesRevenueNet"]}, "item sales: us-gaap:SalesRevenueNet is a slice and no candidate"),
        ({"for_style": {"bakery": ["Revenues"]}}, "item sales: unknown style bakery"),
        ({"proofs": ["turnover"]}, "item sales: unknown item turnover in its proof"),
        ({"formulas": [["a"]]}, "items.toml: item sales: ['a'] is no text at formulas[0]"),
        ({"colour": "red"}, "item sales: unknown field colour, allowed are key, statement, "),
    ],
)
def test_a_contradiction_is_an_error_that_names_it(instead, changes, problem):
    with pytest.raises(CatalogError) as raised:
        instead(items, {FILE: {"item": [{**GOOD, **changes}]}})
    assert problem in str(raised.value)


def test_a_line_that_is_there_twice_and_an_unknown_table_are_errors(instead):
    with pytest.raises(CatalogError, match="item sales: is there twice"):
        instead(items, {FILE: {"item": [GOOD, GOOD]}})
    with pytest.raises(CatalogError, match=r"unknown table \[\[items\]\]"):
        instead(items, {FILE: {"items": [GOOD]}})


def test_a_formula_may_not_mix_periods_and_instants(instead):
    assets = {**GOOD, "key": "assets", "statement": "balance", "kind": "instant", "us_gaap": ["Assets"]}
    with pytest.raises(CatalogError, match="item sales: assets in its formula is of another kind"):
        instead(items, {FILE: {"item": [{**GOOD, "formulas": ["assets"]}, assets]}})


def measure(**more):
    base = {
        "key": "x", "kind": "ratio", "name": "X", "description": "X.", "formula": "a/b", "inputs": ["revenue_ttm"],
    }  # fmt: skip
    return {**base, **more}


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (
            {"measure": [measure(kind="index")]},
            "measure x: Invalid enum value 'index' at kind, allowed are ttm, ratio, score",
        ),
        ({"measure": [measure(inputs=["total_asset"])]}, "measure x: unknown input total_asset"),
        ({"measure": [measure(), measure()]}, "measure x: is there twice"),
        (
            {"measure": [measure(kind="ttm")]},
            "measure x: twelve-month figures follow from the items, allowed are ratio, score",
        ),
        ({"measure": [measure(key="revenue_ttm")]}, "measure revenue_ttm: is there twice"),
        ({"measure": [measure(**{"except": list(TEMPLATES)})]}, "measure x: no kind of company has it"),
        ({"measures": [measure()]}, "unknown table [[measures]], allowed are measure"),
    ],
)
def test_a_measure_that_does_not_fit_is_named(instead, part, message):
    with pytest.raises(CatalogError) as raised:
        instead(measures, {"companies/measures.toml": part})
    assert f"companies/measures.toml: {message}" in str(raised.value).splitlines()
