"""Derivation for whole series: cells whose inputs all have one vintage, with the same answer as cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np
import numpy.typing as npt

from almanac.derived.macro.input_series import (
    NO_RELEASE,
    Arrays,
    Derived,
    Ints,
    keys,
    look_back,
    midnight,
    on_two_bases,
    passed_on,
    spans,
    window,
)
from almanac.derived.macro.operators import LOOK_BACK_DAYS, Operator, Slot, exact_sum
from almanac.domain.observations import DAY, FINAL, FORECAST, INITIAL, PROJECTION, REVISED, UNKNOWN, Vintage
from almanac.domain.periods import Frequency

Bools = npt.NDArray[np.bool_]


def at_once(
    operator: Operator, frequency: Frequency, inputs: Sequence[Arrays], outputs: Ints, allowance_days: int,
    result: dict[int, list[Derived]],
) -> Ints:  # fmt: skip
    """
    Compute all cells whose look-ups meet single vintages only, put them into `result` and return the outputs left over.

    A look-back is decided here only if every cell it could have met was known no later than the other inputs. Otherwise
    an older value was used for a while, which makes a vintage of its own.
    """
    picks: list[tuple[Arrays, Ints]] = []
    there = np.ones(len(outputs), dtype=bool)
    eligible = np.ones(len(outputs), dtype=bool)
    checks: list[tuple[Arrays, Ints, Bools]] = []
    firm = np.full(len(outputs), NO_RELEASE, dtype=np.int64)
    for slot in operator.slots:
        arrays = inputs[slot.input]
        if not len(arrays.ordinals):
            return outputs
        if slot.move:
            # Cells of the window are examined in full: all must be single and known before the cell itself.
            moves, met, settled = _last_moves(slot, outputs, frequency, arrays)
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
    # The flags that `settle` would add to the only vintage of each cell.
    late = released > midnight(ends + 1 + allowance_days)
    initial = (stated & (FINAL | UNKNOWN) == 0) & (released != NO_RELEASE) & ~late
    flags = stated | np.where(midnight(starts) > known, FORECAST, 0) | np.where(initial, INITIAL, 0)
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
        (None if at == NO_RELEASE else at for at in released[finite].tolist()), ingested[finite].tolist(), repeat(0), repeat(None) if notes is None else notes[finite].tolist(), repeat(0),
    )  # fmt: skip
    # No Python code runs per cell from here: `tuple.__new__` turns a row into a named tuple, and `zip` of one iterable
    # makes rows of one. Constructors took nearly all the time of a derivation before.
    vintages: Iterable[Vintage] = map(tuple.__new__, repeat(Vintage), columns)
    made: Iterable[Derived] = map(tuple.__new__, repeat(Derived), zip(vintages, repeat(used)))
    result.update(zip(key[finite].tolist(), map(list, zip(made)), strict=True))
    result.update((one, []) for one in key[~finite].tolist())


def _notes(operator: Operator, picks: Sequence[tuple[Arrays, Ints]]) -> tuple[npt.NDArray[np.object_] | None, Bools]:
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


def _last_moves(slot: Slot, outputs: Ints, frequency: Frequency, arrays: Arrays) -> tuple[Arrays, Bools, Bools]:
    """
    Return three columns: each output's last move, whether its window gives a result, and whether that is settled.

    A window gives a result if it holds a move or has a value at its beginning. Windows that are not settled are also
    marked, because they may have given one for a while. A window is settled if all its cells have one vintage and none
    became known after the newest cell, so that the answer never changed. An answer rests on the cells down to the older
    one of the move, or on all cells of the window.
    """
    low, high = window(slot, outputs, frequency, frequency)
    places = arrays.ordinals
    last = np.searchsorted(places, high, side="right") - 1
    first = np.searchsorted(places, low, side="left")
    met = last >= first
    last = np.maximum(last, 0)
    first = np.minimum(first, last)
    # The window begins with the last value at or before its start, or else with the first one after it.
    start = np.searchsorted(places, low + look_back(slot, frequency), side="right") - 1
    begin = np.maximum(start, first)

    change = exact_sum(arrays.value, -np.append(arrays.value[:1], arrays.value[:-1]))
    moved = np.abs(change) >= slot.move
    for at in slot.breaks:
        across = int(np.searchsorted(places, at, side="left"))
        if across < len(moved):
            moved[across] = False
    newest = np.maximum.accumulate(np.where(moved, np.arange(len(places)), -1))[last]
    hit = newest > begin
    value = np.where(hit, change[newest], 0.0)
    rests = np.where(hit, newest - 1, begin)

    # Cells with marks are left to the cell-by-cell path.
    irregular = ~arrays.single | (arrays.marks != 0)
    late = _highest(arrays.known, first, last) > arrays.known[last]
    settled = ~(_any(irregular, first, last) | late)
    begun = places[first] <= low + look_back(slot, frequency)
    met &= hit | begun | ~settled
    flags = arrays.flags
    unknown = _any((flags & UNKNOWN != 0) | (flags & (FINAL | INITIAL | REVISED) == 0), rests, last)
    final = ~_any(flags & FINAL == 0, rests, last)
    day = _any(flags & DAY != 0, rests, last)
    unreleased = _any(arrays.released == NO_RELEASE, rests, last)
    made = Arrays(
        outputs,
        settled,
        value,
        _highest(arrays.known, rests, last),
        np.where(unreleased, NO_RELEASE, _highest(arrays.released, rests, last)),
        _highest(arrays.ingested, rests, last),
        np.where(unknown, UNKNOWN, np.where(final, FINAL, REVISED)) | DAY * day,
        np.zeros(len(outputs), dtype=np.int64),
        (None,),
    )
    return made, met, settled


def _any(there: Bools, first: Ints, last: Ints) -> Bools:
    """Return whether any item from `first` to `last`, both included, is true."""
    counted = np.concatenate([[0], np.cumsum(there)])
    moved: Bools = counted[last + 1] > counted[first]
    return moved


def _highest(values: Ints, first: Ints, last: Ints) -> Ints:
    """
    Return the highest value from `first` to `last`, both included. Two overlapping stretches of a power of two cover
    each range (a sparse table).
    """
    levels = [values]
    longest = int((last - first).max(initial=0)) + 1
    while 1 << len(levels) <= longest:
        half = 1 << (len(levels) - 1)
        lower = levels[-1]
        levels.append(np.maximum(lower, np.append(lower[half:], np.repeat(lower[-1:], half))))
    table = np.array(levels)
    level = np.frexp((last - first + 1).astype(np.float64))[1] - 1
    highest: Ints = np.maximum(table[level, first], table[level, last - (1 << level) + 1])
    return highest
