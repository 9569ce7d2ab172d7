"""What tests over the publishers' own files share."""

import pytest

from almanac.catalog.load import shipped

from .files import mirror


@pytest.fixture(scope="session")
def catalog():
    return shipped()


@pytest.fixture(scope="session")
def listed():
    """Address by file."""
    return {row["file"]: row["url"] for row in mirror()}
