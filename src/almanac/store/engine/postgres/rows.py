"""What a statement gives: all its rows at once, or some at a time where there may be more than memory holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

Row = tuple[Any, ...]


class FoundRows:
    """Rows that are here already."""

    __slots__ = ("_left",)

    def __init__(self, rows: Sequence[Row]) -> None:
        self._left = iter(rows)

    def __iter__(self) -> Iterator[Row]:
        return self._left

    def __next__(self) -> Row:
        return next(self._left)

    def fetchone(self) -> Row | None:
        return next(self._left, None)

    def fetchall(self) -> list[Row]:
        return list(self._left)

    @property
    def get(self) -> Any:
        row = next(self._left, None)
        return row if row is None or len(row) > 1 else row[0]


class FetchedRows(FoundRows):
    """Rows fetched as they are read, a few at first, then more at once. `fetch` is told how many, and gives fewer at the end."""

    __slots__ = ()

    def __init__(self, fetch: Callable[[int], Sequence[Row]]) -> None:
        self._left = _fetched(fetch)


_FIRST, _MOST = 128, 8_192


def _fetched(fetch: Callable[[int], Sequence[Row]]) -> Iterator[Row]:
    size = _FIRST
    while True:
        rows = fetch(size)
        yield from rows
        if len(rows) < size:
            return
        size = min(2 * size, _MOST)
