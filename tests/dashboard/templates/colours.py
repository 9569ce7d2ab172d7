"""Colours as eyes have them: contrast (WCAG 2), and distance under normal sight and the three kinds of colour blindness."""

from __future__ import annotations

import re
from itertools import combinations

from .kit import STATIC

CSS = (STATIC / "app.css").read_text("utf-8")
#: Machado, Oliveira and Fernandes 2009, severity 1.0, for linear RGB.
SIGHTS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}


def block(selector):
    """The declarations of the rule with this selector, as the file has them."""
    start = CSS.index(selector + " {") + len(selector) + 2
    return CSS[start : CSS.index("}", start)]


def declarations(selector):
    """Custom properties of a rule."""
    return dict(re.findall(r"(--[\w-]+|color-scheme):\s*([^;]+);", block(selector)))


def tokens(selector):
    """Those that are colours."""
    return {name: value for name, value in declarations(selector).items() if value.startswith("#")}


LIGHT = tokens(":root")
DARK_BY_MEDIA, DARK_BY_CHOICE = ':root:not([data-theme="light"])', ':root[data-theme="dark"]'
THEMES = {"light": LIGHT, "dark": LIGHT | tokens(DARK_BY_MEDIA)}


def linear(colour):
    """Red, green and blue as light, 0 to 1."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def contrast(one, other):
    """Ratio, 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour):
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))


def smallest_distance(colours, sight):
    """Between any two of them, in OKLab × 100."""
    seen = [_oklab(_seen(linear(colour), SIGHTS[sight])) for colour in colours]
    return min(
        100 * sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 for one, other in combinations(seen, 2)
    )


def _seen(light, matrix):
    return [min(max(sum(m * part for m, part in zip(row, light, strict=True)), 0), 1) for row in matrix]


def _oklab(light):
    red, green, blue = light
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short,
    )
