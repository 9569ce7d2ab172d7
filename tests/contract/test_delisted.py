"""Simulated companies that were taken off their exchange: an earlier list of tickers still tells what they were listed under."""

from datetime import UTC, date, datetime, timedelta

import pytest

from almanac.domain.companies import company_id
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.simulation import take_in
from almanac.sandbox.companies.filers import FIRST_CIK, companies
from almanac.sandbox.companies.responses import company_pages
from almanac.sandbox.world import Response
from tests.support.service import Service, copy, make_accounts, settings
from tests.support.worlds import once

pytestmark = pytest.mark.slow

#: Bought in January 2026, bought in June 2025, and still there.
JANUARY, JUNE, LISTED = 181, 160, 1
EVERYONE = "revenue_ttm:gt:0"


def build(home):
    chosen = settings(home)
    pages = [
        Response(one.source, one.url, one.make(), one.fetched_at, one.media_type)
        for one in sorted(company_pages(chosen.clock()), key=lambda one: one.fetched_at)
        if "CIK" not in one.url or int(one.url[-15:-5]) - FIRST_CIK in {JANUARY, JUNE, LISTED}
    ]
    with PipelineContext(chosen, SIMULATED) as world:
        take_in(world, pages, lambda _: None)
    make_accounts(chosen)


@pytest.fixture(scope="module")
def listed(tmp_path_factory, worker_id):
    made = once(tmp_path_factory, worker_id, "contract-delisted", build)
    one = Service(copy(made, tmp_path_factory.mktemp("delisted") / "home"))
    yield one
    one.close()


def entity(number):
    return company_id(companies()[number].cik)


def screened(service, **params):
    return {row["entityId"]: row["ticker"] for row in service.walk("/equity-screener", filter=EVERYONE, **params)}


def told(service, number, **params):
    return service.ok(f"/companies/{entity(number)}/financials", limit=1, **params)["ticker"]


def test_today_those_who_are_gone_have_no_ticker(listed):
    assert [told(listed, number) for number in (JANUARY, JUNE, LISTED)] == [None, None, companies()[LISTED].ticker]
    found = screened(listed)
    assert found[entity(LISTED)] == companies()[LISTED].ticker
    assert [found.get(entity(number)) for number in (JANUARY, JUNE)] == [None, None]


@pytest.mark.parametrize("number", [JANUARY, JUNE])
def test_until_the_day_it_was_taken_off_its_exchange_a_company_shows_its_last_ticker(listed, number):
    gone, ticker = companies()[number].gone[0], companies()[number].ticker
    before, after = str(gone - timedelta(days=2)), str(gone + timedelta(days=10))
    assert told(listed, number, as_of=before) == screened(listed, as_of=before)[entity(number)] == ticker
    assert told(listed, number, as_of=after) is None
    assert (
        screened(listed, as_of=after)[entity(number)] == ticker
    )  # a past screen names a company by the last one it had


def test_of_two_who_were_listed_the_statements_of_the_one_not_gone_yet_show_its_ticker(listed):
    between = "2025-12-01"
    assert companies()[JUNE].gone[0] < date.fromisoformat(between) < companies()[JANUARY].gone[0]
    found = screened(listed, as_of=between)
    assert found[entity(JANUARY)] == companies()[JANUARY].ticker
    assert found[entity(JUNE)] == companies()[JUNE].ticker
    assert [told(listed, number, as_of=between) for number in (JANUARY, JUNE)] == [companies()[JANUARY].ticker, None]


def test_the_first_list_of_tickers_stays_the_same_to_the_byte():
    early, late = (
        [one for one in company_pages(int(datetime(year, 1, 4, tzinfo=UTC).timestamp())) if "CIK" not in one.url]
        for year in (2016, 2026)
    )
    assert (len(early), len(late)) == (1, 2)
    assert (early[0].fetched_at, early[0].make()) == (late[0].fetched_at, late[0].make())
