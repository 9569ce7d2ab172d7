"""Statements of simulated companies whose later reports show a year otherwise: other tags, another group, shares, a sign."""

import pytest

from almanac.sandbox.companies.filers import companies
from tests.sandbox.simulated_statements import Truth, swept, versions

QUARTERS = ("Q1", "Q2", "Q3", "Q4")
PERIODS = (*QUARTERS, "FY")
NARROWED = [one.number for one in companies() if one.recast and one.recast[1] == "narrowed"]
(SPUN_OFF,) = [one.number for one in companies() if one.recast and one.recast[1] == "spun_off"]
SPLIT = [one.number for one in companies() if one.split]
(TURNED_FIRST,) = [one.number for one in companies() if one.turned and one.turned[2] == "first"]
(TURNED_AGAIN,) = [one.number for one in companies() if one.turned and one.turned[2] == "again"]


def of(number, label, period, kind="income"):
    """The statement as it stands."""
    return versions(number, kind, label, period)[-1]


def add_up(number, label, *items, kind="income"):
    """Whether the quarters give the year."""
    return all(
        sum(of(number, label, quarter, kind).items[item] for quarter in QUARTERS)
        == of(number, label, "FY", kind).items[item]
        for item in items
    )


# -- a narrowed tag -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", NARROWED)
def test_revenue_is_the_total_in_every_version_whatever_its_tag_came_to_hold(number):
    truth = Truth(number)
    for label in (2022, 2023, 2024, 2025):
        for period in PERIODS:
            told = versions(number, "income", label, period)
            assert told, (label, period)
            for body in told:
                assert body.items["revenue"] == truth.flow("revenue", label, period), (label, period, body.filed_at)
                assert (body.quality.status, body.revision_status) == ("ok", "initial")
        assert add_up(number, label, "revenue", "gross_profit", "net_income")


# -- a spin-off ---------------------------------------------------------------------------------------------------------

#: Item → column of the books.
INCOME = {
    "revenue": "revenue", "cost_of_revenue": "cost", "operating_income": "operating", "income_tax": "tax",
    "net_income": "income",
}  # fmt: skip


def test_no_version_of_a_statement_mixes_the_group_with_what_is_left():
    truth, label = Truth(SPUN_OFF), companies()[SPUN_OFF].recast[0]
    for period in PERIODS:
        told = versions(SPUN_OFF, "income", label, period)
        left = {item: truth.flow(column, label, period) for item, column in INCOME.items()}
        whole = {item: told[0].items[item] for item in INCOME}
        # The part sells three fifths of what is left of the group.
        assert whole["revenue"] == pytest.approx(1.6 * left["revenue"], rel=1e-3)
        for body in told:
            assert {item: body.items[item] for item in INCOME} in (whole, left), (period, body.filed_at)
            assert body.items["gross_profit"] == body.items["revenue"] - body.items["cost_of_revenue"]


# -- regrouped costs, a business held for sale --------------------------------------------------------------------------


# -- a split ------------------------------------------------------------------------------------------------------------

SHARES, PER_SHARE = "weighted_average_shares_basic", "earnings_per_share_basic"


def basis(number, truth, body):
    """How many of today's shares one of a statement's is counted as, 1 before the split; averages are near true ones."""
    first, last = truth.spans(body.fiscal_year)[body.fiscal_period]
    basic = truth.books.basic[first : last + 1]
    times = body.items[SHARES] / (sum(basic) / len(basic) * 1_000)
    (found,) = [one for one in (1, truth.company.split[1]) if abs(times / one - 1) < 0.01]
    return found


@pytest.mark.parametrize("number", SPLIT)
def test_shares_and_earnings_per_share_of_a_period_are_of_one_side_of_a_split(number):
    truth = Truth(number)
    counted = set()
    for key, found in swept(number).items():
        for body in (version.body for version in found):
            if key.kind == "income" and body is not None and SHARES in body.items and PER_SHARE in body.items:
                counted.add(basis(number, truth, body))
                earned = body.items[PER_SHARE] * body.items[SHARES]
                assert abs(earned - body.items["net_income"]) <= 0.006 * body.items[SHARES], body.period_end
    assert counted == {1, truth.company.split[1]}


# -- a sign -------------------------------------------------------------------------------------------------------------
