"""A toy service around the real frame: invented endpoints, keys and rows, a clock that stands still."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar

import httpx2
import msgspec
import pytest

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, ListAnswer
from almanac.api.contract.errors import ApiError
from almanac.api.contract.openapi import described
from almanac.api.contract.params import Param
from almanac.api.server.app import App
from almanac.api.use.limits import Decision
from almanac.config import Plan, Settings
from almanac.store.accounts.records import MALFORMED, UNKNOWN, KeyRecord, Refused
from almanac.store.engine.errors import UnavailableError

#: The data's clock: 2026-11-20T12:00:00Z.
NOW = int(datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp())
#: Real time, 18 seconds into a minute of another year, so that mixing the two clocks shows.
REAL = datetime(2027, 2, 3, 4, 5, 18, tzinfo=UTC).timestamp()
FREE = "alm_" + "F" * 40
PRO = "alm_" + "P" * 40
NARROW = "alm_" + "N" * 40
REVOKED = "alm_" + "R" * 40


class Row(msgspec.Struct, rename="camel"):
    """An invented record."""

    id: str
    period_end: str
    value_numeric: float | None


@dataclass
class View:
    version: int = 7
    epoch: str = "e1"


class Accounts:
    records = {  # noqa: RUF012  (never changed)
        FREE: KeyRecord("key_1", "acc_free", "free", ("data:read",), "alm_FFFF"),
        PRO: KeyRecord("key_2", "acc_pro", "pro", ("data:read",), "alm_PPPP"),
        NARROW: KeyRecord("key_3", "acc_free", "free", ("events:read",), "alm_NNNN"),
    }

    def verify(self, text: str, now: int) -> KeyRecord | Refused:
        self.asked_at = now
        if len(text) != 44 or not text.startswith("alm_"):
            return MALFORMED
        return self.records.get(text, UNKNOWN)

    known = verify

    def secret(self, name: str) -> bytes:
        return name.encode().ljust(32, b"-")


@dataclass
class Limiter:
    """Counts exactly, in a dict."""

    hits: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)

    def hit(self, account: str, limit: int, now: float) -> Decision:
        end = (int(now) // 60 + 1) * 60
        used = self.hits.get(account, 0)
        admitted = used < limit
        self.hits[account] = used = used + admitted
        return Decision(admitted, limit, limit - used, end, end - int(now))

    def fail(self, address: str, limit: int, now: float) -> bool:
        self.failures[address] = self.failures.get(address, 0) + 1
        return self.failures[address] > limit


@dataclass
class Frame:
    """The app with everything a test may turn: time, the store's state, the limiter."""

    FREE: ClassVar[str] = FREE
    PRO: ClassVar[str] = PRO
    NARROW: ClassVar[str] = NARROW
    REVOKED: ClassVar[str] = REVOKED

    settings: Settings = field(
        default_factory=lambda: Settings(
            plans={"free": Plan(100, 24), "pro": Plan(1000)},
            failures_per_minute=3,
            cors_origins=("https://charts.example",),
            trusted_proxies=("10.0.0.0/8",),
        )
    )
    view: View = field(default_factory=View)
    limiter: Limiter = field(default_factory=Limiter)
    now: int = NOW
    real: float = REAL
    broken: Exception | None = None
    seen: list[Context] = field(default_factory=list)
    peer: str = "192.0.2.1"

    def __post_init__(self) -> None:
        self.endpoints = described(endpoints(self))
        self.accounts = Accounts()
        self.app = App(
            self.endpoints,
            self.accounts,
            self.limiter,
            self.open_view,
            self.settings,
            clock=lambda: self.now,
            walltime=lambda: self.real,
        )

    @contextmanager
    def open_view(self) -> Iterator[View]:
        if self.broken is not None:
            raise self.broken
        yield self.view

    def request(
        self, method: str, url: str, key: str | None = PRO, headers: Any = None, content: bytes | None = None
    ) -> httpx2.Response:
        sent = [*headers.items()] if isinstance(headers, dict) else list(headers or ())
        if key is not None:
            sent.append(("x-api-key", key))
        transport = httpx2.ASGITransport(self.app, client=(self.peer, 5000))

        async def send() -> httpx2.Response:
            async with httpx2.AsyncClient(transport=transport, base_url="http://api.example") as client:
                client.headers.clear()
                return await client.request(method, url, headers=sent, content=content)

        return asyncio.run(send())

    def get(self, url: str, key: str | None = PRO, **headers: str) -> httpx2.Response:
        """GET with header names written with underscores."""
        return self.request("GET", url, key, {name.replace("_", "-"): value for name, value in headers.items()})

    def error(self, url: str, status: int, key: str | None = PRO, **headers: str) -> dict[str, Any]:
        """The inner error of a GET that must fail with this status; checks the whole envelope."""
        answer = self.get(url, key, **headers)
        assert answer.status_code == status, answer.text
        return self.inner_error(answer)

    @staticmethod
    def inner_error(answer: httpx2.Response) -> dict[str, Any]:
        """The error of an answer, once its envelope is as documented."""
        body = answer.json()
        request_id = answer.headers["x-request-id"]
        assert set(body) == {"error", "requestId"}
        assert set(body["error"]) - {"details"} == {"code", "message", "request_id", "requestId"}
        assert body["requestId"] == body["error"]["request_id"] == body["error"]["requestId"] == request_id
        assert answer.headers["content-type"] == "application/json"
        assert "etag" not in answer.headers
        return body["error"]


def endpoints(frame: Frame) -> tuple[Endpoint, ...]:
    """Invented operations, one of each kind."""
    numbers = range(25)

    def rows(ctx: Context) -> ListAnswer:
        frame.seen.append(ctx)
        order = list(numbers) if ctx.params["order"] == "asc" else list(reversed(numbers))
        start = 0 if ctx.after is None else order.index(ctx.after[0]) + 1
        page = order[start : start + ctx.params["limit"]]
        more = start + len(page) < len(order)
        encoded = [json.dumps({"id": f"r{n}", "periodEnd": "2026-10-31", "valueNumeric": n}).encode() for n in page]
        return ListAnswer(encoded, [page[-1]] if more else None)

    def screen(ctx: Context) -> ListAnswer:
        frame.seen.append(ctx)
        return ListAnswer([], None, 0)

    def one(ctx: Context) -> ItemAnswer:
        frame.seen.append(ctx)
        if ctx.path["idOrSlug"] != "cpi":
            raise ApiError(404, f"no indicator has the id or slug '{ctx.path['idOrSlug']}'")
        return ItemAnswer(b'{"id":"r1","periodEnd":"2026-10-31","valueNumeric":1.5}')

    def fault(ctx: Context) -> ItemAnswer:
        raise RuntimeError(f"secret path /data/{FREE}")

    return (
        Endpoint(
            "/observations",
            "listObservations",
            "Rows",
            rows,
            scope="macro:read",
            kind="list",
            record=Row,
            dated=True,
            params=(
                Param("indicator", "Slugs.", "list", maximum=5),
                Param("country", "One country."),
                Param("frequency", "How often.", "enum", choices={"M": "monthly", "monthly": "monthly", "A": "annual"}),
                Param("sort", "Sort field.", "enum", "topic", choices=("topic", "period_end")),
                Param("period", "Inside it.", "period", window=True),
                Param("start_date", "From.", "time", until="end_date"),
                Param("end_date", "To.", "time", edge="end", window=True),
                Param("as_of", "Known by.", "time", edge="end", window=True, not_future=True),
            ),
        ),
        Endpoint(
            "/screener",
            "screen",
            "Screen",
            screen,
            scope="screeners:read",
            kind="list",
            total=True,
            max_limit=200,
            default_order=None,
            params=(Param("filter", "Clauses.", required=True, longest=100),),
        ),
        Endpoint(
            "/indicators/{idOrSlug}",
            "getIndicator",
            "One",
            one,
            scope="macro:read",
            record=Row,
            braces=(Param("idOrSlug", "Name."),),
        ),
        Endpoint("/indicators/broken", "getFault", "Fault", fault, cost="heavy"),
        Endpoint("/events", "listEvents", "Events", rows, scope="events:read", kind="list", default_order="desc"),
        Endpoint("/coverage", "getCoverage", "Any key", lambda _: ItemAnswer(b'{"series":3}')),
        Endpoint("/heavy", "getHeavy", "In a thread", lambda _: ItemAnswer(b'"' + b"x" * 2000 + b'"'), cost="heavy"),
    )


@pytest.fixture
def frame() -> Frame:
    return Frame()


@pytest.fixture
def storage_down() -> Exception:
    return UnavailableError("disk at /data is gone")
