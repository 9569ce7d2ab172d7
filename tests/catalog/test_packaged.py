"""Facts about the catalogue that is shipped: what the specification promises is there, and says what it should."""

import re

import pytest

from almanac.catalog.load import shipped
from almanac.catalog.records import Catalog
from almanac.domain.rights import Consent, Exposure, effective

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


def test_frequencies_of_a_source_are_those_of_its_series(catalog: Catalog) -> None:
    for source, natives in catalog.series.items():
        assert set(catalog.sources[source].frequencies) == {spec.frequency for spec in natives.values()}, source
