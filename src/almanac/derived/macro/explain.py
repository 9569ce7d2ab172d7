"""Explanation of one derived value: the input cells it was computed from, and the recomputed value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from almanac.derived.macro.derivation import InputSeries, cells_for, look, result_at
from almanac.derived.macro.operators import Operator
from almanac.domain.observations import Vintage
from almanac.domain.periods import Frequency


class Used(NamedTuple):
    """
    One input cell: its input's place in the formula, its series' index among the candidates, its ordinal and its
    vintage.
    """

    input: int
    choice: int
    ordinal: int
    vintage: Vintage


def explain(
    operator: Operator, frequency: Frequency, inputs: Sequence[Sequence[InputSeries]], output: int, moment: int
) -> tuple[Vintage | None, list[Used]]:
    """
    Return the result of one output cell as known at a moment, and the cells it was computed from, in the formula's
    order.
    """
    windows = [[cells_for(slot, output, frequency, s) for s in inputs[slot.input]] for slot in operator.slots]
    found = result_at(operator, frequency, inputs, windows, output, moment)
    if found is None:
        return None, []
    vintage, chosen = found
    used: list[Used] = []
    for slot, windows_of_slot in zip(operator.slots, windows, strict=True):
        choice = chosen[slot.input]
        cells = windows_of_slot[choice]
        one = look(slot, cells, output, frequency, inputs[slot.input][choice], moment)
        for ordinal, history in cells:
            used += [Used(slot.input, choice, ordinal, v) for v in history if any(v is u for u in one.used)]
    return vintage, used
