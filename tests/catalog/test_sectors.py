"""Sectors, industries and templates by industry code."""

import pytest

from almanac.catalog.ranges import Ranges
from almanac.catalog.records import CatalogError
from almanac.catalog.sectors import Classified, Sectors, classify, shipped


def test_the_list_is_whole_and_every_code_of_it_has_a_sector():
    tables = shipped()
    assert len(tables._industries) == 444
    assert {classify(code).sector for code in tables._industries} == set(tables.names)
    assert [code for code in tables._industries if classify(code).sector == "Unclassified"] == [
        "6770", "8880", "8888", "9721", "9995",
    ]  # fmt: skip


def test_the_narrowest_range_decides():
    ranges = Ranges({"wide": ["2800-2899"], "narrow": ["2833-2836"], "one": ["2834"]})
    assert [ranges.get(code) for code in ("2832", "2833", "2834", "2900")] == ["wide", "narrow", "one", None]
    assert ranges.problems == []
    assert list(ranges.missing(["2834", "9999"])) == ["9999"]


GOOD = {
    "unclassified": "None",
    "sector": [{"name": "None", "codes": ["9999"]}, {"name": "Some", "codes": ["0100-0199"]}],
    "template": [{"name": "bank", "codes": ["0150"]}],
}


@pytest.mark.parametrize(
    ("change", "industries", "told"),
    [
        ({"unclassified": "Nothing"}, {}, "unclassified: Nothing is no sector"),
        ({"sector": [{"name": "None", "codes": ["0200-0100"]}]}, {}, "sector None: '0200-0100' is not a code or a range"),
        ({"template": [{"name": "broker", "codes": ["0100"]}]}, {}, "template broker is none"),
        ({"mood": 1}, {}, "unknown field `mood`"),
        ({}, {"200": "Sheep"}, "industry '200' is not a code of four digits"),
    ],
)  # fmt: skip
def test_a_contradiction_is_named(change, industries, told):
    with pytest.raises(CatalogError) as caught:
        Sectors(GOOD | change, industries)
    assert told in str(caught.value)
    assert Sectors(GOOD, {"0150": "Sheep"}).classify("150") == Classified("Some", "Sheep", "bank")
