"""The latest reading of an indicator for an entity: newest period that is no forecast, then the higher frequency,
then the preferred order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from almanac.domain.observations import FORECAST
from almanac.domain.periods import SPAN_BITS, Frequency, lowest_key
from almanac.store.engine.patience import check
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.rows import (
    BORROW,
    BORROWED,
    CURRENT,
    VINTAGE,
    ObservationRow,
    RowReader,
)
from almanac.store.observations.reading.selection import NO_COMPANY, Selection, of_sources
from almanac.store.observations.reading.states import EVER
from almanac.store.observations.reading.wanted_keys import reachable

#: Pairs looked at beyond what a page lacks: some have no reading.
_SPARE = 16
#: Of so many topics at most it is remembered that they may have a reading of a freshness, and for so many questions.
_RARE, _STATES_HELD = 20_000, 8
#: So many pairs of those at once.
_CHUNK = 1_000


class WantedFreshness(NamedTuple):
    """Which readings are wanted: of series that are `fresh`, `stale` or `unknown` on a day."""

    status: str
    today: date


class _Pair(NamedTuple):
    """An indicator of an entity, with the frequencies there are, and the number of the topic of each."""

    indicator: str
    entity: str
    frequencies: list[str]
    topics: list[int]


def latest(
    view: View,
    selection: Selection,
    *,
    version: int,
    as_of: int | None,
    descending: bool,
    after: list[Any] | None,
    limit: int,
    accept: Callable[[ObservationRow], bool] | None = None,
    freshness: WantedFreshness | None = None,
) -> tuple[list[ObservationRow], list[Any] | None]:
    """
    One row per (indicator, entity), in that order, and the pair to go on after (None: that was all).

    Only rows that `accept` takes. `freshness` says which it cannot take: their topics are not looked at.
    """
    rows: list[ObservationRow] = []
    last: list[Any] | None = None
    if selection.empty:
        return rows, None
    hopeful = None if freshness is None else _hopeful(view, freshness, as_of, current=version == view.version)
    pairs = _pairs(view, reachable(view, selection, as_of), descending, after, hopeful)
    while some := list(islice(pairs, limit + _SPARE - len(rows))):
        check()
        found = newest_of_topics(view, selection, [topic for one in some for topic in one.topics], version, as_of)
        for pair in some:
            row = _of_pair(view, selection, pair, found, version, as_of)
            if row is None or (accept is not None and not accept(row)):
                continue
            if len(rows) == limit:
                return rows, last
            rows.append(row)
            last = [pair.indicator, pair.entity]
    return rows, None


def _of_pair(
    view: View,
    selection: Selection,
    pair: _Pair,
    found: dict[int, ObservationRow | None],
    version: int,
    as_of: int | None,
) -> ObservationRow | None:
    """What `reading` says of a pair, whose topics were looked at together with others; it is asked where that did not tell."""
    rows = [found[topic] for topic in pair.topics if topic in found]
    if None in rows:
        return reading(view, selection, pair.indicator, pair.entity, pair.frequencies, version=version, as_of=as_of)
    return _best(row for row in rows if row is not None)


def _best(rows: Iterable[ObservationRow]) -> ObservationRow | None:
    """Of the newest rows in several frequencies the latest reading."""
    return max(rows, key=lambda row: (row.period >> SPAN_BITS, -row.series.spec.frequency.rank), default=None)


def newest_of_topics(
    view: View, selection: Selection, topics: Sequence[int], version: int, as_of: int | None
) -> dict[int, ObservationRow | None]:
    """
    The newest row of each topic that is no forecast; one without any is left out. None: that takes a look at older cells.

    It is one of the newest cell with such a row: newer ones have none but forecasts. There only the choice among several
    rows may end with a forecast, or with none. A cell that ends before a plan's window leaves none behind it, all older
    ones do too; other bounds take a look at each.
    """
    first = 0 if selection.ends_from is None else lowest_key(selection.ends_from)
    otherwise = selection.bounded or selection.starts_from is not None or selection.ends_by is not None
    directory, sources = view.directory, selection.sources
    reader = RowReader(directory)
    shown = [] if as_of is not None else view.execute(_NOW, (json.dumps(topics), version)).fetchall()
    # Of those that have no row there all cells are withdrawn, or they are a company's.
    left = set(topics).difference(found[0] for found in shown)
    bound = (json.dumps([topic for topic in topics if topic in left]), version, EVER if as_of is None else as_of)
    stated = view.execute(_THEN, bound) if left else ()
    newest: dict[int, ObservationRow | None] = {}
    # Not every engine keeps the rows of a topic together.
    for topic, rows_of in groupby(sorted(chain(shown, stated), key=itemgetter(0)), key=itemgetter(0)):
        group, read = list(rows_of), reader.stated if topic in left else reader.shown
        if group[0][_PERIOD] < first:
            continue
        if otherwise:
            newest[topic] = None
            continue
        last: dict[int, tuple[Any, ...]] = {}
        for found in group:
            if found[_SERIES] not in last or found[_KNOWN] > last[found[_SERIES]][_KNOWN]:
                last[found[_SERIES]] = found
        rows = [read(one[1:]) for one in last.values()]
        if sources is not None:
            rows = [row for row in rows if row.series.source.id in sources]
        rows = [row for row in rows if not row.withdrawn]
        chosen = (
            min(rows, key=lambda row: directory.preference_key(row.series.number, row.lineage, version))
            if len(rows) > 1
            else rows[0]
            if rows
            else None
        )
        newest[topic] = None if chosen is None or chosen.flags & FORECAST else chosen
    return newest


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


class _Hopeful(NamedTuple):
    """Which pairs may have a reading of a freshness: a condition on a topic `o` of one; or all of them, a chunk at a time."""

    condition: str
    values: Sequence[Any]
    chunks: list[_Chunk] | None


class _Chunk(NamedTuple):
    """Some neighbours among pairs in order: the first and the last one, and all their topics, as JSON."""

    first: tuple[str, str]
    last: tuple[str, str]
    topics: str


def _hopeful(view: View, wanted: WantedFreshness, as_of: int | None, *, current: bool) -> _Hopeful | None:
    """
    What a pair must have so that its reading can be of a freshness: one series that may be so. None: any may.

    A series that has a reading is unknown only where it is judged by its source's fetches. Which are fresh and which
    stale is told by the newest periods that are counted of series, where the `current` version is asked for: by a past
    moment it was the same one unless something became known since, and none that is newer unless a value was taken back.
    """
    special = view.directory.judged_otherwise()
    if wanted.status == "unknown":
        condition, values = f"s.series IN ({', '.join('?' * len(special))})", special
    elif not current:
        return None
    else:
        allowances = " ".join(f"WHEN '{one.value}' THEN {one.allowance_days}" for one in Frequency)
        # A day is fresh that lies no further back than the frequency allows.
        sign = ">=" if wanted.status == "fresh" else "<"
        ends = f"(s.last_period >> {SPAN_BITS}) {sign} ? - CASE o.frequency {allowances} END"
        revised = " AND s.rows <> s.vintages" if wanted.status == "fresh" else ""
        since = "" if as_of is None else f"(s.last_known > ?{revised}) OR "
        condition = f"({since}{ends} OR s.series IN ({', '.join('?' * len(special))}))"
        values = [*([] if as_of is None else [as_of]), wanted.today.toordinal(), *special]
        if as_of is not None:
            condition = f"(s.first_known <= ? AND {condition})"
            values.insert(0, as_of)
    held: dict[Any, list[_Chunk] | None] = view.shared.setdefault("topics that may be of a freshness", {})
    key = (wanted, as_of)
    if key in held:
        chunks = held[key]
    else:
        found = view.execute(
            "SELECT t.indicator, t.entity, t.topic FROM (SELECT DISTINCT o.indicator, o.entity FROM series s CROSS JOIN topic o ON o.topic = s.topic"
            f" WHERE {condition} LIMIT {_RARE + 1}) p CROSS JOIN topic t ON t.indicator = p.indicator AND t.entity = p.entity"
            " ORDER BY t.indicator, t.entity",
            values,
        ).fetchall()
        if len(held) >= _STATES_HELD:
            held.clear()
        # Of many the list comes to a page soon enough; few are rather looked up.
        chunks = held[key] = None if len(found) > _RARE else list(_chunks(found))
    return _Hopeful(condition, values, chunks)


def _chunks(found: list[tuple[str, str, int]]) -> Iterator[_Chunk]:
    """Topics of pairs in order, as (indicator, entity, topic), in chunks; none parts a pair."""
    pairs = groupby(found, key=itemgetter(0, 1))
    while some := [(pair, [one[2] for one in group]) for pair, group in islice(pairs, _CHUNK)]:
        yield _Chunk(some[0][0], some[-1][0], json.dumps([topic for _, topics in some for topic in topics]))


def _pairs(
    view: View, selection: Selection, descending: bool, after: list[Any] | None, hopeful: _Hopeful | None
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
    if selection.sources is not None:
        condition, named = of_sources(selection.sources, "topic.topic")
        conditions.append(condition)
        values.extend(named)
    if after is not None:
        conditions.append(f"(indicator, entity) {'<' if descending else '>'} (?, ?)")
        values.extend(after)
    table, leads = "topic", [list[Any]()]
    if hopeful is not None and hopeful.chunks is not None:
        table = "(SELECT value FROM json_each(?)) n CROSS JOIN topic ON topic.topic = n.value"
        passed = () if after is None else tuple(after)
        left = [
            one for one in hopeful.chunks if not passed or (one.first < passed if descending else one.last > passed)
        ]
        leads = [[one.topics] for one in (reversed(left) if descending else left)]
    elif hopeful is not None:
        conditions.append(
            "EXISTS (SELECT 1 FROM topic o CROSS JOIN series s ON s.topic = o.topic"
            f" WHERE o.indicator = topic.indicator AND o.entity = topic.entity AND {hopeful.condition})"
        )
        values.extend(hopeful.values)
    way = "DESC" if descending else ""
    sql = f"SELECT indicator, entity, frequency, topic FROM {table} WHERE {' AND '.join(conditions)} ORDER BY indicator {way}, entity {way}, frequency"
    for lead in leads:
        for (indicator, entity), group in groupby(view.scan(sql, [*lead, *values]), key=itemgetter(0, 1)):
            topics = list(group)
            yield _Pair(indicator, entity, [found[2] for found in topics], [found[3] for found in topics])


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


#: Places of columns behind the number of the topic.
_PERIOD, _SERIES, _KNOWN = 1, 2, 3
_OPEN = "{0}.from_version <= ?2 AND {0}.to_version > ?2"


def _query(table: str, columns: str, borrow: str, known: str) -> str:
    """Rows of the newest cell of topics that has one that is no forecast: bound are the topics, the version, and the moment."""
    newest = (
        f"SELECT y.period FROM {table} y WHERE y.topic = n.value AND y.flags & {FORECAST} = 0"
        f" AND {(_OPEN + known).format('y')} ORDER BY y.period DESC LIMIT 1"
    )
    return (
        f"SELECT x.topic, {columns} FROM json_each(?1) n CROSS JOIN {table} x ON x.topic = n.value AND x.period = ({newest})"
        f" {borrow} WHERE {(_OPEN + known).format('x')}"
    )


_NOW = _query("current", CURRENT, "", "")
_THEN = _query("vintages", f"{VINTAGE}, {BORROWED}", BORROW, " AND {0}.known_at <= ?3")
