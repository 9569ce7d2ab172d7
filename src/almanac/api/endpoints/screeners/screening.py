"""What both screeners share: reading the filter, lining up columns of readings, cutting pages, telling the fields."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from almanac.api.contract.endpoint import Context, Endpoint, Handler, Where
from almanac.api.contract.errors import quoted, refuse
from almanac.api.contract.params import Param, day_of, nearest
from almanac.api.contract.records import wire_number
from almanac.api.endpoints.screeners.aligned_columns import AlignedColumn
from almanac.api.endpoints.screeners.records import ScreenerField, ScreenerFilters, ScreenerOperator
from almanac.api.rows.filters import AS_OF, SUGGESTIONS
from almanac.api.rows.names import suggested
from almanac.domain.periods import lowest_key
from almanac.reports import filter_text
from almanac.reports.filter_text import Clause, Field, FilterError
from almanac.reports.names import Suggestions
from almanac.reports.screener import Numbers, Texts
from almanac.store.companies.universe import Universe
from almanac.store.observations.reading.newest import Readings

T = TypeVar("T")

#: Checked against the plan's window by the handler, after the filter: what is malformed is 400 before it is too old.
SCREEN_AS_OF = replace(AS_OF, window=False)
#: Results remembered whole, of some hundred kilobytes each where there are 6,000 companies.
_MADE = 8
#: Columns remembered as they are lined up, of a hundred kilobytes each where there are 6,000 companies.
_LINED_UP = 64


def where_screened(params: Mapping[str, Any]) -> Where:
    """Return where a screen is answered: columns of a past day, or of the version that a walk is pinned to, may have to be read."""
    return "thread" if params["as_of"] is None and params["cursor"] is None else "heavy"


def filter_param(example: str, fields: str) -> Param:
    """Return the required filter of a screener."""
    return Param(
        "filter",
        "Comma-separated clauses `field:operator:value`, all of which must hold; at most 30. Operators: gt, lt, "
        f"gte, lte, eq, in (values of `in` separated by pipes); texts only eq and in. {fields} lists the fields.",
        longest=filter_text.LONGEST,
        required=True,
        example=example,
    )


#: Columns beside those that are filtered and sorted by.
FURTHER = Param(
    "fields",
    "Further fields of the filter whose values the rows shall tell, by comma; they leave no row out.",
    "list",
    maximum=30,
)


def filters_endpoint(path: str, operation_id: str, summary: str, handler: Handler) -> Endpoint:
    """Return the list of a screener's fields."""
    return Endpoint(
        path=path,
        operation_id=operation_id,
        summary=summary,
        description="Every field a filter may name, with unit, operators and the bounds of its latest public readings; "
        "the operators, the syntax and an example.",
        handler=handler,
        scope="screeners:read",
        record=ScreenerFilters,
        cost="thread",
        # The same for everybody until the data change; made anew it takes a look at every column.
        cached=True,
        tag="Screeners",
    )


class ProcessCache:
    """What the screeners of one process remember between requests: columns, companies, and tables made of them."""

    def __init__(self) -> None:
        self.readings = Readings()
        self.universe = Universe()
        self._lock = threading.Lock()
        self._tables: dict[str, tuple[object, Any]] = {}
        self._made: LRUCache[Hashable, Any] = LRUCache(_MADE)
        self._state: Hashable = None
        self._lined_up: LRUCache[Hashable, AlignedColumn] = LRUCache(_LINED_UP)

    def table(self, name: str, of: object, make: Callable[[], Any]) -> Any:
        """Return what `make` gives, made anew where `of` is not what it was last time."""
        with self._lock:
            held = self._tables.get(name)
            if held is None or held[0] != of:
                held = self._tables[name] = (of, make())
            return held[1]

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` gives, remembered for a few keys. A key holds all that it follows from."""
        with self._lock:
            if key in self._made:
                kept: T = self._made[key]
                return kept
        made = make()
        with self._lock:
            self._made[key] = made
        return made

    def lined_up(self, state: Hashable, key: Hashable, make: Callable[[], AlignedColumn]) -> AlignedColumn:
        """
        Return the column that `make` gives, remembered for as long as no other state is asked for; nobody may write in it.

        `state` and `key` hold all that it follows from.
        """
        with self._lock:
            kept = self._lined_up.get(key) if self._state == state else None
        if kept is not None:
            return kept
        made = make()
        for array in (made.places, made.values):
            array.setflags(write=False)
        with self._lock:
            if self._state != state:
                self._state = state
                self._lined_up.clear()
            self._lined_up[key] = made
        return made


def aligned(cache: ProcessCache, ctx: Context, slug: str, numbers: npt.NDArray[np.int32]) -> AlignedColumn:
    """Return the latest readings of an indicator for entities, by their numbers, without those before the plan's window."""
    column = cache.readings.column(ctx.view, slug, version=ctx.version, as_of=ctx.params.get("as_of"))
    found = AlignedColumn.of(column, numbers)
    return found if ctx.window_start is None else found.only(found.since(lowest_key(ctx.window_start)))


# -- reading the request ------------------------------------------------------------------------------------------------


class ScreenFields(NamedTuple):
    """What a request may name: `find` gives the field that a name means; all names, and others that each goes by."""

    find: Callable[[str], Field | None]
    called: Mapping[str, Sequence[str]]

    def near(self, ctx: Context, text: str) -> str | None:
        """Return the field that may have been meant."""
        return suggested(ctx, f"fields of {ctx.endpoint.path}", text, self.called.items)


def clauses(ctx: Context, fields: ScreenFields) -> tuple[Clause, ...]:
    """Read the clauses of a request's filter. Raises ApiError 400 that quotes the clause it cannot read."""
    try:
        return filter_text.parse(ctx.params["filter"], fields.find, sorted(fields.called))
    except FilterError as error:
        near = None
        if error.code == "field" and error.word:
            near = fields.near(ctx, error.word)
        elif error.word and error.allowed:
            near = nearest(error.word, list(error.allowed))
        raise refuse(
            "filter",
            f"has the clause {quoted(error.clause)}, which {error}",
            list(error.allowed) if error.allowed else None,
            near,
            code=error.code,
        ) from None


def sort_field(ctx: Context, fields: ScreenFields, *others: str) -> str | None:
    """Return the field to sort by, or one of `others`, which no clause may name; None where none is asked for. Raises ApiError 400."""
    asked = ctx.params["sort"]
    if asked is None or asked.lower() in others:
        return None if asked is None else str(asked.lower())
    field = fields.find(asked)
    if field is None:
        said = f"must be {', '.join(('a field of the filter', *others[:-1]))} or {others[-1]}, not {quoted(asked)}"
        near = nearest(asked, list(others)) or fields.near(ctx, asked)
        raise refuse("sort", said, [*sorted(fields.called), *others], near, code="choice")
    return field.name


def further_fields(ctx: Context, fields: ScreenFields, *others: str) -> list[str]:
    """Return the fields that rows shall tell too; `others`, which every row has, need no column. Raises ApiError 400."""
    found = []
    for name in ctx.params["fields"] or ():
        field = fields.find(name)
        if field is not None:
            found.append(field.name)
        elif name.lower() not in others:
            said = f"must be fields of the filter, and {quoted(name)} is none"
            raise refuse("fields", said, sorted(fields.called), fields.near(ctx, name), code="choice")
    return found


def warn_of_texts(ctx: Context, asked: Iterable[Clause], columns: Mapping[str, Numbers | Texts]) -> None:
    """Say which texts of clauses nothing has. Only `columns` of what the request may see tell what there is instead."""
    near: dict[str, Suggestions] = {}
    for clause in asked:
        column, field = columns[clause.field.name], clause.field.name
        if not isinstance(column, Texts):
            continue
        words = {filter_text.folded(word): word for word in column.words}
        said = zip(clause.values, clause.written, strict=True)
        for value, written in ((str(value), written) for value, written in said if value not in words):
            meant = None
            # Each takes some milliseconds, so the first few have one, as in lists.
            if len(ctx.warnings) < SUGGESTIONS:
                if field not in near:
                    near[field] = Suggestions((word, ()) for word in words.values())
                meant = near[field].nearest(value)
            ctx.warn(
                "filter", written, f"is {'an' if field[0] in 'aeiou' else 'a'} {field} that nothing here has", meant
            )


def check_window(ctx: Context) -> None:
    """Raise ApiError 403 where `as_of` lies before the plan's window."""
    as_of = ctx.params["as_of"]
    if as_of is not None:
        ctx.require_window("as_of", day_of(as_of))


# -- telling the fields -------------------------------------------------------------------------------------------------


def number_field(
    name: str, title: str, unit: str | None, description: str, values: Numbers, currency: str | None = None
) -> ScreenerField:
    """Return a field of numbers, with the bounds of those there are, which are in `currency` where they are money."""
    there = values[~np.isnan(values)]
    return ScreenerField(
        field=name,
        name=title,
        type="number",
        unit=unit,
        currency=currency,
        description=description,
        operators=list(filter_text.NUMBER_OPERATORS),
        min=wire_number(float(there.min()) if len(there) else None),
        max=wire_number(float(there.max()) if len(there) else None),
        entity_count=len(there),
    )


def text_field(name: str, title: str, description: str, values: Iterable[str | None]) -> ScreenerField:
    """Return a field of texts."""
    return ScreenerField(
        field=name,
        name=title,
        type="text",
        unit="text",
        currency=None,
        description=description,
        operators=list(filter_text.TEXT_OPERATORS),
        min=None,
        max=None,
        entity_count=sum(value is not None for value in values),
    )


def encoded_filters(fields: list[ScreenerField], example: str) -> bytes:
    """Return the payload of a screener's /filters."""
    operators = [ScreenerOperator(operator=name, meaning=text) for name, text in filter_text.MEANINGS.items()]
    return msgspec.json.encode(
        ScreenerFilters(fields=fields, operators=operators, syntax=filter_text.SYNTAX, example=example)
    )
