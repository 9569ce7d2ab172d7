"""What is told of each answer: its line in the log, the counts, and what its account used. Written a little later, several answers at a time.

The work of writing them is a good part of a small answer's, and half of it is fetching the code that does it: done for
many at once it costs less than half.
"""

from __future__ import annotations

import asyncio
import random
import time

from almanac.api.server import logs
from almanac.api.use import metrics
from almanac.api.use.usage import Tally

#: Entries that wait at most. A busy worker reaches them before the time is up.
_MOST = 64


class Journal:
    """
    Entries wait for up to `hold_seconds`; it then needs a running event loop, and `flush` at the end. For one thread.

    `share` of the good answers, drawn by lot, have a line in the log; every error has one. All are counted, in `tally`
    by key.
    """

    def __init__(self, hold_seconds: float = 0.0, share: float = 1.0, tally: Tally | None = None) -> None:
        self._hold_seconds = hold_seconds
        self._share = share
        self._tally = tally
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
        times: dict[tuple[str | None, str, int, str | None, str | None], list[float]] = {}
        for _, line, seconds in held:
            times.setdefault((line.path, line.method, line.status, line.account, line.key), []).append(seconds)
        for (path, method, status, account, key), many in times.items():
            metrics.observe(path or metrics.OTHER, method, status, many)
            if self._tally is not None and account is not None and key is not None:
                self._tally.add(held[0][0], account, key, path, status, many)
        told = held if self._share >= 1 else [one for one in held if self._is_told(one[1].status)]
        logs.access.write([(at, line) for at, line, _ in told])

    def _is_told(self, status: int) -> bool:
        return status >= 400 or random.random() < self._share  # noqa: S311  (which lines are left out is no secret)
