"""Requests by chance over every operation that a running service describes: the same for the same seed and data."""

import hashlib
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import httpx2

_REQUEST_ID = re.compile(rb"req_[0-9A-Z]{26}")
_META = b',"meta":{"request_id":'
#: Pages of a list that are walked from one request.
_PAGES = 3
#: Parameters that make an answer small.
_NARROW = {"indicator", "country", "sector", "filter", "q"}


class Vocabulary:
    """Values that parameters may have, read from the lists of the service itself."""

    def __init__(self, client: httpx2.Client) -> None:
        def every(path: str, most: int = 4) -> list[dict[str, Any]]:
            rows: list[dict[str, Any]] = []
            query: dict[str, Any] = {"limit": 200}
            for _ in range(most):
                body = client.get(f"{path}{'&' if '?' in path else '?'}{urlencode(query)}").json()
                rows += body["data"]
                if not body["meta"]["pagination"]["has_more"]:
                    break
                query["cursor"] = body["meta"]["pagination"]["next_cursor"]
            return rows

        indicators = every("/indicators", 10)
        countries = every("/countries")
        companies = every("/companies")
        latest = every("/observations/latest") + [
            row for country in ("USA", "DEU", "JPN") for row in every(f"/observations/latest?country={country}")
        ]
        self.version = client.get("/coverage").json()["data"]["dataVersion"]
        self.ids = [row["id"] for row in latest]
        macro = client.get("/screener/filters").json()["data"]["fields"]
        equity = client.get("/equity-screener/filters").json()["data"]["fields"]
        self.fields = {"/screener": macro, "/equity-screener": equity}
        raw = [one["slug"] for one in indicators if one["kind"] == "raw" and one["seriesCount"]]
        derived = [one["slug"] for one in indicators if one["kind"] == "derived" and one["seriesCount"]]
        places = [one["isoAlpha3"] or one["slug"] for one in countries]
        firms = [one["ticker"] or one["entityId"] for one in companies]
        sources = every("/sources")
        self.values: dict[str, list[str]] = {
            "indicator": raw + derived,
            "indicator_id": raw + derived,
            "idOrSlug": raw + derived,
            "country": places,
            "idOrIso": places,
            "entity": [*(one["slug"] for one in countries), *(one["entityId"] for one in companies)],
            "entity_id": [*(one["id"] for one in countries), *(one["entityId"] for one in companies)],
            "source_id": [one["id"] for one in sources],
            "provider_id": sorted({one["providerId"] for one in sources}),
            "scope": ["AUS", "CAN", "CHE", "EUR", "GBR", "JPN", "USA", "FRA"],
            "idOrLookup": firms,
            "alias": [one["name"] for one in companies] + [one["name"] for one in countries] + firms,
            "sector": sorted({one["sector"] for one in companies}),
            "industry": sorted({one["industry"] for one in companies if one["industry"]}),
            "q": ["inflation", "yield", "bank", "a", "gdp"],
            # All that ever changed is a long list: asked for now and then.
            "since": [str(self.version - back) for back in (0, 1, 2, 5)] * 5 + ["0"],
            "status": ["released", "revised", "scheduled", "tentative"],
            "period": ["2024", "2025-Q1", "2025-03", "2025-03-03", "2023"],
        }
        self.derived = derived


def requests(client: httpx2.Client, seed: int, count: int) -> Iterator[str]:
    """Targets, some of them refused for what they ask: as many for each operation."""
    chance = random.Random(seed)
    told = client.get("/openapi.json").json()
    words = Vocabulary(client)
    operations = sorted(told["paths"])
    for number in range(count):
        yield _request(chance, told["paths"], operations[number % len(operations)], words)


def _request(chance: random.Random, paths: Mapping[str, Any], path: str, words: Vocabulary) -> str:
    query: dict[str, str] = {}
    target = path
    for param in paths[path]["get"].get("parameters", []):
        name = param["name"]
        if param["in"] == "path":
            target = target.replace("{" + name + "}", quote(_path_value(chance, path, name, words), safe=""))
        elif param["in"] == "query" and name != "cursor":
            # Most people ask for something of some place, and so do most of these: a list of all costs seconds.
            likely = 1.0 if param.get("required") else 0.6 if name in _NARROW else 0.18
            if chance.random() < likely:
                query[name] = _value(chance, path, param, words)
    if chance.random() < 0.02:
        query["unknown_parameter"] = "1"
    return f"{target}?{urlencode(query)}" if query else target


def _path_value(chance: random.Random, path: str, name: str, words: Vocabulary) -> str:
    if chance.random() < 0.03:
        return "nothing-of-that-name"
    if name == "id":
        return chance.choice(words.ids or ["obs_none"])
    if path.startswith("/derived-indicators"):
        return chance.choice(words.derived)
    if path.startswith("/entities"):
        return chance.choice(words.values["entity"])
    return chance.choice(words.values[name] or ["nothing-of-that-name"])


def _value(chance: random.Random, path: str, param: Mapping[str, Any], words: Vocabulary) -> str:
    name, schema = param["name"], param["schema"]
    if chance.random() < 0.01:
        return ""
    if name == "filter":
        return ",".join(_clause(chance, words.fields[path]) for _ in range(chance.randint(1, 3)))
    if name == "sort" and path == "/equity-screener":
        return str(chance.choice([*(field["field"] for field in words.fields[path]), "ticker", "name"]))
    if "enum" in schema:
        return str(chance.choice(schema["enum"]))
    if name == "limit":
        return str(chance.choice([1, 2, 5, 17, 100, schema.get("maximum", 100)]))
    if name in words.values:
        return chance.choice(words.values[name] or ["nothing-of-that-name"])
    if name in {"as_of", "start_date", "end_date", "period_start", "period_end"}:
        return f"{chance.randint(2015, 2026)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
    return (
        "1" if schema.get("type") == "integer" else chance.choice(["D", "M", "Q", "A", "annual", "quarterly", "name"])
    )


def _clause(chance: random.Random, fields: list[dict[str, Any]]) -> str:
    field = chance.choice(fields)
    if field["type"] == "text":
        return f"{field['field']}:eq:usd" if field["field"] == "currency" else f"{field['field']}:eq:technology"
    low, high = field.get("min"), field.get("max")
    value = 0.0 if low is None or high is None else low + (high - low) * chance.random()
    return f"{field['field']}:{chance.choice(['gt', 'lt', 'gte', 'lte'])}:{value:.6g}"


def digest(answer: httpx2.Response) -> str:
    """Of `data` as sent; of an error, or of what has no envelope, the whole without the request's id."""
    body = answer.content
    if answer.status_code == 200 and _META in body:
        body = body.rpartition(_META)[0]
    return hashlib.sha256(_REQUEST_ID.sub(b"", body)).hexdigest()[:24]


def ask(client: httpx2.Client, target: str) -> Iterator[tuple[str, int, str]]:
    """Answers to a request and to the pages after it: (target without its cursor and number of the page, status, digest)."""
    url = target
    for page in range(_PAGES):
        answer = client.get(url)
        yield f"{target}#{page}" if page else target, answer.status_code, digest(answer)
        if answer.status_code != 200 or not answer.headers["content-type"].startswith("application/json"):
            return
        cursor = answer.json().get("meta", {}).get("pagination", {}).get("next_cursor")
        if cursor is None:
            return
        url = f"{target}{'&' if '?' in target else '?'}cursor={cursor}"
