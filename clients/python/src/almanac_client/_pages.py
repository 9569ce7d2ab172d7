"""Pages of a list: reading one, and walking through all, written once without I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import lru_cache
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from almanac_client._errors import (
    AsOfUnsupported,
    Forbidden,
    InvalidArgument,
    NotFound,
    ServerWarning,
    Unreadable,
    warn,
)
from almanac_client._operations import Operation
from almanac_client._query import written
from almanac_client._settings import Options
from almanac_client._transport import Pace, Plan, Reply, exchange

T = TypeVar("T")


class Said(Struct, frozen=True):
    """A part of a request that had no effect, although the answer is valid."""

    parameter: str
    value: str
    reason: str
    suggestion: str | None = None

    def __str__(self) -> str:
        text = f"{self.parameter} {self.value!r} {self.reason}"
        return text if self.suggestion is None else f"{text}; did you mean {self.suggestion!r}?"


class Pagination(Struct, frozen=True):
    """The position of a page in a list."""

    limit: int | None = None
    next_cursor: str | None = None
    has_more: bool = False
    total: int | None = None


class _Meta(Struct):
    pagination: Pagination = Pagination()
    warnings: list[Said] = []


class _List(Struct, Generic[T]):
    data: list[T]
    meta: _Meta
    requestId: str  # noqa: N815 - the envelope's own spelling


class _Item(Struct, Generic[T]):
    data: T
    requestId: str  # noqa: N815


class Page(Generic[T]):
    """One page of a list."""

    __slots__ = ("data_version", "headers", "pagination", "request_id", "rows", "said")

    def __init__(self, read: _List[T], reply: Reply) -> None:
        self.rows = read.data
        self.pagination = read.meta.pagination
        self.request_id = read.requestId
        self.data_version = data_version(reply)
        self.headers = reply.headers
        #: Parts of the request that had no effect.
        self.said = read.meta.warnings

    @property
    def next_cursor(self) -> str | None:
        """Cursor of the next page, or None on the last."""
        return self.pagination.next_cursor if self.pagination.has_more else None

    @property
    def total(self) -> int | None:
        """Number of matching rows on all pages; only screeners state it."""
        return self.pagination.total

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[T]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"<Page of {len(self.rows)} rows{', more follow' if self.next_cursor else ''}>"


def data_version(reply: Reply) -> int | None:
    """Return the data version of an answer, or None if it states none."""
    text = reply.headers.get("x-data-version")
    return int(text) if text is not None and text.isdigit() else None


@lru_cache(maxsize=128)
def _list_decoder(record: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(_List[record])


@lru_cache(maxsize=128)
def _item_decoder(record: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(_Item[record])


def rows_wanted(name: str, given: object) -> int:
    """Return a valid number of rows. Raises InvalidArgument for other values."""
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise InvalidArgument(f"{name!r} is how many rows are wanted, at least 1, and cannot be {given!r}")
    return given


class Question(Generic[T]):
    """A request: an operation, the values of its path, and its parameters."""

    __slots__ = ("as_of", "braces", "most", "operation", "query")

    def __init__(
        self,
        options: Options,
        operation: Operation[T],
        braces: Mapping[str, str],
        query: Mapping[str, Any],
        most: int | None = None,
    ) -> None:
        """
        Build the request. `most` limits the rows of all pages together. Raises InvalidArgument if it isn't a number of
        rows.
        """
        self.most = None if most is None else rows_wanted("limit", most)
        self.operation = operation
        self.braces = dict(braces)
        self.query = {name: value for name, value in query.items() if value is not None}
        if options.as_of is not None and "as_of" not in self.query:
            if not operation.as_of:
                raise AsOfUnsupported(
                    f"{operation.path} has no as_of, and this client was made with .at({options.as_of!r}): ask the "
                    "client it was made from"
                )
            self.query["as_of"] = options.as_of
        # Format now, because an iterator can be read only once but every page needs the value.
        self.query = {name: written(name, value) for name, value in self.query.items()}
        self.as_of: str | None = self.query.get("as_of")

    def at(self, cursor: str | None) -> dict[str, str]:
        """Return the parameters of one page. Without a given limit, it has as many rows as allowed."""
        query = {"limit": str(self.operation.most), **self.query}
        if self.most is not None and query["limit"].isascii() and query["limit"].isdigit():
            query["limit"] = str(min(self.most, int(query["limit"])))
        return query if cursor is None else {**query, "cursor": cursor}

    def limited(self, most: int) -> Question[T]:
        """Return the same request limited to `most` rows."""
        other = copy(self)
        other.most = rows_wanted("n", most) if self.most is None else min(rows_wanted("n", most), self.most)
        return other


def page(options: Options, pace: Pace, asked: Question[T], cursor: str | None = None) -> Plan[Page[T]]:
    """Request one page."""
    reply = yield from exchange(options, pace, asked.operation.path, asked.braces, asked.at(cursor))
    return Page(_decoded(_list_decoder, reply, asked.operation), reply)


def item(options: Options, pace: Pace, asked: Question[T]) -> Plan[tuple[T, Reply]]:
    """Request one object, or a text or JSON document without the envelope."""
    operation = asked.operation
    reply = yield from exchange(options, pace, operation.path, asked.braces, asked.query)
    if operation.kind == "item":
        return _decoded(_item_decoder, reply, operation).data, reply
    read: Any = reply.content.decode() if operation.kind == "text" else msgspec.json.decode(reply.content)
    return read, reply


def _decoded(decoder: Callable[[Any], msgspec.json.Decoder[Any]], reply: Reply, operation: Operation[Any]) -> Any:
    try:
        return decoder(operation.record).decode(reply.content)
    except msgspec.MsgspecError as error:
        raise Unreadable(
            f"the answer of {operation.path} is not what this version of the client reads ({error}); request "
            f"{reply.headers.get('x-request-id', 'without an id')}"
        ) from None


#: Prefixes for names that could mean something else: a company's ticker may be a country code.
SCHEMES = ("ticker", "cik", "lei")
#: The pattern of tickers and ISO codes. A slug may match too (`chile`), and then keeps its meaning.
_CODE = re.compile(r"[A-Za-z]{1,5}([.-][A-Za-z]{1,2})?")


def prefixed(name: str) -> tuple[str, str] | None:
    """Return scheme and code of a name like `ticker:USA`, or None for other names."""
    scheme, colon, code = name.partition(":")
    return (scheme.strip().lower(), code.strip()) if colon and scheme.strip().lower() in SCHEMES else None


def of_scheme(options: Options, pace: Pace, name: str, scheme: str, code: str, as_of: str | None = None) -> Plan[str]:
    """
    Return the id of the entity with exactly this code. Raises NotFound, and InvalidArgument if the code does not name
    exactly one entity.
    """
    from almanac_client._generated_models import RESOLVE_ENTITY  # noqa: PLC0415 - it is made of operations, as this is

    query = {"alias": code, "scheme": scheme, "as_of": as_of}
    told, _ = yield from item(options, pace, Question(options, RESOLVE_ENTITY, {}, query))
    if told.entity_id is None or told.match != "exact":
        near = ", ".join(f"{one.name} ({one.entity_id})" for one in told.candidates[:3])
        raise InvalidArgument(f"{name!r} is not exactly one entity; it may be {near or 'none'}")
    found: str = told.entity_id
    return found


def named(options: Options, pace: Pace, asked: Question[T]) -> Plan[Question[T]]:
    """
    Replace tickers and ISO codes given as entities by ids, because the service knows entities by id or slug.

    A country code means the country, even if it is also a company's ticker; write `ticker:USA` for the company. Names
    that aren't codes, and codes of several companies, stay as they are, and the service reports them.
    """
    found = asked
    for name in ("entity", "entity_id"):
        given = asked.query.get(name, "").split(",")
        parts = []
        for part in given:
            meant = None
            if (told := prefixed(part)) is not None:
                meant = yield from of_scheme(options, pace, part, *told, asked.as_of)
            elif _CODE.fullmatch(part):
                meant = yield from _coded(options, pace, part, asked.as_of)
            parts.append(part if meant is None else meant)
        if parts != given:
            found = copy(found)
            found.query = {**found.query, name: ",".join(parts)}
    return found


def _coded(options: Options, pace: Pace, code: str, as_of: str | None) -> Plan[str | None]:
    """
    Return the id of the country with a code, or else of the only entity that it means. Return None if there is none, or
    several.
    """
    from almanac_client._generated_models import RESOLVE_ENTITY  # noqa: PLC0415 - it is made of operations, as this is

    try:
        asked = Question(options, RESOLVE_ENTITY, {}, {"alias": code, "as_of": as_of})
        told, _ = yield from item(options, pace, asked)
    except (NotFound, Forbidden):  # a key may read rows, and not what names mean
        return None
    countries = {
        one.entity_id for one in told.candidates if one.match == "exact" and one.scheme in {"iso2", "iso3"}
    } - {None}
    if len(countries) == 1:
        return countries.pop()
    return told.entity_id if told.match == "exact" else None


class Walk(Generic[T]):
    """The state of a walk through a list, and its results so far."""

    def __init__(self, asked: Question[T], *, quiet: bool = False) -> None:
        """Start a walk. With `quiet` the service's warnings are suppressed, because the caller reports what is missing."""
        self.asked = asked
        self._quiet = quiet
        self.cursor: str | None = None
        self.ended = False
        self.data_version: int | None = None
        self.total: int | None = None
        self.request_ids: list[str] = []
        self._left = asked.most
        self._said: set[Said] = set()

    def step(self, options: Options, pace: Pace) -> Plan[Page[T]]:
        """Request the next page. Each remark of the service becomes a Python warning, once."""
        if not self.request_ids:
            self.asked = yield from named(options, pace, self.asked)
        found = yield from page(options, pace, self.asked, self.cursor)
        self.cursor = found.next_cursor
        self.ended = found.next_cursor is None
        if self._left is not None:
            del found.rows[self._left :]
            self._left -= len(found.rows)
            self.ended = self.ended or self._left == 0
        self.request_ids.append(found.request_id)
        if self.data_version is None:
            self.data_version, self.total = found.data_version, found.total
        for said in found.said:
            if said not in self._said and not self._quiet:
                self._said.add(said)
                warn(str(said), ServerWarning)
        return found

    def rest(self, options: Options, pace: Pace, max_rows: int | None = None) -> Plan[list[T]]:
        """Request the remaining rows, and return at most `max_rows`."""
        rows: list[T] = []
        while not self.ended and (max_rows is None or len(rows) < max_rows):
            found = yield from self.step(options, pace)
            rows += found.rows
        return rows if max_rows is None else rows[:max_rows]
