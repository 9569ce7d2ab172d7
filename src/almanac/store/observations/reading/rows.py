"""One row of a list: its columns in SQL, and the parts it is rendered from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from almanac.domain.fragments import own_id, rendered
from almanac.store.observations.ids import row_part
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
    """One row of one series, and its bytes but for what is the same in the whole series."""

    series: SeriesInfo
    period: int
    known: int
    released: int | None
    ingested: int
    flags: int
    lineage: int
    #: Its own parts (almanac.domain.fragments).
    marked: bytes
    withdrawn: bool = False

    @property
    def id(self) -> str:
        return f"obs_{self.series.id_part}{own_id(self.marked)}"


def cut(
    stream: Iterable[tuple[ObservationRow, list[Any]]], selection: Selection, limit: int
) -> tuple[list[ObservationRow], list[Any] | None]:
    """A page: the first rows of a walk that pass what no index knows, and the place of the last (None: that was all)."""
    rows: list[ObservationRow] = []
    place: list[Any] | None = None
    for row, here in stream:
        if not selection.passes(row.known, row.marked):
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

    def vintage(self, found: Sequence[Any]) -> ObservationRow:
        """Render a row of the columns `VINTAGE`."""
        period, number, known, released, ingested, flags, lineage, value, text, note = found
        marked = rendered(row_part(period, known), period, known, value, text, flags, released, ingested, note)
        withdrawn = value is None and text is None
        series = self._directory.series(number)
        return ObservationRow(series, period, known, released, ingested, flags, lineage, marked, withdrawn)
