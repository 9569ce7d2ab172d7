"""One rate per host, kept by all threads together, and by all processes that are given one folder."""

from __future__ import annotations

import fcntl
import os
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

_SLOT = struct.Struct("<d")
#: Seconds ahead that a slot shared between processes can lie. Monotonic time starts anew with the machine: what lies
#: further ahead was written before that. A longer pause is kept by the process that was asked to make it.
_FARTHEST = 120.0


class Pace:
    """Evenly spaced slots per host. `clock` counts seconds from anywhere, `sleep` takes seconds.

    With a folder, processes share their slots through a small file in it for each host; `clock` must then be the
    same in all of them, as time.monotonic is.
    """

    def __init__(
        self,
        per_second: float,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        folder: Path | None = None,
    ) -> None:
        if per_second <= 0:
            raise ValueError(f"requests_per_second is {per_second}, it must be more than 0")
        self._per_second = per_second
        self._clock = clock
        self._sleep = sleep
        self._folder = folder
        self._lock = threading.Lock()
        self._free: dict[str, float] = {}
        if folder is not None:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def take(self, host: str, limit: float, most: float | None = None) -> bool:
        """Wait for the host's next slot and take it; False, at once, if it is more than `limit` seconds away.

        `most` is the host's own limit of requests a second: the slower of the two rates holds.
        """
        gap = 1 / (self._per_second if most is None else min(most, self._per_second))
        with self._lock, self._shared(host) as shared:
            now = self._clock()
            slot = max(now, self._free.get(host, now), shared.next(now))
            if slot - now > limit:
                return False
            self._free[host] = slot + gap
            shared.put(slot + gap)
        # Outside the lock: another host's thread must not wait for this one.
        if slot > now:
            self._sleep(slot - now)
        return True

    def hold(self, host: str, seconds: float) -> None:
        """No slot of this host before `seconds` from now."""
        with self._lock, self._shared(host) as shared:
            now = self._clock()
            until = max(now + seconds, self._free.get(host, now))
            self._free[host] = until
            shared.put(min(max(until, shared.next(now)), now + _FARTHEST))

    @contextmanager
    def _shared(self, host: str) -> Iterator[_Slot]:
        if self._folder is None:
            yield _Slot(None)
            return
        path = self._folder / f"{quote(host, safe='')}.slot"
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # A lock of the open file, not of the process, so that two clients in one process exclude each other too.
            fcntl.flock(file, fcntl.LOCK_EX)
            yield _Slot(file)
        finally:
            os.close(file)


class _Slot:
    """The next free slot of a host as all processes know it, while its file is locked. No file: nothing is shared."""

    def __init__(self, file: int | None) -> None:
        self._file = file

    def next(self, now: float) -> float:
        if self._file is None:
            return now
        written = os.pread(self._file, _SLOT.size, 0)
        if len(written) < _SLOT.size:
            return now
        (slot,) = _SLOT.unpack(written)
        return float(slot) if now < slot <= now + _FARTHEST else now

    def put(self, slot: float) -> None:
        if self._file is not None:
            os.pwrite(self._file, _SLOT.pack(slot), 0)
