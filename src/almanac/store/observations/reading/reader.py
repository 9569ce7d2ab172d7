"""
Reading observations: one streaming query answers `preferred`, `as_of` and a pinned data version together.

`Reader` is the database as one process reads it, `View` one state of it. How lists are walked is in
almanac.store.observations.reading.lists, what may be asked for in almanac.store.observations.reading.selection.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime
from types import TracebackType
from typing import Any

from almanac.domain.observations import AHEAD
from almanac.domain.periods import end_of, freshness
from almanac.store.engine import opening
from almanac.store.engine.data_schema import SCHEMA, explain_misfit
from almanac.store.engine.errors import DatabaseError, UnavailableError
from almanac.store.engine.opening import Place
from almanac.store.engine.protocol import Database, Rows
from almanac.store.observations.reading.directory import Directory
from almanac.store.observations.reading.lists import Lists
from almanac.store.observations.reading.plan import MOST_SORTED
from almanac.store.observations.reading.selection import EVER, HAS_VALUE, standing
from almanac.store.observations.reading.series_info import SeriesInfo

_NEWEST_HELD = 200_000
#: That a series has no period is known of it too.
_UNKNOWN: Any = object()


class _Thread(threading.local):
    """What one thread reads with: connections and what is remembered of them are never shared."""

    connection: Database | None = None
    #: The file that is open.
    file: tuple[int, int] | None = None
    directory: Directory | None = None
    epoch: str = ""
    #: The state seen last, and the number by which the connection tells it from another (its change token).
    view: View | None = None
    state: int | None = None
    #: Whether something is to be done at the end of this turn of the event loop, and whether a transaction is open that
    #: ends then.
    turning: bool = False
    lasting: bool = False


class Reader:
    """The data database, opened for reading by one process. `view()` is one consistent state of it.

    `at_turn` has an action done when the event loop of this thread has done all that waits by now, and says whether
    there is such a loop. Where there is, the requests of one turn share a transaction: all of them had come before it
    began, so none of them misses what was written before it was asked.

    `most_sorted`: so many vintages at most are gone through for a list in another order than that of topics, or within bounds on knowledge.
    """

    def __init__(
        self,
        path: Place,
        busy_seconds: float = 1.0,
        *,
        at_turn: Callable[[Callable[[], object]], bool] = lambda _: False,
        most_sorted: int = MOST_SORTED,
    ) -> None:
        self._path = path
        self._most_sorted = most_sorted
        self._busy = busy_seconds
        self._at_turn = at_turn
        self._here = _Thread()
        self._shared: tuple[object, dict[str, Any]] = (None, {})
        #: What a thread read last of the reference records and series, and of which file and version: others go on with it.
        self._known: tuple[object, Directory | None] = (None, None)
        self._opened = _Opened(self)

    def view(self) -> AbstractContextManager[View]:
        """
        One read transaction, for the length of a `with` or of a turn. Entering raises UnavailableError where the store
        cannot be read.

        After such a fault, and when the file was replaced (by a restore), the next view opens the file anew.
        """
        return self._opened

    def begin(self) -> View:
        """Do what entering `view()` does."""
        here = self._here
        if here.lasting and here.view is not None:
            return here.view
        lasting = self._turns()
        # Where the token is the one of last time, nobody has written since: what was learnt then still holds.
        db = self._connection()
        state = db.begin_snapshot()
        if here.view is None or here.state != state:
            here.view, here.state = self._renewed(db), state
        here.view.forget()
        here.lasting = lasting
        return here.view

    def _turns(self) -> bool:
        """Whether there is an event loop in whose turn requests share a transaction; its end is put in line."""
        here = self._here
        # Before the snapshot is taken: what comes to the line behind it was asked later, and may know of what has been
        # written since.
        here.turning = here.turning or self._at_turn(self._turned)
        return here.turning

    def _turned(self) -> None:
        here = self._here
        here.turning = False
        self._release()

    def _renewed(self, db: Database) -> View:
        here = self._here
        meta = self._meta(db)
        if meta["schema"] != SCHEMA:
            raise UnavailableError(explain_misfit(meta["schema"], self._path))
        reference = int(meta["reference"])
        if here.directory is None or here.directory.reference != reference or here.epoch != meta["epoch"]:
            here.directory, here.epoch = self._directory(db, reference, meta["epoch"]), meta["epoch"]
        version, epoch = int(meta["version"]), meta["epoch"]
        return View(db, version, epoch, here.directory, self._shared_by((epoch, version, reference)), self._most_sorted)

    def _directory(self, db: Database, reference: int, epoch: str) -> Directory:
        """Return the directory of one thread, with all that another one learnt of the same file and reference version."""
        state = (self._here.file, epoch, reference)
        held, known = self._known
        if known is None or held != state:
            known = Directory(db, reference)
            self._known = (state, known)
            return known
        return known.read_by(db)

    def _shared_by(self, state: tuple[str, int, int]) -> dict[str, Any]:
        """Return what the threads that read the same data share of what they learnt; of the newest state alone."""
        held = self._shared
        if held[0] != state:
            held = self._shared = (state, {})
        return held[1]

    def end(self, error: BaseException | None) -> None:
        """
        Do what leaving `view()` does. An error of the database leaves as one of ours.

        It ends the transaction, though others of this turn were to share it: an engine may do nothing more in one in which a
        statement failed. They begin another.
        """
        fault = None if error is None else opening.fault(error)
        if error is not None and fault is not None:
            # Rows that were being read when it came hold the snapshot for as long as somebody knows of the error.
            traceback.clear_frames(error.__traceback__)
        if isinstance(fault, UnavailableError):
            self.close()
        elif fault is not None or not self._here.lasting:
            self._release()
        if fault is not None and fault is not error:
            try:
                raise fault from error
            finally:
                del fault, error  # which know of this frame: in a cycle they would wait for the collector

    def _release(self) -> None:
        here = self._here
        here.lasting = False
        if here.connection is not None and not here.connection.end_snapshot():
            self.close()  # else whoever reads next would read this state again, whatever has been written since

    def _connection(self) -> Database:
        here = self._here
        file = opening.identity(self._path)
        if here.connection is None or here.file != file:
            self.close()
            here.connection, here.file = opening.connect(self._path, read_only=True, busy_seconds=self._busy), file
        return here.connection

    def _meta(self, db: Database) -> dict[str, str]:
        try:
            return dict(db.execute("SELECT k, v FROM meta"))
        except Exception as error:
            # A file that was emptied, or that nobody has made tables in yet: the engine's own word for a statement that
            # it does not understand is the plainest there is.
            fault = opening.fault(error)
            if type(fault) is DatabaseError:
                raise UnavailableError(f"{self._path}: {fault}") from None
            raise

    def close(self) -> None:
        """Close the file as far as this thread has it open. What was remembered of it is forgotten."""
        here = self._here
        if here.connection is not None:
            here.connection.close(True)
            self._known = (None, None)
        here.connection = here.file = here.directory = here.view = here.state = None
        here.lasting = False


class _Opened:
    """`Reader.view()` as a context manager: one for all uses, since what it opens belongs to the thread."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def __enter__(self) -> View:
        try:
            return self._reader.begin()
        except BaseException as error:  # whatever ended it: no transaction stays open
            self._reader.end(error)
            raise

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._reader.end(error)


class View(Lists):
    """One state of the store, read by one request after the other until somebody writes."""

    def __init__(
        self, db: Database, version: int, epoch: str, directory: Directory, shared: dict[str, Any],
        most_sorted: int = MOST_SORTED,
    ) -> None:  # fmt: skip
        super().__init__(db, directory, version, shared, most_sorted)
        self.version = version
        self.epoch = epoch
        self.directory = directory
        #: What follows from the data version and the catalogue's alone, by its owner: other threads may read and write it.
        self.shared = shared
        #: What this view alone remembers, by its owner. Nothing in it may hold the view.
        self.own: dict[str, Any] = {}
        self._newest: dict[tuple[int, int, int], int | None] = shared.setdefault("newest periods", {})

    def forget(self) -> None:
        """Let go of what is remembered of series, where that has become too much."""
        if len(self._newest) > _NEWEST_HELD:
            self._newest.clear()

    def execute(self, sql: str, values: Sequence[Any] | None = None, /) -> Rows:
        """Ask this state in SQL: for functions of the store, which take a view or a connection alike."""
        return self._db.execute(sql, values)

    def scan(self, sql: str, values: Sequence[Any] | None = None, /) -> Iterator[Any]:
        """Ask this state what may give more rows than are wanted."""
        return self._db.scan(sql, values)

    def seek(self, sql: str, keys: Sequence[Sequence[Any]], /) -> Iterable[Any]:
        """`Database.seek`."""
        return self._db.seek(sql, keys)

    # -- freshness --------------------------------------------------------------------------------------------------

    def newest_period(self, series: SeriesInfo, version: int, as_of: int | None) -> int | None:
        """Key of the newest period of a series that is no forecast, as known at the time asked."""
        key = (series.number, version, -1 if as_of is None else as_of)
        found: int | None = self._newest.get(key, _UNKNOWN)
        if found is _UNKNOWN:
            at = EVER if as_of is None else as_of
            found = self._newest[key] = self._db.execute(_NEWEST_PERIOD, (series.topic, series.number, version, at)).get
        return found

    def freshness(self, series: SeriesInfo, version: int, as_of: int | None, today: date) -> str:
        """`freshnessStatus` of a series on a day: what every age is judged by, of a row as of a reading made of it."""
        spec = series.spec
        newest = None if spec.discontinued or spec.judged_by_fetch else self.newest_period(series, version, as_of)
        return self.judged(series, None if newest is None else end_of(newest), as_of, today)

    def judged(self, series: SeriesInfo, newest_end: date | None, as_of: int | None, today: date) -> str:
        """Judge a series of which the last day of its newest period is known already."""
        spec = series.spec
        if spec.discontinued:
            return "stale"
        if spec.judged_by_fetch:
            read = (self._last_fetch(one, as_of) for one in series.read_from)
            newest_end = max((day for day in read if day is not None), default=None)
        return freshness(newest_end, today, spec.allowance_days or spec.frequency.allowance_days)

    def _last_fetch(self, source: str, as_of: int | None) -> date | None:
        """Day of a source's newest answer: of any, now; of the newest that was kept, for a past moment."""
        found: int | None
        if as_of is None:
            found = self._db.execute("SELECT fetched_at FROM source_state WHERE source = ?", (source,)).get
        else:
            sql = "SELECT max(ingested_at) FROM payload WHERE source = ? AND ingested_at <= ?"
            found = self._db.execute(sql, (source, as_of)).get
        return None if found is None else datetime.fromtimestamp(found, UTC).date()


#: Bound: topic, series, version and moment.
_NEWEST_PERIOD = (
    f"SELECT x.period FROM vintages x WHERE x.topic = ?1 AND x.series = ?2 AND {standing('?3', '?4')} AND x.flags & {AHEAD} = 0"
    f" AND {HAS_VALUE.format('x')} ORDER BY x.period DESC LIMIT 1"
)
