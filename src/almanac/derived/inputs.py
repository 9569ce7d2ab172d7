"""Input series as formulas read them, as lists of vintages and as columns; and what derivation gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from almanac.domain.observations import Vintage
from almanac.domain.periods import Frequency

Ints = npt.NDArray[np.int64]
#: No release time, in arrays.
NO_RELEASE = -(1 << 62)


class Derived(NamedTuple):
    """One vintage of a result and the series (by place among each input's candidates) it was computed from."""

    vintage: Vintage
    used: tuple[int, ...]


@dataclass(slots=True)
class InputSeries:
    """Open vintages of one input series over the range that is needed, by ordinal of its own frequency."""

    frequency: Frequency
    cells: dict[int, list[Vintage]]
    #: Ordinals whose vintages changed; None: all of them.
    changed: frozenset[int] | None = None
    _arrays: Arrays | None = field(default=None)

    @property
    def arrays(self) -> Arrays:
        if self._arrays is None:
            self._arrays = Arrays.of(self.cells)
        return self._arrays

    def touched(self) -> Ints:
        """Changed ordinals, ascending."""
        if self.changed is None:
            return self.arrays.ordinals
        return np.array(sorted(self.changed), dtype=np.int64)


@dataclass(slots=True)
class Arrays:
    """Cells of a series as columns, ascending by ordinal; `single` marks those with one vintage that is a number."""

    ordinals: Ints
    single: npt.NDArray[np.bool_]
    value: npt.NDArray[np.float64]
    known: Ints
    released: Ints
    ingested: Ints
    flags: Ints

    @classmethod
    def of(cls, cells: Mapping[int, Sequence[Vintage]]) -> Arrays:
        numbers = sorted(cells)
        histories = [cells[number] for number in numbers]
        last = [history[-1] for history in histories]
        # A missing value becomes NaN on the way.
        value = np.array([vintage.value for vintage in last], dtype=np.float64)
        return cls(
            np.array(numbers, dtype=np.int64),
            (_whole(map(len, histories)) == 1) & ~np.isnan(value),
            value,
            _whole(vintage.known for vintage in last),
            _whole(NO_RELEASE if vintage.released is None else vintage.released for vintage in last),
            _whole(vintage.ingested for vintage in last),
            _whole(vintage.flags for vintage in last),
        )


def _whole(numbers: Iterable[int]) -> Ints:
    return np.fromiter(numbers, dtype=np.int64)
