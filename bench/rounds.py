"""Rounds of load on contenders in turns, each by a load generator in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.contenders import Contender
from bench.load import LoadError
from bench.report import Round

_ROOT = Path(__file__).resolve().parents[1]
_WARM_SECONDS = 1.0


class Load(NamedTuple):
    """The load on each contender: number of rounds, the length of one, and connections."""

    rounds: int
    seconds: float
    connections: int


def cores() -> tuple[int | None, int | None]:
    """
    Return a core for the servers and one for the client, or None for both if cores can't be chosen or there is only
    one.
    """
    if not hasattr(os, "sched_getaffinity"):
        return None, None
    allowed = sorted(os.sched_getaffinity(0))
    return (allowed[0], allowed[1]) if len(allowed) > 1 else (None, None)


def measure(
    contenders: Sequence[Contender], load: Load, folder: Path, cpu: int | None, say: Callable[[str], None]
) -> dict[str, list[Round]]:
    """Load all contenders in turns and return their rounds. A short first round isn't counted."""
    rounds: dict[str, list[Round]] = {contender.name: [] for contender in contenders}
    places = dict.fromkeys(rounds, 0)
    for number in range(load.rounds + 1):
        say("warming up" if not number else f"round {number} of {load.rounds}")
        for contender in contenders:
            seconds = load.seconds if number else min(_WARM_SECONDS, load.seconds)
            connections = min(load.connections, contender.connections or load.connections)
            result, places[contender.name] = run(
                contender, folder, seconds=seconds, connections=connections, first=places[contender.name], cpu=cpu
            )
            if number:
                rounds[contender.name].append(result)
    return rounds


def run(
    contender: Contender, folder: Path, *, seconds: float, connections: int, first: int, cpu: int | None
) -> tuple[Round, int]:
    """
    Run the load once against one contender. Returns the round, and the position in its list from which to continue.
    Raises LoadError.
    """
    targets = folder / "targets"
    targets.write_text("\n".join(contender.targets), "ascii")
    job = {
        "port": contender.server.port, "targets": str(targets), "headers": contender.headers, "seconds": seconds,
        "connections": connections, "first": first, "cpu": cpu, "status": contender.status,
    }  # fmt: skip
    before = contender.server.cpu()
    command = [sys.executable, "-m", "bench.load"]
    done = subprocess.run(command, input=json.dumps(job), cwd=_ROOT, capture_output=True, text=True, check=False)
    after = contender.server.cpu()
    if done.returncode:
        raise LoadError(f"{contender.name}: {done.stderr.strip()}")
    outcome = json.loads(done.stdout)
    count, taken = len(outcome["latencies"]), outcome["seconds"]
    cpu_each = None if before is None or after is None else (after - before) / count * 1e6
    client_share, size = outcome["client_cpu"] / taken, outcome["bytes"] / count
    return Round(count / taken, cpu_each, client_share, outcome["latencies"], size), first + count
