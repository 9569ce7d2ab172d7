"""What units are called, and how precisely each is told."""

import pytest

from almanac.catalog import measures
from almanac.dashboard.formatting.numbers import unit, unit_of
from tests.support.dashboard_rows import observation


@pytest.mark.parametrize(
    ("name", "indicator", "values", "computed", "digits"),
    [
        ("percent", "gdp_growth_yoy", [2.0, 2.12345678], True, 1), ("percent", "unemployment_rate", [4.0, 5.0], False, 1),
        ("percent", "indicator_gov_yield_10y", [4.0, 4.4], False, 2), ("percent", "policy_rate", [3.625, 4.0], False, 3),
        ("percent", "real_policy_rate", [1.0], True, 1), ("percentage_points", "yield_slope_2s10s", [0.381], True, 2),
        ("index", "cpi_index", [315.301], False, 3), ("index", "cpi_index", [100.0], False, 1),
        ("ratio", "current_ratio", [1.8123], True, 2), ("usd_billions", "nominal_gdp", [30485.729], False, 3),
        ("thousands", "nonfarm_payrolls_change", [142.0], True, 0), ("percent", "gdp_growth_annual", [2.66325692129214, None], False, 1),
        ("points", "piotroski_f", [7.0], True, 0), ("points", "altman_z2", [3.14159], True, 2), ("percent", "x", [None], False, 1),
        (None, "inflation_peer_zscore", [-0.75, 7.0], True, 2), (None, "altman_z2", [2.634917262], False, 2), (None, "piotroski_f", [7.0], False, 0),
    ],
)  # fmt: skip
def test_one_column_has_one_precision(name, indicator, values, computed, digits):
    assert unit(name, indicator).digits(values, computed=computed) == digits


def test_fractions_that_people_think_of_in_percent_are_told_apart():
    margin, multiple = unit("ratio", "net_margin"), unit("ratio", "current_ratio")
    assert (margin.head, margin.figure(0.118, 1), margin.sentence(0.118)) == ("Percent", "11.8%", "11.8%")
    assert margin.key_change(0.0123, 1) == ("+1.2", "percentage points")
    assert multiple.figure(1.8, 2) == "1.80"
    # Every ratio of the catalogue is one or the other by its name; a new one has to be looked at.
    assert [one.key for one in measures.of_kind("ratio") if not unit("ratio", one.key).fraction] == [
        "current_ratio", "quick_ratio", "debt_to_equity", "net_debt_to_ebitda", "interest_coverage", "asset_turnover",
        "inventory_turnover", "cash_conversion",
    ]  # fmt: skip


def test_a_row_brings_its_currency_and_scale_along():
    row = observation(unit="local_currency", metadata={"currency": "SEK", "scale": 6, "annualized": True})
    assert unit_of(row).head == "SEK millions, annual rate"
    assert unit_of({"unit": "eur", "field": "revenue_ttm"}).head == "EUR"
    assert unit_of({"unit": None}).head == ""
