"""Columns of readings lined up with the rows of a table: one reading, or none, for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from almanac.domain.periods import SPAN_BITS, end_of
from almanac.reports.screener import Mask, Numbers
from almanac.store.observations.reading.newest import QUALITIES, Column


class AlignedColumn(NamedTuple):
    """A column aligned with the rows of a table: where each row's reading stands in it (-1: it has none)."""

    column: Column
    places: npt.NDArray[np.intp]
    values: Numbers

    @classmethod
    def of(cls, column: Column, numbers: npt.NDArray[np.int32]) -> AlignedColumn:
        """Return the readings of entities, by their small numbers."""
        places = column.rows(numbers)
        return cls(column, places, np.append(column.values, np.nan)[places])

    def end(self, row: int) -> date:
        return end_of(int(self.column.periods[self.places[row]]))

    def ends(self) -> npt.NDArray[np.int64]:
        """Return the last day of each row's period as an ordinal; 0 for a row without a number that may be shown."""
        found: npt.NDArray[np.int64] = np.append(self.column.periods >> SPAN_BITS, 0)[self.places]
        return np.where(np.isnan(self.values), 0, found)

    def known(self, row: int) -> int:
        return int(self.column.known[self.places[row]])

    def qualities(self) -> npt.NDArray[np.int8]:
        """Return the quality of each row's reading as an index into `columns.QUALITIES`; -1 for a row without one."""
        found: npt.NDArray[np.int8] = np.append(self.column.quality, np.int8(-1))[self.places]
        return found

    def quality(self, row: int) -> str:
        """Return the quality of a row's reading, which must exist."""
        return QUALITIES[int(self.column.quality[self.places[row]])]

    def unit(self, row: int) -> str | None:
        return self.column.units[int(self.column.unit[self.places[row]])]

    def series(self, row: int) -> int:
        return int(self.column.series[self.places[row]])

    def text(self, row: int) -> str | None:
        """Return the text of a row's reading, which must exist."""
        found: str | None = self.column.texts[self.places[row]]
        return found

    def texts(self) -> list[str | None]:
        """Return the text of each row's reading."""
        found = (*self.column.texts, None)
        return [found[place] for place in self.places]

    def only(self, mask: Mask) -> AlignedColumn:
        """Keep the readings of the rows of a mask; others have none."""
        return AlignedColumn(self.column, np.where(mask, self.places, -1), np.where(mask, self.values, np.nan))

    def handed_over(self, rows: Iterable[tuple[int, int]]) -> AlignedColumn:
        """Give each second row the reading of the first, where it has none of its own."""
        places, values = self.places, self.values
        for old, new in rows:
            if places[new] < 0 <= places[old]:
                if places is self.places:
                    places, values = places.copy(), values.copy()
                places[new], values[new] = places[old], values[old]
        return AlignedColumn(self.column, places, values)

    def since(self, period: int) -> Mask:
        """Rows whose reading is of a period with this key or a later one."""
        passes = np.append(self.column.periods >= period, False)
        found: Mask = passes[self.places]
        return found

    def ending(self, ends: npt.NDArray[np.int64]) -> AlignedColumn:
        """Keep the readings whose period ends on the day that each row asks for."""
        return self.only(self.ends() == ends)

    def with_units(self, wanted: Callable[[str | None], bool]) -> Mask:
        """Rows whose reading is in a unit that is wanted."""
        passes = np.array([*(wanted(unit) for unit in self.column.units), False], dtype=np.bool_)
        codes = np.append(self.column.unit, len(self.column.units))
        found: Mask = passes[codes[self.places]]
        return found


def newest_ends(columns: Iterable[AlignedColumn]) -> npt.NDArray[np.int64]:
    """Return the last day of the newest period for which each row has a reading, as an ordinal; 0 for none."""
    found: npt.NDArray[np.int64] = np.maximum.reduce([column.ends() for column in columns])
    return found
