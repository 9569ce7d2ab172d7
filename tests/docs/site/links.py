"""What a built site leads to and loads: the builder lets a reference to nothing pass, so every one is followed here."""

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lxml import html

#: Elements whose address a browser loads without being asked.
_LOADED = "//script/@src | //img/@src | //iframe/@src | //source/@src | //source/@srcset | //object/@data | //link[not(@rel='alternate')]/@href"
_STYLED = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s]+)""")
#: A link to somewhere in a Markdown text.
_LINK = re.compile(r"\]\(([^()\s]+)\)")


@cache
def _tree(path: Path) -> html.HtmlElement:
    return html.fromstring(path.read_bytes())


@cache
def _anchors(path: Path) -> frozenset[str]:
    return frozenset(_tree(path).xpath("//@id | //a/@name"))


def broken(site: Path) -> Iterator[str]:
    """Links of pages to a page, file or anchor of the site that is not there."""
    for path in sorted(site.rglob("*.html")):
        for target in sorted(set(_tree(path).xpath("//@href | //@src | //source/@srcset"))):
            if _elsewhere(target):
                continue
            there, anchor = _resolved(site, path, target)
            name = path.relative_to(site).as_posix()
            if not there.is_file():
                yield f"{name}: {target} leads nowhere"
            elif anchor and there.suffix == ".html" and unquote(anchor) not in _anchors(there):
                yield f"{name}: {target} has no such anchor"


def broken_in_markdown(site: Path) -> Iterator[str]:
    """Links of the Markdown beside pages, and of llms.txt, to a file of the site that is not there."""
    for path in [*sorted(site.rglob("*.md")), site / "llms.txt"]:
        for target in _LINK.findall(re.sub(r"(?ms)^```.*?^```$", "", path.read_text("utf-8"))):
            if not _elsewhere(target) and not _resolved(site, path, target)[0].is_file():
                yield f"{path.relative_to(site).as_posix()}: {target} leads nowhere"


def loaded_from_elsewhere(site: Path) -> Iterator[str]:
    """Scripts, styles, fonts and pictures that a page or a style sheet would load from another host."""
    for path in sorted(site.rglob("*.html")):
        yield from (f"{path.name}: {target}" for target in _tree(path).xpath(_LOADED) if _elsewhere(target))
        for style in _tree(path).xpath("//style/text() | //@style"):
            yield from (f"{path.name}: {target}" for target in _STYLED.findall(style) if _elsewhere(target))
    for path in sorted(site.rglob("*.css")):
        told = _STYLED.findall(path.read_text("utf-8"))
        yield from (f"{path.name}: {target}" for target in told if _elsewhere(target))


def _elsewhere(target: str) -> bool:
    parts = urlsplit(target)
    return parts.scheme not in {"", "data"} or bool(parts.netloc)


def _resolved(site: Path, page: Path, target: str) -> tuple[Path, str]:
    parts = urlsplit(target)
    if parts.scheme == "data" or not parts.path:
        return page, parts.fragment
    base = "/" if parts.path.startswith("/") else "/" + page.parent.relative_to(site).as_posix()
    name = posixpath.normpath(posixpath.join(base, unquote(parts.path))).lstrip("/")
    return site / (name or "index.html"), parts.fragment
