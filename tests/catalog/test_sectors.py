"""Sectors, industries and templates by industry code."""

import pytest

from almanac.catalog.records import CatalogError
from almanac.catalog.sectors import Classified, classify, shipped
from almanac.catalog.tables import packaged


def test_the_list_is_whole_and_every_code_of_it_has_a_sector():
    codes = {code for code, classified in shipped().items() if classified.industry is not None}
    assert len(codes) == 444
    names = {group["name"] for group in packaged("companies/sectors.toml")["sector"]}
    assert {classify(code).sector for code in codes} == names
    assert sorted(code for code in codes if classify(code).sector == "Unclassified") == [
        "6770", "8880", "8888", "9721", "9995",
    ]  # fmt: skip


def read(instead, sectors, industries):
    files = {"companies/sectors.toml": sectors, "companies/industries.toml": {"industry": industries}}
    return instead(shipped, files)


GOOD = {
    "unclassified": "None",
    "sector": [{"name": "None", "codes": ["9999"]}, {"name": "Some", "codes": ["0100-0199"]}],
    "template": [{"name": "bank", "codes": ["0150"]}],
}


def test_the_narrowest_range_decides(instead):
    groups = [
        {"name": "None", "codes": ["2800-2899"]},
        {"name": "Few", "codes": ["2833-2836"]},
        {"name": "One", "codes": ["2834"]},
    ]
    codes = read(instead, GOOD | {"sector": groups}, {})
    assert [codes[code].sector for code in ("2832", "2833", "2834", "2900")] == ["None", "Few", "One", "None"]
    with pytest.raises(CatalogError, match="industry 9999: has no sector"):
        read(instead, GOOD | {"sector": groups}, {"2834": "Medicines", "9999": "Others"})


@pytest.mark.parametrize(
    ("change", "industries", "told"),
    [
        ({"unclassified": "Nothing"}, {}, "unclassified: Nothing is no sector"),
        ({"sector": [{"name": "None", "codes": ["0200-0100"]}]}, {}, "sector None: '0200-0100' is not a code or a range"),
        ({"sector": [*GOOD["sector"], {"name": "More", "codes": ["0100-0199"]}]}, {}, "sector More: 0100 is in two ranges of one width, the other is of Some"),
        ({"sector": GOOD["sector"] * 2}, {}, "sector None: is there twice"),
        ({"template": [{"name": "shop", "codes": ["0100"]}]}, {}, "template shop: Invalid enum value 'shop' at name, allowed are industrial, bank, "),
        ({"mood": 1}, {}, "companies/sectors.toml: unknown table [[mood]], allowed are unclassified, sector, template"),
        ({}, {"200": "Sheep"}, "industry '200': is not a code of four digits"),
    ],
)  # fmt: skip
def test_a_contradiction_is_named(instead, change, industries, told):
    with pytest.raises(CatalogError) as caught:
        read(instead, GOOD | change, industries)
    assert told in str(caught.value)
    assert read(instead, GOOD, {"0150": "Sheep"})["0150"] == Classified("Some", "Sheep", "bank")
