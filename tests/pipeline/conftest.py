import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from almanac.pipeline.context import PipelineContext
from tests.contract.conftest import worker_id
from tests.support import postgres
from tests.support.treasury_home import settings, take
from tests.support.worlds import once

__all__ = ["worker_id"]


def _take(folder: Path) -> None:
    with PipelineContext(settings(folder)) as opened:
        take(opened, folder / "mirror")


@pytest.fixture
def world(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[PipelineContext]:
    """The whole invented mirror, taken in."""
    taken = once(tmp_path_factory, worker_id, "treasury", _take)
    shutil.copytree(taken / "mirror", tmp_path / "mirror")
    postgres.copy(taken / "home", tmp_path / "home")
    with PipelineContext(settings(tmp_path)) as opened:
        yield opened
