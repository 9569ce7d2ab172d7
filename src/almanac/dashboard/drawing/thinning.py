"""Long series, thinned for the eye: the lowest and the highest of each column of the paper stay, and so do both ends of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from almanac.dashboard.words.points import ChartPoint

#: Points that are drawn one by one.
MOST = 1_500


def thinned(run: Sequence[ChartPoint], span: tuple[float, float], columns: float) -> list[ChartPoint]:
    """
    Points of one run (all with values), of days in `span`, thinned to so many columns; in their order.

    All lows and highs stay true; what goes lies between them within one unit of the paper.
    """
    if len(run) <= 2:
        return list(run)
    values = np.array([point.value for point in run], dtype=float)
    days = np.array([point.at for point in run], dtype=float)
    # Divided last: a day on the border of two columns falls into the one it begins.
    column = ((days - span[0]) * columns / max(span[1] - span[0], 1.0)).astype(int)
    # Sorted by value within each column, its low is the first and its high the last.
    order = np.lexsort((values, column))
    first = np.flatnonzero(np.diff(column, prepend=column[0] - 1))
    last = np.append(first[1:], len(run)) - 1
    kept = np.unique(np.concatenate(([0, len(run) - 1], order[first], order[last])))
    return [run[index] for index in kept.tolist()]
