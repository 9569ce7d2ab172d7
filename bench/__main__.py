"""
The command `python -m bench`: all comparisons in one run. Everything stays on this host; only processes started here
are stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench import data, dearest, engines, growth, limits, looks, market, postgrest, report, store
from bench.contenders import FLOOR, FRESH, OURS, Contender, Peers, contenders
from bench.load import LoadError

_ROOT = Path(__file__).resolve().parents[1]
_WARM_SECONDS = 1.0


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line. Limits on the values keep a typing error from starting a run of a day."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Almanac beside its peers.")
    parser.add_argument(
        "what",
        nargs="?",
        choices=["pages", "store", "dearest", "looks", "engines", "growth", "limits", "market"],
        help="what to measure; nothing: all that takes minutes, which engines, growth, limits and market do not",
    )
    parser.add_argument("--observations", type=int, default=1_000_000, help="rows of the store (default: %(default)s)")
    parser.add_argument("--companies", type=int, default=6_000, help="of the large market (default: %(default)s)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000],
                        help="of growth: rows of the stores that are compared (default: %(default)s)")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=7, choices=range(1, 101), metavar="1..100")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each contender in each round")
    parser.add_argument("--connections", type=int, default=32, choices=range(1, 1025), metavar="1..1024")
    parser.add_argument("--folder", type=Path, default=_ROOT / ".almanac" / "bench", help="where the store is kept")
    parser.add_argument(
        "--home", type=Path, help="a store that is there already, which gets an account; for `dearest` and the like"
    )
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=dearest.SEEDS, help="of the searches for the dearest request"
    )
    parser.add_argument("--peers", type=Path, default=_ROOT / ".venv-bench" / "bin" / "python",
                        help="interpreter with requirements/bench.txt installed")  # fmt: skip
    parser.add_argument(
        "--redis", help="of limits: a Redis for two hosts, as redis://127.0.0.1:6379/0; without it, one host only"
    )
    parser.add_argument("--workers", type=int, default=8, help="of limits: of all hosts together")
    parser.add_argument("--limit", type=int, default=5_000, help="of limits: requests that a minute allows")
    parser.add_argument("--limit-connections", type=int, default=200, help="of limits (default: %(default)s)")
    parser.add_argument("--limit-seconds", type=float, default=60.0, help="of limits (default: %(default)s)")
    parser.add_argument("--postgrest", type=Path, default=_ROOT / ".venv-bench" / postgrest.PROGRAM,
                        help="program of PostgREST; without it, or without PostgreSQL, that peer is left out")  # fmt: skip
    parser.add_argument(
        "--postgres",
        help="a server where PostgREST, and the second engine of `engines`, get databases of their own",
    )
    parser.add_argument("--without-peers", action="store_true", help="only Almanac and the floor")
    chosen = parser.parse_args(words)
    if not 0.1 <= chosen.seconds <= 600:
        parser.error("--seconds must lie between 0.1 and 600")
    if chosen.what == "engines" and chosen.postgres is None:
        parser.error("name a server by --postgres")
    if not chosen.without_peers and chosen.what in {None, "pages"} and not chosen.peers.exists():
        parser.error(f"there is no {chosen.peers}; `make bench` makes it, --without-peers goes without")
    return chosen


def cores() -> tuple[int | None, int | None]:
    """
    Return a core for the servers and one for the client, or None for both if cores can't be chosen or there is only
    one.
    """
    if not hasattr(os, "sched_getaffinity"):
        return None, None
    allowed = sorted(os.sched_getaffinity(0))
    return (allowed[0], allowed[1]) if len(allowed) > 1 else (None, None)


def load(
    contender: Contender, folder: Path, *, seconds: float, connections: int, first: int, cpu: int | None
) -> tuple[report.Round, int]:
    """
    Run the load once against one contender. Returns the round, and the position in its list from which to continue.
    Raises LoadError.
    """
    targets = folder / "targets"
    targets.write_text("\n".join(contender.targets), "ascii")
    job = {
        "port": contender.server.port, "targets": str(targets), "headers": contender.headers, "seconds": seconds,
        "connections": connections, "first": first, "most": 10_000_000, "cpu": cpu, "status": contender.status,
    }  # fmt: skip
    before = contender.server.cpu()
    done = subprocess.run(
        [sys.executable, "-m", "bench.load"],
        input=json.dumps(job),
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    after = contender.server.cpu()
    if done.returncode:
        raise LoadError(f"{contender.name}: {done.stderr.strip()}")
    outcome = json.loads(done.stdout)
    count = len(outcome["latencies"])
    cpu_each = None if before is None or after is None else (after - before) / count * 1e6
    return (
        report.Round(
            count / outcome["seconds"], cpu_each, outcome["client_cpu"] / outcome["seconds"], outcome["latencies"],
            outcome["bytes"] / count,
        ),
        first + count,
    )  # fmt: skip


def measure_pages(chosen: argparse.Namespace) -> str:
    """Compare pages and return the results as a table."""
    home, key = data.prepare(chosen.folder, chosen.observations, say)
    as_of = data.year_ago(int(time.time()))
    pages = data.pages(home, as_of)
    say(f"{len(pages):,} different pages of {data.ROWS} rows")
    server_cpu, client_cpu = cores()
    rounds: dict[str, list[report.Round]] = {}
    places: dict[str, int] = {}
    peers = None if chosen.without_peers else Peers(chosen.peers, chosen.postgrest, chosen.postgres or postgrest.SERVER)
    revised = data.revised(home, as_of, say)
    with contenders(home, key, pages, as_of, peers, server_cpu, revised, say) as every:
        for number in range(chosen.rounds + 1):
            say("warming up" if not number else f"round {number} of {chosen.rounds}")
            for one in every:
                seconds = chosen.seconds if number else min(_WARM_SECONDS, chosen.seconds)
                connections = min(chosen.connections, one.connections or chosen.connections)
                found, places[one.name] = load(
                    one, home, seconds=seconds, connections=connections, first=places.get(one.name, 0), cpu=client_cpu
                )
                if number:
                    rounds.setdefault(one.name, []).append(found)
    tables = [report.table(report.lines(rounds))]
    others = [name for name in rounds if not name.startswith((OURS, FLOOR))]
    if others:
        tables.append(report.against(FRESH, rounds, others))
    return "\n\n".join(tables)


def measure_engines(chosen: argparse.Namespace, home: Path, key: str) -> str:
    """Compare both engines and return the results as tables."""
    as_of = data.year_ago(int(time.time()))
    return engines.measure(
        chosen.folder, home, key, chosen.postgres, as_of, say, load,
        rounds=chosen.rounds, seconds=chosen.seconds, connections=chosen.connections,
    )  # fmt: skip


def say(text: str) -> None:
    """Print a message to standard error. Figures go to standard output."""
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Run the requested measurements and print their results."""
    chosen = arguments()
    if chosen.what in {None, "pages"}:
        print(measure_pages(chosen), flush=True)
    if chosen.what == "market":
        chosen.folder.mkdir(parents=True, exist_ok=True)
        print(market.measure(chosen.folder, chosen.companies, say), flush=True)
        return
    if chosen.what == "growth":  # only when asked for: the largest store takes a quarter of an hour and 15 GB of disk
        ask = growth.Ask(chosen.rounds, chosen.seconds, chosen.connections, *cores())
        print(growth.measure(chosen.folder, chosen.sizes, ask, say, load), flush=True)
        return
    if chosen.what == "limits":  # two minutes for each number of hosts
        home, key = growth.prepare(chosen.folder, min(chosen.sizes), say)
        setting = limits.Setting(chosen.workers, chosen.limit_connections, chosen.limit_seconds, chosen.limit)
        print(limits.measure(home, key, setting, chosen.redis, say), flush=True)
        return
    home, key = (
        data.prepare(chosen.folder, chosen.observations, say) if chosen.home is None else data.account_of(chosen.home)
    )
    if chosen.what in {None, "store"}:
        print(store.measure(home, home, say), flush=True)
    if chosen.what in {None, "looks"}:
        print(looks.measure(home, key, say), flush=True)
    if chosen.what == "engines":
        print(measure_engines(chosen, home, key), flush=True)
    if chosen.what in {None, "dearest"}:
        print(dearest.measure(home, key, chosen.seeds, say), flush=True)


if __name__ == "__main__":
    main()
