"""
How near an indicator is to words that somebody looks for: called just so, begun by them, named by them, or mentioned.

The names are its slug, its own name and its other names, those of publishers among them. The order follows from the
catalogue alone, never from what is held: it is the same on every page of a walk, whatever arrives meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from almanac.domain.names import folded
from almanac.domain.reference import Indicator

#: How near: the words are a name of it, begin one, are all in one, or stand somewhere in what is said of it.
CALLED, BEGUN, NAMED, MENTIONED = range(4)
#: Facts and measures of companies come after what is measured of economies, where they are as near.
_OF_COMPANIES = "fundamentals"


def nearness(indicator: Indicator, words: str) -> int | None:
    """How near an indicator is to words, the nearest first; None where one of them stands nowhere in what is said of it."""
    told = (indicator.slug, indicator.name, indicator.description, *indicator.other_names)
    text = " ".join(told).lower()
    if not all(word in text for word in words.lower().split()):
        return None
    return name_nearness((indicator.slug, indicator.name, *indicator.other_names), words)


def name_nearness(names: Iterable[str], words: str) -> int:
    """How near the nearest of some names is to words. A word is taken for any that it begins: `fed` for federal."""
    asked = folded(words.replace("_", " ")).split()
    best = MENTIONED
    for name in names:
        own = folded(name.replace("_", " ")).split()
        if own == asked:
            return CALLED
        if _begin(own, asked):
            best = min(best, BEGUN)
        elif asked and all(any(one.startswith(word) for one in own) for word in asked):
            best = min(best, NAMED)
    return best


def _begin(own: Sequence[str], asked: Sequence[str]) -> bool:
    """Whether each asked word begins the word of the name at its place."""
    return 0 < len(asked) <= len(own) and all(one.startswith(word) for one, word in zip(own, asked, strict=False))


def relevance(indicator: Indicator, near: int, every: Mapping[str, Indicator]) -> tuple[int, bool, bool, int, str, str]:
    """
    The place of an indicator among those that words find: the nearest first, published ones before computed ones, then by how
    many sources have it or what it is computed from, then by name. `every`: all indicators by slug.
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
    """Sources of an indicator, of a computed one those of its first input, and so on down."""
    seen = {indicator.slug}
    while not indicator.preferred and indicator.inputs:
        first = every.get(indicator.inputs[0])
        if first is None or first.slug in seen:
            break
        seen.add(first.slug)
        indicator = first
    return len(indicator.preferred)
