"""
Signs that a worker lives: leases on sources, for other workers, and heartbeats, for monitoring.

A lease is renewed while its source is asked. A heartbeat is two files in the run folder, of which only the times count.
A worker that ends normally removes its files. Those of a killed one grow old until a worker with the same sources
starts.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from almanac.config import real_time
from almanac.store.engine import opening, sqlite
from almanac.store.engine.errors import DatabaseError
from almanac.store.log import schedule

#: Seconds that a lease lasts without renewal, and between renewals. It outlasts any transaction of another writer, so
#: that its owner doesn't lose it while waiting for the database.
LEASE_SECONDS, RENEW_SECONDS = 600, 60
#: Seconds between beats, and shortest interval between steps.
_BEAT_SECONDS, _STEP_SECONDS = 15.0, 5.0
#: File names are limited to 255 bytes.
_LONGEST = 200


class Leaseholder(NamedTuple):
    """The taker of leases: its unique name, its clock (unix seconds), and the seconds between renewals."""

    owner: str
    clock: Callable[[], int] = real_time
    renew_seconds: float = RENEW_SECONDS


class Lease:
    """
    A lease that was taken until `until`. `renewed` renews it; it isn't released at the end, `schedule.end` does that.

    `lost` tells whether another owner has the lease, or may have it because it expired (the machine slept, or the
    database was unavailable).
    """

    def __init__(self, path: opening.Place, source: str, holder: Leaseholder, until: int) -> None:
        self._path, self._source, self._holder, self._until = path, source, holder, until
        self._taken_over = False

    @property
    def lost(self) -> bool:
        return self._taken_over or self._holder.clock() >= self._until

    @contextmanager
    def renewed(self) -> Iterator[Lease]:
        """Renew the lease during the block, each time by a connection of its own."""

        def renew() -> bool:
            until = self._holder.clock() + LEASE_SECONDS
            try:
                sqlite.identity_of(self._path)  # never make a new file where the store was taken away
                connection = opening.connect(self._path, busy_seconds=self._holder.renew_seconds)
                with closing(connection) as db, opening.faults():
                    self._taken_over = not schedule.renew(db, self._source, self._holder.owner, until)
            except (DatabaseError, OSError):
                return True  # the next time may do; until then the lease runs
            if not self._taken_over:
                self._until = until
            return not self._taken_over

        with _repeated(self._holder.renew_seconds, renew, f"lease {self._source}"):
            yield self


class Sign(NamedTuple):
    """
    The heartbeat of a worker with these sources (`all`, or ids joined by plus): when it last lived and last made
    progress, in unix seconds.
    """

    sources: str
    lived: float
    went_on: float


@contextmanager
def heartbeat(folder: Path, names: Sequence[str]) -> Iterator[Callable[[], None]]:
    """
    Show during the block that a worker over the named sources (none: all) lives. Yield what it calls at each progress.

    A failure to write the files is ignored. They stay if the block fails, so that the worker is missed.
    """
    label = "+".join(sorted(set(names))) or "all"
    if len(label) > _LONGEST:
        label = f"{len(set(names))}-sources-{hashlib.sha256(label.encode()).hexdigest()[:12]}"
    beat, step = (folder / f"{label}.{kind}" for kind in ("beat", "step"))
    stepped = float("-inf")

    def go_on() -> None:
        nonlocal stepped
        if time.monotonic() - stepped >= _STEP_SECONDS:
            stepped = time.monotonic()
            _touch(step)

    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    go_on()
    _touch(beat)
    with _repeated(_BEAT_SECONDS, lambda: _touch(beat), "heartbeat"):
        yield go_on
    for path in (beat, step):
        with contextlib.suppress(OSError):
            path.unlink()


def signs(folder: Path) -> Iterator[Sign]:
    """Yield all heartbeats in a folder, by name."""
    for beat in sorted(folder.glob("*.beat")):
        with contextlib.suppress(OSError):  # it ended just now
            yield Sign(beat.stem, beat.stat().st_mtime, beat.with_suffix(".step").stat().st_mtime)


def folder_of(home: Path) -> Path:
    """Return the folder for the heartbeats of a home's workers."""
    return home / "run" / "workers"


def _touch(path: Path) -> bool:
    with contextlib.suppress(OSError):  # a full disk has room for a time, but perhaps not for the file
        path.touch(0o600)
    return True


@contextmanager
def _repeated(seconds: float, action: Callable[[], bool], name: str) -> Iterator[None]:
    """Repeat an action in a thread of its own during the block, until it returns False."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(seconds) and action():
            pass

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
