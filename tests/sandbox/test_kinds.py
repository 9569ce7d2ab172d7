"""Simulated companies that report as few others do, served through the whole pipeline: each shows what it is there for."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from almanac.domain.companies import company_id
from almanac.pipeline.ingest.simulation import take_in
from almanac.pipeline.workplace import SIMULATED, Workplace
from almanac.sandbox.companies.cast import FIRST_CIK, cast
from almanac.sandbox.companies.kinds import ADDED, CHANGED, KINDS, PLACEHOLDER, TAKEN_OVER
from almanac.sandbox.companies.responses import companies
from almanac.sandbox.world import Response
from tests.sandbox.simulated_statements import Truth
from tests.support.service import Service, make_accounts, settings

pytestmark = pytest.mark.slow

FILERS = {one.kind: one for one in cast() if one.kind}
LAST = max(company.number for company in FILERS.values())
YEAR = 2025


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    chosen = settings(tmp_path_factory.mktemp("kinds") / "home")
    cast_in = {company.number for company in FILERS.values()}
    pages = [
        Response(one.source, one.url, one.make(), one.fetched_at, one.media_type)
        for one in sorted(companies(chosen.clock()), key=lambda one: one.fetched_at)
        if "CIK" not in one.url or int(one.url[-15:-5]) - FIRST_CIK in cast_in
    ]
    with Workplace(chosen, SIMULATED) as world:
        take_in(world, pages, lambda _: None)
    make_accounts(chosen)
    one = Service(chosen.home, {})
    yield one
    one.close()


def entity(kind):
    return company_id(FILERS[kind].cik)


def statements(served, kind, name, **params):
    """(last day, frequency) → statement."""
    told = served.ok(f"/companies/{entity(kind)}/financials", limit=100, **params)
    return {(one["periodEnd"][:10], one["frequency"]): one for one in told[name]}


def years(served, kind, name, **params):
    """Fiscal year → statement of the whole year, or of its last day."""
    found = statements(served, kind, name, **params)
    return {int(day[:4]): one for (day, frequency), one in found.items() if frequency == "annual"}


def absent(statement):
    """Why lines are not there."""
    return next(one["detail"] for one in statement["quality"]["checks"] if one["name"] == "absent_with_reason") or ""


def all_years(served, kind, item, column, name="incomeStatements", units=1):
    """Whether the item of each tagged year is what the books have in that column."""
    truth, found = Truth(FILERS[kind].number), years(served, kind, name)
    of = truth.level if name == "balanceSheets" else truth.flow
    assert len(found) >= 4
    return all(one["items"][item] == of(column, label) * units for label, one in found.items())


def test_they_come_after_all_others_and_one_of_each_kind():
    assert [one.kind for one in cast()] == [""] * (len(cast()) - len(KINDS)) + [kind.key for kind in KINDS]
    assert len(cast()) - 1 == LAST


# Styles


def test_a_producer_of_oil_has_all_it_pays_for_wells_and_other_property_and_all_its_revenue(served):
    assert all_years(served, "oil_and_gas", "revenue", "revenue")
    assert all_years(served, "oil_and_gas", "capital_expenditure", "capital", "cashFlowStatements")
    truth = Truth(FILERS["oil_and_gas"].number)
    quarters = statements(served, "oil_and_gas", "cashFlowStatements")
    first = quarters[f"{YEAR + 1}-03-31", "quarterly"]
    assert first["items"]["capital_expenditure"] == truth.flow("capital", YEAR + 1, "Q1")
    # The others the filer gives within longer periods only.
    for period, month in (("Q2", "06-30"), ("Q3", "09-30"), ("Q4", "12-31")):
        told = quarters[f"{YEAR}-{month}", "quarterly"]
        assert told["items"]["capital_expenditure"] == truth.flow("capital", YEAR, period)


def test_a_utility_has_its_regulated_revenue_and_the_rest(served):
    assert all_years(served, "utility", "revenue", "revenue")
    assert all_years(served, "utility", "property_plant_equipment", "plant", "balanceSheets")


def test_a_lessor_has_its_rent_and_what_contracts_bring_beside_and_buys_and_improves(served):
    assert all_years(served, "lessor", "revenue", "revenue")
    assert all_years(served, "lessor", "capital_expenditure", "capital", "cashFlowStatements")


def test_a_brokers_revenue_is_net_of_interest_and_not_its_commissions(served):
    assert all_years(served, "broker", "revenue", "revenue")
    assert all_years(served, "broker", "total_liabilities", "liabilities", "balanceSheets")


def test_a_funds_equity_are_its_net_assets_and_its_revenue_what_its_loans_earn(served):
    assert all_years(served, "fund", "shareholders_equity", "equity", "balanceSheets")
    assert all_years(served, "fund", "revenue", "expenses", units=3)
    assert statements(served, "fund", "cashFlowStatements") == {}


# Parts, and sheets


def test_a_part_alone_is_no_capital_expenditure(served):
    for one in statements(served, "a_part", "cashFlowStatements").values():
        assert not {"capital_expenditure", "free_cash_flow"} & set(one["items"])
        assert absent(one).startswith("no capital_expenditure: only_part_reported: us-gaap:PaymentsToAcquireOther")


def test_a_sheet_that_does_not_balance_is_failed_and_in_no_screen_unless_asked_for(served):
    sheets = statements(served, "unbalanced", "balanceSheets")
    assert {one["quality"]["status"] for one in sheets.values()} == {"failed"}
    assert {
        one["name"] for sheet in sheets.values() for one in sheet["quality"]["checks"] if one["status"] == "failed"
    } == {"balance_identity"}

    def screened(**params):
        rows = served.walk("/equity-screener", filter="total_assets:gt:0", **params)
        return {row["entityId"]: row["quality"] for row in rows}

    assert entity("unbalanced") not in screened()
    assert screened(quality="all")[entity("unbalanced")] == "failed"
    assert screened()[entity("given_anew")] == "ok"


def test_a_sheet_that_a_later_report_gives_anew_is_that_reports_whole(served):
    truth = Truth(FILERS["given_anew"].number)
    label = CHANGED - 1
    first = next(paper for paper in truth.papers if paper.figures and paper.figures.year.label == CHANGED)
    added = round(truth.level("assets", label) * ADDED)
    told = years(served, "given_anew", "balanceSheets")[label]
    assert told["accession"] == first.accession
    assert told["quality"]["status"] == "ok"
    for item, column in (("total_assets", "assets"), ("total_liabilities", "liabilities")):
        assert told["items"][item] == pytest.approx(truth.level(column, label) + added, abs=truth.company.scale)
    before = str(date.fromordinal(first.filed) - timedelta(days=2))
    earlier = years(served, "given_anew", "balanceSheets", as_of=before)[label]
    assert earlier["items"]["total_assets"] == truth.level("assets", label)
    assert earlier["accession"] != told["accession"]


def test_a_count_of_shares_that_holds_a_place_is_absent_until_there_is_one(served):
    company = FILERS["placeholder"]
    sheets = years(served, "placeholder", "balanceSheets")
    first, *others = (sheets[label] for label in sorted(sheets))
    assert "shares_outstanding" not in first["items"]
    assert absent(first).startswith(f"no shares_outstanding: implausible: {PLACEHOLDER:,} shares")
    assert int(first["periodEnd"][:4]) == company.first_year
    assert all(one["items"]["shares_outstanding"] > 1_000 * PLACEHOLDER for one in others)


# Abroad


def test_a_company_that_went_to_dollars_keeps_the_years_it_never_gave_in_them(served):
    truth = Truth(FILERS["other_currency"].number)
    found = years(served, "other_currency", "incomeStatements")
    assert {label: one["currency"] for label, one in found.items()} == {
        label: "USD" if label >= CHANGED - 1 else "EUR" for label in range(2021, YEAR + 1)
    }
    for label, one in found.items():
        in_euros = truth.flow("revenue", label)
        assert one["items"]["revenue"] == (in_euros * 11 // 10 if label >= CHANGED - 1 else in_euros)
    assert {one["quality"]["status"] for one in found.values()} == {"ok"}
    before = statements(served, "other_currency", "incomeStatements", as_of=f"{CHANGED}-01-01")
    assert len(before) == 3
    assert {one["currency"] for one in before.values()} == {"EUR"}


def test_a_company_that_went_to_the_international_standard_is_read_by_both(served):
    assert all_years(served, "other_standard", "revenue", "revenue")
    assert all_years(served, "other_standard", "total_assets", "assets", "balanceSheets")
    for name in ("incomeStatements", "balanceSheets", "cashFlowStatements"):
        assert {one["quality"]["status"] for one in years(served, "other_standard", name).values()} == {"ok"}


def test_a_year_told_in_a_6k_is_a_year(served):
    found = years(served, "annual_6k", "incomeStatements")
    assert sorted(found) == list(range(2021, YEAR + 1))
    assert {one["form"] for one in found.values()} == {"6-K"}
    assert all_years(served, "annual_6k", "revenue", "revenue")
    assert all_years(served, "annual_6k", "net_cash_flow_from_operations", "from_operations", "cashFlowStatements")


# A new holding company


def test_the_ticker_leads_to_the_company_that_a_list_has_it_for_and_to_its_holding_company_since(served):
    owned, holding = FILERS["owned"], FILERS["holding"]
    assert owned.ticker == holding.ticker
    asked = {"alias": owned.ticker}
    assert served.ok("/entities/resolve", **asked, as_of="2015-12-30")["entityId"] == entity("owned")
    assert served.ok("/entities/resolve", **asked)["entityId"] == entity("holding")
    new, old = (served.ok(f"/companies/{entity(kind)}/profile") for kind in ("holding", "owned"))
    assert (new["successorOf"]["entityId"], new["successorOf"]["name"]) == (entity("owned"), owned.name)
    assert old["predecessorOf"]["entityId"] == entity("holding")
    assert new["predecessorOf"] is old["successorOf"] is None


def test_a_screen_has_the_company_and_its_holding_company_once_on_each_day(served):
    def screened(**params):
        rows = served.walk("/equity-screener", filter="revenue_ttm:gt:0", **params)
        return {row["entityId"]: row["ticker"] for row in rows if row["ticker"] == FILERS["holding"].ticker}

    assert list(screened()) == [entity("holding")]
    assert list(screened(as_of=str(TAKEN_OVER - timedelta(days=20)))) == [entity("owned")]
