"""A small simulated world, served in process, that gives the answers which the documentation shows."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from almanac.api.interface import endpoints
from almanac.api.server.app import App
from almanac.api.use.limits import open_limiter
from almanac.catalog.load import load
from almanac.config import Settings
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.explain.companies import explain_company
from almanac.pipeline.explain.macro import Explainer
from almanac.pipeline.explain.scores import explain_scores
from almanac.pipeline.ingest.simulation import take_in
from almanac.sandbox.companies.responses import company_pages
from almanac.sandbox.world import Response, world
from almanac.store.accounts.accounts import Accounts
from almanac.store.engine.errors import UnavailableError
from almanac.store.observations.reading.reader import Reader, View

#: The day on which the documentation's answers were given.
NOW = "2026-11-20T12:00:00Z"
REAL = 1_790_000_000
#: What the shown requests need of the world: the United States' prices, output and confidence, and two curves.
_SERIES = re.compile(r"series_id=SIMUSA(CPI|CPINSA|RGDP|CONF|HY)(&|$)")
#: And a dozen companies.
_COMPANIES = re.compile(r"CIK00099000(0[1-9]|1[0-2])\.json")

OpenView = Callable[[], AbstractContextManager[View]]


def needed(page: Response) -> bool:
    """Return whether a page is small or asked for; the whole world takes a minute."""
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
    #: Keys of other kinds, by what they lack.
    others: dict[str, str]
    #: The interface over the same accounts, whose data are as this makes them.
    over: Callable[[OpenView], App]

    def get(self, target: str, key: str | None = None) -> httpx2.Response:
        return self.ask("GET", target, key)

    def ask(
        self,
        method: str,
        target: str,
        key: str | None = None,
        app: App | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """An answer, to the key of `make run` unless another is given; an empty one is not sent, nor one beside `headers`."""
        own = {"x-api-key": self.key if key is None else key} if headers is None else headers

        async def ask() -> httpx2.Response:
            transport = httpx2.ASGITransport(app or self.app, raise_app_exceptions=False)
            async with httpx2.AsyncClient(transport=transport, base_url="http://api.example") as client:
                return await client.request(method, target, headers={k: v for k, v in own.items() if v})

        return asyncio.run(ask())


def failing(error: Exception) -> OpenView:
    """Data that cannot be opened."""

    @contextlib.contextmanager
    def view() -> Iterator[View]:
        raise error
        yield  # pragma: no cover - a context manager is a generator

    return view


UNREADABLE = failing(UnavailableError())


def build(home: Path) -> None:
    """Load the small world into a folder, with accounts and a file `keys` of their keys by name."""
    settings = Settings(home=home, now=NOW)
    with PipelineContext(settings, kind=SIMULATED) as opened:
        take_in(opened, filter(needed, world(settings.clock(), companies=False)), lambda _: None)
        filed = (page for page in company_pages(settings.clock()) if _COMPANIES.search(page.url))
        take_in(
            opened, (Response(p.source, p.url, p.make(), p.fetched_at, p.media_type) for p in filed), lambda _: None
        )
    accounts = Accounts(settings.home / "accounts.db")
    accounts.create_account("demo@localhost", "pro", settings.plans, now=REAL)
    accounts.create_account("free@localhost", "free", settings.plans, now=REAL)
    keys = {
        name: accounts.create_key(f"{account}@localhost", scopes, now=REAL)[0]
        for name, account, scopes in (
            ("pro", "demo", ()),
            ("events", "demo", ("events:read",)),
            ("macro", "demo", ("macro:read", "reference:read")),
            ("free", "free", ()),
        )
    }
    accounts.close()
    (home / "keys").write_text("\n".join(f"{name} {key}" for name, key in keys.items()))


def read_keys(home: Path) -> dict[str, str]:
    """Return the keys that `build` made, by name: `pro`, `free`, and the scopes `events` and `macro` of the former."""
    return dict(line.split() for line in (home / "keys").read_text().splitlines())


@contextlib.contextmanager
def served(home: Path) -> Iterator[Service]:
    """Serve the small world of a folder."""
    settings = Settings(home=home, now=NOW)
    keys, catalog = read_keys(home), load()
    accounts = Accounts(settings.home / "accounts.db")
    reader = Reader(settings.home / "data.db")

    def over(view: OpenView) -> App:
        return App(
            endpoints(Explainer(catalog, explain_company), explain_scores),
            accounts,
            open_limiter(settings),
            view,
            settings,
            clock=settings.clock,
            walltime=lambda: float(REAL),
        )

    yield Service(over(reader.view), keys["pro"], {"scopes": keys["events"], "plan": keys["free"]}, over)
    reader.close()
    accounts.close()
