"""What a mirror folder holds that no source reads is named, beside what became of the rest. All is invented."""

import pytest

from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.mirrored import UNCLAIMED
from almanac.pipeline.ingest.outcome import exit_code
from tests.support.treasury_home import GOOD, settings, take

STRANGE = "https://www.example.org/yields.xml"


@pytest.mark.parametrize("sources", [("us-treasury-par",), ("us-treasury-par", "bis")])
def test_a_response_that_no_source_reads_is_named(tmp_path, sources):
    """One of a source that was not asked for is none of these."""
    bis = "https://stats.bis.org/api/v2/data/dataflow/BIS/WS_CBPOL/1.0/M.AU"
    rows = [*GOOD, (STRANGE, "2026-01-07T23:35:00Z", b"x", 200), (bis, "2026-01-07T23:35:00Z", b"x", 404)]
    with PipelineContext(settings(tmp_path)) as world:
        *_, last = outcomes = take(world, tmp_path / "mirror", rows, sources)
        assert [one.source for one in outcomes] == [*sources, UNCLAIMED]
        assert last.ignored == {STRANGE: "no source reads this address"}
        assert exit_code(outcomes) == 0
        assert [one.source for one in take(world, tmp_path / "mirror", rows[:-2], sources)] == list(sources)
