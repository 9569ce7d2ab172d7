"""One rate per host, kept by all threads together."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Pace:
    """Evenly spaced slots per host. `clock` counts seconds from anywhere, `sleep` takes seconds."""

    def __init__(self, per_second: float, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        if per_second <= 0:
            raise ValueError(f"requests_per_second is {per_second}, it must be more than 0")
        self._gap = 1 / per_second
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._free: dict[str, float] = {}

    def take(self, host: str, limit: float) -> bool:
        """Wait for the host's next slot and take it; False, at once, if it is more than `limit` seconds away."""
        with self._lock:
            now = self._clock()
            slot = max(now, self._free.get(host, now))
            if slot - now > limit:
                return False
            self._free[host] = slot + self._gap
        # Outside the lock: another host's thread must not wait for this one.
        if slot > now:
            self._sleep(slot - now)
        return True

    def hold(self, host: str, seconds: float) -> None:
        """No slot of this host before `seconds` from now."""
        with self._lock:
            until = self._clock() + seconds
            self._free[host] = max(until, self._free.get(host, until))
