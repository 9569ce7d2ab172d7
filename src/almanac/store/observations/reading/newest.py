"""
Newest readings: of an indicator for an entity the newest period that is no forecast, then the higher frequency, then the
preferred row. One by one, as a list, and as a column of all entities.

A row that may not be sent is no reading as long as there is one that may: it would hide what is public. Where all of them may
not, it is the newest.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from almanac.domain.observations import AHEAD, quality
from almanac.domain.periods import SPAN_BITS, Frequency, lowest_key
from almanac.store.engine.deadline import check_deadline
from almanac.store.engine.sql_compat import in_list, number_list
from almanac.store.observations.reading.metadata import MetadataCache, SeriesInfo
from almanac.store.observations.reading.pages import ObservationRow, PreferredSeries, read_page, row_of
from almanac.store.observations.reading.query import (
    EVER,
    FLAGS,
    HAS_VALUE,
    KNOWN,
    LINEAGE,
    NO_COMPANY,
    PERIOD,
    SERIES,
    TEXT,
    VALUE,
    VINTAGE,
    Conditions,
    Found,
    ObservationFilter,
    ObservationQuery,
    in_order,
    of_sources,
    valid_at_sql,
)
from almanac.store.observations.reading.reader import View

#: Pairs looked at beyond what a page lacks: some have no reading.
_SPARE = 16
#: Columns kept at most: all fields that can be screened by, at two versions. Some fifty megabytes where there are 6,000 companies.
_COLUMNS = 512

Integers = npt.NDArray[np.int64]
#: What checks may say of a reading, the best first.
QUALITIES = ("ok", "warning", "failed")


def _newest_sql(columns: str, topics: str) -> str:
    """
    Return the statement for all rows of the newest cell of each topic that has a row which is no forecast.

    `columns`: two, which stand before `VINTAGE`; `topics`: a table of topics `t`. Bound is something of these, then version and moment.
    """
    return (
        f"SELECT {columns}, {VINTAGE} FROM {topics} CROSS JOIN vintages x ON x.topic = t.topic AND x.period = ("
        f"SELECT y.period FROM vintages y WHERE y.topic = t.topic AND y.flags & {AHEAD} = 0 AND {valid_at_sql('?2', '?3', 'y')}"
        f" AND {HAS_VALUE.format('y')} ORDER BY y.period DESC LIMIT 1)"
        f" WHERE {valid_at_sql('?2', '?3')} AND {HAS_VALUE.format('x')}"
    )


_OF_TOPICS = _newest_sql("t.topic, 0", f"{number_list('?1')} n CROSS JOIN topic t ON t.topic = n.value")
_OF_INDICATOR = _newest_sql("t.entity, t.frequency", "topic t") + " AND t.indicator = ?1 ORDER BY t.entity, t.frequency"


# -- one reading --------------------------------------------------------------------------------------------------------


def reading(
    view: View, asked: ObservationFilter, indicator: str, entity: str, *, version: int, as_of: int | None
) -> ObservationRow | None:
    """Return the newest reading of one indicator for one entity, None where there is none."""
    frequencies = [topic.frequency for topic in view.directory.topics(indicator, entity)]

    def newest(among: ObservationFilter, *, public: bool) -> ObservationRow | None:
        pair = msgspec.structs.replace(among, indicators=(indicator,), entities=(entity,))
        of_topics = [
            _newest_of_topic(view, msgspec.structs.replace(pair, frequency=frequency), version, as_of, public=public)
            for frequency in frequencies
            if asked.frequency in {None, frequency}
        ]
        return max((row for row in of_topics if row is not None), key=_recency, default=None)

    best = newest(asked, public=False)
    if best is None or not _is_withheld(view, best):
        return best
    public = public_sources(view, indicator, entity)
    sources = public if asked.sources is None else public & asked.sources
    return newest(msgspec.structs.replace(asked, sources=sources), public=True) or best


def public_sources(view: View, indicator: str, entity: str) -> frozenset[str]:
    """Return the sources that have a series of an indicator for an entity which may be sent."""
    every = [view.directory.series(number) for number in numbers_of(view, indicator, entity)]
    return frozenset(series.source.id for series in every if not series.rights.withheld)


def numbers_of(view: View, indicator: str, entity: str) -> list[int]:
    """Return the numbers of the series of an indicator for an entity that have vintages."""
    sql = "SELECT s.series FROM series s JOIN topic t USING(topic) WHERE t.indicator = ? AND t.entity = ? AND s.vintages > 0"
    return [number for (number,) in view.execute(sql, (indicator, entity))]


def _newest_of_topic(
    view: View, topic: ObservationFilter, version: int, as_of: int | None, *, public: bool
) -> ObservationRow | None:
    """Return the newest row of a topic that is no forecast; with `public`, that may be sent too."""
    after: list[Any] | None = None
    limit = 1
    while True:
        rows, after = read_page(view, ObservationQuery(topic, version, as_of, limit, after, descending=True))
        for row in rows:
            if not row.flags & AHEAD and not (public and _is_withheld(view, row)):
                return row
        if after is None:
            return None
        limit = 100  # only forecasts so far, or what may not be sent: they may go on for years


def _is_withheld(view: View, row: ObservationRow) -> bool:
    return view.directory.row_rights(row.series, row.lineage).withheld


def _recency(row: ObservationRow) -> tuple[int, int]:
    """Return by what the newest rows of several frequencies are compared."""
    return row.period >> SPAN_BITS, -row.series.spec.frequency.rank


# -- a list of readings -------------------------------------------------------------------------------------------------


class WantedFreshness(NamedTuple):
    """Which readings are wanted: of series that are `fresh`, `stale` or `unknown` on a day."""

    status: str
    today: date


class _Pair(NamedTuple):
    """An indicator of an entity, and the numbers of its topics."""

    indicator: str
    entity: str
    topics: list[int]


def read_latest(
    view: View,
    query: ObservationQuery,
    accept: Callable[[SeriesInfo], bool] = lambda _: True,
    freshness: WantedFreshness | None = None,
) -> tuple[list[ObservationRow], list[Any] | None]:
    """
    Return one row per (indicator, entity), in that order, and the pair to go on after (None: that was all).

    Only rows of series that `accept` takes. `freshness` says which it cannot take: their topics are not looked at.
    """
    asked, limit = query.filter, query.limit
    if asked.empty:
        return [], None
    rows: list[ObservationRow] = []
    last: list[Any] | None = None
    pairs = _pairs(view, query, freshness)
    while chunk := list(islice(pairs, limit + _SPARE - len(rows))):
        check_deadline()
        newest = _newest_rows(view, query, [topic for pair in chunk for topic in pair.topics])
        for pair in chunk:
            of_topics = [newest[topic] for topic in pair.topics if topic in newest]
            readings = [row for row in of_topics if row is not None]
            row = max(readings, key=_recency, default=None)
            if len(readings) < len(of_topics) or (row is not None and _is_withheld(view, row)):
                row = reading(view, asked, pair.indicator, pair.entity, version=query.version, as_of=query.as_of)
            if row is None or not accept(row.series):
                continue
            if len(rows) == limit:
                return rows, last
            rows.append(row)
            last = [pair.indicator, pair.entity]
    return rows, None


def _newest_rows(view: View, query: ObservationQuery, topics: Sequence[int]) -> dict[int, ObservationRow | None]:
    """
    Return the newest row of each topic that is no forecast; one without any is left out. None: that takes a look at each cell.

    It is one of the newest cell with such a row: newer ones have none but forecasts. There only the choice among several
    rows may end with a forecast, or with none: then it is of an older cell. A cell that ends before a plan's window leaves
    none behind it, all older ones do too; other bounds take a look at each.
    """
    asked, metadata = query.filter, view.directory
    first = 0 if asked.ends_from is None else lowest_key(asked.ends_from)
    bounded = asked.bounded or asked.starts_from is not None or asked.ends_by is not None
    preferred = PreferredSeries(metadata, query.version)
    cells: dict[int, list[Found]] = {}
    for row in view.execute(_OF_TOPICS, (json.dumps(topics), query.version, query.moment)):
        if row[PERIOD] >= first:
            cells.setdefault(row[0], []).append(row)
    newest: dict[int, ObservationRow | None] = {}
    for topic, cell in cells.items():
        if asked.sources is not None:
            cell = [row for row in cell if metadata.series(row[SERIES]).source.id in asked.sources]
        chosen = preferred.preferred(cell) if cell and not bounded else None
        newest[topic] = None if chosen is None or chosen[FLAGS] & AHEAD else row_of(metadata, chosen)
    return newest


def _pairs(view: View, query: ObservationQuery, freshness: WantedFreshness | None) -> Iterator[_Pair]:
    """Yield (indicator, entity) in order, with their topics; of those alone that may have a reading of a freshness."""
    asked = query.filter
    where = Conditions()
    for column, names in (("t.indicator", asked.indicators), ("t.entity", asked.entities)):
        if names is not None:
            where.add(in_list(column, names), *names)
    for column, name in (("t.frequency", asked.frequency), ("t.kind", asked.kind)):
        if name is not None:
            where.add(f"{column} = ?", name)
    if not asked.companies:
        where.add(NO_COMPANY.format("t.entity"))
    if asked.sources is not None:
        condition, named = of_sources(asked.sources, "t.topic")
        where.add(condition, *named)
    if query.after is not None:
        where.add(f"(t.indicator, t.entity) {'<' if query.descending else '>'} (?, ?)", *query.after)
    # The figures of series are those of the newest version.
    if query.version == view.version and (freshness is not None or query.as_of is not None):
        may_be = _may_be(view.directory, freshness, query.as_of)
        if freshness is not None and freshness.status == "unknown":  # few series may be
            few = f"series s CROSS JOIN topic o ON o.topic = s.topic WHERE {may_be.where}"
            where.add(f"(t.indicator, t.entity) IN (SELECT o.indicator, o.entity FROM {few})", *may_be.values)
        else:
            of_pair = "topic o CROSS JOIN series s ON s.topic = o.topic WHERE (o.indicator, o.entity) = (t.indicator, t.entity)"
            where.add(f"EXISTS (SELECT 1 FROM {of_pair} AND {may_be.where})", *may_be.values)
    order = in_order("t.indicator", "t.entity", descending=query.descending)
    sql = f"SELECT t.indicator, t.entity, t.topic FROM topic t WHERE {where.where} ORDER BY {order}"
    for (indicator, entity), topics in groupby(view.scan(sql, where.values), key=itemgetter(0, 1)):
        yield _Pair(indicator, entity, [topic for _, _, topic in topics])


def _may_be(metadata: MetadataCache, wanted: WantedFreshness | None, as_of: int | None) -> Conditions:
    """
    Return what is true of a series `s` of a topic `o` that may have a reading of a freshness, as known at a moment.

    A series that has a reading is unknown only where it is judged by its source's fetches. By a past moment a newest period was the
    same one unless something became known since, and none that is newer unless a value was taken back.
    """
    where = Conditions()
    if as_of is not None:
        where.add("s.first_known <= ?", as_of)
    if wanted is None:
        return where
    special = metadata.custom_freshness()
    custom = in_list("s.series", special)
    if wanted.status == "unknown":
        where.add(custom, *special)
        return where
    allowances = " ".join(f"WHEN '{frequency.value}' THEN {frequency.allowance_days}" for frequency in Frequency)
    # A day is fresh that lies no further back than the frequency allows.
    sign = ">=" if wanted.status == "fresh" else "<"
    ends = f"(s.last_period >> {SPAN_BITS}) {sign} ? - CASE o.frequency {allowances} END"
    revised = " AND s.rows <> s.vintages" if wanted.status == "fresh" else ""
    since, moment = ("", []) if as_of is None else (f"(s.last_known > ?{revised}) OR ", [as_of])
    where.add(f"({since}{ends} OR {custom})", *moment, wanted.today.toordinal(), *special)
    return where


# -- a column of readings -----------------------------------------------------------------------------------------------


class Column(NamedTuple):
    """
    Newest readings of one indicator, in arrays of one length.

    `entities`: numbers of entities, as `Readings.numbers` gives them. `values`: NaN where the reading is a text or may
    not be sent; so is the text None. `unit`: places among `units`, which are distinct. `periods` are keys, `known` unix
    seconds, `series` numbers of series.
    """

    entities: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    texts: tuple[str | None, ...]
    unit: npt.NDArray[np.int16]
    units: tuple[str | None, ...]
    periods: Integers
    known: Integers
    series: Integers
    withheld: npt.NDArray[np.bool_]
    #: What checks say of each reading: 0 ok, 1 warning, 2 failed, as places in `QUALITIES`.
    quality: npt.NDArray[np.int8]

    def rows(self, numbers: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
        """Return where the readings of these entities stand, -1 for those that have none."""
        places = np.full(max(numbers.max(initial=-1), self.entities.max(initial=-1)) + 1, -1, dtype=np.intp)
        places[self.entities] = np.arange(len(self.entities))
        chosen: npt.NDArray[np.intp] = places[numbers]
        return chosen


class Readings:
    """Columns of one process, for all its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: Held while a column is made: those who want the same one wait for it.
        self._making = threading.Lock()
        self._columns: LRUCache[tuple[Any, ...], Column] = LRUCache(_COLUMNS)
        self._numbers: dict[str, int] = {}

    def numbers(self, entities: Iterable[str]) -> npt.NDArray[np.int32]:
        """Return a small number for each entity, the same for as long as the process lives."""
        with self._lock:
            numbers = self._numbers
            return np.array([numbers.setdefault(entity, len(numbers)) for entity in entities], dtype=np.int32)

    def column(self, view: View, indicator: str, *, version: int, as_of: int | None) -> Column:
        """
        Return the column of an indicator at a data version; as known at `as_of`, where that is given (unix seconds).

        Rights are those of now, whatever the version.
        """
        # Rights are part of the metadata: a change of them is a new reference version.
        key = (indicator, view.epoch, version, view.directory.reference, as_of)
        with self._lock:
            column = self._columns.get(key)
        if column is not None:
            return column
        with self._making:
            with self._lock:
                column = self._columns.get(key)
            if column is None:
                column = self._made(view, indicator, version, as_of)
                with self._lock:
                    self._columns[key] = column
        return column

    def _made(self, view: View, indicator: str, version: int, as_of: int | None) -> Column:
        rows, withheld = _public(view, indicator, _best(view, indicator, version, as_of), version, as_of)
        sql = "SELECT s.series, p.unit FROM topic t CROSS JOIN series s ON s.topic = t.topic CROSS JOIN spec p USING(spec)"
        unit_of = dict(view.execute(f"{sql} WHERE t.indicator = ?", (indicator,)))
        units = [unit_of[row[SERIES]] for row in rows]
        places = {unit: place for place, unit in enumerate(dict.fromkeys(units))}
        return Column(
            self.numbers(row[0] for row in rows),
            np.array([row[VALUE] for row in rows], dtype=np.float64),
            tuple(row[TEXT] for row in rows),
            np.array([places[unit] for unit in units], dtype=np.int16),
            tuple(places),
            np.array([row[PERIOD] for row in rows], dtype=np.int64),
            np.array([row[KNOWN] for row in rows], dtype=np.int64),
            np.array([row[SERIES] for row in rows], dtype=np.int64),
            np.array(withheld, dtype=np.bool_),
            np.array([QUALITIES.index(quality(row[FLAGS])) for row in rows], dtype=np.int8),
        )


def _best(view: View, indicator: str, version: int, as_of: int | None) -> list[Found]:
    """Return the newest row of each entity, whether it may be sent or not. Before `VINTAGE` stand entity and frequency."""
    rows = view.execute(_OF_INDICATOR, (indicator, version, EVER if as_of is None else as_of)).fetchall()
    if len({row[0] for row in rows}) == len(rows) and not any(row[FLAGS] & AHEAD for row in rows):
        return rows
    preferred = PreferredSeries(view.directory, version)
    best: list[Found] = []
    for entity, of_entity in groupby(rows, key=itemgetter(0)):
        of_topics: list[Found] = []
        for frequency, cell in groupby(of_entity, key=itemgetter(1)):
            row: Found | None = preferred.preferred(list(cell))
            if row is not None and row[FLAGS] & AHEAD:  # older cells tell
                only = ObservationFilter(frequency=frequency)
                row = _as_found(reading(view, only, indicator, entity, version=version, as_of=as_of))
            of_topics += [] if row is None else [row]
        if of_topics:
            best.append(max(of_topics, key=lambda row: (row[PERIOD] >> SPAN_BITS, -Frequency(row[1]).rank)))
    return best


def _public(
    view: View, indicator: str, rows: list[Found], version: int, as_of: int | None
) -> tuple[list[Found], list[bool]]:
    """Replace newest rows that may not be sent by such as may, else leave their values out; and return of which that is so."""
    origins = [(row[SERIES], row[LINEAGE]) for row in rows]
    withheld = view.directory.withheld(origins)
    readings: list[Found] = []
    hidden: list[bool] = []
    for row, origin in zip(rows, origins, strict=True):
        shown = row
        if origin in withheld:
            other = reading(view, ObservationFilter(), indicator, row[0], version=version, as_of=as_of)
            if other is None or _is_withheld(view, other):
                shown = (*row[:VALUE], None, None, *row[TEXT + 1 :])
            else:
                shown = _as_found(other) or row
        readings.append(shown)
        hidden.append(origin in withheld and shown[VALUE] is None and shown[TEXT] is None)
    return readings, hidden


def _as_found(row: ObservationRow | None) -> Found | None:
    """Return a row as it is found, behind its entity and frequency."""
    if row is None:
        return None
    spec = row.series.spec
    return (spec.entity, spec.frequency.value, row.period, row.series.number, *row[2:])
