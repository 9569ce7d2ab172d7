"""
Ranking of indicators for a search: exact names first, then names that begin with the words, names that contain them,
and other mentions.

Names are the slug, the indicator's name and its other names, publishers' names included. The order depends on the
catalogue alone, not on the data, so it is the same on every page of a walk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from almanac.domain.names import folded
from almanac.domain.reference import Indicator

#: How near: the words are a name of it, begin one, are all in one, or occur somewhere in its texts.
CALLED, BEGUN, NAMED, MENTIONED = range(4)
#: Company indicators come after equally near economic ones.
_OF_COMPANIES = "fundamentals"


def nearness(indicator: Indicator, words: str) -> int | None:
    """Return how near an indicator is to the words (lower is nearer), or None if a word occurs in none of its texts."""
    told = (indicator.slug, indicator.name, indicator.description, *indicator.other_names)
    text = " ".join(told).lower()
    if not all(word in text for word in words.lower().split()):
        return None
    return name_nearness((indicator.slug, indicator.name, *indicator.other_names), words)


def name_nearness(names: Iterable[str], words: str) -> int:
    """Return how near the nearest name is to the words. A word matches any word that it begins: `fed` matches `federal`."""
    asked = folded(words.replace("_", " ")).split()
    best = MENTIONED
    for name in names:
        own = folded(name.replace("_", " ")).split()
        if own == asked:
            return CALLED
        if 0 < len(asked) <= len(own) and all(map(str.startswith, own, asked)):
            best = min(best, BEGUN)
        elif asked and all(any(one.startswith(word) for one in own) for word in asked):
            best = min(best, NAMED)
    return best


def relevance(indicator: Indicator, near: int, every: Mapping[str, Indicator]) -> tuple[int, bool, bool, int, str, str]:
    """
    Return the sort key of a search result: nearer ones first, economic before company indicators, published before
    computed, then more sources first, then by name.

    `every` maps slugs to all indicators; it gives the sources of a computed indicator.
    """
    derived = indicator.kind == "derived"
    return (
        near,
        indicator.category == _OF_COMPANIES,
        derived,
        -_sources(indicator, every),
        indicator.name,
        indicator.id,
    )


def _sources(indicator: Indicator, every: Mapping[str, Indicator]) -> int:
    """
    Return the number of preferred sources of an indicator. A computed one counts those of its first input, found
    recursively.
    """
    seen = {indicator.slug}
    while not indicator.preferred and indicator.inputs:
        first = every.get(indicator.inputs[0])
        if first is None or first.slug in seen:
            break
        seen.add(first.slug)
        indicator = first
    return len(indicator.preferred)
