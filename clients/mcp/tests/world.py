"""The small simulated world of the documents as a home of its own: the interface in process, or served on a port."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from almanac import serving
from almanac.api.interface import endpoints
from almanac.api.server.app import App
from almanac.catalog.load import load
from almanac.pipeline.explain.companies import explain_company
from almanac.pipeline.explain.macro import Explainer
from almanac.pipeline.explain.scores import explain_scores
from almanac.pipeline.ingest.simulation import take_in
from almanac.pipeline.workplace import SIMULATED, Workplace
from almanac.sandbox.companies.responses import companies
from almanac.sandbox.world import Response, world
from almanac.store.accounts.accounts import Accounts
from almanac.store.observations.reading.reader import Reader
from almanac_client import AsyncAlmanac
from almanac_mcp.caller import Callers
from almanac_mcp.server import AlmanacServer
from tests.support.service import settings

#: The day of this world, and of the clock on the wall, which stands still for limits.
NOW, REAL = "2026-11-20T12:00:00Z", 1_790_000_000
#: The United States' prices, output, confidence and high-yield spread, of which the last two are withheld.
_SERIES = re.compile(r"series_id=SIMUSA(CPI|CPINSA|RGDP|CONF|HY)(&|$)")
_COMPANIES = re.compile(r"CIK00099000(0[1-9]|1[0-2])\.json")
#: Captures of the Japanese curve from there on.
_AUTUMN = 1_788_000_000
#: Nobody listens there: requests go to the application in process.
ADDRESS = "http://127.0.0.1:1"


def _wanted(page: Response) -> bool:
    """Two curves and a handful of series: the whole world takes minutes."""
    if "us-treasury" in page.source:
        return any(f"={year}" in page.url for year in range(2023, 2027))
    return page.fetched_at > _AUTUMN if "mof" in page.source else _SERIES.search(page.url) is not None


def build(home: Path) -> None:
    """The world, an account of each plan with a key, and a key that may read macro data alone."""
    chosen = settings(home, NOW=NOW)
    with Workplace(chosen, kind=SIMULATED) as opened:
        take_in(opened, filter(_wanted, world(chosen.clock(), companies=False)), lambda _: None)
        filed = (page for page in companies(chosen.clock()) if _COMPANIES.search(page.url))
        pages = (Response(p.source, p.url, p.make(), p.fetched_at, p.media_type) for p in filed)
        take_in(opened, pages, lambda _: None)
    accounts = Accounts(chosen.accounts_path)
    keys = []
    for plan in ("free", "pro"):
        accounts.create_account(f"{plan}@example.org", plan, chosen.plans, now=REAL)
        keys.append(f"{plan} {accounts.create_key(f'{plan}@example.org', now=REAL)[0]}")
    keys.append(f"macro {accounts.create_key('pro@example.org', ('macro:read', 'reference:read'), now=REAL)[0]}")
    accounts.close()
    (home / "keys").write_text("\n".join(keys))


@dataclass
class Served:
    """The interface in process, and servers for language models over it."""

    home: Path
    app: App
    keys: dict[str, str] = field(repr=False)

    @staticmethod
    def over(home: Path, **more: str) -> Served:
        chosen = settings(home, NOW=NOW, **more)
        app = App(
            endpoints(Explainer(load(), explain_company), explain_scores),
            Accounts(chosen.accounts_path),
            serving.limiter(chosen),
            Reader(chosen.data_path).view,
            chosen,
            clock=chosen.clock,
            walltime=lambda: float(REAL),
        )
        keys = dict(line.split() for line in (home / "keys").read_text().splitlines())
        return Served(home, app, keys)

    def client(self, key: str = "pro", app: Callable | None = None) -> AsyncAlmanac:
        """The Python client over it."""
        http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app or self.app))
        return AsyncAlmanac(url=ADDRESS, api_key=self.keys[key], http_client=http, max_retries=0, pace=False)

    def server(self, key: str = "pro", app: Callable | None = None) -> AlmanacServer:
        """A server with one key of its own."""
        return AlmanacServer(Callers(lambda: self.client(key, app), own_key=True))
