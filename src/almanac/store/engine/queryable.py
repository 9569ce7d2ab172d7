"""What a function that only reads asks of the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol


class Rows(Protocol):
    """
    What a statement gives, read as it is asked for. A row is a tuple in the order of its columns: None, int, float, str, bytes.

    Reading on may fail as `execute` does.
    """

    def __iter__(self) -> Iterator[Any]: ...
    def __next__(self) -> Any: ...

    def fetchone(self) -> Any | None:
        """The next row, None where there is none."""
        ...

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        ...

    @property
    def get(self) -> Any:
        """The value of a statement that gives one row of one column; None where it gives no row."""
        ...


class Queryable(Protocol):
    """Answers statements in SQL: a connection, or one state of the store (`View`), which hands out no connection."""

    def execute(self, sql: str, values: Sequence[Any] | None = None, /) -> Rows:
        """
        Run a statement, `?` (or `?1`) standing for values. A writer may give several at once, without values.

        Raises the engine's own errors, so that it costs nothing more; see `protocol.Database` for where they become ours.
        """
        ...


class Scannable(Queryable, Protocol):
    """Answers also what gives more rows than is wanted, or than memory holds."""

    def scan(self, sql: str, values: Sequence[Any] | None = None, /) -> Rows:
        """
        Run a statement as `execute` does, its rows found as they are read.

        Within a snapshot or a transaction; what it gives is read before that ends.
        """
        ...
