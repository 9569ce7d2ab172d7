"""Facts about the yields of the catalogue: which maturities each publisher has, on which curve, and what is withheld."""

from __future__ import annotations

from datetime import date

import pytest

from almanac.catalog.load import shipped
from almanac.catalog.records import Catalog
from almanac.catalog.succession import stretches
from almanac.domain.periods import Frequency
from almanac.domain.rights import Consent, Exposure, effective

MONTHS_AND_YEARS = ["1m", "2m", "3m", "6m", "1y", "2y", "3y", "5y", "7y", "10y", "20y", "30y"]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return shipped()


def tenors(catalog: Catalog, source: str, kind: str = "gov_yield_") -> dict[str, tuple[str | None, str | None]]:
    """Daily yields of a source: maturity → curve type and compounding."""
    found = {
        spec.indicator.removeprefix(kind): (spec.curve_type, spec.compounding)
        for spec in catalog.series[source].values()
        if spec.indicator.startswith(kind) and spec.frequency is Frequency.DAILY
    }
    return {tenor: found[tenor] for tenor in MONTHS_AND_YEARS if tenor in found}


BILL, BENCHMARK = ("bill", "simple"), ("benchmark", "semi_annual")
SPOT, PAR = ("spot", "continuous"), ("par", "continuous")


def test_the_united_kingdom_has_two_year_and_thirty_year_yields_from_the_workbooks_only(catalog: Catalog) -> None:
    assert tenors(catalog, "boe-iadb") == {"5y": SPOT, "10y": SPOT, "20y": SPOT}
    assert tenors(catalog, "boe-iadb", "gov_par_yield_") == {"5y": PAR, "10y": PAR, "20y": PAR}
    assert tenors(catalog, "boe-iadb", "gov_real_yield_") == {"5y": SPOT, "10y": SPOT, "20y": SPOT}
    assert tenors(catalog, "boe-glc") == dict.fromkeys(["6m", "1y", "2y", "3y", "5y", "7y", "10y", "20y", "30y"], SPOT)


def test_canada_has_bills_below_two_years_and_its_long_bond_at_thirty(catalog: Catalog) -> None:
    bills = dict.fromkeys(["1m", "2m", "3m", "6m", "1y"], BILL)
    assert tenors(catalog, "boc-valet") == bills | dict.fromkeys(["2y", "3y", "5y", "7y", "10y", "30y"], BENCHMARK)
    assert catalog.series["boc-valet"]["BD.CDN.LONG.DQ.YLD"].indicator == "gov_yield_30y"


def test_australia_has_no_yield_beyond_ten_years_anywhere(catalog: Catalog) -> None:
    bills = dict.fromkeys(["1m", "3m", "6m"], BILL)
    assert tenors(catalog, "rba") == bills | dict.fromkeys(["2y", "3y", "5y", "10y"], BENCHMARK)
    specs = [spec for natives in catalog.series.values() for spec in natives.values() if spec.entity == "country_aus"]
    assert [spec.id for spec in specs if spec.indicator in {"gov_yield_20y", "gov_yield_30y"}] == []


def test_switzerland_has_eight_maturities_of_one_curve_and_never_the_foreign_item(catalog: Catalog) -> None:
    spot = ("spot", "unknown")
    assert tenors(catalog, "snb") == dict.fromkeys(["1y", "2y", "3y", "5y", "7y", "10y", "20y", "30y"], spot)
    assert [native for native in catalog.series["snb"] if "10J1" in native] == []


def test_the_stopped_cube_of_switzerland_is_continued_by_the_warehouse_s(catalog: Catalog) -> None:
    by_code = stretches(catalog.series["snb"])
    stopped, repeated = by_code["rendoblid{10J0}"], by_code["rendeiduebd{CHF,10J}"]
    assert (stopped.first, stopped.last, stopped.copy) == (None, date(2025, 7, 31), False)
    assert (repeated.first, repeated.last, repeated.copy) == (date(2025, 8, 1), None, True)
    current = by_code["SNB1A.SNB.NSS.KZS.EID{J10M0,A1100,P1D_L,ZZ}"]
    assert (current.first, current.last, current.copy) == (date(2025, 8, 1), None, False)
    assert {stretch.series.native for stretch in (stopped, repeated, current)} == {
        "SNB1A.SNB.NSS.KZS.EID{J10M0,A1100,P1D_L,ZZ}"
    }


def test_rates_that_belong_to_others_are_withheld_series_by_series(catalog: Catalog) -> None:
    shut = {
        native: spec.reason or ""
        for source in ("rba", "snb", "boc-valet", "boe-iadb", "boe-glc")
        for native, spec in catalog.series[source].items()
        if spec.exposure is not Exposure.public
    }
    owners = {
        "FIRMMBAB90D": "ASX",
        "snbgwdzid{SARON}": "SIX",
        "zimoma{SARON}": "SIX",
        "zimoma{3M0}": "ICE",
        "zimoma{EURIBOR}": "European Money Markets Institute",
    }
    assert shut.keys() == owners.keys()
    assert {native: owner in shut[native] for native, owner in owners.items()} == dict.fromkeys(owners, True)


def test_the_workbooks_of_the_united_kingdom_wait_for_consent(catalog: Catalog) -> None:
    rights = catalog.sources["boe-glc"].rights
    consent = Consent(by="an operator", on="2026-01-01", reference="letter")
    assert effective(rights, Exposure.public, None) is Exposure.internal_only
    assert effective(rights, Exposure.public, consent) is Exposure.public
    assert "ALMANAC_SOURCES__BOE_GLC__CONSENT__BY" in (rights.channel_reason or "")


def test_national_policy_rates(catalog: Catalog) -> None:
    found = {
        (source, native): spec.entity
        for source in ("rba", "snb", "boc-valet", "boe-iadb")
        for native, spec in catalog.series[source].items()
        if spec.indicator == "policy_rate"
    }
    assert found == {
        ("rba", "FIRMMCRTD"): "country_aus",
        ("snb", "snbgwdzid{LZ}"): "country_che",
        ("boc-valet", "V39079"): "country_can",
        ("boe-iadb", "IUDBEDR"): "country_gbr",
    }
