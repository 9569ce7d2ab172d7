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

import msgspec

from almanac.applications import api, dashboard
from almanac.config import load
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.authentication import Authentication
from bench.data import EMAIL, ROWS, environment
from bench.inside import Inside, Taken

_SEED = 20_261_122
#: Pages of each kind and requests to each, and requests to kinds with a single page.
_PAGES, _LOOKS, _ALONE = 25, 2, 30
#: The interface page that all are compared with, measured before and after them.
PLAIN = f"/observations?limit={ROWS}"
_PLAIN_TIMES = 40
#: Texts for the search box.
_TYPED = ("inflation", "gdp", "10y yield", "unemployment", "a", "bank", "retail sales", "score", "debt", "software")


class Client:
    """The interface and the dashboard in this process, with one operator signed in."""

    def __init__(self, environment: Mapping[str, str], key: str) -> None:
        given = {name: value for name, value in environment.items() if name.startswith("ALMANAC_")}
        settings = load(given | {"ALMANAC_PAGE_CACHE_MIB": "0", "ALMANAC_LOG_LEVEL": "critical"})
        accounts = Accounts(settings.accounts_path, settings.secret)
        accounts.set_role(EMAIL, "operator")
        token, _ = Authentication(accounts).sessions.begin(
            accounts.account(EMAIL).id, "bench", "127.0.0.1", now=int(time.time())
        )
        accounts.close()
        self.api = Inside(api(settings), [(b"x-api-key", key.encode())])
        cookie = (b"cookie", f"almanac={token}".encode())
        self.pages = Inside(dashboard(settings), [cookie, (b"accept-encoding", b"gzip")])
        for one in (self.api, self.pages):
            one.app.warm()

    def close(self) -> None:
        """Close both clients."""
        self.api.close()
        self.pages.close()

    def data(self, target: str) -> Any:
        """Return the data of an answer of the interface."""
        return msgspec.json.decode(self.api.ask(target).body)["data"]


def addresses(client: Client) -> dict[str, list[str]]:
    """Return the addresses to look at, by kind of page, in a fixed order."""
    chance = random.Random(_SEED)

    def some(rows: Sequence[str]) -> list[str]:
        return chance.sample(rows, min(_PAGES, len(rows)))

    places = [one["slug"] for one in client.data("/countries?has_data=true&limit=500")]
    indicators = [one for one in client.data("/indicators?limit=500") if one["entityCount"]]
    companies = [
        client.data(f"/entities/resolve?alias={one['entityId']}")["slug"] for one in client.data("/companies?limit=500")
    ]
    slugs = [one["slug"] for one in indicators]
    found: dict[str, list[str]] = {"series": [], "series of days": [], "series of a company": []}
    for slug in slugs:
        for row in client.data(f"/indicators/{slug}/series?limit=100"):
            of_company = row["entityId"].startswith("company_")
            kind = " of a company" if of_company else " of days" if row["frequency"] == "daily" else ""
            found[f"series{kind}"].append(f"/series/{row['id']}")
    series = {kind: some(rows) for kind, rows in found.items()}
    scopes = ("AUS", "CAN", "CHE", "EUR", "GBR", "JPN", "USA")
    latest = [row["id"] for row in client.data("/observations/latest?limit=500")]
    compared = [f"indicator={slug}&entities={','.join(some(places)[:5])}" for slug in some(slugs)[:10]]
    filters = ("net_margin:gt:0.1", "score:gte:50", "piotroski_f:gte:8", "return_on_equity:gte:0.15,score:gt:10")
    return {
        "overview": ["/"],
        "search": [*(f"/search?q={quote_plus(word)}&all=1" for word in _TYPED), *(f"/search?q=inflation+{p}&all=1" for p in some(places))],
        "suggestions": [f"/search.json?q={quote_plus(word)}" for word in _TYPED],
        **series,
        "series, a past day": [f"{one}?as_of=2024-05-01" for one in series["series"]],
        "series, all events marked": [f"{one}?events=all" for one in series["series"]],
        "series, another day put in place": [f"{one}/part?as_of=2024-05-01" for one in series["series"]],
        "series as files": [f"{one}{end}" for one in series["series of days"][:8] for end in (".csv", "/vintages.json", "/points.json")],
        "revisions": [f"{one}/revisions" for one in series["series"]],
        "lineage of a value": [f"/observations/{one}" for one in some(latest)],
        "indicators": ["/indicators"],
        "indicator": [f"/indicators/{one}" for one in some(slugs)],
        "countries": ["/countries"],
        "country": [f"/countries/{one}" for one in some(places)],
        "country, a past day": [f"/countries/{one}?as_of=2024-05-01" for one in some(places)],
        "rates": ["/rates"],
        "rates of a scope": [f"/rates/{one}" for one in scopes],
        "rates of a scope, a past day": [f"/rates/{one}?as_of=2024-05-01" for one in scopes],
        "compare": [f"/compare?{one}" for one in compared],
        "compare, a past day, over a year": [f"/compare?{one}&as_of=2024-05-01&show=year" for one in compared],
        "comparisons as files": [f"/compare.{kind}?{one}" for one in compared[:4] for kind in ("csv", "xlsx", "svg")],
        "companies": ["/companies"],
        "company": [f"/companies/{one}" for one in some(companies)],
        "company, a past day": [f"/companies/{one}?as_of=2025-03-01" for one in some(companies)],
        "macro screener": ["/screeners/macro", "/screeners/macro?filter=cpi_inflation_yoy:gt:2"],
        "equity screener": ["/screeners/equity", *(f"/screeners/equity?filter={one}" for one in filters)],
        "screeners": ["/screeners", "/screeners/macro/fields", "/screeners/equity/fields"],
        "screeners, while typing": ["/screeners/macro.json?filter=cpi_inflation_yoy:gt:2", *(f"/screeners/equity.json?filter={one}" for one in filters)],
        "screeners as files": ["/screeners/macro.csv?filter=cpi_inflation_yoy:gt:2", f"/screeners/equity.csv?filter={filters[0]}"],
        "calendar": ["/calendar", *(f"/calendar?from=2026-{month:02}-05" for month in range(1, 11))],
        "calendar as a file": ["/calendar.csv"],
        "sources": ["/sources"], "source": [f"/sources/{one['id']}" for one in client.data("/sources?limit=500")],
        "watchlist": ["/watchlist", "/watchlist.csv", "/watchlist.json"],
        "keys": ["/keys"], "usage": ["/usage", "/usage?by=key", "/usage?by=endpoint", "/usage?by=status"],
        "account": ["/account"], "openapi": ["/openapi.json"],
        "operate": ["/operate"], "operate: sources": ["/operate/sources"], "operate: runs": ["/operate/runs"],
        "operate: quarantine": ["/operate/quarantine"], "operate: plans": ["/operate/plans"],
        "operate: accounts": ["/operate/accounts"],
    }  # fmt: skip


def looks(client: Client, kinds: Mapping[str, Sequence[str]], say: Callable[[str], None]) -> dict[str, list[Taken]]:
    """
    Request every page, several times each. Returns the measurements by kind. Raises RuntimeError for a page with a
    status other than 200.
    """
    found: dict[str, list[Taken]] = {kind: [] for kind in kinds}
    for kind, targets in kinds.items():
        client.pages.ask(targets[-1])
        times = max(_LOOKS, -(-_ALONE // len(targets)))
        for target in [*targets] * times:
            taken = client.pages.ask(target)
            if taken.status != 200:
                raise RuntimeError(f"{target}: {taken.status}")
            found[kind].append(taken)
        say(f"{kind}: {statistics.median(one.seconds for one in found[kind]) * 1000:.1f} ms")
    return found


def share(times: Sequence[float], part: float) -> float:
    """Return the time that this share of the times does not exceed."""
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def table(found: Mapping[str, Sequence[Taken]], plain: float) -> str:
    """
    Return a table of each kind: median and 95th percentile by the clock, and median CPU, also in pages of the interface
    (`plain`, ms).
    """
    lines = []
    for kind, looked in found.items():
        times, cpu = [one.seconds * 1000 for one in looked], statistics.median(one.cpu * 1000 for one in looked)
        lines.append(
            f"| {kind} | {len(times)} | {statistics.median(times):.1f} | {share(times, 0.95):.1f} | {cpu:.1f} | {cpu / plain:.0f} × |"
        )
    head = f"| pages of the dashboard | looks | median ms | 95th percentile ms | CPU, median ms | in pages of {ROWS} rows ({plain:.2f} ms) |"
    return "\n".join([head, "| --- | --: | --: | --: | --: | --: |", *lines])


def measure(home: Path, key: str, say: Callable[[str], None]) -> str:
    """Measure the time from request to answer without a socket, one page after the other. Returns a table."""
    with contextlib.closing(Client(environment(home), key)) as client:
        kinds = addresses(client)
        plain = [client.api.ask(PLAIN).cpu * 1000 for _ in range(_PLAIN_TIMES)]
        found = looks(client, kinds, say)
        plain += [client.api.ask(PLAIN).cpu * 1000 for _ in range(_PLAIN_TIMES)]
    return table(found, statistics.median(plain))
