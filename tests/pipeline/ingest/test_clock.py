"""A clock that is behind what the store has: nothing is asked, for it would be kept and never served. All is invented."""

from datetime import datetime

import pytest
from click.testing import CliRunner

from almanac.__main__ import main
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import ClockBehindError, check_clock
from tests.support.treasury_home import FIRST, GOOD, SOURCE, THIRD, settings, take, url, write_mirror

AHEAD, BEHIND = "2026-01-08T12:00:00Z", "2026-01-07T12:00:00Z"
TOLD = f"the clock says {BEHIND} and the newest capture of the store is of 2026-01-07T23:31:00Z"


@pytest.fixture
def home(tmp_path):
    with PipelineContext(settings(tmp_path)) as world:
        take(world, tmp_path / "mirror", GOOD)
    return tmp_path / "home"


def almanac(home, now, *arguments):
    return CliRunner(env={"ALMANAC_HOME": str(home), "ALMANAC_NOW": now}).invoke(main, [str(one) for one in arguments])


def test_nothing_is_asked_of_a_publisher(home, monkeypatch):
    monkeypatch.setattr("almanac.pipeline.ingest.asking.Fetcher", None)  # nobody gets as far
    result = almanac(home, BEHIND, "ingest", SOURCE)
    assert (result.exit_code, TOLD in result.stderr) == (1, True)
    # A worker says it in the health of the source.
    assert almanac(home, BEHIND, "ingest", "--due", SOURCE).exit_code == 1
    assert TOLD in almanac(home, BEHIND, "status").stdout.replace("\n", " ")


def test_a_mirrored_response_that_counts_as_fetched_now_is_refused_and_one_with_its_time_is_taken_in_its_order(
    home, tmp_path
):
    undated = write_mirror(tmp_path / "undated", [(url(2026), "", THIRD, 200)])
    result = almanac(home, BEHIND, "ingest", SOURCE, "--from", undated)
    assert (result.exit_code, TOLD in result.stderr) == (1, True)
    dated = write_mirror(tmp_path / "dated", [(url(2026), "2026-01-05T23:40:00Z", FIRST, 200)])
    assert almanac(home, BEHIND, "ingest", SOURCE, "--from", dated).exit_code == 0
    assert almanac(home, AHEAD, "ingest", SOURCE, "--from", undated).exit_code == 0


def test_hosts_that_ask_other_sources_may_differ_by_a_little(home, tmp_path):
    newest = int(datetime.fromisoformat("2026-01-07T23:31:00Z").timestamp())
    with PipelineContext(settings(tmp_path)) as world:
        check_clock(world.db, SOURCE, newest)
        check_clock(world.db, "fred", newest - 3_600)
        for source, now in ((SOURCE, newest - 1), ("fred", newest - 3_601)):
            with pytest.raises(ClockBehindError):
                check_clock(world.db, source, now)
