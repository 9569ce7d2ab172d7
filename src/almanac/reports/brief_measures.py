"""What a country's brief looks at: six sections, each with its measures in the order they are told."""

from __future__ import annotations

from typing import Literal, NamedTuple

Key = Literal["growth", "inflation", "labor", "rates", "external", "fiscal"]
#: How a measure is put into words, see almanac.reports.brief_sentences.
Kind = Literal["growth", "pace", "level", "balance", "change", "slope", "count"]


class MeasureSpec(NamedTuple):
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


class SectionSpec(NamedTuple):
    """`raw`: indicators whose sources are named where there is nothing."""

    key: Key
    title: str
    #: What the section is about, in the middle of a sentence.
    topic: str
    measures: tuple[MeasureSpec, ...]
    raw: tuple[str, ...]


_SHARE = "% of GDP"

SECTIONS: tuple[SectionSpec, ...] = (
    SectionSpec(
        "growth",
        "Growth",
        "growth",
        (
            MeasureSpec("gdp_growth_yoy", "growth", "Real GDP", large=1.0, growth=True, noun="growth rate"),
            MeasureSpec(
                "gdp_growth_official_yoy",
                "growth",
                "Real GDP",
                growth=True,
                instead_of="gdp_growth_yoy",
                noun="growth rate",
            ),
            MeasureSpec(
                "gdp_growth_annual", "growth", "Real GDP", growth=True, instead_of="gdp_growth_yoy", noun="growth rate"
            ),
            MeasureSpec("gdp_growth_qoq_annualized", "pace", "output", large=2.0, growth=True),
            MeasureSpec("industrial_production_growth_yoy", "growth", "Industrial production", large=2.0, growth=True),
            MeasureSpec("retail_sales_growth_yoy", "growth", "Retail sales", plural=True, large=2.0, growth=True),
            MeasureSpec("consumer_confidence", "level", "Consumer confidence", large=4.0, unit="", ranked=False),
        ),
        ("real_gdp", "gdp_growth_annual"),
    ),
    SectionSpec(
        "inflation",
        "Inflation",
        "inflation",
        (
            MeasureSpec(
                "cpi_inflation_yoy",
                "growth",
                "Consumer prices",
                plural=True,
                large=0.8,
                growth=True,
                noun="inflation rate",
            ),
            MeasureSpec(
                "cpi_inflation_official_yoy",
                "growth",
                "Consumer prices",
                plural=True,
                large=0.8,
                growth=True,
                instead_of="cpi_inflation_yoy",
                noun="inflation rate",
            ),
            MeasureSpec("core_cpi_inflation_yoy", "level", "Core inflation", large=0.8, growth=True),
            MeasureSpec(
                "core_cpi_inflation_official_yoy",
                "level",
                "Core inflation",
                large=0.8,
                growth=True,
                instead_of="core_cpi_inflation_yoy",
            ),
            MeasureSpec(
                "core_pce_inflation_yoy", "level", "Core inflation of personal consumption", large=0.8, growth=True
            ),
            MeasureSpec("ppi_inflation_yoy", "growth", "Producer prices", plural=True, large=1.5, growth=True),
            MeasureSpec("house_price_growth_yoy", "growth", "House prices", plural=True, large=2.0, growth=True),
        ),
        ("cpi_index", "cpi_inflation_official_yoy"),
    ),
    SectionSpec(
        "labor",
        "Labour market",
        "the labour market",
        (
            MeasureSpec("unemployment_rate", "level", "The unemployment rate", large=0.6, noun="unemployment rate"),
            MeasureSpec(
                "unemployment_change_12m", "change", "the rate", large=1.0, unit="percentage points", ranked=False
            ),
            MeasureSpec(
                "nonfarm_payrolls_change",
                "count",
                "Nonfarm payrolls",
                plural=True,
                digits=0,
                unit="thousand",
                ranked=False,
            ),
            MeasureSpec("labor_force_participation_rate", "level", "The participation rate", large=0.4),
        ),
        ("unemployment_rate",),
    ),
    SectionSpec(
        "rates",
        "Interest rates",
        "interest rates",
        (
            MeasureSpec(
                "policy_rate",
                "level",
                "The policy rate",
                digits=3,
                large=0.75,
                instant=True,
                own_bank=True,
                noun="policy rate",
            ),
            MeasureSpec(
                "policy_rate_change_12m",
                "change",
                "the policy rate",
                digits=2,
                unit="percentage points",
                ranked=False,
                own_bank=True,
            ),
            MeasureSpec(
                "real_policy_rate",
                "level",
                "Adjusted for inflation, the policy rate",
                large=1.0,
                ranked=False,
                own_bank=True,
            ),
            MeasureSpec("gov_yield_2y", "level", "The two-year government yield", digits=2, large=0.2, instant=True),
            MeasureSpec(
                "gov_yield_10y",
                "level",
                "The ten-year government yield",
                digits=2,
                large=0.2,
                instant=True,
                noun="ten-year yield",
            ),
            MeasureSpec(
                "long_term_rate_10y",
                "level",
                "The ten-year interest rate",
                digits=2,
                large=0.5,
                instead_of="gov_yield_10y",
                noun="ten-year rate",
            ),
            MeasureSpec(
                "yield_10y_change_1y",
                "change",
                "the ten-year yield",
                digits=2,
                unit="percentage points",
                ranked=False,
            ),
            MeasureSpec("yield_slope_2s10s", "slope", "The curve", digits=2, unit="percentage points", ranked=False),
        ),
        ("policy_rate", "gov_yield_10y", "long_term_rate_10y"),
    ),
    SectionSpec(
        "external",
        "External position",
        "the external position",
        (
            MeasureSpec(
                "current_account_pct_gdp",
                "balance",
                "The current account",
                large=1.5,
                unit=_SHARE,
                noun="current-account balance",
            ),
            MeasureSpec("trade_balance_pct_gdp", "balance", "The trade account", large=1.0, unit=_SHARE),
            MeasureSpec(
                "real_effective_rate_change_yoy",
                "growth",
                "The real effective exchange rate",
                large=3.0,
                growth=True,
            ),
            MeasureSpec(
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
    SectionSpec(
        "fiscal",
        "Public finances",
        "public finances",
        (
            MeasureSpec(
                "government_debt_pct_gdp", "level", "Government debt", large=2.0, unit=_SHARE, noun="debt ratio"
            ),
            MeasureSpec(
                "central_government_debt_pct_gdp",
                "level",
                "Debt of the central government",
                large=2.0,
                unit=_SHARE,
                instead_of="government_debt_pct_gdp",
                noun="debt ratio",
            ),
            MeasureSpec(
                "debt_change_5y", "change", "the debt ratio", large=8.0, unit="percentage points", ranked=False
            ),
            MeasureSpec("fiscal_balance_pct_gdp", "balance", "The government's budget", large=1.0, unit=_SHARE),
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
