"""Mirror folders: files that no source reads are named, and contents are read in groups. All is invented."""

import weakref

import pytest

from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import in_groups
from almanac.pipeline.ingest.mirrored import UNCLAIMED
from almanac.pipeline.ingest.outcome import exit_code
from almanac.pipeline.processes import Job
from almanac.store.raw.captures import Capture
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


@pytest.mark.parametrize("most", [1, 3])
def test_a_group_is_let_go_of_before_the_next_one_is_read(most):
    """The consumer still names one group while the next is read, and contents are many times as large as payloads."""

    class Content:
        ignored = None

    alive, found = weakref.WeakSet(), []

    def read():
        found.append(len(alive))
        alive.add(content := Content())
        return content

    capture = Capture("a", "sec", "https://publisher.example", "b", 1, 1, "text/csv", 1)
    groups = [len(group) for group in in_groups(((capture, Job(read, ())) for _ in range(9)), most, 1 << 20)]
    assert (sum(groups), max(found)) == (9, most - 1)
