"""Which series is preferred in a cell: by rights now and the order of sources at the pinned version, many cells at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from almanac.store.engine.protocol import Database
from almanac.store.observations.reading.directory import Directory
from almanac.store.observations.reading.rows import ObservationRow
from almanac.store.observations.reading.wanted_keys import WantedKeys

#: Topics of which it is remembered which series compete in them.
_RIVALS_HELD = 50_000
#: In so many cells at once it is looked which series is preferred.
CELLS_AT_ONCE = 64


class _State(NamedTuple):
    """What one series says of a cell. Not `alive`: that there is nothing any more."""

    series: int
    known: int
    lineage: int
    alive: bool


#: Topic and period; and of such cells the series chosen, None where there is none.
_Cell = tuple[int, int]
ChosenSeries = dict[_Cell, int | None]


class Choices:
    """Which series is preferred in cells that several may speak of, in one state of the store."""

    def __init__(self, db: Database, directory: Directory, shared: dict[str, Any]) -> None:
        """`shared`: what follows from the state alone, which other threads that read it may know already."""
        self._db = db
        self._directory = directory
        self._rivals_held: dict[int, list[int]] = shared.setdefault("series of topics", {})
        self._best_held: dict[tuple[int, ...], int] = shared.setdefault("preferred of series", {})
        self._first_held: dict[tuple[int, int], int] = shared.setdefault("first series of topics", {})

    def of(self, rows: Iterable[ObservationRow], wanted: WantedKeys) -> ChosenSeries:
        """The series preferred in the whole cells of some rows, rows with other sort values included; of cells in doubt."""
        doubtful = dict.fromkeys(_cell(row) for row in rows if not self._foremost(row, wanted))
        if not doubtful:
            return {}
        more = (wanted.version,) if wanted.table == "current" else (wanted.version, wanted.as_of)
        sources, series = wanted.selection.sources, self._directory.series
        states: dict[_Cell, dict[int, _State]] = {cell: {} for cell in doubtful}
        numbered = list(states.values())
        bound = [(place, *cell, *more) for place, cell in enumerate(doubtful)]
        for place, *found in self._db.seek(_STATES[wanted.table], bound):
            state = _State(*found)
            if sources is None or series(state.series).source.id in sources:
                numbered[place][state.series] = state
        return {cell: self._choice(list(each.values()), wanted) for cell, each in states.items()}

    def _foremost(self, row: ObservationRow, wanted: WantedKeys) -> bool:
        """Whether none can stand before a row in its cell: it is alone, or first in order and may be sent."""
        topic = row.series.topic
        if len(self._rivals(topic)) == 1:
            return True
        if wanted.history or row.series.number != self._first(topic, wanted.version):
            return False
        return not self._directory.row_rights(row.series, row.lineage).withheld

    def _choice(self, states: list[_State], wanted: WantedKeys) -> int | None:
        """The series that is preferred among those that say something of a cell; of all states, withdrawals too."""
        alive = [one for one in states if one.alive] or (states if wanted.history else [])
        if len(alive) < 2:
            return alive[0].series if alive else None
        if any(one.lineage for one in alive):
            return self._preferred(alive, wanted.version)
        # The choice among the same series is the same in every cell of one version.
        key = (wanted.version, *[one.series for one in alive])
        best = self._best_held.get(key)
        if best is None:
            if len(self._best_held) >= _RIVALS_HELD:
                self._best_held.clear()
            best = self._best_held[key] = self._preferred(alive, wanted.version)
        return best

    def _preferred(self, alive: list[_State], version: int) -> int:
        key = self._directory.preference_key
        return min(alive, key=lambda one: key(one.series, one.lineage, version)).series

    def _rivals(self, topic: int) -> list[int]:
        held = self._rivals_held.get(topic)
        if held is None:
            if len(self._rivals_held) >= _RIVALS_HELD:
                self._rivals_held.clear()
            found = self._db.execute("SELECT series FROM series WHERE topic = ?", (topic,))
            held = self._rivals_held[topic] = [row[0] for row in found]
        return held

    def _first(self, topic: int, version: int) -> int:
        """The series of a topic that stands first in the order of sources, where its rows may be sent."""
        held = self._first_held.get((topic, version))
        if held is None:
            if len(self._first_held) >= _RIVALS_HELD:
                self._first_held.clear()
            series, rank = self._directory.series, self._directory.rank_of
            rivals = [series(number) for number in self._rivals(topic)]
            # Rights of a raw row are its series': one that is withheld never stands before one that may be sent.
            raw = all(one.kind == "raw" for one in rivals)
            held = min(rivals, key=lambda one: (raw and one.rights.withheld, rank(one, version))).number
            self._first_held[topic, version] = held
        return held


def _cell(row: ObservationRow) -> _Cell:
    return row.series.topic, row.period


def is_chosen(row: ObservationRow, chosen: ChosenSeries) -> bool:
    """Whether a row is of the series chosen in its cell; of cells that were not in doubt each is."""
    number = row.series.number
    return chosen.get((row.series.topic, row.period), number) == number


#: What each series of a cell says, by when it was known. Bound: a number to tell the cell by, topic, period, and version;
#: of `vintages` the moment asked too.
_OF_CELL = "WHERE x.topic = ?2 AND x.period = ?3 AND x.from_version <= ?4 AND x.to_version > ?4"
_STATES = {
    "current": f"SELECT ?1, x.series, x.known_at, x.lineage, 1 FROM {{keys}}current x {_OF_CELL}",
    "vintages": (
        "SELECT ?1, x.series, x.known_at, x.lineage, CASE WHEN x.value IS NOT NULL OR x.text IS NOT NULL THEN 1 ELSE 0 END"
        f" FROM {{keys}}vintages x {_OF_CELL} AND x.known_at <= ?5 ORDER BY x.known_at"
    ),
}
