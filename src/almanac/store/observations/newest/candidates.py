"""
Which pairs of an indicator and an entity may have a reading of a freshness, or had one by a past day.

Told by what is counted of series, and for a past day by their newest period then; so none is looked at in vain while a page
is found. What was learnt is remembered for a state of the store.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple

from almanac.domain.observations import AHEAD
from almanac.domain.periods import SPAN_BITS, Frequency
from almanac.store.engine.deadline import check_deadline
from almanac.store.engine.sql_compat import in_list
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.selection import HAS_VALUE, Conditions, Selection, in_order, standing

#: Of so many topics at most it is remembered that they had a reading by a past day, and for so many questions.
_RARE, _STATES_HELD = 20_000, 8
#: So many pairs of those at once.
_CHUNK = 250
#: So many series are gone through between two looks at whether the question is still waited for.
_BETWEEN = 4_096
#: That pairs are many is remembered too.
_UNKNOWN: Any = object()


class WantedFreshness(NamedTuple):
    """Which readings are wanted: of series that are `fresh`, `stale` or `unknown` on a day."""

    status: str
    today: date


class Candidates(NamedTuple):
    """
    Which pairs may have a reading that is wanted: a condition on a series `s` of one; or all of them, a chunk at a time, in
    the order asked for.
    """

    condition: str
    values: Sequence[Any]
    chunks: Iterable[Chunk] | None


class Chunk(NamedTuple):
    """Some neighbours among pairs in order: the lowest and the highest one, and all their topics, as JSON."""

    first: tuple[str, str]
    last: tuple[str, str]
    topics: str


class FoundChunks:
    """Chunks that were found of one question, one way: as far as pages needed them. Threads share them."""

    def __init__(self) -> None:
        self._chunks: list[Chunk] = []
        #: The pair looked at last, and whether that was the last there is.
        self._last: tuple[str, str] | None = None
        self._ended = False
        self._lock = threading.Lock()

    def chunks(self, more: Callable[[tuple[str, str] | None], MoreChunks]) -> Iterator[Chunk]:
        """All of them in order; `more` finds some behind a pair."""
        place = 0
        while True:
            with self._lock:
                # Another thread may have added some since the last of these was given.
                new, last, ended = self._chunks[place:], self._last, self._ended
            yield from new
            place += len(new)
            if new:
                continue
            if ended:
                return
            found = more(last)
            with self._lock:
                if self._last == last and not self._ended:  # else another thread came first
                    self._chunks += found.chunks
                    self._last, self._ended = found.last, found.ended


class MoreChunks(NamedTuple):
    """Chunks of pairs, the pair up to which they are all, and whether that is the end."""

    chunks: list[Chunk]
    last: tuple[str, str] | None
    ended: bool


def candidates(
    view: View, selection: Selection, wanted: WantedFreshness | None, as_of: int | None, *, descending: bool = False
) -> Candidates | None:
    """The pairs that may have a reading of a freshness as known by a moment, at the newest data version. None: any may."""
    if wanted is None and as_of is None:
        return None
    query = Conditions()
    if as_of is not None:
        query.add("s.first_known <= ?", as_of)
    named = selection.indicators is not None or selection.entities is not None
    if wanted is not None:
        if not named and wanted.status != "unknown":
            key = (
                wanted,
                as_of,
                selection.kind,
                selection.frequency,
                selection.sources,
                _bounded(selection),
                descending,
            )
            held: FoundChunks = _remembered(view, key, FoundChunks)

            def more(after: tuple[str, str] | None) -> MoreChunks:
                return _judged(view, selection, wanted, as_of, descending=descending, after=after)

            return Candidates("TRUE", [], held.chunks(more))
        _may_be(query, view, wanted, as_of)
    few: list[Chunk] | None = None if named else _remembered(view, (wanted, as_of), lambda: _few(view, query))
    return Candidates(query.where, query.values, few[::-1] if few is not None and descending else few)


def _bounded(selection: Selection) -> bool:
    """Whether readings have other bounds, within which the newest of a series may not be."""
    return selection.bounded or selection.starts_from is not None or selection.ends_by is not None


def _may_be(query: Conditions, view: View, wanted: WantedFreshness, as_of: int | None) -> None:
    """
    What is true of a series that may be of a freshness. One that has a reading is unknown only where it is judged by its
    source's fetches. By a past moment a newest period was the same one unless something became known since, and none that
    is newer unless a value was taken back.
    """
    special = view.directory.judged_otherwise()
    otherwise = in_list("s.series", special)
    if wanted.status == "unknown":
        query.add(otherwise, *special)
        return
    allowances = " ".join(f"WHEN '{one.value}' THEN {one.allowance_days}" for one in Frequency)
    # A day is fresh that lies no further back than the frequency allows.
    sign = ">=" if wanted.status == "fresh" else "<"
    ends = f"(s.last_period >> {SPAN_BITS}) {sign} ? - CASE o.frequency {allowances} END"
    revised = " AND s.rows <> s.vintages" if wanted.status == "fresh" else ""
    since = "" if as_of is None else f"(s.last_known > ?{revised}) OR "
    query.add(
        f"({since}{ends} OR {otherwise})", *([] if as_of is None else [as_of]), wanted.today.toordinal(), *special
    )


def _remembered(view: View, key: Any, find: Callable[[], Any]) -> Any:
    """What was found for a question, for as long as the state of the store lasts."""
    held: dict[Any, Any] = view.shared.setdefault("pairs that may have a reading", {})
    known = held.get(key, _UNKNOWN)
    if known is _UNKNOWN:
        known = find()
        if len(held) >= _STATES_HELD:
            held.clear()
        held[key] = known
    return known


def _few(view: View, query: Conditions) -> list[Chunk] | None:
    """The pairs with a series of which something is true; None where they are many: of those a page is met soon enough."""
    found = view.execute(
        "SELECT t.indicator, t.entity, t.topic FROM (SELECT DISTINCT o.indicator, o.entity FROM series s CROSS JOIN topic o ON o.topic = s.topic"
        f" WHERE {query.where} LIMIT {_RARE + 1}) p CROSS JOIN topic t ON t.indicator = p.indicator AND t.entity = p.entity"
        " ORDER BY t.indicator, t.entity",
        query.values,
    ).fetchall()
    return None if len(found) > _RARE else list(_chunks(found))


def _chunks(found: Iterable[tuple[str, str, int]]) -> Iterator[Chunk]:
    """Topics of pairs in order, as (indicator, entity, topic), in chunks; none parts a pair."""
    pairs = groupby(found, key=itemgetter(0, 1))
    while some := [(pair, [one[2] for one in group]) for pair, group in islice(pairs, _CHUNK)]:
        ends = some[0][0], some[-1][0]
        yield Chunk(min(ends), max(ends), json.dumps([topic for _, topics in some for topic in topics]))


class _Series(NamedTuple):
    """A series of a kind, frequency and source that is asked for, and the key of its newest period as known at a moment."""

    indicator: str
    entity: str
    topic: int
    frequency: str
    number: int
    newest: int | None


def _judged(
    view: View,
    selection: Selection,
    wanted: WantedFreshness,
    as_of: int | None,
    *,
    descending: bool,
    after: tuple[str, str] | None,
) -> MoreChunks:
    """
    The pairs whose reading may be of a freshness, in order, from one on: as many as make a chunk.

    It is the newest one of all frequencies. Where several series compete in a topic the newest may not be chosen, where
    some may be sent and others not it may be of one that may, and where readings have other bounds too it may not be within
    them: then each tells.
    """
    special = set(view.directory.judged_otherwise())
    ranks = {one.value: one.rank for one in Frequency}
    oldest = {one.value: wanted.today.toordinal() - one.allowance_days for one in Frequency}
    bounded = _bounded(selection)
    topics: list[tuple[str, str, int]] = []
    pairs, last = 0, after

    def hopeful(one: _Series) -> bool:
        if one.number in special:
            return True
        return one.newest is not None and (one.newest >> SPAN_BITS >= oldest[one.frequency]) is (
            wanted.status == "fresh"
        )

    def order(one: _Series) -> tuple[int, int]:
        return -1 if one.newest is None else one.newest >> SPAN_BITS, -ranks[one.frequency]

    found = _newest_periods(view, selection, as_of, descending=descending, after=after)
    for pair, group in groupby(map(_Series._make, found), key=itemgetter(0, 1)):
        if pairs == _CHUNK:
            return MoreChunks(list(_chunks(topics)), last, False)
        last = pair
        series = list(group)
        alone = not bounded and len({one.topic for one in series}) == len(series)
        if alone and len(series) > 1:
            alone = len({view.directory.series(one.number).rights.withheld for one in series}) == 1
        telling = [max(series, key=order)] if alone else series
        if any(map(hopeful, telling)):
            pairs += 1
            topics += dict.fromkeys(one[:3] for one in series)
    return MoreChunks(list(_chunks(topics)), last, True)


def _newest_periods(
    view: View, selection: Selection, as_of: int | None, *, descending: bool, after: tuple[str, str] | None
) -> Iterator[tuple[Any, ...]]:
    """Series of the kind, frequency and sources asked for, as `_Series`, in the order of lists either way, behind a pair."""
    query = Conditions()
    if after is not None:
        query.add(f"(t.indicator, t.entity) {'<' if descending else '>'} (?, ?)", *after)
    for column, name in (("t.kind", selection.kind), ("t.frequency", selection.frequency)):
        if name is not None:
            query.add(f"{column} = ?", name)
    if selection.sources is not None:
        query.add(in_list("s.source", selection.sources), *sorted(selection.sources))
    newest, values = "s.last_period", list[Any]()
    if as_of is not None:
        query.add("s.first_known <= ?", as_of)
        # Where nothing became known since, it is the one of now.
        newest = f"CASE WHEN s.last_known <= ? THEN s.last_period ELSE ({_NEWEST_PERIOD}) END"
        values = [as_of, view.version, view.version, as_of, as_of]
    sql = (
        f"SELECT t.indicator, t.entity, t.topic, t.frequency, s.series, {newest} FROM topic t CROSS JOIN series s ON s.topic = t.topic"
        f" WHERE {query.where} ORDER BY {in_order('t.indicator', 't.entity', descending=descending)}"
    )
    for count, found in enumerate(view.scan(sql, [*values, *query.values])):
        if not count % _BETWEEN:
            check_deadline()
        yield found


#: The newest period of a series `s` that is no forecast; bound is twice the data version, and twice the moment.
_NEWEST_PERIOD = (
    f"SELECT x.period FROM vintages x WHERE x.topic = s.topic AND x.series = s.series AND {standing('?', '?')}"
    f" AND x.flags & {AHEAD} = 0 AND {HAS_VALUE.format('x')} ORDER BY x.period DESC LIMIT 1"
)
