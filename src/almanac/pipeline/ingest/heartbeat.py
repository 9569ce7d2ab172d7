"""
Heartbeats of workers, for monitoring: two files each in the run folder, of which only the times count.

A worker that ends normally removes its files. Those of a killed one grow old until a worker with the same sources
starts.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

#: Seconds between beats, and shortest interval between steps.
_BEAT_SECONDS, _STEP_SECONDS = 15.0, 5.0
#: File names are limited to 255 bytes.
_LONGEST = 200
_EVERY = "all"


class Sign(NamedTuple):
    """
    The heartbeat of a worker with these sources (`all`, or ids joined by plus): when it last lived and last made
    progress, in unix seconds.
    """

    sources: str
    lived: float
    went_on: float


class Heartbeat:
    """Heartbeat of a worker over the named sources (none: all), active within a block. A failure to write it is ignored."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        label = "+".join(sorted(set(names))) or _EVERY
        if len(label) > _LONGEST:
            label = f"{len(set(names))}-sources-{hashlib.sha256(label.encode()).hexdigest()[:12]}"
        self._beat, self._step = (folder / f"{label}.{kind}" for kind in ("beat", "step"))
        self._stepped = float("-inf")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        with contextlib.suppress(OSError):
            self._beat.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.step()
        _touch(self._beat)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        if error is None:  # one that fails is missed
            for path in (self._beat, self._step):
                with contextlib.suppress(OSError):
                    path.unlink()

    def step(self) -> None:
        """Record progress: the worker looked, asked or ingested something."""
        now = time.monotonic()
        if now - self._stepped >= _STEP_SECONDS:
            self._stepped = now
            _touch(self._step)

    def _keep(self) -> None:
        while not self._ended.wait(_BEAT_SECONDS):
            _touch(self._beat)


def signs(folder: Path) -> Iterator[Sign]:
    """Yield all heartbeats in a folder, by name."""
    for beat in sorted(folder.glob("*.beat")):
        with contextlib.suppress(OSError):  # it ended just now
            yield Sign(beat.stem, beat.stat().st_mtime, beat.with_suffix(".step").stat().st_mtime)


def folder_of(home: Path) -> Path:
    """Return the folder for the heartbeats of a home's workers."""
    return home / "run" / "workers"


def _touch(path: Path) -> None:
    with contextlib.suppress(OSError):  # a full disk has room for a time, but perhaps not for the file
        path.touch(0o600)
