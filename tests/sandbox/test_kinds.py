"""Simulated companies that report as few others do, served through the whole pipeline: each shows what it is there for."""

from datetime import timedelta

import pytest

from almanac.domain.companies import company_id
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.simulation import take_in
from almanac.sandbox.companies.filers import FIRST_CIK, companies
from almanac.sandbox.companies.responses import company_pages
from almanac.sandbox.world import Response
from tests.support.service import Service, make_accounts, settings

pytestmark = pytest.mark.slow

FILERS = {one.kind: one for one in companies() if one.kind}
LAST = max(company.number for company in FILERS.values())


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    chosen = settings(tmp_path_factory.mktemp("kinds") / "home")
    cast_in = {company.number for company in FILERS.values()}
    pages = [
        Response(one.source, one.url, one.make(), one.fetched_at, one.media_type)
        for one in sorted(company_pages(chosen.clock()), key=lambda one: one.fetched_at)
        if "CIK" not in one.url or int(one.url[-15:-5]) - FIRST_CIK in cast_in
    ]
    with PipelineContext(chosen, SIMULATED) as world:
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


def test_they_come_after_all_others_and_one_of_each_kind():
    assert [one.kind for one in companies()] == [""] * (len(companies()) - len(FILERS)) + list(FILERS)
    assert len(companies()) - 1 == LAST
    assert len(FILERS) == 16


# Styles


# Parts, and sheets


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


# Abroad


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
    assert list(screened(as_of=str(FILERS["owned"].gone[0] - timedelta(days=20)))) == [entity("owned")]
