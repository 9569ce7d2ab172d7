"""A first load into an empty PostgreSQL, whose planner knows nothing yet: what a company costs depends on that company alone."""

import pytest

from almanac.config import Settings
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.simulation import take_in
from almanac.sandbox.companies.filers import companies
from almanac.sandbox.companies.responses import pages_of
from almanac.sandbox.world import Response
from tests.support.places import POSTGRES, place_for

pytestmark = [*POSTGRES.marks]
NOW = "2017-11-20T12:00:00Z"


def pages(count, now):
    """What so many companies file."""
    for one in pages_of(range(len(companies()), len(companies()) + count), now):
        yield Response(one.source, one.url, one.make(), one.fetched_at, one.media_type)


def rows_read(place):
    """Rows of tables and entries of indexes that were ever read at a place: a connection tells them at its end at the latest."""
    import psycopg

    with psycopg.connect(place.url, autocommit=True) as db:
        sql = (
            "SELECT (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes WHERE schemaname = current_schema())"
            " + (SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_user_tables WHERE schemaname = current_schema())"
        )
        return int(db.execute(sql).fetchone()[0])


def load(place, home, count):
    """Take in so many companies, in an empty database. Returns rows read for each, and vintages of each."""
    settings = Settings(home=home, database_url=place.url, now=NOW, processes=1)
    with PipelineContext(settings, kind=SIMULATED) as world:
        world.db.truncate_log = lambda _: True  # which would count the rows once more
        take_in(world, pages(count, world.settings.clock()), lambda _: None)
        (vintages,) = world.db.execute("SELECT count(*) FROM vintages").fetchone()
        (found,) = world.db.execute("SELECT count(*) FROM company").fetchone()
        world.db.link.close()  # not to be used again: at its end a connection tells what it has read
    assert count * 0.8 <= found <= count
    return rows_read(place) / found, vintages / found


@pytest.mark.slow
def test_ten_times_the_companies_take_ten_times_the_rows(tmp_path):
    read = {}
    for count in (6, 60):
        home = tmp_path / str(count)
        home.mkdir()
        with place_for("postgres", home / "data.db") as place:
            read[count], vintages = load(place, home, count)
            assert vintages > 100
    assert read[60] < 1.5 * read[6], read
