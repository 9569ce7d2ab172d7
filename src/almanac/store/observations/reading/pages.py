"""
Pages of observation lists, by topic (the order of the tables) or by a column.

The order of a list is (indicator, entity, frequency, period): the unique index of `topic`, then the clustering of `vintages`. So
nothing is sorted, and a page is read as far as it goes. A list in another order is gone through whole, and the database keeps the
first rows of it. A cell has few series: the preferred one is picked in memory, by rights now and the order of sources at the
version asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from almanac.domain.companies import is_company
from almanac.domain.observations import AHEAD, DAY, QUALITY, status
from almanac.domain.periods import SPAN_BITS
from almanac.store.engine.deadline import check_deadline
from almanac.store.engine.sql_compat import greatest, in_list, least
from almanac.store.observations.ids import known_part, period_part
from almanac.store.observations.reading.metadata import MetadataCache, SeriesInfo
from almanac.store.observations.reading.query import (
    INGESTED,
    KNOWN,
    LINEAGE,
    PERIOD,
    SERIES,
    SORTS,
    TEXT,
    VALUE,
    VINTAGE,
    Conditions,
    Found,
    ObservationFilter,
    ObservationQuery,
    ScanStrategy,
    compile_query,
    valid_at_sql,
)
from almanac.store.observations.reading.reader import View

#: Rows read beyond those of a page: one tells that more follow, one that the cell before it is complete.
_SPARE = 2
#: Rows read at a time, at most.
_MOST = 20_000
#: Parts of a position before those that tell the rows of a cell apart: sort value, indicator, entity, frequency, period.
_PLACE = 5


class TooBroadError(Exception):
    """A list would have to go through `rows` vintages, more than the `allowed` ones."""

    def __init__(self, rows: int, allowed: int) -> None:
        super().__init__(f"{rows} vintages are meant, and no more than {allowed} are gone through")
        self.rows, self.allowed = rows, allowed


class ObservationRow(NamedTuple):
    """
    A vintage of a series as it is stored; a withdrawal has neither value nor text.

    `period` is a key, times are unix seconds, `lineage` 0 stands for that of the series, `note` is a JSON object.
    """

    series: SeriesInfo
    period: int
    known: int
    released: int | None
    ingested: int
    flags: int
    lineage: int
    value: float | None
    text: str | None
    note: str | None

    @property
    def id(self) -> str:
        """Return the id of the observation."""
        return f"obs_{self.series.id_part}{period_part(self.period)}{known_part(self.known)}"

    @property
    def found(self) -> Found:
        """Return the columns that it is made of, as a statement has them; without a sort value."""
        return (0, self.series.topic, self.period, self.series.number, *self[2:])

    @property
    def withdrawn(self) -> bool:
        """Return whether the vintage is a withdrawal."""
        return self.value is None and self.text is None

    @property
    def shown(self) -> tuple[Any, ...]:
        """Return all that the row says beside what its series says: not every flag shows."""
        flags = self.flags & (DAY | AHEAD | (0 if self.withdrawn else QUALITY))
        return status(self.flags), *self._replace(flags=flags, lineage=0)[1:]


_topic = itemgetter(1)


def row_of(metadata: MetadataCache, columns: Found) -> ObservationRow:
    """Return the row of columns that were found: two of the statement's own, then `VINTAGE`."""
    return ObservationRow(metadata.series(columns[SERIES]), columns[PERIOD], *columns[KNOWN:])


class PreferredSeries(msgspec.Struct):
    """
    The rule by which one row of a cell is preferred: rights of now, then the order of sources at a data version.

    A withheld row never wins over a public one.
    """

    metadata: MetadataCache
    version: int
    #: The choice among the same series is the same in every cell.
    places: dict[tuple[Any, ...], int] = msgspec.field(default_factory=dict)

    def preferred(self, rows: Sequence[Found]) -> Found:
        """Return the preferred one of some rows of one cell, no two of which are of one series."""
        if len(rows) == 1:
            return rows[0]
        origins = tuple((row[SERIES], row[LINEAGE]) for row in rows)
        best = self.places.get(origins)
        if best is None:
            keys = [self.metadata.preference_key(*origin, self.version) for origin in origins]
            best = self.places[origins] = keys.index(min(keys))
        return rows[best]


def read_page(view: View, query: ObservationQuery) -> tuple[list[ObservationRow], list[Any] | None]:
    """
    Return the rows of a page, and the position to go on from (None: no more rows follow).

    Raises TooBroadError instead of the first page of a list that would go through too much.
    """
    rows, following = find_rows(view, query)
    return [row_of(view.directory, row) for row in rows], following


def find_rows(view: View, query: ObservationQuery, *, whole: bool = False) -> tuple[list[Found], list[Any] | None]:
    """
    Return the rows of a page as they are stored, and the position to go on from, as `read_page` does.

    `whole`: the whole list is read, so as many rows are returned as one statement gives, some more or less than a page has.
    """
    asked, limit, metadata = query.filter, query.limit, view.directory
    if asked.empty:
        return [], None
    sorts = SORTS[query.sort] is not None
    if query.after is None and query.strategy is not ScanStrategy.CELLS and (sorts or asked.bounded):
        check_room(view, asked)
    topics = _topics_meant(metadata, asked)
    if topics == []:
        return [], None
    # A position in the order of the tables has no sort value.
    given = query.after if query.after is None or sorts else [0, *query.after]
    place, size = given, (2 * limit if sorts and not whole else limit) + _SPARE
    preferred = PreferredSeries(metadata, query.version)
    rows: list[Found] = []
    while True:
        newest = query.version == view.version
        sql, values = compile_query(query, size, place and place[:_PLACE], topics=topics, newest=newest)
        batch = view.execute(sql, values).fetchall()
        begin, end = 0, len(batch)
        place = None
        if end == size:  # the last cell may go on behind the last row: it is read again as a whole
            place = _place(metadata, batch[-1])
            end = _edge(batch, end, -1)
        if given is not None and end:  # the first cell may have been given
            if _place(metadata, batch[0]) == given[:_PLACE]:
                begin = _edge(batch, begin, 1)
                rest = _shown(view, query, batch[:begin], preferred) if len(given) > _PLACE else []
                rows += _following(metadata, query, rest, given[_PLACE:])
            given = None
        rows += _shown(view, query, batch[begin:end], preferred)
        if place is None or len(rows) > limit or (whole and rows):
            break
        check_deadline()
        size = min(2 * size, _MOST)
    if place is None and (whole or len(rows) <= limit):
        return rows, None
    if not whole:
        del rows[limit:]
    last = rows[-1]
    position = _place(metadata, last)[0 if sorts else 1 :]
    if query.every or query.history:
        series = metadata.series(last[SERIES])
        position += [series.source.id, series.spec.variant or ""]
    return rows, [*position, last[KNOWN]] if query.history else position


def _topics_meant(metadata: MetadataCache, asked: ObservationFilter) -> list[int] | None:
    """Return the numbers of all topics that a filter of one indicator and one entity means; None for any other filter."""
    if asked.indicators is None or asked.entities is None or len(asked.indicators) != 1 or len(asked.entities) != 1:
        return None
    entity = asked.entities[0]
    if (not asked.companies and is_company(entity)) or (not asked.countries and not is_company(entity)):
        return []
    topics = metadata.topics(asked.indicators[0], entity)
    wanted = []
    for topic in topics:
        if asked.frequency in {None, topic.frequency} and asked.kind in {None, topic.kind}:
            wanted.append(topic.number)
    return wanted


def _cells(batch: Iterable[Found]) -> list[list[Found]]:
    """Part rows by sort value and cell."""
    cells: list[list[Found]] = []
    period = None
    for row in batch:
        if row[PERIOD] == period and row[:SERIES] == cells[-1][0][:SERIES]:
            cells[-1].append(row)
        else:
            period = row[PERIOD]
            cells.append([row])
    return cells


def _place(metadata: MetadataCache, row: Found) -> list[Any]:
    """Return where the cell of a row stands: sort value, indicator, entity, frequency and period."""
    spec = metadata.series(row[SERIES]).spec
    return [row[0], spec.indicator, spec.entity, spec.frequency.value, row[PERIOD]]


def _edge(batch: Sequence[Found], edge: int, step: int) -> int:
    """Return where the cell begins (`step` -1) that ends before an edge, or ends (`step` 1) that begins there."""
    inner = min(step, 0)
    cell = batch[edge + inner][:SERIES]
    while 0 <= edge + inner < len(batch) and batch[edge + inner][:SERIES] == cell:
        edge += step
    return edge


def _shown(view: View, query: ObservationQuery, batch: list[Found], preferred: PreferredSeries) -> list[Found]:
    """Return the rows that a list shows of whole cells, in order."""
    metadata, sources = view.directory, query.filter.sources
    contested = metadata.contested(set(map(_topic, batch)))
    one_by_one = query.strategy is ScanStrategy.CELLS
    if not contested and not (
        one_by_one and sources is not None
    ):  # each cell is of one series, whose rows come in their order
        return batch
    rows: list[Found] = []
    if one_by_one:
        for cell in _cells(batch):
            if sources is not None:
                cell = [row for row in cell if metadata.series(row[SERIES]).source.id in sources]
            if cell:
                rows.append(cell[0] if len(cell) == 1 else preferred.preferred(cell))
        return rows
    # The rows of a topic that has one series need not be parted.
    cells: list[list[Found]] = []
    for topic, run in groupby(batch, key=_topic):
        of_topic = list(run)
        cells += _cells(of_topic) if topic in contested else [of_topic]
    disputed = [] if query.every else [cell for cell in cells if cell[0][1] in contested]
    chosen = _chosen(view, query, disputed, preferred) if disputed else {}
    for cell in cells:
        if cell[0][1] in contested:
            if chosen:
                cell = [row for row in cell if chosen.get(row[1:SERIES], row[SERIES]) == row[SERIES]]
            if len(cell) > 1:
                cell.sort(key=partial(_order, metadata, query), reverse=query.descending)
        rows += cell
    return rows


def _chosen(
    view: View, query: ObservationQuery, cells: list[list[Found]], preferred: PreferredSeries
) -> dict[Found, int | None]:
    """
    Return the series preferred in each of some cells of which several may speak, by topic and period; None: there is none.

    All that the series say of a cell takes part, not the rows that the list has found alone.
    """
    metadata, sources = view.directory, query.filter.sources
    states: dict[Found, list[Found]] = {cell[0][1:SERIES]: [] for cell in cells}
    for state in view.seek(_STATES, [(*cell, query.version, query.moment) for cell in states]):
        if sources is None or metadata.series(state[SERIES]).source.id in sources:
            states[state[1:SERIES]].append(state)
    chosen: dict[Found, int | None] = {}
    for cell, of_cell in states.items():
        alive = [state for state in of_cell if state[VALUE] is not None or state[TEXT] is not None]
        # A history shows withdrawals too.
        candidates = alive or (of_cell if query.history else [])
        chosen[cell] = preferred.preferred(candidates)[SERIES] if candidates else None
    return chosen


def _order(metadata: MetadataCache, query: ObservationQuery, row: Found) -> tuple[Any, ...]:
    """Return where a row stands among those of its cell."""
    rank = metadata.rank_of(metadata.series(row[SERIES]), query.version)
    return (rank, row[KNOWN], row[INGESTED]) if query.history else (rank,)


def _following(metadata: MetadataCache, query: ObservationQuery, cell: list[Found], last: list[Any]) -> list[Found]:
    """Return the rows of a cell behind the last one that was given: its source and variant and, in histories, knowledge time."""
    if not cell:
        return []
    source, variant, *known = last
    spec = metadata.series(cell[0][SERIES]).spec
    given = (metadata.rank(spec.indicator, source, variant, query.version), *known)
    orders = [(_order(metadata, query, row)[: len(given)], row) for row in cell]
    return [row for order, row in orders if (order < given if query.descending else order > given)]


#: What each series says of a cell; a key is topic, period, version and moment.
_STATES = (
    f"SELECT 0, x.topic, {VINTAGE} FROM {{keys}}vintages x WHERE x.topic = k.column1 AND x.period = k.column2"
    f" AND {valid_at_sql('k.column3', 'k.column4')}"
)


def check_room(view: View, asked: ObservationFilter) -> None:
    """Raise TooBroadError if a filter means more vintages than a list may go through."""
    rows = _vintages_meant(view, asked)
    if rows > view.most_sorted:
        raise TooBroadError(rows, view.most_sorted)


def _vintages_meant(view: View, asked: ObservationFilter) -> int:
    """
    Estimate the vintages that a filter means by the figures of series.

    Bounds on periods take the same share of a series' vintages as of the days between its first period and its last.
    """
    where = Conditions()
    where.topics(asked)
    if asked.observed_from is not None:
        where.add("s.last_known >= ?", asked.observed_from)
    if asked.observed_to is not None:
        where.add("s.first_known <= ?", asked.observed_to)
    if asked.sources is not None:
        where.add(in_list("s.source", asked.sources), *sorted(asked.sources))
    first = max((day for day in (asked.ends_from, asked.starts_from) if day is not None), default=date.min)
    low, high = first.toordinal(), (asked.ends_by or date.max).toordinal()
    sql = f"SELECT coalesce(sum({_SHARE}), 0) FROM topic t CROSS JOIN series s ON s.topic = t.topic WHERE {where.where}"
    return int(view.execute(sql, (high, low, *where.values)).get)


_FIRST, _LAST = (f"(s.{edge} >> {SPAN_BITS})" for edge in ("first_period", "last_period"))
#: How many vintages of a series `s` have a period that ends between two days; bound are the last and the first of them.
_SHARE = (
    "CASE WHEN s.first_period IS NULL OR s.last_period IS NULL THEN s.vintages"
    f" WHEN s.vintages = 0 OR ?1 < ?2 OR ?1 < {_FIRST} OR {_LAST} < ?2 THEN 0"
    f" ELSE s.vintages * ({least('?1', _LAST)} - {greatest('?2', _FIRST)} + 1) / ({_LAST} - {_FIRST} + 1) END"
)
