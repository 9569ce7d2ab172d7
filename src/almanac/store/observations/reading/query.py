"""What a list of observations is asked for, and the statement that finds its rows."""

from __future__ import annotations

import enum
import functools
from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

import msgspec

from almanac.domain.companies import FiscalPeriod
from almanac.domain.periods import INSTANT, LONGEST, SPAN_BITS, highest_key, lowest_key
from almanac.store.engine.sql_compat import contains


def body_sql(table: str) -> str:
    """Return SQL for the note of a row of `vintages`, which goes by this name in the statement; NULL: it has none."""
    return f"(SELECT n.body FROM note n WHERE n.note = {table}.note)"


# What a period key says: templates, `{0}` is the column. The same in Python is in domain.periods.
#: The last day, an ordinal.
END_ORDINAL_SQL = f"({{0}} >> {SPAN_BITS})"
#: The first day, an ordinal; NULL for an instant.
START_ORDINAL_SQL = (
    f"CASE WHEN ({{0}} & {INSTANT}) = {INSTANT} THEN NULL"
    f" ELSE ({{0}} >> {SPAN_BITS}) - ({LONGEST} - ({{0}} & {INSTANT})) END"
)
#: Whether a period starts on a day `{1}` (an ordinal) or later, an instant on its only day. Cheaper than a test of the first day:
#: the low bits of an instant are one more than those of a period of one day, hence the test of the last day.
STARTS_FROM_SQL = (
    f"(({{0}} >> {SPAN_BITS}) >= {{1}} AND ({{0}} >> {SPAN_BITS}) + ({{0}} & {INSTANT}) >= {{1}} + {LONGEST})"
)

#: Sort fields of an observation list: SQL over the row's columns. None: the default order.
SORTS: dict[str, str | None] = {
    "topic": None,
    "period_start": START_ORDINAL_SQL.format("x.period"),
    "period_end": END_ORDINAL_SQL.format("x.period"),
    "observed_at": "x.known_at",
    "released_at": "x.released_at",
    "ingested_at": "x.ingested_at",
}
#: Those that may be null: an instant has no start, a backfill no release.
NULLABLE = frozenset({"period_start", "released_at"})

#: The default order of a list, by the columns of `topic t` and of its rows `x`.
TOPIC_ORDER = ("t.indicator", "t.entity", "t.frequency")
CELL_ORDER = (*TOPIC_ORDER, "x.period")

#: Columns of a row, which every statement selects behind two of its own; and their places.
VINTAGE = (
    "x.period, x.series, x.known_at, x.released_at, x.ingested_at, x.flags, x.lineage, x.value, x.text,"
    f" {body_sql('x')}"
)
PERIOD, SERIES, KNOWN, INGESTED, FLAGS, LINEAGE, VALUE, TEXT, NOTE = 2, 3, 4, 6, 7, 8, 9, 10, 11
#: A row as it is found.
Found = tuple[Any, ...]

#: Later than anything is known: what is valid then is valid now.
EVER = 1 << 62
#: That a row has a value: others are withdrawals.
HAS_VALUE = "({0}.value IS NOT NULL OR {0}.text IS NOT NULL)"
#: An entity that is no company, as an index of topics has it; and one that is, with a `+` as in `Conditions`.
NO_COMPANY = "{} NOT BETWEEN 'company_' AND 'company_~'"
COMPANY = "++{} BETWEEN 'company_' AND 'company_~'"

#: Of sources with more series than this their topics are not listed: each topic met is asked instead.
LISTED = 3_000


def valid_at_sql(version: str, moment: str, row: str = "x") -> str:
    """
    Return the condition that a row of `vintages` was valid at a moment, as a data version has it.

    Each cell of a series has at most one such row. `version` and `moment` are marks of bound values, each used twice.
    """
    return (
        f"{row}.from_version <= {version} AND {row}.to_version > {version}"
        f" AND {row}.known_at <= {moment} AND ({row}.until IS NULL OR {row}.until > {moment})"
    )


class ObservationFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows a list has. None: no restriction; an empty tuple: nothing matches. Days are inclusive; times unix seconds."""

    kind: str | None = None
    indicators: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    sources: frozenset[str] | None = None
    frequency: str | None = None
    #: Rows of companies too, not those of countries and regions only.
    companies: bool = True
    #: Rows of all others too, not those of companies only.
    countries: bool = True
    starts_from: date | None = None
    ends_by: date | None = None
    #: Periods must end on or after this day (a plan's window).
    ends_from: date | None = None
    #: Bounds on the knowledge time of the row that was chosen; they never make an older vintage appear.
    observed_from: int | None = None
    observed_to: int | None = None
    #: Rows of fiscal periods inside this one alone: their notes say so. Bounds on days go with it, lest all be read.
    fiscal: FiscalPeriod | None = None

    @property
    def empty(self) -> bool:
        """Return whether nothing can match."""
        return (
            self.indicators == ()
            or self.entities == ()
            or self.sources == frozenset()
            or not (self.companies or self.countries)
        )

    @property
    def bounded(self) -> bool:
        """Return whether it matters when a row came to be known."""
        return self.observed_from is not None or self.observed_to is not None


class ScanStrategy(enum.Enum):
    """How the rows of a list are found. The value describes it to an operator."""

    CELLS = "in the order of the tables, one row a cell, as far as a page needs"
    GROUPS = "in the order of the tables, cell by cell with all its rows, as far as a page needs"
    SORTED = "all that is meant is gone through, and sorted"


class ObservationQuery(NamedTuple):
    """One page of one list of observations."""

    filter: ObservationFilter
    #: Data version whose rows answer.
    version: int
    #: Moment at which the rows were valid, unix seconds; None: now.
    as_of: int | None
    #: Rows of the page at most.
    limit: int
    #: Position to go on from, which the page before returned; None: the first page.
    after: list[Any] | None = None
    #: A name in `SORTS`.
    sort: str = "topic"
    descending: bool = False
    #: Rows of all series of a cell, else of the preferred one.
    every: bool = False
    #: All states of a cell that were known by `as_of`, withdrawals too, else the valid one.
    history: bool = False

    @property
    def moment(self) -> int:
        """Return `as_of`; later than anything is known where there is none."""
        return EVER if self.as_of is None else self.as_of

    @property
    def strategy(self) -> ScanStrategy:
        """Return how the rows are found, which follows from the query alone."""
        if SORTS[self.sort] is not None:
            return ScanStrategy.SORTED
        asked = self.filter
        tested = asked.observed_from, asked.observed_to, asked.fiscal
        if self.every or self.history or tested != (None, None, None):
            return ScanStrategy.GROUPS
        return ScanStrategy.CELLS


@functools.cache
def in_order(*columns: str, descending: bool) -> str:
    """Return columns as the terms of an ORDER BY."""
    return ", ".join(f"{column} DESC" if descending else column for column in columns)


def of_sources(sources: frozenset[str], column: str, *, few: bool = False) -> tuple[str, list[str]]:
    """
    Return the condition that a column, `topic` or `series` of a table, is of a series of these sources, and its values.

    Where the sources have few series theirs are listed, once, so that those of others are passed over soonest. `few`: few of the column
    are met, so each is looked up.
    """
    named, key = sorted(sources), column.partition(".")[2]
    is_named = f"s.source IN ({', '.join('?' * len(named))})"
    # A correlated EXISTS would have the rows sorted.
    each = f"(SELECT max(CASE WHEN {is_named} THEN 1 ELSE 0 END) FROM series s WHERE s.{key} = {column}) = 1"
    if few:
        return each, named
    many = f"EXISTS (SELECT 1 FROM series s WHERE {is_named} LIMIT 1 OFFSET {LISTED})"
    listed = f"{column} IN (SELECT s.{key} FROM series s WHERE {is_named})"
    return f"CASE WHEN {many} THEN {each} ELSE {listed} END", [*named] * 3


class Conditions(msgspec.Struct):
    """Conditions of a statement and the values they bind, in step."""

    parts: list[str] = []
    values: list[Any] = []

    def add(self, condition: str, *values: Any) -> None:
        """Add a condition with its values."""
        self.parts.append(condition)
        self.values.extend(values)

    @property
    def where(self) -> str:
        """Return the conditions as one."""
        return " AND ".join(self.parts) or "TRUE"

    def topics(self, asked: ObservationFilter) -> None:
        """
        Add what a filter says of topics `t`.

        No condition may lead the database to another order than that of topics, in which it would have to sort: one name may use an index;
        several are tested row by row (`++`).
        """
        for column, names in (("t.indicator", asked.indicators), ("t.entity", asked.entities)):
            if names is None:
                continue
            if len(names) == 1:
                self.add(f"{column} = ?", names[0])
                continue
            if column == TOPIC_ORDER[0]:  # a span of the first column keeps the order
                self.add(f"{column} BETWEEN ? AND ?", min(names), max(names))
            self.add(f"++{column} IN ({', '.join('?' * len(names))})", *names)
        if asked.frequency is not None:
            self.add("t.frequency = ?", asked.frequency)
        if not asked.companies:
            self.add(NO_COMPANY.format("t.entity"))
        if not asked.countries:
            self.add(COMPANY.format("t.entity"))
        # What the index lacks is tested last: topics that fail before are passed over without being read.
        if asked.kind is not None:
            self.add("t.kind = ?", asked.kind)
        if asked.sources is not None:
            few = asked.indicators is not None and asked.entities is not None
            condition, named = of_sources(asked.sources, "t.topic", few=few)
            self.add(condition, *named)

    def periods(self, asked: ObservationFilter) -> None:
        """Add the bounds on periods of rows `x`."""
        if asked.ends_by is not None:
            self.add("x.period <= ?", highest_key(asked.ends_by))
        if asked.ends_from is not None:
            self.add("x.period >= ?", lowest_key(asked.ends_from))
        if asked.starts_from is not None:  # what starts on a day does not end before it, of which the index knows
            day = asked.starts_from.toordinal()
            starts = STARTS_FROM_SQL.format("x.period", "?")
            self.add(f"x.period >= ? AND {starts}", lowest_key(asked.starts_from), day, day)

    def known(self, asked: ObservationFilter) -> None:
        """Add the bounds on knowledge times of rows `x`."""
        if asked.observed_from is not None:
            self.add("x.known_at >= ?", asked.observed_from)
        if asked.observed_to is not None:
            self.add("x.known_at <= ?", asked.observed_to)

    def known_topics(self, asked: ObservationFilter) -> None:
        """Add that topics `t` may have rows within the bounds on knowledge, by the figures of their series: those of the newest version."""
        span = "CASE WHEN s.last_known >= ? AND s.first_known <= ? THEN 1 ELSE 0 END"
        low = -1 if asked.observed_from is None else asked.observed_from
        high = EVER if asked.observed_to is None else asked.observed_to
        # A correlated EXISTS would have the rows sorted.
        self.add(f"(SELECT max({span}) FROM series s WHERE s.topic = t.topic) = 1", low, high)

    def from_topic(self, topic: Sequence[str], descending: bool) -> None:
        """Add that topics `t` stand at one or behind it."""
        self.add(f"(t.indicator, t.entity, t.frequency) {'<=' if descending else '>='} (?, ?, ?)", *topic)


#: That a row is shown which was valid at a moment: bound are version and moment, each twice.
_VALID = f"{valid_at_sql('?', '?')} AND {HAS_VALUE.format('x')}"


def compile_query(
    query: ObservationQuery,
    limit: int,
    place: Sequence[Any] | None = None,
    *,
    topics: Sequence[int] | None = None,
    newest: bool = False,
) -> tuple[str, list[Any]]:
    """
    Return the statement for the first `limit` rows of a list, and its values. A row has its sort value and topic, then `VINTAGE`.

    `place`: sort value, indicator, entity, frequency and period of the cell to begin with. `topics`: the numbers of all topics that
    the filter's names mean, where they are known. `newest`: the version is the newest one, of which the figures of series tell.
    """
    asked, column, descending = query.filter, SORTS[query.sort], query.descending
    moment, where = EVER if query.as_of is None else query.as_of, Conditions()
    cell_order: Sequence[str] = CELL_ORDER
    if topics is not None and len(topics) == 1:
        table, cell_order = "vintages x", CELL_ORDER[-1:]
        where.add("x.topic = ?", topics[0])
    else:
        table = "topic t CROSS JOIN vintages x ON x.topic = t.topic"
        where.topics(asked)
        if newest and query.strategy is not ScanStrategy.CELLS and asked.bounded:
            where.known_topics(asked)
        if topics is not None:  # by which Citus knows the machines that have them
            where.add(f"++x.topic IN ({', '.join('?' * len(topics))})", *topics)
    if query.strategy is not ScanStrategy.CELLS:
        _narrow_rows(where, asked)
    where.periods(asked)
    if query.history:
        where.add("x.from_version <= ? AND x.to_version > ?", query.version, query.version)
        where.add("x.known_at <= ?", moment)
    else:
        where.add(_VALID, query.version, query.version, moment, moment)
    if place is not None:
        _resume(where, query, cell_order, place)
    # The states of a cell follow one another as the table has them.
    order = in_order(*cell_order, *(("x.series", "x.known_at") if query.history else ()), descending=descending)
    if column is not None:
        order = f"{in_order(column, descending=descending)}, {order}"
    if query.sort in NULLABLE:  # nulls come last, either way
        order = f"{column} IS NULL, {order}"
    tests = " AND ".join(where.parts)
    return (
        f"SELECT {column or '0'}, x.topic, {VINTAGE} FROM {table} WHERE {tests} ORDER BY {order} LIMIT {limit}",
        where.values,
    )


def _resume(where: Conditions, query: ObservationQuery, cell_order: Sequence[str], place: Sequence[Any]) -> None:
    """Add that rows stand at a place or behind it."""
    column, beyond, marks = SORTS[query.sort], "<=" if query.descending else ">=", ", ".join("?" * len(cell_order))
    cell, columns = place[-len(cell_order) :], ", ".join(cell_order)
    if column is None and len(cell) == 1:
        where.add(f"{columns} {beyond} ?", *cell)
    elif column is None:  # so that the index leads to the topic, and to the period in it
        where.from_topic(cell[:3], query.descending)
        edge = EVER if query.descending else 0
        same = "t.indicator = ? AND t.entity = ? AND t.frequency = ?"
        where.add(f"x.period {beyond} CASE WHEN {same} THEN ? ELSE {edge} END", *cell)
    elif place[0] is None:
        where.add(f"{column} IS NULL AND ({columns}) {beyond} ({marks})", *cell)
    else:
        nulls = f"{column} IS NULL OR " if query.sort in NULLABLE else ""
        where.add(f"({nulls}({column}, {columns}) {beyond} (?, {marks}))", place[0], *cell)


def _narrow_rows(where: Conditions, asked: ObservationFilter) -> None:
    """Add conditions that part the rows of a cell. Whoever shows one row a cell has to look up which series is preferred there."""
    if asked.sources is not None:
        condition, named = of_sources(asked.sources, "x.series")
        where.add(condition, *named)
    where.known(asked)
    if asked.fiscal is not None:  # few notes say so, and each is stored once
        words = asked.fiscal.notes
        said = " OR ".join([contains("n.body", "?")] * len(words))
        where.add(f"x.note IN (SELECT n.note FROM note n WHERE {said})", *words)
