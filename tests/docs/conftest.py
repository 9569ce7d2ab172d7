"""A small simulated world, served in process, for the requests that the documentation shows."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
import pytest

from almanac import serving
from almanac.api.interface import endpoints
from almanac.api.server.app import App
from almanac.config import Settings
from almanac.pipeline.explain.companies import explain_company
from almanac.pipeline.explain.macro import Explainer
from almanac.pipeline.explain.scores import explain_scores
from almanac.pipeline.ingest.simulation import take_in
from almanac.pipeline.world import SIMULATED, World
from almanac.sandbox.companies.responses import companies
from almanac.sandbox.world import Response, world
from almanac.store.accounts.accounts import Accounts
from almanac.store.observations.reading.reader import Reader

#: The day on which the documentation's answers were given.
NOW = "2026-11-20T12:00:00Z"
REAL = 1_790_000_000
#: What the shown requests need of the world: the United States' prices, output and confidence, and two curves.
_SERIES = re.compile(r"series_id=SIMUSA(CPI|CPINSA|RGDP|CONF|HY)(&|$)")
#: And a dozen companies.
_COMPANIES = re.compile(r"CIK00099000(0[1-9]|1[0-2])\.json")


def needed(page: Response) -> bool:
    """Whether a page is small or asked for; the whole world takes a minute."""
    if "us-treasury" in page.source:
        return any(f"={year}" in page.url for year in (2023, 2024, 2025, 2026))
    if "mof" in page.source:
        return page.fetched_at > 1_788_000_000
    return _SERIES.search(page.url) is not None


@dataclass(frozen=True)
class Service:
    """The interface over the small world, on the plan of `make run`."""

    app: App
    key: str

    def get(self, target: str, key: str | None = None) -> httpx2.Response:
        async def ask() -> httpx2.Response:
            transport = httpx2.ASGITransport(self.app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://api.example") as client:
                return await client.get(target, headers={"x-api-key": key or self.key})

        return asyncio.run(ask())


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    settings = Settings(home=tmp_path_factory.mktemp("docs"), now=NOW)
    with World(settings, kind=SIMULATED) as opened:
        take_in(opened, filter(needed, world(settings.clock(), companies=False)), lambda _: None)
        filed = (page for page in companies(settings.clock()) if _COMPANIES.search(page.url))
        take_in(
            opened, (Response(p.source, p.url, p.make(), p.fetched_at, p.media_type) for p in filed), lambda _: None
        )
        catalog = opened.catalog
    accounts = Accounts(settings.accounts_path)
    accounts.create_account("demo@localhost", "pro", settings.plans, now=REAL)
    key, _ = accounts.create_key("demo@localhost", now=REAL)
    limiter = serving.limiter(settings, None)
    yield Service(
        App(
            endpoints(Explainer(catalog, explain_company), explain_scores),
            accounts,
            limiter,
            Reader(settings.data_path).view,
            settings,
            clock=settings.clock,
            walltime=lambda: float(REAL),
        ),
        key,
    )
    accounts.close()
