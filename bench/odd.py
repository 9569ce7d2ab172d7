"""
The cost of the oddest input to every operation and page for other clients, and the memory that a process keeps of odd
requests.

`held` is the longest time in which the event loop served nobody else, in processor time of the whole process. A busy
machine gives the same figure as an idle one.
"""

from __future__ import annotations

import asyncio
import gc
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import almanac.dashboard
from almanac.api.contract.endpoint import Endpoint
from almanac.api.contract.params import Param
from almanac.applications import api, dashboard
from almanac.config import Settings, load
from almanac.dashboard.site import pages
from almanac.dashboard.visit import Page
from almanac.reports import filter_text
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.authentication import Authentication
from bench.data import environment

#: Longest acceptable wait for other clients, in seconds.
MOST = 0.25
#: Longest address that reaches the service, in bytes.
_ADDRESS = 30_000
_SEED = 20_261_125
_EMAILS = {"free": "odd-free@example.org", "member": "odd-member@example.org"}
#: Units that texts repeat: blanks, accents with an order, letters that decompose into many, single letters, state
#: marks, digits, brackets, quotes, and all separators.
UNITS = (
    " ",
    "à̖",
    "ﷺ",
    "a ",
    "/de/ ",
    "\\ ",
    "0",
    "1e",
    "(",
    '""',
    ",",
    ":",
    "|",
    "-",
    "İ",
    "x",
    "+",
    "\0",
    "cik:#0",
    "a.b",
)
#: The units that were hardest for parsers so far, used where trying all would take too long.
HARDEST = (" ", "à̖", "ﷺ", "a ", "/de/ ")
_SOURCES = Path(almanac.dashboard.__file__).parent
_READS = re.compile(r'query(?:\.get\(|\[)"(\w+)"|"(\w+)" in visit\.query')
#: Query names that any page reads, directly or through a list of names.
NAMES = sorted(
    {
        name
        for file in [*_SOURCES.rglob("*.py"), *_SOURCES.rglob("*.html")]
        for found in _READS.findall(file.read_text("utf-8"))
        for name in found
        if name
    }
    | {"category", "kind", "q", "sector", "industry", "country", "freshness", "with", "field1", "operator1", "value1"}
)
#: Valid values for path parameters, needed so that the rest of a request is processed.
_GOOD = {
    "idOrSlug": "gov_yield_10y", "idOrIso": "USA", "scope": "USA", "country": "USA", "idOrLookup": "apple-inc", "id": "obs_x",
    "slug": "gov_yield_10y", "name": "united-states", "number": "1", "token": "x", "deed": "disable",
}  # fmt: skip
_REQUIRED = {"since": "0", "alias": "Apple", "filter": "gov_yield_10y:gt:0"}
_EQUITY = "net_margin:gt:0"


class Asked(NamedTuple):
    """A request: its path with the query, and its headers."""

    target: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Held(NamedTuple):
    """The seconds in which nobody else was served, the CPU seconds in all, and the status."""

    held: float
    cpu: float
    status: int


class AppInProcess:
    """An application in this process, requested while another task wants the event loop all the time."""

    def __init__(self, app: Any, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
        self.app = app
        self.headers = list(headers)
        self._loop = asyncio.new_event_loop()

    def ask(self, asked: Asked) -> Held:
        """Make one request and return its cost for those waiting beside it."""
        return self._loop.run_until_complete(self._run(asked))

    def close(self) -> None:
        """Close the event loop."""
        self._loop.close()

    async def _run(self, asked: Asked) -> Held:
        path, _, query = asked.target.partition("?")
        scope = {
            "type": "http", "method": "GET", "http_version": "1.1", "path": path, "query_string": query.encode(),
            "headers": [(b"host", b"127.0.0.1"), *self.headers, *asked.headers], "client": ("127.0.0.1", 1), "scheme": "http",
        }  # fmt: skip
        told: list[Any] = []

        async def receive() -> dict[str, Any]:
            await asyncio.Event().wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            told.append(message)

        began = time.process_time()
        task = asyncio.ensure_future(self.app(scope, receive, send))
        longest, last = 0.0, began
        while not task.done():
            await asyncio.sleep(0)
            now = time.process_time()
            longest, last = max(longest, now - last), now
        await task
        return Held(longest, time.process_time() - began, told[0]["status"])


class Service:
    """The interface and the dashboard over a home, with a key of the smallest plan and a signed-in member."""

    def __init__(self, home: Path) -> None:
        given = {name: value for name, value in environment(home).items() if name.startswith("ALMANAC_")}
        given |= {f"ALMANAC_PLANS__{plan}__REQUESTS_PER_MINUTE": "100000000" for plan in ("FREE", "PRO")}
        given |= {
            "ALMANAC_LOG_LEVEL": "critical",
            "ALMANAC_PAGE_CACHE_MIB": "0",
            "ALMANAC_FAILURES_PER_MINUTE": "100000000",
        }
        settings = load(given)
        key, token = _accounts(settings)
        self.api, self.pages = api(settings), dashboard(settings)
        for one in (self.api, self.pages):
            one.warm()
        self.free = AppInProcess(self.api, [(b"x-api-key", key.encode())])
        self.nobody = AppInProcess(self.api)
        self.member = AppInProcess(self.pages, [(b"cookie", f"almanac={token}".encode())])
        self.visitor = AppInProcess(self.pages)

    def close(self) -> None:
        """Close all clients."""
        for one in (self.free, self.nobody, self.member, self.visitor):
            one.close()


def _accounts(settings: Settings) -> tuple[str, str]:
    """Create a key of a free account and a session of a member. Returns the key and the cookie's token."""
    accounts, now = Accounts(settings.accounts_path, settings.secret), int(time.time())
    for plan, email in (("free", _EMAILS["free"]), ("pro", _EMAILS["member"])):
        if all(one.email != email for one in accounts.list_accounts()):
            accounts.create_account(email, plan, settings.plans, now=now)
    key, _ = accounts.create_key(_EMAILS["free"], now=now)
    member = accounts.account(_EMAILS["member"])
    token, _ = Authentication(accounts).sessions.begin(member.id, "bench", "127.0.0.1", now=now)
    accounts.close()
    return key, token


# -- what is asked ------------------------------------------------------------------------------------------------------


def texts(longest: int) -> Iterator[str]:
    """Yield texts of the allowed length, and far longer ones."""
    for unit in UNITS:
        yield _filled(unit, longest)
    for unit in HARDEST:
        yield _filled(unit, _ADDRESS // len(quote(unit)))


def _filled(unit: str, length: int) -> str:
    """Return a letter, as many units as fit, and one more letter, because a text of blanks alone would count as empty."""
    return f"a{unit * ((length - 2) // len(unit))}b"


def of_param(param: Param) -> Iterator[str]:
    """Yield values for one parameter."""
    yield from texts(param.longest)
    if param.kind == "list":
        for unit in HARDEST:
            each = _ADDRESS // (len(quote(unit)) * (param.maximum or 1))
            names = (
                f"{number}{_filled(unit, max(3, min(param.longest - 3, each * len(unit))))}"
                for number in range(param.maximum or 1)
            )
            yield ",".join(name.replace(",", ";") for name in names)
    if param.name == "filter":
        yield from filters()


def filters() -> Iterator[str]:
    """Yield filters that are read to their end: many clauses, many values, and names and texts that mean nothing."""
    most, longest = filter_text.MOST_CLAUSES, filter_text.LONGEST
    yield ",".join(["net_margin:gt:0.1"] * most)
    yield ",".join(["cpi_inflation_yoy:gt:1"] * most)
    yield "sector:in:" + "|".join(f"no{number}" for number in range(filter_text.MOST_VALUES))
    yield ",".join(["industry:in:" + "|".join(f"q{number}" for number in range(80))] * (longest // 330))
    yield ",".join([f"industry:eq:{'softwarex serv' * 14}"] * most)
    yield ",".join(f"no_such_field_{number}:gt:1" for number in range(most))
    yield "net_margin:in:" + "|".join(["1e300"] * filter_text.MOST_VALUES)
    yield f"net_margin:gt:{'9' * filter_text.LONGEST_VALUE}"
    yield "sector:eq:" + '"' + '""' * 99 + '"'


def of_endpoint(endpoint: Endpoint) -> Iterator[Asked]:
    """Yield requests that vary each parameter and each part of the path in turn, and parameters that no operation has."""
    required = {
        one.name: _EQUITY if (one.name, endpoint.path) == ("filter", "/equity-screener") else _REQUIRED[one.name]
        for one in endpoint.by_name.values()
        if one.required
    }
    good = _path(endpoint.path)
    for param in endpoint.by_name.values():
        for text in of_param(param):
            yield _request_for(good, required | {param.name: text})
    for part in endpoint.braces:
        for text in texts(part.longest):
            yield _request_for(_path(endpoint.path, {part.name: text}), required)
    yield Asked(f"{good}?" + "&".join(["a=1"] * (_ADDRESS // 4)))
    yield Asked(f"{good}?" + "%" * _ADDRESS)
    yield Asked(f"{good}?" + "x" * 200 + "=" + "alm_" * (_ADDRESS // 4))


def headers() -> Iterator[Asked]:
    """Yield requests with headers as long as the service receives them."""
    for name in (b"x-api-key", b"authorization", b"x-forwarded-for", b"x-request-id", b"if-none-match", b"accept-encoding",
                 b"accept", b"host", b"cookie", b"user-agent", b"origin"):  # fmt: skip
        for unit in (b'"a",', b" ", b"Bearer alm_", b"1.1.1.1, ", b"gzip;q=0.1,", b"a=\\1;"):
            yield Asked("/coverage", ((name, unit * (_ADDRESS // len(unit))),))


def of_page(page: Page) -> Iterator[Asked]:
    """Yield requests with each query name that any page reads, and with all of them together."""
    good = _path(page.path)
    for unit in UNITS:
        yield _request_for(good, dict.fromkeys(NAMES, _filled(unit, 8_000 // len(NAMES))))
    for name in NAMES:
        for unit in (" ", "à̖", ","):
            yield _request_for(good, {name: _filled(unit, 16_000 // len(quote(unit)))})
    if "screeners" in page.path:
        for text in filters():
            yield _request_for(good, {"filter": text})
        yield _request_for(good, {"filter": "," * 15_000})
    for name in re.findall(r"{(\w+)}", page.path):
        for text in texts(200):
            yield _request_for(_path(page.path, {name: text}), {})


def _path(template: str, given: Mapping[str, str] = {}) -> str:
    """Fill the braces of a path, decoded as it reaches the service."""
    return re.sub(r"{(\w+)}", lambda name: given.get(name[1], _GOOD.get(name[1], "x")).replace("/", "-"), template)


def _request_for(path: str, query: Mapping[str, str]) -> Asked:
    return Asked(f"{path}?{urlencode(query)}" if query else path)


# -- what is told -------------------------------------------------------------------------------------------------------


def dearest(service: Service, say: Callable[[str], None]) -> list[tuple[str, str, Asked, Held, int]]:
    """
    Return, for each operation and page and each kind of client, the request that held others up longest, and the number
    of requests.
    """
    found: list[tuple[str, str, Asked, Held, int]] = []
    gc.disable()

    def search(what: str, who: str, beside: AppInProcess, asked: Sequence[Asked]) -> None:
        # Each only once, because a repeated request may be cached. The garbage collector is off meanwhile.
        most, one = max(((beside.ask(one), one) for one in asked), key=lambda pair: pair[0].held)
        found.append((what, who, one, most, len(asked)))
        say(f"{what} as {who}: {most.held * 1000:.0f} ms held, of {len(asked)} requests")

    for endpoint in service.api.endpoints:
        every = list(of_endpoint(endpoint))
        search(endpoint.path, "free key", service.free, every)
        search(endpoint.path, "nobody", service.nobody, every[:: max(1, len(every) // 40)])
    for who, beside in (("free key", service.free), ("nobody", service.nobody)):
        search("headers", who, beside, list(headers()))
    for page in pages():
        if page.look is not None and page.who != "operator":
            every = list(of_page(page))
            search(f"page {page.path}", "member", service.member, every)
            search(f"page {page.path}", "nobody", service.visitor, every[:: max(1, len(every) // 40)])
        gc.collect()
    gc.enable()
    return found


def remembered(service: Service, count: int, say: Callable[[str], None]) -> list[tuple[int, float]]:
    """Return the process's megabytes after numbers of odd requests, all of them different."""
    chance = random.Random(_SEED)
    every = [one for one in service.api.endpoints if one.by_name or one.braces]
    told = [(0, _megabytes())]
    for number in range(1, count + 1):
        endpoint = chance.choice(every)
        required = {one.name: _REQUIRED[one.name] for one in endpoint.by_name.values() if one.required}
        length = chance.choice((3, 30, 60, 200, 5_000))
        text = _filled(chance.choice(UNITS), length) + str(number)
        names = [one.name for one in endpoint.by_name.values()]
        path = endpoint.path
        if endpoint.braces and (not names or chance.random() < 0.5):
            path = _path(path, {endpoint.braces[0].name: text})
        else:
            name = chance.choice(names)
            if endpoint.by_name[name].kind == "list" and chance.random() < 0.5:
                text = ",".join(
                    f"{chance.choice(('usa', 'jpn', 'deu', 'x'))}{one}{text[:40]}" for one in range(20)
                ).replace(",,", ",")
            required[name] = text
        service.free.ask(_request_for(_path(path), required))
        if number % (count // 6 or 1) == 0:
            told.append((number, _megabytes()))
            say(f"{number:,} requests: {told[-1][1]:.0f} MB")
    return told


def _megabytes() -> float:
    found = re.search(r"VmRSS:\s+([0-9]+) kB", Path("/proc/self/status").read_text("ascii"))
    return int(found[1]) / 1024 if found else 0.0


def measure(home: Path, requests: int, say: Callable[[str], None]) -> str:
    """Measure dearest requests and memory, and return tables."""
    service = Service(home)
    try:
        found = dearest(service, say)
        memory = remembered(service, requests, say)
    finally:
        service.close()
    found.sort(key=lambda one: -one[3].held)
    lines = [
        f"{sum(one[4] for one in found):,} odd requests; above {MOST * 1000:.0f} ms: {sum(one[3].held > MOST for one in found)}",
        "",
    ]
    lines += [
        "| operation or page | as | dearest input | status | held ms | CPU ms |",
        "| --- | --- | --- | --: | --: | --: |",
    ]
    for what, who, one, held, _ in found:
        shown = one.target if len(one.target) <= 60 else f"{one.target[:50]}… ({len(one.target):,})"
        if one.headers:
            shown = f"{one.headers[0][0].decode()}: {one.headers[0][1][:12].decode()}…"
        lines.append(
            f"| `{what}` | {who} | `{ascii(shown)[1:-1]}` | {held.status} | {held.held * 1000:.1f} | {held.cpu * 1000:.1f} |"
        )
    lines += ["", "| odd requests, all different | MB of the process |", "| --: | --: |"]
    lines += [f"| {count:,} | {size:.0f} |" for count, size in memory]
    return "\n".join(lines)
