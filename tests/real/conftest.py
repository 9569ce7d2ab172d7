"""What tests over the publishers' own files share; all but the values that were checked by hand are slow."""

from pathlib import Path

import pytest

from almanac.catalog.load import shipped

from .files import mirror


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        by_hand = item.originalname.endswith("checked_by_hand")
        if item.path.parent == Path(__file__).parent and not by_hand and not item.get_closest_marker("deep"):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def catalog():
    return shipped()


@pytest.fixture(scope="session")
def listed():
    """Address by file."""
    return {row["file"]: row["url"] for row in mirror()}
