"""The command line in processes of its own, so that they can be killed, starved and looked at from outside."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.faults.mirrors import NOW

#: Far beyond what any command here takes: a hang is a failure, not a wait.
PATIENCE = 240


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a command: nothing of ours from outside, the clock fixed."""
    given = {"HOME": str(home), "NOW": NOW, **more}
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ALMANAC_", "COV_", "PYTEST_"))}
    return {**clean, **{f"ALMANAC_{name}": value for name, value in given.items()}}


def command(*arguments: object, before: str = "") -> list[str]:
    """The words of a command; `before` is Python that runs first in the same process."""
    start = f"{before}\nfrom almanac.__main__ import main; main()"
    return [sys.executable, "-c", start, *map(str, arguments)]


def start(home: Path, *arguments: object, before: str = "", **more: str) -> subprocess.Popen[bytes]:
    """A command that goes on by itself; what it says can be read from its stderr, its output goes nowhere."""
    return subprocess.Popen(
        command(*arguments, before=before),
        env=environment(home, **more),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def run(
    home: Path, *arguments: object, before: str = "", expect: int | None = 0, **more: str
) -> subprocess.CompletedProcess[str]:
    """A command from beginning to end, its output as text. `expect` None: any end will do."""
    done = subprocess.run(
        command(*arguments, before=before),
        env=environment(home, **more),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert expect is None or done.returncode == expect, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def ingest(home: Path, mirror: Path, sources: Sequence[str], **options: object) -> subprocess.CompletedProcess[str]:
    return run(home, "ingest", *sources, "--from", mirror, **options)  # type: ignore[arg-type]  # options are `run`'s
