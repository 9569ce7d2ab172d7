"""
Chance that never changes: noise by name and index, and the calendar of the simulated world.

The noise is a hash (SplitMix64), not a generator with a state: the n-th number of a name is the same however many
numbers are asked for, on every machine and under every version of numpy.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from datetime import date

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Days = NDArray[np.datetime64]

#: The first day of the longest daily series.
EPOCH = date(1960, 1, 1)

#: Public holidays everywhere in this world: New Year's Day and Christmas Day.
CALENDAR = np.busdaycalendar(
    holidays=[date(year, month, day) for year in range(1960, 2201) for month, day in ((1, 1), (12, 25))]
)


def uniforms(name: str, count: int) -> Floats:
    """Return `count` numbers in [0, 1). The first n are the same for every count."""
    seed = np.uint64(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))
    mixed = seed + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    result: Floats = (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return result


def normals(name: str, count: int) -> Floats:
    """Return `count` numbers of mean 0 and variance 1, nearly normal (a sum of four uniforms, so never beyond ±3.5)."""
    total = uniforms(f"{name}/0", count)
    for lane in range(1, 4):
        total = total + uniforms(f"{name}/{lane}", count)
    scaled: Floats = (total - 2.0) * np.sqrt(3.0)
    return scaled


def wander(name: str, count: int, persistence: float, spread: float) -> Floats:
    """
    Return a path that returns to 0: x_t = persistence · x_(t-1) + e_t.

    Its standard deviation in the long run is `spread`.
    """
    steps = normals(name, count) * (spread * np.sqrt(1.0 - persistence**2))
    return np.fromiter(itertools.accumulate(steps.tolist(), lambda x, step: persistence * x + step), np.float64, count)


@functools.lru_cache(maxsize=8)
def business_days(last: date) -> Days:
    """Return all business days from 1960 to `last`, inclusive."""
    days = np.arange(np.datetime64(EPOCH), np.datetime64(last) + 1)
    return days[np.is_busday(days, busdaycal=CALENDAR)]


def on_business_day(days: Days) -> Days:
    """Return each day itself, or the next business day."""
    rolled: Days = np.busday_offset(days, 0, roll="forward", busdaycal=CALENDAR)
    return rolled
