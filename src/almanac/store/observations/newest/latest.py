"""The latest reading of an indicator for an entity: newest period that is no forecast, then the higher frequency,
then the preferred order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import msgspec

from almanac.domain.companies import is_company
from almanac.domain.observations import FORECAST
from almanac.domain.periods import SPAN_BITS, lowest_key
from almanac.store.engine.patience import check
from almanac.store.observations.newest.candidates import ANY_KEY, Candidates, WantedFreshness, candidates, last_periods
from almanac.store.observations.reading.directory import SeriesInfo
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.rows import BORROW, BORROWED, CURRENT, VINTAGE, ObservationRow, RowReader
from almanac.store.observations.reading.selection import LISTED, NO_COMPANY, Selection, of_sources
from almanac.store.observations.reading.states import EVER
from almanac.store.observations.reading.wanted_keys import reachable

#: Pairs looked at beyond what a page lacks: some have no reading.
_SPARE = 16
#: So many cells of a topic are looked at together with those of others; further ones of that topic alone.
_OLDER = 4


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
    #: From `current`, or from `vintages`.
    shown: bool
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
    among = reachable(view.extents, selection, as_of)
    if selection.empty or among.empty:
        return rows, None
    reader = RowReader(view.directory)
    hopeful = candidates(view, selection, freshness, as_of, descending=descending) if version == view.version else None
    bounds = None if as_of is None else last_periods(view, as_of)
    pairs = _pairs(view, among, descending, after, hopeful)
    while some := list(islice(pairs, limit + _SPARE - len(rows))):
        check()
        by_bound: dict[int, list[int]] = {}
        for pair in some:
            for frequency, topic in zip(pair.frequencies, pair.topics, strict=True):
                bound = ANY_KEY if bounds is None else bounds.get((frequency, is_company(pair.entity)), ANY_KEY)
                by_bound.setdefault(bound, []).append(topic)
        found: dict[int, _Newest | None] = {}
        for bound, topics in by_bound.items():
            found |= _newest_of_topics(view, selection, topics, version, as_of, bound)
        for pair in some:
            one = _of_pair(view, selection, pair, found, version, as_of)
            if one is None or (accept is not None and not accept(one.series)):
                continue
            if len(rows) == limit:
                return rows, last
            rows.append(one if isinstance(one, ObservationRow) else _row(reader, one))
            last = [pair.indicator, pair.entity]
    return rows, None


def _row(reader: RowReader, found: _Newest) -> ObservationRow:
    return (reader.shown if found.shown else reader.stated)(found.columns)


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
    if None in rows:
        return reading(view, selection, pair.indicator, pair.entity, pair.frequencies, version=version, as_of=as_of)
    return _best(row for row in rows if row is not None)


_Found = TypeVar("_Found", _Newest, ObservationRow)


def _best(rows: Iterable[_Found]) -> _Found | None:
    """Of the newest rows in several frequencies the latest reading."""
    return max(rows, key=lambda row: (row.period >> SPAN_BITS, -row.series.spec.frequency.rank), default=None)


def _newest_of_topics(
    view: View, selection: Selection, topics: Sequence[int], version: int, as_of: int | None, bound: int
) -> dict[int, _Newest | None]:
    """
    The newest row of each topic that is no forecast; one without any is left out. None: that takes a look at each cell.
    `bound`: no period has a higher key.

    It is one of the newest cell with such a row: newer ones have none but forecasts. There only the choice among several
    rows may end with a forecast, or with none: then it is of an older cell that says something. A cell that ends before a
    plan's window leaves none behind it, all older ones do too; other bounds take a look at each.
    """
    first = 0 if selection.ends_from is None else lowest_key(selection.ends_from)
    otherwise = selection.bounded or selection.starts_from is not None or selection.ends_by is not None
    directory, sources = view.directory, selection.sources
    again: dict[int, int] = {}
    shown = [] if as_of is not None else view.execute(_NOW, (json.dumps(topics), version)).fetchall()
    # Of those that have no row there all cells are withdrawn, or they are a company's.
    left = set(topics).difference(found[0] for found in shown)
    known = EVER if as_of is None else as_of
    bound_to = (json.dumps([topic for topic in topics if topic in left]), version, known, bound)
    stated = view.execute(_THEN, bound_to) if left else ()
    newest: dict[int, _Newest | None] = {}
    cells = chain(shown, stated)
    for _ in range(_OLDER):
        # Not every engine keeps the rows of a topic together.
        for topic, rows_of in groupby(sorted(cells, key=itemgetter(0)), key=itemgetter(0)):
            group, written = list(rows_of), topic not in left
            if group[0][_PERIOD] < first:
                continue
            if otherwise:
                newest[topic] = None
                continue
            last: dict[int, tuple[Any, ...]] = {}
            for found in group:
                if found[_SERIES] not in last or found[_KNOWN] > last[found[_SERIES]][_KNOWN]:
                    last[found[_SERIES]] = found
            rows = [one for one in last.values() if written or one[_VALUE] is not None or one[_TEXT] is not None]
            if sources is not None:
                rows = [one for one in rows if directory.series(one[_SERIES]).source.id in sources]
            chosen = (
                min(rows, key=lambda one: directory.preference_key(one[_SERIES], one[_LINEAGE], version))
                if len(rows) > 1
                else rows[0]
                if rows
                else None
            )
            if chosen is not None and not chosen[_FLAGS] & FORECAST:
                newest[topic] = _Newest(directory.series(chosen[_SERIES]), chosen[_PERIOD], written, chosen[1:])
            elif written:
                newest[topic] = None
            else:
                again[topic] = group[0][_PERIOD] - 1
        if not again:
            return newest
        older = ((json.dumps([topic]), version, known, below) for topic, below in again.items())
        cells, again = chain(view.executemany(_STANDING, older)), {}
    return newest | dict.fromkeys(found[0] for found in cells)


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
    found = [
        row
        for frequency in frequencies
        if (row := _newest(view, selection, indicator, entity, frequency, version, as_of)) is not None
    ]
    return _best(found)


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
        table = "(SELECT value FROM json_each(?)) n CROSS JOIN topic ON topic.topic = n.value"
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
    view: View, selection: Selection, indicator: str, entity: str, frequency: str, version: int, as_of: int | None
) -> ObservationRow | None:
    one = msgspec.structs.replace(selection, indicators=(indicator,), entities=(entity,), frequency=frequency)
    after: list[Any] | None = None
    limit = 1
    while True:
        rows, after = view.page(
            one, version=version, as_of=as_of, every=False, sort="topic", descending=True, after=after, limit=limit
        )
        for row in rows:
            if not row.flags & FORECAST:
                return row
        if after is None:
            return None
        limit = 100  # only forecasts so far: they may go on for years


def frequencies_of(view: View, indicator: str, entity: str) -> list[str]:
    """Frequencies in which an indicator exists for an entity."""
    found = view.execute("SELECT frequency FROM topic WHERE indicator = ? AND entity = ?", (indicator, entity))
    return [row[0] for row in found]


#: Places of columns behind the number of the topic: of both tables, then of `vintages`.
_PERIOD, _SERIES, _KNOWN, _FLAGS, _LINEAGE, _VALUE, _TEXT = 1, 2, 3, 6, 7, 8, 9
_OPEN = "{0}.from_version <= ?2 AND {0}.to_version > ?2"


def _query(table: str, columns: str, borrow: str, known: str, bound: str, standing: str = "") -> str:
    """
    Rows of the newest cell of topics that has one that is no forecast: bound are the topics, the version, the moment, and
    the highest key. `standing`: what else is true of that one.
    """
    newest = (
        f"SELECT y.period FROM {table} y WHERE y.topic = n.value AND y.flags & {FORECAST} = 0"
        f" AND {(_OPEN + known).format('y')}{bound}{standing} ORDER BY y.period DESC LIMIT 1"
    )
    return (
        f"SELECT x.topic, {columns} FROM json_each(?1) n CROSS JOIN {table} x ON x.topic = n.value AND x.period = ({newest})"
        f" {borrow} WHERE {(_OPEN + known).format('x')}"
    )


_KNOWN_BY, _BELOW = " AND {0}.known_at <= ?3", " AND y.period <= ?4"
_NOW = _query("current", CURRENT, "", "", "")
_THEN = _query("vintages", f"{VINTAGE}, {BORROWED}", BORROW, _KNOWN_BY, _BELOW)
#: Not one that was withdrawn or superseded by then.
_STANDING = _query(
    "vintages", f"{VINTAGE}, {BORROWED}", BORROW, _KNOWN_BY, _BELOW,
    " AND (y.value IS NOT NULL OR y.text IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM vintages z WHERE z.topic = y.topic"
    f" AND z.period = y.period AND z.series = y.series AND z.known_at > y.known_at AND {(_OPEN + _KNOWN_BY).format('z')})",
)  # fmt: skip
