"""Parts of both screeners: columns of readings, the request, pages, and the description of fields."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, Where
from almanac.api.contract.errors import quoted, refuse
from almanac.api.contract.params import Param, day_of, nearest
from almanac.api.contract.records import Record, wire_number
from almanac.api.rows.filters import AS_OF, SUGGESTIONS
from almanac.api.rows.names import PLACES, suggested
from almanac.domain.fields import says
from almanac.domain.periods import SPAN_BITS, end_of, lowest_key
from almanac.domain.reference import Entity, Indicator
from almanac.reports import filter_text
from almanac.reports.filter_text import MEANINGS, Clause, Field, FilterError
from almanac.reports.names import Suggestions
from almanac.reports.screener import Column, Mask, Numbers, Texts, page, place
from almanac.store.companies.universe import Universe
from almanac.store.observations.reading.newest import QUALITIES, Readings
from almanac.store.observations.reading.newest import Column as LatestReadings
from almanac.store.observations.reading.reader import View

_Operator = Annotated[str, says("An operator of a clause.", enum=tuple(MEANINGS))]


class ScreenerField(Record):
    """A field that a filter may name."""

    field: Annotated[str, says("Its name in a clause.", "net_margin")]
    name: Annotated[str, says("Its name for people.")]
    type: Annotated[Literal["number", "text"], says("Whether its values are numbers or words.")]
    unit: Annotated[
        str | None,
        says(
            "What its values count; `ratio`: a fraction, 0.25 is 25 %. `currency`, `currency_per_share`: money, in the currency "
            "each company reports in. Null: a score, or readings in different units."
        ),
    ]
    currency: Annotated[str | None, says("Currency of `min` and `max`, ISO 4217. Null: no money.", "USD")]
    description: Annotated[str, says("What it measures, and how.")]
    operators: Annotated[list[_Operator], says("Operators that a clause on it may have.")]
    min: Annotated[float | None, says("The least value that may be shown. Null: a text, or there is none.")]
    max: Annotated[float | None, says("The greatest value that may be shown. Null: a text, or there is none.")]
    entity_count: Annotated[int, says("How many entities have a value that may be shown.")]


class ScreenerOperator(Record):
    """An operator, and what it asks of a value."""

    operator: _Operator
    meaning: Annotated[str, says("What it asks.")]


class ScreenerFilters(Record):
    """Fields and operators of a filter, and how it is written."""

    fields: Annotated[list[ScreenerField], says("The fields.")]
    operators: Annotated[list[ScreenerOperator], says("The operators.")]
    syntax: Annotated[str, says("How clauses are written.")]
    example: Annotated[str, says("A filter that works.")]


class AlignedColumn(NamedTuple):
    """A column aligned with the rows of a table: where each row's reading stands in it (-1: it has none)."""

    column: LatestReadings
    places: npt.NDArray[np.intp]
    values: Numbers

    @classmethod
    def of(cls, column: LatestReadings, numbers: npt.NDArray[np.int32]) -> AlignedColumn:
        """Return the readings of entities, by their small numbers."""
        places = column.rows(numbers)
        return cls(column, places, np.append(column.values, np.nan)[places])

    def end(self, row: int) -> date:
        return end_of(int(self.column.periods[self.places[row]]))

    def ends(self) -> npt.NDArray[np.int64]:
        """Return the last day of each row's period as an ordinal; 0 for a row without a number that may be shown."""
        found: npt.NDArray[np.int64] = np.append(self.column.periods >> SPAN_BITS, 0)[self.places]
        return np.where(np.isnan(self.values), 0, found)

    def known(self, row: int) -> int:
        return int(self.column.known[self.places[row]])

    def qualities(self) -> npt.NDArray[np.int8]:
        """Return the quality of each row's reading as an index into `columns.QUALITIES`; -1 for a row without one."""
        found: npt.NDArray[np.int8] = np.append(self.column.quality, np.int8(-1))[self.places]
        return found

    def quality(self, row: int) -> str:
        """Return the quality of a row's reading, which must exist."""
        return QUALITIES[int(self.column.quality[self.places[row]])]

    def unit(self, row: int) -> str | None:
        return self.column.units[int(self.column.unit[self.places[row]])]

    def series(self, row: int) -> int:
        return int(self.column.series[self.places[row]])

    def text(self, row: int) -> str | None:
        """Return the text of a row's reading, which must exist."""
        found: str | None = self.column.texts[self.places[row]]
        return found

    def texts(self) -> list[str | None]:
        """Return the text of each row's reading."""
        found = (*self.column.texts, None)
        return [found[place] for place in self.places]

    def only(self, mask: Mask) -> AlignedColumn:
        """Keep the readings of the rows of a mask; others have none."""
        return AlignedColumn(self.column, np.where(mask, self.places, -1), np.where(mask, self.values, np.nan))

    def handed_over(self, rows: Iterable[tuple[int, int]]) -> AlignedColumn:
        """Give each second row the reading of the first, where it has none of its own."""
        places, values = self.places, self.values
        for old, new in rows:
            if places[new] < 0 <= places[old]:
                if places is self.places:
                    places, values = places.copy(), values.copy()
                places[new], values[new] = places[old], values[old]
        return AlignedColumn(self.column, places, values)

    def since(self, period: int) -> Mask:
        """Return the rows whose reading is of a period with this key or a later one."""
        passes = np.append(self.column.periods >= period, False)
        found: Mask = passes[self.places]
        return found

    def ending(self, ends: npt.NDArray[np.int64]) -> AlignedColumn:
        """Keep the readings whose period ends on the day that each row asks for."""
        return self.only(self.ends() == ends)

    def with_units(self, wanted: Callable[[str | None], bool]) -> Mask:
        """Return the rows whose reading is in a wanted unit."""
        passes = np.array([*(wanted(unit) for unit in self.column.units), False], dtype=np.bool_)
        codes = np.append(self.column.unit, len(self.column.units))
        found: Mask = passes[codes[self.places]]
        return found


def newest_ends(columns: Iterable[AlignedColumn]) -> npt.NDArray[np.int64]:
    """Return the last day of the newest period for which each row has a reading, as an ordinal; 0 for none."""
    found: npt.NDArray[np.int64] = np.maximum.reduce([column.ends() for column in columns])
    return found


T = TypeVar("T")

#: Checked against the plan's window by the handler, after the filter: what is malformed is 400 before it is too old.
SCREEN_AS_OF = replace(AS_OF, window=False)
#: Results remembered: most are columns, of a hundred kilobytes each where there are 6,000 companies.
_REMEMBERED = 128


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

#: A screener, and the list of its fields: the latter is the same for everybody until the data change, and takes a look at every column.
SCREEN = partial(
    Endpoint,
    scope="screeners:read",
    kind="list",
    dated=True,
    total=True,
    cost=where_screened,
    cached=True,
    tag="Screeners",
)
FILTERS = partial(
    Endpoint,
    description="Every field a filter may name, with unit, operators and the bounds of its latest public readings; "
    "the operators, the syntax and an example.",
    scope="screeners:read",
    record=ScreenerFilters,
    cost="thread",
    cached=True,
    tag="Screeners",
)


class ProcessCache:
    """What one process remembers between requests: columns of readings, companies, and what is made of them."""

    def __init__(self) -> None:
        self.readings = Readings()
        self.universe = Universe()
        self._lock = threading.Lock()
        self._made: LRUCache[Hashable, Any] = LRUCache(_REMEMBERED)

    def once(self, view: View, *what: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` gives, remembered under all that it follows from beside the data and rights of now. Nobody may write in it."""
        key = (view.epoch, view.version, view.directory.reference, *what)
        with self._lock:
            if key in self._made:
                kept: T = self._made[key]
                return kept
        made = make()
        with self._lock:
            self._made[key] = made
        return made


def aligned(cache: ProcessCache, ctx: Context, slug: str, numbers: npt.NDArray[np.int32]) -> AlignedColumn:
    """Return the latest readings of an indicator for entities, by their numbers, without those before the plan's window."""
    column = cache.readings.column(ctx.view, slug, version=ctx.version, as_of=ctx.params.get("as_of"))
    found = AlignedColumn.of(column, numbers)
    return found if ctx.window_start is None else found.only(found.since(lowest_key(ctx.window_start)))


class Places(NamedTuple):
    """Countries and regions in the order of (name, id), with the numbers by which columns know them."""

    entities: list[Entity]
    ties: list[tuple[str, str]]
    numbers: npt.NDArray[np.int32]


def place_code(entity: Entity) -> str:
    """Return what `country` would take for a place: an ISO code, where it has one."""
    return entity.iso3 or entity.rates_scope or entity.iso2 or entity.id


def places(cache: ProcessCache, view: View) -> Places:
    """Return all countries and regions."""

    def make() -> Places:
        entities = [entity for entity in view.directory.entities.values() if entity.kind in PLACES]
        entities.sort(key=lambda entity: (entity.name, entity.id))
        ties = [(entity.name, entity.id) for entity in entities]
        return Places(entities, ties, cache.readings.numbers(entity.id for entity in entities))

    return cache.once(view, "places", make=make)


# -- reading the request ------------------------------------------------------------------------------------------------


class ScreenFields:
    """The fields that a request may name: indicators, and `others` by name, with whether their values are texts."""

    def __init__(
        self, ctx: Context, indicators: Mapping[str, Indicator], others: Mapping[str, bool] | None = None
    ) -> None:
        self._ctx, self._indicators, self._others = ctx, indicators, others or {}
        self.names = sorted((*indicators, *self._others))

    def find(self, name: str) -> Field | None:
        """Return the field that a name means."""
        word = name.lower()
        if word in self._others:
            return Field(word, self._others[word])
        indicator = self._ctx.view.directory.indicator(name)
        if indicator is None or indicator.slug not in self._indicators:
            return None
        return Field(indicator.slug, is_text(indicator))

    def near(self, text: str) -> str | None:
        """Return the field that may have been meant."""
        called = {slug: (one.name, *one.other_names) for slug, one in self._indicators.items()}
        every = (*called.items(), *((name, ()) for name in self._others))
        return suggested(self._ctx, f"fields of {self._ctx.endpoint.path}", text, lambda: every)


class ScreenQuery(NamedTuple):
    """What a request asks of a screener: its clauses, the field or word to sort by, and all fields that need a column."""

    clauses: tuple[Clause, ...]
    sort: str | None
    fields: tuple[str, ...]


def read_query(ctx: Context, fields: ScreenFields, sorts: Sequence[str], shown: Sequence[str]) -> ScreenQuery:
    """
    Read `filter`, `sort` and `fields`. Raise ApiError 400 that names the parameter and quotes what cannot be read.

    `sorts` are words to sort by beside the fields, and `shown` what every row has anyway.
    """
    asked = _clauses(ctx, fields)
    wanted = [clause.field.name for clause in asked]
    sort = ctx.params["sort"]
    if sort is not None and sort.lower() in sorts:
        sort = sort.lower()
    elif sort is not None:
        field = fields.find(sort)
        if field is None:
            words = ", ".join(("a field of the filter", *sorts[:-1]))
            message = f"must be {words} or {sorts[-1]}, not {quoted(sort)}"
            near = nearest(sort, list(sorts)) or fields.near(sort)
            raise refuse("sort", message, [*fields.names, *sorts], near, code="choice")
        sort = field.name
        wanted.append(sort)
    for name in ctx.params["fields"] or ():
        field = fields.find(name)
        if field is not None:
            wanted.append(field.name)
        elif name.lower() not in shown:
            message = f"must be fields of the filter, and {quoted(name)} is none"
            raise refuse("fields", message, fields.names, fields.near(name), code="choice")
    return ScreenQuery(asked, sort, tuple(dict.fromkeys(wanted)))


def _clauses(ctx: Context, fields: ScreenFields) -> tuple[Clause, ...]:
    try:
        return filter_text.parse(ctx.params["filter"], fields.find, fields.names)
    except FilterError as error:
        near = None
        if error.code == "field" and error.word:
            near = fields.near(error.word)
        elif error.word and error.allowed:
            near = nearest(error.word, list(error.allowed))
        raise refuse(
            "filter",
            f"has the clause {quoted(error.clause)}, which {error}",
            list(error.allowed) if error.allowed else None,
            near,
            code=error.code,
        ) from None


def cut_page(
    ctx: Context, wanted: Mask, ties: Sequence[tuple[str, str]], by: Column | None
) -> tuple[list[int], list[Any] | None, int]:
    """Return the rows of a page by number, the key to go on after (None: there are no more), and the number of all matches."""
    params = ctx.params
    cut = page(wanted, ties, by, descending=params["order"] == "desc", after=ctx.after, limit=params["limit"])
    rows = cut.rows.tolist()
    return rows, place(rows[-1], ties, by) if cut.more else None, cut.total


def warn_of_texts(ctx: Context, asked: Iterable[Clause], columns: Mapping[str, Column]) -> None:
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


def is_text(indicator: Indicator) -> bool:
    """Return whether the values of an indicator are words."""
    return indicator.unit == "text"


def described_field(
    name: str,
    title: str,
    description: str,
    values: Numbers | Iterable[str | None],
    unit: str | None = None,
    currency: str | None = None,
) -> ScreenerField:
    """Return a field of numbers or of texts, with the bounds of numbers, which are in `currency` where they are money."""
    if isinstance(values, np.ndarray):
        numbers: list[float] = values[~np.isnan(values)].tolist()
        kind, operators, count = "number", filter_text.NUMBER_OPERATORS, len(numbers)
    else:
        numbers, unit = [], "text"
        kind, operators, count = "text", filter_text.TEXT_OPERATORS, sum(value is not None for value in values)
    return ScreenerField(
        field=name,
        name=title,
        type=kind,  # type: ignore[arg-type]  # one of the two
        unit=unit,
        currency=currency,
        description=description,
        operators=list(operators),
        min=wire_number(min(numbers, default=None)),
        max=wire_number(max(numbers, default=None)),
        entity_count=count,
    )


def described_filters(fields: list[ScreenerField], example: str) -> ItemAnswer:
    """Return the payload of a screener's /filters."""
    operators = [ScreenerOperator(operator=name, meaning=text) for name, text in filter_text.MEANINGS.items()]
    filters = ScreenerFilters(fields=fields, operators=operators, syntax=filter_text.SYNTAX, example=example)
    return ItemAnswer(msgspec.json.encode(filters))
