"""All files of the publishers at once, as `almanac ingest --all --from` takes them in: each is read, or named."""

import pytest

from almanac.commands.sources import named_sources
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.mirrored import from_mirror
from almanac.pipeline.operate.verify import Checked, verify
from almanac.store.log import payloads
from tests.support.service import settings

from .files import FOLDER, REAL, mirror

pytestmark = REAL


@pytest.mark.parametrize("companies", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_every_response_is_read_or_named(tmp_path, companies):
    """Of all responses one is quarantined: an error that the Bureau of Labor Statistics sent with status 200."""
    with PipelineContext(settings(tmp_path / "home", NOW="2026-11-22T12:00:00Z")) as world:
        sources = [one for one in named_sources(world.catalog, ()) if companies or one.provider != "sec"]
        outcomes = from_mirror(world, sources, FOLDER, lambda _: None)
        quarantined = [reason for outcome in outcomes for reason in outcome.quarantined.values()]
        assert len(quarantined) == 1
        assert "REQUEST_NOT_PROCESSED" in quarantined[0]
        assert [outcome.failed for outcome in outcomes if outcome.failed] == []
        taken = sum(o.folded + o.known + o.ignored_responses + o.quarantined_responses for o in outcomes)
        assert taken == len([row for row in mirror() if companies or "sec.gov/" not in row["url"]])
        # One file is an excerpt, and its head says of how many rows.
        assert [(one.source, one.kind, one.name) for one in payloads.unread(world.db)] == [
            ("world-bank", "missing", "253 of 330 rows of indicator NY.GDP.MKTP.CN")
        ]
        assert list(verify(world, Checked())) == []
