"""The rest of the simulated FRED feed: the United States in depth, commodities, and the series that are withheld."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import numpy as np

from almanac.domain.periods import Frequency
from almanac.sandbox.country_series import RELEASES, A, D, M, Q, W, country, curve, one
from almanac.sandbox.places import LANDS, Land
from almanac.sandbox.series import Publishing, Simulated
from almanac.sandbox.true_paths import Path, bond, gap, level, oil, policy, prices, swing

#: Two holidays on which the simulated Federal Reserve prints no yields.
_NO_YIELDS = frozenset(f"{year}-{day}" for year in range(2010, 2201) for day in ("07-04", "11-11"))

#: Editions of April: two with a projection, two with the outcome.
_OUTLOOK = Publishing(lag=15, months=(-21, -9, 3, 15))

#: code, indicator, frequency, unit, base in 2010, growth % a year, share of the cycle, noise %, digits, release, words
_USA_LEVELS: tuple[tuple[str, str, Frequency, str, float, float, float, float, int, int, str], ...] = (
    ("PAYEMS", "nonfarm_payrolls", M, "thousands", 130000, 1.2, 0.8, 0.05, 0, 50, "nonfarm payrolls"),
    ("AHE", "average_hourly_earnings", M, "usd", 22.5, 3.2, -0.1, 0.1, 2, 50, "average hourly earnings"),
    ("JOLTS", "job_openings", M, "thousands", 4200, 4.0, 4.0, 2.0, 0, 192, "job openings"),
    ("RETAIL", "retail_sales", M, "usd_millions", 350000, 4.5, 1.0, 0.6, 0, 9, "retail sales"),
    ("STARTS", "housing_starts", M, "thousands", 900, 2.2, 2.5, 4.0, 0, 27, "housing starts"),
    ("PERMIT", "building_permits", M, "thousands", 920, 2.2, 2.5, 3.0, 0, 27, "building permits"),
    ("EXP", "exports", M, "usd_millions", 160000, 3.4, 1.5, 1.0, 0, 51, "exports of goods and services"),
    ("IMP", "imports", M, "usd_millions", 198000, 3.6, 1.6, 1.0, 0, 51, "imports of goods and services"),
    ("M2", "m2", M, "usd_billions", 8600, 6.0, -0.4, 0.2, 1, 21, "money stock M2"),
    ("INCOME", "personal_income", M, "usd_billions", 12200, 4.6, 0.4, 0.3, 1, 54, "personal income"),
    ("CONS", "personal_consumption", M, "usd_billions", 10200, 4.7, 0.9, 0.2, 1, 54, "personal consumption"),
    ("ECI", "employment_cost_index", Q, "index", 100, 3.0, 0.1, 0.1, 1, 11, "employment cost, wages and salaries"),
)
#: code, indicator, frequency, unit, centre, share of the cycle, spread, digits, release, words
_USA_SWINGS: tuple[tuple[str, str, Frequency, str, float, float, float, int, int, str], ...] = (
    ("PART", "labor_force_participation_rate", M, "percent", 62.8, 0.15, 0.3, 1, 50, "labour force participation"),
    ("TCU", "capacity_utilization", M, "percent", 77.5, 0.9, 0.8, 2, 13, "capacity utilization"),
    ("SAVE", "saving_rate", M, "percent", 6.2, -0.9, 0.7, 1, 54, "saving rate"),
    ("LEND", "lending_standards", Q, "percent", 4.0, -4.0, 8.0, 1, 191, "banks tightening standards, net share"),
)
_ANNUAL_RATES = frozenset({"housing_starts", "building_permits", "personal_income", "personal_consumption"})


def united_states() -> Iterator[Simulated]:
    """What only the United States publish, and the yields of the Treasury a second time."""
    usa, adjusted = LANDS["USA"], {"seasonal_adjustment": "SA"}
    for code, slug, frequency, unit, base, growth, beta, noise, digits, release, words in _USA_LEVELS:
        months = 3 if frequency is Q else 1
        publishing = RELEASES[release].publishing
        yield one(
            usa, code, slug, frequency, unit, words,
            level(code, "USA", base, growth, beta, noise, months),
            publishing, digits=digits, error=0.002 if len(publishing.months) > 1 else 0.0,
            extras={**adjusted, "annualized": slug in _ANNUAL_RATES},
        )  # fmt: skip
    for code, slug, frequency, unit, centre, beta, spread, digits, release, words in _USA_SWINGS:
        months = 3 if frequency is Q else 1
        yield one(
            usa, code, slug, frequency, unit, words,
            swing(code, "USA", centre, beta, spread, months),
            RELEASES[release].publishing, digits=digits, extras={} if slug == "lending_standards" else adjusted,
        )  # fmt: skip

    paths = {line[0]: level(line[0], "USA", *line[4:8]) for line in _USA_LEVELS}
    yield one(
        usa, "TRADE", "trade_balance", M, "usd_millions", "trade balance",
        lambda e: paths["EXP"](e) - paths["IMP"](e), RELEASES[51].publishing, error=0.01, digits=0, extras=adjusted,
    )  # fmt: skip
    yield one(
        usa, "CPINSA", "cpi_index_nsa", M, "index", "consumer prices, not adjusted", prices("USA", seasonal=True),
        Publishing(lag=14), digits=3, extras={"basis": "2015=100"},
    )  # fmt: skip
    for code, slug, variant, release in (
        ("PCE", "pce_price_index", "pce", 54), ("PCECORE", "core_pce_price_index", "core", 54), ("PPI", "ppi_index", "ppi", 46),
    ):  # fmt: skip
        yield one(
            usa, code, slug, M, "index", slug.replace("_", " "), prices("USA", variant),
            RELEASES[release].publishing, error=0.0003, digits=3, extras={**adjusted, "basis": "2015=100"},
        )  # fmt: skip
    yield one(
        usa, "CLAIMS", "initial_jobless_claims", W, "persons", "initial claims for unemployment insurance",
        # Whole thousands.
        lambda e: 1000 * np.round(e.weekly(230 * np.exp(-0.14 * e.cycle("USA"))) + 4 * np.sin(np.arange(len(e.weeks)))),
        RELEASES[180].publishing, digits=0, snapshot=True, extras=adjusted,
    )  # fmt: skip
    yield one(
        usa, "ASSETS", "central_bank_assets", W, "usd_millions", "assets of the central bank",
        lambda e: e.weekly(e.trending("assets", "USA", 2300000, 7.0, -2.0, 2.0)), Publishing(lag=1), digits=0, snapshot=True,
    )  # fmt: skip
    for code, slug, beside in (("UPPER", "policy_rate_upper", 0.125), ("LOWER", "policy_rate_lower", -0.125)):
        yield one(
            usa, code, slug, D, "percent", slug.replace("_", " "), policy("USA", beside), Publishing(),
        )  # fmt: skip
    for years in (5, 10, 30):
        yield one(
            usa, f"R{years}Y", f"gov_real_yield_{years}y", D, "percent", f"{years}-year real yield",
            bond("USA", years, -2.1 - years / 100), Publishing(), extras={"curve_type": "par"},
        )  # fmt: skip
    yield from curve(usa, ("2y", "5y", "10y", "30y"), publishing=Publishing(lag=1), snapshot=True, missing=_NO_YIELDS)


def elsewhere() -> Iterator[Simulated]:
    """Commodities, and a series nobody continues."""
    world = Land("WLD", "World", 0, 0, 0, 0, 0, 0, 0)
    for code, slug, base in (("BRENT", "oil_price_brent", 78.0), ("WTI", "oil_price_wti", 74.0)):
        yield _commodity(
            world, code, slug, D, "usd_per_barrel",
            oil(base),
        )  # fmt: skip
    yield _commodity(world, "ZINC", "zinc_price", M, "usd_per_tonne", level("zinc", "USA", 2100, 1.5, 3.0, 8.0))
    yield one(
        LANDS["GBR"], "TURN", "retail_turnover_index", M, "index", "retail turnover, stopped",
        level("turnover", "GBR", 95, 1.0, 0.5, 0.6), Publishing(lag=35), last=date(2020, 12, 1),
        extras={"basis": "2015=100", "seasonal_adjustment": "SA"},
    )  # fmt: skip


def rough() -> Iterator[Simulated]:
    """What real feeds have beside what is regular: years without a survey, an end that nobody tells, a late first load."""
    bra, deu = LANDS["BRA"], LANDS["DEU"]
    # Nobody was asked from 2019 to the summer of 2026.
    unasked = frozenset(
        str(month) for month in np.arange("2019-01", "2026-08", dtype="datetime64[M]").astype("datetime64[D]")
    )
    yield one(
        bra, "PART", "labor_force_participation_rate", M, "percent", "labour force participation",
        swing("PART", "BRA", 62.0, 0.15, 0.3), _LABOUR_LATE, digits=1, missing=unasked,
    )  # fmt: skip
    # The public curve stopped in 2014, the licensed one goes on: what may be shown is old.
    yield one(
        bra, "Y10Y", "gov_yield_10y", D, "percent", "10y government bond yield", bond("BRA", 10), Publishing(lag=1),
        silent=date(2014, 6, 30), extras={"curve_type": "benchmark"},
    )  # fmt: skip
    yield one(
        bra, "Y10Y", "gov_yield_10y", D, "percent", "10y government bond yield", bond("BRA", 10, 0.01), Publishing(lag=1),
        snapshot=True, first=date(2020, 1, 1), extras={"curve_type": "benchmark"}, source=_LICENSED,
    )  # fmt: skip
    yield one(
        deu, "VACANCY", "job_openings", M, "thousands", "job openings", level("VACANCY", "DEU", 480, 2.0, 4.0, 2.0),
        Publishing(lag=38), digits=0, snapshot=True, loaded=date(2026, 3, 31),
    )  # fmt: skip


_LABOUR_LATE = Publishing(lag=30)


def _commodity(world: Land, code: str, slug: str, frequency: Frequency, unit: str, path: Path) -> Simulated:
    series = one(world, code, slug, frequency, unit, slug.replace("_", " "), path, Publishing(lag=1))
    return replace(series, entity="region_world")


_LICENSED = "sandbox-licensed"


def licensed() -> Iterator[Simulated]:
    """The series whose values are withheld."""
    usa = LANDS["USA"]
    yield one(
        usa, "HY", "high_yield_spread", D, "percentage_points", "high-yield spread",
        # Wider where the curve is flat.
        lambda e: np.maximum(2.2, 5.0 - 0.9 * (e.yields("USA", 10) - e.yields("USA", 0.25))),
        Publishing(lag=1), snapshot=True, source=_LICENSED,
    )  # fmt: skip
    yield one(
        usa, "NFCI", "financial_conditions_index", W, "index", "financial conditions",
        lambda e: e.weekly(e.swinging("conditions", "USA", -0.4, -0.12, 0.25)), Publishing(lag=4), snapshot=True, digits=5,
        source=_LICENSED,
    )  # fmt: skip
    yield one(
        usa, "CONF", "consumer_confidence", M, "points", "consumer confidence",
        swing("confidence", "USA", 85, 3, 4), digits=1, extras={"seasonal_adjustment": "SA"}, source=_LICENSED,
    )  # fmt: skip
    yield one(
        usa, "POT", "potential_gdp", Q, "usd_billions", "potential gross domestic product",
        lambda e: e.average(e.output("USA", real=True) / np.exp(e.cycle("USA") / 100), 3), Publishing(40, (0, 6)),
        error=0.001, digits=1, extras={"annualized": True, "price_basis": "2010 prices"}, source=_LICENSED,
    )  # fmt: skip
    # The same cells as the public feed's: a withheld row must never win over a public one.
    yield one(
        LANDS["CAN"], "Y10Y", "gov_yield_10y", D, "percent", "10y government bond yield",
        bond("CAN", 10, 0.01), Publishing(lag=1), snapshot=True,
        extras={"curve_type": "benchmark", "compounding": "semi_annual"}, source=_LICENSED,
    )  # fmt: skip
    for land in LANDS.values():
        yield one(
            land, "GAP", "output_gap", A, "percent", "output gap", gap(land.code), _OUTLOOK,
            error=0.5, additive=True, digits=1, source=_LICENSED,
        )  # fmt: skip


def everything() -> list[Simulated]:
    """All series of the two feeds in FRED's format, in a fixed order."""
    found = [series for land in LANDS.values() for series in country(land)]
    return [*found, *united_states(), *elsewhere(), *licensed(), *rough()]
