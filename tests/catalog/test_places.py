"""The countries and regions that are shipped: codes, names, scopes, currencies."""

from __future__ import annotations

import re
from collections import Counter

import msgspec
import pytest

from almanac.catalog.load import shipped
from almanac.catalog.records import Catalog
from almanac.domain.aliases import of_place

COUNTRIES = """
usa deu fra ita esp nld bel aut irl prt fin grc swe dnk pol cze hun rou nor che gbr jpn can aus nzl kor isr tur mex
chl col bra chn ind idn zaf sau arg
""".split()  # noqa: SIM905  (a table of words is read faster than ninety quoted lines)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return shipped()


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
        "former_names": (),
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


#: Slug → ISO-2, ISO-3, number, region (first word), income group (first word, "" where there is none), currency.
PICKED = """
united-states US USA 840 North High USD
united-kingdom GB GBR 826 Europe High GBP
greece GR GRC 300 Europe High EUR
bulgaria BG BGR 100 Europe High EUR
croatia HR HRV 191 Europe High EUR
switzerland CH CHE 756 Europe High CHF
turkiye TR TUR 792 Europe Upper TRY
czechia CZ CZE 203 Europe High CZK
north-macedonia MK MKD 807 Europe Upper MKD
moldova MD MDA 498 Europe Upper MDL
russia RU RUS 643 Europe High RUB
south-korea KR KOR 410 East High KRW
north-korea KP PRK 408 East Low KPW
hong-kong HK HKG 344 East High HKD
macao MO MAC 446 East High MOP
taiwan TW TWN 158 East High TWD
timor-leste TL TLS 626 East Lower USD
vietnam VN VNM 704 East Lower VND
myanmar MM MMR 104 East Lower MMK
iran IR IRN 364 Middle Upper IRR
afghanistan AF AFG 004 Middle Low AFN
palestine PS PSE 275 Middle Lower ILS
cote-divoire CI CIV 384 Sub-Saharan Lower XOF
democratic-republic-of-the-congo CD COD 180 Sub-Saharan Low CDF
republic-of-the-congo CG COG 178 Sub-Saharan Lower XAF
south-sudan SS SSD 728 Sub-Saharan Low SSP
eswatini SZ SWZ 748 Sub-Saharan Lower SZL
mauritania MR MRT 478 Sub-Saharan Lower MRU
zimbabwe ZW ZWE 716 Sub-Saharan Lower ZWG
sierra-leone SL SLE 694 Sub-Saharan Low SLE
sao-tome-and-principe ST STP 678 Sub-Saharan Lower STN
curacao CW CUW 531 Latin High XCG
bonaire-sint-eustatius-and-saba BQ BES 535 Latin - USD
panama PA PAN 591 Latin High PAB
venezuela VE VEN 862 Latin - VES
el-salvador SV SLV 222 Latin Upper USD
vatican-city VA VAT 336 Europe - EUR
aland-islands AX ALA 248 Europe - EUR
antarctica AQ ATA 010 - - -
""".strip().splitlines()


@pytest.mark.parametrize("line", PICKED, ids=lambda line: line.split()[0])
def test_a_place_picked_by_hand(catalog: Catalog, line: str) -> None:
    slug, iso2, iso3, numeric, region, income, currency = line.split()
    (place,) = (e for e in catalog.entities.values() if e.slug == slug)
    told = (place.iso2, place.iso3, place.iso_numeric, place.currency or "-")
    assert told == (iso2, iso3, numeric, currency)
    assert ((place.region or "-").split()[0], (place.income_group or "-").split()[0]) == (region, income)


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


def test_the_names_publishers_use_lead_to_their_places(catalog: Catalog) -> None:
    owner = {
        name.casefold(): entity.id
        for entity in catalog.entities.values()
        for name in (entity.name, *entity.aliases, *entity.former_names)
    }
    names = {
        "Korea, Rep.": "kor", "Korea, Republic of": "kor", "Korea, Dem. People's Rep.": "prk", "Turkiye": "tur",
        "Turkey": "tur", "Czech Republic": "cze", "Slovak Republic": "svk", "Hong Kong SAR": "hkg",
        "Hong Kong SAR, China": "hkg", "China, Hong Kong SAR": "hkg", "Macao SAR, China": "mac", "Chinese Taipei": "twn",
        "Taiwan Province of China": "twn", "China (People's Republic of)": "chn", "Egypt, Arab Rep.": "egy",
        "Iran, Islamic Rep.": "irn", "Venezuela, RB": "ven", "Yemen, Rep.": "yem", "Congo, Dem. Rep.": "cod",
        "Congo, Rep.": "cog", "Lao PDR": "lao", "Lao P.D.R.": "lao", "Kyrgyz Republic": "kgz", "Viet Nam": "vnm",
        "West Bank and Gaza": "pse", "Russian Federation": "rus", "Brunei Darussalam": "brn", "Bahamas, The": "bhs",
        "Gambia, The": "gmb", "Puerto Rico (US)": "pri", "Somalia, Fed. Rep.": "som", "Cote d'Ivoire": "civ",
        "St. Lucia": "lca", "Virgin Islands (U.S.)": "vir", "Micronesia, Fed. Sts.": "fsm", "Swaziland": "swz",
        "Burma": "mmr", "Zaire": "cod", "Upper Volta": "bfa", "Ceylon": "lka", "FYR Macedonia": "mkd", "XK": "xkx",
    }  # fmt: skip
    assert {name: owner.get(name.casefold()) for name in names} == {n: f"country_{code}" for n, code in names.items()}
    assert not {"korea", "congo", "guinea republic", "virgin islands"} & owner.keys()


def test_kosovo_has_no_iso_code_and_says_by_which_it_goes(catalog: Catalog) -> None:
    kosovo = catalog.entities["country_xkx"]
    assert (kosovo.iso2, kosovo.iso3, kosovo.iso_numeric, kosovo.currency) == (None, None, None, "EUR")
    assert {"XK", "XKX", "KOS", "Kosovo (UNSCR 1244/99)"} <= set(kosovo.aliases)


def test_former_names_are_told_as_such(catalog: Catalog) -> None:
    told = {(one.scheme, one.alias) for one in of_place(catalog.entities["country_cod"])}
    assert ("former_name", "Zaire") in told
    assert ("name", "Congo, Dem. Rep.") in told


def test_groups_of_countries_are_regions(catalog: Catalog) -> None:
    regions = {e.id: e for e in catalog.entities.values() if e.kind == "region"}
    assert regions.keys() >= {
        "region_euro_area", "region_european_union", "region_world", "region_oecd", "region_g7", "region_g20",
        "region_advanced_economies", "region_emerging_market_economies", "region_bis_reporting_countries",
    }  # fmt: skip
    assert {(e.iso2, e.iso3, e.iso_numeric) for e in regions.values()} == {(None, None, None)}
    # The euro area's members change: the series of one composition say so, those of the area "at each time" come first.
    told = {
        s.composition for natives in catalog.series.values() for s in natives.values() if s.entity == "region_euro_area"
    }
    assert {"members at each time", "20 members, from 2023 to 2025", "21 members, from 2026"} <= told
