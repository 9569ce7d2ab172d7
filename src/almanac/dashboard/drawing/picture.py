"""
A chart as a file of its own: an SVG that carries its name, source, licence, day and address inside the picture.

Its colours and strokes are those of the page, read from the one style sheet; it is light, for it will lie on paper.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

from markupsafe import Markup, escape

from almanac.dashboard.drawing.scales import CHARACTER
from almanac.dashboard.drawing.svg import Drawing

_SHEET = Path(__file__).parent.parent / "static" / "app.css"
_RULE = re.compile(r"^([^{}@/]+)\{([^{}]*)\}$", re.MULTILINE)
_VAR = re.compile(r"var\(--([a-z0-9-]+)(?:, var\(--[a-z]+\))?\)")
#: Of the style sheet's rules those that a drawing of lines needs, by what they are about.
_WANTED = re.compile(
    r"\.chart (?:text|\.end|\.newest)|\.newest|\.event"
    r"|(?:\.(?:grid|axis|line|stem|leader|dot)|circle\.first|path\.withheld)(?:\.[a-z0-9]+)*"
)
_COLOURS = 7
_EDGE, _TITLE, _LINE, _SMALL = 20, 24, 17, 12


class PicturePanel(NamedTuple):
    """One drawing of a picture with what its values are in; `words` instead of it where there is nothing to draw."""

    unit: str
    drawing: Drawing | None
    words: str = ""


def picture(title: str, panels: Sequence[PicturePanel], foot: Sequence[str]) -> bytes:
    """The picture: title, panels below each other, and what must be said of them. Texts are escaped, and broken to fit."""
    plots = [panel.drawing.plots[0].sheet for panel in panels if panel.drawing is not None]
    width = max([sheet.width for sheet in plots], default=880)
    most = int(width / CHARACTER)
    parts: list[str] = []
    y = _EDGE
    for line in wrap(title, int(width / 11.5), break_on_hyphens=False):
        y += _TITLE
        parts.append(_text(line, y, "title"))
    for panel in panels:
        y += _TITLE
        parts.append(_text(panel.unit, y, "unit"))
        y += 6
        if panel.drawing is None:
            y += _TITLE
            parts.append(_text(panel.words, y, "foot"))
            continue
        inside = str(panel.drawing.svgs[0])
        height = panel.drawing.height
        inside = inside[inside.index("<g ") : inside.rindex("</svg>")]
        parts.append(f'<g class="chart" transform="translate({_EDGE} {y})">{inside}</g>')
        y += height
    y += 8
    for sentence in foot:
        for line in wrap(sentence, most, break_on_hyphens=False):
            y += _LINE
            parts.append(_text(line, y, "foot"))
    height = y + _EDGE
    whole = width + 2 * _EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {height}" width="{whole}" height="{height}" role="img">'
        f"<title>{escape(title)}</title><style>{_style()}</style>"
        f'<rect width="{whole}" height="{height}" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    ).encode()


def _text(words: str, y: int, name: str) -> Markup:
    return Markup('<text class="{}" x="{}" y="{}">{}</text>').format(name, _EDGE, y, words)


@cache
def _style() -> str:
    """The rules of the page's drawings, with the light theme's colours written out: other programs know no variables."""
    sheet = _SHEET.read_text("utf-8")
    declared = (one.strip().partition(": ") for one in sheet.partition(":root {")[2].partition("}")[0].split(";"))
    tokens = {name.removeprefix("--"): value for name, _, value in declared if value.startswith("#")}
    found = [
        "text{font-family:'IBM Plex Sans',system-ui,sans-serif}",
        f".title{{font-size:19px;font-weight:600;fill:{tokens['ink']}}}",
        f".unit{{font-size:13px;fill:{tokens['ink-2']}}}.foot{{font-size:{_SMALL}px;fill:{tokens['ink-2']}}}",
    ]
    for selectors, body in _RULE.findall(sheet.partition("@media (max-width")[0]):
        wanted = ",".join(one.strip() for one in selectors.split(",") if _WANTED.fullmatch(one.strip()))
        if not wanted:
            continue
        if "--c:" in body:  # the ghost, which has a colour of its own
            tokens["c"] = tokens[_VAR.findall(body)[0]]
        if "var(--c)" in body or "var(--c," in body:
            for number in range(1, _COLOURS + 1) if "--c:" not in body else ():
                of = ",".join(f"{one}.c{number}" for one in wanted.split(","))
                found.append(f"{of}{{{_written(body, tokens | {'c': tokens[f'c{number}']})}}}")
            plain = [part for part in body.split(";") if "var(--c" not in part and part.strip()]
            if plain:
                found.append(f"{wanted}{{{_written(';'.join(plain), tokens)}}}")
        else:
            plain_body = body.partition(";")[2] + f"stroke:{tokens['ghost']}" if "--c:" in body else body
            found.append(f"{wanted}{{{_written(plain_body, tokens)}}}")
    return "".join(found)


def _written(body: str, tokens: dict[str, str]) -> str:
    def colour(match: re.Match[str]) -> str:
        return tokens[match[1]]

    return _VAR.sub(colour, body).replace(": ", ":").replace("; ", ";").strip()
