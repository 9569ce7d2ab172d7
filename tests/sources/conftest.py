"""The simulated world, made and read once for each worker."""

from __future__ import annotations

import pytest

from almanac.catalog.load import Catalog, load
from almanac.sources.sandbox import Page, catalog_part, world

from .simulated import NOW, Seen, read


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load([catalog_part()])


@pytest.fixture(scope="session")
def pages() -> list[Page]:
    return list(world(NOW))


@pytest.fixture(scope="session")
def seen(catalog: Catalog, pages: list[Page]) -> Seen:
    return read(catalog, pages)
