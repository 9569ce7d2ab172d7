"""
The latest reading of an indicator for an entity: newest period that is no forecast, then the higher frequency, then the
preferred order.

A row that may not be sent is none as long as there is one that may: it would hide what is public. Where all of them may
not, it is the newest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import msgspec

from almanac.domain.observations import AHEAD
from almanac.domain.periods import SPAN_BITS, lowest_key
from almanac.store.engine.deadline import check_deadline
from almanac.store.engine.sql_compat import number_list
from almanac.store.observations.newest.candidates import Candidates, WantedFreshness, candidates
from almanac.store.observations.reading.choose import Origin
from almanac.store.observations.reading.plan import Question
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.rows import VINTAGE, ObservationRow, RowReader
from almanac.store.observations.reading.selection import (
    EVER,
    HAS_VALUE,
    LISTED,
    NO_COMPANY,
    Selection,
    of_sources,
    standing,
)
from almanac.store.observations.reading.series_info import SeriesInfo

#: Pairs looked at beyond what a page lacks: some have no reading.
_SPARE = 16


class _Pair(NamedTuple):
    """An indicator of an entity, with the frequencies there are, and the number of the topic of each."""

    indicator: str
    entity: str
    frequencies: list[str]
    topics: list[int]


class _Newest(NamedTuple):
    """The newest row of a topic, as found: nothing is written of it before it is known to be wanted."""

    series: SeriesInfo
    period: int
    columns: tuple[Any, ...]


def latest(
    view: View,
    selection: Selection,
    *,
    version: int,
    as_of: int | None,
    descending: bool,
    after: list[Any] | None,
    limit: int,
    accept: Callable[[SeriesInfo], bool] | None = None,
    freshness: WantedFreshness | None = None,
) -> tuple[list[ObservationRow], list[Any] | None]:
    """
    One row per (indicator, entity), in that order, and the pair to go on after (None: that was all).

    Only rows of series that `accept` takes. `freshness` says which it cannot take: their topics are not looked at.
    """
    rows: list[ObservationRow] = []
    last: list[Any] | None = None
    if selection.empty:
        return rows, None
    reader = RowReader(view.directory)
    hopeful = candidates(view, selection, freshness, as_of, descending=descending) if version == view.version else None
    pairs = _pairs(view, selection, descending, after, hopeful)
    while some := list(islice(pairs, limit + _SPARE - len(rows))):
        check_deadline()
        found = _newest_of_topics(view, selection, [topic for pair in some for topic in pair.topics], version, as_of)
        for pair in some:
            one = _of_pair(view, selection, pair, found, version, as_of)
            if one is None or (accept is not None and not accept(one.series)):
                continue
            if len(rows) == limit:
                return rows, last
            rows.append(one if isinstance(one, ObservationRow) else reader.vintage(one.columns))
            last = [pair.indicator, pair.entity]
    return rows, None


def _of_pair(
    view: View,
    selection: Selection,
    pair: _Pair,
    found: dict[int, _Newest | None],
    version: int,
    as_of: int | None,
) -> _Newest | ObservationRow | None:
    """What `reading` says of a pair, whose topics were looked at together with others; it is asked where that did not tell."""
    rows = [found[topic] for topic in pair.topics if topic in found]
    best = None if None in rows else _best(row for row in rows if row is not None)
    if None in rows or (best is not None and _shut(view, best.series, best.columns[_LINEAGE - 1])):
        return reading(view, selection, pair.indicator, pair.entity, pair.frequencies, version=version, as_of=as_of)
    return best


def _shut(view: View, series: SeriesInfo, lineage: int) -> bool:
    """Whether a row may not be sent."""
    return view.directory.row_rights(series, lineage).withheld


_Found = TypeVar("_Found", _Newest, ObservationRow)


def _best(rows: Iterable[_Found]) -> _Found | None:
    """Of the newest rows in several frequencies the latest reading."""
    return max(rows, key=lambda row: (row.period >> SPAN_BITS, -row.series.spec.frequency.rank), default=None)


def _newest_of_topics(
    view: View, selection: Selection, topics: Sequence[int], version: int, as_of: int | None
) -> dict[int, _Newest | None]:
    """
    The newest row of each topic that is no forecast; one without any is left out. None: that takes a look at each cell.

    It is one of the newest cell with such a row: newer ones have none but forecasts. There only the choice among several
    rows may end with a forecast, or with none: then it is of an older cell. A cell that ends before a plan's window leaves
    none behind it, all older ones do too; other bounds take a look at each.
    """
    first = 0 if selection.ends_from is None else lowest_key(selection.ends_from)
    otherwise = selection.bounded or selection.starts_from is not None or selection.ends_by is not None
    directory, sources = view.directory, selection.sources
    found = view.execute(_NEWEST, (json.dumps(topics), version, EVER if as_of is None else as_of)).fetchall()
    newest: dict[int, _Newest | None] = {}
    # Not every engine keeps the rows of a topic together.
    for topic, rows_of in groupby(sorted(found, key=itemgetter(0)), key=itemgetter(0)):
        rows = list(rows_of)
        if rows[0][_PERIOD] < first:
            continue
        if sources is not None and not otherwise:
            rows = [one for one in rows if directory.series(one[_SERIES]).source.id in sources]
        chosen = view.preference.preferred(rows, version, _origin) if rows and not otherwise else None
        newest[topic] = (
            None
            if chosen is None or chosen[_FLAGS] & AHEAD
            else _Newest(directory.series(chosen[_SERIES]), chosen[_PERIOD], chosen[1:])
        )
    return newest


def _origin(found: tuple[Any, ...]) -> Origin:
    return found[_SERIES], found[_LINEAGE]


def reading(
    view: View,
    selection: Selection,
    indicator: str,
    entity: str,
    frequencies: list[str],
    *,
    version: int,
    as_of: int | None,
) -> ObservationRow | None:
    """The latest reading of one indicator for one entity, None where there is none."""

    def newest(among: Selection, *, public: bool) -> ObservationRow | None:
        rows = (_newest(view, among, indicator, entity, one, version, as_of, public=public) for one in frequencies)
        return _best(row for row in rows if row is not None)

    best = newest(selection, public=False)
    if best is None or not _shut(view, best.series, best.lineage):
        return best
    every = (view.directory.series(number) for number in numbers_of(view, indicator, entity))
    shown = frozenset(one.source.id for one in every if not one.rights.withheld)
    sources = shown if selection.sources is None else shown & selection.sources
    return newest(msgspec.structs.replace(selection, sources=sources), public=True) or best


def _pairs(
    view: View, selection: Selection, descending: bool, after: list[Any] | None, hopeful: Candidates | None
) -> Iterator[_Pair]:
    """(indicator, entity) in order, with the frequencies there are; those alone of which one is hopeful."""
    conditions: list[str] = ["TRUE"]
    values: list[Any] = []
    for column, names in (("indicator", selection.indicators), ("entity", selection.entities)):
        if names is not None:
            conditions.append(f"{column} IN ({','.join('?' * len(names))})")
            values.extend(names)
    for column, name in (("frequency", selection.frequency), ("kind", selection.kind)):
        if name is not None:
            conditions.append(f"{column} = ?")
            values.append(name)
    if not selection.companies:
        conditions.append(NO_COMPANY.format("entity"))
    chunks = None if hopeful is None else hopeful.chunks
    group = None if selection.sources is None or chunks is not None else _of_sources(view, selection.sources)
    if selection.sources is not None and group is None:
        condition, named = of_sources(selection.sources, "topic.topic")
        conditions.append(condition)
        values.extend(named)
    if after is not None:
        conditions.append(f"(indicator, entity) {'<' if descending else '>'} (?, ?)")
        values.extend(after)
    table = "topic"
    leads: Iterable[list[Any]] = [[]]
    if chunks is not None:
        table = f"{number_list('?')} n CROSS JOIN topic ON topic.topic = n.value"
        passed = () if after is None else tuple(after)
        left = (one for one in chunks if not passed or (one.first < passed if descending else one.last > passed))
        leads = ([one.topics] for one in left)
    elif group is not None:
        table = f"({_GROUP.format(', '.join('?' * len(group)))}) n CROSS JOIN topic ON topic.topic = n.value"
        leads = [group]
    if hopeful is not None and chunks is None:
        conditions.append(
            "EXISTS (SELECT 1 FROM topic o CROSS JOIN series s ON s.topic = o.topic"
            f" WHERE o.indicator = topic.indicator AND o.entity = topic.entity AND {hopeful.condition})"
        )
        values.extend(hopeful.values)
    way = "DESC" if descending else ""
    sql = f"SELECT indicator, entity, frequency, topic FROM {table} WHERE {' AND '.join(conditions)} ORDER BY indicator {way}, entity {way}, frequency"
    for lead in leads:
        for (indicator, entity), some in groupby(view.scan(sql, [*lead, *values]), key=itemgetter(0, 1)):
            topics = list(some)
            yield _Pair(indicator, entity, [found[2] for found in topics], [found[3] for found in topics])


def _of_sources(view: View, sources: frozenset[str]) -> list[str] | None:
    """Sources whose topics are listed, since they have few series; None where they have many."""
    named = sorted(sources)
    marks = ", ".join("?" * len(named))
    many = view.execute(f"SELECT 1 FROM series s WHERE s.source IN ({marks}) LIMIT 1 OFFSET {LISTED}", named).get
    return None if many is not None else named


_GROUP = "SELECT DISTINCT s.topic AS value FROM series s WHERE s.source IN ({})"


def _newest(
    view: View,
    selection: Selection,
    indicator: str,
    entity: str,
    frequency: str,
    version: int,
    as_of: int | None,
    *,
    public: bool,
) -> ObservationRow | None:
    """The newest row of a topic that is no forecast. `public`: and that may be sent."""
    one = msgspec.structs.replace(selection, indicators=(indicator,), entities=(entity,), frequency=frequency)
    after: list[Any] | None = None
    limit = 1
    while True:
        rows, after = view.read(Question(one, version, as_of, limit, after, descending=True))
        for row in rows:
            if not row.flags & AHEAD and not (public and _shut(view, row.series, row.lineage)):
                return row
        if after is None:
            return None
        limit = 100  # only forecasts so far, or what may not be sent: they may go on for years


def numbers_of(view: View, indicator: str, entity: str) -> list[int]:
    """Numbers of the series of an indicator for an entity that have vintages."""
    found = view.execute(
        "SELECT s.series FROM series s JOIN topic t USING(topic) WHERE t.indicator = ? AND t.entity = ? AND s.vintages > 0",
        (indicator, entity),
    )
    return [row[0] for row in found]


def frequencies_of(view: View, indicator: str, entity: str) -> list[str]:
    """Frequencies in which an indicator exists for an entity."""
    found = view.execute("SELECT frequency FROM topic WHERE indicator = ? AND entity = ?", (indicator, entity))
    return [row[0] for row in found]


#: Places of columns behind the number of the topic.
_PERIOD, _SERIES, _FLAGS, _LINEAGE = 1, 2, 6, 7
#: Rows of the newest cell of topics that has one that is no forecast: bound are the topics, the version, and the moment.
_NEWEST = (
    f"SELECT x.topic, {VINTAGE} FROM {number_list('?1')} n CROSS JOIN vintages x ON x.topic = n.value AND x.period = ("
    f"SELECT y.period FROM vintages y WHERE y.topic = n.value AND y.flags & {AHEAD} = 0 AND {standing('?2', '?3', 'y')}"
    f" AND {HAS_VALUE.format('y')} ORDER BY y.period DESC LIMIT 1)"
    f" WHERE {standing('?2', '?3')} AND {HAS_VALUE.format('x')}"
)
