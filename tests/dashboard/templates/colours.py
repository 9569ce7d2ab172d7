"""Colours as eyes have them: contrast (WCAG 2), and distance under normal sight and the three kinds of colour blindness."""

from __future__ import annotations

import math
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


def mixed(one, other, share):
    """Light of two colours mixed as `color-mix(in oklab, one share%, other)` does: 0 to 1 for red, green and blue."""
    parts = zip(_oklab(linear(one)), _oklab(linear(other)), strict=True)
    lightness, green_red, blue_yellow = (share / 100 * a + (1 - share / 100) * b for a, b in parts)
    long = (lightness + 0.3963377774 * green_red + 0.2158037573 * blue_yellow) ** 3
    middle = (lightness - 0.1055613458 * green_red - 0.0638541728 * blue_yellow) ** 3
    short = (lightness - 0.0894841775 * green_red - 1.291485548 * blue_yellow) ** 3
    light = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short,
    )
    return [min(max(part, 0), 1) for part in light]


def cielab(light, sight="normal"):
    """L*, a* and b* (D65) of light as eyes of a kind have it."""
    red, green, blue = _seen(light, SIGHTS[sight])
    x = 0.4124564 * red + 0.3575761 * green + 0.1804375 * blue
    y = 0.2126729 * red + 0.7151522 * green + 0.072175 * blue
    z = 0.0193339 * red + 0.119192 * green + 0.9503041 * blue
    whole = [part / white for part, white in zip((x, y, z), (0.95047, 1, 1.08883), strict=True)]
    x, y, z = (part ** (1 / 3) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116 for part in whole)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def ciede2000(one, other):
    """Difference of two colours of CIELAB (CIE 142:2001; Sharma, Wu and Dalal 2005). About 2.3 is just noticed."""
    (light, a, b), (light_2, a_2, b_2) = one, other
    chroma = (math.hypot(a, b) + math.hypot(a_2, b_2)) / 2
    stretch = 1.5 - 0.5 * math.sqrt(chroma**7 / (chroma**7 + 25**7))
    (chroma, hue), (chroma_2, hue_2) = (
        (math.hypot(stretch * x, y), math.degrees(math.atan2(y, stretch * x)) % 360) for x, y in ((a, b), (a_2, b_2))
    )
    grey = chroma * chroma_2 == 0
    turn = 0 if grey else (hue_2 - hue + 180) % 360 - 180
    mean_hue = hue + hue_2 if grey else (hue + turn / 2) % 360
    mean_light, mean_chroma = (light + light_2) / 2, (chroma + chroma_2) / 2
    weight = (
        1
        - 0.17 * math.cos(math.radians(mean_hue - 30))
        + 0.24 * math.cos(math.radians(2 * mean_hue))
        + 0.32 * math.cos(math.radians(3 * mean_hue + 6))
        - 0.2 * math.cos(math.radians(4 * mean_hue - 63))
    )
    far = (mean_light - 50) ** 2
    by_light = (light_2 - light) / (1 + 0.015 * far / math.sqrt(20 + far))
    by_chroma = (chroma_2 - chroma) / (1 + 0.045 * mean_chroma)
    by_hue = 2 * math.sqrt(chroma * chroma_2) * math.sin(math.radians(turn / 2)) / (1 + 0.015 * mean_chroma * weight)
    blue = math.sin(math.radians(60 * math.exp(-(((mean_hue - 275) / 25) ** 2))))
    rotation = -2 * math.sqrt(mean_chroma**7 / (mean_chroma**7 + 25**7)) * blue
    return math.sqrt(by_light**2 + by_chroma**2 + by_hue**2 + rotation * by_chroma * by_hue)
