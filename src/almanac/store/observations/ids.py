"""
Ids of observations: `obs_` and 26 characters of base32 that say series, period and knowledge time, never the value.

The first 11 characters are a hash of the series' id, 8 the period's key and 7 the knowledge time. An id leads to its row by the
index of series, and a rebuild gives the same ids. They are not secret: parts of known ids can be combined to learn that a row exists.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

#: Finds a series by its id in its table; bound is what `found_by` gives.
NAMED = "hash = ? AND id = ?"

_SERIES_BITS, _PERIOD_BITS, _KNOWN_BITS = 55, 40, 35
_KNOWN_MASK = (1 << _KNOWN_BITS) - 1
#: Knowledge times before 1970 are negative. The years 1426 to 2514 have numbers of their own.
_EPOCH = 1 << _KNOWN_BITS - 1
_PREFIX = b"obs_"
_SHAPE = re.compile(r"obs_[a-z2-7]{26}")
_DIGITS = "abcdefghijklmnopqrstuvwxyz234567"
#: Ten bits as two characters.
_PAIRS = [high + low for high in _DIGITS for low in _DIGITS]


def series_hash(series: str) -> int:
    """Return the first 55 bits of SHA-256 over a series id."""
    return int.from_bytes(hashlib.sha256(series.encode()).digest()[:7], "big") >> 56 - _SERIES_BITS


def found_by(series: str) -> tuple[int, str]:
    """Return what `NAMED` binds to find a series: an index of the ids themselves would be as large as they are."""
    return series_hash(series), series


class Place(NamedTuple):
    """What an id says: the hash of a series' id, a period's key, and a knowledge time (unix seconds)."""

    series: int
    period: int
    known: int


def observation_id(series: str, period: int, known: int) -> str:
    """Return the id of the row of a series (its id) for a period (its key) and a knowledge time (unix seconds)."""
    return f"obs_{series_part(series)}{period_part(period)}{known_part(known)}"


def observation_ids(
    hashes: Sequence[int], codes: npt.NDArray[np.int32], periods: Sequence[int], known: Sequence[int]
) -> npt.NDArray[np.bytes_]:
    """
    Return the ids of many rows. `hashes`: the `series_hash` of the series they are of; `codes`: for each row the place of its
    series there.
    """
    series = _digits(np.array(hashes, np.int64), _SERIES_BITS)[codes]
    moments = np.array(known, np.int64) + _EPOCH & _KNOWN_MASK
    prefix = np.full((len(codes), len(_PREFIX)), np.frombuffer(_PREFIX, np.uint8))
    ids = np.hstack((prefix, series, _digits(np.array(periods, np.int64), _PERIOD_BITS), _digits(moments, _KNOWN_BITS)))
    texts: npt.NDArray[np.bytes_] = ids.view(f"S{ids.shape[1]}").ravel()
    return texts


def _digits(numbers: npt.NDArray[np.int64], bits: int) -> npt.NDArray[np.uint8]:
    """Return the lowest bits of numbers in base32: a row of characters for each."""
    digits = np.frombuffer(_DIGITS.encode(), np.uint8)
    characters: npt.NDArray[np.uint8] = digits[numbers[:, None] >> np.arange(bits - 5, -1, -5) & 31]
    return characters


def series_part(series: str) -> str:
    """Return the 11 characters behind `obs_` that the ids of all rows of a series share."""
    return hash_part(series_hash(series))


def hash_part(number: int) -> str:
    """Return the `series_part` of a series whose hash is known."""
    pairs = f"{_PAIRS[number >> 45]}{_PAIRS[number >> 35 & 1023]}{_PAIRS[number >> 25 & 1023]}"
    return f"{pairs}{_PAIRS[number >> 15 & 1023]}{_PAIRS[number >> 5 & 1023]}{_DIGITS[number & 31]}"


def period_part(period: int) -> str:
    """Return the 8 characters of an id that say a period's key."""
    return f"{_PAIRS[period >> 30]}{_PAIRS[period >> 20 & 1023]}{_PAIRS[period >> 10 & 1023]}{_PAIRS[period & 1023]}"


def known_part(known: int) -> str:
    """Return the last 7 characters of an id, which say a knowledge time."""
    known = known + _EPOCH & _KNOWN_MASK
    return f"{_PAIRS[known >> 25]}{_PAIRS[known >> 15 & 1023]}{_PAIRS[known >> 5 & 1023]}{_DIGITS[known & 31]}"


def place(identifier: str) -> Place | None:
    """Parse an id; return None for text of another shape. No row is at the place that an id of an earlier version says."""
    if _SHAPE.fullmatch(identifier) is None:
        return None
    number = int.from_bytes(base64.b32decode(identifier[len("obs_") :].upper() + "AAAAAA"), "big") >> 30
    return Place(
        number >> _PERIOD_BITS + _KNOWN_BITS,
        number >> _KNOWN_BITS & (1 << _PERIOD_BITS) - 1,
        (number & _KNOWN_MASK) - _EPOCH,
    )
