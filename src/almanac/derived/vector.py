"""Whole series at once: cells whose inputs all have one vintage, with the same answer as cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from almanac.derived.inputs import NO_RELEASE, Arrays, Derived, InputSeries, Ints
from almanac.derived.operators import LOOK_BACK_DAYS, Operator
from almanac.derived.windows import look_back, window
from almanac.domain.observations import DAY, FINAL, FORECAST, INITIAL, UNKNOWN, Vintage, end_of_day
from almanac.domain.periods import Frequency, Period, end_of, key_at


def at_once(
    operator: Operator, frequency: Frequency, inputs: Sequence[InputSeries], outputs: Ints, allowance_days: int,
    result: dict[int, list[Derived]],
) -> Ints:  # fmt: skip
    """
    Compute at once all cells whose look-ups meet single vintages only; returns the outputs left for the sweep.

    A look-back may be decided here only if everything it could have met was known no later than the other inputs:
    else an older value stood in for a while, and that is a vintage of its own.
    """
    if not len(outputs) or any(series.frequency is not frequency for series in inputs):
        return outputs
    picks: list[tuple[Arrays, Ints]] = []
    there = np.ones(len(outputs), dtype=bool)
    eligible = np.ones(len(outputs), dtype=bool)
    checks: list[tuple[Arrays, Ints, npt.NDArray[np.bool_]]] = []
    firm = np.full(len(outputs), NO_RELEASE, dtype=np.int64)
    for slot in operator.slots:
        arrays = inputs[slot.input].arrays
        if not len(arrays.ordinals):
            return outputs
        low, high = window(slot, outputs, frequency, frequency)
        index = np.searchsorted(arrays.ordinals, high, side="right") - 1
        clipped = np.maximum(index, 0)
        met = (index >= 0) & (arrays.ordinals[clipped] >= low)
        there &= met
        eligible &= arrays.single[clipped]
        picks.append((arrays, clipped))
        if look_back(slot, frequency):
            for back in range(LOOK_BACK_DAYS + 1):
                older = np.maximum(clipped - back, 0)
                inside = met & (clipped - back >= 0) & (arrays.ordinals[older] >= low)
                checks.append((arrays, older, inside))
        else:
            firm = np.maximum(firm, arrays.known[clipped])
    for arrays, older, inside in checks:
        eligible &= ~inside | (arrays.single[older] & (arrays.known[older] <= firm))
    take = there & eligible
    if take.any():
        _emit(
            operator,
            frequency,
            [(arrays, index[take]) for arrays, index in picks],
            outputs[take],
            allowance_days,
            result,
        )
    # Outputs for which some look-up meets no cell at all have no vintages: their rows, if any, are closed.
    for output in outputs[~there].tolist():
        result[key_at(output, frequency)] = []
    rest: Ints = outputs[there & ~eligible]
    return rest


def _emit(
    operator: Operator, frequency: Frequency, picks: Sequence[tuple[Arrays, Ints]], outputs: Ints, allowance_days: int,
    result: dict[int, list[Derived]],
) -> None:  # fmt: skip
    with np.errstate(all="ignore"):
        value = operator.apply(*(arrays.value[index] for arrays, index in picks)) + 0.0
    known = np.max([arrays.known[index] for arrays, index in picks], axis=0)
    ingested = np.max([arrays.ingested[index] for arrays, index in picks], axis=0)
    releases = np.array([arrays.released[index] for arrays, index in picks])
    released = np.where((releases == NO_RELEASE).any(axis=0), NO_RELEASE, releases.max(axis=0))
    flag_sets = np.array([arrays.flags[index] for arrays, index in picks])
    unknown = ((flag_sets & UNKNOWN != 0) | (flag_sets & (FINAL | INITIAL | 16) == 0)).any(axis=0)
    final = ~unknown & (flag_sets & FINAL != 0).all(axis=0)
    day = (released != NO_RELEASE) & (flag_sets & DAY != 0).any(axis=0)
    stated = np.where(unknown, UNKNOWN, 0) | np.where(final, FINAL, 0) | np.where(day, DAY, 0)
    used = (0,) * (max(slot.input for slot in operator.slots) + 1)
    columns: tuple[list[Any], ...] = (
        outputs.tolist(), value.tolist(), known.tolist(), ingested.tolist(), released.tolist(), stated.tolist(),
        np.isfinite(value).tolist(),
    )  # fmt: skip
    for output, number_, when, taken, release, flags, finite in zip(*columns, strict=True):
        key = key_at(output, frequency)
        if not finite:
            result[key] = []
            continue
        at = None if release == NO_RELEASE else release
        vintage = Vintage(when, number_, None, flags | _first_place(key, when, at, flags, allowance_days), at, taken, 0)
        result[key] = [Derived(vintage, used)]


def _first_place(key: int, known: int, released: int | None, flags: int, allowance_days: int) -> int:
    """What `settle` adds to the one vintage of a cell, without building its tables."""
    period = Period.from_key(key)
    forecast = FORECAST if period.start is not None and end_of_day(period.start) - 86_399 > known else 0
    if flags & (FINAL | UNKNOWN) or released is None:
        return forecast
    late = released > end_of_day(end_of(key)) + 1 + allowance_days * 86_400
    return forecast | (0 if late else INITIAL)
