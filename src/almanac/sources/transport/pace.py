"""One rate per host and the budgets of publishers, kept by all threads, and by all processes that are given one folder."""

from __future__ import annotations

import fcntl
import math
import os
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

_TIME = struct.Struct("<d")
#: Seconds ahead that a slot shared between processes can lie. Monotonic time starts anew with the machine: what lies
#: further ahead was written before that. A longer pause is kept by the process that was asked to make it.
_FARTHEST = 120.0
#: Seconds by which spans of budgets are taken to be longer: requests that are sent a span apart may arrive closer together.
_BUNCHED = 1.0
#: Of a file: more times than any budget counts.
_MOST_BYTES = 1 << 16


@dataclass(slots=True)
class _Host:
    """The next free slot of a host, by the clock, and the unix times of requests that its budgets count, oldest first."""

    free: float = -math.inf
    taken: list[float] = field(default_factory=list)


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
        self._hosts: dict[str, _Host] = {}
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
        with self._lock, self._known(host) as known:
            now, wall = self._clock(), self._wall()
            slot = max(now, known.free)
            longest = max((count for count, _ in budgets), default=0)
            taken = [at for at in known.taken if at <= wall + _FARTHEST][-longest:]
            for count, seconds in budgets:
                if len(taken) >= count:
                    slot = max(slot, now + (taken[-count] - wall) + seconds + _BUNCHED)
            if slot - now > limit:
                return slot - now
            known.free = slot + gap
            if budgets:
                known.taken = [*taken, wall + slot - now][-longest:]
        # Outside the lock: another host's thread must not wait for this one.
        if slot > now:
            self._sleep(slot - now)
        return None

    def hold(self, host: str, seconds: float) -> None:
        """Give no slot of this host before `seconds` from now."""
        with self._lock, self._known(host) as known:
            known.free = max(known.free, self._clock() + seconds)

    @contextmanager
    def _known(self, name: str) -> Iterator[_Host]:
        """Yield what this process, and through its file every other one, knows of a host; keep what becomes of it."""
        host = self._hosts.setdefault(name, _Host())
        if self._folder is None:
            yield host
            return
        path = self._folder / f"{quote(name, safe='')}.slot"
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # A lock of the open file, not of the process, so that two clients in one process exclude each other too.
            fcntl.flock(file, fcntl.LOCK_EX)
            written = os.pread(file, _MOST_BYTES, 0)
            times = [time for (time,) in _TIME.iter_unpack(written[: len(written) // _TIME.size * _TIME.size])]
            farthest = self._clock() + _FARTHEST
            host.free = max([host.free, *(slot for slot in times[:1] if slot <= farthest)])
            host.taken = sorted(filter(math.isfinite, times[1:]))
            before = [host.free, *host.taken]
            yield host
            if [host.free, *host.taken] != before:
                packed = b"".join(map(_TIME.pack, (min(host.free, farthest), *host.taken)))
                os.pwrite(file, packed, 0)
                os.ftruncate(file, len(packed))
        finally:
            os.close(file)
