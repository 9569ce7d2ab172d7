"""Request ids: `req_` and a ULID (https://github.com/ulid/spec), which is unique and sorts by time.

One is made for every request, refused ones too. The library's way, eighty fresh random bits each, takes ten times as
long, a tenth of what a kept page takes in all; here the random part is fresh once in a million ids and counted up
between, as the specification has it for ids of one millisecond.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

_ALPHABET = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#: Ten bits at a time.
_PAIRS = [bytes((high, low)) for high in _ALPHABET for low in _ALPHABET]
#: Ids that share a random part, and the pairs of digits they are numbered by.
_NUMBERED = 1 << 20
_RANDOM_BITS = range(50, -1, -10)


class RequestIds:
    """Makes ids; safe between threads, and in processes forked from one that has made some."""

    def __init__(self, clock_ns: Callable[[], int] = time.time_ns) -> None:
        self._clock_ns = clock_ns
        self._lock = threading.Lock()
        self._millisecond = -1
        self._time = self._random = b""
        self._number = 0
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._number = 0

    def __call__(self) -> bytes:
        """The next id, 30 characters."""
        with self._lock:
            millisecond = self._clock_ns() // 1_000_000
            if millisecond != self._millisecond:
                self._millisecond = millisecond
                pairs = [_PAIRS[millisecond >> shift & 1023] for shift in (40, 30, 20, 10, 0)]
                self._time = b"req_" + b"".join(pairs)
            number = self._number
            if number == 0:
                bits = int.from_bytes(os.urandom(8), "big")
                self._random = b"".join([_PAIRS[bits >> shift & 1023] for shift in _RANDOM_BITS])
            self._number = (number + 1) % _NUMBERED
            return self._time + self._random + _PAIRS[number >> 10] + _PAIRS[number & 1023]
