"""Looks that may take long: each is taken by a thread of its own, and whoever asks waits so long for it and no longer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Generic, TypeVar

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

_T = TypeVar("_T")
#: How long one who asks may be kept waiting; then there is what was known before.
WAIT_SECONDS = 0.8
#: For how long what was seen last is as good as new, where the present look is late.
_GOOD_SECONDS = 3.0
#: For how long what was measured is shown again; longer where it took long, so that it takes a fiftieth of a core.
_HELD_SECONDS, _SHARE = 5.0, 50


class BoundedLook(Generic[_T]):
    """One kind of look: those who ask while one is under way wait for the same, `wait_seconds` from its beginning at most."""

    def __init__(self, look: Callable[[], _T], name: str, *, wait_seconds: float = WAIT_SECONDS) -> None:
        self._look, self._wait_seconds = look, wait_seconds
        self._thread = ThreadPoolExecutor(1, name)
        self._lock = threading.Lock()
        self._under_way: Future[_T] | None = None
        #: The last that ended, and when; and when the present one began.
        self._last: tuple[Future[_T], float] | None = None
        self._began = 0.0

    def begin(self) -> Future[_T]:
        """Begin one, unless one is under way."""
        with self._lock:
            if self._under_way is None or self._under_way.done():
                self._began = time.monotonic()
                self._under_way = self._thread.submit(self._look)
                self._under_way.add_done_callback(self._ended)
            return self._under_way

    def _ended(self, future: Future[_T]) -> None:
        self._last = future, time.monotonic()

    def take(self) -> _T:
        """
        What is seen now; what was seen a moment ago, where that takes long. Raises what the look raises, TimeoutError where
        nothing is known.
        """
        future = self.begin()
        left = max(0.0, self._began + self._wait_seconds - time.monotonic())
        try:
            return future.result(left)
        except TimeoutError:
            if future.done():  # the look's own
                raise
            last = self._last
            if last is None or time.monotonic() - last[1] > _GOOD_SECONDS:
                raise
            return last[0].result()


class Held(Collector):
    """
    A collector whose measurements are shown again for some seconds: many may ask, and the store serves others. Those that
    take long are waited for by nobody: what was measured before is shown until they are there.
    """

    def __init__(self, measured: Collector, clock: Callable[[], float] = time.monotonic) -> None:
        self._measured, self._clock = measured, clock
        self._look = BoundedLook(self._measure, "gauges")
        self._found: Sequence[Metric] = ()
        self._until = float("-inf")

    def _measure(self) -> None:
        began = self._clock()
        self._found = list(self._measured.collect())
        ended = self._clock()
        self._until = ended + max(_HELD_SECONDS, (ended - began) * _SHARE)

    def begin(self) -> None:
        """Begin to measure where that is due: whoever has several of these lets all begin before it asks the first."""
        if self._clock() >= self._until:
            self._look.begin()

    def collect(self) -> Iterable[Metric]:
        if self._clock() >= self._until:
            with suppress(TimeoutError):  # what is known is shown
                self._look.take()
        return self._found
