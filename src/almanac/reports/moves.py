"""How far a reading usually goes: the size that its moves are judged by, its own mean absolute move of ten years."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from almanac.reports.brief_measures import MeasureSpec

#: Fewer moves say nothing of what is usual.
_LEAST = 8


def usual(measure: MeasureSpec, past: Sequence[float]) -> float | None:
    """
    The mean absolute change from one reading to the next, in the unit of the measure; None where there are too few.

    `past`: readings in the order of their periods, either way. A count of what came or went is a move itself; of what
    moves in steps the times without one do not count.
    """
    moves = [abs(one) for one in past] if measure.kind == "count" else [abs(two - one) for one, two in pairwise(past)]
    if measure.steps:
        moves = [one for one in moves if one]
    return math.fsum(moves) / len(moves) if len(moves) >= _LEAST else None
