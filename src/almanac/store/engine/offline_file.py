"""A database file that nobody else uses, such as one out of a backup: whether it is whole, and what it says of itself."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw

from almanac.store.engine.data_schema import meta
from almanac.store.engine.errors import UnavailableError, faults
from almanac.store.engine.sqlite import Connection, connect

#: Pages of a database copied at a time: 8 MiB of the data's.
_PAGES = 1_024


def damages(path: Path) -> list[str]:
    """List what the engine finds wrong with a file: pages, indices that do not agree with their tables."""
    try:
        with _opened(path) as db:
            return [told for (told,) in db.execute("PRAGMA integrity_check") if told != "ok"]
    except UnavailableError as error:
        return [str(error)]


def note(path: Path, key: str) -> int:
    """Return a number among a data database's own notes: its schema or version. Raises UnavailableError for a file that cannot be read."""
    with _opened(path) as db:
        return int(meta(db, key) or 0)


def user_version(path: Path) -> int:
    """Return the schema of a database that keeps it in its header. Raises UnavailableError for a file that cannot be read."""
    with _opened(path) as db:
        return int(db.execute("PRAGMA user_version").get)


@faults()
def copy(path: Path, target: Path, begin: Callable[[int], Callable[[float], None]]) -> None:
    """
    Make a consistent copy of a database in use: a writer is not held up, all is copied within one read transaction.

    `target` is there already, empty. `begin` is told how many bytes there are, and gives what is told how many were
    copied.
    """
    with (
        contextlib.closing(Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)) as copied,
        contextlib.closing(connect(path, read_only=True)) as source,
        source.snapshot(),  # held between the steps too: else a writer would have it begin anew
        copied.backup("main", source, "main") as running,
    ):
        size = source.pragma("page_size")
        left = source.pragma("page_count")  # `remaining` tells it only once a step was taken
        advance = begin(left * size)
        while not running.done:
            running.step(_PAGES)
            advance((left - running.remaining) * size)
            left = running.remaining


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Connection]:
    with faults(), contextlib.closing(Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as db:
        yield db
