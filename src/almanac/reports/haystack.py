"""Many short texts looked through at once, for a part or for letters: what a search over all names begins with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]

#: Stands between two texts; no part that is looked for has it.
_BETWEEN = "\n"
#: Classes that characters are counted by: small plain letters, digits and the space, each its own; then all others.
_OWN = "abcdefghijklmnopqrstuvwxyz0123456789 "
_OTHERS, _NONE = len(_OWN), len(_OWN) + 1
#: Counted no further than this.
_MOST = np.iinfo(np.uint16).max
_CLASS = {letter: number for number, letter in enumerate(_OWN)}


def _classes() -> npt.NDArray[np.intp]:
    """The class of each byte of UTF-8. Bytes that continue a character are of none, for its first one has counted it."""
    found = np.full(256, _OTHERS, dtype=np.intp)
    found[0x80:0xC0] = _NONE
    for letter, number in _CLASS.items():
        found[ord(letter)] = number
    return found


class Haystack:
    """
    Texts, and which of them hold a part. Looked at are places of the part's rarest byte only, in one array of all texts,
    so a look takes some microseconds for a thousand texts, whatever they are.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        encoded = [text.encode() for text in texts]
        self._count = len(encoded)
        self._bytes = np.frombuffer(_BETWEEN.encode().join(encoded), dtype=np.uint8)
        lengths = [len(text) + 1 for text in encoded]
        #: By byte, the number of the text it belongs to.
        self._text = np.repeat(np.arange(self._count, dtype=np.int32), lengths)
        self._often = np.bincount(self._bytes, minlength=256)

    def holding(self, part: str) -> Mask:
        """Which texts hold a part, by their number. Raises ValueError for an empty part and one with a line break."""
        if not part or _BETWEEN in part:
            raise ValueError(f"{part!r} cannot be looked for")
        wanted = part.encode()
        # Places of the byte that the fewest texts have; where the part would begin for each of them.
        first, *others = sorted(range(len(wanted)), key=lambda at: int(self._often[wanted[at]]))
        places = np.flatnonzero(self._bytes == wanted[first]) - first
        places = places[(places >= 0) & (places <= len(self._bytes) - len(wanted))]
        for at in others:
            if not len(places):
                break
            places = places[self._bytes[places + at] == wanted[at]]
        found = np.zeros(self._count, dtype=np.bool_)
        found[self._text[places]] = True
        return found


class LetterCounts:
    """How often each text has each letter, by which most texts that are not alike are told without comparing them."""

    def __init__(self, texts: Sequence[str]) -> None:
        encoded = [text.encode() for text in texts]
        numbers = np.repeat(np.arange(len(encoded)), [len(text) for text in encoded])
        classes = _classes()[np.frombuffer(b"".join(encoded), dtype=np.uint8)]
        counts = np.bincount(classes * len(encoded) + numbers, minlength=(_NONE + 1) * len(encoded))
        #: By class of characters, then by text.
        self._counts = np.minimum(counts.reshape(_NONE + 1, len(encoded))[:_NONE], _MOST).astype(np.uint16)
        self._lengths = np.array([len(text) for text in texts], dtype=np.int64)

    def alike(self, text: str, ratio: float) -> list[int]:
        """
        Numbers, ascending, of texts that may have so large a ratio (0..1) to this one: all that do, and some that do not.

        The ratio is twice the letters that both have in the same order, of the letters of both. Two texts have no more of
        those than they have letters in common in any order, which is what is counted here.
        """
        asked = Counter(_CLASS.get(letter, _OTHERS) for letter in text)
        common = np.zeros(len(self._lengths), dtype=np.int64)
        for number, count in asked.items():
            common += np.minimum(self._counts[number], min(count, _MOST))
        # A little less than the ratio, for it is compared as a fraction elsewhere.
        found: list[int] = np.flatnonzero(2 * common >= (ratio - 1e-6) * (self._lengths + len(text))).tolist()
        return found
