"""Statements of simulated companies whose later reports show a year otherwise: other tags, another group, shares, a sign."""

from __future__ import annotations

import pytest

from almanac.sandbox.companies.cast import cast
from tests.sandbox import simulated_companies
from tests.sandbox.simulated_statements import Truth, failed, filer, swept, versions
from tests.support.filer import day

QUARTERS = ("Q1", "Q2", "Q3", "Q4")
PERIODS = (*QUARTERS, "FY")
NARROWED = [one.number for one in cast() if one.recast and one.recast[1] == "narrowed"]
(SPUN_OFF,) = [one.number for one in cast() if one.recast and one.recast[1] == "spun_off"]
#: Those of which the year's quarters are tagged, as shown first and anew.
RECAST = [
    one.number for one in cast() if one.recast and one.recast[1] in {"regrouped", "discontinued"} and one.recast[0] > 2022
]  # fmt: skip
SPLIT = [one.number for one in cast() if one.split]
(TURNED_FIRST,) = [one.number for one in cast() if one.turned and one.turned[2] == "first"]
(TURNED_AGAIN,) = [one.number for one in cast() if one.turned and one.turned[2] == "again"]


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
def test_pages_hold_a_year_that_became_a_slice_under_its_tag_and_the_total_under_another(number):
    label = cast()[number].recast[0]
    rows = simulated_companies.made(simulated_companies.NOW, [number]).told(number).rows
    sales = [
        (row.fy, row.tag, row.val)
        for row in rows
        if row.form == "10-K"
        and row.tag.startswith("us-gaap:Revenue")
        and row.end.startswith(str(label))
        and row.start[:4] == str(label)
    ]
    total = Truth(number).flow("revenue", label)
    (own, usual, first), (_, *anew), (_, *whole) = sorted(sales, key=lambda one: (one[0], one[2]))
    assert (own, first) == (label, total)
    assert anew[0] == usual
    assert 0.12 < anew[1] / total < 0.14
    assert whole == ["us-gaap:Revenues", total]


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


@pytest.mark.parametrize("number", NARROWED)
def test_no_last_quarter_is_taken_from_a_year_that_became_a_slice(number):
    """The annual report gives a slice in the tag of the nine months, and the total in another."""
    label = cast()[number].recast[0] + 1
    for body in versions(number, "income", label, "Q4"):
        line = body.derived_items["revenue"]
        assert line.method in {"ytd_difference", "fy_minus_9m"}
        assert not [name for name in line.derived_from if "contract" in name and name.endswith(":A")]


# -- a spin-off ---------------------------------------------------------------------------------------------------------

#: Item → column of the books.
INCOME = {
    "revenue": "revenue", "cost_of_revenue": "cost", "operating_income": "operating", "income_tax": "tax",
    "net_income": "income",
}  # fmt: skip
CASH_FLOW = {"net_cash_flow_from_operations": "from_operations", "capital_expenditure": "capital"}


def test_a_year_is_shown_without_the_part_that_was_spun_off_line_by_line():
    truth, label = Truth(SPUN_OFF), cast()[SPUN_OFF].recast[0]
    for period in PERIODS:
        for kind, columns in (("income", INCOME), ("cash_flow", CASH_FLOW)):
            first, *_, last = versions(SPUN_OFF, kind, label, period)
            for item, column in columns.items():
                left = truth.flow(column, label, period)
                assert last.items[item] == left, (period, item)
                assert first.items[item] > left or item == "capital_expenditure", (period, item)
            assert last.revision_status == "revised"
        assert of(SPUN_OFF, label, period).quality.status == "ok", period
    assert add_up(SPUN_OFF, label, *INCOME, "gross_profit")
    assert add_up(SPUN_OFF, label, *CASH_FLOW, kind="cash_flow")


def test_no_version_of_a_statement_mixes_the_group_with_what_is_left():
    truth, label = Truth(SPUN_OFF), cast()[SPUN_OFF].recast[0]
    for period in PERIODS:
        told = versions(SPUN_OFF, "income", label, period)
        left = {item: truth.flow(column, label, period) for item, column in INCOME.items()}
        whole = {item: told[0].items[item] for item in INCOME}
        # The part sells three fifths of what is left of the group.
        assert whole["revenue"] == pytest.approx(1.6 * left["revenue"], rel=1e-3)
        for body in told:
            assert {item: body.items[item] for item in INCOME} in (whole, left), (period, body.filed_at)
            assert body.items["gross_profit"] == body.items["revenue"] - body.items["cost_of_revenue"]


def test_a_year_whose_quarters_were_shown_anew_before_it_is_marked_until_it_is_too():
    label = cast()[SPUN_OFF].recast[0]
    first, *between, last = versions(SPUN_OFF, "income", label, "FY")
    assert (first.quality.status, last.quality.status) == ("ok", "ok")
    assert len(between) == 3
    for body in between:
        assert "revenue" in failed(body)["quarters_sum_to_year"]


def test_the_year_before_a_spin_off_keeps_the_group_s_whole_balance_sheet():
    """The annual report after it gives the cash and the equity of that day only, without the part."""
    label = cast()[SPUN_OFF].recast[0] - 1
    told = versions(SPUN_OFF, "balance", label, "FY")
    rows = simulated_companies.made(simulated_companies.NOW, [SPUN_OFF]).told(SPUN_OFF).rows
    anew = [r for r in rows if (r.fy, r.fp, r.end) == (label + 2, "FY", told[0].period_end[:10]) and r.start is None]
    assert {row.tag.partition(":")[2] for row in anew} >= {
        "CashAndCashEquivalentsAtCarryingValue",
        "StockholdersEquity",
    }
    assert "us-gaap:Assets" not in {row.tag for row in anew}
    for body in told:
        assert body.items == told[0].items
    # From then on the sheet names the lines that are given without it.
    assert [failed(body).keys() for body in told[:-1]] == [set()] * (len(told) - 1)
    assert "shareholders_equity: us-gaap:StockholdersEquity" in failed(told[-1])["one_basis"]
    after = of(SPUN_OFF, label + 1, "FY", "balance")
    assert after.items["total_assets"] == Truth(SPUN_OFF).level("assets", label + 1)
    assert after.items["shareholders_equity"] == Truth(SPUN_OFF).level("equity", label + 1)


# -- regrouped costs, a business held for sale --------------------------------------------------------------------------


@pytest.mark.parametrize("number", RECAST)
def test_a_recast_year_and_its_quarters_end_on_one_basis(number):
    truth, (label, how) = Truth(number), cast()[number].recast
    for period in PERIODS:
        first, *_, last = versions(number, "income", label, period)
        assert (first.items["revenue"], last.items["net_income"]) == (
            truth.flow("revenue", label, period), truth.flow("income", label, period),
        )  # fmt: skip
        assert last.quality.status == "ok", (period, failed(last))
        assert last.revision_status == "revised"
        gross = last.items["revenue"] - last.items["cost_of_revenue"]
        assert last.items["gross_profit"] == gross != first.items["gross_profit"]
        if how == "regrouped":
            assert last.items["revenue"] == first.items["revenue"]
            assert last.items["operating_income"] == first.items["operating_income"]
        else:  # nine hundredths of the business
            assert last.items["revenue"] == pytest.approx(0.91 * first.items["revenue"], rel=1e-3)
    assert add_up(number, label, "revenue", "cost_of_revenue", "gross_profit", "operating_income", "net_income")


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


@pytest.mark.parametrize("number", SPLIT)
def test_a_statement_is_marked_where_a_split_goes_between_it_and_its_neighbour_or_its_year(number):
    truth = Truth(number)
    standing = {
        (body.fiscal_year, body.fiscal_period): body
        for key, found in swept(number).items()
        if key.kind == "income" and (body := found[-1].body) is not None and SHARES in body.items
    }
    bases = {name: basis(number, truth, body) for name, body in standing.items()}
    marked = set()
    for (label, period), body in standing.items():
        if period == "FY":
            beside = [(label - 1, "FY")]
            if all((label, quarter) in bases for quarter in QUARTERS):
                beside += [(label, quarter) for quarter in QUARTERS]
        else:
            before = QUARTERS.index(period) - 1
            beside = [(label, "FY"), (label, QUARTERS[before]) if before >= 0 else (label - 1, "Q4")]
        apart = any(bases.get(other, bases[label, period]) != bases[label, period] for other in beside)
        assert ("shares_of_one_basis" in failed(body)) is apart, (label, period)
        marked |= {(label, period)} if apart else set()
    assert marked
    when = truth.company.split[0]
    # Nothing is left to mark two years after it, nor four years before.
    assert {label for label, _ in marked} <= set(range(when.year - 3, when.year + 2))


# -- a sign -------------------------------------------------------------------------------------------------------------


def test_a_sign_that_the_next_annual_report_corrects_is_marked_until_then():
    label = cast()[TURNED_FIRST].turned[0]
    paid = Truth(TURNED_FIRST).flow("tax", label)
    wrong, right = versions(TURNED_FIRST, "income", label, "FY")
    assert (wrong.items["income_tax"], wrong.quality.status) == (-paid, "warning")
    assert failed(wrong)["signs_agree"].startswith(f"tax {-paid:,} between ")
    assert (right.items["income_tax"], right.quality.status) == (paid, "ok")
    assert (right.revision_status, right.form) == ("revised", "10-K")
    assert int(right.filed_at[:4]) == label + 2
    # The other statements of the year have no tax, and no mark.
    assert {body.quality.status for body in versions(TURNED_FIRST, "cash_flow", label, "FY")} == {"ok"}


def test_the_last_quarter_out_of_a_year_with_the_wrong_sign_is_marked_until_it_is_corrected():
    label = cast()[TURNED_FIRST].turned[0]
    truth = Truth(TURNED_FIRST)
    wrong, right = versions(TURNED_FIRST, "income", label, "Q4")
    before = sum(truth.flow("tax", label, quarter) for quarter in QUARTERS[:3])
    assert (wrong.items["income_tax"], wrong.quality.status) == (-truth.flow("tax", label) - before, "warning")
    assert failed(wrong)["signs_agree"] == (
        "income_tax is a difference from a year that has it with a sign that its other lines contradict"
    )
    assert (right.items["income_tax"], right.quality.status) == (truth.flow("tax", label, "Q4"), "ok")
    assert add_up(TURNED_FIRST, label, "income_before_tax", "income_tax", "net_income")


def test_a_loss_that_the_next_report_tags_as_a_gain_stays_and_is_marked():
    label = cast()[TURNED_AGAIN].turned[0]
    truth = Truth(TURNED_AGAIN)
    lost = truth.flow("income", label)
    assert lost < 0
    told = versions(TURNED_AGAIN, "income", label, "FY")
    assert {body.items["net_income"] for body in told} == {lost}
    assert [body.quality.status for body in told] == ["ok", "warning"]
    assert failed(told[-1])["signs_agree"] == "net_income: us-gaap:NetIncomeLoss was filed with the other sign"
    assert -lost in [vintage.value for vintage in filer(TURNED_AGAIN).facts["us-gaap:NetIncomeLoss"][year_of(told[-1])]]
    assert add_up(TURNED_AGAIN, label, "net_income", "income_tax")


def test_a_slip_in_the_column_of_the_year_before_costs_the_report_s_own_last_quarter_nothing():
    label = cast()[TURNED_AGAIN].turned[0] + 1
    truth = Truth(TURNED_AGAIN)
    for body in versions(TURNED_AGAIN, "income", label, "Q4"):
        assert (body.items["net_income"], body.quality.status) == (truth.flow("income", label, "Q4"), "ok")
    assert add_up(TURNED_AGAIN, label, "net_income")


def year_of(body):
    """The days of a statement, first and last, as its facts have them."""
    return day(body.period_start[:10]), day(body.period_end[:10])
