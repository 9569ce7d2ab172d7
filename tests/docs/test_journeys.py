"""The functions that the page on the architecture leads through are there, under the names it gives."""

import importlib
import re

import pytest

from tests.support.paths import ROOT

TEXT = (ROOT / "docs/architecture.md").read_text("utf-8")
JOURNEYS = TEXT.partition("## Four journeys")[2].partition("\n## ")[0]
HOPS = re.findall(r"`([a-z_.]+):([A-Za-z_.]+)`", JOURNEYS)
#: Most hops that a reader can keep in mind.
MOST_HOPS = 12


@pytest.mark.parametrize(("module", "name"), HOPS, ids=[f"{module}:{name}" for module, name in HOPS])
def test_a_hop_is_a_function_of_the_package(module, name):
    found = importlib.import_module(f"almanac.{module}")
    for part in name.split("."):
        found = getattr(found, part)
    assert callable(found)


def test_each_journey_is_short_enough_to_be_read():
    journeys = [re.findall(r"(?m)^\d+\. ", journey) for journey in JOURNEYS.split("\n**")[1:]]
    assert [len(hops) for hops in journeys] == [10, 6, 11, 11]
    assert max(map(len, journeys)) <= MOST_HOPS


def test_modules_that_the_page_names_are_there():
    names = re.findall(r"`((?:api|store|pipeline|sources|derived|sandbox|tests)/[a-z_/]+\.py)`", TEXT)
    assert names
    assert [name for name in names if not any((ROOT / base / name).exists() for base in ("src/almanac", "."))] == []


def test_tests_that_pages_name_are_there():
    """`tests/x.py::test_y`, wherever a page says what holds a figure."""
    pages = [page for page in (ROOT / "docs").rglob("*.md") if "site" not in page.parts]
    named = {
        one for page in pages for one in re.findall(r"`(tests/[a-z_/]+\.py)::(test_\w+)`", page.read_text("utf-8"))
    }
    assert len(named) > 15
    assert [one for one in sorted(named) if f"\ndef {one[1]}(" not in (ROOT / one[0]).read_text("utf-8")] == []
