"""The store that measurements make, once for all tests."""

import shutil
from pathlib import Path

import pytest

from bench import data
from tests.support.worlds import once

from ..contract.conftest import built_whole, worker_id  # noqa: F401  (fixtures)


@pytest.fixture(scope="session")
def made(tmp_path_factory, worker_id, built_whole):  # noqa: F811  (asks for the fixtures above)
    """A folder with a store as measurements make it: the simulated world that other slow tests load as well."""

    def make(folder: Path) -> None:
        home = folder / "home-1"

        def fill() -> None:
            shutil.copytree(built_whole / "home", home, dirs_exist_ok=True)
            data.almanac(home, "accounts", "create", data.EMAIL, "--plan", data.PLAN)

        data.make_once(home, data.schema(), fill)

    return once(tmp_path_factory, worker_id, "measured", make)
