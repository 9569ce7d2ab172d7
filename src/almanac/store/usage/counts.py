"""Request counters of each day, to which every process adds."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

from almanac.store.engine import opening, sqlite
from almanac.store.engine.deadline import lock_held
from almanac.store.engine.errors import DamagedError, UnavailableError
from almanac.store.engine.opening import Place, faults
from almanac.store.engine.protocol import Database
from almanac.store.engine.schemas import AuxiliarySchema
from almanac.store.engine.sql_compat import next_id

SCHEMA = AuxiliarySchema(
    name="usage",
    steps=tuple(files(__package__).joinpath(f"schema/{step}.sql").read_text("utf-8") for step in (1, 2, 3)),
    tables=("name", "day_use", "minute_use"),
    durable=False,
    newer="move it away",
)
#: Seconds a writer waits for another; its counts stay in memory meanwhile.
_BUSY_SECONDS = 2.0
_NO_MINUTES: Mapping[tuple[str, int], int] = MappingProxyType({})

_ADD = (
    "INSERT INTO day_use VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(account, day, key, endpoint, status) DO UPDATE"
    " SET requests = day_use.requests + excluded.requests, micros = day_use.micros + excluded.micros"
)
#: A process that is late adds nothing to a later minute.
_ADD_MINUTE = (
    "INSERT INTO minute_use VALUES(?, ?, ?) ON CONFLICT(account) DO UPDATE SET minute = excluded.minute, requests ="
    " CASE WHEN minute_use.minute = excluded.minute THEN minute_use.requests ELSE 0 END + excluded.requests"
    " WHERE minute_use.minute <= excluded.minute"
)


class CountedUse(NamedTuple):
    """Answers of one day that share all counted properties."""

    #: Days since 1970, UTC.
    day: int
    account: str
    #: Prefix of the key.
    key: str
    #: Path template.
    endpoint: str
    status: int
    #: Number of requests, and their total microseconds.
    requests: int
    micros: int


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

    def add(self, counted: Iterable[CountedUse], minutes: Mapping[tuple[str, int], int] = _NO_MINUTES) -> None:
        """
        Add all counts in one transaction. `minutes`: requests that count towards limits, by account and unix minute; each
        account is among those of the counts.
        """
        counted = list(counted)
        names = sorted({name for use in counted for name in (use.account, use.key, use.endpoint)})
        rows = [(name,) for name in names]
        with self.opened() as db, db.transaction():
            db.executemany(f"INSERT INTO name VALUES({next_id('n', 'name')}, ?) ON CONFLICT DO NOTHING", rows)
            numbers = dict(db.seek("SELECT x.name, x.n FROM {keys}name x WHERE x.name = k.column1", rows))
            # All at once, because on a server the other writers wait meanwhile.
            db.executemany(
                _ADD,
                [(numbers[use.account], use.day, numbers[use.key], numbers[use.endpoint], *use[4:]) for use in counted],
            )
            asked = [(numbers[account], minute, minutes[account, minute]) for account, minute in sorted(minutes)]
            db.executemany(_ADD_MINUTE, asked)


def _open(at: Place) -> Database:
    try:
        return opening.open_auxiliary(at, schema=SCHEMA, busy_seconds=_BUSY_SECONDS)
    except DamagedError as error:
        raise DamagedError(f"{at} is damaged ({error}): remove it, only counts of requests are lost") from None
