"""What every country of the simulated FRED feed has: the headline figures, and how they are published."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from almanac.domain.periods import Frequency
from almanac.sandbox.places import SCOPES, Land
from almanac.sandbox.series import Publishing, Simulated
from almanac.sandbox.true_paths import Path, between, bond, credit, dollars, level, policy, prices, product, swing

D, W, M, Q, A = (Frequency(letter) for letter in "DWMQA")

#: Maturities in years by the ending of their slug.
TENORS = {"3m": 0.25, "6m": 0.5, "1y": 1, "2y": 2, "3y": 3, "5y": 5, "7y": 7, "10y": 10, "20y": 20, "30y": 30}

#: What a scope's curve says it is; the United States and Japan come in their own feeds.
CURVES = {
    "AUS": ("benchmark", "semi_annual"),
    "CAN": ("benchmark", "semi_annual"),
    "CHE": ("spot", "unknown"),
    "EUR": ("spot", "continuous"),
    "GBR": ("spot", "continuous"),
    "USA": ("par", "semi_annual"),
}

_PLAIN = Publishing(lag=2)
_MONTHLY = Publishing(lag=45, months=(0, 1), benchmark=1, benchmarks=1)
_PRICES = Publishing(lag=14, benchmark=1, benchmarks=1)
_LABOUR = Publishing(lag=5, benchmark=1, benchmarks=1)
_ACCOUNTS = Publishing(lag=30, months=(0, 1, 2), benchmark=6, benchmarks=3)
_YEARLY = Publishing(lag=105, months=(0, 12))


class SimulatedRelease(NamedTuple):
    """A publication of the simulated FRED, by the id that the real one has."""

    id: int
    name: str
    frequency: Frequency
    publishing: Publishing


RELEASES = {
    release.id: release
    for release in (
        SimulatedRelease(9, "Advance Monthly Sales for Retail and Food Services", M, Publishing(15, (0, 1))),
        SimulatedRelease(10, "Consumer Price Index", M, _PRICES),
        SimulatedRelease(11, "Employment Cost Index", Q, Publishing(lag=30)),
        SimulatedRelease(13, "G.17 Industrial Production and Capacity Utilization", M, Publishing(16, (0, 1), 1, 1)),
        SimulatedRelease(21, "H.6 Money Stock Measures", M, Publishing(25, (0, 1))),
        SimulatedRelease(27, "New Residential Construction", M, Publishing(18, (0, 1))),
        SimulatedRelease(46, "Producer Price Index", M, Publishing(15, (0, 1, 3))),
        SimulatedRelease(50, "Employment Situation", M, Publishing(5, (0, 1, 2), 1, 1)),
        SimulatedRelease(51, "U.S. International Trade in Goods and Services", M, Publishing(35, (0, 1))),
        SimulatedRelease(53, "Gross Domestic Product", Q, _ACCOUNTS),
        SimulatedRelease(54, "Personal Income and Outlays", M, Publishing(29, (0, 1, 2))),
        SimulatedRelease(180, "Unemployment Insurance Weekly Claims Report", W, Publishing(lag=5)),
        SimulatedRelease(191, "Senior Loan Officer Opinion Survey on Bank Lending Practices", Q, Publishing(lag=35)),
        SimulatedRelease(192, "Job Openings and Labor Turnover Survey", M, Publishing(38, (0, 1))),
    )
}


def one(
    land: Land, code: str, indicator: str, frequency: Frequency, unit: str, what: str, path: Path,
    publishing: Publishing = _PLAIN, **more: Any,
) -> Simulated:  # fmt: skip
    return Simulated(
        native=f"SIM{land.code}{code}",
        indicator=indicator,
        entity=land.entity,
        frequency=frequency,
        unit=unit,
        name=f"Simulated {land.name}, {what}",
        path=path,
        publishing=publishing,
        **more,
    )


def curve(land: Land, tenors: tuple[str, ...], **more: Any) -> Iterator[Simulated]:
    kind, compounding = CURVES[land.code]
    for tenor in tenors:
        yield one(
            land, f"Y{tenor.upper()}", f"gov_yield_{tenor}", D, "percent", f"{tenor} government bond yield",
            bond(land.code, TENORS[tenor]),
            extras={"curve_type": kind, "compounding": compounding}, **more,
        )  # fmt: skip


def country(land: Land) -> Iterator[Simulated]:
    """What every country and the euro area have."""
    code, usa = land.code, land.code == "USA"
    money = "usd_billions" if usa else "local_currency_billions"
    adjusted = {"seasonal_adjustment": "SA"}
    index = {"basis": "2015=100"}

    yield one(
        land, "CPI", "cpi_index", M, "index", "consumer prices", prices(code, seasonal=not usa),
        _PRICES, error=0.0003, digits=3, extras={**index, **(adjusted if usa else {})},
    )  # fmt: skip
    yield one(
        land, "CORE", "core_cpi_index", M, "index", "core consumer prices", prices(code, "core", seasonal=not usa),
        _PRICES, error=0.0002, digits=3, extras={**index, **(adjusted if usa else {})},
    )  # fmt: skip
    # The publisher skipped October 2025: nobody was asked that month.
    yield one(
        land, "UNRATE", "unemployment_rate", M, "percent", "unemployment rate", lambda e: e.unemployment(code),
        RELEASES[50].publishing if usa else _LABOUR, error=0.05, additive=True, digits=1, extras=adjusted,
        missing=frozenset({"2025-10-01"} if usa else ()),
    )  # fmt: skip
    yield one(
        land, "IP", "industrial_production_index", M, "index", "industrial production",
        level("industry", code, 95, 0.6 * land.growth, 1.5, 0.6),
        RELEASES[13].publishing if usa else _MONTHLY, error=0.004, extras={**adjusted, **index},
    )  # fmt: skip
    rate = 1.0 if usa else 0.25  # the American accounts are at annual rates
    for real, slug, short, what in ((True, "real_gdp", "RGDP", "real"), (False, "nominal_gdp", "GDP", "nominal")):
        yield one(
            land, short, slug, Q, money, f"{what} gross domestic product",
            product(code, rate, real=real), _ACCOUNTS, error=0.003, digits=3,
            extras={**adjusted, "annualized": usa, "price_basis": "2010 prices" if real else "current"},
        )  # fmt: skip
    yield one(
        land, "GDPUSD", "gdp_current_usd", A, "usd", "gross domestic product in US dollars", dollars(code),
        _YEARLY, error=0.003, digits=0, extras={"price_basis": "current"},
    )  # fmt: skip
    if not land.euro:
        daily = code in SCOPES
        yield one(
            land, "POLICY", "policy_rate", D if daily else M, "percent", "policy rate",
            policy(code) if daily else lambda e: e.month_end(e.policy(code)), Publishing(), digits=3,
        )  # fmt: skip
    if not usa:
        yield one(
            land, "FX", "usd_exchange_rate", M, "per_usd", "local currency per US dollar, average of the month",
            lambda e: e.exchange(code), digits=4,
        )  # fmt: skip
        # The American survey is copyrighted: it is in the withheld source.
        yield one(
            land, "CONF", "consumer_confidence", M, "points", "consumer confidence", swing("confidence", code, -8, 3, 4),
            digits=1, extras=adjusted,
        )  # fmt: skip
    yield one(
        land, "LTR", "long_term_rate_10y", M, "percent", "10-year rate at the end of the month",
        lambda e: e.month_end(e.yields(code, 10)),
    )  # fmt: skip
    yield one(
        land, "REER", "effective_exchange_rate_real", M, "index", "real effective exchange rate",
        level("reer", code, 100, 0, 0.3, 5.0), Publishing(lag=18), extras=index,
    )  # fmt: skip
    yield one(
        land, "HOUSE", "house_price_index", Q, "index", "house prices",
        level("houses", code, 90, land.inflation + 1, 1.2, 2.0, 3),
        Publishing(85, (0, 3)), error=0.003, extras=index,
        withdrawn=("2018-07-01", "2019-06-03") if code == "PRT" else None,
    )  # fmt: skip
    owed = between(f"{code}/credit", 90, 190)
    yield one(
        land, "CREDSH", "total_credit_pct_gdp", Q, "percent", "credit to the private sector, share of GDP",
        swing("credit", code, owed, -1.0, 6, 3), Publishing(lag=80), digits=1,
    )  # fmt: skip
    yield one(
        land, "CREDIT", "total_credit", Q, "local_currency", "credit to the private sector",
        credit(code, swing("credit", code, owed, -1.0, 6)),
        Publishing(lag=80), digits=1, extras={"scale": 9},
    )  # fmt: skip
    yield one(
        land, "DEBT", "government_debt_pct_gdp", Q, "percent", "general government debt, share of GDP",
        swing("debt", code, between(f"{code}/debt", 40, 120), -1.2, 5, 3), Publishing(110, (0, 3)), error=0.004, digits=1,
    )  # fmt: skip
    yield one(
        land, "BUDGET", "fiscal_balance_pct_gdp", A, "percent", "general government balance, share of GDP",
        swing("budget", code, -2.5, 0.6, 1.2, 12), _YEARLY, error=0.2, additive=True, digits=1,
    )  # fmt: skip
    yield one(
        land, "CA", "current_account_pct_gdp", A, "percent", "current account, share of GDP",
        swing("external", code, between(f"{code}/external", -3, 4), -0.3, 1.5, 12), _YEARLY, error=0.2, additive=True, digits=1,
    )  # fmt: skip
    yield one(
        land, "POP", "population", A, "persons", "population",
        level("people", code, land.people * 1e6, 0.5, 0, 0.01, 12), _YEARLY, digits=0,
    )  # fmt: skip
    if code in SCOPES and code not in {"USA", "JPN"}:
        yield from curve(land, ("3m", "2y", "5y", "10y", "30y"), publishing=Publishing())
