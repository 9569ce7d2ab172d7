"""Look-up windows: the cells of an input that an output period may use."""

from __future__ import annotations

from datetime import date

import numpy as np

from almanac.derived.macro.input_series import EPOCH_MONTH, Ints
from almanac.derived.macro.operators import LOOK_BACK_DAYS, Slot
from almanac.domain.periods import Frequency, Period, highest_key, key_at, lowest_key, ordinal
from almanac.domain.times import DAY_SECONDS, EPOCH_ORDINAL

#: Low bits of an instant's key; those of a period count down from one less.
_INSTANT = highest_key(date(1970, 1, 1)) - lowest_key(date(1970, 1, 1))


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
    found: Ints = ends * (_INSTANT + 1) + (_INSTANT - 1) - (ends - starts)
    return found


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
