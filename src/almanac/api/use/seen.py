"""Which data version each account was last answered from, for all processes of a host: where replicas lag, nobody is told less."""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import threading
from pathlib import Path

import structlog

from almanac.api.use.counters import reserve

log = structlog.get_logger("almanac.seen")

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
#: A place in the table for each hash of an account. Two accounts that share one are each taken to have seen what either
#: did, which costs the primary a read and tells nobody anything old.
_PLACES = 1 << 16
#: The table begins with the epoch that its versions are of, then a version of eight bytes for each place.
_SIZE = 8 * (1 + _PLACES)


class Seen:
    """
    The newest data version that each account was answered from, in a file that processes share; without one (`path`
    None, or no room for it) as this process knows alone.

    Versions are of one epoch: those of another are forgotten with the first answer of a new one. A number is read and
    written as one aligned word and only ever raised, under a lock that all processes take, so no reader needs it.
    """

    def __init__(self, path: Path | None) -> None:
        self._mutex = threading.Lock()
        self._lock: int | None = None
        table: mmap.mmap | None = None
        if path is not None:
            try:
                table = self._opened(path)
            except OSError as error:
                reason = error.strerror
                log.error("each process remembers alone what clients saw", file=str(path), reason=reason)  # noqa: TRY400  (its stack says no more)
        self._numbers = memoryview(table or mmap.mmap(-1, _SIZE)).cast("q")

    def least(self, account: str) -> int:
        """The version an account has seen; 0 of one that has seen none."""
        return self._numbers[_place(account)]

    def note(self, account: str, version: int, epoch: str) -> None:
        """An account is answered from this version of this epoch."""
        place, era = _place(account), _number(epoch)
        if self._numbers[0] == era and self._numbers[place] >= version:
            return
        with self._mutex:
            if self._lock is not None:
                fcntl.lockf(self._lock, fcntl.LOCK_EX)
            try:
                if self._numbers[0] != era:
                    self._numbers[:] = memoryview(bytes(_SIZE)).cast("q")
                    self._numbers[0] = era
                self._numbers[place] = max(version, self._numbers[place])
            finally:
                if self._lock is not None:
                    fcntl.lockf(self._lock, fcntl.LOCK_UN)

    def _opened(self, path: Path) -> mmap.mmap:
        # A lock goes when any handle of the locked file is closed, so what is locked is another file than the mapped one.
        lock = os.open(path.with_name(path.name + ".lock"), _FLAGS, 0o600)
        try:
            file = os.open(path, _FLAGS, 0o600)
            try:
                reserve(file, _SIZE)
                table = mmap.mmap(file, _SIZE)
            finally:
                os.close(file)
        except OSError:
            os.close(lock)
            raise
        self._lock = lock
        return table


def _number(text: str) -> int:
    """A text as a number of 63 bits; never 0, which says that there is none."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1 or 1


def _place(account: str) -> int:
    return 1 + _number(account) % _PLACES
