"""
Input series as formulas read them, as lists of vintages or as columns, the cells of them that an output period may use,
the vintages that derivation returns, and what they take over from their inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from almanac.derived.macro.operators import LOOK_BACK_DAYS, Slot
from almanac.domain.observations import DAY, FINAL, PROJECTION, UNKNOWN, Marks, Vintage, is_unknown, marks_of, number
from almanac.domain.periods import Frequency, Period, highest_key, key_at, lowest_key, ordinal
from almanac.domain.times import DAY_SECONDS, EPOCH_ORDINAL

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
#: Low bits of an instant's key; those of a period count down from one less.
_INSTANT = highest_key(date(1970, 1, 1)) - lowest_key(date(1970, 1, 1))
_KEY_BITS = _INSTANT.bit_length()


class Derived(NamedTuple):
    """One vintage of a result, and for each input the index of the candidate series it was computed from."""

    vintage: Vintage
    used: tuple[int, ...]


class InputSeries:
    """
    Open vintages of one input series over the needed range, by ordinal of its own frequency.

    With `arrays`, the same as columns, whole series can be computed at once; `cells` may then be a function, which is
    called once, when a single cell is first needed. `changed` holds the ordinals whose vintages changed; None means all.
    Values are multiplied by `factor` when they are looked up.
    """

    __slots__ = ("_cells", "arrays", "changed", "factor", "frequency")

    def __init__(
        self,
        frequency: Frequency,
        cells: Cells | Callable[[], Cells],
        changed: frozenset[int] | None = None,
        arrays: Arrays | None = None,
        factor: float = 1.0,
    ) -> None:
        self.frequency, self.changed, self.arrays, self.factor = frequency, changed, arrays, factor
        self._cells = cells

    @property
    def cells(self) -> Cells:
        if callable(self._cells):
            self._cells = self._cells()
        return self._cells

    @property
    def ordinals(self) -> Ints:
        """Return the ordinals of all cells, ascending."""
        return self.arrays.ordinals if self.arrays is not None else np.array(sorted(self.cells), dtype=np.int64)

    @property
    def touched(self) -> Ints:
        """Return the changed ordinals, ascending."""
        return self.ordinals if self.changed is None else np.array(sorted(self.changed), dtype=np.int64)


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
    def of_rows(cls, rows: Iterable[NumberRow], frequency: Frequency, note: Callable[[int], str | None]) -> Arrays:
        """
        Build the arrays from rows of the store, ascending by period and knowledge time, without a Vintage for each.

        `note` returns the text of a note by its number.
        """
        table = np.fromiter(rows, dtype=_ROW)
        period = table["period"]
        first = np.flatnonzero(np.append(True, period[1:] != period[:-1])[: len(period)])
        end = np.append(first[1:], len(table))[: len(first)] - 1
        ordinals: Ints = period[end] >> _KEY_BITS
        if frequency.months:
            months = (ordinals - EPOCH_ORDINAL).astype("datetime64[D]").astype("datetime64[M]")
            ordinals = months.astype(np.int64) + EPOCH_MONTH
        # If irregular periods share a number, the last one counts, as in a dictionary.
        kept = np.append(ordinals[1:] != ordinals[:-1], True)[: len(ordinals)]
        last = table[end[kept]]
        value = np.where(np.isfinite(last["value"]), last["value"], math.nan)
        numbers, place = np.unique(last["note"], return_inverse=True)
        stated: dict[Marks | None, int] = {None: 0}
        marks = [
            stated.setdefault(marks_of(note(number)) if number else None, len(stated)) for number in numbers.tolist()
        ]
        known, released, ingested, flags = (
            np.ascontiguousarray(last[name]) for name in ("known", "released", "ingested", "flags")
        )
        return cls(
            ordinals[kept],
            (end == first)[kept] & ~np.isnan(value),
            value,
            known,
            released,
            ingested,
            flags,
            np.array(marks, dtype=np.int64)[place],
            tuple(stated),
        )


def window(slot: Slot, outputs: Ints, frequency: Frequency, own: Frequency) -> tuple[Ints, Ints]:
    """
    Return the ordinals, in the input's own frequency, of the cells a slot may look at: an inclusive low and high for
    each output.
    """
    if slot.within:
        spans = [inside(int(o) - slot.months, frequency, own) for o in outputs]
        return np.array([s[0] for s in spans], dtype=np.int64), np.array([s[2] for s in spans], dtype=np.int64)
    target = shift(outputs, slot.months, frequency)
    if slot.move:
        return np.subtract(target, look_back(slot, frequency)), outputs
    return np.subtract(target, look_back(slot, frequency)), target


def look_back(slot: Slot, frequency: Frequency) -> int:
    return LOOK_BACK_DAYS if slot.months and not frequency.months else 0


def shift(outputs: Ints, months: int, frequency: Frequency) -> Ints:
    """
    Return the ordinals `months` earlier: a subtraction for months, the same calendar day (or the month's last) for
    days.
    """
    if not months:
        return outputs
    if frequency.months:
        return outputs - months
    days = (outputs - EPOCH_ORDINAL).astype("datetime64[D]")
    month = days.astype("datetime64[M]")
    into = (days - month.astype("datetime64[D]")).astype(np.int64)
    earlier = month - np.timedelta64(months, "M")
    length = ((earlier + np.timedelta64(1, "M")).astype("datetime64[D]") - earlier.astype("datetime64[D]")).astype(
        np.int64
    )
    start: Ints = earlier.astype("datetime64[D]").astype(np.int64)
    shifted: Ints = start + np.minimum(into, length - 1) + EPOCH_ORDINAL
    return shifted


def spans(outputs: Ints, frequency: Frequency) -> tuple[Ints, Ints]:
    """Return the first and last day, as ordinals, of the periods with these numbers (`key_at` for whole series)."""
    if not frequency.months:
        return outputs - (6 if frequency is Frequency.WEEKLY else 0), outputs
    months = (outputs - EPOCH_MONTH).astype("datetime64[M]")
    first = (months - np.timedelta64(frequency.months - 1, "M")).astype("datetime64[D]").astype(np.int64)
    after = (months + np.timedelta64(1, "M")).astype("datetime64[D]").astype(np.int64)
    return first + EPOCH_ORDINAL, after - 1 + EPOCH_ORDINAL


def keys(starts: Ints, ends: Ints) -> Ints:
    """Return period keys from first and last days."""
    keys: Ints = ends * (_INSTANT + 1) + (_INSTANT - 1) - (ends - starts)
    return keys


def midnight(days: Ints) -> Ints:
    """Return the unix seconds at which days, given as ordinals, begin."""
    begins: Ints = (days - EPOCH_ORDINAL) * DAY_SECONDS
    return begins


def inside(output: int, frequency: Frequency, own: Frequency) -> tuple[int, int, int]:
    """
    Return the first and last ordinal, in the input's frequency, inside a period of a lower frequency, and the last
    ordinal that proves it complete.
    """
    period = Period.from_key(key_at(output, frequency))
    start = period.start or period.end
    if own.months:
        last = ordinal(Period.ending(period.end, own).key, own)
        first = ordinal(Period.starting(start, own).key, own)
        return first, last, last
    return start.toordinal(), period.end.toordinal(), period.end.toordinal() + own.allowance_days


# -- flags, release and ingestion times that a computed vintage takes over from its inputs ---------------------------------

#: Note of a withdrawal because the inputs are on different bases.
TWO_BASES = '{"reason":"two_bases"}'


def on_two_bases(marks: Iterable[tuple[int, Marks | None]]) -> bool:
    """
    Return whether the values are on different bases. `marks` holds each value's input index and marks.

    Values of one input must agree in base and prices. Values of several inputs must agree in the prices they count in,
    if they state them.
    """
    stated: dict[int, tuple[str | None, str | None]] = {}
    for place, found in marks:
        base = (None, None) if found is None else found.base
        if stated.setdefault(place, base) != base:
            return True
    return len({prices for _, prices in stated.values() if prices is not None}) > 1


def passed_on(note: str | None, marks: Iterable[Marks | None]) -> str | None:
    """Add the flags of the inputs' publishers to a result's own note."""
    flags = sorted({flag for found in marks if found is not None for flag in found.flags})
    if not flags:
        return note
    own = {} if note is None else msgspec.json.decode(note)
    return msgspec.json.encode(dict(sorted({**own, "flags": flags}.items()))).decode()


def result(
    moment: int, value: float | None, text: str | None, used: Sequence[Vintage], looked: Iterable[Vintage], note: str | None
) -> Vintage:  # fmt: skip
    """
    Build a result as known from a moment on, with the flags and times that follow from its inputs.

    It is unknown or a projection if one of the inputs `used` is, and final if all are. It is released with the last of
    them, and takes over their flags. `looked` holds all vintages looked at; the last ingested counts. Raises ValueError
    for NaN and infinities.
    """
    flags = 0
    if any(is_unknown(v.flags) for v in used):
        flags |= UNKNOWN
    elif all(v.flags & FINAL for v in used):
        flags |= FINAL
    if any(v.flags & PROJECTION for v in used):
        flags |= PROJECTION
    released = [v.released for v in used]
    when = None if None in released else max(r for r in released if r is not None)
    if when is not None and any(v.flags & DAY for v in used):
        flags |= DAY
    return Vintage(
        moment, number(value), text, flags, when, max(v.ingested for v in looked), 0,
        passed_on(note, (marks_of(v.note) for v in used)),
    )  # fmt: skip


def withdrawal(moment: int, looked: Sequence[Vintage], note: str | None = None) -> Vintage:
    """
    Build a withdrawal: from this moment on nothing can be computed. `looked` holds all vintages looked at, at least
    one.
    """
    flags = UNKNOWN if any(v.flags & UNKNOWN for v in looked) else 0
    return Vintage(moment, None, None, flags, None, max(v.ingested for v in looked), 0, note)


def as_known(history: Sequence[Vintage], moment: int) -> Vintage | None:
    """Return the last vintage known at a moment. Histories are short, so a walk from the end is the fastest search."""
    for vintage in reversed(history):
        if vintage.known <= moment:
            return vintage
    return None
