"""The tutorials as the dashboard has them: templates made from the pages in docs/, which a package does not hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from almanac.dashboard.explorer.tutorials import TUTORIALS
from tests.support.paths import ROOT

SOURCE = ROOT / "docs/tutorials"
FOLDER = ROOT / "src/almanac/dashboard/templates/tutorials"
#: The one whose addresses are the dashboard's own: there they are links.
GUIDE = "dashboard"
_ADDRESS = "http://127.0.0.1:8000"
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_COMMENT = re.compile(r"(?m)^<!-- [^\n]* -->\n")
_HEAD = "{# Written by `make docs` from docs/tutorials. #}\n" + '{% from "parts/code.html" import code_box %}\n'


def templates() -> dict[str, str]:
    """Each template by its file name, in the order of the dashboard."""
    return {
        f"{name}.html": template((SOURCE / f"{name}.md").read_text("utf-8"), pages=name == GUIDE)
        for name, *_ in TUTORIALS
    }


def update() -> Iterator[Path]:
    """Write what is out of step, and name it."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in templates().items():
        path = FOLDER / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            yield path


def template(text: str, *, pages: bool = False) -> str:
    """The body of a page, without its title, as a template that knows where the service is. `pages`: addresses are links."""
    tokens = _MARKDOWN.parse(_COMMENT.sub("", text))
    assert tokens[0].tag == "h1"
    return _HEAD + "".join(_written(tokens[3:], pages))


def heading_id(text: str) -> str:
    """What a link to a heading names it by."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _written(tokens: Sequence[Token], pages: bool) -> Iterator[str]:
    boxes = 0
    for at, token in enumerate(tokens):
        if token.type == "fence":
            boxes += 1
            yield f'{{{{ code_box({_literal(token.content)}, "code-{boxes}") }}}}\n'
        elif token.type == "inline":
            yield _inline(token.children or [], pages)
        elif token.type == "heading_open":
            yield f'<{token.tag} id="{heading_id(tokens[at + 1].content)}">'
        elif token.type == "table_open":
            yield '<div class="scroller" tabindex="0" role="region" aria-label="Table"><table>\n'
        elif token.type == "table_close":
            yield "</table></div>\n"
        elif not token.hidden:
            yield f"<{'/' if token.nesting < 0 else ''}{token.tag}>" + ("\n" if token.nesting < 0 else "")


def _inline(tokens: Sequence[Token], pages: bool) -> str:
    parts, ends = [], []
    for token in tokens:
        if token.type == "text":
            parts.append(_plain(token.content))
        elif token.type == "softbreak":
            parts.append("\n")
        elif token.type == "code_inline":
            code = f"<code>{_plain(token.content)}</code>"
            parts.append(
                f'<a href="{_plain(token.content)}">{code}</a>' if pages and token.content.startswith("/") else code
            )
        elif token.type == "link_open":
            href = _link(str(token.attrs["href"]))
            parts.append("" if href is None else f'<a href="{escape(href)}">')
            ends.append("" if href is None else "</a>")
        elif token.type == "link_close":
            parts.append(ends.pop())
        else:
            parts.append(f"<{'/' if token.nesting < 0 else ''}{token.tag}>")
    return "".join(parts)


def _link(target: str) -> str | None:
    """Where a link leads here. None: to a page that the dashboard has not."""
    path, hash_, heading = target.partition("#")
    name = path.removeprefix("../").removeprefix("tutorials/").removesuffix(".md")
    if name in {one for one, *_ in TUTORIALS}:
        return f"/tutorials/{name}{hash_}{heading}"
    return "/console" if name.startswith("reference/") else None


def _plain(text: str) -> str:
    """Text of a template, nothing of which is the template's own."""
    shown = escape(text).replace("{", "&#123;").replace("}", "&#125;")
    return shown.replace(_ADDRESS, "{{ api_url }}")


def _literal(text: str) -> str:
    """An expression of a template that gives a text, with the address at which this service is."""
    parts = [json.dumps(part, ensure_ascii=True) for part in text.rstrip("\n").split(_ADDRESS)]
    return " ~ api_url ~ ".join(parts)
