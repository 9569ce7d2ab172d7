"""One row of a list: its columns in SQL, and the row that is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from almanac.domain.observations import AHEAD, DAY, QUALITY, status
from almanac.store.observations.ids import known_part, period_part
from almanac.store.observations.notes import body_sql
from almanac.store.observations.reading.directory import Directory
from almanac.store.observations.reading.selection import Selection
from almanac.store.observations.reading.series_info import SeriesInfo

TOPIC = "t.indicator, t.entity, t.frequency"
VINTAGE = (
    "x.period, x.series, x.known_at, x.released_at, x.ingested_at, x.flags, x.lineage, x.value, x.text,"
    f" {body_sql('x')}"
)


class ObservationRow(NamedTuple):
    """
    A vintage of a series as it is stored; a withdrawal has neither value nor text.

    `period` is a key, times are unix seconds, `lineage` 0 stands for that of the series, `note` is a JSON object.
    """

    series: SeriesInfo
    period: int
    known: int
    released: int | None
    ingested: int
    flags: int
    lineage: int
    value: float | None
    text: str | None
    note: str | None

    @property
    def id(self) -> str:
        return f"obs_{self.series.id_part}{period_part(self.period)}{known_part(self.known)}"

    @property
    def withdrawn(self) -> bool:
        return self.value is None and self.text is None

    @property
    def shown(self) -> tuple[Any, ...]:
        """All that the row says beside what its series says: not every flag shows."""
        flags = self.flags & (DAY | AHEAD | (0 if self.withdrawn else QUALITY))
        return status(self.flags), *self._replace(flags=flags, lineage=0)[1:]


def cut(
    stream: Iterable[tuple[ObservationRow, list[Any]]], selection: Selection, limit: int
) -> tuple[list[ObservationRow], list[Any] | None]:
    """Return a page: the first rows of a walk that pass what no index knows, and the place of the last (None: no more follow)."""
    rows: list[ObservationRow] = []
    place: list[Any] | None = None
    for row, here in stream:
        if not selection.passes(row.known, row.note):
            continue
        if len(rows) == limit:
            return rows, place
        rows.append(row)
        place = here
    return rows, None


class RowReader:
    """Makes rows of what the database gives, with the series behind them."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def vintage(self, columns: Sequence[Any]) -> ObservationRow:
        """Make a row of the columns `VINTAGE`."""
        period, series, *rest = columns
        return ObservationRow(self._directory.series(series), period, *rest)
