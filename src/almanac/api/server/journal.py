"""What is told of each answer: its line in the log, and the counts. Written a little later, several answers at a time.

The work of writing them is a good part of a small answer's, and half of it is fetching the code that does it: done for
many at once it costs less than half.
"""

from __future__ import annotations

import asyncio
import time

from almanac.api.server import logs, metrics

#: Entries that wait at most. A busy worker reaches them before the time is up.
_MOST = 64


class Journal:
    """Entries wait for up to `hold_seconds`; it then needs a running event loop, and `flush` at the end. For one thread."""

    def __init__(self, hold_seconds: float = 0.0) -> None:
        self._hold_seconds = hold_seconds
        self._held: list[tuple[int, logs.AccessLine, float]] = []

    def add(self, line: logs.AccessLine, seconds: float) -> None:
        """An answer that was sent just now, and how long it took."""
        held = self._held
        held.append((time.time_ns(), line, seconds))
        if not self._hold_seconds or len(held) >= _MOST:
            self.flush()
        elif len(held) == 1:
            asyncio.get_running_loop().call_later(self._hold_seconds, self.flush)

    def flush(self) -> None:
        """Write what waits."""
        held, self._held = self._held, []
        if not held:
            return
        times: dict[tuple[str | None, str, int], list[float]] = {}
        for _, line, seconds in held:
            times.setdefault((line.path, line.method, line.status), []).append(seconds)
        for (path, method, status), many in times.items():
            metrics.observe(path or metrics.OTHER, method, status, many)
        logs.access.write([(at, line) for at, line, _ in held])
