"""The loads of a home that go on just now: a command notes what it loads, so that the dashboard can say so."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

#: Seconds between two notes of one load.
_EVERY = 0.5
#: Bytes of a note, and characters of how far a load is: each takes twelve bytes at most.
_BYTES, _MOST_TEXT = 4_096, 200

Note = Callable[[str], None]


@contextlib.contextmanager
def noted(home: Path, what: str, clock: Callable[[], float] = time.monotonic) -> Iterator[Note]:
    """
    Say of a home that something is loaded into it, for the length of a block. What is given back is told how far it is.

    The note is held by a lock of an open file: it is nobody's when this process ends, however that comes about. Where none
    can be written (a full disk) the load goes on without.
    """
    path = _folder(home) / f"{os.getpid()}-{time.monotonic_ns()}"
    written = float("-inf")
    with contextlib.ExitStack() as stack:
        file: BinaryIO | None = None

        def note(text: str) -> None:
            nonlocal written
            if file is not None and clock() - written >= _EVERY:
                # That nothing is known yet holds up no word of it.
                written = clock() if text else written
                with contextlib.suppress(OSError):
                    # Blanks behind it make a shorter note whole at once: a reader never meets the end of the one before.
                    os.pwrite(file.fileno(), json.dumps([what, text[:_MOST_TEXT]]).encode().ljust(_BYTES), 0)

        with contextlib.suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = stack.enter_context(path.open("xb"))
            stack.callback(path.unlink, missing_ok=True)
            try_lock(file.fileno())
            note("")
        yield note


def going_on(home: Path) -> dict[str, str]:
    """Return what is being loaded, and how far each is if that is known; of two loads of the same the later note."""
    loads: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for path in sorted(_folder(home).iterdir(), key=lambda path: path.stat().st_mtime_ns):
            with contextlib.suppress(OSError, ValueError), path.open("rb") as file:
                if try_lock(file.fileno(), fcntl.LOCK_SH):  # its process was killed
                    path.unlink()
                else:
                    what, text = json.loads(file.read(_BYTES))
                    loads[what] = text or loads.get(what, "")
    return loads


def try_lock(file: int, how: int = fcntl.LOCK_EX) -> bool:
    """Lock an open file, unless another open file has the lock; say whether that succeeded. It ends with the last copy of the handle."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _folder(home: Path) -> Path:
    return home / "run" / "loading"
