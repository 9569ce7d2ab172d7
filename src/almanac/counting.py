"""Where a process keeps what it counts, so that the operations listener adds it up with what the others count."""

from __future__ import annotations

import os
from pathlib import Path

import structlog

log = structlog.get_logger("almanac.hosting")

#: Sizes of the files of each kind of metric. Labels are few: a worker that has met every path, method and status has
#: filled a quarter.
SIZES = {"counter": 2 << 20, "histogram": 512 << 10}


def reserve_metrics(folder: Path) -> None:
    """
    Make the files in which prometheus-client keeps this process's counts, with blocks on disk for all they may hold.

    It would make them with holes, and a write into one on a full disk ends the process with SIGBUS. Without room this
    process keeps its counts to itself. Called before the library is loaded, which then looks where to keep them.
    """
    from almanac.api.use.counters import reserve  # noqa: PLC0415  (as its callers: a process loads what it runs)

    made: list[Path] = []
    try:
        for kind, size in SIZES.items():
            made.append(folder / f"{kind}_{os.getpid()}.db")
            with made[-1].open("xb") as file:
                reserve(file.fileno(), size)
    except OSError as error:
        for path in made:
            path.unlink(missing_ok=True)
        os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)
        log.error("this worker's metrics are not shown", reason=error.strerror)  # noqa: TRY400  (its stack says no more)
