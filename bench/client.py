"""What the Python client adds to the pages it asks for: to import it, and to make a frame of all history of 35 countries."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx2

from almanac_client import Almanac
from bench.data import environment
from bench.servers import free_port, running

_ROUNDS = 7
_INDICATOR = "cpi_inflation_yoy"
_IMPORTS = {
    "nothing": "pass",
    "almanac_client": "import almanac_client",
    "httpx2 and msgspec": "import httpx2, msgspec",
}


def imports(rounds: int = _ROUNDS) -> dict[str, float]:
    """What is imported → the median seconds of a process that does so, one after the other in turns."""
    taken: dict[str, list[float]] = {name: [] for name in _IMPORTS}
    for _ in range(rounds):
        for name, code in _IMPORTS.items():
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            taken[name].append(time.perf_counter() - began)
    return {name: statistics.median(times) for name, times in taken.items()}


def pages_alone(url: str, key: str, countries: str) -> int:
    """Every page, one after the other, its body read and looked into no further than for the next cursor. Rows."""
    rows, query = 0, {"indicator": _INDICATOR, "country": countries, "limit": "500"}
    with httpx2.Client(base_url=url, headers={"x-api-key": key}) as http:
        while True:
            body = http.get("/derived-observations", params=query).raise_for_status().content
            rows += body.count(b'"periodEnd"')
            _, found, tail = body[-2_000:].partition(b'"next_cursor":"')
            if not found:
                return rows
            query["cursor"] = tail.partition(b'"')[0].decode()


def measure(home: Path, key: str, say: Callable[[str], None]) -> str:
    """Both, as lines of text. Every way of asking takes its turn in each round."""
    port = free_port()
    command = [sys.executable, "-m", "almanac", "serve", "--port", str(port), "--ops-port", str(free_port())]
    lines = [f"| {name} imported | {seconds * 1000:.0f} ms |" for name, seconds in imports().items()]
    taken: dict[str, list[float]] = {}
    counts: dict[str, int] = {}
    with running("client", command, port, environment(home), home, None) as server:
        server.wait()
        url = f"http://127.0.0.1:{port}"
        almanac = Almanac(url=url, api_key=key)
        places = [one.iso_alpha3 for one in almanac.countries.list(has_data=True) if one.kind == "country"]
        countries = ",".join(place for place in places if place)
        ways: dict[str, Callable[[], int]] = {
            "the pages alone": lambda: pages_alone(url, key, countries),
            "as rows": lambda: len(almanac.derived.observations(indicator=_INDICATOR, country=countries).all()),
            "as a frame of pandas": lambda: len(
                almanac.derived.observations(indicator=_INDICATOR, country=countries).to_pandas()
            ),
            "as a frame of polars": lambda: len(
                almanac.derived.observations(indicator=_INDICATOR, country=countries).to_polars()
            ),
        }
        for number in range(_ROUNDS + 1):
            say(f"client: round {number} of {_ROUNDS}")
            for name, ask in ways.items():
                began = time.perf_counter()
                counts[name] = ask()
                if number:
                    taken.setdefault(name, []).append(time.perf_counter() - began)
    if len(set(counts.values())) != 1:
        raise RuntimeError(f"the ways of asking gave different numbers of rows: {counts}")
    floor = statistics.median(taken["the pages alone"])
    lines += [
        f"| {counts[name]:,} rows, {name} | {statistics.median(times) * 1000:.0f} ms, {statistics.median(times) / floor:.2f} × |"
        for name, times in taken.items()
    ]
    return "\n".join(["| the Python client | median |", "| --- | --- |", *lines])
