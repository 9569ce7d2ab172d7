"""
Numbers that series_prefix from an observation's id to its row.

An id is a digest. An index on it alone would spread the rows of one payload all over itself, and a commit would write
nearly every page of it. So a row's number begins with eight bits of its series' digest, and fifty-two of its id's
follow: the rows of a series lie together in one part of 256. An id does not say its series, so whoever looks one up
asks for all 256 numbers it may have, which takes a fraction of a millisecond. Numbers are the same in every store.
"""

from __future__ import annotations

from almanac.domain.observations import PAIR_VALUES
from almanac.store.observations.withheld_ids import SERIES_BITS, series_hash

_PREFIX, _REST = 8, 52
_ID = 130


def series_prefix(series: str) -> int:
    """What the numbers of all rows of a series begin with, shifted to its place."""
    return series_hash(series) >> SERIES_BITS - _PREFIX << _REST


def number_of(prefix: int, digest: int) -> int:
    """Number of a row with this `series_prefix`, and this digest behind its id (almanac.domain.observations.digest): 60 bits."""
    return prefix | digest >> _ID - _REST


def candidates(identifier: str) -> list[int]:
    """All numbers that the row of a well-formed id may have, ascending."""
    rest = 0
    for place in range(4, 16, 2):
        rest = rest << 10 | PAIR_VALUES[identifier[place : place + 2]]
    rest >>= 60 - _REST
    return [prefix << _REST | rest for prefix in range(1 << _PREFIX)]
