"""Mirrors, and homes they were taken into undisturbed: made once for all workers, never changed."""

from pathlib import Path

import pytest

from tests.support.paths import REAL_DATA
from tests.support.processes import ingest, run
from tests.support.worlds import once

from ..contract.conftest import worker_id  # noqa: F401  (a fixture)
from .mirrors import SOURCES, TREASURY_SOURCE, Response, large, write, year_file, year_url

SMALL = [
    Response(year_url(2024), year_file(2024), "2025-01-02T06:00:00Z"),
    Response(year_url(2025), year_file(2025), "2026-01-02T06:00:00Z"),
    Response(year_url(2026), year_file(2026, "2026-11-05"), "2026-11-05T23:30:00Z"),
    Response(year_url(2026), year_file(2026, "2026-11-12"), "2026-11-12T23:30:00Z"),
]


@pytest.fixture(scope="session")
def small_mirror(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:  # noqa: F811  (a fixture asks for another by its name)  (the fixture)
    return once(tmp_path_factory, worker_id, "faults-small", lambda folder: write(folder, SMALL) and None)


@pytest.fixture(scope="session")
def small_home(tmp_path_factory: pytest.TempPathFactory, worker_id: str, small_mirror: Path) -> Path:  # noqa: F811  (a fixture asks for another by its name)
    def make(folder: Path) -> None:
        ingest(folder / "home", small_mirror, (TREASURY_SOURCE,))

    return once(tmp_path_factory, worker_id, "faults-small-home", make) / "home"


@pytest.fixture(scope="session")
def large_mirror(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:  # noqa: F811  (a fixture asks for another by its name)
    return once(tmp_path_factory, worker_id, "faults-large", lambda folder: write(folder, large()) and None)


@pytest.fixture(scope="session")
def large_home(tmp_path_factory: pytest.TempPathFactory, worker_id: str, large_mirror: Path) -> Path:  # noqa: F811  (a fixture asks for another by its name)
    """The undisturbed run, which verify finds sound."""

    def make(folder: Path) -> None:
        ingest(folder / "home", large_mirror, SOURCES)
        assert run(folder / "home", "verify").stdout.startswith("no problem; ")

    return once(tmp_path_factory, worker_id, "faults-large-home", make) / "home"


@pytest.fixture(scope="session")
def real_mirror() -> Path:
    folder = REAL_DATA
    if not (folder / "mirror.csv").exists():
        pytest.skip("the publishers' own files are not beside the repository")
    return folder
