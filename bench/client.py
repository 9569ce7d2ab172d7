"""The cost of the Python client: its import, and frames of the full history of 35 countries compared with the plain pages."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import httpx2

from almanac_client import Almanac, Rows
from almanac_client._generated_models import DerivedObservation
from bench.data import environment
from bench.servers import free_port, running

_ROUNDS = 7
#: All published states of this indicator: some thirty thousand rows of 35 countries.
_INDICATOR, _PATH = "unemployment_rate", "/observations/vintages"
_IMPORTS = {
    "nothing": "pass",
    "almanac_client": "import almanac_client",
    "httpx2 and msgspec": "import httpx2, msgspec",
}


def imports(rounds: int = _ROUNDS) -> dict[str, float]:
    """Return the median seconds of a process for each import, measured in turns."""
    taken: dict[str, list[float]] = {name: [] for name in _IMPORTS}
    for _ in range(rounds):
        for name, code in _IMPORTS.items():
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            taken[name].append(time.perf_counter() - began)
    return {name: statistics.median(times) for name, times in taken.items()}


def pages_alone(http: httpx2.Client, countries: str) -> int:
    """Read every page, one after the other, and look only for the next cursor. Returns the number of rows."""
    rows, query = 0, {"indicator": _INDICATOR, "country": countries, "limit": "500"}
    while True:
        body = http.get(_PATH, params=query).raise_for_status().content
        rows += body.count(b'"revisionStatus"')
        _, found, tail = body[-2_000:].partition(b'"next_cursor":"')
        if not found:
            return rows
        query["cursor"] = tail.partition(b'"')[0].decode()


def ways(almanac: Almanac, http: httpx2.Client) -> dict[str, Callable[[], int]]:
    """Return functions that request the same rows in different ways, by name. Each returns the number of rows."""
    places = [one.iso_alpha3 or one.id for one in almanac.countries.list(has_data=True) if one.kind == "country"]
    countries = ",".join(places)
    days = [date(year, month, 1) for year in range(2005, 2026) for month in range(1, 13)]

    def rows() -> Rows[DerivedObservation]:
        return almanac.observations.vintages(indicator=_INDICATOR, country=countries)

    def panel() -> int:
        # A panel has dates × countries rows, so they are not counted; the walk behind it is the same.
        return 0 * len(almanac.panel(_INDICATOR, places, at=days).to_pandas())

    return {
        "the pages alone": lambda: pages_alone(http, countries),
        "as rows": lambda: len(rows().all()),
        "as a frame of pandas": lambda: len(rows().to_pandas()),
        "as a frame of polars": lambda: len(rows().to_polars()),
        f"a panel of {len(places)} countries on {len(days)} days": panel,
    }


def measure(home: Path, key: str, say: Callable[[str], None]) -> str:
    """Measure imports and requests, and return a table. Every way of requesting takes its turn in each round."""
    port = free_port()
    command = [sys.executable, "-m", "almanac", "serve", "--port", str(port), "--ops-port", str(free_port())]
    lines = [f"| {name} imported | {seconds * 1000:.0f} ms |" for name, seconds in imports().items()]
    taken: dict[str, list[float]] = {}
    counts: dict[str, int] = {}
    with running("client", command, port, environment(home), home, None) as server:
        server.wait()
        url = f"http://127.0.0.1:{port}"
        with (
            Almanac(url=url, api_key=key) as almanac,
            httpx2.Client(base_url=url, headers={"x-api-key": key}, trust_env=False) as http,
        ):
            every = ways(almanac, http)
            for number in range(_ROUNDS + 1):
                say(f"client: round {number} of {_ROUNDS}")
                for name, ask in every.items():
                    began = time.perf_counter()
                    counts[name] = ask()
                    if number:
                        taken.setdefault(name, []).append(time.perf_counter() - began)
    if len(set(filter(None, counts.values()))) != 1:
        raise RuntimeError(f"the ways of asking gave different numbers of rows: {counts}")
    floor = statistics.median(taken["the pages alone"])
    for name, times in taken.items():
        middle = statistics.median(times)
        told = f"{counts[name]:,} rows, {name}" if counts[name] else name
        lines.append(f"| {told} | {middle * 1000:.0f} ms, {middle / floor:.2f} × |")
    return "\n".join(["| the Python client | median |", "| --- | --- |", *lines])
