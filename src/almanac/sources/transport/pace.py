"""One rate per host and the budgets of publishers, kept by all threads, and by all processes that are given one folder."""

from __future__ import annotations

import fcntl
import math
import os
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

_SLOT = struct.Struct("<d")
#: Seconds ahead that a slot shared between processes can lie. Monotonic time starts anew with the machine: what lies
#: further ahead was written before that. A longer pause is kept by the process that was asked to make it.
_FARTHEST = 120.0
#: Seconds by which spans of budgets are taken to be longer: requests that are sent a span apart may arrive closer together.
_BUNCHED = 1.0
#: Of a file: more times than any budget counts.
_MOST_BYTES = 1 << 16


class Pace:
    """Evenly spaced slots per host. `clock` counts seconds from anywhere, `sleep` takes seconds.

    With a folder, processes share their slots through a small file in it for each host; `clock` must then be the
    same in all of them, as time.monotonic is. `wall` tells unix time, which outlives the machine: budgets go by it.
    """

    def __init__(
        self,
        per_second: float,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        folder: Path | None = None,
        wall: Callable[[], float] | None = None,
    ) -> None:
        if per_second <= 0:
            raise ValueError(f"requests_per_second is {per_second}, it must be more than 0")
        self._per_second = per_second
        self._clock = clock
        self._sleep = sleep
        self._folder = folder
        self._wall = wall or clock
        self._lock = threading.Lock()
        self._free: dict[str, float] = {}
        #: When requests to a host were, where it has budgets and there is no folder.
        self._taken: dict[str, list[float]] = {}
        if folder is not None:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def take(
        self, host: str, limit: float, most: float | None = None, budgets: Sequence[tuple[int, float]] = ()
    ) -> float | None:
        """Wait for the host's next slot and take it; if it is more than `limit` seconds away, return these at once.

        `most` is the host's own limit of requests a second: the slower of the two rates holds. `budgets` are its limits
        of so many requests in any span of so many seconds.
        """
        gap = 1 / (self._per_second if most is None else min(most, self._per_second))
        with self._lock, self._shared(host) as shared:
            now, wall = self._clock(), self._wall()
            slot = max(now, self._free.get(host, now), shared.next(now))
            longest = max((count for count, _ in budgets), default=0)
            taken = [at for at in shared.taken(self._taken.get(host, [])) if at <= wall + _FARTHEST][-longest:]
            for count, seconds in budgets:
                if len(taken) >= count:
                    slot = max(slot, now + (taken[-count] - wall) + seconds + _BUNCHED)
            if slot - now > limit:
                return slot - now
            self._free[host] = slot + gap
            if budgets:
                self._taken[host] = [*taken, wall + slot - now][-longest:]
            shared.put(slot + gap, self._taken.get(host, []))
        # Outside the lock: another host's thread must not wait for this one.
        if slot > now:
            self._sleep(slot - now)
        return None

    def hold(self, host: str, seconds: float) -> None:
        """No slot of this host before `seconds` from now."""
        with self._lock, self._shared(host) as shared:
            now = self._clock()
            until = max(now + seconds, self._free.get(host, now))
            self._free[host] = until
            taken = shared.taken(self._taken.get(host, []))
            shared.put(min(max(until, shared.next(now)), now + _FARTHEST), taken)

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
    """What all processes know of a host, while its file is locked: its next free slot, and when requests were. No file: nothing."""

    def __init__(self, file: int | None) -> None:
        self._file = file
        self._written = b"" if file is None else os.pread(file, _MOST_BYTES, 0)

    def next(self, now: float) -> float:
        if len(self._written) < _SLOT.size:
            return now
        (slot,) = _SLOT.unpack_from(self._written)
        return float(slot) if now < slot <= now + _FARTHEST else now

    def taken(self, own: list[float]) -> list[float]:
        """Unix times of requests, oldest first; what this process knows where nothing is shared."""
        if self._file is None:
            return own
        whole = len(self._written) - len(self._written) % _SLOT.size
        return sorted(at for (at,) in _SLOT.iter_unpack(self._written[_SLOT.size : whole]) if math.isfinite(at))

    def put(self, slot: float, taken: Sequence[float]) -> None:
        if self._file is not None:
            written = b"".join(map(_SLOT.pack, (slot, *taken)))
            os.pwrite(self._file, written, 0)
            os.ftruncate(self._file, len(written))
