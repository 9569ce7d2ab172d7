"""The documentation site: the same bytes each time and without a network, and nothing in it leads to nowhere."""

import hashlib
import json
import re

import pytest

from tools.docs.site import pages
from tools.docs.site.build import BuildError, build
from tools.docs.tables_interface import every

from . import links

pytestmark = [pytest.mark.slow, pytest.mark.site]


def digests(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_it_comes_out_the_same_from_nothing(site, tmp_path):
    build(tmp_path / "again")
    assert digests(tmp_path / "again") == digests(site)


def test_every_link_leads_somewhere(site):
    assert list(links.broken(site)) == []
    assert list(links.broken_in_markdown(site)) == []


def test_nothing_is_loaded_from_elsewhere(site):
    assert list(links.loaded_from_elsewhere(site)) == []


def test_every_page_is_there_with_its_markdown_and_in_the_lists(site):
    names = set(pages.sources())
    assert {path.relative_to(site).as_posix() for path in site.rglob("*.md")} == names
    html = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert html == {name.replace(".md", ".html") for name in names} | {"404.html"}
    listed = re.findall(r"(?m)^- \[[^\]]+\]\(([^)]+\.md)\): \S", (site / "llms.txt").read_text("utf-8"))
    assert sorted(listed) == sorted(names)
    whole = (site / "llms-full.txt").read_text("utf-8")
    assert [name for name in names if (site / name).read_text("utf-8").strip() not in whole] == []


def test_a_page_names_its_markdown(site):
    text = (site / "reference/listObservations.html").read_text("utf-8")
    assert '<link rel="alternate" type="text/markdown" href="listObservations.md">' in text
    assert '<a href="listObservations.md">This page as Markdown</a>' in text


def test_search_finds_every_operation_and_its_path(site):
    rows = json.loads((site / "search.json").read_text("utf-8"))["items"]
    for one in every():
        own = [row for row in rows if row["location"].startswith(f"reference/{one.operation_id}.html")]
        assert any(one.operation_id in row["text"] for row in own), one.operation_id
        assert any(one.path in row["title"] for row in own), one.path


def test_the_description_is_beside_the_pages(site):
    told = json.loads((site / "openapi.json").read_text("utf-8"))
    assert set(told["paths"]) == {one.path for one in every()}


def test_tables_and_lists_are_that_and_marks_are_gone(site):
    """What Python-Markdown reads in another way than others do is written so that it does not matter."""
    wrong = []
    for path in site.rglob("*.html"):
        text = re.sub(r"(?s)<(pre|code|script|style)\b.*?</\1>", "", path.read_text("utf-8"))
        wrong += [(path.name, mark) for mark in ("| --- |", "<!-- table:", "```", "](", "<p>- ") if mark in text]
    assert wrong == []


def test_a_fault_of_the_builder_is_told(site, tmp_path):
    with pytest.raises(BuildError):
        build(tmp_path / "none", before=("false",))
    assert not (tmp_path / "none").exists()
