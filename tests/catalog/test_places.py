"""The countries and regions that are shipped: codes, names, scopes, currencies."""

import re

import pytest

from almanac.catalog.load import shipped
from almanac.catalog.records import Catalog


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return shipped()


def test_every_place_of_iso_3166_is_there_with_well_formed_codes(catalog: Catalog) -> None:
    """ISO 3166-1 has 249 entries; Kosovo is a country without codes; the sum pins each code against a slip."""
    countries = [e for e in catalog.entities.values() if e.kind == "country"]
    coded = [e for e in countries if e.iso3]
    assert (len(countries), len(coded)) == (250, 249)
    assert [e.id for e in coded if e.id != f"country_{(e.iso3 or '').lower()}"] == []
    shapes = (("iso2", r"[A-Z]{2}"), ("iso3", r"[A-Z]{3}"), ("iso_numeric", r"[0-9]{3}"))
    for field, shape in shapes:
        values = [getattr(e, field) for e in coded]
        assert [value for value in values if not re.fullmatch(shape, value)] == [], field
        assert len(set(values)) == 249, field
    assert [e.slug for e in catalog.entities.values() if not re.fullmatch(r"[a-z]+(-[a-z]+)*", e.slug)] == []


def test_no_name_of_a_place_means_two(catalog: Catalog) -> None:
    owner: dict[str, str] = {}
    for entity in catalog.entities.values():
        names = (
            entity.name,
            entity.slug,
            entity.iso2,
            entity.iso3,
            entity.iso_numeric,
            *entity.aliases,
            *entity.former_names,
        )
        for name in {name.casefold() for name in names if name}:
            assert owner.setdefault(name, entity.id) == entity.id, name


def test_currencies_are_codes_of_iso_4217_and_none_that_was_replaced(catalog: Catalog) -> None:
    used = {e.currency for e in catalog.entities.values() if e.kind == "country" and e.currency}
    assert [code for code in used if not re.fullmatch(r"[A-Z]{3}", code)] == []
    replaced = {
        "ANG",
        "HRK",
        "BGN",
        "LTL",
        "EEK",
        "ZWL",
        "SLL",
        "VEF",
        "MRO",
        "STD",
        "BYR",
        "CUC",
        "DEM",
        "FRF",
        "TRL",
        "ZMK",
    }
    assert used & replaced == set()
    assert [e.id for e in catalog.entities.values() if e.kind == "country" and not e.currency] == ["country_ata"]
    assert len(used) == 153
