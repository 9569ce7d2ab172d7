"""Pages in the default order, one preferred row a cell: the question asked most, answered with the least work.

Rows stay the tuples that the database gives; nothing is made of them until their bytes are joined. What most pages are,
almanac.store.observations.reading.runs gives with less work still; it is this module that says what a page is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from almanac.domain.companies import is_company
from almanac.domain.fragments import rendered
from almanac.store.engine.protocol import Database
from almanac.store.observations.notes import body_sql
from almanac.store.observations.reading.choose import Origin, RowPreference
from almanac.store.observations.reading.directory import Directory
from almanac.store.observations.reading.rows import BORROW, BORROWED, ObservationRow
from almanac.store.observations.reading.selection import (
    CELL_ORDER,
    EVER,
    TOPIC_ORDER,
    Conditions,
    Position,
    Selection,
    in_order,
)
from almanac.store.observations.reading.states import ListPart, merged, parts

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

    def __init__(
        self, db: Database, directory: Directory, version: int, preference: RowPreference, shared: dict[str, Any]
    ) -> None:
        self._db = db
        self._preference = preference
        self._directory = directory
        self._version = version
        #: The first topic of a kind, of companies or of all others, either way.
        self._first: dict[tuple[str, bool, bool, bool], tuple[Any, ...] | None] = shared.setdefault("first topics", {})

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
        """
        The preferred row of each cell, and the place to go on from (None: that was all). Bounds on knowledge are not looked at.

        `after`: what an earlier call returned. `whole`: with all that a `ObservationRow` has, not only what its bytes need.
        """
        if selection.empty:
            return [], None
        found: list[tuple[list[PageRow], list[Any] | None]] = []
        until: list[Any] | None = None
        for part in parts(selection, as_of):
            if until is not None and self._behind(part.selection, until, descending):
                continue
            rows, following = self._part(
                part, version=version, descending=descending, after=after, until=until, limit=limit, whole=whole
            )
            found.append((rows, following))
            # Of the next one nothing is given that comes later than a page of this one.
            until = until if following is None else following[:3]
        if len(found) == 1:
            rows, following = found[0]
            return self._written(rows), following
        placed = [[(row, self._place(row)) for row in rows] for rows, _ in found]
        together = list(merged(map(iter, placed), valued=False, descending=descending))
        rows = [row for row, _ in together[:limit]]
        if len(together) > limit or any(following is not None for _, following in found):
            return self._written(rows), together[len(rows) - 1][1]
        return self._written(rows), None

    def _behind(self, selection: Selection, until: list[Any], descending: bool) -> bool:
        """Whether all topics of a kind, of companies or of all others, come behind one: none of many is looked at then."""
        if selection.kind is None or selection.entities is not None:
            return False
        key = (selection.kind, selection.companies, selection.countries, descending)
        if key not in self._first:
            query = Conditions()
            query.topics(Selection(kind=key[0], companies=key[1], countries=key[2]))
            order = in_order(*TOPIC_ORDER, descending=descending)
            self._first[key] = self._db.execute(
                f"SELECT t.indicator, t.entity, t.frequency FROM topic t WHERE {query.where} ORDER BY {order} LIMIT 1",
                query.values,
            ).fetchone()
        first = self._first[key]
        return first is None or (tuple(until) > first if descending else tuple(until) < first)

    def _part(
        self,
        part: ListPart,
        *,
        version: int,
        descending: bool,
        after: list[Any] | None,
        until: list[Any] | None,
        limit: int,
        whole: bool,
    ) -> tuple[list[PageRow], list[Any] | None]:
        """Find the preferred row of each cell among those of one table, `until` a topic, itself included."""
        as_of = part.as_of
        selection = part.selection
        place = Position(*after) if after else None
        wanted = self._wanted(selection)
        rows: list[PageRow] = []
        alone, settled = self._topic(selection, version)
        # Cells of companies are in no other table.
        then = as_of is not None and not (settled and not _any_company(selection))
        # A batch is fetched whole, which is cheaper than row by row: one row a cell at first, more where cells have more.
        size = limit + 2
        while True:
            sql, values = _query(
                selection,
                version,
                as_of,
                descending,
                place,
                until,
                vintages=then,
                whole=whole,
            )
            before = len(rows)
            batch = list(self._db.execute(f"{sql} LIMIT {size}", values))
            ended = len(batch) < size
            singles = None if wanted else self._singles(batch, place, ended=ended, sure=alone)
            if singles is None:
                cells = self._cells(batch, place, ended=ended)
                last = cells[-1][0] if cells else None
                for cell in cells:
                    if wanted is not None:
                        cell = [one for one in cell if wanted(one[SERIES])]
                        if not cell:
                            continue
                    rows.append(self._preference.preferred(cell, version, _origin))
            else:
                last = singles[-1] if singles else None
                rows += singles
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

    def _written(self, rows: list[PageRow]) -> list[PageRow]:
        """The rows with their texts: rendered where these could not be borrowed, and only of what is given."""
        return [row if row[MARKED] is not None else self._rendered(row) for row in rows]

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

    def rows(self, found: list[PageRow]) -> list[ObservationRow]:
        """Give found rows their series, for those who need more than bytes."""
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

    def _rendered(self, f: PageRow) -> PageRow:
        """A vintage that is not the one shown now, with the parts that could not be borrowed."""
        own = self._directory.ids.row_part(f[PERIOD], f[KNOWN])
        text = rendered(
            own, f[PERIOD], f[KNOWN], f[VALUE], f[TEXT], f[FLAGS], f[RELEASED], f[INGESTED], f[NOTE]
        )  # fmt: skip
        return (*f[:MARKED], text, *f[RELEASED:])


def _origin(row: PageRow) -> Origin:
    return row[SERIES], row[LINEAGE]


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
    until: list[Any] | None,
    *,
    vintages: bool,
    whole: bool,
) -> tuple[str, list[Any]]:
    query = Conditions()
    query.topics(selection)
    if place is not None:
        query.resume(place, descending)
    if until is not None:
        query.from_topic(until, not descending)
    query.periods(selection)
    if vintages:
        query.standing(version, EVER if as_of is None else as_of)
    else:  # a past state of settled cells is what of them was known by then
        query.pinned(version)
        if as_of is not None:
            query.add("x.known_at <= ?", as_of)
    stated = _VINTAGES if _any_other(selection) else _UNWRITTEN
    columns = stated if vintages else _ROWS if whole else _BYTES
    return f"{columns} WHERE {query.where} ORDER BY {in_order(*CELL_ORDER, descending=descending)}", query.values
