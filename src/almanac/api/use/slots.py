"""Who may have another heavy request: so many of one account at a time, over all processes of a host."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import threading
from pathlib import Path

import structlog

log = structlog.get_logger("almanac.slots")

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
#: An account's slots lie side by side from a place that its name hashes to, in a file that never has a byte.
_ACCOUNTS, _MOST = 1 << 48, 1 << 10


class Slots:
    """
    Slots as locks on single bytes of a file that processes share; without one (`path` None), of this process alone.

    The system takes back the locks of a process that ends, however it ends: no crash leaves a slot taken. A lock belongs
    to the whole process, so those of this process are told apart in memory. Where the file cannot be opened (a full
    disk), each process counts for itself.
    """

    def __init__(self, most: int, path: Path | None) -> None:
        self.most = min(most, _MOST)
        self._lock = threading.Lock()
        self._taken: set[int] = set()
        self._file: int | None = None
        if path is not None:
            try:
                self._file = os.open(path, _FLAGS, 0o600)
            except OSError as error:
                log.error("each process counts heavy requests for itself", file=str(path), reason=error.strerror)  # noqa: TRY400  (its stack says no more)

    def take(self, account: str) -> int | None:
        """A slot of an account; None where all of them are taken."""
        digest = hashlib.blake2b(account.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        first = int.from_bytes(digest, "little") % _ACCOUNTS * _MOST
        with self._lock:
            for slot in range(first, first + self.most):
                if slot not in self._taken and self._locked(slot):
                    self._taken.add(slot)
                    return slot
        return None

    def free(self, slot: int) -> None:
        """Give a slot back. From any thread."""
        with self._lock:
            self._taken.discard(slot)
            if self._file is not None:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, slot)

    def _locked(self, slot: int) -> bool:
        """Whether no other process has a slot; then it is ours."""
        if self._file is not None:
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, slot)
            except (BlockingIOError, PermissionError):  # which of the two, is the system's choice
                return False
            except OSError:  # the system has no room for another lock: as without a file
                return True
        return True

    def close(self) -> None:
        """Let go of the file, and with it of all slots."""
        with self._lock:
            if self._file is not None:
                with contextlib.suppress(OSError):
                    os.close(self._file)
            self._file = None
            self._taken.clear()
