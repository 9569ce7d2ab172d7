"""The cost of a country brief: the first request for a country after the start, and repeated ones."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from bench.data import environment, fetch
from bench.servers import interface

#: Seconds for the service to prepare what all briefs share, which it does in a thread after its start.
_WARMING_SECONDS = 10.0
_AGAIN = 5


def measure(home: Path, key: str, say: Callable[[str], None]) -> str:
    """
    Measure the milliseconds of requests over loopback, one after the other so that none waits for another. Returns a
    table.
    """
    headers = {"x-api-key": key}
    logs = home / "logs"
    logs.mkdir(exist_ok=True)
    with interface("briefs", environment(home), logs, None) as server:
        port = server.port
        say("letting the service make what all briefs share")
        time.sleep(_WARMING_SECONDS)
        places = [
            one["isoAlpha3"]
            for one in msgspec.json.decode(fetch(port, "/countries?limit=500", headers))["data"]
            if one["isoAlpha3"] and one["indicatorCount"]
        ]
        first: list[float] = []
        again: list[float] = []
        for place in places:
            first.append(_timed(port, place, headers))
            again.extend(_timed(port, place, headers) for _ in range(_AGAIN))
    lines = [("first request of a country", first), ("asked again", again)]
    rows = [f"| {name} | {len(times):,} | {statistics.median(times):.1f} | {max(times):.1f} |" for name, times in lines]
    return "\n".join(["| country brief | requests | median ms | most ms |", "| --- | --: | --: | --: |", *rows])


def _timed(port: int, place: str, headers: dict[str, str]) -> float:
    began = time.perf_counter()
    fetch(port, f"/briefs/{place}", headers)
    return (time.perf_counter() - began) * 1000
