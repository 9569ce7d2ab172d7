"""
The cost of more rows: the same pages from stores of several sizes, and a worker's memory.

The simulated world is larger than the smallest and smaller than the largest of these stores, so their series are
generated here, all alike; a store is a number of them.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Callable, Sequence
from datetime import date
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from almanac.domain.observations import ReportedValue
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec
from almanac.domain.times import end_of_day
from almanac.sandbox.fred_series import extra_series
from almanac.store.engine import opening
from almanac.store.log.payloads import PayloadRef
from almanac.store.observations.writing.batch import Batch
from bench import data, report
from bench.contenders import Contender, almanac_target, read_through
from bench.servers import Server, interface

#: Pages requested from each store in turn: more than any page cache holds.
_PAGES = 40_000
#: Days of each series, and the last of them.
_DAYS, _LAST = 15_000, date(2025, 6, 30).toordinal()
_SEED = 7
#: A source that may be redistributed. Its series are invented here, for this benchmark only.
_SOURCE = "us-treasury-par"


class Memory(NamedTuple):
    """A process's memory in bytes: its own, and pages of mapped files, which the system may reclaim."""

    own: int
    mapped: int


def memory_of(process: int) -> Memory | None:
    """Return a process's memory, or None if the system doesn't tell."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text("ascii").splitlines()
    except OSError:
        return None
    figures = {name: int(rest.split()[0]) << 10 for name, _, rest in (line.partition(":") for line in lines[1:])}
    return Memory(figures["Anonymous"], figures["Rss"] - figures["Anonymous"])


def prepare(folder: Path, observations: int, say: Callable[[str], None]) -> tuple[Path, str]:
    """Create a store of daily series with this many rows, unless it exists, and a new key. Returns home and key."""
    home = folder / f"growth-{observations}"
    made = home / "made"
    if home.exists() and not made.exists():
        raise RuntimeError(f"{home} was not made by a measurement and is left alone; choose another --folder")
    if not home.exists() or made.read_text("ascii") != data.schema():
        if home.exists():
            shutil.rmtree(home)
        home.mkdir(parents=True)
        made.write_text("unfinished", "ascii")
        say(f"making a store of {observations:,} observations in {home} …")
        began = time.perf_counter()
        _fill(home / "data.db", observations)
        # Derive now: the service would otherwise do it at its start, which takes longer than the benchmark waits.
        data.almanac(home, "derive")
        data.almanac(home, "accounts", "create", data.EMAIL, "--plan", data.PLAN)
        made.write_text(data.schema(), "ascii")
        say(f"made in {time.perf_counter() - began:.0f} s")
    return home, json.loads(data.almanac(home, "keys", "create", "--account", data.EMAIL, "--json"))["key"]


def _fill(path: Path, observations: int) -> None:
    """Fill a database with observations. Raises ValueError if there are too few pairs of indicator and country for them."""
    series = list(islice(extra_series(()), -(-observations // _DAYS)))
    if len(series) * _DAYS < observations:
        raise ValueError(f"at most {len(series) * _DAYS} observations, not {observations}")
    days = [date.fromordinal(_LAST - back) for back in reversed(range(_DAYS))]
    cells = [(Period(day, day).key, end_of_day(day)) for day in days]
    generator = np.random.default_rng(_SEED)
    with contextlib.closing(opening.create(path)) as database:
        for number, one in enumerate(series):
            values = np.round(generator.normal(3.0, 1.0, _DAYS), 3).tolist()
            stated = [
                ReportedValue(period, value, known, known) for (period, known), value in zip(cells, values, strict=True)
            ]
            spec = SeriesSpec(
                source=_SOURCE, native=one.native, indicator=one.indicator, entity=one.entity,
                frequency=Frequency.DAILY, unit="percent", name=one.name,
            )  # fmt: skip
            now = cells[-1][1] + 1 + number
            payload = PayloadRef(now, now, (now, f"{now:064x}"))
            with Batch(database, now, "bench") as batch:
                last = observations - number * _DAYS
                batch.append(batch.series(spec, "raw"), payload, stated[:last], None)


class Ask(NamedTuple):
    """The load on each store: its length, number of rounds, connections, and the cores used."""

    rounds: int
    seconds: float
    connections: int
    server_cpu: int | None
    client_cpu: int | None


def measure(
    folder: Path,
    sizes: Sequence[int],
    ask: Ask,
    say: Callable[[str], None],
    load: Callable[..., tuple[report.Round, int]],
) -> str:
    """Measure the sizes in turns, as contenders. Returns a table, smallest size first."""
    as_of = data.year_ago(int(time.time()))
    rounds: dict[str, list[report.Round]] = {}
    places: dict[str, int] = {}
    held: dict[str, Memory | None] = {}
    with contextlib.ExitStack() as stack:
        every: list[Contender] = []
        for size in sorted(sizes):
            home, key = prepare(folder, size, say)
            pages = data.pages(home, as_of)[:_PAGES]
            logs = home / "logs"
            logs.mkdir(exist_ok=True)
            server = stack.enter_context(interface("growth", data.environment(home), logs, ask.server_cpu))
            targets = [almanac_target(page) for page in pages]
            every.append(Contender(f"{size:,}", server, targets, {"x-api-key": key}))
            read_through(home / "data.db")
        for number in range(ask.rounds + 1):
            say("warming up" if not number else f"round {number} of {ask.rounds}")
            for one in every:
                found, places[one.name] = load(
                    one, folder, seconds=ask.seconds, connections=ask.connections, first=places.get(one.name, 0),
                    cpu=ask.client_cpu,
                )  # fmt: skip
                if number:
                    rounds.setdefault(one.name, []).append(found)
        for one in every:
            held[one.name] = _worker_memory(one.server)
    return _table(report.lines(rounds), held)


def _worker_memory(server: Server) -> Memory | None:
    return memory_of(server.worker())


def _table(lines: Sequence[report.Line], held: dict[str, Memory | None]) -> str:
    rows = [
        "| observations | fresh pages, ratio | least to most | ratio by CPU | server CPU µs/answer | worker's own memory, MB | with mapped files, MB |",
        "| --: | --: | --: | --: | --: | --: | --: |",
    ]
    for line in lines:
        memory = held[line.name]
        told = " | " if memory is None else f"{memory.own / 1e6:,.0f} | {(memory.own + memory.mapped) / 1e6:,.0f}"
        share = "" if line.cpu_ratio is None else f"{line.cpu_ratio:.3f}"
        cpu = "" if line.server_cpu is None else f"{line.server_cpu:,.0f}"
        rows.append(
            f"| {line.name} | {line.ratio:.3f} | {line.low:.3f} to {line.high:.3f} | {share} | {cpu} | {told} |"
        )
    return "\n".join(rows)
