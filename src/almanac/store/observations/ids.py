"""
Ids of observations. An id says where a row stands, and nothing of what it says.

`obs_` is followed by 26 characters of base32: 11 of a digest of the series' id, 8 of the period's key and 7 of the
knowledge time, each enciphered by itself with the store's key. So an id leads back to its row without an index of ids, and a
row whose value is withheld goes by the same id as any other. Who puts together parts of ids that he was shown may come upon
another row's, and learns by it that there is such a row, nothing of what it says. The key follows from the name of the raw
store: whatever is made anew of it has the same ids. Simulated worlds have none, so that the ids in examples hold.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from typing import NamedTuple

from almanac.store.engine.data_schema import meta
from almanac.store.engine.queryable import Queryable

#: The database's note of the key.
KEY = "ids"
#: Finds a series by its id in its table; bound is what `found_by` gives.
NAMED = "hash = ? AND id = ?"

_SERIES, _PERIOD, _KNOWN = 11, 8, 7
_SERIES_BITS, _PERIOD_BITS, _KNOWN_BITS = 5 * _SERIES, 5 * _PERIOD, 5 * _KNOWN
#: Knowledge times before 1970 are negative. What lies outside of the years 1426 to 2514 is nothing's.
_EPOCH = 1 << _KNOWN_BITS - 1
_SHAPE = re.compile(r"obs_[a-z2-7]{26}")
#: Makes 26 characters so many that they are whole bytes.
_FILL = "A" * 6
_ROUNDS = 4
_HELD = 65_536


@functools.lru_cache(maxsize=_HELD)
def series_hash(series: str) -> int:
    """The first 55 bits of SHA-256 over a series id."""
    return int.from_bytes(hashlib.sha256(series.encode()).digest()[:7], "big") >> 56 - _SERIES_BITS


def found_by(series: str) -> tuple[int, str]:
    """What is bound to find a series by its id with `NAMED`: an index of the ids themselves would be as large as they are."""
    return series_hash(series), series


class Place(NamedTuple):
    """What an id says: the hash of a series' id, a period's key, and a knowledge time (unix seconds)."""

    series: int
    period: int
    known: int


class ObservationIds:
    """The ids of one store: series, period and knowledge time to id, and back."""

    def __init__(self, key: str) -> None:
        """`key`: what the store's ids are enciphered with, as the store notes it; empty in simulated worlds."""
        self._series = _Cipher(key, "series", _SERIES_BITS)
        self._period = _Cipher(key, "period", _PERIOD_BITS)
        self._known = _Cipher(key, "known", _KNOWN_BITS)
        #: The parts of an id that are asked for again and again.
        self.series_part = functools.lru_cache(maxsize=_HELD)(self._series_part)
        self.period_part = functools.lru_cache(maxsize=_HELD)(self._period_part)
        self.known_part = functools.lru_cache(maxsize=_HELD)(self._known_part)

    def of(self, series: str, period: int, known: int) -> str:
        """The id of the row of a series (its id) that is about a period (its key) and was known at a time (unix seconds)."""
        return f"obs_{self.series_part(series)}{self.row_part(period, known)}"

    def row_part(self, period: int, known: int) -> str:
        """The last fifteen characters of an id, which follow from period and knowledge time."""
        return self.period_part(period) + self.known_part(known)

    def place(self, identifier: str) -> Place | None:
        """What an id says; None for what is none. One that this store has not made says what no row is at."""
        if _SHAPE.fullmatch(identifier) is None:
            return None
        number = int.from_bytes(base64.b32decode(identifier[len("obs_") :].upper() + _FILL), "big") >> 5 * len(_FILL)
        return Place(
            self._series.deciphered(number >> _PERIOD_BITS + _KNOWN_BITS),
            self._period.deciphered(number >> _KNOWN_BITS & (1 << _PERIOD_BITS) - 1),
            self._known.deciphered(number & (1 << _KNOWN_BITS) - 1) - _EPOCH,
        )

    def _series_part(self, series: str) -> str:
        return _spelled(self._series.enciphered(series_hash(series)), _SERIES)

    def _period_part(self, period: int) -> str:
        return _spelled(self._period.enciphered(period), _PERIOD)

    def _known_part(self, known: int) -> str:
        return _spelled(self._known.enciphered(known + _EPOCH), _KNOWN)


@functools.lru_cache(maxsize=64)
def ids_of(key: str) -> ObservationIds:
    """The ids of the stores with this key, with what is remembered of them."""
    return ObservationIds(key)


def ids_in(db: Queryable) -> ObservationIds:
    """The ids of the store in a database."""
    return ids_of(meta(db, KEY) or "")


class _Cipher:
    """A permutation of the numbers of so many bits that follows from a key: a Feistel network of keyed BLAKE2b."""

    def __init__(self, key: str, purpose: str, bits: int) -> None:
        self._low = bits // 2
        self._high = bits - self._low
        self._hashes = [
            hashlib.blake2b(
                digest_size=8, key=hashlib.sha256(key.encode()).digest(), person=f"{purpose} {turn}".encode()
            )
            for turn in range(_ROUNDS)
        ]

    def enciphered(self, number: int) -> int:
        """Another number for one, of which no more than the bits that there are is looked at."""
        high, low = self._halves(number)
        for turn in range(0, _ROUNDS, 2):
            high ^= self._mixed(turn, low) & (1 << self._high) - 1
            low ^= self._mixed(turn + 1, high) & (1 << self._low) - 1
        return high << self._low | low

    def deciphered(self, number: int) -> int:
        """The number that `enciphered` made this one of."""
        high, low = self._halves(number)
        for turn in reversed(range(0, _ROUNDS, 2)):
            low ^= self._mixed(turn + 1, high) & (1 << self._low) - 1
            high ^= self._mixed(turn, low) & (1 << self._high) - 1
        return high << self._low | low

    def _halves(self, number: int) -> tuple[int, int]:
        return number >> self._low & (1 << self._high) - 1, number & (1 << self._low) - 1

    def _mixed(self, turn: int, half: int) -> int:
        hashed = self._hashes[turn].copy()
        hashed.update(half.to_bytes(8, "big"))
        return int.from_bytes(hashed.digest(), "big")


def _spelled(number: int, characters: int) -> str:
    """A number of five bits a character in base32, in lower case."""
    spare = -5 * characters % 8
    return base64.b32encode((number << spare).to_bytes((5 * characters + 7) // 8, "big"))[:characters].decode().lower()
