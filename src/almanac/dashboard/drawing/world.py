"""The map of the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

import msgspec
from markupsafe import Markup, escape

from almanac.dashboard.drawing.svg import small

#: Where the outlines are from; said below each map.
SOURCE = "Natural Earth (public domain), Admin 0 Countries 1:110m, simplified"


class Outlines(msgspec.Struct, frozen=True):
    """A map of the world in whole units: the data of a path for each country that is large enough to be seen."""

    source: str
    width: int
    height: int
    paths: Mapping[str, str]


@cache
def outlines() -> Outlines:
    """Return the outlines, read once."""
    body = files("almanac.dashboard.drawing").joinpath("outlines.json").read_bytes()
    return msgspec.json.decode(body, type=Outlines)


#: Classes that values are put in.
CLASSES = 5
Kind = Literal["q1", "q2", "q3", "q4", "q5", "old", "withheld"]


class MapPlace(NamedTuple):
    """A country of the map: how it is filled, what is said of it under the pointer, and where it leads."""

    kind: Kind
    words: str
    href: str


def classes(values: Sequence[float]) -> list[int]:
    """Return the class of each value, from 1 for the lowest: fifths by rank; what is equal is in one class."""
    order = sorted(values)
    firsts: dict[float, int] = {}
    for rank, value in enumerate(order):
        firsts.setdefault(value, rank)
    return [firsts[value] * CLASSES // len(order) + 1 for value in values]


def world_map(places: Mapping[str, MapPlace]) -> Markup:
    """
    Draw the map, places by their ISO 3166-1 alpha-3 code; nothing where none of them is large enough to be seen on it.

    Hidden from readers, who have the table: its links are for a pointer alone.
    """
    world = outlines()
    shown = {code: place for code, place in places.items() if code in world.paths}
    if not shown:
        return Markup()
    land = "".join(one for code, one in world.paths.items() if code not in shown)
    drawn = [f'<path class="land" d="{land}"/>']
    drawn += [
        f'<a href="{escape(place.href)}" tabindex="-1"><path class="{place.kind}" d="{world.paths[code]}">'
        f"<title>{escape(place.words)}</title></path></a>"
        for code, place in shown.items()
    ]
    return small("world", world.width, world.height, "".join(drawn))


def without_outline(codes: Mapping[str, str]) -> list[str]:
    """Names of places that the map has no outline of, by code."""
    paths = outlines().paths
    return sorted(name for code, name in codes.items() if code not in paths)
