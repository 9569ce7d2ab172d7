"""The pages of the site: which files of the repository they are, their titles, and where they stand in the navigation."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.support.paths import ROOT
from tools.docs.tables_interface import every

#: Pages that are not in docs/, by their place in the repository, and their names on the site.
ELSEWHERE = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
#: What a link to a file that is no page leads to instead.
INSTEAD = {"README.md": "index.md"}
#: Sections in their order, with pages by name or by pattern; what is not there is left out.
SECTIONS = (
    ("", ("index.md", "start.md")),
    ("Tutorials", ("tutorials/dashboard.md", "tutorials/first-series.md", "tutorials/point-in-time.md",
                   "tutorials/companies.md", "tutorials/screens.md", "tutorials/spreadsheets.md",
                   "tutorials/backtest.md", "tutorials/javascript.md", "tutorials/agents.md",
                   "tutorials/*.md")),
    ("Python client", ("client/index.md", "client/*.md")),
    ("Language models", ("mcp.md", "mcp/*.md")),
    ("Interface", ("interface.md", "catalogue.md", "companies.md")),
    ("Reference", ("reference/index.md",)),
    ("Running it", ("operations.md", "settings.md", "commands.md", "alerts.md", "performance.md")),
    ("Changing it", ("contributing.md", "architecture.md", "adding-a-source.md")),
    ("Decisions", ("decisions/index.md", "decisions/*.md")),
    ("", ("changelog.md",)),
    ("More", ("*.md",)),
)  # fmt: skip
_FENCE = re.compile(r"(?ms)^( *)```.*?^\1```$")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def sources() -> dict[str, str]:
    """Every page by its name on the site, and the place of its file in the repository."""
    docs = sorted((ROOT / "docs").rglob("*.md"))
    names = [path.relative_to(ROOT / "docs").as_posix().replace("README.md", "index.md") for path in docs]
    found = {name: path.relative_to(ROOT).as_posix() for name, path in zip(names, docs, strict=True)}
    return found | {name: place for place, name in ELSEWHERE.items()}


def title(text: str) -> str:
    """Return a page's title: its first heading. Raises ValueError if it has none."""
    match = re.search(r"(?m)^# (.+)$", text)
    if match is None:
        raise ValueError("a page has no heading")
    return match[1].replace("`", "")


def navigation(texts: dict[str, str]) -> list[dict[str, Any]]:
    """The navigation as Zensical takes it. Every page stands in it once."""
    left = list(texts)
    made: list[dict[str, Any]] = []
    for heading, wanted in SECTIONS:
        names: list[str] = []
        for pattern in wanted:
            names += [name for name in left if _fits(name, pattern) and name not in names]
        left = [name for name in left if name not in names]
        rows: list[Any] = [{title(texts[name]): name} for name in names]
        if heading == "Reference" and names:
            # First what a section's own name leads to, then its operations by what they are about.
            rows = [names[0], *_operations(left)]
            left = [name for name in left if not name.startswith("reference/")]
        made += ([{heading: rows}] if heading else rows) if rows else []
    return made


def _operations(names: list[str]) -> Iterator[dict[str, list[dict[str, str]]]]:
    tags: dict[str, list[dict[str, str]]] = {}
    for one in every():
        if (name := f"reference/{one.operation_id}.md") in names:
            tags.setdefault(one.tag, []).append({one.path: name})
    yield from ({tag: rows} for tag, rows in tags.items())


def _fits(name: str, pattern: str) -> bool:
    head, _, tail = pattern.rpartition("*")
    return name.startswith(head) and name.endswith(tail) if "*" in pattern else name == pattern


def page(place: str, text: str) -> str:
    """The text of a file as a page of the site: links lead to pages, and marks of generated parts are gone."""
    known = {place: name for name, place in sources().items()}
    own = known[place]

    def led(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        path, sharp, anchor = target.partition("#")
        if "://" in target or not path:
            return match[0]
        there = posixpath.normpath(posixpath.join(posixpath.dirname(place), path))
        name = known.get(there) or INSTEAD.get(there)
        if name is None and there.startswith("docs/") and (ROOT / there).is_file():
            name = there.removeprefix("docs/")
        # A file of the repository that is no page: it can be named, and not be led to.
        return f"{picture}[{words}]({_from(own, name)}{sharp}{anchor})" if name else words

    text = re.sub(r"(?m)^<!-- (table:.*|end) -->\n", "", text)
    return outside(lambda part: _LINK.sub(led, part), text)


def outside(change: Callable[[str], str], text: str) -> str:
    """A text whose parts outside of fenced blocks are changed."""
    made, at = [], 0
    for fence in _FENCE.finditer(text):
        made += [change(text[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*made, change(text[at:])])


def for_zensical(text: str) -> str:
    """The same page for Python-Markdown, which wants four spaces inside lists, and takes pipes in code as they are."""

    def changed(part: str) -> str:
        part = re.sub(r"(?m)^ {2,3}(?=\S)", "    ", part)
        part = re.sub(r"(?m)^((?![-*] |\d+\. | |\|).+)\n(?=(?:[-*]|\d+\.) )", r"\1\n\n", part)
        return re.sub(r"`[^`\n]*`", lambda code: code[0].replace("\\|", "|"), part)

    return outside(changed, text)


def _from(page_name: str, target: str) -> str:
    return posixpath.relpath(target, posixpath.dirname(page_name) or ".").replace(os.sep, "/")
