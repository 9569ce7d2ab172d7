"""Charts read back: the places on an SVG, and the numbers they stand for."""

import re
from itertools import pairwise

from lxml import etree

_PLACE = r"(-?[0-9.]+(?:e-?[0-9]+)?),(-?[0-9.]+(?:e-?[0-9]+)?)"


def parsed(svg):
    """The elements of a drawing; it fails where the markup is not well-formed."""
    return etree.fromstring(str(svg))


def elements(svg, tag, name):
    """Elements of a tag that have all these classes."""
    return [one for one in parsed(svg).iter(tag) if set(name.split()) <= set((one.get("class") or "").split())]


def strokes(svg, name):
    """The joined stretches of a path: lists of places."""
    found = []
    for one in elements(svg, "path", name):
        for part in one.get("d").split("M")[1:]:
            found.append([tuple(map(float, pair)) for pair in re.findall(_PLACE, part)])
    return found


def dots(svg, name):
    """Centres of circles."""
    return [(float(one.get("cx")), float(one.get("cy"))) for one in elements(svg, "circle", name)]


def texts(svg, name):
    """Texts with their places."""
    return [(one.text, float(one.get("x")), float(one.get("y"))) for one in elements(svg, "text", name)]


def joined(svg, name):
    """Pairs of neighbouring places that a line joins."""
    return [pair for stroke in strokes(svg, name) for pair in pairwise(stroke)]
