"""The simulated world and its companies, made and read once for each worker."""

import pytest

from almanac.catalog.records import Catalog
from almanac.sandbox.world import Response, world
from almanac.sandbox.world import catalog as sandbox_catalog
from tests.sandbox import simulated_companies
from tests.sandbox.simulated import NOW, Seen, read


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return sandbox_catalog()


@pytest.fixture(scope="session")
def pages() -> list[Response]:
    return list(world(NOW, companies=False))


@pytest.fixture(scope="session")
def seen(catalog: Catalog, pages: list[Response]) -> Seen:
    return read(catalog, pages)


@pytest.fixture(scope="session")
def whole() -> simulated_companies.World:
    """The pages of all simulated companies."""
    return simulated_companies.made(simulated_companies.NOW)


@pytest.fixture(scope="session")
def everyone(whole: simulated_companies.World) -> list[simulated_companies.Told]:
    return list(whole.everyone())


@pytest.fixture(scope="session")
def ordinary(everyone: list[simulated_companies.Told]) -> list[simulated_companies.Told]:
    """All but those who report as few others do."""
    return [told for told in everyone if not told.company.kind]
