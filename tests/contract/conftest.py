"""The invented world, built once for all workers; each has a copy, and a test that changes it has one of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import invented_mirror
from tests.support.service import Service, build, copy, settings
from tests.support.worlds import once

from . import filed, simulated, whole_world


@pytest.fixture(scope="session")
def worker_id(request: pytest.FixtureRequest) -> str:
    """Name of the xdist worker, `master` without xdist."""
    return str(getattr(request.config, "workerinput", {}).get("workerid", "master"))


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    def make(folder: Path) -> None:
        build(folder / "home", invented_mirror.write(folder / "mirror"))
        filed.add(settings(folder / "home").home / "data.db")

    return once(tmp_path_factory, worker_id, "contract-world", make) / "home"


@pytest.fixture(scope="session")
def service(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service over the invented world. Never changed."""
    one = Service(copy(built, tmp_path_factory.mktemp("service") / "home"))
    yield one
    one.close()


@pytest.fixture
def own(built: Path, tmp_path: Path) -> Iterator[Service]:
    """The same, for a test that changes something."""
    one = Service(copy(built, tmp_path / "home"))
    yield one
    one.close()


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Service]:
    """The service over the yields of the simulated world: seven scopes, four tenors."""
    made = once(tmp_path_factory, worker_id, "contract-sandbox", simulated.build)
    one = Service(copy(made, tmp_path_factory.mktemp("sandbox") / "home"))
    yield one
    one.close()


@pytest.fixture(scope="session")
def built_whole(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    return once(tmp_path_factory, worker_id, "whole-world", whole_world.build, copied=False)


@pytest.fixture(scope="session")
def whole(built_whole: Path) -> Iterator[Service]:
    """The complete simulated world, over the one home, for it is large. Never changed. What it answers counts, not how soon."""
    one = Service(built_whole / "home", more={"REQUEST_SECONDS": "120"})
    yield one
    one.close()
