"""
The cost of single requests: the dearest of each operation, recent knowledge times, and a light request beside two dear
ones.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import msgspec

from almanac.api.contract.endpoint import Endpoint
from almanac.api.contract.params import Param
from almanac.api.server.app import App
from almanac.applications import api
from almanac.config import load
from bench.data import environment
from bench.inside import Inside
from bench.servers import Server, interface

#: Default seeds of a search, and the number of parameter mixtures for each operation.
SEEDS, _TRIED = (20_261_122,), 40
#: No request should cost more than this many plain pages.
MOST = 50
#: Days before today at which bounds are tried: recent, old, and before all data.
_AGO = (0, 1, 3, 30, 200, 400, 1_000, 2_000, 2_600, 3_650, 5_500, 9_000, 20_000)
#: Days between two bounds that are tried together.
_APART = (0, 1, 3, 30, 400)
#: Pairs of bounds that belong together, and filters that pass few or many rows.
_PAIRS = (("start_date", "end_date"), ("period_start", "period_end"))
_FILTERS = ("frequency", "source_id", "provider_id", "indicator_id", "country", "kind", "freshness")
#: Mixtures of orders, bounds and filters for a list, in addition to single parameters.
_MIXED = 150
#: Repetitions of a request at first, and of the dearest ones again. The lowest cost counts, which excludes loading.
_ONCE, _AGAIN = 2, 5
_BESIDE_SECONDS = 8.0
#: Repetitions of a dear and a plain request to a running service, the rounds, and the number of dear requests.
_DEAR, _PLAIN_ONES, _ROUNDS, _SHOWN = 8, 60, 4, 80
#: Before measuring, wait until the service uses less than this share of a processor, for at most so many seconds.
_IDLE, _IDLE_SECONDS = 0.02, 90.0
PLAIN = "/observations?limit=500"
LIGHT = "/observations?indicator=cpi_index&country=USA"
#: Requests for recent and old knowledge times, each with the plain page of the same list.
LATELY = (
    ("/observations?limit=500&start_date={lately}", PLAIN),
    ("/observations?limit=500&end_date={long_ago}", PLAIN),
    ("/derived-observations?limit=500&start_date={lately}", "/derived-observations?limit=500"),
    ("/observations/vintages?limit=500&start_date={lately}", "/observations/vintages?limit=500"),
    ("/observations/vintages?limit=500&end_date={long_ago}", "/observations/vintages?limit=500"),
    ("/observations/vintages?limit=500&sort=observed_at&order=desc", "/observations/vintages?limit=500"),
    ("/release-summaries?country=NOR&limit=100", "/release-summaries?limit=100"),
)


class Cost(NamedTuple):
    """The cost of a request: milliseconds of CPU of the whole process, and the status of the answer."""

    cpu: float
    status: int


class Service:
    """The interface in this process, without a socket, so that only its requests' cost is measured."""

    def __init__(self, home: Path, key: str) -> None:
        given = {name: value for name, value in environment(home).items() if name.startswith("ALMANAC_")}
        # No page cache and no request timeout, so that the full cost is visible.
        given |= {
            "ALMANAC_PAGE_CACHE_MIB": "0",
            "ALMANAC_REQUEST_SECONDS": "600",
            "ALMANAC_LOG_LEVEL": "critical",
            "ALMANAC_HEAVY_REQUESTS": "4",
        }
        self.app: App = api(load(given))
        self._client = Inside(self.app, [(b"x-api-key", key.encode())])
        #: Lowest cost of a plain page so far. It is measured again and again, because the machine may be busy.
        self.plain = float("inf")

    def cost(self, target: str, times: int = _ONCE) -> Cost:
        """Return the lowest cost of a request."""
        found = [self._client.ask(target) for _ in range(times)]
        return min(Cost(one.cpu * 1000, one.status) for one in found)

    def ask_plain(self) -> float:
        """Measure a plain page again and return its lowest cost so far."""
        self.plain = min(self.plain, self.cost(PLAIN, 10).cpu)
        return self.plain

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def body(self, target: str) -> Any:
        """Return the decoded answer of a request."""
        return msgspec.json.decode(self._client.ask(target).body)


class Words:
    """Values for parameters that name something in the store."""

    def __init__(self, service: Service) -> None:
        def ids(path: str, field: str = "id") -> list[str]:
            return [one[field] for one in service.body(f"{path}?limit=500")["data"]]

        indicators = ids("/indicators", "slug")
        countries, companies = ids("/countries"), ids("/companies", "entityId")
        self.values = {
            "indicator": indicators, "indicator_id": indicators, "idOrSlug": indicators, "country": countries,
            "idOrIso": countries, "entity": countries + companies, "entity_id": countries + companies,
            "source_id": ids("/sources"), "provider_id": ids("/providers"), "idOrLookup": companies,
            "alias": [*countries[:20], *companies[:20]], "q": ["a", "inflation"], "scope": ["USA", "JPN"],
            "id": ids("/observations") + ids("/derived-observations"), "since": ["0", "1", "100"],
            "filter": ["cpi_inflation_yoy:gt:0"], "industry": ["a"], "sector": ["technology"],
        }  # fmt: skip
        self.derived = [one["slug"] for one in service.body("/derived-indicators?limit=500")["data"]]
        self.equity = "net_margin:gt:0.1,score:gt:10"


def requests(endpoint: Endpoint, words: Words, chance: random.Random) -> Iterator[str]:
    """Yield requests of one operation: each filter, sort and bound alone, and then combinations."""
    params = [one for one in endpoint.by_name.values() if one.name not in {"cursor", "limit"}]
    required = [one for one in params if one.required]
    optional = [one for one in params if not one.required]
    most = {"limit": str(endpoint.by_name["limit"].maximum)} if "limit" in endpoint.by_name else {}
    chosen: list[Sequence[Param]] = [[], *([one] for one in optional)]
    chosen += [
        chance.sample(optional, chance.randint(2, min(4, len(optional)))) for _ in range(_TRIED) if len(optional) > 1
    ]
    seen = set()
    for some in chosen:
        query = most | {one.name: _value(endpoint, one, words, chance) for one in (*required, *some)}
        target = _path(endpoint, words, chance) + (f"?{urlencode(query)}" if query else "")
        if target not in seen:
            seen.add(target)
            yield target
    for one in optional:  # every value of what has few
        for word in one.names if one.kind == "enum" else ():
            yield f"{_path(endpoint, words, chance)}?{urlencode(most | _given(endpoint, required, words, chance) | {one.name: word})}"


def mixtures(endpoint: Endpoint, words: Words, chance: random.Random, count: int = _MIXED) -> Iterator[str]:
    """
    Yield requests of a list that are dear unless an index helps by chance.

    They combine an order in either direction with bounds that are far from it or close together, a past day, and
    filters that few rows pass.
    """
    names = endpoint.by_name
    if "limit" not in names or not {"sort", "as_of", "since"} & names.keys():
        return
    today = datetime.now(UTC).date()

    def day() -> date:
        return today - timedelta(chance.choice(_AGO) + chance.randrange(3))

    for _ in range(count):
        query = {one.name: _value(endpoint, one, words, chance) for one in names.values() if one.required}
        query["limit"] = str(names["limit"].maximum)
        for name in ("sort", "order", "sources"):
            if name in names and names[name].names and chance.random() < 0.6:
                query[name] = chance.choice(names[name].names)
        for name in _FILTERS:
            if name in names and chance.random() < 0.15:
                query[name] = _value(endpoint, names[name], words, chance)
        for low, high in _PAIRS:
            if low in names and chance.random() < 0.5:
                first = day()
                last = first + timedelta(chance.choice(_APART))
                query |= chance.choice(
                    [
                        {low: first.isoformat()},
                        {high: first.isoformat()},
                        {low: first.isoformat(), high: last.isoformat()},
                    ]
                )
        if "as_of" in names and chance.random() < 0.3:
            query["as_of"] = min(day(), today - timedelta(1)).isoformat()
        yield f"{_path(endpoint, words, chance)}?{urlencode(query)}"


def _given(endpoint: Endpoint, required: Sequence[Param], words: Words, chance: random.Random) -> dict[str, str]:
    return {one.name: _value(endpoint, one, words, chance) for one in required}


def _path(endpoint: Endpoint, words: Words, chance: random.Random) -> str:
    parts = []
    for part in endpoint.path.split("/"):
        name = part.strip("{}")
        if part == name:
            parts.append(part)
            continue
        values = words.values["entity"] if "entities" in parts else words.values.get(name, ["USA"])
        parts.append(quote(chance.choice(words.derived if "derived-indicators" in parts else values), safe=""))
    return "/".join(parts)


def _value(endpoint: Endpoint, param: Param, words: Words, chance: random.Random) -> str:
    if param.name == "filter" and endpoint.path == "/equity-screener":
        return words.equity
    if param.kind == "enum":
        return chance.choice(param.names)
    if param.kind in {"time", "period"}:
        day = datetime(2015, 1, 1, tzinfo=UTC) + timedelta(days=chance.randrange(4_300))
        return (
            day.date().isoformat() if param.kind == "time" else str(chance.choice([day.year, day.date().isoformat()]))
        )
    if param.name in words.values:
        return chance.choice(words.values[param.name])
    return param.example or ("1" if param.kind == "integer" else "name")


class Searched(NamedTuple):
    """
    One search: its seed, the number of answered requests, the dearest of each operation, and all that may cost more
    than `MOST` plain pages.
    """

    seed: int
    tried: int
    dearest: dict[str, tuple[str, Cost]]
    above: list[tuple[str, Cost]]


def search(service: Service, words: Words, seed: int, say: Any) -> Searched:
    """Search every operation with one seed. Refused requests are skipped."""
    chance = random.Random(seed)
    dearest: dict[str, tuple[str, Cost]] = {}
    above: list[tuple[str, Cost]] = []
    every = 0
    for endpoint in service.app.endpoints:
        plain = service.ask_plain()
        targets = dict.fromkeys([*requests(endpoint, words, chance), *mixtures(endpoint, words, chance)])
        tried = [(target, service.cost(target)) for target in targets]
        answered = sorted((one for one in tried if one[1].status == 200), key=lambda one: -one[1].cpu)
        if not answered:
            raise RuntimeError(f"no request to {endpoint.path} was answered: {tried[0]}")
        # On a busy machine a plain page may later turn out cheaper, so more candidates are kept than seem too dear now.
        often = max(3, sum(one[1].cpu > MOST / 2 * plain for one in answered))
        again = [(target, min(cost, service.cost(target, _AGAIN))) for target, cost in answered[:often]]
        dearest[endpoint.path] = max(again, key=lambda one: one[1].cpu)
        above += again
        every += len(answered)
        say(f"seed {seed}: {len(tried):4} requests to {endpoint.path}")
    return Searched(seed, every, dearest, sorted(above, key=lambda one: -one[1].cpu))


class Running:
    """The service as an operator runs it, with all its processes, to measure the full cost of a request."""

    def __init__(self, server: Server, key: str) -> None:
        self._server = server
        self._headers = {"x-api-key": key}
        #: Lowest cost of plain pages so far, in milliseconds, because the service's own work interferes.
        self.plain: dict[str, float] = {}

    def cost(self, target: str, plain: str, dear: int = _DEAR) -> float:
        """Return the lowest CPU cost of a request in milliseconds, measured in turns with a plain one."""
        with contextlib.closing(HTTPConnection("127.0.0.1", self._server.port, timeout=120)) as one:
            for warm in (target, plain):
                self._ask(one, warm, 1)
            costs = []
            for _ in range(_ROUNDS):
                self._rest()
                costs.append(self._ask(one, target, dear))
                self.plain[plain] = min(self.plain.get(plain, float("inf")), self._ask(one, plain, _PLAIN_ONES))
        return min(costs)

    def _ask(self, connection: HTTPConnection, target: str, times: int) -> float:
        before = self._server.spent()
        for _ in range(times):
            connection.request("GET", target, headers=self._headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{target} was answered {answer.status}")
        return (self._server.spent() - before) / times / 1e6

    def _rest(self) -> None:
        until = time.monotonic() + _IDLE_SECONDS
        while time.monotonic() < until:
            began, before = time.monotonic_ns(), self._server.spent()
            time.sleep(0.2)
            if self._server.spent() - before < _IDLE * (time.monotonic_ns() - began):
                return


def outside(home: Path, key: str, dear: Sequence[str], lately: Sequence[tuple[str, str]], logs: Path) -> list[str]:
    """Measure the cost of requests to a running service, counting all its processes. Returns the lines of tables."""
    # No page cache.
    settings = {**environment(home), "ALMANAC_PAGE_CACHE_MIB": "0", "ALMANAC_HEAVY_REQUESTS": "4"}
    with interface("dearest", settings, logs, None) as server:
        running = Running(server, key)
        told = [(target, plain, running.cost(target, plain, _PLAIN_ONES)) for target, plain in lately]
        found = sorted(((running.cost(target, PLAIN), target) for target in dear), reverse=True)
    least = running.plain
    lines = ["", f"A plain page of the running service: {least[PLAIN]:.2f} ms of CPU."]
    lines += ["", "| of a running service: became known | ms of CPU | of a plain page |", "| --- | --: | --: |"]
    lines += [f"| `{target}` | {cost:.2f} | {cost / least[plain]:.1f} × |" for target, plain, cost in told]
    over = sum(cost > MOST * least[PLAIN] for cost, _ in found)
    lines += [
        "",
        f"Of {len(found)} dear ones {over} cost the running service more than {MOST} plain pages; the dearest:",
        "",
    ]
    lines += ["| of a running service | ms of CPU | of a plain page |", "| --- | --: | --: |"]
    lines += [f"| `{target}` | {cost:.2f} | {cost / least[PLAIN]:.1f} × |" for cost, target in found[:10]]
    return lines


def time_light_requests(home: Path, key: str, dear: str, logs: Path) -> list[float]:
    """
    Return the sorted milliseconds of light requests, one after the other, while two clients repeat a dear one all the
    time.
    """
    settings = {**environment(home), "ALMANAC_PAGE_CACHE_MIB": "0"}
    headers, over = {"x-api-key": key}, threading.Event()

    def client() -> None:
        with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=60)) as one:
            while not over.is_set():
                one.request("GET", dear, headers=headers)
                one.getresponse().read()

    taken: list[float] = []
    with interface("dearest", settings, logs, None) as server:
        port = server.port
        clients = [threading.Thread(target=client) for _ in range(2)]
        for one in clients:
            one.start()
        with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=60)) as light:
            until = time.monotonic() + _BESIDE_SECONDS
            while time.monotonic() < until:
                began = time.perf_counter()
                light.request("GET", LIGHT, headers=headers)
                light.getresponse().read()
                taken.append((time.perf_counter() - began) * 1000)
                time.sleep(0.005)
        over.set()
        for one in clients:
            one.join()
    return sorted(taken)


def measure(home: Path, key: str, seeds: Sequence[int], say: Any) -> str:
    """
    Measure recent knowledge times, the dearest request of each operation, every request that is too dear, and a light
    one beside dear ones. Returns tables.
    """
    service = Service(home, key)
    lines = ["| became known | of a plain page |", "| --- | --: |"]
    now = datetime.now(UTC).date()
    days = {"lately": now - timedelta(days=3), "long_ago": now - timedelta(days=3_650)}
    lately = [(target.format(**days), twin) for target, twin in LATELY]
    for asked, twin in lately:
        pairs = [(service.cost(asked, 3).cpu, service.cost(twin, 3).cpu) for _ in range(5)]
        lines.append(f"| `{asked}` | {min(one for one, _ in pairs) / min(one for _, one in pairs):.1f} × |")
    words = Words(service)
    searched = [search(service, words, seed, say) for seed in seeds]
    plain = service.ask_plain()
    most = sorted((one for each in searched for one in each.above), key=lambda one: -one[1].cpu)[:_SHOWN]
    searched = [one._replace(above=[each for each in one.above if each[1].cpu > MOST * plain]) for one in searched]
    lines = [f"A plain page of 500 rows: {plain:.2f} ms of CPU.", "", *lines]
    lines += ["", f"| seed | requests | above {MOST} plain pages |", "| --- | --: | --: |"]
    lines += [f"| {one.seed} | {one.tried} | {len(one.above)} |" for one in searched]
    lines += ["", f"| above {MOST} plain pages | of a plain page |", "| --- | --: |"]
    above = sorted((one for each in searched for one in each.above), key=lambda one: -one[1].cpu)
    lines += [f"| `{target}` | {cost.cpu / plain:.1f} × |" for target, cost in above]
    lines += ["", "| operation | dearest request found | of a plain page |", "| --- | --- | --: |"]
    found = {
        path: max((one.dearest[path] for one in searched), key=lambda pair: pair[1].cpu) for path in searched[0].dearest
    }
    for path, (target, cost) in sorted(found.items(), key=lambda one: -one[1][1].cpu):
        lines.append(f"| `{path}` | `{target}` | {cost.cpu / plain:.1f} × |")
    dear = max((one for path, one in found.items() if path.startswith("/observations")), key=lambda one: one[1].cpu)[0]
    logs = home / "logs"
    logs.mkdir(exist_ok=True)
    lines += outside(home, key, [target for target, _ in most], lately, logs)
    taken = time_light_requests(home, key, dear, logs)
    lines += [
        "",
        "| a light request beside two dear ones | requests | median ms | 99th percentile ms |",
        "| --- | --: | --: | --: |",
    ]
    lines.append(f"| `{dear}` | {len(taken)} | {taken[len(taken) // 2]:.1f} | {taken[len(taken) * 99 // 100]:.1f} |")
    return "\n".join(lines)
