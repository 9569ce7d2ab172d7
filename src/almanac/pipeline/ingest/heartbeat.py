"""
Signs of life of workers, for whoever watches the machine: two files each in the run folder, of which only the times count.

A worker that ends as it should takes its files away; those of one that was killed grow old, until one like it is begun again.
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

#: How often a worker says that it lives, and how often at most that it goes on, seconds.
_BEAT_SECONDS, _STEP_SECONDS = 15.0, 5.0
#: A name of a file has 255 bytes at most.
_LONGEST = 200
_EVERY = "all"


class Sign(NamedTuple):
    """A worker by the sources it asks (`all`, or their ids joined by plus), when it last lived, and went on; unix seconds."""

    sources: str
    lived: float
    went_on: float


class Heartbeat:
    """Signs of a worker over the sources named (all for none), in a block. That they cannot be given keeps it from nothing."""

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
        """The worker goes on: it looked, asked, or took something in."""
        now = time.monotonic()
        if now - self._stepped >= _STEP_SECONDS:
            self._stepped = now
            _touch(self._step)

    def _keep(self) -> None:
        while not self._ended.wait(_BEAT_SECONDS):
            _touch(self._beat)


def signs(folder: Path) -> Iterator[Sign]:
    """All that stand in a folder, by name."""
    for beat in sorted(folder.glob("*.beat")):
        with contextlib.suppress(OSError):  # it ended just now
            yield Sign(beat.stem, beat.stat().st_mtime, beat.with_suffix(".step").stat().st_mtime)


def folder_of(home: Path) -> Path:
    """Where the workers over a home give their signs."""
    return home / "run" / "workers"


def _touch(path: Path) -> None:
    with contextlib.suppress(OSError):  # a full disk has room for a time, but perhaps not for the file
        path.touch(0o600)
