"""Derivation for whole series: cells whose inputs all have one vintage, with the same answer as cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np
import numpy.typing as npt

from almanac.derived.macro.input_series import NO_RELEASE, Arrays, Derived, InputSeries, Ints
from almanac.derived.macro.last_moves import last_moves
from almanac.derived.macro.lookups import keys, look_back, midnight, spans, window
from almanac.derived.macro.operators import LOOK_BACK_DAYS, Operator
from almanac.derived.macro.results import on_two_bases, passed_on
from almanac.domain.observations import DAY, FINAL, FORECAST, INITIAL, PROJECTION, REVISED, UNKNOWN, Vintage
from almanac.domain.periods import Frequency


def at_once(
    operator: Operator, frequency: Frequency, inputs: Sequence[InputSeries], outputs: Ints, allowance_days: int,
    result: dict[int, list[Derived]],
) -> Ints:  # fmt: skip
    """
    Compute all cells whose look-ups meet single vintages only, put them into `result` and return the outputs left over.

    A look-back is decided here only if every cell it could have met was known no later than the other inputs. Otherwise
    an older value was used for a while, which makes a vintage of its own.
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
        if slot.move:
            # Cells of the window are examined in full: all must be single and known before the cell itself.
            moves, met, settled = last_moves(slot, outputs, frequency, arrays)
            there &= met
            eligible &= settled
            picks.append((moves, np.arange(len(outputs))))
            continue
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
    # Outputs with a look-up that meets no cell have no vintages; existing rows are closed.
    result.update((key, []) for key in keys(*spans(outputs[~there], frequency)).tolist())
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
    unknown = ((flag_sets & UNKNOWN != 0) | (flag_sets & (FINAL | INITIAL | REVISED) == 0)).any(axis=0)
    final = ~unknown & (flag_sets & FINAL != 0).all(axis=0)
    day = (released != NO_RELEASE) & (flag_sets & DAY != 0).any(axis=0)
    projected = (flag_sets & PROJECTION != 0).any(axis=0)
    stated: Ints = UNKNOWN * unknown + FINAL * final + DAY * day + PROJECTION * projected
    starts, ends = spans(outputs, frequency)
    flags = stated | _first_place(starts, ends, known, released, stated, allowance_days)
    notes, refused = _notes(operator, picks)
    finite = np.isfinite(value) & ~refused
    used = (0,) * (max(slot.input for slot in operator.slots) + 1)
    key = keys(starts, ends)
    numbers: Iterable[float | None] = value[finite].tolist()
    texts: Iterable[str | None] = repeat(None)
    if operator.words:
        numbers, texts = repeat(None), [operator.words[int(place)] for place in numbers if place is not None]
    columns = zip(
        known[finite].tolist(), numbers, texts, flags[finite].tolist(),
        _releases(released[finite]), ingested[finite].tolist(), repeat(0), repeat(None) if notes is None else notes[finite].tolist(), repeat(0),
    )  # fmt: skip
    # No Python code runs per cell from here: `tuple.__new__` turns a row into a named tuple, and `zip` of one iterable
    # makes rows of one. Constructors took nearly all the time of a derivation before.
    vintages: Iterable[Vintage] = map(tuple.__new__, repeat(Vintage), columns)
    made: Iterable[Derived] = map(tuple.__new__, repeat(Derived), zip(vintages, repeat(used)))
    result.update(zip(key[finite].tolist(), map(list, zip(made)), strict=True))
    result.update((one, []) for one in key[~finite].tolist())


def _notes(
    operator: Operator, picks: Sequence[tuple[Arrays, Ints]]
) -> tuple[npt.NDArray[np.object_] | None, npt.NDArray[np.bool_]]:
    """
    Return the notes of the results (None if no result has one), and which results are refused because their inputs are
    on different bases.
    """
    marks = np.array([arrays.marks[index] for arrays, index in picks])
    if not marks.any():
        return None, np.zeros(marks.shape[1], dtype=bool)
    different, place = np.unique(marks, axis=1, return_inverse=True)
    places = [slot.input for slot in operator.slots]
    found = [
        [arrays.stated[number] for (arrays, _), number in zip(picks, column, strict=True)]
        for column in different.T.tolist()
    ]
    refused = np.array([on_two_bases(zip(places, one, strict=True)) for one in found])
    notes = np.array([passed_on(None, one) for one in found], dtype=object)
    return notes[place.ravel()], refused[place.ravel()]


def _releases(released: Ints) -> Iterable[int | None]:
    missing = released == NO_RELEASE
    if missing.all():
        return repeat(None)
    if not missing.any():
        return map(int, released)
    return [None if at == NO_RELEASE else at for at in released.tolist()]


def _first_place(starts: Ints, ends: Ints, known: Ints, released: Ints, stated: Ints, allowance_days: int) -> Ints:
    """Return the flags that `settle` would add to the only vintage of each cell, without building its tables."""
    forecast = np.where(midnight(starts) > known, FORECAST, 0)
    late = released > midnight(ends + 1 + allowance_days)
    initial = (stated & (FINAL | UNKNOWN) == 0) & (released != NO_RELEASE) & ~late
    placed: Ints = np.bitwise_or(forecast, np.where(initial, INITIAL, 0))
    return placed
