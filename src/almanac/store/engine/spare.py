"""A little room beside a database file that is held back, so that on a full disk it can still be written down what failed."""

from __future__ import annotations

import os
from pathlib import Path

#: What a small transaction takes of the database and its log, some times over, bytes.
_BYTES = 256 << 10


def keep(database: Path) -> None:
    """Hold the room back, where there is room."""
    path = _path(database)
    if path.exists():
        return
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Bytes, not a hole; and not all alike, which some file systems would keep as one.
        path.write_bytes(os.urandom(_BYTES))
        path.chmod(0o600)
    except OSError:  # none to hold back
        give_up(database)


def give_up(database: Path) -> bool:
    """
    Give the room up to whoever writes next. False where none was held back. It is held back again when a writer opens the
    database next.
    """
    try:
        _path(database).unlink()
    except OSError:
        return False
    return True


def _path(database: Path) -> Path:
    return database.parent / "run" / "spare"
