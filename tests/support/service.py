"""The whole service in one process: a real home, real accounts, the real application, and a client."""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlencode

import httpx2
from starlette.types import Scope

from almanac.api.contract.endpoint import Endpoint, Where
from almanac.api.interface import endpoints
from almanac.api.server import app
from almanac.api.server.app import App
from almanac.api.server.request import ClientRequest
from almanac.api.use.limits import open_limiter
from almanac.catalog.load import shipped
from almanac.config import Settings
from almanac.config import load as load_settings
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.explain.companies import explain_company
from almanac.pipeline.explain.macro import Explainer
from almanac.pipeline.explain.scores import explain_scores
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.pipeline.ingest.mirrored import from_mirror
from almanac.pipeline.ingest.outcome import exit_code
from almanac.store.accounts.accounts import Accounts
from almanac.store.engine.opening import place
from almanac.store.observations.reading.reader import Reader

from . import postgres
from .invented_mirror import NOW

#: Plans that allow tests as many requests as they like, and histories as documented.
PLANS = {
    "PLANS__FREE__REQUESTS_PER_MINUTE": "1000000", "PLANS__PRO__REQUESTS_PER_MINUTE": "1000000",
    # All tests of a worker share an address and a frozen minute; the throttle itself is tested with its own setting.
    "FAILURES_PER_MINUTE": "1000000",
}  # fmt: skip
CONSENT = {
    "SOURCES__FRED__CONSENT__BY": "someone", "SOURCES__FRED__CONSENT__ON": "2026-01-02",
    "SOURCES__FRED__CONSENT__REFERENCE": "an invented letter",
}  # fmt: skip
SCOPES = ("macro:read", "reference:read", "analytics:read", "events:read", "screeners:read", "companies:read")
#: The sources whose formats the invented mirror is written in.
SOURCES = ("us-treasury-par", "mof-japan", "fred")
REAL_NOW = 1_800_000_000
CATALOG = shipped()


def settings(home: Path, **more: str) -> Settings:
    """Settings of a home as the environment would give them; names without the prefix."""
    given = {"HOME": str(home), "NOW": NOW, **PLANS, **CONSENT, **more}
    return load_settings({f"ALMANAC_{name}": value for name, value in given.items() if value})


def build(home: Path, mirror: Path) -> None:
    """Ingest a mirror folder into a home and make an account of each plan, with a key for each scope."""
    chosen = settings(home)
    with PipelineContext(chosen) as world:
        sources = [world.catalog.sources[name] for name in SOURCES]
        outcomes = from_mirror(world, sources, mirror, lambda _: None)
        assert {o.source: (exit_code([o]), o.quarantined) for o in outcomes} == {s.id: (0, {}) for s in sources}
    make_accounts(chosen)


def make_accounts(chosen: Settings) -> None:
    """An account of each plan and its keys, listed in `keys` under the home."""
    accounts = Accounts(chosen.home / "accounts.db")
    lines = []
    for plan in chosen.plans:
        accounts.create_account(f"{plan}@example.org", plan, chosen.plans, now=REAL_NOW)
        lines.append((plan, accounts.create_key(f"{plan}@example.org", now=REAL_NOW)[0]))
    for scope in SCOPES:
        lines.append((scope, accounts.create_key("pro@example.org", (scope,), now=REAL_NOW)[0]))
    accounts.close()
    (chosen.home / "keys").write_text("\n".join(f"{name} {key}" for name, key in lines))


@dataclass
class Service:
    """One running service over one home."""

    home: Path
    more: dict[str, str] = field(default_factory=dict)
    data_now: int | None = None
    real_now: float = REAL_NOW + 18.0

    def __post_init__(self) -> None:
        self.settings = settings(self.home, **self.more)
        self.keys = dict(line.split() for line in (self.home / "keys").read_text().splitlines())
        self.accounts = Accounts(self.settings.home / "accounts.db")
        self.reader = Reader(place(self.settings.data_place), most_sorted=self.settings.sort_rows)
        self.endpoints: tuple[Endpoint, ...] = endpoints(Explainer(CATALOG, explain_company), explain_scores)
        self.app = App(
            self.endpoints,
            self.accounts,
            open_limiter(self.settings),
            self.reader.view,
            self.settings,
            clock=lambda: self.settings.clock() if self.data_now is None else self.data_now,
            walltime=lambda: self.real_now,
        )

    def close(self) -> None:
        self.reader.close()
        self.accounts.close()

    def request(self, method: str, url: str, key: str | None = "pro", **options: Any) -> httpx2.Response:
        """A request under the key of this name (a plan or a scope); None: without one."""
        headers = dict(options.pop("headers", {}))
        if key is not None:
            headers["x-api-key"] = self.keys.get(key, key)
        transport = httpx2.ASGITransport(self.app, client=("127.0.0.1", 5000))

        async def send() -> httpx2.Response:
            async with httpx2.AsyncClient(transport=transport, base_url="http://api.example") as client:
                client.headers.clear()
                return await client.request(method, url, headers=headers, **options)

        return asyncio.run(send())

    def get(self, path: str, key: str | None = "pro", headers: dict[str, str] | None = None, /, **params: Any) -> httpx2.Response:  # fmt: skip
        """GET with query parameters as keywords."""
        url = f"{path}?{urlencode(params)}" if params else path
        return self.request("GET", url, key, headers=headers or {})

    def ok(self, path: str, key: str = "pro", /, **params: Any) -> Any:
        """`data` of a GET that must succeed."""
        answer = self.get(path, key, None, **params)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def error(self, path: str, status: int, key: str = "pro", /, **params: Any) -> dict[str, Any]:
        """`error` of a GET that must fail with this status."""
        answer = self.get(path, key, None, **params)
        assert answer.status_code == status, answer.text
        found: dict[str, Any] = answer.json()["error"]
        return found

    def where(self, path: str, key: str = "pro", /, **params: Any) -> Where:
        """Where a GET, whatever becomes of it, is answered."""
        requests: list[ClientRequest] = []

        def request(scope: Scope) -> ClientRequest:
            requests.append(ClientRequest(scope))
            return requests[-1]

        with mock.patch.object(app, "ClientRequest", request):
            self.get(path, key, None, **params)
        return requests[-1].where

    def walk(self, path: str, key: str = "pro", /, **params: Any) -> list[dict[str, Any]]:
        """All rows of a list, page by page."""
        rows: list[dict[str, Any]] = []
        cursor: dict[str, str] = {}
        while True:
            answer = self.get(path, key, None, **params, **cursor)
            assert answer.status_code == 200, answer.text
            body = answer.json()
            rows += body["data"]
            page = body["meta"]["pagination"]
            assert page["has_more"] == (page["next_cursor"] is not None)
            if not page["has_more"]:
                return rows
            assert len(body["data"]) == page["limit"]
            cursor = {"cursor": page["next_cursor"]}

    @contextlib.contextmanager
    def world(self, **more: str) -> Iterator[PipelineContext]:
        """The same home, opened for writing; the settings may differ."""
        with PipelineContext(settings(self.home, **{**self.more, **more})) as world:
            yield world

    def ingest(self, source: str, url: str, body: bytes, fetched_at: int, media_type: str, now: str = NOW) -> None:
        """Take in one more response."""
        with self.world(NOW=now) as world:
            run = Ingest(world, world.catalog.sources[source], lambda _: None)
            outcome = run.run([Arrival(url, body, media_type, fetched_at)])
            assert (exit_code([outcome]), outcome.quarantined) == (0, {})


def copy(built: Path, home: Path) -> Path:
    """A home of one's own, the same as the one built."""
    return postgres.copy(built, home)
