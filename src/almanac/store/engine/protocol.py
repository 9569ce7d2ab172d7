"""
What the store asks of a database engine. SQLite stands behind it (`sqlite`); a second engine owes all that is said here.

Versions: a write that changes what is served gives its rows the next data version. So writers come one after the other,
each sees the version that the one before committed, and versions become visible in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from almanac.store.engine.queryable import Queryable, Rows, Scannable


class Database(Scannable, Protocol):
    """
    One connection to one database, used by one thread at a time.

    Errors that come out of a method that begins or ends something are those of `errors`. Those of `execute` and of rows
    may be the engine's own, so that reading costs nothing more; they are made ours where they leave a transaction, a
    view of the reader, or a `faults` block of the engine.
    """

    def cursor(self) -> Queryable:
        """What runs one statement after the other, each the end of the one before: cheaper for the statement run most."""
        ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> Rows:
        """Run a statement once for each row of values, in order. Of one that reads: what it gives for each, joined."""
        ...

    def seek(self, sql: str, keys: Sequence[Sequence[Any]], /) -> Iterable[Any]:
        """
        What a SELECT gives for each of many keys, in their order, the fastest way the engine has.

        `?1`, `?2`, … in it stand for the values of a key, all keys having as many, and `{keys}` stands once, right before
        the table that is looked into by them.
        """
        ...

    def update(self, sql: str, values: Sequence[Any], /) -> int:
        """Run a statement that writes. Returns how many rows it changed."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """
        One write transaction: all of it or nothing, whatever ends it.

        The right to write is taken at its beginning, before anything is read in it: nobody else commits until its end, so
        what it reads is the newest there is. Raises BusyError where another writer keeps it longer than the connection waits.
        """
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """`begin_snapshot` and `end_snapshot` around a block."""
        ...

    def begin_snapshot(self) -> int:
        """
        Begin a read transaction. All that is read in it is one state: what was committed before this call, whole.

        It neither waits for writers nor keeps them waiting. Returns the change token of the state.
        """
        ...

    def end_snapshot(self) -> bool:
        """
        End the read transaction; nothing where there is none.

        False where it goes on, for somebody still reads rows of it: the next snapshot would be the same state, and the
        connection has to be closed.
        """
        ...

    def change_token(self) -> int:
        """A number that differs from the one before on this connection where another connection has committed meanwhile."""
        ...

    def standing(self) -> bool:
        """
        Whether what was opened is still what stands at its place: a file that was replaced is another, though the connection
        goes on reading the old one. Raises UnavailableError where there is none any more.

        Of what `opening.open_area` opened. A server's always is: whoever takes a database away there ends the connections.
        """
        ...

    def written(self) -> bool:
        """Whether this connection has changed any row since it was opened."""
        ...

    def tables(self) -> list[str]:
        """Names of all tables, sorted."""
        ...

    def damages(self, table: str | None = None) -> Iterator[str]:
        """What the engine itself finds wrong with what it stores: with all of it, or with one table and its indices."""
        ...

    def truncate_log(self, seconds: float) -> bool:
        """
        Give back the space of the engine's log after a load: what is in it goes into the database itself.

        Waits so long for readers of a state that only the log holds, and keeps other writers waiting meanwhile. False where
        they took longer, or it cannot be done: all is as safe as before, and the next one may do it.
        """
        ...

    def close(self, force: bool = False, /) -> None:
        """End the connection. `force`: although rows of it are still being read."""
        ...
