"""
Build the documentation site: `make site`.

Pages are put together in a folder of their own, Zensical makes HTML of them, and beside each page lies its Markdown;
`llms.txt` lists all pages, `llms-full.txt` holds them, `openapi.json` is the interface's description.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from almanac.api.contract.openapi import document
from tests.support.paths import ROOT
from tools.docs.tables_interface import every

from .pages import for_zensical, navigation, page, sources, title

ZENSICAL = ROOT / ".venv-site/bin/zensical"
SITE = ROOT / "site"
_BESIDE = (Path(__file__).with_name("site.css"), ROOT / "src/almanac/dashboard/static/mark.svg")


class BuildError(Exception):
    """Zensical did not build the site. The message is what it said."""


def build(target: Path, *, before: Sequence[str] = ()) -> None:
    """Build into a folder, from nothing; what was in it is gone. `before`: words before the command. Raises BuildError."""
    texts = {name: page(place, (ROOT / place).read_text("utf-8")) for name, place in sources().items()}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        _stage(work, texts)
        done = subprocess.run(
            [*before, ZENSICAL, "build", "--clean", "--strict"], cwd=work, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise BuildError((done.stdout + done.stderr).strip())
        made = work / "site"
        _finish(made, texts)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(made, target)


def _stage(work: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        path = work / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(for_zensical(text), "utf-8")
    for path in (ROOT / "docs").rglob("*.*"):
        if path.is_file() and path.suffix != ".md":
            copy = work / "pages" / path.relative_to(ROOT / "docs")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    for path in _BESIDE:
        shutil.copy(path, work / "pages")
    settings = (ROOT / "zensical.toml").read_text("utf-8")
    # TOML's arrays and strings are written as JSON writes them; its inline tables are not.
    tables = re.sub(r'("(?:[^"\\]|\\.)*"): ', r"\1 = ", json.dumps(navigation(texts), ensure_ascii=False))
    (work / "zensical.toml").write_text(settings.replace("[project]\n", f"[project]\nnav = {tables}\n", 1), "utf-8")


def _finish(made: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (made / name).write_text(text, "utf-8")
        html = (made / name).with_suffix(".html")
        html.write_text(_with_twin(html.read_text("utf-8"), Path(name).name), "utf-8")
    # It wants to know where the site will stand, which we do not.
    (made / "sitemap.xml").unlink()
    (made / "llms.txt").write_text(_list(texts), "utf-8")
    (made / "llms-full.txt").write_text(
        "\n\n".join(f"<!-- {name} -->\n\n{text.strip()}" for name, text in _ordered(texts)) + "\n", "utf-8"
    )
    (made / "openapi.json").write_text(json.dumps(document(every()), ensure_ascii=False) + "\n", "utf-8")


def _with_twin(html: str, twin: str) -> str:
    html = html.replace("</head>", f'<link rel="alternate" type="text/markdown" href="{twin}"></head>', 1)
    return html.replace("</article>", f'<p class="twin"><a href="{twin}">This page as Markdown</a></p></article>', 1)


def _ordered(texts: dict[str, str]) -> list[tuple[str, str]]:
    names = re.findall(r'"([^"]+\.md)"', json.dumps(navigation(texts)))
    return [(name, texts[name]) for name in names]


def _list(texts: dict[str, str]) -> str:
    lines = ["# Almanac", "", f"> {_first(texts['index.md'])}", "", "## Pages", ""]
    lines += [f"- [{title(text)}]({name}): {_first(text)}" for name, text in _ordered(texts)]
    more = ["", "## More", "", "- [openapi.json](openapi.json): the interface's description for programs."]
    return "\n".join([*lines, *more, "- [llms-full.txt](llms-full.txt): all of these pages in one."]) + "\n"


def _first(text: str) -> str:
    """The first sentence below the heading, without links and labels."""
    body = re.sub(r"(?ms)^```.*?^```$|^#[^\n]*$|^[|<>][^\n]*$|^\*\*\w+\.\*\* ", "", text)
    words = " ".join(next(part for part in body.split("\n\n") if part.strip()).split())
    words = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", words)
    return re.split(r"(?<=[.:]) (?=[A-Z`])", words)[0]


def main() -> None:
    """Build where people look for it."""
    if not ZENSICAL.exists():
        sys.exit(f"{ZENSICAL.relative_to(ROOT)} is not there: run `make site`, which installs it")
    build(SITE)
    sys.stdout.write(f"{len(sources())} pages: {SITE / 'index.html'}\n")


if __name__ == "__main__":
    main()
