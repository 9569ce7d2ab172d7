"""Names found by likeness: such as have nearly the same letters in the same order, the same words, or the asked ones within."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from rapidfuzz import fuzz, process

from almanac.domain.aliases import Alias
from almanac.reports.haystack import Haystack, LetterCounts

#: Likeness (0..1) of a name that begins with the asked words, or has them within; and from which on a name is close.
BEGINS, _HOLDS, _CLOSE = 0.85, 0.8, 0.75
#: Likeness of names that have the same words in another order, compared to that of the words.
_REORDERED = 0.97
#: Fewer characters are like too much.
_SHORTEST = 4
#: So many names are looked at that are most like the text, and so many that are with their words in order.
_LOOKED_AT = 20
#: Sorts behind every letter.
_LAST = chr(0x10FFFF)


class Spellings:
    """
    Names to be found by likeness. Built once for many look-ups; holds about 11,000 companies in some 15 MB.

    What a look-up finds is what comparing the text with each name gives; compared are only names with letters enough in
    common.
    """

    def __init__(self, names: Iterable[Alias]) -> None:
        self._names = [name for name in names if name.scheme in {"name", "former_name", "other"} and name.norm]
        self._norms = [name.norm for name in self._names]
        self._letters = LetterCounts(self._norms)
        self._in_order = [_in_order(norm) for norm in self._norms]
        self._padded = [f" {norm} " for norm in self._norms]
        self._words = Haystack(self._padded)
        #: (letters without spaces, place of the name), sorted.
        self._closed = sorted((norm.replace(" ", ""), place) for place, norm in enumerate(self._norms))
        self._by_word: dict[str, list[int]] = defaultdict(list)
        for place, norm in enumerate(self._norms):
            self._by_word[norm.partition(" ")[0]].append(place)

    def beginning(self, norm: str) -> list[Alias]:
        """Names that are these words, or begin with them and go on with others."""
        places = self._by_word.get(norm.partition(" ")[0], ())
        return [self._names[place] for place in places if self._padded[place].startswith(f" {norm} ")]

    def close(self, norm: str) -> list[tuple[Alias, float]]:
        """Names like this one, with their likeness (0..1); always in the same order, which says nothing."""
        found: dict[int, float] = {}

        def add(place: int, likeness: float) -> None:
            if likeness > found.get(place, 0.0):
                found[place] = likeness

        if len(norm) >= _SHORTEST:
            # The same letters in the order of the words are alike for both comparisons.
            places = self._letters.alike(norm, _CLOSE)
            for text, spelled, weight in ((norm, self._norms, 1.0), (_in_order(norm), self._in_order, _REORDERED)):
                among = [spelled[place] for place in places]
                cutoff = 100 * _CLOSE / weight
                for _, likeness, at in process.extract(
                    text, among, scorer=fuzz.ratio, score_cutoff=cutoff, limit=_LOOKED_AT
                ):
                    add(places[at], likeness / 100 * weight)
        words = f" {norm} "
        holding = np.flatnonzero(self._words.holding(words)).tolist()
        run_together = set(self._run_together(norm.replace(" ", ""))).difference(holding)
        for place in sorted([*holding, *run_together]) if run_together else holding:
            add(place, BEGINS if place in run_together or self._padded[place].startswith(words) else _HOLDS)
        return [(self._names[place], likeness) for place, likeness in found.items()]

    def _run_together(self, closed: str) -> list[int]:
        """Places of names that begin with these letters and a word of theirs ends with them, wherever there are spaces."""
        if len(closed) <= _SHORTEST:
            return []
        first, last = bisect_left(self._closed, (closed,)), bisect_left(self._closed, (closed + _LAST,))
        return [place for _, place in self._closed[first:last] if ends_word(self._padded[place], len(closed))]


def _in_order(norm: str) -> str:
    """The words of a name in the order of the alphabet."""
    return " ".join(sorted(norm.split()))


def ends_word(norm: str, letters: int) -> bool:
    """Whether the first so many letters and digits of a name end where a word of it ends, and more follow."""
    for character in norm.strip():
        if not letters:
            return character == " "
        letters -= character != " "
    return False
