"""
The command `python -m bench`: all comparisons in one run. Everything stays on this host; only processes started here
are stopped.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench import data, dearest, engines, looks, market, postgrest, report, rounds, store
from bench.contenders import FLOOR, FRESH, OURS, Peers, contenders

_ROOT = Path(__file__).resolve().parents[1]


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line. Limits on the values keep a typing error from starting a run of a day."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Almanac beside its peers.")
    parser.add_argument(
        "what",
        nargs="?",
        choices=["pages", "store", "dearest", "looks", "engines", "market"],
        help="what to measure; nothing: all that takes minutes, which engines and market do not",
    )
    parser.add_argument("--observations", type=int, default=1_000_000, help="rows of the store (default: %(default)s)")
    parser.add_argument("--companies", type=int, default=6_000, help="of the large market (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, choices=range(1, 101), metavar="1..100")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each contender in each round")
    parser.add_argument("--connections", type=int, default=32, choices=range(1, 1025), metavar="1..1024")
    parser.add_argument("--folder", type=Path, default=_ROOT / ".almanac" / "bench", help="where the store is kept")
    parser.add_argument("--peers", type=Path, default=_ROOT / ".venv-bench" / "bin" / "python",
                        help="interpreter with requirements/bench.txt installed")  # fmt: skip
    parser.add_argument("--postgrest", type=Path, default=_ROOT / ".venv-bench" / postgrest.PROGRAM,
                        help="program of PostgREST; without it, or without PostgreSQL, that peer is left out")  # fmt: skip
    parser.add_argument("--postgres", help="a server where PostgREST and `engines` get databases of their own")
    parser.add_argument("--without-peers", action="store_true", help="only Almanac and the floor")
    chosen = parser.parse_args(words)
    if not 0.1 <= chosen.seconds <= 600:
        parser.error("--seconds must lie between 0.1 and 600")
    if chosen.what == "engines" and chosen.postgres is None:
        parser.error("name a server by --postgres")
    if not chosen.without_peers and chosen.what in {None, "pages"} and not chosen.peers.exists():
        parser.error(f"there is no {chosen.peers}; `make bench` makes it, --without-peers goes without")
    return chosen


def measure_pages(chosen: argparse.Namespace) -> str:
    """Compare pages and return the results as a table."""
    home, key = data.prepare(chosen.folder, chosen.observations, say)
    as_of = data.year_ago(int(time.time()))
    pages = data.pages(home, as_of)
    say(f"{len(pages):,} different pages of {data.ROWS} rows")
    server_cpu, client_cpu = rounds.cores()
    peers = None if chosen.without_peers else Peers(chosen.peers, chosen.postgrest, chosen.postgres or postgrest.SERVER)
    revised = data.revised(home, as_of, say)
    with contenders(home, key, pages, as_of, peers, server_cpu, revised, say) as every:
        results = rounds.measure(every, _load(chosen), home, client_cpu, say)
    tables = [report.table(report.lines(results))]
    others = [name for name in results if not name.startswith((OURS, FLOOR))]
    if others:
        tables.append(report.against(FRESH, results, others))
    return "\n\n".join(tables)


def _load(chosen: argparse.Namespace) -> rounds.Load:
    return rounds.Load(chosen.rounds, chosen.seconds, chosen.connections)


def say(text: str) -> None:
    """Print a message to standard error. Figures go to standard output."""
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Run the requested measurements and print their results."""
    chosen = arguments()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    if chosen.what in {None, "pages"}:
        print(measure_pages(chosen), flush=True)
    if chosen.what == "market":
        print(market.measure(chosen.folder, chosen.companies, say), flush=True)
    if chosen.what in {"pages", "market"}:
        return
    home, key = data.prepare(chosen.folder, chosen.observations, say)
    if chosen.what in {None, "store"}:
        print(store.measure(home, home, say), flush=True)
    if chosen.what in {None, "looks"}:
        print(looks.measure(home, key, say), flush=True)
    if chosen.what == "engines":
        as_of = data.year_ago(int(time.time()))
        print(engines.measure(chosen.folder, home, key, chosen.postgres, as_of, _load(chosen), say), flush=True)
    if chosen.what in {None, "dearest"}:
        print(dearest.measure(home, key, say), flush=True)


if __name__ == "__main__":
    main()
