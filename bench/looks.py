"""The cost of dashboard pages of every kind, over many countries, series and companies of the simulated world."""

from __future__ import annotations

import contextlib
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from almanac.applications import dashboard
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.authentication import Authentication
from bench.data import EMAIL, ROWS
from bench.inside import Inside, Service, Taken

_SEED = 20_261_122
#: Pages of each kind and requests to each, and requests to kinds with a single page.
_PAGES, _LOOKS, _ALONE = 25, 2, 30
#: The interface page that all are compared with, measured before and after them.
PLAIN = f"/observations?limit={ROWS}"
_PLAIN_TIMES = 40
#: Texts for the search box.
_TYPED = ("inflation", "gdp", "10y yield", "unemployment", "a", "bank", "retail sales", "score", "debt", "software")


def dashboard_of(service: Service) -> Inside:
    """Return the dashboard beside an interface in this process, with one operator signed in."""
    accounts = Accounts(service.settings.home / "accounts.db", service.settings.secret)
    with contextlib.closing(accounts):
        accounts.set_role(EMAIL, "operator")
        account = accounts.account(EMAIL).id
        token, _ = Authentication(accounts).sessions.begin(account, "bench", "127.0.0.1", now=int(time.time()))
    cookie = (b"cookie", f"almanac={token}".encode())
    pages = Inside(dashboard(service.settings), [cookie, (b"accept-encoding", b"gzip")])
    service.app.warm()
    pages.app.warm()
    return pages


def addresses(service: Service) -> dict[str, list[str]]:
    """Return the addresses to look at, by kind of page, in a fixed order."""
    chance = random.Random(_SEED)

    def some(rows: Sequence[str]) -> list[str]:
        return chance.sample(rows, min(_PAGES, len(rows)))

    def rows(target: str) -> Any:
        return service.body(target)["data"]

    places = [row["slug"] for row in rows("/countries?has_data=true&limit=500")]
    slugs = [row["slug"] for row in rows("/indicators?limit=500") if row["entityCount"]]
    companies = [rows(f"/entities/resolve?alias={row['entityId']}")["slug"] for row in rows("/companies?limit=500")]
    series: dict[str, list[str]] = {"series": [], "series of days": []}
    for slug in slugs:
        for row in rows(f"/indicators/{slug}/series?limit=100"):
            if not row["entityId"].startswith("company_"):
                series["series of days" if row["frequency"] == "daily" else "series"].append(f"/series/{row['id']}")
    series = {kind: some(found) for kind, found in series.items()}
    scopes = ("AUS", "CAN", "CHE", "EUR", "GBR", "JPN", "USA")
    latest = [row["id"] for row in rows("/observations/latest?limit=500")]
    filters = ("net_margin:gt:0.1", "score:gte:50", "piotroski_f:gte:8", "return_on_equity:gte:0.15,score:gt:10")
    return {
        "overview": ["/"],
        "search": [
            *(f"/search?q={quote_plus(word)}&all=1" for word in _TYPED),
            *(f"/search?q=inflation+{place}&all=1" for place in some(places)),
        ],
        **series,
        "revisions": [f"{address}/revisions" for address in series["series"]],
        "lineage of a value": [f"/observations/{identity}" for identity in some(latest)],
        "indicator": [f"/indicators/{slug}" for slug in some(slugs)],
        "country": [f"/countries/{place}" for place in some(places)],
        "rates of a scope": [f"/rates/{scope}" for scope in scopes],
        "company": [f"/companies/{slug}" for slug in some(companies)],
        "macro screener": ["/screeners/macro", "/screeners/macro?filter=cpi_inflation_yoy:gt:2"],
        "equity screener": ["/screeners/equity", *(f"/screeners/equity?filter={text}" for text in filters)],
        "calendar": ["/calendar", *(f"/calendar?from=2026-{month:02}-05" for month in range(1, 11))],
        "keys": ["/keys"],
    }


def looks(pages: Inside, kinds: Mapping[str, Sequence[str]], say: Callable[[str], None]) -> dict[str, list[Taken]]:
    """
    Request every page, several times each. Returns the measurements by kind. Raises RuntimeError for a page with a
    status other than 200.
    """
    every: dict[str, list[Taken]] = {}
    for kind, targets in kinds.items():
        pages.ask(targets[-1])
        every[kind] = [pages.ask(target) for target in [*targets] * max(_LOOKS, -(-_ALONE // len(targets)))]
        statuses = {taken.status for taken in every[kind]}
        if statuses != {200}:
            raise RuntimeError(f"{kind}: {statuses}")
        say(f"{kind}: {statistics.median(taken.seconds for taken in every[kind]) * 1000:.1f} ms")
    return every


def table(every: Mapping[str, Sequence[Taken]], plain: float) -> str:
    """
    Return a table of each kind: median and 95th percentile by the clock, and median CPU, also in pages of the interface
    (`plain`, ms).
    """
    rows = [
        f"| pages of the dashboard | looks | median ms | 95th percentile ms | CPU, median ms | in pages of {ROWS} rows ({plain:.2f} ms) |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    for kind, taken in every.items():
        times = sorted(each.seconds * 1000 for each in taken)
        cpu = statistics.median(each.cpu * 1000 for each in taken)
        late = times[min(len(times) - 1, int(len(times) * 0.95))]
        rows.append(
            f"| {kind} | {len(times)} | {statistics.median(times):.1f} | {late:.1f} | {cpu:.1f} | {cpu / plain:.0f} × |"
        )
    return "\n".join(rows)


def measure(home: Path, key: str, say: Callable[[str], None]) -> str:
    """Measure the time from request to answer without a socket, one page after the other. Returns a table."""
    with contextlib.closing(Service(home, key)) as service, contextlib.closing(dashboard_of(service)) as pages:
        kinds = addresses(service)
        plain = [service.cost(PLAIN, 1)[0] for _ in range(_PLAIN_TIMES)]
        every = looks(pages, kinds, say)
        plain += [service.cost(PLAIN, 1)[0] for _ in range(_PLAIN_TIMES)]
    return table(every, statistics.median(plain))
