"""Further companies of the simulated world: as many as are asked for, each with books of its own."""

import itertools
import pickle
from datetime import UTC, datetime
from pathlib import Path

import pytest

from almanac.config import Settings
from almanac.domain.times import wire_time
from almanac.pipeline import processes
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.simulation import made_ahead, take_in
from almanac.pipeline.operate.verify import Checked, verify
from almanac.sandbox.companies.filers import MOST, companies, filer
from almanac.sandbox.companies.responses import pages_of
from almanac.sandbox.economy import Economy
from almanac.sandbox.feeds import treasury
from almanac.sandbox.world import Response, SimulatedPages, world

from .simulated_companies import NOW

#: When there is little to make.
EARLY = int(datetime(2016, 2, 1, tzinfo=UTC).timestamp())


def test_the_pages_of_a_world_are_the_same_with_a_larger_market():
    small, large = world(EARLY), world(EARLY, market=len(companies()) + 3)
    assert len(large) == len(small) + 6
    assert len(world(EARLY, market=10)) == len(small)
    told = [(page.url, page.fetched_at) for page in small._captures]
    assert [(page.url, page.fetched_at) for page in large._captures] == told
    assert len(world(EARLY, companies=False, market=1_000)) < len(small)


def test_pages_begun_elsewhere_are_the_same_and_so_many_at_a_time():
    """Those of companies alone: what makes them is small enough to be sent to another process."""
    economy = Economy(datetime.fromtimestamp(EARLY, UTC).date())
    pages = SimulatedPages(list(itertools.islice(treasury(economy, EARLY), 3)), len(companies()) + 3, NOW)
    begun = []

    def begin(make):
        sent = pickle.dumps(make)
        assert len(sent) < 1_000
        begun.append(pickle.loads(sent))
        return begun[-1]

    given = []
    for page in pages.begun(begin, 2):
        given.append(page)
        assert len(begun) == min(len(given) + 2, len(pages)) - 3
    assert len(given) == len(pages) == 9
    assert given == list(pages)


@pytest.mark.slow
def test_a_market_made_by_two_processes_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "WORTHWHILE", 0)
    held = []
    for count in (1, 2):
        settings = Settings(home=tmp_path / str(count), now=wire_time(NOW), processes=count)
        with PipelineContext(settings, kind=SIMULATED) as opened:
            pages = made_ahead(opened, SimulatedPages([], len(companies()) + 2, NOW))
            assert (pages._begin is None) == (count == 1)
            take_in(opened, pages, lambda _: None)
            assert (opened.processes._pool is None) == (count == 1)
            held.append([
                list(opened.db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3"))
                for table in ("vintages", "series", "topic", "lineage", "statement", "event")
            ])  # fmt: skip
    assert held[0] == held[1]
    assert len(held[0][0]) > 2_000


def test_more_than_have_numbers_are_refused():
    with pytest.raises(ValueError, match="companies: at most 40000, not 40001"):
        world(NOW, market=MOST + 1)


@pytest.mark.slow
def test_a_further_company_is_found_by_its_ticker_and_all_of_it_can_be_verified(tmp_path: Path):
    pages = [
        Response(page.source, page.url, page.make(), page.fetched_at, page.media_type)
        for page in itertools.islice(pages_of(range(len(companies()), len(companies()) + 2), NOW), 4)
    ]
    with PipelineContext(Settings(home=tmp_path, now="2026-11-20T12:00:00Z"), kind=SIMULATED) as loaded:
        take_in(loaded, pages, lambda _: None)
        for number in (len(companies()), len(companies()) + 1):
            company = filer(number)
            entity = f"company_{company.cik:010d}"
            found = loaded.db.execute(
                "SELECT entity FROM alias WHERE scheme = 'ticker' AND alias = ?", (company.ticker,)
            )
            assert list(found) == [(entity,)]
            assert loaded.db.execute("SELECT count(*) FROM statement WHERE entity = ?", (entity,)).get > 50
        # Of companies nothing is kept twice.
        assert loaded.db.execute("SELECT sum(rows) FROM series").get > 2_000
        assert list(verify(loaded, Checked())) == []
