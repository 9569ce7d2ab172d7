"""Names of countries in fifteen languages beside English, as Babel has them from Unicode's CLDR."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Mapping

from almanac.domain.aliases import Alias, of_place
from almanac.domain.names import normal
from almanac.domain.reference import Entity

_LANGUAGES = (
    "de", "fr", "es", "pt", "it", "nl", "pl", "ru", "tr", "ar", "hi", "zh_Hans", "zh_Hant", "ja", "ko",
)  # fmt: skip
#: CLDR's codes of regions that have none of ISO 3166-1.
_REGIONS = {"region_euro_area": "EZ", "region_european_union": "EU", "region_world": "001"}
#: Some languages give these names to one of two places; elsewhere nobody can tell which is meant.
_AMBIGUOUS = frozenset({"congo", "kongo"})


def foreign_names(places: Iterable[Entity]) -> list[Alias]:
    """
    Return names of countries and regions in other languages, for comparison only: they are not listed as aliases.

    A name that compares equal to one of another place is left out.
    """
    names, owners = [], defaultdict(set)
    for place in places:
        for alias in of_place(place):
            owners[alias.norm].add(place.id)
        code = _REGIONS.get(place.id, place.iso2)
        for name in _territories().get(code, ()) if code is not None else ():
            alias = Alias(place.id, name, "name", False, None, None, None, normal(name))
            owners[alias.norm].add(place.id)
            names.append(alias)
    return [alias for alias in names if len(owners[alias.norm]) == 1 and alias.norm not in {"", *_AMBIGUOUS}]


@functools.cache
def _territories() -> Mapping[str, tuple[str, ...]]:
    """Return each territory's names by its code. Reading them takes a tenth of a second, so they are read when first asked for."""
    from babel import Locale  # noqa: PLC0415  # most commands look up no place by name

    names: dict[str, dict[str, None]] = defaultdict(dict)
    for language in _LANGUAGES:
        for code, name in Locale.parse(language).territories.items():
            names[code][name] = None
    return {code: tuple(found) for code, found in names.items()}
