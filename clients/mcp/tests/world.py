"""The small simulated world of the documents as a home of its own: the interface in process, or served on a port."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from almanac.api.interface import endpoints
from almanac.api.server.app import App
from almanac.api.use.limits import open_limiter
from almanac.catalog.load import load
from almanac.pipeline.explain.companies import explain_company
from almanac.pipeline.explain.macro import Explainer
from almanac.pipeline.explain.scores import explain_scores
from almanac.store.accounts.accounts import Accounts
from almanac.store.observations.reading.reader import Reader
from almanac_client import AsyncAlmanac
from almanac_mcp.caller import Callers
from almanac_mcp.server import AlmanacServer
from tests.support.service import settings
from tools.docs.served import NOW, REAL, build, read_keys

__all__ = ["NOW", "REAL", "Served", "build"]

#: Nobody listens there: requests go to the application in process.
ADDRESS = "http://127.0.0.1:1"


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
            Accounts(chosen.home / "accounts.db"),
            open_limiter(chosen),
            Reader(chosen.home / "data.db").view,
            chosen,
            clock=chosen.clock,
            walltime=lambda: float(REAL),
        )
        return Served(home, app, read_keys(home))

    def client(self, key: str = "pro", app: Callable | None = None) -> AsyncAlmanac:
        """The Python client over it."""
        http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app or self.app))
        return AsyncAlmanac(url=ADDRESS, api_key=self.keys[key], http_client=http, max_retries=0, pace=False)

    def server(self, key: str = "pro", app: Callable | None = None) -> AlmanacServer:
        """A server with one key of its own."""
        return AlmanacServer(Callers(lambda: self.client(key, app), own_key=True))
