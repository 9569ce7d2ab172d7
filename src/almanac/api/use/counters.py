"""Counters by window, shared by all processes of a host through a memory-mapped file. No server is needed.

The file holds two halves, one for even and one for odd windows, so that a request that read the clock just before
the window turned still finds its own count. A half is a hash table with open addressing. Each slot carries its
window, and one of another window than its half's counts as empty: a half is used again without being wiped.

The file's blocks are reserved before any of it is mapped. Of a file with holes a write would want a block of a disk that
may be full, and a memory map has no other way to say so than SIGBUS, which ends the process.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import mmap
import os
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HEADER = struct.Struct("<8sQqqQQ")  # magic, slots in a half, window of the even and the odd half, slots used in each
_START = 64
_SLOT = struct.Struct("<16sqQ")  # hash of the name, window, count (0: empty)
_MAGIC = b"almcnt01"
_NEVER = -1
_BLOCK = 4_096
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
#: A request at most this many windows behind is late and counts with the newest. One further behind means that the
#: clock was set back: the table starts anew.
LATE = 5

# Locks on a byte range belong to the process: two tables on one file would not exclude each other, so one lock for all
# tables of the process stands before them. And they are lost when any handle of the locked file is closed, which a
# memory map does with the copy it keeps: so what is locked is a file beside the table that is never mapped.
_process = threading.Lock()


class TableFull(Exception):  # noqa: N818 - it names a state, and the caller decides whether that is an error
    """A table at its largest has no room for another name in this window. Nothing was counted."""


class Counters:
    """Counts by name and window, exact over all processes that open the same file.

    `slots` is the first size of a half (a power of two, 32 bytes each). At three quarters full the table doubles, up
    to `most` slots, so that a live count is never given up. Raises ValueError for a file that is something else, and
    OSError where there is no room for it.
    """

    def __init__(self, path: Path, slots: int = 1 << 13, most: int = 1 << 24) -> None:
        self._most = most
        self._file = os.open(path, _FLAGS, 0o600)
        self._lock = os.open(path.with_name(path.name + ".lock"), _FLAGS, 0o600)
        try:
            with _process, _alone(self._lock):
                self._map = _mapped(self._file, path, slots)
        except (ValueError, OSError):
            with _process:
                os.close(self._file)
                os.close(self._lock)
            raise

    def close(self) -> None:
        """Let go of the file. The counts stay in it."""
        with _process:
            self._map.close()
            os.close(self._file)
            os.close(self._lock)

    def take(self, name: str, window: int, limit: int) -> tuple[bool, int, int]:
        """Count one more where that stays within `limit`. Returns whether it did, the count now, the window it is of.

        Raises TableFull, see there, and OSError where the disk has no room for a larger table: nothing was counted.
        """
        key = _key(name)
        with _process:
            fcntl.lockf(self._lock, fcntl.LOCK_EX, 1)
            try:
                return self._counted(key, window, limit)
            finally:
                fcntl.lockf(self._lock, fcntl.LOCK_UN, 1)

    def peek(self, name: str, window: int) -> int:
        """The count, with nothing counted; 0 of a window that the table does not hold."""
        key = _key(name)
        with _process:
            fcntl.lockf(self._lock, fcntl.LOCK_EX, 1)
            try:
                slots, windows, _ = self._header()
                return self._find(key, window, slots)[1] if windows[window & 1] == window else 0
            finally:
                fcntl.lockf(self._lock, fcntl.LOCK_UN, 1)

    def _counted(self, key: bytes, window: int, limit: int) -> tuple[bool, int, int]:
        _, slots, even, odd, _, _ = _HEADER.unpack_from(self._map)
        if window == (odd if window & 1 else even) and len(self._map) >= _size(slots):
            # Nearly always: the window goes on, and this name has been counted in it.
            place, count = self._find(key, window, slots)
            if 0 < count < limit:
                _SLOT.pack_into(self._map, place, key, window, count + 1)
                return True, count + 1, window
        slots, windows, used = self._header()
        window = self._turn(window, slots, windows, used)
        half = window & 1
        place, count = self._find(key, window, slots)
        if count >= limit:
            return False, count, window
        if count == 0:
            if place < 0 or (used[half] + 1) * 4 > slots * 3:
                slots, windows, used = self._grow(slots, windows)
                place, _ = self._find(key, window, slots)
            used[half] += 1
            self._write(slots, windows, used)
        _SLOT.pack_into(self._map, place, key, window, count + 1)
        return True, count + 1, window

    def _header(self) -> tuple[int, list[int], list[int]]:
        _, slots, *rest = _HEADER.unpack_from(self._map)
        if len(self._map) < _size(slots):  # another process made the table larger
            self._map.close()
            self._map = mmap.mmap(self._file, _size(slots))
        return slots, rest[:2], rest[2:]

    def _write(self, slots: int, windows: list[int], used: list[int]) -> None:
        _HEADER.pack_into(self._map, 0, _MAGIC, slots, *windows, *used)

    def _turn(self, window: int, slots: int, windows: list[int], used: list[int]) -> int:
        """Make a half hold this window, giving up an older one. Returns the window to count in."""
        held, newest = windows[window & 1], max(windows)
        if held == window:
            return window
        if held > window:
            if newest - window <= LATE:
                return newest
            self._wipe()
            windows[:], used[:] = [_NEVER, _NEVER], [0, 0]
        windows[window & 1], used[window & 1] = window, 0
        self._write(slots, windows, used)
        return window

    def _find(self, key: bytes, window: int, slots: int) -> tuple[int, int]:
        """Where this name is counted, or would be, and its count. -1: every slot is taken by others."""
        first = int.from_bytes(key[:8], "little")
        base = _START + (window & 1) * slots * _SLOT.size
        for step in range(slots):
            place = base + ((first + step) & (slots - 1)) * _SLOT.size
            owner, of, count = _SLOT.unpack_from(self._map, place)
            if of != window or count == 0:
                return place, 0
            if owner == key:
                return place, count
        return -1, 0

    def _grow(self, slots: int, windows: list[int]) -> tuple[int, list[int], list[int]]:
        if slots * 2 > self._most:
            raise TableFull(f"a table of {slots} counters is full")
        live = [slot for slot in _SLOT.iter_unpack(self._map[_START : _size(slots)]) if slot[2] and slot[1] in windows]
        slots *= 2
        reserve(self._file, _size(slots))
        self._map.close()
        self._map = mmap.mmap(self._file, _size(slots))
        # Killed from here on, the table is whole but empty: this window starts anew once, and no more than that.
        self._wipe()
        self._write(slots, [_NEVER, _NEVER], [0, 0])
        for key, window, count in live:
            place, _ = self._find(key, window, slots)
            _SLOT.pack_into(self._map, place, key, window, count)
        used = [sum(window & 1 == half for _, window, _ in live) for half in (0, 1)]
        self._write(slots, windows, used)
        return slots, windows, used

    def _wipe(self) -> None:
        self._map[_START:] = bytes(len(self._map) - _START)


class LocalCounters:
    """Counts as `Counters` does, of this process alone and of one window: for where no file can be shared."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._window = _NEVER
        self._counts: dict[str, int] = {}

    def take(self, name: str, window: int, limit: int) -> tuple[bool, int, int]:
        """Count a request of a window, as `Counters.take` does, in this process alone. Raises TableFull."""
        with _process:
            if not 0 <= self._window - window <= LATE:
                self._window, self._counts = window, {}
            count = self._counts.get(name, 0)
            if count >= limit:
                return False, count, self._window
            if count == 0 and len(self._counts) >= self._most:
                raise TableFull(f"{self._most} counters are full")
            self._counts[name] = count + 1
            return True, count + 1, self._window

    def peek(self, name: str, window: int) -> int:
        """Look at the count of a window, as `Counters.peek` does, without counting."""
        with _process:
            return self._counts.get(name, 0) if window == self._window else 0


@functools.lru_cache(maxsize=4096)
def _key(name: str) -> bytes:
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def reserve(file: int, size: int) -> None:
    """Give an open file at least this size, with a block on disk for each part of it. Raises OSError without room."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
        return
    os.ftruncate(file, max(size, os.fstat(file).st_size))
    for place in range(0, size, _BLOCK):  # macOS: a block is had by writing to it what it holds
        os.pwrite(file, os.pread(file, 1, place), place)


@contextmanager
def _alone(file: int) -> Iterator[None]:
    fcntl.lockf(file, fcntl.LOCK_EX, 1)
    try:
        yield
    finally:
        fcntl.lockf(file, fcntl.LOCK_UN, 1)


def _size(slots: int) -> int:
    return _START + 2 * slots * _SLOT.size


def _mapped(file: int, path: Path, slots: int) -> mmap.mmap:
    head = os.pread(file, _HEADER.size, 0)
    if not head.strip(b"\0"):  # new, or emptied by a power cut: counts are no loss
        os.ftruncate(file, 0)
        reserve(file, _size(slots))
        os.pwrite(file, _HEADER.pack(_MAGIC, slots, _NEVER, _NEVER, 0, 0), 0)
    elif not head.startswith(_MAGIC) or os.fstat(file).st_size < _size(_HEADER.unpack(head)[1]):
        raise ValueError(f"{path} is not a table of counters of this version of Almanac: remove it")
    size = os.fstat(file).st_size
    reserve(file, size)  # an earlier version left holes
    return mmap.mmap(file, size)
