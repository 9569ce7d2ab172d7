"""
Columns of latest readings: for one indicator, the latest reading of every entity that has one.

It is the reading that almanac.store.observations.newest.latest gives for each pair, found for all entities in one query. A column is kept
while its data version is one of the newest two; a past state, or an older version that a walk is pinned to, is read
from the store and gives the same.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from almanac.domain.observations import AHEAD, quality
from almanac.domain.periods import Frequency, end_of
from almanac.store.observations.newest.latest import frequencies_of, reading
from almanac.store.observations.reading.choose import Origin
from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.row_rights import withheld
from almanac.store.observations.reading.rows import ObservationRow
from almanac.store.observations.reading.selection import EVER, HAS_VALUE, Selection, standing

#: Columns kept at most: all fields that can be screened by, at two versions. Some fifty megabytes where there are 6,000
#: companies. As-of columns serve the pages of one walk. With fewer, the lists of both screeners' fields drove each other out.
_HELD = 512
_VERSIONS = 2
_LINEAGES_HELD = 100_000
#: After the newest version has moved, it is likely to move again: so long columns count as cold, seconds.
_RESTLESS = 30.0

Integers = npt.NDArray[np.int64]
#: What checks may say of a reading, the best first.
QUALITIES = ("ok", "warning", "failed")


class Column(NamedTuple):
    """
    Latest readings of one indicator, in arrays of one length.

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
        """Where the readings of these entities stand, -1 for those that have none."""
        places = np.full(max(numbers.max(initial=-1), self.entities.max(initial=-1)) + 1, -1, dtype=np.intp)
        places[self.entities] = np.arange(len(self.entities))
        found: npt.NDArray[np.intp] = places[numbers]
        return found


class _NewestRow(NamedTuple):
    """One row of the newest cell of a topic."""

    entity: str
    frequency: str
    period: int
    series: int
    lineage: int
    known: int
    flags: int
    unit: str | None
    value: float | None
    text: str | None

    @property
    def stands(self) -> bool:
        """Whether it is a reading, where its topic has no other row in the cell."""
        return not self.flags & AHEAD


class Readings:
    """Columns of one process, for all its threads."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        #: Held while a column is made: those who want the same one wait for it.
        self._making = threading.Lock()
        self._columns: LRUCache[tuple[Any, ...], Column] = LRUCache(_HELD)
        self._numbers: dict[str, int] = {}
        self._newest: dict[str, list[tuple[Any, ...]]] = {}
        self._state: tuple[str, int] | None = None
        #: What was found of lineages' rights, and under which reference version.
        self._judged: dict[int, bool] = {}
        self._under: tuple[str, int] | None = None
        self._monotonic = monotonic
        #: When the newest version last moved, and whether it ever did.
        self._moved, self._ever_moved = -_RESTLESS, False

    def numbers(self, entities: Iterable[str]) -> npt.NDArray[np.int32]:
        """A small number for each entity, the same for as long as the process lives."""
        with self._lock:
            held = self._numbers
            return np.array([held.setdefault(entity, len(held)) for entity in entities], dtype=np.int32)

    def see(self, view: View) -> None:
        """Note which version is the newest, and when it came to be."""
        state = (view.epoch, view.version)
        with self._lock:
            held = self._state
            if held is None:
                self._state = state
            elif state[0] != held[0] or state[1] > held[1]:
                self._state, self._moved, self._ever_moved = state, self._monotonic(), True

    def warm(self, indicators: Iterable[str], *, pinned: bool = False) -> bool:
        """
        Whether today's columns of these indicators are likely to be at hand, so that asking for them takes no time.

        `pinned`: they are asked for at the version of an earlier request, which may not be the newest any more.
        """
        with self._lock:
            if self._state is None or self._monotonic() - self._moved < _RESTLESS or (pinned and self._ever_moved):
                return False
            return all(any(key[1:3] == self._state for key in self._newest.get(name, ())) for name in indicators)

    def column(self, view: View, indicator: str, *, version: int, as_of: int | None) -> Column:
        """
        The column of an indicator at a data version; as known at `as_of`, where that is given (unix seconds).

        Rights are those of now, whatever the version.
        """
        # Rights are part of what readers hold in memory: a change of them is a new reference version.
        key = (indicator, view.epoch, version, view.directory.reference, as_of)
        self.see(view)
        with self._lock:
            held = self._columns.get(key)
        if held is not None:
            return held
        with self._making:
            with self._lock:
                held = self._columns.get(key)
            if held is None:
                held = self._made(view, indicator, version, as_of)
                with self._lock:
                    self._put(key, held, newest=as_of is None and version == view.version)
        return held

    def _put(self, key: tuple[Any, ...], column: Column, *, newest: bool) -> None:
        if newest:
            keys = [one for one in self._newest.get(key[0], []) if one != key] + [key]
            self._newest[key[0]] = keys[-_VERSIONS:]
            for old in keys[:-_VERSIONS]:
                self._columns.pop(old, None)
        self._columns[key] = column

    def _made(self, view: View, indicator: str, version: int, as_of: int | None) -> Column:
        best = _best(view, indicator, version, as_of)
        origins = [(one.series, one.lineage) for one in best]
        under = (view.epoch, view.directory.reference)
        if self._under != under or len(self._judged) > _LINEAGES_HELD:
            self._under, self._judged = under, {}
        shut = withheld(view, view.directory, origins, self._judged)
        if shut:
            best = [
                _public(view, indicator, one, version, as_of) if origin in shut else one
                for one, origin in zip(best, origins, strict=True)
            ]
            hidden = [
                origin in shut and one.value is None and one.text is None
                for one, origin in zip(best, origins, strict=True)
            ]
        else:
            hidden = [False] * len(best)
        entities, _, periods, series, _, known, flags, units, values, texts = (
            zip(*best, strict=True) if best else _EMPTY
        )
        number = {name: place for place, name in enumerate(dict.fromkeys(units))}
        return Column(
            self.numbers(entities),
            np.array(values, dtype=np.float64),
            texts,
            np.array([number[name] for name in units], dtype=np.int16),
            tuple(number),
            np.array(periods, dtype=np.int64),
            np.array(known, dtype=np.int64),
            np.array(series, dtype=np.int64),
            np.array(hidden, dtype=np.bool_),
            np.array([QUALITIES.index(quality(one)) for one in flags], dtype=np.int8),
        )


_EMPTY: tuple[tuple[Any, ...], ...] = ((),) * len(_NewestRow._fields)
_ENTITY, _TOPIC = itemgetter(0), itemgetter(0, 1)


def _best(view: View, indicator: str, version: int, as_of: int | None) -> list[_NewestRow]:
    """The latest reading of each entity, as `almanac.store.observations.newest.latest.reading` defines it."""
    rows = _newest(view, indicator, version, as_of)
    if len({one.entity for one in rows}) == len(rows) and all(one.stands for one in rows):
        return rows
    best: list[_NewestRow] = []
    for entity, of_entity in groupby(rows, key=_ENTITY):
        found = [
            one
            for (_, frequency), cell in groupby(of_entity, key=_TOPIC)
            if (one := _chosen(view, indicator, entity, frequency, list(cell), version, as_of)) is not None
        ]
        if found:
            best.append(max(found, key=lambda one: (end_of(one.period), -Frequency(one.frequency).rank)))
    return best


def _chosen(
    view: View, indicator: str, entity: str, frequency: str, cell: Sequence[_NewestRow], version: int, as_of: int | None
) -> _NewestRow | None:
    """The preferred row of a cell; where it is none, or a forecast, what older cells have."""
    chosen = view.preference.preferred(cell, version, _origin)
    if not chosen.flags & AHEAD:
        return chosen
    row = reading(view, Selection(), indicator, entity, [frequency], version=version, as_of=as_of)
    return None if row is None else _of_row(row)


def _origin(row: _NewestRow) -> Origin:
    return row.series, row.lineage


def _public(view: View, indicator: str, shut: _NewestRow, version: int, as_of: int | None) -> _NewestRow:
    """The latest reading of an entity whose newest row may not be sent: one that may, else that row without its value."""
    frequencies = frequencies_of(view, indicator, shut.entity)
    row = reading(view, Selection(), indicator, shut.entity, frequencies, version=version, as_of=as_of)
    if row is None or view.directory.row_rights(row.series, row.lineage).withheld:
        return shut._replace(value=None, text=None)
    return _of_row(row)


def _of_row(row: ObservationRow) -> _NewestRow:
    spec = row.series.spec
    return _NewestRow(
        spec.entity, spec.frequency.value, row.period, row.series.number, row.lineage, row.known, row.flags, spec.unit,
        row.value, row.text,
    )  # fmt: skip


def _newest(view: View, indicator: str, version: int, as_of: int | None) -> list[_NewestRow]:
    """All rows of the newest cell of each topic that has a row which is no forecast, by entity and frequency."""
    return list(
        map(_NewestRow._make, view.execute(_OF_INDICATOR, (indicator, version, EVER if as_of is None else as_of)))
    )


_OF_INDICATOR = (
    "SELECT t.entity, t.frequency, x.period, x.series, x.lineage, x.known_at, x.flags, p.unit, x.value, x.text"
    " FROM topic t CROSS JOIN vintages x ON x.topic = t.topic AND x.period = ("
    f"SELECT y.period FROM vintages y WHERE y.topic = t.topic AND y.flags & {AHEAD} = 0 AND {standing('?2', '?3', 'y')}"
    f" AND {HAS_VALUE.format('y')} ORDER BY y.period DESC LIMIT 1)"
    " CROSS JOIN series s ON s.series = x.series CROSS JOIN spec p USING(spec)"
    f" WHERE t.indicator = ?1 AND {standing('?2', '?3')} AND {HAS_VALUE.format('x')} ORDER BY t.entity, t.frequency"
)
