"""Writing of counters. Every process adds to them, and old ones are folded into hours and days."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import NamedTuple

from almanac.store.engine import opening, sqlite
from almanac.store.engine.deadline import lock_held
from almanac.store.engine.errors import DamagedError, UnavailableError
from almanac.store.engine.opening import Place, faults
from almanac.store.engine.protocol import Database
from almanac.store.engine.schemas import AuxiliarySchema
from almanac.store.engine.sql_compat import next_id

#: Schema 1 counted latencies by bucket as well.
_WITHOUT_BUCKETS = "".join(
    f"ALTER TABLE {table} DROP COLUMN b{place};\n" for table in ("counter", "daily") for place in range(12)
)
SCHEMA = AuxiliarySchema(
    name="usage",
    steps=(files(__package__).joinpath("usage.sql").read_text("utf-8"), _WITHOUT_BUCKETS),
    tables=("name", "counter", "daily"),
    durable=False,
    newer="move it away",
)
HOUR, DAY = 60, 1_440
#: Minutes after which minute counters are folded into hours, and hours into days.
MINUTES_KEPT, HOURS_KEPT = 7 * DAY, 90 * DAY
#: Parts of `daily`.
IN_ALL, BY_KEY, BY_ENDPOINT = 0, 1, 2
#: Seconds a writer waits for another; its counts stay in memory meanwhile.
_BUSY_SECONDS = 2.0

FIGURES = ("requests", "micros")
_NAMES = ", ".join(FIGURES)
_MARKS = ", ".join("?" * len(FIGURES))
_SUMS = ", ".join(f"sum({one})" for one in FIGURES)
_ADDED = ", ".join(f"{one} = {{0}}.{one} + excluded.{one}" for one in FIGURES)
_INTO_COUNTER = f"INTO counter(account, at, span, key, endpoint, status, {_NAMES})"
_ADDED_THERE = f"ON CONFLICT(account, at, span, key, endpoint, status) DO UPDATE SET {_ADDED.format('counter')}"
_COUNT = f"INSERT {_INTO_COUNTER} VALUES(?, ?, 1, ?, ?, ?, {_MARKS}) {_ADDED_THERE}"
_DAY = (
    f"INSERT INTO daily(account, part, day, name, status, {_NAMES}) VALUES(?, ?, ?, ?, ?, {_MARKS})"
    f" ON CONFLICT(account, part, day, name, status) DO UPDATE SET {_ADDED.format('daily')}"
)
_FOLD = (
    f"INSERT {_INTO_COUNTER} SELECT account, ?2, ?3, key, endpoint, status, {_SUMS} FROM counter"
    " WHERE span = ?1 AND at >= ?2 AND at < ?2 + ?3 GROUP BY account, key, endpoint, status"
    f" {_ADDED_THERE}"
)


class CountedUse(NamedTuple):
    """Answers of one minute that share all counted properties."""

    #: Unix minutes.
    minute: int
    account: str
    #: Prefix of the key.
    key: str
    #: Path template.
    endpoint: str
    status: int
    #: Number of requests, and their total microseconds.
    figures: tuple[int, int]


class UsageFile:
    """
    The counters, in a file or on the data's server, created if needed. Safe for several threads; open one per process.

    Raises StoreError for counters of a newer version, DamagedError for a file of another kind, and the engine's errors.
    """

    def __init__(self, at: Place) -> None:
        self._at = at
        self._lock = threading.RLock()
        self._db: Database | None = None
        #: Which file it is; None until that was told.
        self._file: tuple[int, int] | None = None

    @contextlib.contextmanager
    def opened(self) -> Iterator[Database]:
        """
        Yield the counters' database to one thread at a time. A file that was removed is created again. Errors of the
        engine pass through.
        """
        with lock_held(self._lock), faults():
            if self._db is None or not self._is_there():
                self._close()
                self._db = _open(self._at)
                self._file = sqlite.identity_of(self._at)
            yield self._db

    def close(self) -> None:
        """Close the counters. The next use opens them again."""
        with self._lock, faults():
            self._close()

    def _is_there(self) -> bool:
        try:
            return sqlite.identity_of(self._at) == self._file
        except UnavailableError:
            return False

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = None

    def add(self, counted: Iterable[CountedUse]) -> None:
        """Add all counts in one transaction."""
        counted = list(counted)
        counters: list[tuple[int, ...]] = []
        days: list[tuple[int, ...]] = []
        with self.opened() as db, db.transaction():
            numbers = _numbers(db, {name for one in counted for name in (one.account, one.key, one.endpoint)})
            for one in counted:
                account, key, endpoint = numbers[one.account], numbers[one.key], numbers[one.endpoint]
                counters.append((account, one.minute, key, endpoint, one.status, *one.figures))
                for part, name in ((IN_ALL, 0), (BY_KEY, key), (BY_ENDPOINT, endpoint)):
                    days.append((account, part, one.minute // DAY, name, one.status, *one.figures))
            # All at once, because on a server the other writers wait meanwhile.
            db.executemany(_COUNT, counters)
            db.executemany(_DAY, days)

    def fold(self, minute: int, most: int = 24) -> int:
        """
        Fold counters that are old at this unix minute, at most `most` hours or days of them, one per transaction.
        Returns how many were folded.
        """
        done = 0
        for span, into, kept in ((1, HOUR, MINUTES_KEPT), (HOUR, DAY, HOURS_KEPT)):
            # Whole hours or days only, so that nothing is added to a folded one.
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


def _numbers(db: Database, names: Iterable[str]) -> dict[str, int]:
    """Return the numbers that stand for names. New names get one."""
    rows = [(name,) for name in sorted(names)]
    db.executemany(f"INSERT INTO name VALUES({next_id('n', 'name')}, ?) ON CONFLICT DO NOTHING", rows)
    return dict(db.seek("SELECT x.name, x.n FROM {keys}name x WHERE x.name = k.column1", rows))


def _open(at: Place) -> Database:
    try:
        return opening.open_auxiliary(at, schema=SCHEMA, busy_seconds=_BUSY_SECONDS)
    except DamagedError as error:
        raise DamagedError(f"{at} is damaged ({error}): remove it, only counts of requests are lost") from None
