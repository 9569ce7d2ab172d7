"""The small simulated world, once for all tests of the documentation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .served import Service, served


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with served(tmp_path_factory.mktemp("docs")) as one:
        yield one
