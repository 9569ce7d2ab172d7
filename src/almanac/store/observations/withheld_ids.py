"""Ids of rows whose value is withheld.

An observation's id is a digest of what the row says, its value included, and all else that goes into it is on the
wire. Whoever may not see the value could therefore try values until the id comes out. So a withheld row goes by
another id, which says where it stands and nothing of its value: 58 bits of a digest of the series, 36 of the period's
key, 36 of the knowledge time. It is the same in every worker and every store, and leads back to the row.
"""

from __future__ import annotations

import functools
import hashlib

#: Finds the series of an id in its table; bound is what `found_by` gives.
NAMED = "hash = ? AND id = ?"
SERIES_BITS = 58
_PERIOD, _KNOWN = 36, 36
#: Knowledge times before 1970 are negative.
_EPOCH = 1 << (_KNOWN - 1)
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_VALUES = {character: value for value, character in enumerate(_ALPHABET)}


@functools.lru_cache(maxsize=65_536)
def series_hash(series: str) -> int:
    """58 bits of SHA-256 over a series id."""
    return int.from_bytes(hashlib.sha256(series.encode()).digest()[:8], "big") >> 64 - SERIES_BITS


def found_by(series: str) -> tuple[int, str]:
    """What is bound to find a series by its id with `NAMED`: an index of the ids themselves would be as large as they are."""
    return series_hash(series), series


def withheld_id(series: str, period: int, known: int) -> str:
    """The id that a withheld row goes by."""
    bits = (series_hash(series) << _PERIOD | period) << _KNOWN | (known + _EPOCH)
    return "obs_" + "".join([_ALPHABET[bits >> shift & 31] for shift in range(125, -1, -5)])


def place_of_withheld_id(identifier: str) -> tuple[int, int, int]:
    """(hash of the series, period key, knowledge time) that an id would mean, were it one of these. For well-formed ids."""
    bits = 0
    for character in identifier[4:]:
        bits = bits << 5 | _VALUES[character]
    known = (bits & (1 << _KNOWN) - 1) - _EPOCH
    return bits >> _PERIOD + _KNOWN, bits >> _KNOWN & (1 << _PERIOD) - 1, known
