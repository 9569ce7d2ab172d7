"""Counters written: added to by every process, folded into hours and days as they age."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from almanac.store.engine.errors import DamagedError, StoreError
from almanac.store.engine.sqlite import Connection, alone, connect, faults, identity
from almanac.store.usage.latency import BUCKETS

SCHEMA = 1
HOUR, DAY = 60, 1_440
#: Minutes after which minutes are folded into hours, and hours into days.
MINUTES_KEPT, HOURS_KEPT = 7 * DAY, 90 * DAY
#: Parts of `daily`.
IN_ALL, BY_KEY, BY_ENDPOINT = 0, 1, 2
#: How long a writer waits for another one; the counts wait in memory meanwhile.
_BUSY_SECONDS = 2.0

FIGURES = ("requests", "micros", *(f"b{place}" for place in range(BUCKETS)))
_NAMES = ", ".join(FIGURES)
_MARKS = ", ".join("?" * len(FIGURES))
_SUMS = ", ".join(f"sum({one})" for one in FIGURES)
_ADDED = ", ".join(f"{one} = {one} + excluded.{one}" for one in FIGURES)
_INTO_COUNTER = f"INTO counter(account, at, span, key, endpoint, status, {_NAMES})"
_COUNT = f"INSERT {_INTO_COUNTER} VALUES(?, ?, 1, ?, ?, ?, {_MARKS}) ON CONFLICT DO UPDATE SET {_ADDED}"
_DAY = (
    f"INSERT INTO daily(account, part, day, name, status, {_NAMES}) VALUES(?, ?, ?, ?, ?, {_MARKS})"
    f" ON CONFLICT DO UPDATE SET {_ADDED}"
)
_FOLD = (
    f"INSERT {_INTO_COUNTER} SELECT account, ?2, ?3, key, endpoint, status, {_SUMS} FROM counter"
    " WHERE span = ?1 AND at >= ?2 AND at < ?2 + ?3 GROUP BY account, key, endpoint, status"
    f" ON CONFLICT DO UPDATE SET {_ADDED}"
)


class CountedUse(NamedTuple):
    """Answers of one minute that differ in nothing that is counted."""

    #: Unix minutes.
    minute: int
    account: str
    #: Prefix of the key.
    key: str
    #: Path template.
    endpoint: str
    status: int
    #: Requests, microseconds in all, and how many fall into each bucket of `latency`.
    figures: tuple[int, ...]


class UsageFile:
    """The file, made where it is not. For several threads; open one in each process.

    Raises StoreError for a file of a newer version or of another kind, and what the engine raises.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._db: Connection | None = None
        self._file: tuple[int, int] | None = None
        self._names: dict[str, int] = {}

    @contextlib.contextmanager
    def opened(self) -> Iterator[Connection]:
        """The file for one thread at a time; made anew where it was taken away. Errors leave as those of the engine."""
        with self._lock, faults():
            if self._db is None or not self._path.exists() or identity(self._path) != self._file:
                self._close()
                self._db = _open(self._path)
                self._file = identity(self._path)
            try:
                yield self._db
            except BaseException:
                # Whatever it was, names may have been noted that were not written.
                self._names.clear()
                raise

    def close(self) -> None:
        """Close the file; it is opened again when it is used."""
        with self._lock, faults():
            self._close()

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db, self._file = None, None
        self._names.clear()

    def add(self, counted: Iterable[CountedUse]) -> None:
        """Add all of it, or nothing where it cannot be written."""
        with self.opened() as db, db.transaction():
            for one in counted:
                account, key, endpoint = (self._number(db, name) for name in (one.account, one.key, one.endpoint))
                db.execute(_COUNT, (account, one.minute, key, endpoint, one.status, *one.figures))
                day = one.minute // DAY
                for part, name in ((IN_ALL, 0), (BY_KEY, key), (BY_ENDPOINT, endpoint)):
                    db.execute(_DAY, (account, part, day, name, one.status, *one.figures))

    def fold(self, minute: int, most: int = 24) -> int:
        """Fold what is old by this minute, at most so many hours or days of it, one to a transaction. Returns how many."""
        done = 0
        for span, into, kept in ((1, HOUR, MINUTES_KEPT), (HOUR, DAY, HOURS_KEPT)):
            # Whole ones only, so that nothing is added to one that was folded.
            before = (minute - kept) // into * into
            while done < most:
                with self.opened() as db, db.transaction():
                    oldest = db.execute("SELECT min(at) FROM counter WHERE span = ?", (span,)).get
                    if oldest is None or oldest >= before:
                        break
                    first = oldest // into * into
                    db.execute(_FOLD, (span, first, into))
                    db.execute("DELETE FROM counter WHERE span = ? AND at >= ? AND at < ?", (span, first, first + into))
                done += 1
        return done

    def _number(self, db: Connection, name: str) -> int:
        found = self._names.get(name)
        if found is None:
            db.execute("INSERT OR IGNORE INTO name(name) VALUES(?)", (name,))
            found = self._names[name] = int(db.execute("SELECT n FROM name WHERE name = ?", (name,)).get)
            if len(self._names) > 100_000:  # accounts and keys of a large service: some are looked up again
                self._names.clear()
        return found


def _open(path: Path) -> Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    with alone(path.parent):
        try:
            db = connect(path, busy_seconds=_BUSY_SECONDS)
        except DamagedError as error:
            raise DamagedError(f"{path} is damaged ({error}): remove it, only counts of requests are lost") from None
        try:
            with db.transaction():
                _make(db, path)
        except BaseException:  # whatever it is, the file is let go of
            db.close()
            raise
    return db


def _make(db: Connection, path: Path) -> None:
    found = int(db.pragma("user_version"))
    if found == 0:
        db.execute(files(__package__).joinpath("usage.sql").read_text("utf-8"))
        db.pragma("user_version", SCHEMA)
    elif found != SCHEMA:
        raise StoreError(f"{path} has schema {found}, this version of Almanac knows {SCHEMA}: move it away")
