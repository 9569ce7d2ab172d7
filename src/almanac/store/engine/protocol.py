"""
What the store asks of a database engine: SQLite (`sqlite`) or PostgreSQL (`postgres`).

Versions: a write that changes what is served gives its rows the next data version. So writers come one after the other,
each sees the version that the one before committed, and versions become visible in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from almanac.store.engine.errors import faults


class Rows(Protocol):
    """The rows that a statement gives, as tuples of None, int, float, str and bytes. Reading on may fail as `execute` does."""

    def __iter__(self) -> Iterator[Any]: ...
    def __next__(self) -> Any: ...

    def fetchone(self) -> Any | None:
        """Return the next row; None if there is none."""

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""

    @property
    def get(self) -> Any:
        """The value of the next row if it has one column, else that row; None if there is no row."""


class Queryable(Protocol):
    """Something that answers statements in SQL: a connection, or one state of the store (`View`)."""

    def execute(self, sql: str, values: Sequence[Any] | None = None, /) -> Rows:
        """
        Run a statement in which `?` (or `?1`) stands for values.

        Raises the engine's own errors, so that reading costs nothing more; see `Database` for where they become ours.
        """


class Scannable(Queryable, Protocol):
    """Something that also answers statements that give more rows than are wanted, or than memory holds."""

    def scan(self, sql: str, values: Sequence[Any] | None = None, /) -> Iterator[Any]:
        """Run a statement whose rows are fetched as they are read, within the snapshot or transaction that is open."""


class Database(Scannable, Protocol):
    """
    One connection to one database, used by one thread at a time. A lost one is opened anew at its next use.

    Errors that come out of a method that begins or ends something are those of `errors`. Those of `execute` and of rows may be the
    engine's own; they are translated where they leave a transaction, a view of the reader, or a block of `opening.faults`.
    """

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Run a statement that writes once for each row of values, in order."""

    def insert(self, table: str, rows: Sequence[Sequence[Any]], /) -> None:
        """Add whole rows to a table, the fastest way that the engine has."""

    def seek(self, sql: str, keys: Sequence[Sequence[Any]], /) -> Iterable[Any]:
        """
        Return what a SELECT gives for each of many keys, in their order, the fastest way that the engine has.

        In it `k.column1`, `k.column2`, … are the values of a key, and `{keys}` stands right before the table that is searched.
        """

    def update(self, sql: str, values: Sequence[Any], /) -> int:
        """Run a statement that writes. Return how many rows it changed."""
        return len(self.execute(f"{sql} RETURNING 1", values).fetchall())

    def script(self, sql: str, /) -> object:
        """Run the statements of a schema file, which is written in SQLite's words."""

    def transaction(self) -> AbstractContextManager[None]:
        """
        Open a write transaction for a block: all of it or nothing, whatever ends it.

        The right to write is taken at its beginning, before anything is read in it: nobody else commits until its end, so
        what it reads is the newest there is. Raises BusyError if another writer keeps it longer than the connection waits.
        """

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Call `begin_snapshot` and `end_snapshot` around a block."""
        with faults():
            self.begin_snapshot()
            try:
                yield
            finally:
                self.end_snapshot()

    def begin_snapshot(self) -> int:
        """
        Begin a read transaction and return its change token. All that is read in it is one state, committed before this call.

        It neither waits for writers nor keeps them waiting.
        """

    def end_snapshot(self) -> bool:
        """
        End the read transaction, if there is one.

        Returns False if it goes on because rows of it are still being read: the connection has to be closed then, for the
        next snapshot would be the same state.
        """

    def change_token(self) -> int:
        """Return a number that differs from the previous one if another connection has committed in between."""

    def written(self) -> bool:
        """Return whether this connection has changed any row since it was opened."""

    def tables(self) -> list[str]:
        """Return the names of all tables, sorted."""

    def recreate(self) -> None:
        """Empty the data database inside the caller's transaction, whatever schema it had. All cursors expire."""

    def empty(self, table: str) -> None:
        """Delete the rows of a table, although the engine may not be able to read them."""

    def schema_number(self) -> int:
        """Return the schema of what is kept beside the data; 0 before it is made."""

    def set_schema_number(self, number: int) -> None: ...

    def damages(self) -> Iterator[str]:
        """Yield what the engine itself finds wrong with what it stores."""

    def truncate_log(self, seconds: float) -> None:
        """
        Give back the space of the engine's log after a load, before the connection is closed.

        Waits so long for readers of a state that only the log holds. If they take longer, or it cannot be done, all is as
        safe as before, and the next writer may do it.
        """

    def close(self, force: bool = False, /) -> None:
        """End the connection. `force`: although rows of it are still being read."""
