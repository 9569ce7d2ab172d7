"""
Writes `almanac/dashboard/drawing/outlines.json`: outlines of countries for small maps, simplified from Natural Earth.

    python -m tools.make_outlines ne_110m_admin_0_countries.json

Source: Natural Earth, Admin 0 Countries at 1:110 million, https://www.naturalearthdata.com, as GeoJSON. Natural Earth is in
the public domain (https://www.naturalearthdata.com/about/terms-of-use): no permission is needed, no attribution asked.

What is made of it is our own: the Equal Earth projection (Šavrič, Patterson and Jenny, 2018), every point on a grid of whole
units of a map 880 wide, and points that say nothing on that grid left out. Neighbours share their border's points, which fall
on the same places of the grid, so that no gap opens between them. Islands too small to be seen, and Antarctica, are left out.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from almanac.dashboard.drawing import world

WIDTH = 880
#: Degrees of latitude that the map reaches to.
_NORTH, _SOUTH = 83.7, -56.0
_A1, _A2, _A3, _A4 = 1.340264, -0.081106, 0.000893, 0.003796
_ROOT = math.sqrt(3) / 2
#: Rings with less area than this on the grid are specks.
_SPECK = 1.5
#: Countries that the file gives no ISO code: theirs, by the file's own code.
_CODES = {"FRA": "FRA", "NOR": "NOR", "KOS": "XKX"}

Place = tuple[int, int]


def equal_earth(longitude: float, latitude: float) -> tuple[float, float]:
    """Return the place in the plane of a point of the globe (degrees), for a globe with radius 1."""
    theta = math.asin(_ROOT * math.sin(math.radians(latitude)))
    second = theta * theta
    sixth = second**3
    slope = 9 * _A4 * sixth * second + 7 * _A3 * sixth + 3 * _A2 * second + _A1
    x = math.radians(longitude) * math.cos(theta) / (_ROOT * slope)
    return x, theta * (_A4 * sixth * second + _A3 * sixth + _A2 * second + _A1)


_EAST = equal_earth(180, 0)[0]
_SCALE = WIDTH / (2 * _EAST)
_TOP = equal_earth(0, _NORTH)[1]
HEIGHT = math.ceil((_TOP - equal_earth(0, _SOUTH)[1]) * _SCALE)


def on_grid(ring: Iterable[Sequence[float]]) -> list[Place]:
    """A ring of the file on the grid, closed by its first point not being said again, without points in a straight line."""
    found: list[Place] = []
    for longitude, latitude, *_ in ring:
        x, y = equal_earth(longitude, max(latitude, _SOUTH))
        place = (round((x + _EAST) * _SCALE), round((_TOP - y) * _SCALE))
        if not found or place != found[-1]:
            found.append(place)
    if len(found) > 1 and found[0] == found[-1]:
        found.pop()
    kept = [
        place
        for before, place, after in zip(found[-1:] + found[:-1], found, found[1:] + found[:1], strict=True)
        if (place[0] - before[0]) * (after[1] - place[1]) != (place[1] - before[1]) * (after[0] - place[0])
    ]
    return kept if _area(kept) >= _SPECK else []


def _area(ring: Sequence[Place]) -> float:
    pairs = zip(ring, [*ring[1:], *ring[:1]], strict=True)
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs)) / 2


def path(rings: Iterable[Sequence[Place]]) -> str:
    """Rings as the data of a path: an absolute beginning, then steps."""
    found = []
    for ring in rings:
        steps = "".join(f"{b[0] - a[0]} {b[1] - a[1]} ".replace(" -", "-") for a, b in itertools.pairwise(ring))
        found.append(f"M{ring[0][0]} {ring[0][1]}l{steps.strip()}z")
    return "".join(found)


def made(countries: dict[str, Any]) -> dict[str, Any]:
    """Return the content of the file of outlines, from Natural Earth's file of countries."""
    paths: dict[str, str] = {}
    for feature in countries["features"]:
        about, shape = feature["properties"], feature["geometry"]
        code = about["ISO_A3"] if about["ISO_A3"] != "-99" else _CODES.get(about["ADM0_A3"], about["ADM0_A3"])
        if code == "ATA":
            continue
        polygons = [shape["coordinates"]] if shape["type"] == "Polygon" else shape["coordinates"]
        rings = [ring for polygon in polygons for one in polygon if (ring := on_grid(one))]
        if rings:
            paths[code] = path(rings)
    return {"source": world.SOURCE, "width": WIDTH, "height": HEIGHT, "paths": dict(sorted(paths.items()))}


def written(found: dict[str, Any]) -> str:
    """The same as the file's text: a line for each country."""
    lines = ",\n".join(f'  "{code}": "{one}"' for code, one in found["paths"].items())
    head = json.dumps({name: value for name, value in found.items() if name != "paths"}, ensure_ascii=False)
    return f'{head[:-1]}, "paths": {{\n{lines}\n}}}}\n'


if __name__ == "__main__":
    text = written(made(json.loads(Path(sys.argv[1]).read_text())))
    target = Path(world.__file__).with_name("outlines.json")
    target.write_text(text)
    print(f"{target}: {len(text):,} bytes")  # noqa: T201  (a tool run by hand)
