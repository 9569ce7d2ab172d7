"""The small simulated world, once for all tests of the documentation."""

from collections.abc import Iterator

import pytest

from tests.contract.conftest import worker_id
from tests.support.service import copy
from tests.support.worlds import once
from tools.docs.served import Service, build, served

__all__ = ["worker_id"]


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Service]:
    home = once(tmp_path_factory, worker_id, "documented", build)
    with served(copy(home, tmp_path_factory.mktemp("docs") / "home")) as one:
        yield one
