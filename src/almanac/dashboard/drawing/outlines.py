"""Outlines of countries for small maps, by ISO 3166-1 alpha-3 code: simplified by `tools/make_outlines.py`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

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
    """The outlines, read once."""
    body = files("almanac.dashboard.drawing").joinpath("outlines.json").read_bytes()
    return msgspec.json.decode(body, type=Outlines)
