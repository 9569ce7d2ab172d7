"""The loads of a home that go on just now: a command notes what it loads, so that the dashboard can say so."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

#: Seconds between two notes of one load.
_EVERY = 0.5
#: Bytes read of a note, and notes read: no home has more loads than a few.
_MOST_BYTES, _MOST_NOTES = 4_096, 16
#: Characters of how far a load is: each takes twelve bytes at most.
_MOST_TEXT = 200

Note = Callable[[str], None]


@contextlib.contextmanager
def noted(home: Path, what: str, clock: Callable[[], float] = time.monotonic) -> Iterator[Note]:
    """
    Say of a home that something is loaded into it, for the length of a block. What is given back is told how far it is.

    The note is held by a lock of an open file: it is nobody's when this process ends, however that comes about. Where none
    can be written (a full disk) the load goes on without.
    """
    path = _folder(home) / f"{os.getpid()}-{time.monotonic_ns()}"
    file = -1
    told = -_EVERY

    def tell(text: str) -> None:
        nonlocal told
        if file >= 0 and clock() - told >= _EVERY:
            told = clock()
            _write(file, what, text)

    try:
        with contextlib.suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _write(file, what, "")
        yield tell
    finally:
        if file >= 0:
            with contextlib.suppress(OSError):
                path.unlink()
            os.close(file)


def _write(file: int, what: str, text: str) -> None:
    with contextlib.suppress(OSError):
        told = json.dumps([what, text[:_MOST_TEXT]]).encode()
        # Blanks behind it make a shorter note whole at once: a reader never meets the end of the one before.
        os.pwrite(file, told.ljust(_MOST_BYTES), 0)


def going_on(home: Path) -> dict[str, str]:
    """Return what is being loaded, and how far each is if that is known; of two loads of the same the later note."""
    found: dict[str, str] = {}
    try:
        notes = sorted(_folder(home).iterdir(), key=lambda path: path.stat().st_mtime_ns)[-_MOST_NOTES:]
    except OSError:
        return {}
    for path in notes:
        with contextlib.suppress(OSError, ValueError), path.open("rb") as file:
            if _left_behind(file.fileno()):
                path.unlink()
                continue
            what, text = json.loads(file.read(_MOST_BYTES))
            found[str(what)] = str(text) or found.get(str(what), "")
    return found


def _left_behind(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _folder(home: Path) -> Path:
    return home / "run" / "loading"
