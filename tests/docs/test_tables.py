"""The generated tables of the pages are in step with the code, and nothing declared is missing from them."""

import importlib
import re

import pytest

from almanac.api.contract.errors import CODES
from tools.docs.render import ROOT, MarkError, pages, rendered
from tools.docs.tables_interface import every
from tools.docs.tables_operations import paths, variable

#: Pages whose tables take seconds to make.
DEAR = {"companies.md"}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow if page.name in DEAR else ())
        for page in pages()
        if "<!-- table:" in page.read_text("utf-8")
    ],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_the_tables_of_a_page_are_in_step(page):
    text = page.read_text("utf-8")
    assert rendered(text, page.name) == text, "run `make docs`"


def test_every_endpoint_has_a_section():
    text = (ROOT / "docs/interface.md").read_text("utf-8")
    told = re.findall(r"(?m)^### GET (\S+)$", text)
    marked = re.findall(r"(?m)^<!-- table:endpoint (\S+) -->$", text)
    declared = [one.path for one in every()]
    assert sorted(told) == sorted(declared)
    assert marked == told


def test_every_setting_and_every_error_code_is_told():
    settings = (ROOT / "docs/settings.md").read_text("utf-8")
    assert [path for path, _ in paths() if f"`{variable(path)}`" not in settings] == []
    interface = (ROOT / "docs/interface.md").read_text("utf-8")
    assert [code for code in CODES.values() if f"`{code}`" not in interface] == []


def test_links_between_pages_lead_somewhere():
    broken = [
        f"{page.name}: {target}"
        for page in [*pages(), ROOT / "CHANGELOG.md"]
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_functions_and_tests_that_pages_name_are_there():
    text = (ROOT / "docs/architecture.md").read_text("utf-8")
    for module, name in re.findall(r"`([a-z_.]+):([A-Za-z_.]+)`", text):
        found = importlib.import_module(f"almanac.{module}")
        for part in name.split("."):
            found = getattr(found, part)
        assert callable(found)
    named = {
        one for page in pages() for one in re.findall(r"`(tests/[a-z_/]+\.py)::(test_\w+)`", page.read_text("utf-8"))
    }
    assert [one for one in sorted(named) if f"\ndef {one[1]}(" not in (ROOT / one[0]).read_text("utf-8")] == []
    files = set(re.findall(r"`((?:api|store|pipeline|sources|derived|sandbox|tests|tools)/[a-z_/]+\.py)`", text))
    assert [name for name in files if not any((ROOT / base / name).exists() for base in ("src/almanac", "."))] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- table:nothing -->\n<!-- end -->\n", "there is no table 'nothing'"),
        ("<!-- table:errors -->\nno end\n", "1 tables begin, 0 of them"),
    ],
)
def test_a_wrong_mark_is_named(text, message):
    with pytest.raises(MarkError, match=re.escape(f"page.md: {message}")):
        rendered(text, "page.md")


def test_a_table_out_of_step_is_made_anew_and_prose_stays():
    old = "before\n<!-- table:plans -->\nold\n<!-- end -->\nafter\n"
    new = rendered(old, "page.md")
    assert new.startswith("before\n<!-- table:plans -->\n| Plan |")
    assert "| free | 100 | 24 months |" in new
    assert new.endswith("\n<!-- end -->\nafter\n")
    assert rendered(new, "page.md") == new
