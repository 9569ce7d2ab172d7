"""The data database as one process reads it (`Reader`), and one consistent state of it (`View`)."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import traceback
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from typing import Any, cast

from almanac.domain.observations import AHEAD
from almanac.domain.periods import end_of, freshness
from almanac.store.engine import opening, sqlite
from almanac.store.engine.data_schema import SCHEMA, explain_misfit
from almanac.store.engine.errors import DatabaseError, UnavailableError
from almanac.store.engine.opening import Place
from almanac.store.engine.protocol import Database
from almanac.store.observations.reading.metadata import MetadataCache, SeriesInfo
from almanac.store.observations.reading.query import EVER, HAS_VALUE, valid_at_sql

#: How many vintages a list may go through, unless set otherwise: some tenths of a second.
MOST_SORTED = 2_000_000
#: Of how many series it is remembered how fresh they are on a day.
_STATUSES_HELD = 200_000


class View:
    """One state of the store, read by one request after the other of one thread until somebody writes."""

    def __init__(
        self, db: Database, version: int, epoch: str, directory: MetadataCache, shared: dict[str, Any],
        most_sorted: int = MOST_SORTED,
    ) -> None:  # fmt: skip
        #: What reads of a database: functions of the store take a view or a connection alike.
        self.execute, self.scan, self.seek = db.execute, db.scan, db.seek
        self.version = version
        self.epoch = epoch
        self.directory = directory
        #: What follows from this state alone, by its owner (`store.state_memory`): other threads read and write it too.
        self.shared = shared
        #: How many vintages one list may go through.
        self.most_sorted = most_sorted
        self._statuses: dict[tuple[int, int, int | None, date], str] = shared.setdefault("freshness", {})

    # -- freshness --------------------------------------------------------------------------------------------------

    def newest_period(self, series: SeriesInfo, version: int, as_of: int | None) -> int | None:
        """Return the key of the newest period of a series that is no forecast, as known at `as_of`."""
        return self.newest_periods([series], version, as_of)[series.number]

    def newest_periods(self, series: Iterable[SeriesInfo], version: int, as_of: int | None) -> dict[int, int | None]:
        """Return what `newest_period` returns, of several series at once, by their numbers."""
        moment = EVER if as_of is None else as_of
        return dict(self.seek(_NEWEST_PERIODS, [(info.number, version, moment) for info in series]))

    def freshness(self, series: SeriesInfo, version: int, as_of: int | None, today: date) -> str:
        """Return the `freshnessStatus` of a series on a day, by which every age is judged: of a row as of a reading made of it."""
        key = (series.number, version, as_of, today)
        status = self._statuses.get(key)
        if status is None:
            spec = series.spec
            newest = None if spec.discontinued or spec.judged_by_fetch else self.newest_period(series, version, as_of)
            status = self.judged(series, None if newest is None else end_of(newest), as_of, today)
            if spec.judged_by_fetch:  # a source is read without a new version of the data
                return status
            if len(self._statuses) >= _STATUSES_HELD:
                self._statuses.clear()
            self._statuses[key] = status
        return status

    def judged(self, series: SeriesInfo, newest_end: date | None, as_of: int | None, today: date) -> str:
        """Return the `freshnessStatus` of a series whose newest period ends on a day that is known already."""
        spec = series.spec
        if spec.discontinued:
            return "stale"
        if spec.judged_by_fetch:
            read = (self._last_fetch(source, as_of) for source in series.read_from)
            newest_end = max((day for day in read if day is not None), default=None)
        return freshness(newest_end, today, spec.allowance_days or spec.frequency.allowance_days)

    def _last_fetch(self, source: str, as_of: int | None) -> date | None:
        """Return the day of a source's newest answer: of any, now; of the newest that was kept, for a past moment."""
        if as_of is None:
            fetched = self.execute("SELECT fetched_at FROM source_state WHERE source = ?", (source,)).get
        else:
            sql = "SELECT max(ingested_at) FROM payload WHERE source = ? AND ingested_at <= ?"
            fetched = self.execute(sql, (source, as_of)).get
        return None if fetched is None else datetime.fromtimestamp(fetched, UTC).date()


#: Newest periods of series that are no forecasts; a key is a series' number, version and moment.
_NEWEST_PERIODS = (
    "SELECT s.series, (SELECT x.period FROM vintages x WHERE x.topic = s.topic AND x.series = s.series"
    f" AND {valid_at_sql('k.column2', 'k.column3')} AND x.flags & {AHEAD} = 0 AND {HAS_VALUE.format('x')}"
    " ORDER BY x.period DESC LIMIT 1) FROM {keys}series s WHERE s.series = k.column1"
)


class _Thread(threading.local):
    """What one thread reads with: a connection, and what is remembered of it, is never shared."""

    connection: Database | None = None
    #: The file that is open.
    file: tuple[int, int] | None = None
    #: The state read last, and the change token by which the connection tells it from another.
    view: View | None = None
    token: int | None = None
    #: Whether the snapshot is open until the end of a turn.
    in_turn: bool = False


class Reader:
    """
    The data database, opened for reading by one process. `view()` is one consistent state of it.

    `most_sorted`: how many vintages a list in another order than that of topics, or within bounds on knowledge, may go through.
    `by_turns`: in the thread of an event loop, what is read in one of its turns shares a snapshot, no older than the first of them. Each
    statement lets other threads run in between: with 32 connections a page that is kept took 1.6 times as much CPU with a
    snapshot of its own.
    """

    def __init__(
        self,
        path: Place,
        busy_seconds: float = 1.0,
        *,
        most_sorted: int = MOST_SORTED,
        by_turns: bool = False,
    ) -> None:
        self._path = path
        self._most_sorted = most_sorted
        self._busy, self._by_turns = busy_seconds, by_turns
        self._here = _Thread()
        #: What threads share of the newest state, and of the newest reference version.
        self._shared: tuple[object, dict[str, Any]] = (None, {})
        self._metadata: tuple[object, MetadataCache | None] = (None, None)

    @contextlib.contextmanager
    def view(self) -> Iterator[View]:
        """
        Open one read transaction for a block. Raises UnavailableError where the store cannot be read.

        An error of the database leaves the block as one of ours. After such a fault, and when the file was replaced (by a restore), the
        next view opens the file anew.
        """
        here = self._here
        try:
            if not here.in_turn:
                file = sqlite.identity_of(self._path)
                if here.connection is None or here.file != file:
                    self.close()
                    here.connection, here.file = (
                        opening.connect(self._path, read_only=True, busy_seconds=self._busy),
                        file,
                    )
                token = here.connection.begin_snapshot()
                # Where nobody has written since the last one, what was learnt then still holds.
                if here.view is None or here.token != token:
                    here.view, here.token = self._new_view(here.connection), token
                if self._by_turns:
                    with contextlib.suppress(RuntimeError):  # a thread without an event loop
                        asyncio.get_running_loop().call_soon(self._end)
                        here.in_turn = True
            yield cast("View", here.view)
        except BaseException as error:  # whatever ended it: no transaction stays open
            fault = opening.fault(error)
            if fault is not None:
                here.in_turn = False
                # Rows that were being read hold the snapshot for as long as somebody knows of the error.
                traceback.clear_frames(error.__traceback__)
            if isinstance(fault, UnavailableError):
                self.close()
            if fault is None or fault is error:
                raise
            try:
                raise fault from error
            finally:
                del fault  # which knows of this frame: in a cycle it would wait for the collector
        finally:
            if not here.in_turn:
                self._end()

    def _end(self) -> None:
        """End the snapshot, if there is one."""
        self._here.in_turn, connection = False, self._here.connection
        if connection is not None and not connection.end_snapshot():
            self.close()  # else whoever reads next would read this state again, whatever has been written since

    def _new_view(self, db: Database) -> View:
        meta = self._meta(db)
        if meta["schema"] != SCHEMA:
            raise UnavailableError(explain_misfit(meta["schema"], self._path))
        epoch, version, reference = meta["epoch"], int(meta["version"]), int(meta["reference"])
        state, shared = self._shared
        if state != (epoch, version, reference):
            shared = {}
            self._shared = ((epoch, version, reference), shared)
        return View(db, version, epoch, self._metadata_of(db, epoch, reference), shared, self._most_sorted)

    def _metadata_of(self, db: Database, epoch: str, reference: int) -> MetadataCache:
        """Return the metadata of a reference version for this thread, with all that another one has learnt of the same file."""
        state = (self._here.file, epoch, reference)
        known, metadata = self._metadata
        if metadata is None or known != state:
            metadata = MetadataCache(db, reference)
            self._metadata = (state, metadata)
        return metadata.read_by(db)

    def _meta(self, db: Database) -> dict[str, str]:
        try:
            return dict(db.execute("SELECT k, v FROM meta"))
        except Exception as error:
            # A file that was emptied, or in which nobody has made tables yet: the engine's own message is the plainest there is.
            fault = opening.fault(error)
            if type(fault) is DatabaseError:
                raise UnavailableError(f"{self._path}: {fault}") from None
            raise

    def close(self) -> None:
        """Close the file as far as this thread has it open. What was remembered of it is forgotten."""
        here = self._here
        if here.connection is not None:
            here.connection.close(True)
            self._metadata = (None, None)
        here.connection = here.file = here.view = here.token = None
        here.in_turn = False
