"""Input series as formulas read them, both as lists of vintages and as columns, and the vintages that derivation returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from almanac.domain.observations import Marks, Vintage, marks_of
from almanac.domain.periods import Frequency, highest_key, lowest_key
from almanac.domain.times import EPOCH_ORDINAL

Ints = npt.NDArray[np.int64]
Cells = Mapping[int, list[Vintage]]
#: Period key, knowledge time, value (infinite: none), release (NO_RELEASE: none), ingestion, flags, note number (0:
#: none).
NumberRow = tuple[int, int, float, int, int, int, int]
_ROW = np.dtype([
    ("period", np.int64), ("known", np.int64), ("value", np.float64), ("released", np.int64), ("ingested", np.int64),
    ("flags", np.int64), ("note", np.int64),
])  # fmt: skip
#: No release time, in arrays.
NO_RELEASE = -(1 << 62)
#: January 1970 as a month number.
EPOCH_MONTH = 1970 * 12
_KEY_BITS = (highest_key(date(1970, 1, 1)) - lowest_key(date(1970, 1, 1))).bit_length()


class Derived(NamedTuple):
    """One vintage of a result, and for each input the index of the candidate series it was computed from."""

    vintage: Vintage
    used: tuple[int, ...]


class InputSeries:
    """
    Open vintages of one input series over the needed range, by ordinal of its own frequency.

    `cells` may be a function if `arrays` is given; it is called once, when a single cell is first needed. `changed`
    holds the ordinals whose vintages changed; None means all. Values are multiplied by `factor` when they are looked
    up.
    """

    __slots__ = ("_arrays", "_cells", "changed", "factor", "frequency")

    def __init__(
        self,
        frequency: Frequency,
        cells: Cells | Callable[[], Cells],
        changed: frozenset[int] | None = None,
        arrays: Arrays | None = None,
        factor: float = 1.0,
    ) -> None:
        self.frequency = frequency
        self.changed = changed
        self.factor = factor
        self._cells = cells
        self._arrays = arrays

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the series with its cells. The other process looks at cells only, so `changed` and `arrays` stay behind."""
        return InputSeries, (self.frequency, self.cells, None, None, self.factor)

    @property
    def cells(self) -> Cells:
        if callable(self._cells):
            self._cells = self._cells()
        return self._cells

    @property
    def arrays(self) -> Arrays:
        if self._arrays is None:
            self._arrays = Arrays.of(self.cells)
        return self._arrays

    def touched(self) -> Ints:
        """Return the changed ordinals, ascending."""
        if self.changed is None:
            return self.arrays.ordinals
        return np.array(sorted(self.changed), dtype=np.int64)


@dataclass(slots=True)
class Arrays:
    """
    Cells of a series as columns, ascending by ordinal. `single` marks cells with just one vintage that is a number.

    `marks` are indexes into `stated`, which lists the distinct marks of the values; its first item is None.
    """

    ordinals: Ints
    single: npt.NDArray[np.bool_]
    value: npt.NDArray[np.float64]
    known: Ints
    released: Ints
    ingested: Ints
    flags: Ints
    marks: Ints
    stated: tuple[Marks | None, ...]

    @classmethod
    def of(cls, cells: Mapping[int, Sequence[Vintage]]) -> Arrays:
        numbers = sorted(cells)
        histories = [cells[number] for number in numbers]
        last = [history[-1] for history in histories]
        # None becomes NaN here.
        value = np.array([vintage.value for vintage in last], dtype=np.float64)
        marks, stated = _marks([marks_of(vintage.note) for vintage in last])
        return cls(
            np.array(numbers, dtype=np.int64),
            (_whole(map(len, histories)) == 1) & ~np.isnan(value),
            value,
            _whole(vintage.known for vintage in last),
            _whole(NO_RELEASE if vintage.released is None else vintage.released for vintage in last),
            _whole(vintage.ingested for vintage in last),
            _whole(vintage.flags for vintage in last),
            marks,
            stated,
        )

    @classmethod
    def of_rows(cls, rows: Iterable[NumberRow], frequency: Frequency, note: Callable[[int], str | None]) -> Arrays:
        """
        Build the arrays from rows of the store, ascending by period and knowledge time, without a Vintage for each.

        `note` returns the text of a note by its number.
        """
        table = np.fromiter(rows, dtype=_ROW)
        if not len(table):
            return cls.of({})
        period = table["period"]
        first = np.flatnonzero(np.append(True, period[1:] != period[:-1]))
        end = np.append(first[1:], len(table)) - 1
        ordinals = _numbers(period[end], frequency)
        # If irregular periods share a number, the last one counts, as in a dictionary.
        kept = np.append(ordinals[1:] != ordinals[:-1], True)
        last, ordinals = table[end[kept]], ordinals[kept]
        alone = (end == first)[kept]
        value = np.where(np.isfinite(last["value"]), last["value"], math.nan)
        numbers, place = np.unique(last["note"], return_inverse=True)
        marks, stated = _marks([marks_of(note(number)) if number else None for number in numbers.tolist()])
        known, released, ingested, flags = (
            np.ascontiguousarray(last[name]) for name in ("known", "released", "ingested", "flags")
        )
        return cls(
            ordinals, alone & ~np.isnan(value), value, known, released, ingested, flags, marks[place], stated
        )  # fmt: skip


def _marks(found: Sequence[Marks | None]) -> tuple[Ints, tuple[Marks | None, ...]]:
    """Return each value's mark as a number, from 1, and the distinct marks by number; 0 means none."""
    places: dict[Marks | None, int] = {None: 0}
    numbers = _whole(places.setdefault(one, len(places)) for one in found)
    return numbers, tuple(places)


def _numbers(keys: Ints, frequency: Frequency) -> Ints:
    """Return the `ordinal` of many keys."""
    ends: Ints = keys >> _KEY_BITS
    if not frequency.months:
        return ends
    months = (ends - EPOCH_ORDINAL).astype("datetime64[D]").astype("datetime64[M]")
    found: Ints = months.astype(np.int64) + EPOCH_MONTH
    return found


def _whole(numbers: Iterable[int]) -> Ints:
    return np.fromiter(numbers, dtype=np.int64)
