"""The store that measurements make, small: the yields that two simulated publishers print, of every year."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.simulation import take_in
from almanac.sandbox.economy import Economy
from almanac.sandbox.feeds import mof, treasury
from almanac.sandbox.world import Response
from bench import data
from tests.support.service import settings


def fill(home: Path) -> None:
    """Take in every page of both, and make the account that measures."""
    with PipelineContext(settings(home), SIMULATED) as world:
        now = world.settings.clock()
        economy = Economy(datetime.fromtimestamp(now, UTC).date())
        captures = sorted([*treasury(economy, now), *mof(economy, now)], key=lambda one: one.fetched_at)
        pages = (Response(one.source, one.url, one.make(), one.fetched_at, one.media_type) for one in captures)
        take_in(world, pages, lambda _: None)
    data.almanac(home, "accounts", "create", data.EMAIL, "--plan", data.PLAN)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder with a store as measurements make it."""
    home = tmp_path / "made" / "home-1"
    data.make_once(home, data.schema(), lambda: fill(home))
    return tmp_path / "made"
