"""What a country's brief looks at: six sections, each with its measures in the order they are told."""

from __future__ import annotations

from typing import Literal, NamedTuple

Key = Literal["growth", "inflation", "labor", "rates", "external", "fiscal"]
#: How a measure is put into words, see almanac.reports.brief_sentences.
Kind = Literal["growth", "pace", "level", "balance", "change", "slope", "count"]


class Measure(NamedTuple):
    """
    One indicator of a section.

    `subject` begins its sentence; `plural` says how its verb goes. `digits` are the decimals told. `large`: a change of
    so much since the reading before, in the measure's unit, is a big one; a quarter of it and less is a small one.
    """

    slug: str
    kind: Kind
    subject: str
    plural: bool = False
    digits: int = 1
    large: float = 1.0
    #: What follows a number: a sign or words.
    unit: str = "%"
    #: Ranked among countries.
    ranked: bool = True
    #: A rate of growth: compared with its own last ten years.
    growth: bool = False
    #: Ranked among readings of any frequency: what counts is the day, not the span.
    instant: bool = False
    #: Only looked at where none of the measures of this slug's group before it gives a fresh public reading.
    instead_of: str | None = None
    #: Not for a country that shares its currency's central bank.
    own_bank: bool = False
    #: What is ranked, as a noun; None: the rank is a reading's, and not put into words.
    noun: str | None = None


class Section(NamedTuple):
    """`raw`: indicators whose sources are named where there is nothing."""

    key: Key
    title: str
    #: What the section is about, in the middle of a sentence.
    topic: str
    measures: tuple[Measure, ...]
    raw: tuple[str, ...]


_SHARE = "% of GDP"

SECTIONS: tuple[Section, ...] = (
    Section(
        "growth",
        "Growth",
        "growth",
        (
            Measure("gdp_growth_yoy", "growth", "Real GDP", large=1.0, growth=True, noun="growth rate"),
            Measure(
                "gdp_growth_official_yoy",
                "growth",
                "Real GDP",
                growth=True,
                instead_of="gdp_growth_yoy",
                noun="growth rate",
            ),
            Measure(
                "gdp_growth_annual", "growth", "Real GDP", growth=True, instead_of="gdp_growth_yoy", noun="growth rate"
            ),
            Measure("gdp_growth_qoq_annualized", "pace", "output", large=2.0, growth=True),
            Measure("industrial_production_growth_yoy", "growth", "Industrial production", large=2.0, growth=True),
            Measure("retail_sales_growth_yoy", "growth", "Retail sales", plural=True, large=2.0, growth=True),
            Measure("consumer_confidence", "level", "Consumer confidence", large=4.0, unit="", ranked=False),
        ),
        ("real_gdp", "gdp_growth_annual"),
    ),
    Section(
        "inflation",
        "Inflation",
        "inflation",
        (
            Measure(
                "cpi_inflation_yoy",
                "growth",
                "Consumer prices",
                plural=True,
                large=0.8,
                growth=True,
                noun="inflation rate",
            ),
            Measure(
                "cpi_inflation_official_yoy",
                "growth",
                "Consumer prices",
                plural=True,
                large=0.8,
                growth=True,
                instead_of="cpi_inflation_yoy",
                noun="inflation rate",
            ),
            Measure("core_cpi_inflation_yoy", "level", "Core inflation", large=0.8, growth=True),
            Measure(
                "core_cpi_inflation_official_yoy",
                "level",
                "Core inflation",
                large=0.8,
                growth=True,
                instead_of="core_cpi_inflation_yoy",
            ),
            Measure(
                "core_pce_inflation_yoy", "level", "Core inflation of personal consumption", large=0.8, growth=True
            ),
            Measure("ppi_inflation_yoy", "growth", "Producer prices", plural=True, large=1.5, growth=True),
            Measure("house_price_growth_yoy", "growth", "House prices", plural=True, large=2.0, growth=True),
        ),
        ("cpi_index", "cpi_inflation_official_yoy"),
    ),
    Section(
        "labor",
        "Labour market",
        "the labour market",
        (
            Measure("unemployment_rate", "level", "The unemployment rate", large=0.6, noun="unemployment rate"),
            Measure("unemployment_change_12m", "change", "the rate", large=1.0, unit="percentage points", ranked=False),
            Measure(
                "nonfarm_payrolls_change",
                "count",
                "Nonfarm payrolls",
                plural=True,
                digits=0,
                unit="thousand",
                ranked=False,
            ),
            Measure("labor_force_participation_rate", "level", "The participation rate", large=0.4),
        ),
        ("unemployment_rate",),
    ),
    Section(
        "rates",
        "Interest rates",
        "interest rates",
        (
            Measure(
                "policy_rate",
                "level",
                "The policy rate",
                digits=3,
                large=0.75,
                instant=True,
                own_bank=True,
                noun="policy rate",
            ),
            Measure(
                "policy_rate_change_12m",
                "change",
                "the policy rate",
                digits=2,
                unit="percentage points",
                ranked=False,
                own_bank=True,
            ),
            Measure(
                "real_policy_rate",
                "level",
                "Adjusted for inflation, the policy rate",
                large=1.0,
                ranked=False,
                own_bank=True,
            ),
            Measure("gov_yield_2y", "level", "The two-year government yield", digits=2, large=0.2, instant=True),
            Measure(
                "gov_yield_10y",
                "level",
                "The ten-year government yield",
                digits=2,
                large=0.2,
                instant=True,
                noun="ten-year yield",
            ),
            Measure(
                "long_term_rate_10y",
                "level",
                "The ten-year interest rate",
                digits=2,
                large=0.5,
                instead_of="gov_yield_10y",
                noun="ten-year rate",
            ),
            Measure(
                "yield_10y_change_1y",
                "change",
                "the ten-year yield",
                digits=2,
                unit="percentage points",
                ranked=False,
            ),
            Measure("yield_slope_2s10s", "slope", "The curve", digits=2, unit="percentage points", ranked=False),
        ),
        ("policy_rate", "gov_yield_10y", "long_term_rate_10y"),
    ),
    Section(
        "external",
        "External position",
        "the external position",
        (
            Measure(
                "current_account_pct_gdp",
                "balance",
                "The current account",
                large=1.5,
                unit=_SHARE,
                noun="current-account balance",
            ),
            Measure("trade_balance_pct_gdp", "balance", "The trade account", large=1.0, unit=_SHARE),
            Measure(
                "real_effective_rate_change_yoy",
                "growth",
                "The real effective exchange rate",
                large=3.0,
                growth=True,
            ),
            Measure(
                "exchange_rate_change_yoy",
                "growth",
                "The price of a US dollar in local currency",
                large=4.0,
                growth=True,
                ranked=False,
            ),
        ),
        ("current_account_pct_gdp", "effective_exchange_rate_real"),
    ),
    Section(
        "fiscal",
        "Public finances",
        "public finances",
        (
            Measure("government_debt_pct_gdp", "level", "Government debt", large=2.0, unit=_SHARE, noun="debt ratio"),
            Measure(
                "central_government_debt_pct_gdp",
                "level",
                "Debt of the central government",
                large=2.0,
                unit=_SHARE,
                instead_of="government_debt_pct_gdp",
                noun="debt ratio",
            ),
            Measure("debt_change_5y", "change", "the debt ratio", large=8.0, unit="percentage points", ranked=False),
            Measure("fiscal_balance_pct_gdp", "balance", "The government's budget", large=1.0, unit=_SHARE),
        ),
        ("government_debt_pct_gdp", "fiscal_balance_pct_gdp"),
    ),
)
#: How far back a measure of kind `change` looks, in words.
SPANS = {
    "unemployment_change_12m": "a year before",
    "policy_rate_change_12m": "a year before",
    "yield_10y_change_1y": "a year before",
    "debt_change_5y": "five years before",
}
