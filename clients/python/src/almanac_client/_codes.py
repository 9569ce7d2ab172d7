"""Publishers' own codes: the series that a code stands for, wherever one series is asked for."""

from __future__ import annotations

from typing import NamedTuple

from almanac_client import _generated_models as m
from almanac_client._errors import InvalidArgument, NotFound
from almanac_client._lookups import Way, indicator, places, walk
from almanac_client._transport import Plan


class Meant(NamedTuple):
    """The indicator and entity that are meant, and the `series` if a publisher's code selected one."""

    indicator: m.Indicator
    entity_id: str
    series: m.Series | None = None


def meant(way: Way, name: str, place: str | None) -> Plan[Meant]:
    """
    Find what a name and a place mean: an indicator by slug, id or alias in that place, or a single series by its
    publisher's code (`CPIAUCSL`), which includes the place.

    Raises NotFound with a suggestion, and InvalidArgument.
    """
    try:
        known = yield from indicator(way, name)
    except NotFound as unknown:
        found = yield from _of_code(way, name)
        if not found:
            raise unknown from None
    else:
        if place is None:
            whose = "many"
            if known.entity_count == 1:
                listed = yield from walk(
                    way.today, way.pace, m.LIST_INDICATOR_SERIES, ("idOrSlug", known.slug), quiet=True
                )
                whose = " and ".join(dict.fromkeys(row.entity_id for row in listed.rows))
            raise InvalidArgument(
                f"'place' is missing: {known.slug} is an indicator of {whose}; a publisher's code has its place itself"
            )
        entity = (yield from places(way, [place]))[place]
        return Meant(known, entity)
    if place is not None:
        entity = (yield from places(way, [place]))[place]
        of_place = [one for one in found if one.entity_id == entity]
        if not of_place:
            whose = " and ".join(dict.fromkeys(one.entity_id for one in found))
            raise InvalidArgument(f"{name!r} is a code of {whose}, and not of {place!r}")
        found = of_place
    if len(found) > 1:
        told = ", ".join(one.id for one in found[:5])
        raise InvalidArgument(
            f"{name!r} is the code of {len(found)} series ({told}{', …' if len(found) > 5 else ''}): give the indicator, and "
            "place, source or frequency"
        )
    known = yield from indicator(way, found[0].indicator_id)
    return Meant(known, found[0].entity_id, found[0])


def _of_code(way: Way, code: str) -> Plan[list[m.Series]]:
    """Return all series with this code."""
    if code not in way.known.codes:
        found: list[m.Series] = []
        for one in (yield from walk(way.today, way.pace, m.LIST_INDICATORS, q=code[:100])).rows:
            listed = yield from walk(
                way.today, way.pace, m.LIST_INDICATOR_SERIES, ("idOrSlug", one.slug), native_id=code, quiet=True
            )
            found += [row for row in listed.rows if row.native_id.lower() == code.lower()]
        way.known.codes[code] = found
    return way.known.codes[code]
