"""The command line in processes of its own, so that they can be killed, starved and looked at from outside."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import PIPE

from tests.faults.mirrors import NOW

from . import postgres

#: Far beyond what any command here takes: a hang is a failure, not a wait.
PATIENCE = 240
#: A database of Redis in which tests count; what they leave in it is gone after two minutes.
REDIS = "redis://127.0.0.1:6379/9"


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a command: nothing of ours from outside, the clock fixed, no dashboard unless it is wanted.

    A dashboard has a port of its own, and takes time to start. Several workers count in Redis.
    """
    given = {"HOME": str(home), "NOW": NOW, "DASHBOARD": "false", **more}
    if more.get("WORKERS", "1") != "1":
        given.setdefault("REDIS_URL", REDIS)
    url = None if "DATABASE_URL" in more else postgres.address(home)
    if url is not None:
        given["DATABASE_URL"] = url
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


def told_by_four(words: Sequence[object]) -> list[str]:
    """What each of four processes says that say `ready`, wait for a line, and then all begin at once."""
    with contextlib.ExitStack() as stack:
        running = [
            stack.enter_context(subprocess.Popen(list(map(str, words)), stdin=PIPE, stdout=PIPE, text=True))
            for _ in range(4)
        ]
        pipes = [(process.stdin, process.stdout) for process in running]
        assert all(out is not None and out.readline() == "ready\n" for _, out in pipes)
        for into, _ in pipes:
            assert into is not None
            into.write("go\n")
            into.flush()
        said = [process.communicate(timeout=PATIENCE)[0].strip() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0, 0], said
    return said
