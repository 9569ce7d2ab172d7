"""Where a source stands among others that publish the same: said in its own file, beside its series.

An indicator's `preferred` has the order of the sources that were there when it was written. A source that comes later
takes its place by a `[[preference]]`, so that one file more is one feed more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from almanac.domain.reference import Indicator, SeriesSpec


class Preference(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """
    The place of one source in the orders of `indicators`, or of all that its series feed where none is named.

    It stands right before the first of `before` that an order has, else last; sources with one place go by their id.
    """

    source: str
    indicators: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


def placed(
    preferences: Iterable[Preference],
    indicators: Mapping[str, Indicator],
    series: Mapping[str, Mapping[str, SeriesSpec]],
) -> dict[str, Indicator]:
    """The indicators with every source in its place; what is unknown is passed over, for `problems` to name."""
    orders = {slug: list(indicator.preferred) for slug, indicator in indicators.items()}
    for preference in sorted(preferences):
        for slug in preference.indicators or _fed(preference.source, series):
            order = orders.get(slug, [])
            place = min((order.index(source) for source in preference.before if source in order), default=len(order))
            order.insert(place, preference.source)
    return {
        slug: msgspec.structs.replace(indicator, preferred=tuple(orders[slug]))
        for slug, indicator in indicators.items()
    }


def problems(
    preferences: Iterable[Preference],
    indicators: Mapping[str, Indicator],
    series: Mapping[str, Mapping[str, SeriesSpec]],
) -> Iterator[str]:
    """Every contradiction of preferences and the indicators as they are placed, one line each."""
    movable = {preference.source for preference in preferences}
    for preference in preferences:
        named, fed = f"preference of {preference.source}", _fed(preference.source, series)
        if preference.source in preference.before:
            yield f"{named}: a source cannot stand before itself"
        for source in preference.before:
            if source not in series:
                yield f"{named}: {source} is no source with series"
            # Its place would depend on which of the two is placed first.
            elif source in movable and source != preference.source:
                yield f"{named}: {source} has a preference itself, name a source from the indicators' own orders"
        for slug in preference.indicators:
            if slug not in fed:
                yield f"{named}: no series of it feeds {slug}"
        for slug in preference.indicators or fed:
            if slug in indicators and indicators[slug].preferred.count(preference.source) > 1:
                yield f"{named}: it is twice in the order of {slug}"


def _fed(source: str, series: Mapping[str, Mapping[str, SeriesSpec]]) -> list[str]:
    return sorted({spec.indicator for spec in series.get(source, {}).values()})
