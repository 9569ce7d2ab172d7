"""The dearest request of each operation: generated requests over the whole store, against a plain page of 500 rows."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from urllib.parse import quote, urlencode

from almanac.api.contract.endpoint import Endpoint
from almanac.api.contract.params import Param
from bench.inside import Service

_SEED = 20_261_122
#: Mixtures of parameters tried for each operation, and mixtures of orders, bounds and filters for each list.
_TRIED, _MIXED = 40, 150
#: No request should cost more than this many plain pages.
MOST = 50
#: Days before today at which bounds are tried (recent, old, and before all data), and days between two bounds.
_AGO = (0, 1, 3, 30, 200, 400, 1_000, 2_000, 2_600, 3_650, 5_500, 9_000, 20_000)
_APART = (0, 1, 3, 30, 400)
#: Pairs of bounds that belong together, and filters that pass few or many rows.
_PAIRS = (("start_date", "end_date"), ("period_start", "period_end"))
_FILTERS = ("frequency", "source_id", "provider_id", "indicator_id", "country", "kind", "freshness")
#: Repetitions of a request at first, and of the dearest ones again. The lowest cost counts, which excludes loading.
_ONCE, _AGAIN = 2, 5
PLAIN = "/observations?limit=500"


class Words:
    """Values for parameters that name something in the store."""

    def __init__(self, service: Service) -> None:
        def ids(path: str, field: str = "id") -> list[str]:
            return [row[field] for row in service.body(f"{path}?limit=500")["data"]]

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
        self.derived = ids("/derived-indicators", "slug")
        self.equity = "net_margin:gt:0.1,score:gt:10"


def requests(endpoint: Endpoint, words: Words, chance: random.Random) -> Iterator[str]:
    """Yield requests of one operation: each filter, sort and bound alone, then combinations, then every choice."""
    params = [param for param in endpoint.by_name.values() if param.name not in {"cursor", "limit"}]
    required = [param for param in params if param.required]
    optional = [param for param in params if not param.required]
    limit = {"limit": str(endpoint.by_name["limit"].maximum)} if "limit" in endpoint.by_name else {}
    sets: list[list[Param]] = [[], *([param] for param in optional)]
    for _ in range(_TRIED if len(optional) > 1 else 0):
        sets.append(chance.sample(optional, chance.randint(2, min(4, len(optional)))))
    for chosen in sets:
        query = limit | {param.name: _value(endpoint, param, words, chance) for param in (*required, *chosen)}
        yield _address(endpoint, query, words, chance)
    for param in optional:
        for choice in param.names if param.kind == "enum" else ():
            query = limit | {each.name: _value(endpoint, each, words, chance) for each in required}
            yield _address(endpoint, query | {param.name: choice}, words, chance)


def mixtures(endpoint: Endpoint, words: Words, chance: random.Random) -> Iterator[str]:
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

    for _ in range(_MIXED):
        query = {param.name: _value(endpoint, param, words, chance) for param in names.values() if param.required}
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
                bounds = {low: first.isoformat(), high: (first + timedelta(chance.choice(_APART))).isoformat()}
                for name in chance.choice(((low,), (high,), (low, high))):
                    query[name] = bounds[name]
        if "as_of" in names and chance.random() < 0.3:
            query["as_of"] = min(day(), today - timedelta(1)).isoformat()
        yield _address(endpoint, query, words, chance)


def _address(endpoint: Endpoint, query: dict[str, str], words: Words, chance: random.Random) -> str:
    parts: list[str] = []
    for part in endpoint.path.split("/"):
        name = part.strip("{}")
        values = words.values["entity"] if "entities" in parts else words.values.get(name, ["USA"])
        values = words.derived if "derived-indicators" in parts else values
        parts.append(part if part == name else quote(chance.choice(values), safe=""))
    return "/".join(parts) + (f"?{urlencode(query)}" if query else "")


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


def measure(home: Path, key: str, say: Callable[[str], None]) -> str:
    """Search every operation. Returns tables of the requests that are too dear, and of the dearest of each operation."""
    plain = float("inf")
    dearest: dict[str, tuple[float, str]] = {}
    above: list[tuple[float, str]] = []
    count = 0
    chance = random.Random(_SEED)
    with contextlib.closing(Service(home, key, ALMANAC_HEAVY_REQUESTS="4")) as service:
        words = Words(service)
        for endpoint in service.app.endpoints:
            # Measured again and again, because the machine may be busy.
            plain = min(plain, service.cost(PLAIN, 10)[0])
            targets = dict.fromkeys([*requests(endpoint, words, chance), *mixtures(endpoint, words, chance)])
            costs = {target: service.cost(target, _ONCE) for target in targets}
            answered = sorted(((cpu, target) for target, (cpu, status) in costs.items() if status == 200), reverse=True)
            if not answered:
                raise RuntimeError(f"no request to {endpoint.path} was answered: {next(iter(costs.items()))}")
            # On a busy machine a plain page may later turn out cheaper, so more are kept than seem too dear now.
            often = max(3, sum(cpu > MOST / 2 * plain for cpu, _ in answered))
            again = [(min(cpu, service.cost(target, _AGAIN)[0]), target) for cpu, target in answered[:often]]
            dearest[endpoint.path] = max(again)
            above += again
            count += len(answered)
            say(f"{len(targets):4} requests to {endpoint.path}")
    too_dear = sorted((pair for pair in above if pair[0] > MOST * plain), reverse=True)
    lines = [
        f"A plain page of 500 rows: {plain:.2f} ms of CPU. Of {count:,} requests {len(too_dear)} took more than {MOST}."
    ]
    lines += ["", f"| above {MOST} plain pages | of a plain page |", "| --- | --: |"]
    lines += [f"| `{target}` | {cpu / plain:.1f} × |" for cpu, target in too_dear]
    lines += ["", "| operation | dearest request found | of a plain page |", "| --- | --- | --: |"]
    for path, (cpu, target) in sorted(dearest.items(), key=lambda pair: -pair[1][0]):
        lines.append(f"| `{path}` | `{target}` | {cpu / plain:.1f} × |")
    return "\n".join(lines)
