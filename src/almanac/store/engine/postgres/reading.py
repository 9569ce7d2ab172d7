"""
The half of a connection that reads: its snapshots; and the link itself, made anew where it was lost.

Whatever was read in a snapshot that was lost is lost with it. One in which nothing was read yet is begun again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import psycopg
from psycopg import pq

from almanac.store.engine.errors import UnavailableError
from almanac.store.engine.postgres.asking import asking_of
from almanac.store.engine.postgres.faults import SilentServerError, faults
from almanac.store.engine.postgres.link import PostgresLink
from almanac.store.engine.postgres.settling import UNSETTLED, Machines, looks

_T = TypeVar("_T")
_IDLE = pq.TransactionStatus.IDLE
_BEGIN = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL jit = off; "


class ReadingConnection:
    """One connection to one area of one database, used by one thread at a time. Lost, it is made anew at the next use."""

    def __init__(self, opened: Callable[[], PostgresLink], area: str, *, busy_milliseconds: int) -> None:
        self._opened, self._busy = opened, busy_milliseconds
        self._token = f"SELECT n FROM change_token WHERE area = '{area}'".encode()
        self._closed = self._ending = False
        #: The change token of the snapshot that was begun last.
        self._state = -1
        self._again()
        self._machines = Machines(area, self.ask)

    # -- snapshots --------------------------------------------------------------------------------------------------

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open, of either kind."""
        self._settle()
        return not self._link.closed and self._link.pgconn.transaction_status != _IDLE

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        with faults():
            self.begin_snapshot()
            try:
                yield
            finally:
                self.end_snapshot()

    def begin_snapshot(self) -> int:
        with faults():
            self._ready()
            try:
                for _ in looks(self._busy):
                    # The first that is read takes the snapshot.
                    self._state = self._anew(lambda: self._number(_BEGIN + self._token))
                    if self._machines.believe(self._state):
                        return self._state
                    self._asking.first(b"ROLLBACK")
            except BaseException:
                self._undo()
                raise
            raise UnavailableError(UNSETTLED)

    def end_snapshot(self) -> bool:
        if self.in_transaction:
            with faults():
                # Nobody waits for the answer: it is taken when there is something to ask again.
                self._link.pgconn.send_query(b"COMMIT")
                self._ending = True
        return True

    def change_token(self) -> int:
        with faults():
            self._ready()
            return self._anew(lambda: self._number(self._token))

    def _number(self, sql: bytes) -> int:
        found = self._asking.first(sql)
        if found is None:
            raise UnavailableError("nobody has made the tables yet")
        return int(found)

    def ask(self, sql: str) -> list[Any]:
        """Run a statement that is in PostgreSQL's own words; what it gives."""
        return self._rows(sql, ())

    def _rows(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """All rows of a statement that is in PostgreSQL's own words."""
        return self._asking.rows(sql, values)

    def _undo(self) -> None:
        status = self._link.pgconn.transaction_status
        if status in {pq.TransactionStatus.INTRANS, pq.TransactionStatus.INERROR}:
            with contextlib.suppress(psycopg.Error):  # lost meanwhile: the server undoes it
                self._asking.first(b"ROLLBACK")
        elif status != _IDLE:
            self._drop()

    # -- the link itself ---------------------------------------------------------------------------------------------

    @property
    def link(self) -> PostgresLink:
        """The driver's connection, for what is PostgreSQL's alone."""
        self._settle()
        return self._link

    def _ready(self) -> None:
        """Connect again where the connection was lost; what was to be done in it failed then, and nothing of it stays."""
        try:
            self._settled()
        except SilentServerError:
            self._drop()
            raise
        if self._link.closed and not self._closed:
            self._again()

    def _anew(self, begin: Callable[[], _T]) -> _T:
        """
        The first that is asked for, of which nothing can have happened yet: where the connection turns out to have been lost
        while nobody used it, it is asked for once more, by another one.
        """
        try:
            return begin()
        except SilentServerError:
            raise  # another would wait as long
        except psycopg.OperationalError:
            if not self._link.closed:
                raise
            self._again()
            return begin()

    def _drop(self) -> None:
        """Close the connection: the next use makes another."""
        self._link.close()

    def _settle(self) -> None:
        """Take the answer to the end of a snapshot. Where the connection was lost meanwhile, the next use makes another."""
        try:
            self._settled()
        except SilentServerError:
            self._drop()

    def _settled(self) -> None:
        """Wait for an answer. Raises SilentServerError where nobody waits any longer for that answer."""
        if self._ending:
            self._ending = False
            try:
                self._asking.result()
            except SilentServerError:
                raise
            except psycopg.Error:
                pass

    def _again(self) -> None:
        self._link = self._opened()
        self._cursor = psycopg.RawCursor(self._link)
        self._asking = asking_of(self._link)

    def close(self, force: bool = False, /) -> None:
        """End the connection, whatever is under way."""
        self._closed = True
        self._drop()

    def let_go(self) -> None:
        """Never use the link again, nor make another: it is whoever's who asks for it now."""
        self._settle()
        self._closed = True

    @property
    def closed(self) -> bool:
        """Whether it was closed, or let go of."""
        return self._closed
