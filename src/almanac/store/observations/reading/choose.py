"""
Which row of a cell is preferred: by rights now, and the order of sources at the data version that a walk is pinned to.

A withheld row never wins over a public one. `RowPreference` is the rule, and the only place that has it; `Choices` asks what
stands in cells of which a list shows one row only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from almanac.store.engine.protocol import Database
from almanac.store.observations.reading.directory import Directory
from almanac.store.observations.reading.plan import Question
from almanac.store.observations.reading.rows import ObservationRow
from almanac.store.observations.reading.selection import HAS_VALUE, standing

#: So many topics, and choices among series, are remembered.
_HELD = 50_000
#: In so many cells at once it is looked which series is preferred.
CELLS_AT_ONCE = 64

#: A row as far as the choice goes: the number of its series, and of its own lineage (0: the series').
Origin = tuple[int, int]

T = TypeVar("T")


class RowPreference:
    """The rule of preference, of one state of the store."""

    def __init__(self, directory: Directory, shared: dict[str, Any]) -> None:
        """`shared`: what follows from the state alone, which other threads that read it may know already."""
        self._directory = directory
        self._held: dict[tuple[Any, ...], int] = shared.setdefault("preferred of series", {})

    def preferred(self, rows: Sequence[T], version: int, origin: Callable[[T], Origin]) -> T:
        """The row of a cell that comes first; there is one at least, and no two are of one series."""
        if len(rows) == 1:
            return rows[0]
        origins = tuple(origin(row) for row in rows)
        # The choice among the same series is the same in every cell of one version.
        key = (version, *origins)
        best = self._held.get(key)
        if best is None:
            keys = [self._directory.preference_key(number, lineage, version) for number, lineage in origins]
            best = keys.index(min(keys))
            if len(self._held) >= _HELD:
                self._held.clear()
            self._held[key] = best
        return rows[best]


class _State(NamedTuple):
    """What one series says of a cell. Not `alive`: that there is nothing any more."""

    series: int
    lineage: int
    alive: bool


#: Topic and period; and of such cells the series chosen, None where there is none.
_Cell = tuple[int, int]
ChosenSeries = dict[_Cell, int | None]


class Choices:
    """Which series is preferred in cells that several may speak of, in one state of the store."""

    def __init__(self, db: Database, directory: Directory, preference: RowPreference, shared: dict[str, Any]) -> None:
        """`shared`: as that of `RowPreference`."""
        self._db = db
        self._directory = directory
        self._preference = preference
        self._rivals_held: dict[int, list[int]] = shared.setdefault("series of topics", {})
        self._first_held: dict[tuple[int, int], int] = shared.setdefault("first series of topics", {})

    def of(self, rows: Iterable[ObservationRow], wanted: Question) -> ChosenSeries:
        """The series preferred in the whole cells of some rows, rows with other sort values included; of cells in doubt."""
        doubtful = dict.fromkeys(_cell(row) for row in rows if not self._foremost(row, wanted))
        sources, series = wanted.selection.sources, self._directory.series
        states: dict[_Cell, list[_State]] = {cell: [] for cell in doubtful}
        numbered = list(states.values())
        bound = [(place, *cell, wanted.version, wanted.moment) for place, cell in enumerate(doubtful)]
        for place, *found in self._db.seek(_STATES, bound) if bound else ():
            state = _State(*found)
            if sources is None or series(state.series).source.id in sources:
                numbered[place].append(state)
        return {cell: self._choice(each, wanted) for cell, each in states.items()}

    def _foremost(self, row: ObservationRow, wanted: Question) -> bool:
        """Whether none can stand before a row in its cell: it is alone, or first in order and may be sent."""
        topic = row.series.topic
        if len(self._rivals(topic)) == 1:
            return True
        if wanted.history or row.series.number != self._first(topic, wanted.version):
            return False
        return not self._directory.row_rights(row.series, row.lineage).withheld

    def _choice(self, states: list[_State], wanted: Question) -> int | None:
        """The series that is preferred among those that say something of a cell; of all states, withdrawals too."""
        alive = [one for one in states if one.alive] or (states if wanted.history else [])
        return self._preference.preferred(alive, wanted.version, _origin).series if alive else None

    def _rivals(self, topic: int) -> list[int]:
        held = self._rivals_held.get(topic)
        if held is None:
            if len(self._rivals_held) >= _HELD:
                self._rivals_held.clear()
            found = self._db.execute("SELECT series FROM series WHERE topic = ?", (topic,))
            held = self._rivals_held[topic] = [row[0] for row in found]
        return held

    def _first(self, topic: int, version: int) -> int:
        """The series of a topic that stands first in the order of sources, where its rows may be sent."""
        held = self._first_held.get((topic, version))
        if held is None:
            if len(self._first_held) >= _HELD:
                self._first_held.clear()
            series, rank = self._directory.series, self._directory.rank_of
            rivals = [series(number) for number in self._rivals(topic)]
            # Rights of a raw row are its series': one that is withheld never stands before one that may be sent.
            raw = all(one.kind == "raw" for one in rivals)
            held = min(rivals, key=lambda one: (raw and one.rights.withheld, rank(one, version))).number
            self._first_held[topic, version] = held
        return held


def _origin(state: _State) -> Origin:
    return state.series, state.lineage


def _cell(row: ObservationRow) -> _Cell:
    return row.series.topic, row.period


def is_chosen(row: ObservationRow, chosen: ChosenSeries) -> bool:
    """Whether a row is of the series chosen in its cell; of cells that were not in doubt each is."""
    number = row.series.number
    return chosen.get((row.series.topic, row.period), number) == number


#: What each series says of a cell. Of a key: a number to tell the cell by, topic, period, version, and the moment asked.
_STATES = (
    f"SELECT k.column1, x.series, x.lineage, CASE WHEN {HAS_VALUE.format('x')} THEN 1 ELSE 0 END"
    f" FROM {{keys}}vintages x WHERE x.topic = k.column2 AND x.period = k.column3 AND {standing('k.column4', 'k.column5')}"
)
