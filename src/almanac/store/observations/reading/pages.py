"""Pages in the default order, one preferred row a cell: the question asked most, answered with the least work.

Rows stay the tuples that the database gives; nothing is made of them until their bytes are joined. What most pages are,
almanac.store.observations.reading.runs gives with less work still; it is this module that says what a page is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from almanac.domain.companies import is_company
from almanac.store.engine.protocol import Database
from almanac.store.observations.fragments import rendered
from almanac.store.observations.notes import body_sql
from almanac.store.observations.reading.directory import Directory
from almanac.store.observations.reading.rows import BORROW, BORROWED, ObservationRow
from almanac.store.observations.reading.selection import CELL_ORDER, Conditions, Position, Selection, in_order
from almanac.store.observations.reading.states import ListPart, merged, parts
from almanac.store.observations.reading.wanted_keys import reachable

#: Places of the columns of a found row: what a page of bytes is made of,
TOPIC, PERIOD, SERIES, LINEAGE, KNOWN, MARKED = range(6)
#: what more an `ObservationRow` has,
RELEASED, INGESTED, FLAGS = range(6, 9)
#: and what a vintage is rendered from.
VALUE, TEXT, NOTE = range(9, 12)

_CELL = "x.topic, x.period, x.series, x.lineage, x.known_at"
_TIMES = "x.released_at, x.ingested_at, x.flags"
_CURRENT = "FROM topic t CROSS JOIN current x ON x.topic = t.topic"
_BYTES = f"SELECT {_CELL}, x.marked {_CURRENT}"
_ROWS = f"SELECT {_CELL}, x.marked, {_TIMES} {_CURRENT}"
_VINTAGES = (
    f"SELECT {_CELL}, {BORROWED}, {_TIMES}, x.value, x.text, {body_sql('x')}"
    f" FROM topic t CROSS JOIN vintages x ON x.topic = t.topic {BORROW}"
)
#: Of companies there is nothing to borrow.
_UNWRITTEN = _VINTAGES.removesuffix(BORROW).replace(BORROWED, "NULL")

#: Rows fetched beyond what a batch is expected to need, and the most fetched at once.
_SPARE, _MOST = 8, 20_000

#: A row as found: a tuple with the columns above.
PageRow = tuple[Any, ...]


class Pages:
    """Pages of one state of the store."""

    def __init__(self, db: Database, directory: Directory, version: int) -> None:
        self._db = db
        self._directory = directory
        self._version = version
        self._best: dict[tuple[int, ...], int] = {}

    def found(
        self,
        selection: Selection,
        *,
        version: int,
        as_of: int | None,
        descending: bool,
        after: list[Any] | None,
        limit: int,
        whole: bool = False,
    ) -> tuple[list[PageRow], list[Any] | None]:
        """The preferred row of each cell, and the place to go on from (None: that was all).

        `after`: what an earlier call returned. `whole`: with all that a `ObservationRow` has, not only what its bytes need.
        """
        if selection.empty:
            return [], None
        found = [
            self._part(part, version=version, descending=descending, after=after, limit=limit, whole=whole)
            for part in parts(selection, as_of)
        ]
        if len(found) == 1:
            return found[0]
        placed = [[(row, self._place(row)) for row in rows] for rows, _ in found]
        together = list(merged(map(iter, placed), valued=False, descending=descending))
        rows = [row for row, _ in together[:limit]]
        if len(together) > limit or any(following is not None for _, following in found):
            return rows, together[len(rows) - 1][1]
        return rows, None

    def _part(
        self,
        part: ListPart,
        *,
        version: int,
        descending: bool,
        after: list[Any] | None,
        limit: int,
        whole: bool,
    ) -> tuple[list[PageRow], list[Any] | None]:
        """The same of what is in one table."""
        as_of = part.as_of
        selection = reachable(self._db, part.selection, as_of)
        place = Position(*after) if after else None
        wanted = self._wanted(selection)
        observed = (
            selection.observed if selection.observed_from is not None or selection.observed_to is not None else None
        )
        rows: list[PageRow] = []
        alone, settled = self._topic(selection, version)
        # Cells of companies are in no other table.
        then = as_of is not None and not (settled and not _any_company(selection))
        # A batch is fetched whole, which is cheaper than row by row: one row a cell at first, more where cells have more.
        size = limit + 2
        while True:
            sql, values = _query(selection, version, as_of, descending, place, vintages=then, whole=whole)
            before = len(rows)
            batch = list(self._db.execute(f"{sql} LIMIT {size}", values))
            ended = len(batch) < size
            singles = None if wanted or observed else self._singles(batch, place, ended=ended, sure=alone and not then)
            if singles is None:
                cells = self._cells(batch, place, ended=ended)
                last = cells[-1][0] if cells else None
                for cell in cells:
                    if wanted is not None:
                        cell = [one for one in cell if wanted(one[SERIES])]
                        if not cell:
                            continue
                    chosen = cell[0] if not then and len(cell) == 1 else self._choose(cell, version, then=then)
                    if chosen is not None and (observed is None or observed(chosen[KNOWN])):
                        rows.append(chosen)
            else:
                last = singles[-1] if singles else None
                rows += self._alive(singles) if then else singles
            if last is not None:
                place = Position(*self._place(last))
            if len(rows) > limit:
                del rows[limit:]
                return rows, self._place(rows[-1])
            if ended:
                return rows, None
            # As many rows again as the page still lacks, at the rate at which this batch gave them.
            gained = len(rows) - before
            lacking = limit + 1 - len(rows)
            size = min(lacking * size // gained + _SPARE, _MOST) if gained else min(4 * size, _MOST)

    def _topic(self, selection: Selection, version: int) -> tuple[bool, bool]:
        """What can be known before reading, where one indicator of one entity is asked for at the newest version.

        Whether each of its topics has one series, so that every cell has one row; and whether every cell has one
        vintage only, the one shown now: then a past state is the rows of `current` that were known by then.
        """
        indicators, entities = selection.indicators, selection.entities
        if (
            indicators is None
            or entities is None
            or len(indicators) != 1
            or len(entities) != 1
            or version != self._version
        ):
            return False, False
        counted = self._db.execute(
            "SELECT count(*) - count(DISTINCT topic), count(*) FILTER (WHERE s.rows <> s.vintages) FROM topic t JOIN series s USING(topic)"
            " WHERE t.indicator = ? AND t.entity = ? AND s.vintages > 0",
            (indicators[0], entities[0]),
        ).fetchone()
        rivals, revised = counted or (1, None)
        return rivals == 0, revised == 0

    def _singles(
        self, batch: list[PageRow], place: Position | None, *, ended: bool, sure: bool
    ) -> list[PageRow] | None:
        """What `_cells` would give, where every cell has one row, which is nearly always; else None."""
        if not sure and len({one[TOPIC] << 40 | one[PERIOD] for one in batch}) != len(batch):
            return None
        first = 1 if place is not None and batch and self._place(batch[0]) == list(place[:4]) else 0
        return batch[first:] if ended else batch[first:-1]

    def _alive(self, rows: list[PageRow]) -> list[PageRow]:
        """Single vintages that have a value, rendered where they could not be borrowed."""
        return [
            row if row[MARKED] is not None else self._rendered(row)
            for row in rows
            if row[VALUE] is not None or row[TEXT] is not None
        ]

    def _cells(self, batch: list[PageRow], place: Position | None, *, ended: bool) -> list[list[PageRow]]:
        """Rows by cell, in order; without the cell a walk stands at and, unless the rows end here, the last, which may go on."""
        cells: list[list[PageRow]] = []
        topic = period = -1
        for one in batch:
            if one[PERIOD] == period and one[TOPIC] == topic:
                cells[-1].append(one)
            else:
                topic, period = one[TOPIC], one[PERIOD]
                cells.append([one])
        if place is not None and cells and self._place(cells[0][0]) == list(place[:4]):
            del cells[0]
        if not ended and cells:
            del cells[-1]
        return cells

    def _choose(self, cell: list[PageRow], version: int, *, then: bool) -> PageRow | None:
        return self._then(cell, version) if then else self._prefer(cell, version)

    def rows(self, found: list[PageRow]) -> list[ObservationRow]:
        """The same rows with their series, for those who need more than bytes."""
        series = self._directory.series
        return [
            ObservationRow(series(f[SERIES]), f[PERIOD], f[KNOWN], f[RELEASED], f[INGESTED], f[FLAGS], f[LINEAGE], f[MARKED])
            for f in found
        ]  # fmt: skip

    def _place(self, row: PageRow) -> list[Any]:
        spec = self._directory.series(row[SERIES]).spec
        return [spec.indicator, spec.entity, spec.frequency.value, row[PERIOD]]

    def _wanted(self, selection: Selection) -> Callable[[int], bool] | None:
        """Which series a filter by source lets take part; None: all."""
        sources = selection.sources
        if sources is None:
            return None
        held: dict[int, bool] = {}

        def wanted(number: int) -> bool:
            known = held.get(number)
            if known is None:
                known = held[number] = self._directory.series(number).source.id in sources
            return known

        return wanted

    def _then(self, cell: list[PageRow], version: int) -> PageRow | None:
        """Of a cell's vintages known by then, the last of each series; of those with a value, the preferred."""
        if len(cell) == 1:
            last = cell
        else:
            latest: dict[int, PageRow] = {}
            for one in cell:
                held = latest.get(one[SERIES])
                if held is None or one[KNOWN] > held[KNOWN]:
                    latest[one[SERIES]] = one
            last = list(latest.values())
        alive = [one for one in last if one[VALUE] is not None or one[TEXT] is not None]
        if not alive:
            return None
        chosen = alive[0] if len(alive) == 1 else self._prefer(alive, version)
        return chosen if chosen[MARKED] is not None else self._rendered(chosen)

    def _rendered(self, f: PageRow) -> PageRow:
        """A vintage that is not the one shown now, with the parts that could not be borrowed."""
        series = self._directory.series(f[SERIES]).id
        text = rendered(
            series, f[PERIOD], f[KNOWN], f[VALUE], f[TEXT], f[FLAGS], f[RELEASED], f[INGESTED], f[NOTE]
        )  # fmt: skip
        return (*f[:MARKED], text, *f[RELEASED:])

    def _prefer(self, rows: list[PageRow], version: int) -> PageRow:
        """The first in order of preference; a withheld row never wins over a public one."""
        if any(row[LINEAGE] for row in rows):
            return min(rows, key=lambda row: self._directory.preference_key(row[SERIES], row[LINEAGE], version))
        # The choice among the same series is the same in every cell of one version, for as long as this view lasts.
        key = (version, *[row[SERIES] for row in rows])
        best = self._best.get(key)
        if best is None:
            keys = [self._directory.preference_key(row[SERIES], 0, version) for row in rows]
            best = self._best[key] = keys.index(min(keys))
        return rows[best]


def _any_company(selection: Selection) -> bool:
    """Whether there may be cells of companies among the rows of a list."""
    return selection.companies and (selection.entities is None or any(map(is_company, selection.entities)))


def _any_other(selection: Selection) -> bool:
    """Whether there may be others than those."""
    return selection.countries and (selection.entities is None or not all(map(is_company, selection.entities)))


def _query(
    selection: Selection,
    version: int,
    as_of: int | None,
    descending: bool,
    place: Position | None,
    *,
    vintages: bool,
    whole: bool,
) -> tuple[str, list[Any]]:
    query = Conditions()
    query.topics(selection)
    if place is not None:
        query.resume(place, descending)
    query.periods(selection)
    query.pinned(version)
    if as_of is not None:
        query.add("x.known_at <= ?", as_of)
    stated = _VINTAGES if _any_other(selection) else _UNWRITTEN
    columns = stated if vintages else _ROWS if whole else _BYTES
    return f"{columns} WHERE {query.where} ORDER BY {in_order(*CELL_ORDER, descending=descending)}", query.values
