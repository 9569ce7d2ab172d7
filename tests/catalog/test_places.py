"""The countries and regions that are shipped: codes, names, scopes, currencies."""

from __future__ import annotations

import re
from collections import Counter

import msgspec
import pytest

from almanac.catalog.load import Catalog, load

COUNTRIES = """
usa deu fra ita esp nld bel aut irl prt fin grc swe dnk pol cze hun rou nor che gbr jpn can aus nzl kor isr tur mex
chl col bra chn ind idn zaf sau arg
""".split()  # noqa: SIM905  (a table of words is read faster than ninety quoted lines)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load()


def test_the_countries_of_the_specification_are_there(catalog: Catalog) -> None:
    assert [iso for iso in COUNTRIES if f"country_{iso}" not in catalog.entities] == []
    germany = catalog.entities["country_deu"]
    assert msgspec.to_builtins(germany) == {
        "id": "country_deu",
        "slug": "germany",
        "name": "Germany",
        "kind": "country",
        "iso2": "DE",
        "iso3": "DEU",
        "iso_numeric": "276",
        "region": "Europe & Central Asia",
        "income_group": "High income",
        "currency": "EUR",
        "aliases": ("Deutschland", "Federal Republic of Germany"),
        "rates_scope": None,
    }


def test_seven_scopes(catalog: Catalog) -> None:
    scopes = {e.rates_scope: e.id for e in catalog.entities.values() if e.rates_scope}
    assert scopes == {
        "AUS": "country_aus",
        "CAN": "country_can",
        "CHE": "country_che",
        "EUR": "region_euro_area",
        "GBR": "country_gbr",
        "JPN": "country_jpn",
        "USA": "country_usa",
    }


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


def test_income_groups_count_as_the_world_bank_counts_them(catalog: Catalog) -> None:
    """Fiscal year 2026: 25, 50, 54 and 87 economies; Jersey and Guernsey are one of them (the Channel Islands)."""
    groups = Counter(e.income_group for e in catalog.entities.values() if e.income_group)
    assert groups == {
        "Low income": 25,
        "Lower middle income": 50,
        "Upper middle income": 54,
        "High income": 87 + 1,
    }


def test_the_euro_area_uses_the_euro(catalog: Catalog) -> None:
    """Twenty-one members since January 2026, and the places that use the euro without being one of them."""
    members = [
        "AUT",
        "BEL",
        "BGR",
        "CYP",
        "DEU",
        "ESP",
        "EST",
        "FIN",
        "FRA",
        "GRC",
        "HRV",
        "IRL",
        "ITA",
        "LTU",
        "LUX",
        "LVA",
        "MLT",
        "NLD",
        "PRT",
        "SVK",
        "SVN",
    ]
    users = {e.iso3 for e in catalog.entities.values() if e.kind == "country" and e.currency == "EUR"}
    assert len(members) == 21
    assert set(members) - users == set()
    assert users & {"SWE", "DNK", "POL", "CZE", "HUN", "ROU", "GBR", "CHE", "NOR"} == set()
    area = catalog.entities["region_euro_area"]
    assert (area.iso2, area.iso3, area.aliases[:5]) == (None, None, ("EUR", "EA", "EMU", "U2", "XM"))


def test_no_name_of_a_place_means_two(catalog: Catalog) -> None:
    owner: dict[str, str] = {}
    for entity in catalog.entities.values():
        names = (entity.name, entity.slug, entity.iso2, entity.iso3, entity.iso_numeric, *entity.aliases)
        for name in {name.casefold() for name in names if name}:
            assert owner.setdefault(name, entity.id) == entity.id, name
