"""Which rows a list shall have, where a walk over them stands, and both as SQL conditions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

import msgspec

from almanac.domain.companies import FiscalPeriod
from almanac.domain.periods import EVERY_KEY, INSTANT, LONGEST, SPAN_BITS, highest_key, lowest_key
from almanac.store.engine.sql_compat import contains

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


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows. None: no restriction; an empty tuple: nothing matches. Days are inclusive; times unix seconds."""

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
    observed_from: int | None = None
    observed_to: int | None = None
    #: Rows of fiscal periods inside this one alone: their own words say so. Bounds on days go with it, lest all be read.
    fiscal: FiscalPeriod | None = None

    @property
    def empty(self) -> bool:
        return (
            self.indicators == ()
            or self.entities == ()
            or self.sources == frozenset()
            or not (self.companies or self.countries)
        )

    @property
    def bounded(self) -> bool:
        """Whether it matters when a row came to be known."""
        return self.observed_from is not None or self.observed_to is not None

    @property
    def keys(self) -> tuple[int, int]:
        """Between which keys periods are, both included, as far as their last day tells."""
        lower = max((day for day in (self.ends_from, self.starts_from) if day is not None), default=None)
        low, high = EVERY_KEY
        return (
            low if lower is None else lowest_key(lower),
            high if self.ends_by is None else highest_key(self.ends_by),
        )

    def passes(self, known: int, note: str | None) -> bool:
        """Return whether a row, known at a time and with this note, passes what no index knows."""
        return self.observed(known) and (
            self.fiscal is None or (note is not None and any(words in note for words in self.fiscal.notes))
        )

    def observed(self, known: int) -> bool:
        """`observed_from` and `observed_to` test the row that was chosen; they never make an older vintage appear."""
        return (self.observed_from is None or known >= self.observed_from) and (
            self.observed_to is None or known <= self.observed_to
        )


class Position(NamedTuple):
    """Where a walk stands: the last cell given, and within it the last row (lists of several rows a cell)."""

    indicator: str
    entity: str
    frequency: str
    period: int
    source: str = ""
    #: Of that source; "" is its main series.
    variant: str = ""
    #: Knowledge time of the last vintage given: one series has one open vintage of a cell at a time.
    known: int | None = None


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


def already_given(here: Any, last: Any, descending: bool) -> bool:
    """Whether what stands here came on an earlier page, which ended with `last`."""
    return bool(here >= last if descending else here <= last)


@functools.cache
def in_order(*columns: str, descending: bool) -> str:
    """Columns as the terms of an ORDER BY."""
    return ", ".join(f"{column} DESC" if descending else column for column in columns)


#: The default order of a list, by the columns of `topic t` and of its rows `x`.
TOPIC_ORDER = ("t.indicator", "t.entity", "t.frequency")
CELL_ORDER = (*TOPIC_ORDER, "x.period")

#: Later than anything is known: what stands then stands now.
EVER = 1 << 62


def standing(version: str, moment: str, row: str = "x") -> str:
    """
    That a row of `vintages` stood at a moment, as a data version has it: of each cell of a series there is one, or none.

    `version` and `moment` are marks of what is bound, each meant twice.
    """
    return (
        f"{row}.from_version <= {version} AND {row}.to_version > {version}"
        f" AND {row}.known_at <= {moment} AND ({row}.until IS NULL OR {row}.until > {moment})"
    )


#: That a row has a value: others are withdrawals.
HAS_VALUE = "({0}.value IS NOT NULL OR {0}.text IS NOT NULL)"


#: An entity that is no company, as an index of topics has it; and one that is, with a `+` as below.
NO_COMPANY = "{} NOT BETWEEN 'company_' AND 'company_~'"
COMPANY = "++{} BETWEEN 'company_' AND 'company_~'"


#: Of sources with more series than this their topics are not listed: each topic met is asked instead.
LISTED = 3_000


def of_sources(sources: frozenset[str], topic: str, *, each: bool = False) -> tuple[str, list[str]]:
    """
    A condition on a column `topic` that one of its series is of these sources, and its values. `each`: few topics are met.

    Where the sources have few series their topics are listed, once, so that those of others are passed over soonest.
    """
    named = sorted(sources)
    marks = ", ".join("?" * len(named))
    # A correlated EXISTS would have the rows sorted.
    asked = f"(SELECT max(CASE WHEN s.source IN ({marks}) THEN 1 ELSE 0 END) FROM series s WHERE s.topic = {topic}) = 1"
    if each:
        return asked, named
    many = f"EXISTS (SELECT 1 FROM series s WHERE s.source IN ({marks}) LIMIT 1 OFFSET {LISTED})"
    listed = f"{topic} IN (SELECT s.topic FROM series s WHERE s.source IN ({marks}))"
    return f"CASE WHEN {many} THEN {asked} ELSE {listed} END", [*named] * 3


class Conditions:
    """Conditions and their values, in step."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.values: list[Any] = []

    def add(self, condition: str, *values: Any) -> None:
        self._parts.append(condition)
        self.values.extend(values)

    @property
    def where(self) -> str:
        return " AND ".join(self._parts) or "TRUE"

    def topics(self, selection: Selection, *, sources: bool = True) -> None:
        """
        For lists of rows, in the order of topics: no condition may lead the database to another order, which it would sort.

        `sources`: those alone that have series of the sources asked for.
        """
        self._among("t.indicator", selection.indicators, leading=True)
        self._among("t.entity", selection.entities, leading=False)
        if selection.frequency is not None:
            self.add("t.frequency = ?", selection.frequency)
        if not selection.companies:
            self.add(NO_COMPANY.format("t.entity"))
        if not selection.countries:
            self.add(COMPANY.format("t.entity"))
        # What the index has not is tested last: topics that fail before are passed over without a look at them.
        if selection.kind is not None:
            self.add("t.kind = ?", selection.kind)
        if selection.sources is not None and sources:
            few = selection.indicators is not None and selection.entities is not None
            condition, named = of_sources(selection.sources, "t.topic", each=few)
            self.add(condition, *named)

    def series(self, selection: Selection) -> None:
        """Rows of the sources asked for alone, where those of others that compete in their topics are of no use."""
        if selection.sources is not None:
            named = sorted(selection.sources)
            marks = ", ".join("?" * len(named))
            many = f"EXISTS (SELECT 1 FROM series s WHERE s.source IN ({marks}) LIMIT 1 OFFSET {LISTED})"
            asked = f"(SELECT s.source FROM series s WHERE s.series = x.series) IN ({marks})"
            listed = f"x.series IN (SELECT s.series FROM series s WHERE s.source IN ({marks}))"
            self.add(f"CASE WHEN {many} THEN {asked} ELSE {listed} END", *[*named] * 3)

    def _among(self, column: str, names: tuple[str, ...] | None, *, leading: bool) -> None:
        """
        One name may use an index; several are tested row by row (`+`), so that the index keeps the order of the list.

        `leading`: the column is the first of that order, so a span of it keeps it too.
        """
        if names is None:
            return
        if len(names) == 1:
            self.add(f"{column} = ?", names[0])
            return
        if leading:
            self.add(f"{column} BETWEEN ? AND ?", min(names), max(names))
        self.add(f"++{column} IN ({', '.join('?' * len(names))})", *names)

    def periods(self, selection: Selection) -> None:
        low, high = selection.keys
        if selection.ends_by is not None:
            self.add("x.period <= ?", high)
        if selection.ends_from is not None or selection.starts_from is not None:
            self.add("x.period >= ?", low)
        self.starts(selection)

    def starts(self, selection: Selection) -> None:
        """Of the bounds on periods the one on their first day, which of an instant is its only one."""
        if selection.starts_from is not None:
            day = selection.starts_from.toordinal()
            self.add(STARTS_FROM_SQL.format("x.period", "?"), day, day)

    def known(self, selection: Selection) -> None:
        """Rows that came to be known in the span asked for."""
        if selection.observed_from is not None:
            self.add("x.known_at >= ?", selection.observed_from)
        if selection.observed_to is not None:
            self.add("x.known_at <= ?", selection.observed_to)

    def fiscal(self, selection: Selection) -> None:
        """Rows whose own words say that their period is of the fiscal one asked for: few notes do, and each is stored once."""
        if selection.fiscal is not None:
            words = selection.fiscal.notes
            said = " OR ".join([contains("n.body", "?")] * len(words))
            self.add(f"x.note IN (SELECT n.note FROM note n WHERE {said})", *words)

    def known_topics(self, selection: Selection) -> None:
        """Topics that may have rows known in the span asked for: what is counted of series tells, at the newest version."""
        if not selection.bounded:
            return
        span = "CASE WHEN s.last_known >= ? AND s.first_known <= ? THEN 1 ELSE 0 END"
        low = -1 if selection.observed_from is None else selection.observed_from
        high = EVER if selection.observed_to is None else selection.observed_to
        # A correlated EXISTS would have the rows sorted.
        self.add(f"(SELECT max({span}) FROM series s WHERE s.topic = t.topic) = 1", low, high)

    def standing(self, version: int, as_of: int) -> None:
        """Rows that stood at a moment, as a data version has it, and have a value."""
        self.add(f"{standing('?', '?')} AND {HAS_VALUE.format('x')}", version, version, as_of, as_of)

    def pinned(self, version: int) -> None:
        self.add("x.from_version <= ? AND x.to_version > ?", version, version)

    def from_topic(self, topic: Sequence[str], descending: bool) -> None:
        """Topics from one on, itself included."""
        self.add(f"(t.indicator, t.entity, t.frequency) {'<=' if descending else '>='} (?, ?, ?)", *topic)

    def resume(self, place: Position, descending: bool) -> None:
        """Go on at a cell, itself included: what of it was given already is told apart in memory."""
        beyond = "<=" if descending else ">="
        self.from_topic(place[:3], descending)
        edge = 1 << 62 if descending else 0
        self.add(
            f"x.period {beyond} CASE WHEN t.indicator = ? AND t.entity = ? AND t.frequency = ? THEN ? ELSE {edge} END",
            *place[:4],
        )
