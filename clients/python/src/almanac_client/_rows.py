"""Rows of a list, requested page by page as needed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import msgspec

from almanac_client._pages import Page, Question, Walk

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from almanac_client._core import AsyncCore, Core
    from almanac_client._frames import Table
    from almanac_client._whole import WholeList

T = TypeVar("T")


def _ready(extra: Literal["pandas", "polars", "arrow"]) -> None:
    """Check that a frame can be built, before any request is made. Raises MissingExtra."""
    from almanac_client._frames import require  # noqa: PLC0415 - frames are not for everyone

    require(extra)


class _Kept(Generic[T]):
    """The results of a list so far: its first page, and all rows once they were requested together."""

    __slots__ = ("_all", "_asked", "_first", "_walk")

    def __init__(self, asked: Question[T]) -> None:
        self._asked = asked
        self._first: Page[T] | None = None
        self._walk: Walk[T] | None = None
        self._all: list[T] | None = None

    @property
    def as_of(self) -> str | None:
        """The requested moment as sent, or None for the present."""
        return self._asked.as_of

    @property
    def data_version(self) -> int | None:
        """The data version of all pages, or None before the first request."""
        return None if self._walk is None else self._walk.data_version

    @property
    def total(self) -> int | None:
        """Number of matching rows on all pages, if the service states it (screens only), or None."""
        return None if self._walk is None else self._walk.total

    @property
    def request_ids(self) -> list[str]:
        """Ids of the requests so far."""
        return [] if self._walk is None else list(self._walk.request_ids)

    def _noted(self, walk: Walk[T], found: Page[T]) -> Page[T]:
        if self._first is None or self._walk is None:
            self._first, self._walk = found, walk
        return found

    def _table(self, rows: list[T]) -> Table:
        from almanac_client._frames import of_records  # noqa: PLC0415 - frames are not for everyone

        attrs = {"data_version": self.data_version, "as_of": self.as_of, "request_ids": self.request_ids}
        return of_records(self._asked.operation.record, rows, attrs)

    def __repr__(self) -> str:
        from almanac_client._repr import rows_text  # noqa: PLC0415 - only where something is shown

        shown = self._all if self._all is not None else self._first.rows if self._first is not None else None
        return rows_text(self, self._asked.operation, shown, whole=self._all is not None or self._ended)

    @property
    def _ended(self) -> bool:
        first = self._first
        return first is not None and (first.next_cursor is None or len(first.rows) == self._asked.most)


class Rows(_Kept[T]):
    """
    The rows of a list. Iteration requests page after page, each time again; `all()` and the frames request once and
    keep the rows.

    All pages of one walk come from one state of the data.
    """

    __slots__ = ("_core",)

    def __init__(self, core: Core, asked: Question[T]) -> None:
        super().__init__(asked)
        self._core = core

    def pages(self) -> Iterator[Page[T]]:
        """Yield page after page."""
        walk = Walk(self._asked)
        while not walk.ended:
            yield self._noted(walk, self._core.run(walk.step(self._core.options, self._core.pace)))

    def __iter__(self) -> Iterator[T]:
        if self._all is not None:
            yield from self._all
        else:
            for page in self.pages():
                yield from page.rows

    def first(self) -> T | None:
        """Return the first row, or None if there are no rows."""
        if self._first is None:
            next(self.pages())
        assert self._first is not None
        return self._first.rows[0] if self._first.rows else None

    def head(self, n: int = 5) -> Rows[T]:
        """Return its first n rows. No page beyond them is requested."""
        return Rows(self._core, self._asked.limited(n))

    def all(self, max_rows: int | None = None) -> list[T]:
        """Return all rows, or at most `max_rows`. No page beyond them is requested."""
        if self._all is not None:
            return self._all[:max_rows]
        rows: list[T] = []
        for page in self.pages():
            rows += page.rows
            if max_rows is not None and len(rows) >= max_rows:
                break
        else:
            self._all = rows
        return rows[:max_rows]

    def whole(self) -> WholeList:
        """
        Download the whole list in one answer as an Arrow stream, and check that nothing is missing. Raises Incomplete.

        Much faster than pages; its columns have the interface's own names. Needs the extra `arrow`.
        """
        from almanac_client._whole import whole  # noqa: PLC0415 - not for everyone

        return self._core.run(whole(self._core.options, self._core.pace, self._asked))

    def to_records(self) -> list[dict[str, Any]]:
        """Return all rows as plain dictionaries, with the interface's names and values."""
        return [msgspec.to_builtins(row) for row in self.all()]

    def table(self) -> Table:
        """Return all rows as a table with fixed columns, whatever the filter."""
        return self._table(self.all())

    def to_pandas(self, *, dtype_backend: Literal["pyarrow"] | None = None) -> pd.DataFrame:
        """Return all rows as a pandas frame, with `dtype_backend="pyarrow"` in Arrow types."""
        _ready("pandas")
        return self.table().to_pandas(dtype_backend=dtype_backend)

    def to_polars(self) -> pl.DataFrame:
        """Return all rows as a polars frame."""
        _ready("polars")
        return self.table().to_polars()

    def to_arrow(self) -> pa.Table:
        """Return all rows as an Arrow table."""
        _ready("arrow")
        return self.table().to_arrow()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        from almanac_client._repr import rows_html  # noqa: PLC0415 - only where something is shown

        self.first()
        shown = self._all if self._all is not None else self._first.rows if self._first is not None else []
        return rows_html(self, self._asked.operation, shown, whole=self._all is not None or self._ended)


class AsyncRows(_Kept[T]):
    """The rows of a list, iterated with `async for`. `await rows.all()` and the frames request once and keep the rows."""

    __slots__ = ("_core",)

    def __init__(self, core: AsyncCore, asked: Question[T]) -> None:
        super().__init__(asked)
        self._core = core

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Yield page after page."""
        walk = Walk(self._asked)
        while not walk.ended:
            yield self._noted(walk, await self._core.run(walk.step(self._core.options, self._core.pace)))

    async def __aiter__(self) -> AsyncIterator[T]:
        if self._all is not None:
            for row in self._all:
                yield row
        else:
            async for page in self.pages():
                for row in page.rows:
                    yield row

    async def first(self) -> T | None:
        """Return the first row, or None if there are no rows."""
        if self._first is None:
            async for _ in self.pages():
                break
        assert self._first is not None
        return self._first.rows[0] if self._first.rows else None

    def head(self, n: int = 5) -> AsyncRows[T]:
        """Return its first n rows. No page beyond them is requested."""
        return AsyncRows(self._core, self._asked.limited(n))

    async def all(self, max_rows: int | None = None) -> list[T]:
        """Return all rows, or at most `max_rows`. No page beyond them is requested."""
        if self._all is not None:
            return self._all[:max_rows]
        rows: list[T] = []
        async for page in self.pages():
            rows += page.rows
            if max_rows is not None and len(rows) >= max_rows:
                break
        else:
            self._all = rows
        return rows[:max_rows]

    async def whole(self) -> WholeList:
        """
        Download the whole list in one answer as an Arrow stream, and check that nothing is missing. Raises Incomplete.

        Much faster than pages; its columns have the interface's own names. Needs the extra `arrow`.
        """
        from almanac_client._whole import whole  # noqa: PLC0415 - not for everyone

        return await self._core.run(whole(self._core.options, self._core.pace, self._asked))

    async def to_records(self) -> list[dict[str, Any]]:
        """Return all rows as plain dictionaries, with the interface's names and values."""
        return [msgspec.to_builtins(row) for row in await self.all()]

    async def table(self) -> Table:
        """Return all rows as a table with fixed columns, whatever the filter."""
        return self._table(await self.all())

    async def to_pandas(self, *, dtype_backend: Literal["pyarrow"] | None = None) -> pd.DataFrame:
        """Return all rows as a pandas frame, with `dtype_backend="pyarrow"` in Arrow types."""
        _ready("pandas")
        return (await self.table()).to_pandas(dtype_backend=dtype_backend)

    async def to_polars(self) -> pl.DataFrame:
        """Return all rows as a polars frame."""
        _ready("polars")
        return (await self.table()).to_polars()

    async def to_arrow(self) -> pa.Table:
        """Return all rows as an Arrow table."""
        _ready("arrow")
        return (await self.table()).to_arrow()
