"""The derived indicators that are shipped: operator, inputs, parameters and unit of each."""

from __future__ import annotations

from datetime import date

import pytest

from almanac.catalog.load import Catalog, load
from almanac.derived.sections import SECTIONS, section
from almanac.domain.periods import Frequency
from almanac.pipeline.plans import operator_of
from almanac.pipeline.sections import belongs

#: Derived slug → (operator, inputs, parameters, unit).
DERIVED = {
    "cpi_inflation_yoy": ("growth", ("cpi_index_nsa|cpi_index",), {"lag": "1y"}, "percent"),
    "core_cpi_inflation_yoy": ("growth", ("core_cpi_index",), {"lag": "1y"}, "percent"),
    "pce_inflation_yoy": ("growth", ("pce_price_index",), {"lag": "1y"}, "percent"),
    "core_pce_inflation_yoy": ("growth", ("core_pce_price_index",), {"lag": "1y"}, "percent"),
    "ppi_inflation_yoy": ("growth", ("ppi_index",), {"lag": "1y"}, "percent"),
    "nominal_gdp_growth_yoy": ("growth", ("nominal_gdp",), {"lag": "1y"}, "percent"),
    "gdp_growth_yoy": ("growth", ("real_gdp",), {"lag": "1y"}, "percent"),
    "industrial_production_growth_yoy": ("growth", ("industrial_production_index",), {"lag": "1y"}, "percent"),
    "retail_sales_growth_yoy": ("growth", ("retail_sales",), {"lag": "1y"}, "percent"),
    "m2_growth_yoy": ("growth", ("m2",), {"lag": "1y"}, "percent"),
    "house_price_growth_yoy": ("growth", ("house_price_index",), {"lag": "1y"}, "percent"),
    "employment_cost_growth_yoy": ("growth", ("employment_cost_index",), {"lag": "1y"}, "percent"),
    "real_effective_rate_change_yoy": ("growth", ("effective_exchange_rate_real",), {"lag": "1y"}, "percent"),
    "exchange_rate_change_yoy": ("growth", ("usd_exchange_rate",), {"lag": "1y"}, "percent"),
    "cpi_inflation_mom_annualized": ("growth", ("cpi_index",), {"lag": "1m", "power": 12}, "percent"),
    "core_cpi_inflation_3m_annualized": ("growth", ("core_cpi_index",), {"lag": "3m", "power": 4}, "percent"),
    "gdp_growth_qoq_annualized": ("growth", ("real_gdp",), {"lag": "1q", "power": 4}, "percent"),
    "nonfarm_payrolls_change": ("change", ("nonfarm_payrolls",), {"lag": "1p"}, "thousands"),
    "yield_10y_change_1y": ("change", ("gov_yield_10y",), {"lag": "1y"}, "percentage_points"),
    "policy_rate_change_12m": ("change", ("policy_rate",), {"lag": "12m"}, "percentage_points"),
    "high_yield_spread_change_1m": ("change", ("high_yield_spread",), {"lag": "1m"}, "percentage_points"),
    "unemployment_change_12m": ("change", ("unemployment_rate",), {"lag": "12m"}, "percentage_points"),
    "debt_change_5y": ("change", ("government_debt_pct_gdp",), {"lag": "5y"}, "percentage_points"),
    "yield_slope_2s10s": (
        "difference",
        ("gov_yield_10y", "gov_yield_2y"),
        {"same_source": True},
        "percentage_points",
    ),
    "yield_slope_5s30s": (
        "difference",
        ("gov_yield_30y", "gov_yield_5y"),
        {"same_source": True},
        "percentage_points",
    ),
    "yield_slope_3m10y": (
        "difference",
        ("gov_yield_10y", "gov_yield_3m"),
        {"same_source": True},
        "percentage_points",
    ),
    "yield_butterfly_2s5s10s": (
        "butterfly",
        ("gov_yield_2y", "gov_yield_5y", "gov_yield_10y"),
        {},
        "percentage_points",
    ),
    "sovereign_spread_10y_usa": (
        "spread_to",
        ("gov_yield_10y", "country_usa:gov_yield_10y"),
        {},
        "percentage_points",
    ),
    "real_policy_rate": ("real_rate", ("policy_rate", "cpi_inflation_yoy"), {}, "percent"),
    "real_yield_10y": ("real_rate", ("gov_yield_10y", "cpi_inflation_yoy"), {}, "percent"),
    "misery_index": ("sum", ("unemployment_rate", "cpi_inflation_yoy"), {}, "percent"),
    "sahm_indicator": ("sahm", ("unemployment_rate",), {}, "percentage_points"),
    "sovereign_spread_10y_peers": (
        "peer_spread",
        ("gov_yield_10y",),
        {"members": "rates_scopes", "minimum": 4},
        "percentage_points",
    ),
    "policy_cycle": ("cycle", ("policy_rate",), {"lag": "12m", "move": 0.05}, "text"),
    "taylor_rule_rate": (
        "taylor",
        ("core_pce_inflation_yoy|core_cpi_inflation_yoy|cpi_inflation_yoy", "output_gap"),
        {},
        "percent",
    ),
    "credit_impulse": ("credit_impulse", ("total_credit", "nominal_gdp"), {}, "percentage_points"),
    "trade_balance_pct_gdp": ("share_of_output", ("trade_balance", "nominal_gdp"), {}, "percent"),
    "inflation_peer_zscore": (
        "peer_zscore",
        ("cpi_inflation_yoy",),
        {"members": "countries", "minimum": 20, "years": 10, "decimals": 2},
        "ratio",
    ),
    "growth_peer_zscore": (
        "peer_zscore",
        ("gdp_growth_yoy",),
        {"members": "countries", "minimum": 20, "years": 10, "decimals": 2},
        "ratio",
    ),
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load()


def test_derived_indicators_are_those_of_the_specification(catalog: Catalog) -> None:
    there = {f.slug: (f.operator, f.inputs, f.params, f.unit) for f in catalog.formulas.values()}
    assert there == DERIVED


def test_every_operator_that_is_named_exists_and_takes_its_parameters(catalog: Catalog) -> None:
    for formula in catalog.formulas.values():
        if formula.operator in SECTIONS:
            assert section(formula.operator, formula.params).others >= 1
            belongs(catalog.entities["country_usa"], formula.params["members"])
        else:
            slots = operator_of(formula, "country_usa", Frequency.MONTHLY).slots
            assert {slot.input for slot in slots} == set(range(len(formula.inputs))), formula.slug


def test_redefinitions_are_those_known_by_their_day(catalog: Catalog) -> None:
    cycle = catalog.formulas["policy_cycle"]
    assert cycle.redefined == {"country_usa": (date(2008, 12, 16),)}
    assert {f.slug for f in catalog.formulas.values() if f.redefined} == {"policy_cycle"}
    (break_,) = operator_of(cycle, "country_usa", Frequency.DAILY).slots[1].breaks
    assert date.fromordinal(break_) == date(2008, 12, 16)
    assert operator_of(cycle, "country_can", Frequency.DAILY).slots[1].breaks == ()


def test_adjusted_series_only_where_the_formula_needs_them(catalog: Catalog) -> None:
    assert {f.slug for f in catalog.formulas.values() if f.seasonally_adjusted_only} == {
        "cpi_inflation_mom_annualized",
        "core_cpi_inflation_3m_annualized",
        "gdp_growth_qoq_annualized",
        "sahm_indicator",
    }


def test_no_country_is_measured_against_itself(catalog: Catalog) -> None:
    assert {f.slug: f.except_entities for f in catalog.formulas.values() if f.except_entities} == {
        "sovereign_spread_10y_usa": ("country_usa",),
        "exchange_rate_change_yoy": ("country_usa",),
    }
