from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from almanac.pipeline.world import World
from tests.support.treasury_home import settings, take


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """The whole invented mirror, taken in."""
    with World(settings(tmp_path)) as opened:
        take(opened, tmp_path / "mirror")
        yield opened
