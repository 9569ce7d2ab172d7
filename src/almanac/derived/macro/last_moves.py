"""The last move of a rate within a window, for whole series at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from almanac.derived.macro.input_series import NO_RELEASE, Arrays, Ints
from almanac.derived.macro.lookups import look_back, window
from almanac.derived.macro.operators import Slot
from almanac.derived.macro.rounding import exact_sum
from almanac.domain.observations import DAY, FINAL, INITIAL, REVISED, UNKNOWN
from almanac.domain.periods import Frequency

Bools = npt.NDArray[np.bool_]


def last_moves(slot: Slot, outputs: Ints, frequency: Frequency, arrays: Arrays) -> tuple[Arrays, Bools, Bools]:
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
    found: Bools = counted[last + 1] > counted[first]
    return found


def _highest(values: Ints, first: Ints, last: Ints) -> Ints:
    """
    Return the highest value from `first` to `last`, both included. Two overlapping stretches of a power of two cover
    each range (a sparse table).
    """
    levels = [values]
    longest = int((last - first).max(initial=0)) + 1
    while 1 << len(levels) <= longest:
        half = 1 << (len(levels) - 1)
        held = levels[-1]
        levels.append(np.maximum(held, np.append(held[half:], np.repeat(held[-1:], half))))
    table = np.array(levels)
    level = np.frexp((last - first + 1).astype(np.float64))[1] - 1
    found: Ints = np.maximum(table[level, first], table[level, last - (1 << level) + 1])
    return found
