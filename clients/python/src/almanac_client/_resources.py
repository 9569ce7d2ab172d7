"""The base of all resources: how a generated method makes requests, blocking or asynchronous, with or without headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from almanac_client._core import AsyncCore, Core
from almanac_client._operations import Operation
from almanac_client._pages import Page, Pagination, Question, Said, data_version, item, named, page
from almanac_client._rows import AsyncRows, Rows
from almanac_client._transport import Plan, Reply

T = TypeVar("T")


class Response(Generic[T]):
    """An answer with its headers and remarks."""

    __slots__ = ("data", "data_version", "headers", "pagination", "request_id", "said")

    def __init__(
        self,
        data: T,
        headers: Mapping[str, str],
        request_id: str | None,
        version: int | None,
        pagination: Pagination | None = None,
        said: Sequence[Said] = (),
    ) -> None:
        self.data = data
        self.headers = headers
        self.request_id = request_id
        self.data_version = version
        #: The position of a page in its list; None: it isn't a page.
        self.pagination = pagination
        #: Parts of the request that had no effect. No Python warning is issued for them.
        self.said = said

    @property
    def next_cursor(self) -> str | None:
        """Cursor of the next page, or None if there is none."""
        return None if self.pagination is None else self.pagination.next_cursor

    @property
    def total(self) -> int | None:
        """Number of matching rows on all pages, if stated."""
        return None if self.pagination is None else self.pagination.total

    def __repr__(self) -> str:
        return f"<Response {self.request_id}, data version {self.data_version}>"


class Resource:
    """A resource with blocking requests that return only the data."""

    __slots__ = ("_core",)

    def __init__(self, core: Core) -> None:
        self._core = core

    def _rows(
        self, operation: Operation[T], braces: Mapping[str, str], query: Mapping[str, Any], most: int | None = None
    ) -> Rows[T]:
        return Rows(self._core, Question(self._core.options, operation, braces, query, most))

    def _item(self, operation: Operation[T], braces: Mapping[str, str], query: Mapping[str, Any]) -> T:
        asked = Question(self._core.options, operation, braces, query)
        return self._core.run(item(self._core.options, self._core.pace, asked))[0]


class RawResource:
    """A resource with blocking requests that return one page or object with its headers."""

    __slots__ = ("_core",)

    def __init__(self, core: Core) -> None:
        self._core = core

    def _rows(
        self, operation: Operation[T], braces: Mapping[str, str], query: Mapping[str, Any]
    ) -> Response[Sequence[T]]:
        asked = Question(self._core.options, operation, braces, query)
        return _of_page(self._core.run(_page(self._core, asked)))

    def _item(self, operation: Operation[T], braces: Mapping[str, str], query: Mapping[str, Any]) -> Response[T]:
        asked = Question(self._core.options, operation, braces, query)
        return _of_item(*self._core.run(item(self._core.options, self._core.pace, asked)))


class AsyncResource:
    """A resource with asynchronous requests that return only the data."""

    __slots__ = ("_core",)

    def __init__(self, core: AsyncCore) -> None:
        self._core = core

    def _rows(
        self, operation: Operation[T], braces: Mapping[str, str], query: Mapping[str, Any], most: int | None = None
    ) -> AsyncRows[T]:
        return AsyncRows(self._core, Question(self._core.options, operation, braces, query, most))

    async def _item(self, operation: Operation[T], braces: Mapping[str, str], query: Mapping[str, Any]) -> T:
        asked = Question(self._core.options, operation, braces, query)
        return (await self._core.run(item(self._core.options, self._core.pace, asked)))[0]


class AsyncRawResource:
    """A resource with asynchronous requests that return one page or object with its headers."""

    __slots__ = ("_core",)

    def __init__(self, core: AsyncCore) -> None:
        self._core = core

    async def _rows(
        self, operation: Operation[T], braces: Mapping[str, str], query: Mapping[str, Any]
    ) -> Response[Sequence[T]]:
        asked = Question(self._core.options, operation, braces, query)
        return _of_page(await self._core.run(_page(self._core, asked)))

    async def _item(self, operation: Operation[T], braces: Mapping[str, str], query: Mapping[str, Any]) -> Response[T]:
        asked = Question(self._core.options, operation, braces, query)
        return _of_item(*await self._core.run(item(self._core.options, self._core.pace, asked)))


def _page(core: Core | AsyncCore, asked: Question[T]) -> Plan[Page[T]]:
    """Plan one page. As in a walk, entities may be tickers."""
    asked = yield from named(core.options, core.pace, asked)
    return (yield from page(core.options, core.pace, asked))


def _of_page(found: Page[T]) -> Response[Sequence[T]]:
    return Response(found.rows, found.headers, found.request_id, found.data_version, found.pagination, found.said)


def _of_item(found: T, reply: Reply) -> Response[T]:
    return Response(found, reply.headers, reply.headers.get("x-request-id"), data_version(reply))
