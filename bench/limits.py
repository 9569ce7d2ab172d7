"""Exactness of limits: the number of requests admitted in each minute, over all workers, on one host and on two."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.data import PLAN, environment
from bench.servers import Server, free_port, running

_TARGET = "/sources?limit=1"
_MINUTE = 60


class Setting(NamedTuple):
    """The load: workers of all hosts together, connections, seconds, and the number of requests that a minute allows."""

    workers: int
    connections: int
    seconds: float
    limit: int


class Window(NamedTuple):
    """One minute: the number of requests answered, and of those admitted."""

    asked: int
    admitted: int


def measure(home: Path, key: str, setting: Setting, redis: str | None, say: Callable[[str], None]) -> str:
    """
    Measure the minutes of one process and, with a Redis, of two hosts. Returns a table. Raises RuntimeError if a limit
    isn't exact.
    """
    hosts: list[tuple[str, list[Path], str | None]] = [("one process", [home], None)]
    if redis is not None:
        other = home.with_name(f"{home.name}-other")
        if other.exists():
            shutil.rmtree(other)
        # Both hosts need the same accounts and secret, as with any operator of two hosts.
        shutil.copytree(home, other, ignore=shutil.ignore_patterns("run", "logs"))
        hosts.append(("two hosts, one Redis", [home, other], redis))
    rows = ["| | minute | requests | admitted | limit |", "| --- | --: | --: | --: | --: |"]
    amiss = []
    for name, homes, address in hosts:
        say(f"{name}: {setting.workers} workers, {setting.connections} connections, {setting.seconds:g} s")
        for number, window in enumerate(windows(homes, key, setting, address), 1):
            rows.append(f"| {name} | {number} | {window.asked:,} | {window.admitted:,} | {setting.limit:,} |")
            if window.admitted != min(window.asked, setting.limit):
                amiss.append(name)
    table = "\n".join(rows)
    if amiss:
        raise RuntimeError(f"not exact on {' and '.join(sorted(set(amiss)))}:\n{table}")
    return table


def windows(homes: Sequence[Path], key: str, setting: Setting, redis: str | None) -> list[Window]:
    """Run the load on all hosts at once, and return its minutes in order."""
    given = {f"ALMANAC_PLANS__{PLAN.upper()}__REQUESTS_PER_MINUTE": str(setting.limit), "ALMANAC_LOG_LEVEL": "error"}
    if redis is not None:
        given["ALMANAC_REDIS_URL"] = redis
    with contextlib.ExitStack() as stack:
        servers = [
            stack.enter_context(
                _host(f"host-{number}", home, 1 if redis is None else setting.workers // len(homes), given)
            )
            for number, home in enumerate(homes, 1)
        ]
        # Start so that the run covers two minutes, each long enough to use up the limit.
        wait = (-time.time() - setting.seconds / 2) % _MINUTE
        time.sleep(wait)
        found = asyncio.run(_load([server.port for server in servers], key, setting))
    ends = sorted({end for end, _ in found})
    return [Window(sum(count for (of, _), count in found.items() if of == end), found[end, 200]) for end in ends]


def _host(name: str, home: Path, workers: int, given: dict[str, str]) -> contextlib.AbstractContextManager[Server]:
    logs = home / "logs"
    logs.mkdir(exist_ok=True)
    port = free_port()
    words = ["serve", "--port", str(port), "--ops-port", str(free_port()), "--no-dashboard", "--workers", str(workers)]
    return running(
        name, [sys.executable, "-m", "almanac", *words], port, {**environment(home), **given}, logs, cpu=None
    )


async def _load(ports: Sequence[int], key: str, setting: Setting) -> Counter[tuple[str, int]]:
    """
    Count answers by status and by the end of the minute they counted in. Raises RuntimeError for a status other than
    200 and 429.
    """
    found: Counter[tuple[str, int]] = Counter()
    until = time.monotonic() + setting.seconds

    async def client(port: int) -> None:
        request = f"GET {_TARGET} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nx-api-key: {key}\r\n\r\n".encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.monotonic() < until:
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            await reader.readexactly(int(headers["content-length"]))
            status = int(head[0].split()[1])
            if status not in {200, 429}:
                raise RuntimeError(f"{_TARGET}: {head[0]}")
            found[headers["x-ratelimit-reset"], status] += 1
        writer.close()

    async with asyncio.TaskGroup() as group:
        for number in range(setting.connections):
            group.create_task(client(ports[number % len(ports)]))
    return found
