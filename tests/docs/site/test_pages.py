"""How pages of the repository become pages of the site, and whether its checks find what is wrong."""

import json
import re

import pytest

from tests.support.paths import ROOT
from tools.docs.site import pages

from . import links


def test_every_page_stands_in_the_navigation_once():
    texts = {name: (ROOT / place).read_text("utf-8") for name, place in pages.sources().items()}
    told = re.findall(r'"([^"]+\.md)"', json.dumps(pages.navigation(texts)))
    assert sorted(told) == sorted(texts)
    assert told[:3] == ["index.md", "start.md", "tutorials/dashboard.md"]


def test_pages_that_others_bring_find_their_place_and_none_is_missed():
    texts = {name: f"# {name}" for name in ("index.md", "client/frames.md", "client/index.md", "mcp.md", "new.md")}
    assert pages.navigation(texts) == [
        {"index.md": "index.md"},
        {"Python client": [{"client/index.md": "client/index.md"}, {"client/frames.md": "client/frames.md"}]},
        {"Language models": [{"mcp.md": "mcp.md"}]},
        {"More": [{"new.md": "new.md"}]},
    ]


@pytest.mark.parametrize(
    ("place", "text", "wanted"),
    [
        ("docs/operations.md", "[a](settings.md#x) [b](#own)", "[a](settings.md#x) [b](#own)"),
        ("docs/operations.md", "[`backup.sh`](../deploy/backup.sh)", "`backup.sh`"),
        ("docs/decisions/README.md", "[a](../../CONTRIBUTING.md#x)", "[a](../contributing.md#x)"),
        ("CHANGELOG.md", "[a](docs/decisions/README.md)", "[a](decisions/index.md)"),
        ("CHANGELOG.md", "[a](https://example.org/b) [c](README.md)", "[a](https://example.org/b) [c](index.md)"),
        ("docs/start.md", "![a](images/series.png)", "![a](images/series.png)"),
        ("docs/start.md", "```sh\n[a](../deploy/backup.sh)\n```", "```sh\n[a](../deploy/backup.sh)\n```"),
        ("docs/start.md", "<!-- table:ways . -->\nx\n<!-- end -->\ny", "x\ny"),
    ],
)
def test_links_lead_to_pages_of_the_site(place, text, wanted):
    assert pages.page(place, text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("- a\n  1. b\n   c", "- a\n    1. b\n    c"),
        ("words:\n- a\n- b", "words:\n\n- a\n- b"),
        ("- a\n- b\n1. c", "- a\n- b\n1. c"),
        ("| `a\\|b` | c\\|d |", "| `a|b` | c\\|d |"),
        ("```\n  x\n```", "```\n  x\n```"),
    ],
)
def test_pages_read_the_same_in_python_markdown(text, wanted):
    assert pages.for_zensical(text) == wanted


def test_the_checks_find_what_is_wrong(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "index.html").write_text(
        '<p id="here"><a href="#here">a</a><a href="#gone">b</a><a href="deep/page.html#part">c</a>'
        '<a href="deep/none.html">d</a><a href="https://example.org/">e</a><img src="//cdn.example.org/x.png">'
        '<script src="https://cdn.example.org/x.js"></script><p style="background:url(https://example.org/y.png)">'
    )
    (tmp_path / "deep/page.html").write_text(
        '<p id="part"><a href="../index.html#here">a</a><a href="/index.html">b</a>'
    )
    (tmp_path / "deep/page.md").write_text("[a](../index.html) [b](none.md)\n```\n[c](none.md)\n```\n")
    (tmp_path / "llms.txt").write_text("[a](deep/page.md)")
    (tmp_path / "own.css").write_text(
        "@font-face{src:url('https://fonts.example.org/z.woff2')} p{background:url(x.png)}"
    )
    assert list(links.broken(tmp_path)) == [
        "index.html: #gone has no such anchor",
        "index.html: deep/none.html leads nowhere",
    ]
    assert list(links.broken_in_markdown(tmp_path)) == ["deep/page.md: none.md leads nowhere"]
    assert list(links.loaded_from_elsewhere(tmp_path)) == [
        "index.html: //cdn.example.org/x.png",
        "index.html: https://cdn.example.org/x.js",
        "index.html: https://example.org/y.png",
        "own.css: https://fonts.example.org/z.woff2",
    ]
