"""Input series as formulas read them, as lists of vintages and as columns; and what derivation gives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
        return np.array(sorted(self.cells if self.changed is None else self.changed), dtype=np.int64)


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
        order = sorted(cells)
        last = [cells[o][-1] for o in order]
        return cls(
            np.array(order, dtype=np.int64),
            np.array([len(cells[o]) == 1 and cells[o][0].value is not None for o in order], dtype=bool),
            np.array([math.nan if v.value is None else v.value for v in last], dtype=np.float64),
            np.array([v.known for v in last], dtype=np.int64),
            np.array([NO_RELEASE if v.released is None else v.released for v in last], dtype=np.int64),
            np.array([v.ingested for v in last], dtype=np.int64),
            np.array([v.flags for v in last], dtype=np.int64),
        )
