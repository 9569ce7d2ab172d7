"""
The measures that briefs and releases put into words, and their readings.

A brief has six sections, each with its measures in the order of the text. Headlines of some releases belong to no
section.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from almanac.domain.numbers import exact_sum
from almanac.domain.periods import Frequency, Period
from almanac.reports.wording import amount, decimals, rounded, span, within

Key = Literal["growth", "inflation", "labor", "rates", "external", "fiscal"]
#: How a measure is put into words, see almanac.reports.briefs.
Kind = Literal["growth", "pace", "level", "balance", "change", "slope", "count"]
#: Kinds whose sentences say how far a reading moved.
MOVING: frozenset[Kind] = frozenset({"growth", "pace", "level", "balance", "count"})


class MeasureSpec(NamedTuple):
    """
    One indicator of a section.

    `subject` begins its sentence and `plural` decides the form of its verb. `digits` is the number of decimals shown;
    of three decimals the last is left out if it is zero.
    """

    slug: str
    kind: Kind
    subject: str
    plural: bool = False
    digits: int = 1
    #: The sign or words after a number.
    unit: str = "%"
    #: Ranked among countries.
    ranked: bool = True
    #: Ranked among readings of any frequency, because the day matters and not the period.
    instant: bool = False
    #: Used only if no earlier measure of this slug's group has a fresh public reading.
    instead_of: str | None = None
    #: Not for a country that shares its currency's central bank.
    own_bank: bool = False
    #: It moves in steps and mostly stands still, so its usual move is that of the times when it moves.
    steps: bool = False
    #: The noun for what is ranked; None: the rank isn't mentioned.
    noun: str | None = None
    #: The earlier time that a `change` is counted from, in words.
    since: str = ""

    @property
    def growth(self) -> bool:
        """True for a growth rate: its place in its own last ten years is mentioned."""
        return self.kind in {"growth", "pace"}


class SectionSpec(NamedTuple):
    """One of the six sections, with its measures."""

    key: Key
    title: str
    #: The subject of the section, for the middle of a sentence.
    topic: str
    measures: tuple[MeasureSpec, ...]


_SHARE, _POINTS, _A_YEAR_BEFORE = "% of GDP", "percentage points", "a year before"


def _change(
    slug: str, subject: str, since: str = _A_YEAR_BEFORE, digits: int = 1, own_bank: bool = False
) -> MeasureSpec:
    """Return a long-term difference in percentage points, which is not ranked."""
    return MeasureSpec(
        slug, "change", subject, digits=digits, unit=_POINTS, ranked=False, own_bank=own_bank, since=since
    )


def _prices(slug: str, subject: str, instead_of: str | None = None, noun: str | None = None) -> MeasureSpec:
    """Return a growth rate of prices."""
    return MeasureSpec(slug, "growth", subject, plural=True, instead_of=instead_of, noun=noun)


_GROWTH = (
    MeasureSpec("gdp_growth_yoy", "growth", "Real GDP", noun="growth rate"),
    MeasureSpec("gdp_growth_official_yoy", "growth", "Real GDP", instead_of="gdp_growth_yoy", noun="growth rate"),
    MeasureSpec("gdp_growth_annual", "growth", "Real GDP", instead_of="gdp_growth_yoy", noun="growth rate"),
    MeasureSpec("gdp_growth_qoq_annualized", "pace", "output"),
    MeasureSpec("industrial_production_growth_yoy", "growth", "Industrial production"),
    MeasureSpec("retail_sales_growth_yoy", "growth", "Retail sales", plural=True),
    MeasureSpec("consumer_confidence", "level", "Consumer confidence", unit="", ranked=False),
)
_INFLATION = (
    _prices("cpi_inflation_yoy", "Consumer prices", noun="inflation rate"),
    _prices("cpi_inflation_official_yoy", "Consumer prices", "cpi_inflation_yoy", "inflation rate"),
    _prices("core_cpi_inflation_yoy", "Core consumer prices"),
    _prices("core_cpi_inflation_official_yoy", "Core consumer prices", "core_cpi_inflation_yoy"),
    _prices("core_pce_inflation_yoy", "Core prices of personal consumption"),
    _prices("ppi_inflation_yoy", "Producer prices"),
    _prices("house_price_growth_yoy", "House prices"),
)
_LABOR = (
    MeasureSpec("unemployment_rate", "level", "The unemployment rate", noun="unemployment rate"),
    _change("unemployment_change_12m", "the rate"),
    MeasureSpec("nonfarm_payrolls_change", "count", "Nonfarm payrolls", True, 0, "thousand", ranked=False),
    MeasureSpec("labor_force_participation_rate", "level", "The participation rate"),
)
_POLICY_RATE = MeasureSpec(
    "policy_rate", "level", "The policy rate", digits=3, instant=True, own_bank=True, steps=True, noun="policy rate"
)
_TEN_YEARS = MeasureSpec(
    "gov_yield_10y", "level", "The ten-year government yield", digits=2, instant=True, noun="ten-year yield"
)
_LONG_TERM = MeasureSpec(
    "long_term_rate_10y",
    "level",
    "The ten-year interest rate",
    digits=2,
    instead_of=_TEN_YEARS.slug,
    noun="ten-year rate",
)
_REAL_RATE = MeasureSpec(
    "real_policy_rate", "level", "Adjusted for inflation, the policy rate", ranked=False, own_bank=True
)
_RATES = (
    _POLICY_RATE,
    _change("policy_rate_change_12m", "the policy rate", digits=2, own_bank=True),
    _REAL_RATE,
    MeasureSpec("gov_yield_2y", "level", "The two-year government yield", digits=2, instant=True),
    _TEN_YEARS,
    _LONG_TERM,
    _change("yield_10y_change_1y", "the ten-year yield", digits=2),
    MeasureSpec("yield_slope_2s10s", "slope", "The curve", digits=2, unit=_POINTS, ranked=False),
)
_CURRENT_ACCOUNT = MeasureSpec(
    "current_account_pct_gdp", "balance", "The current account", unit=_SHARE, noun="current-account balance"
)
_DOLLAR = "The price of a US dollar in local currency"
_EXTERNAL = (
    _CURRENT_ACCOUNT,
    MeasureSpec("trade_balance_pct_gdp", "balance", "The trade account", unit=_SHARE),
    MeasureSpec("real_effective_rate_change_yoy", "growth", "The real effective exchange rate"),
    MeasureSpec("exchange_rate_change_yoy", "growth", _DOLLAR, ranked=False),
)
_DEBT = MeasureSpec("government_debt_pct_gdp", "level", "Government debt", unit=_SHARE, noun="debt ratio")
_CENTRAL_DEBT = _DEBT._replace(
    slug="central_government_debt_pct_gdp", subject="Debt of the central government", instead_of=_DEBT.slug
)
_FISCAL = (
    _DEBT,
    _CENTRAL_DEBT,
    _change("debt_change_5y", "the debt ratio", since="five years before"),
    MeasureSpec("fiscal_balance_pct_gdp", "balance", "The government's budget", unit=_SHARE),
)
SECTIONS = (
    SectionSpec("growth", "Growth", "growth", _GROWTH),
    SectionSpec("inflation", "Inflation", "inflation", _INFLATION),
    SectionSpec("labor", "Labour market", "the labour market", _LABOR),
    SectionSpec("rates", "Interest rates", "interest rates", _RATES),
    SectionSpec("external", "External position", "the external position", _EXTERNAL),
    SectionSpec("fiscal", "Public finances", "public finances", _FISCAL),
)

_ALONE = (
    MeasureSpec("m2_growth_yoy", "growth", "The money stock M2"),
    MeasureSpec("housing_starts", "level", "Housing starts", plural=True, digits=0, unit="thousand"),
    MeasureSpec("trade_balance", "balance", "Foreign trade", digits=0, unit="million US dollars"),
    MeasureSpec("employment_cost_growth_yoy", "growth", "Employment costs", plural=True),
    MeasureSpec("job_openings", "level", "Job openings", plural=True, digits=0, unit="thousand"),
    MeasureSpec("initial_jobless_claims", "level", "Initial jobless claims", plural=True, digits=0, unit=""),
)
#: The wording of an indicator by slug: those of briefs, and the headlines of releases.
MEASURES = {one.slug: one for one in (*(one for section in SECTIONS for one in section.measures), *_ALONE)}

#: Shares of the usual move below which a move isn't mentioned, and from which it is big.
_NONE, _BIG = 0.5, 2.0
_UNITS = {
    "%": {"percent"}, "% of GDP": {"percent"}, "percentage points": {"percentage_points"}, "thousand": {"thousands"},
    "million US dollars": {"usd_millions"},
}  # fmt: skip
#: With fewer moves nothing is usual.
_FEWEST = 8


class Ranking(NamedTuple):
    """
    Rank of a value among those of `of` countries; 1 is the highest. `tied` is true if another country has the same
    value.
    """

    rank: int
    of: int
    tied: bool


class MeasureReading(NamedTuple):
    """
    The latest public reading of a measure. `period` and `previous_period` are keys.

    `freshness` is fresh, stale or unknown; `percentile` is 0 to 100. `usual` is the mean absolute move of the last ten
    years (`typical_change`), or None if it isn't known. `revised` is true if the reading before has changed since its
    publication.
    """

    measure: MeasureSpec
    value: float
    unit: str | None
    period: int
    frequency: Frequency
    freshness: str
    previous: float | None = None
    previous_period: int | None = None
    percentile: float | None = None
    ranking: Ranking | None = None
    usual: float | None = None
    revised: bool = False
    #: Key of the newest earlier period, if that isn't the neighbouring one; nothing is compared with it.
    since: int | None = None
    #: Position of its sentence in the text, which varies repeated words.
    turn: int = 0

    @property
    def digits(self) -> int:
        """Decimals shown for the value and the one before."""
        return decimals(self.measure.digits, self.value, *(() if self.previous is None else (self.previous,)))

    @property
    def told(self) -> float:
        """The value as shown, rounded."""
        return rounded(self.value, self.measure.digits)

    @property
    def was(self) -> float:
        """The reading before as shown, rounded; zero if there is none."""
        return rounded(self.previous or 0.0, self.measure.digits)

    @property
    def move(self) -> float:
        """The change since the reading before. For a count, which is itself a change, it is the value."""
        if self.measure.kind == "count":
            return self.value
        return 0.0 if self.previous is None else exact_sum(self.value, -self.previous)

    @property
    def moved(self) -> bool:
        """
        True if it moved far enough to be mentioned: half of its usual move, or one unit of the last decimal shown if
        that isn't known.
        """
        least = 10.0**-self.measure.digits if self.usual is None else _NONE * self.usual
        return self.told != self.was and abs(self.move) >= least

    @property
    def big(self) -> bool:
        """True if it moved at least twice as far as it usually does."""
        return self.usual is not None and self.move != 0 and abs(self.move) >= _BIG * self.usual

    @property
    def size(self) -> str:
        """The value without its sign, with its unit."""
        return amount(abs(self.value), self.digits, self.measure.unit)

    @property
    def fits(self) -> bool:
        """True if the reading is in the unit that the measure's words assume."""
        wanted = _UNITS.get(self.measure.unit)
        return wanted is None or self.unit in wanted

    @property
    def when(self) -> str:
        """Words for the period: `in October 2026`."""
        return within(Period.from_key(self.period), self.frequency)

    @property
    def gap(self) -> str:
        """
        End of a sentence without a comparison: `; this is the first reading since 30 April 2024`. Empty if there is a
        reading before.
        """
        if self.since is None or self.previous is not None:
            return ""
        return f"; this is the first reading since {span(Period.from_key(self.since), self.frequency)}"

    def over(self) -> str:
        """Return the words for a change over a year: `over the year to October 2026`, or just `in 2026` for annual data."""
        if self.frequency is Frequency.ANNUAL:
            return self.when
        return f"over the year to {self.when.partition(' ')[2]}"


def typical_change(measure: MeasureSpec, past: Sequence[float]) -> float | None:
    """
    Return the mean absolute change between neighbouring readings, in the unit of the measure, or None if there are
    fewer than eight.

    `past` holds readings in the order of their periods, in either direction. A count is itself a change. For a measure
    that moves in steps, times without a move do not count.
    """
    moves = [abs(one) for one in past] if measure.kind == "count" else [abs(two - one) for one, two in pairwise(past)]
    if measure.steps:
        moves = [one for one in moves if one]
    return math.fsum(moves) / len(moves) if len(moves) >= _FEWEST else None
