"""The invented world, built once for all workers; each has a copy, and a test that changes it has one of its own."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import invented_mirror, postgres
from tests.support.service import Service, build, copy, settings

from . import filed, simulated, whole_world


def once(
    tmp_path_factory: pytest.TempPathFactory,
    worker_id: str,
    name: str,
    make: Callable[[Path], None],
    *,
    copied: bool = True,
) -> Path:
    """
    A folder made by the first of all workers that asks; the others wait for it. On a server, `copied` says whether copies of
    its homes have data of their own; else the homes have one database, wherever their folders are.
    """
    root = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        root = root.parent
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = root / name
        if not done.exists():
            making = root / f"{name}.making"
            shutil.rmtree(making, ignore_errors=True)
            with postgres.made_once(copied=copied):
                make(making)
            making.rename(done)
    return done


@pytest.fixture(scope="session")
def worker_id(request: pytest.FixtureRequest) -> str:
    """Name of the xdist worker, `master` without xdist."""
    return str(getattr(request.config, "workerinput", {}).get("workerid", "master"))


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    def make(folder: Path) -> None:
        build(folder / "home", invented_mirror.write(folder / "mirror"))
        filed.add(settings(folder / "home").data_path)

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
