"""Facts about the catalogue that is shipped: what the specification promises is there, and says what it should."""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable

import pytest

from almanac.catalog.load import shipped
from almanac.catalog.records import Catalog
from almanac.domain.periods import Frequency
from almanac.domain.rights import Consent, Exposure, effective
from almanac.sources.base import connector

RAW = """
policy_rate policy_rate_upper policy_rate_lower overnight_rate long_term_rate_10y money_market_rate_3m
gov_yield_1m gov_yield_2m gov_yield_3m gov_yield_6m gov_yield_1y gov_yield_2y gov_yield_3y gov_yield_5y gov_yield_7y
gov_yield_10y gov_yield_20y gov_yield_30y gov_par_yield_2y gov_par_yield_5y gov_par_yield_10y gov_par_yield_20y
gov_par_yield_30y gov_real_yield_5y gov_real_yield_10y gov_real_yield_20y gov_real_yield_30y high_yield_spread
financial_conditions_index cpi_index cpi_index_nsa core_cpi_index cpi_inflation_official_yoy pce_price_index
core_pce_price_index ppi_index employment_cost_index unemployment_rate nonfarm_payrolls initial_jobless_claims
labor_force_participation_rate average_hourly_earnings job_openings employment_persons nominal_gdp real_gdp
potential_gdp output_gap industrial_production_index capacity_utilization gdp_current_usd gdp_growth_annual
gdp_per_capita_usd housing_starts building_permits house_price_index exports imports trade_balance
current_account_pct_gdp fx_reserves_months_imports current_account target_balance personal_income
personal_consumption saving_rate retail_sales retail_turnover_index m2 m3 notes_and_coin central_bank_assets
total_credit_pct_gdp total_credit credit_to_gdp_gap_official debt_service_ratio lending_standards
government_debt_pct_gdp central_government_debt_pct_gdp fiscal_balance_pct_gdp consumer_confidence
economic_sentiment leading_indicator population usd_exchange_rate eur_reference_rate
effective_exchange_rate_nominal effective_exchange_rate_real zinc_price oil_price_brent oil_price_wti
""".split()  # noqa: SIM905  (a table of words is read faster than ninety quoted lines)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return shipped()


def test_every_raw_indicator_of_the_specification_is_there(catalog: Catalog) -> None:
    there = {slug for slug, indicator in catalog.indicators.items() if indicator.kind == "raw"}
    assert set(RAW) - there == set()


def test_people_find_indicators_by_common_names(catalog: Catalog) -> None:
    owner = {alias: i.slug for i in catalog.indicators.values() for alias in i.aliases}
    asked = ("cpi", "inflation", "gdp", "unemployment", "10y", "2s10s", "payrolls", "brent")
    assert [owner[name] for name in asked] == [
        "cpi_index",
        "cpi_inflation_yoy",
        "nominal_gdp",
        "unemployment_rate",
        "gov_yield_10y",
        "yield_slope_2s10s",
        "nonfarm_payrolls",
        "oil_price_brent",
    ]


def test_names_of_indicators_are_written_alike(catalog: Catalog) -> None:
    names = [name for i in catalog.indicators.values() for name in (i.slug, *i.aliases)]
    assert [name for name in names if not re.fullmatch(r"[a-z0-9_]+", name)] == []
    assert [i.slug for i in catalog.indicators.values() if len(i.description) < 30 or i.description[-1] != "."] == []


def test_preferred_orders_name_the_sources_that_feed_the_indicator(catalog: Catalog) -> None:
    feeds: dict[str, set[str]] = {}
    for source, natives in catalog.series.items():
        for spec in natives.values():
            feeds.setdefault(spec.indicator, set()).add(source)
    orders = {i.slug: set(i.preferred) for i in catalog.indicators.values() if i.kind == "raw"}
    assert {slug: order for slug, order in orders.items() if order} == feeds
    wanted = [
        "us-treasury-par",
        "ecb-yc",
        "boe-iadb",
        "boe-glc",
        "boc-valet",
        "mof-japan",
        "rba",
        "snb",
        "norges-bank",
        "bundesbank",
        "fred",
    ]
    for slug in [name for name in RAW if name.startswith("gov_yield_")]:
        order = catalog.indicators[slug].preferred
        assert [source for source in wanted if source in order] == [name for name in order if name in wanted], slug


def test_units_agree_with_the_indicators(catalog: Catalog) -> None:
    specs = [spec for natives in catalog.series.values() for spec in natives.values()]
    units = {spec.native: (spec.unit, catalog.indicators[spec.indicator].unit) for spec in specs}
    assert {native: pair for native, pair in units.items() if pair[1] not in {None, pair[0]}} == {}


def test_scale_is_said_once(catalog: Catalog) -> None:
    """A unit says its power of ten in its name; only credit and Japan's money in national currency have a scale of their own."""
    assert {unit.id: unit.scale for unit in catalog.units.values() if unit.scale} == {
        "thousands": 3,
        "usd_millions": 6,
        "usd_billions": 9,
        "local_currency_millions": 6,
        "local_currency_billions": 9,
    }
    specs = [spec for natives in catalog.series.values() for spec in natives.values()]
    assert {(spec.source, spec.indicator, spec.scale) for spec in specs if spec.scale} == {
        ("bis", "total_credit", 9),
        ("boj", "m2", 8),
    }


def test_treasury_maps_the_curve_but_not_the_display_field(catalog: Catalog) -> None:
    natives = catalog.series["us-treasury-par"]
    assert {native: spec.indicator.removeprefix("gov_yield_") for native, spec in natives.items()} == {
        "BC_1MONTH": "1m",
        "BC_2MONTH": "2m",
        "BC_3MONTH": "3m",
        "BC_6MONTH": "6m",
        "BC_1YEAR": "1y",
        "BC_2YEAR": "2y",
        "BC_3YEAR": "3y",
        "BC_5YEAR": "5y",
        "BC_7YEAR": "7y",
        "BC_10YEAR": "10y",
        "BC_20YEAR": "20y",
        "BC_30YEAR": "30y",
    }
    assert {(s.curve_type, s.compounding, s.unit, s.frequency) for s in natives.values()} == {
        ("par", "semi_annual", "percent", Frequency.DAILY)
    }


def test_japan_maps_the_columns_that_have_an_indicator(catalog: Catalog) -> None:
    natives = catalog.series["mof-japan"]
    assert {n: s.indicator for n, s in natives.items()} == {
        f"{years}Y": f"gov_yield_{years}y" for years in (1, 2, 3, 5, 7, 10, 20, 30)
    }
    assert {s.entity for s in natives.values()} == {"country_jpn"}


def test_gdp_of_the_united_states_is_in_billions_at_annual_rates(catalog: Catalog) -> None:
    gdp = catalog.series["fred"]["GDP"]
    assert (gdp.indicator, gdp.unit, gdp.annualized, gdp.frequency) == (
        "nominal_gdp",
        "usd_billions",
        True,
        Frequency.QUARTERLY,
    )
    annual = {native for native, spec in catalog.series["fred"].items() if spec.annualized}
    assert annual == {"GDP", "GDPC1", "GDPPOT", "PI", "PCE", "HOUST", "PERMIT"}


def test_some_series_of_fred_are_never_public_and_say_why(catalog: Catalog) -> None:
    consent = Consent(by="an operator", on="2026-01-01", reference="letter")
    rights = catalog.sources["fred"].rights
    shut = {
        native: spec.reason
        for native, spec in catalog.series["fred"].items()
        if effective(rights, spec.exposure, consent) is not Exposure.public
    }
    assert set(shut) == {"BAMLH0A0HYM2", "NFCI"}
    assert "ICE Data Indices" in (shut["BAMLH0A0HYM2"] or "")
    assert effective(rights, catalog.series["fred"]["GDP"].exposure, None) is Exposure.internal_only
    assert rights.derivatives_allowed is False


def test_the_withheld_channel_says_which_settings_open_it(catalog: Catalog) -> None:
    reason = catalog.sources["fred"].rights.channel_reason or ""
    assert re.findall(r"ALMANAC_[A-Z_]+", reason) == [
        "ALMANAC_SOURCES__FRED__CONSENT__BY",
        "ALMANAC_SOURCES__FRED__CONSENT__ON",
        "ALMANAC_SOURCES__FRED__CONSENT__REFERENCE",
    ]


def test_mixed_results_never_make_a_withheld_input_public(catalog: Catalog) -> None:
    """Were it otherwise, a second formula over a withheld derived value would send what the first one hid."""
    source = catalog.sources["almanac-derived"]
    assert (source.rights.derivatives_allowed, source.connector, source.provider) == (False, "", "almanac")


def test_sources_say_what_they_are(catalog: Catalog) -> None:
    known = {
        "us-treasury-par": ("us-treasury", "us_treasury", False, "same_day"),
        "mof-japan": ("mof", "mof_japan", False, None),
        "boe-iadb": ("boe", "boe_iadb", False, None),
        "boe-glc": ("boe", "boe_glc", False, None),
        "boc-valet": ("boc", "boc", False, None),
        "rba": ("rba", "rba", False, None),
        "snb": ("snb", "snb", False, None),
        "fred": ("fred", "fred", True, None),
        "almanac-derived": ("almanac", "", False, None),
        "central-bank-calendars": ("almanac", "", False, None),
        "ecb-yc": ("ecb", "sdmx:ecb/YC", False, None),
        "ecb-fm": ("ecb", "sdmx:ecb/FM", False, None),
        "ecb-exr": ("ecb", "sdmx:ecb/EXR", False, None),
        "ecb-tgb": ("ecb", "sdmx:ecb/TGB", False, None),
        "bis": ("bis", "sdmx:bis", False, None),
        "imf": ("imf", "sdmx:imf", True, None),
        "norges-bank": ("norges-bank", "sdmx:norges-bank", False, None),
        "bundesbank": ("bundesbank", "sdmx:bundesbank", False, None),
        "sec": ("sec", "sec", True, None),
        "eurostat": ("eurostat", "sdmx:eurostat", False, None),
        "oecd": ("oecd", "sdmx:oecd", False, None),
        "world-bank": ("world-bank", "world_bank", False, None),
        "bls": ("bls", "bls", False, None),
        "bls-calendar": ("bls", "bls_calendar", False, None),
        "boj": ("boj", "boj", False, None),
        "insee": ("insee", "sdmx:insee", False, None),
        "istat": ("istat", "sdmx:istat", False, None),
        "abs": ("abs", "sdmx:abs", False, None),
    }
    told = {s.id: (s.provider, s.connector, s.stores_vintages, s.declared_release) for s in catalog.sources.values()}
    assert {name: told.get(name) for name in known} == known
    # A source that came later says so in its own file and its own test; whatever it says, something must read it.
    readers = {name: connector(line[1]) for name, line in told.items() if line[1]}
    assert [name for name, reader in readers.items() if reader.version < 1] == []
    assert {name for name, line in told.items() if not line[1]} == {"almanac-derived", "central-bank-calendars"}
    assert catalog.sources["fred"].key_setting == "ALMANAC_SOURCES__FRED__API_KEY"


def test_frequencies_of_a_source_are_those_of_its_series(catalog: Catalog) -> None:
    for source, natives in catalog.series.items():
        assert set(catalog.sources[source].frequencies) == {spec.frequency for spec in natives.values()}, source


@pytest.mark.parametrize(
    ("name", "sources"),
    [
        ("fred", ["fred"]),
        ("us-treasury", ["us-treasury-par"]),
        ("us-treasury-par", ["us-treasury-par"]),
        ("mof", ["mof-japan"]),
        ("mof-japan", ["mof-japan"]),
        ("boe", ["boe-glc", "boe-iadb"]),
        ("boc", ["boc-valet"]),
        ("rba", ["rba"]),
        ("snb", ["snb"]),
    ],
)
def test_a_short_name_means_its_sources(catalog: Catalog, name: str, sources: list[str]) -> None:
    assert catalog.providers_sources(name) == sources


def test_every_page_of_a_fred_series_is_its_own(catalog: Catalog) -> None:
    pages = {native: spec.page_url for native, spec in catalog.series["fred"].items()}
    assert pages == {native: f"https://fred.stlouisfed.org/series/{native}" for native in pages}


def test_no_text_is_left_to_be_written() -> None:
    def texts(folder: Traversable) -> dict[str, str]:
        found = {}
        for item in folder.iterdir():
            if item.is_dir():
                found |= texts(item)
            elif item.name.endswith(".toml"):
                found[item.name] = item.read_text("utf-8")
        return found

    read = texts(files("almanac.catalog").joinpath("data"))
    assert {"units.toml", "providers.toml", "sources.toml", "countries.toml", "derived.toml", "fred.toml"} <= set(read)
    assert [name for name, text in read.items() if re.search(r"TODO|FIXME|XXX|lorem|\.invalid", text)] == []
