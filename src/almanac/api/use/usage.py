"""What accounts use, counted in memory beside the access log and written every few seconds by a thread of its own.

Serving never waits for the file. Where it cannot be written, the counts wait in memory, so many and no more; what is
given up is logged and counted.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence

import structlog

from almanac.api.use import metrics
from almanac.store.engine.errors import DatabaseError, StoreError
from almanac.store.usage.counts import CountedUse, UsageFile

log = structlog.get_logger("almanac.usage")

#: Counters that wait for the file at most: some 30 MB.
_MOST = 50_000
_DAY_NANOSECONDS, _MINUTE_NANOSECONDS = 86_400_000_000_000, 60_000_000_000

_Key = tuple[int, str, str, str | None, int]


class Tally:
    """Counts of answers since the last flush. Two threads may use it: one counts, one flushes."""

    def __init__(self, file: UsageFile) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._counts: dict[_Key, list[int]] = {}
        #: Requests that count towards limits, by account and minute: of now, so that they wait for nothing.
        self._minutes: Counter[tuple[str, int]] = Counter()
        self._failing = False

    def add(self, at: int, account: str, key: str, path: str | None, status: int, seconds: Sequence[float]) -> None:
        """Count answers of one kind, sent about `at` (unix nanoseconds): one for each of the seconds they took."""
        name = (at // _DAY_NANOSECONDS, account, key, path, status)
        with self._lock:
            figures = self._counts.get(name)
            if figures is None:
                figures = self._counts[name] = [0, 0]
            figures[0] += len(seconds)
            figures[1] += int(sum(seconds) * 1e6)
            if status != 429:
                self._minutes[account, at // _MINUTE_NANOSECONDS] += len(seconds)

    def flush(self) -> None:
        """Write what was counted. Never raises for a file that cannot be used."""
        with self._lock:
            taken, self._counts = self._counts, {}
            minutes, self._minutes = self._minutes, Counter()
        try:
            if taken:
                counted = [
                    CountedUse(day, account, key, path or metrics.OTHER, status, *figures)
                    for (day, account, key, path, status), figures in taken.items()
                ]
                self._file.add(counted, minutes)
        except (DatabaseError, StoreError, OSError) as error:
            self._keep(taken, error)
            return
        if self._failing:
            self._failing = False
            log.info("usage is written again")

    def _keep(self, taken: dict[_Key, list[int]], error: Exception) -> None:
        if not self._failing:
            self._failing = True
            log.error("usage cannot be written, it waits in memory", reason=str(error))
        metrics.FAULTS.labels("usage").inc()
        lost = 0
        with self._lock:
            for key, figures in taken.items():
                held = self._counts.get(key)
                if held is not None:
                    held[0] += figures[0]
                    held[1] += figures[1]
                elif len(self._counts) < _MOST:
                    self._counts[key] = figures
                else:
                    lost += figures[0]
        if lost:
            metrics.USAGE_LOST.inc(lost)
            log.error("usage was given up", requests=lost)
