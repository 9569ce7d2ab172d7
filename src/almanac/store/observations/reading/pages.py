"""Pages in the default order, one preferred row a cell: the question asked most, read as far as a page needs."""

from __future__ import annotations

from typing import Any

from almanac.store.engine.protocol import Database
from almanac.store.observations.reading.choose import Origin, RowPreference
from almanac.store.observations.reading.directory import Directory
from almanac.store.observations.reading.plan import Question
from almanac.store.observations.reading.rows import VINTAGE, ObservationRow, RowReader
from almanac.store.observations.reading.selection import CELL_ORDER, Conditions, Position, in_order

#: Rows fetched beyond what a batch is expected to need, and the most fetched at once.
_SPARE, _MOST = 8, 20_000

#: A vintage as found: the number of its topic, then the columns `VINTAGE`.
_Found = tuple[Any, ...]
_TOPIC, _PERIOD, _SERIES, _LINEAGE = 0, 1, 2, 7


class Pages:
    """Pages of one state of the store."""

    def __init__(self, db: Database, directory: Directory, preference: RowPreference) -> None:
        self._db = db
        self._directory = directory
        self._preference = preference
        self._rows = RowReader(directory)

    def page(self, question: Question) -> tuple[list[ObservationRow], list[Any] | None]:
        """The preferred row of each cell, and the place to go on from (None: that was all)."""
        selection, version, limit = question.selection, question.version, question.limit
        place = Position(*question.after) if question.after else None
        found: list[_Found] = []
        # A batch is fetched whole, which is cheaper than row by row: one row a cell at first, more where cells have more.
        size = limit + 2
        while True:
            sql, values = _query(question, place)
            batch: list[_Found] = self._db.execute(f"{sql} LIMIT {size}", values).fetchall()
            ended, before = len(batch) < size, len(found)
            cells = self._cells(batch, place, ended=ended)
            for cell in cells:
                taking_part = cell if selection.sources is None else self._of_sources(cell, selection.sources)
                if len(taking_part) == 1:  # nearly always
                    found += taking_part
                elif taking_part:
                    found.append(self._preference.preferred(taking_part, version, _origin))
            if cells:
                place = Position(*self._place(cells[-1][-1]))
            if len(found) > limit or ended:
                rows = [self._rows.vintage(one[1:]) for one in found[:limit]]
                return rows, self._place(found[limit - 1]) if len(found) > limit else None
            # As many rows again as the page still lacks, at the rate at which this batch gave them.
            gained, lacking = len(found) - before, limit + 1 - len(found)
            size = min(lacking * size // gained + _SPARE, _MOST) if gained else min(4 * size, _MOST)

    def _cells(self, batch: list[_Found], place: Position | None, *, ended: bool) -> list[list[_Found]]:
        """Rows by cell, in order; without the cell a walk stands at and, unless the rows end here, the last, which may go on."""
        cells: list[list[_Found]] = []
        topic = period = None
        for row in batch:
            if row[_PERIOD] == period and row[_TOPIC] == topic:
                cells[-1].append(row)
            else:
                topic, period = row[_TOPIC], row[_PERIOD]
                cells.append([row])
        first = 1 if place is not None and cells and self._place(cells[0][0]) == list(place[:4]) else 0
        return cells[first : len(cells) if ended else -1]

    def _of_sources(self, cell: list[_Found], sources: frozenset[str]) -> list[_Found]:
        """Rows of a cell of the sources asked for."""
        series = self._directory.series
        return [row for row in cell if series(row[_SERIES]).source.id in sources]

    def _place(self, row: _Found) -> list[Any]:
        spec = self._directory.series(row[_SERIES]).spec
        return [spec.indicator, spec.entity, spec.frequency.value, row[_PERIOD]]


def _origin(row: _Found) -> Origin:
    return row[_SERIES], row[_LINEAGE]


def _query(question: Question, place: Position | None) -> tuple[str, list[Any]]:
    query = Conditions()
    query.topics(question.selection)
    if place is not None:
        query.resume(place, question.descending)
    query.periods(question.selection)
    query.standing(question.version, question.moment)
    sql = (
        f"SELECT x.topic, {VINTAGE} FROM topic t CROSS JOIN vintages x ON x.topic = t.topic WHERE {query.where}"
        f" ORDER BY {in_order(*CELL_ORDER, descending=question.descending)}"
    )
    return sql, query.values
