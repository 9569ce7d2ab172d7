"""
What somebody may have meant by a name that nothing has: a slip of the pen, else the same words. Never a mere likeness.

`current_ratio` is spelled like `pe_ratio` and has nothing to do with it. So two names are near where they differ by a
slip, or where most of what was asked, by weight, is among the words of the other: a word weighs the more the fewer
names have it, and one that no name has weighs most.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

from almanac.domain.names import folded

#: Letters of a name from which on one slip, or two, may be among them; and of a word that may have one or be cut short.
_ONE_SLIP, _TWO_SLIPS, _WORD = 4, 10, 5
_PREFIX = 4
#: Share of the asked words, by weight, that a name must have.
_SHARE = 0.6
#: What is asked is cut here: no name is as long, and the work has a bound.
_LONGEST = 200


class Suggestions:
    """Names to suggest, by what they are called. Built once for many questions; one takes well under a millisecond."""

    def __init__(self, names: Iterable[tuple[str, Sequence[str]]]) -> None:
        """`names`: what is suggested, and what else it is called."""
        self._names: list[str] = []
        self._spellings: list[str] = []
        self._spelled: list[int] = []
        having: dict[str, set[int]] = defaultdict(set)
        for place, (name, others) in enumerate(names):
            self._names.append(name)
            for text in dict.fromkeys(folded(text) for text in (name, *others)):
                self._spellings.append(text)
                self._spelled.append(place)
                for word in text.split():
                    having[word].add(place)
        self._having = dict(having)
        self._words = list(having)
        self._unknown = math.log(len(self._names) + 1)

    def nearest(self, text: str) -> str | None:
        """The name that was most likely meant; None where none is near."""
        asked = folded(text[:_LONGEST])
        if not asked:
            return None
        slip = self._slip(asked, self._spellings, _slips(asked))
        return self._names[self._spelled[slip]] if slip is not None else self._by_words(asked.split())

    @staticmethod
    def _slip(text: str, among: Sequence[str], most: int) -> int | None:
        """Place of the spelling that differs by the fewest slips, none of them in a digit."""
        digits = _digits(text)
        found = process.extract(text, among, scorer=OSA.distance, score_cutoff=most, limit=5)
        return next((place for spelling, _, place in found if _digits(spelling) == digits), None)

    def _by_words(self, words: Sequence[str]) -> str | None:
        found: dict[int, float] = defaultdict(float)
        whole = 0.0
        for word in dict.fromkeys(words):
            having = self._with(word)
            weight = math.log((len(self._names) + 1) / len(having)) if having else self._unknown
            whole += weight
            for place in having:
                found[place] += weight
        enough = [
            (-weight, len(self._names[place]), place) for place, weight in found.items() if weight >= _SHARE * whole
        ]
        return self._names[min(enough)[2]] if enough else None

    def _with(self, word: str) -> set[int]:
        """Names that have a word, else one that begins with it, else one that differs by a slip."""
        having = self._having.get(word)
        if having is None and len(word) >= _PREFIX:
            having = {place for known in self._words if known.startswith(word) for place in self._having[known]}
            if not having and len(word) >= _WORD:
                slip = self._slip(word, self._words, 1)
                having = set() if slip is None else self._having[self._words[slip]]
        return having or set()


def _slips(text: str) -> int:
    return 2 if len(text) >= _TWO_SLIPS else 1 if len(text) >= _ONE_SLIP else 0


def _digits(text: str) -> str:
    return "".join(letter for letter in text if letter.isdigit())
