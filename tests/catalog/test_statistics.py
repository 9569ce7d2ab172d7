"""Facts about the series of statistical offices: every country, one meaning, bases and members never spliced."""

from __future__ import annotations

from datetime import date

import pytest

from almanac.catalog.load import build, shipped
from almanac.catalog.records import Catalog
from almanac.catalog.services import named
from almanac.domain.periods import Frequency
from almanac.domain.rights import Consent, Exposure, effective
from almanac.sources.base import connector

from .test_services import small

TODAY = date(2026, 11, 20)
MEMBERS = "AT BE BG CY CZ DE DK EE EL ES FI FR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split()  # noqa: SIM905  (codes)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return shipped()


def test_eurostat_s_data_sets_are_mapped_for_every_member_and_neighbour(catalog: Catalog) -> None:
    natives = catalog.series["eurostat"]
    for pattern in (
        "PRC_HICP_MINR.M.I25.TOTAL.{}",
        "PRC_HICP_MINR.M.I25.TOT_X_NRG_FOOD.{}",
        "UNE_RT_M.M.SA.TOTAL.PC_ACT.T.{}",
        "NAMQ_10_PE.Q.THS_PER.SCA.EMP_DC.{}",
        "STS_INPR_M.M.PRD.B-D.SCA.I21.{}",
        "STS_TRTU_M.M.VOL_SLS.G47.SCA.I21.{}",
        "EI_BSCO_M.M.BS-CSMCI.SA.BAL.{}",
        "EI_BSSI_M_R2.M.BS-ESI-I.SA.{}",
        "EI_BPM6CA_Q.Q.MIO_EUR.NSA.S1.S1.WRL_REST.BAL.CA.{}",
        "GOV_10Q_GGDEBT.Q.GD.S13.PC_GDP.{}",
    ):
        places = [*MEMBERS, "NO", "CH", "TR", "UK"]
        assert [place for place in places if pattern.format(place) not in natives] == [], pattern
    assert natives["UNE_RT_M.M.SA.TOTAL.PC_ACT.T.EL"].entity == "country_grc"
    assert natives["UNE_RT_M.M.SA.TOTAL.PC_ACT.T.UK"].entity == "country_gbr"


def test_output_is_counted_in_the_money_of_the_country(catalog: Catalog) -> None:
    natives = catalog.series["eurostat"]
    for place in MEMBERS:
        found = [
            (spec.currency, spec.unit)
            for unit in ("CP_MEUR", "CP_MNAC")
            if (spec := natives.get(f"NAMQ_10_GDP.Q.{unit}.SCA.B1GQ.{place}")) is not None
        ]
        own = {"CZ": "CZK", "DK": "DKK", "HU": "HUF", "PL": "PLN", "RO": "RON", "SE": "SEK"}
        assert found == [(own.get(place, "EUR"), "local_currency_millions")], place


def test_former_bases_and_members_are_series_of_their_own_behind_the_present_one(catalog: Catalog) -> None:
    natives = catalog.series["eurostat"]
    assert [natives[f"STS_INPR_M.M.PRD.B-D.SCA.{base}.DE"].id for base in ("I21", "I15")] == [
        "eurostat:country_deu:industrial_production_index:M",
        "eurostat:country_deu:industrial_production_index:M:former-i15",
    ]
    area = [natives[f"UNE_RT_M.M.SA.TOTAL.PC_ACT.T.{code}"] for code in ("EA", "EA21", "EA20")]
    assert [spec.variant for spec in area] == [None, "ea21", "former-ea20"]
    assert [spec.variant or "" for spec in area] == sorted(spec.variant or "" for spec in area)
    assert [spec.composition for spec in area] == [
        "members at each time",
        "21 members, from 2026",
        "20 members, from 2023 to 2025",
    ]
    # Of amounts there is no series whose members change: a new one would look like growth.
    amounts = [n for n in natives if n.startswith(("NAMQ_10", "EI_BPM6CA")) and n.endswith(".EA")]
    assert amounts == []


def test_what_the_publisher_closed_is_not_asked_for(catalog: Catalog) -> None:
    reader = connector("sdmx:eurostat")
    asked = [r.url for r in reader.plan(catalog.sources["eurostat"], catalog.series["eurostat"], None, TODAY, None)]
    base = "https://ec.europa.eu/eurostat/api/dissemination/sdmx/2.1/data/"
    assert f"{base}UNE_RT_M/M.SA.TOTAL.PC_ACT.T.?format=JSON&lang=en" in asked
    assert [url for url in asked if "MIDX" in url or "MANR" in url] == []
    # One request for each key, whatever the number of places: the four of the current account have partners of their own.
    assert len(asked) == 31
    insee = connector("sdmx:insee").plan(catalog.sources["insee"], catalog.series["insee"], None, TODAY, None)
    assert [r.url for r in insee] == [
        "https://bdm.insee.fr/series/sdmx/data/SERIES_BDM/001688527",
        "https://bdm.insee.fr/series/sdmx/data/SERIES_BDM/011814630",
    ]


def test_the_oecd_is_asked_once_for_all_areas(catalog: Catalog) -> None:
    planned = connector("sdmx:oecd").plan(catalog.sources["oecd"], catalog.series["oecd"], None, TODAY, None)
    assert len(planned) == 15
    base = "https://sdmx.oecd.org/public/rest/data/"
    assert f"{base}OECD.SDD.TPS,DSD_PRICES@DF_PRICES_ALL,1.0/..N.CPI.PA._T.N.GY?format=csvfile" in [
        request.url for request in planned
    ]


def test_growth_as_published_is_never_ours(catalog: Catalog) -> None:
    rates = {
        spec.indicator
        for native, spec in catalog.series["oecd"].items()
        if native.endswith((".GY", ".GY.T0102", ".G1.T0102"))
    }
    assert rates == {
        "cpi_inflation_official_yoy",
        "core_cpi_inflation_official_yoy",
        "industrial_production_growth_official_yoy",
        "gdp_growth_official_yoy",
        "gdp_growth_official_qoq",
    }
    assert {catalog.indicators[slug].kind for slug in rates} == {"raw"}
    inputs = {slug for formula in catalog.indicators.values() for slug in formula.inputs}
    assert rates & inputs == set()


def test_prices_of_the_united_states_go_by_their_adjustment(catalog: Catalog) -> None:
    adjusted = {
        (source, spec.indicator): spec.seasonal_adjustment
        for source in ("bls", "fred", "oecd", "bis")
        for spec in catalog.series[source].values()
        if spec.entity == "country_usa" and spec.indicator in {"cpi_index", "cpi_index_nsa"}
    }
    assert adjusted == {
        ("bls", "cpi_index"): "SA",
        ("bls", "cpi_index_nsa"): "NSA",
        ("fred", "cpi_index"): "SA",
        ("fred", "cpi_index_nsa"): "NSA",
        ("oecd", "cpi_index_nsa"): "NSA",
        ("bis", "cpi_index_nsa"): "NSA",
    }


def test_the_bureau_and_fred_tell_of_the_same_series_in_the_same_units(catalog: Catalog) -> None:
    ours = {
        spec.indicator: (spec.unit, spec.basis, spec.seasonal_adjustment) for spec in catalog.series["bls"].values()
    }
    theirs = {
        spec.indicator: (spec.unit, spec.basis, spec.seasonal_adjustment)
        for spec in catalog.series["fred"].values()
        if spec.indicator in ours
    }
    assert ours == theirs
    source = catalog.sources["bls"]
    assert (source.key_setting, source.key_required) == ("ALMANAC_SOURCES__BLS__API_KEY", False)
    assert catalog.sources["fred"].key_required


def test_the_world_bank_has_every_place_it_may_name(catalog: Catalog) -> None:
    natives = catalog.series["world-bank"]
    codes = {e.iso3 for e in catalog.entities.values() if e.iso3} | {"XKX", "EMU", "EUU", "OED", "WLD"}
    assert {native.partition("/")[0] for native, spec in natives.items() if spec.copy_of is None} == codes
    assert natives["XKX/SP.POP.TOTL"].entity == "country_xkx"
    assert natives["EMU/SP.POP.TOTL"].entity == "region_euro_area"
    assert {spec.frequency for spec in natives.values()} == {Frequency.ANNUAL}
    assert natives["USA/GC.DOD.TOTL.GD.ZS"].indicator == "central_government_debt_pct_gdp"


def test_the_bank_of_japan_waits_for_consent_and_comes_behind_the_monthly_average(catalog: Catalog) -> None:
    rights = catalog.sources["boj"].rights
    consent = Consent(by="an operator", on="2026-01-01", reference="letter")
    assert effective(rights, Exposure.public, None) is Exposure.internal_only
    assert effective(rights, Exposure.public, consent) is Exposure.public
    order = catalog.indicators["usd_exchange_rate"].preferred
    assert order.index("bis") < order.index("boj")
    assert catalog.series["boj"]["MD02'MAM1NAM2M2MO"].scale == 8
    # Large manufacturers end in 1000, all sizes in 0000.
    assert catalog.series["boj"]["CO'TK99F1000601GCQ01000"].indicator == "tankan_large_manufacturers"


def test_australia_is_a_source_without_code(catalog: Catalog) -> None:
    assert catalog.sources["abs"].connector == "sdmx:abs"
    assert named("abs", catalog.services).flow[0].id == "CPI"
    planned = connector("sdmx:abs").plan(catalog.sources["abs"], catalog.series["abs"], None, TODAY, None)
    assert [request.url for request in planned] == [
        "https://data.api.abs.gov.au/rest/data/ABS,CPI/1.10001.10.50.M?format=csv",
        "https://data.api.abs.gov.au/rest/data/ABS,CPI/1.10001.10.50.Q?format=csv",
        "https://data.api.abs.gov.au/rest/data/ABS,CPI/3.10001.10.50.M?format=csv",
    ]


def test_two_codes_of_one_place_make_a_series_and_its_variant() -> None:
    part = small()
    part["areas"][0] = {
        "id": "places",
        "codes": {"A1": "region_all", "A2": "region_all"},
        "variants": {"A2": "former"},
        "compositions": {"A2": "two members"},
    }
    made = build([part]).series["office-rates"]
    assert {native: (spec.id, spec.composition) for native, spec in made.items()} == {
        "RATES.D.A1.X": ("office-rates:region_all:r:D", None),
        "RATES.D.A2.X": ("office-rates:region_all:r:D:former", "two members"),
    }
    part["series"][0]["codes"][0]["variant"] = "old-base"
    made = build([part]).series["office-rates"]
    assert {native: spec.variant for native, spec in made.items()} == {
        "RATES.D.A1.X": "old-base",
        "RATES.D.A2.X": "former-old-base",
    }
