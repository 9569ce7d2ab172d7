"""
All series of the simulated FRED feed: headline figures of every country, the United States in depth, commodities, the
withheld series, what is irregular, and further series for load tests.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import msgspec
import numpy as np

from almanac.domain.periods import Frequency
from almanac.sandbox.data import table
from almanac.sandbox.economy import COUNTRIES, SCOPES, Country, Economy
from almanac.sandbox.noise import EPOCH, uniforms
from almanac.sandbox.series import LICENSED, Path, Publishing, SimulatedSeries, bond, level, policy, prices, swing

D, W, M, Q, A = (Frequency(letter) for letter in "DWMQA")

#: Maturities in years by the ending of their slug.
TENORS = {"3m": 0.25, "6m": 0.5, "1y": 1, "2y": 2, "3y": 3, "5y": 5, "7y": 7, "10y": 10, "20y": 20, "30y": 30}

_PLAIN = Publishing(lag=2)
_MONTHLY = Publishing(lag=45, months=(0, 1), benchmark=1, benchmarks=1)
_PRICES = Publishing(lag=14, benchmark=1, benchmarks=1)
_LABOUR = Publishing(lag=5, benchmark=1, benchmarks=1)
_ACCOUNTS = Publishing(lag=30, months=(0, 1, 2), benchmark=6, benchmarks=3)
_YEARLY = Publishing(lag=105, months=(0, 12))
_DAY_AFTER, _SAME_DAY = Publishing(lag=1), Publishing()
#: Editions of April: two with a projection, two with the outcome.
_OUTLOOK = Publishing(lag=15, months=(-21, -9, 3, 15))

_ADJUSTED, _INDEX = {"seasonal_adjustment": "SA"}, {"basis": "2015=100"}


class SimulatedRelease(msgspec.Struct, frozen=True):
    """A publication of the simulated FRED, by the id that the real one has."""

    id: int
    name: str
    frequency: Frequency
    publishing: Publishing


class _SeriesOfRelease(msgspec.Struct, frozen=True):
    """A series of the United States. Its path is a level or a swing with these arguments."""

    code: str
    indicator: str
    frequency: Frequency
    unit: str
    words: str
    release: int
    digits: int
    level: tuple[float, float, float, float] | None = None
    swing: tuple[float, float, float] = (0.0, 0.0, 0.0)
    error: float = 0.0
    extras: dict[str, str | bool] = {}

    def path(self) -> Path:
        if self.level:
            return level(self.code, "USA", *self.level, self.frequency.months)
        return swing(self.code, "USA", *self.swing, self.frequency.months)


RELEASES = {release.id: release for release in msgspec.convert(table("releases")["release"], list[SimulatedRelease])}


def _simulated(
    country: Country, code: str, indicator: str, frequency: Frequency, unit: str, words: str, path: Path,
    publishing: Publishing = _PLAIN, **more: Any,
) -> SimulatedSeries:  # fmt: skip
    """Return a series of a country. `code` is the end of its native code, `words` that of its name."""
    return SimulatedSeries(
        native=f"SIM{country.code}{code}",
        indicator=indicator,
        entity=country.entity,
        frequency=frequency,
        unit=unit,
        name=f"Simulated {country.name}, {words}",
        path=path,
        publishing=publishing,
        **more,
    )


def _between(name: str, low: float, high: float) -> float:
    """Return a number between two that always belongs to the name."""
    return low + (high - low) * float(uniforms(name, 1)[0])


def _curve(country: Country, tenors: Iterable[str], publishing: Publishing, **more: Any) -> Iterator[SimulatedSeries]:
    extras = {"curve_type": country.curve_type, "compounding": country.compounding}
    for tenor in tenors:
        yield _simulated(
            country, f"Y{tenor.upper()}", f"gov_yield_{tenor}", D, "percent", f"{tenor} government bond yield",
            bond(country.code, TENORS[tenor]), publishing, extras=extras, **more,
        )  # fmt: skip


def _headline_series(country: Country) -> Iterator[SimulatedSeries]:
    """Yield the series that every country and the euro area have."""
    series = functools.partial(_simulated, country)
    code, usa, daily = country.code, country.code == "USA", country.code in SCOPES
    money = "usd_billions" if usa else "local_currency_billions"
    # The American accounts are at annual rates.
    rate, accounts = (1.0, _ADJUSTED | {"annualized": True}) if usa else (0.25, _ADJUSTED | {"annualized": False})
    price_index = _INDEX | (_ADJUSTED if usa else {})
    credit_share = _between(f"{code}/credit", 90, 190)
    credit = swing("credit", code, credit_share, -1.0, 6)
    # The publisher skipped October 2025: nobody was asked that month.
    skipped = frozenset({"2025-10-01"} if usa else ())
    withdrawn = ("2018-07-01", "2019-06-03") if code == "PRT" else None
    # The American exchange rate is one; its survey of consumers is copyrighted and in the withheld source.
    absent = {"usd_exchange_rate", "consumer_confidence"} if usa else {"policy_rate"} if country.euro else set()
    every = [
        series("CPI", "cpi_index", M, "index", "consumer prices", prices(code, seasonal=not usa), _PRICES,
               error=0.0003, digits=3, extras=price_index),
        series("CORE", "core_cpi_index", M, "index", "core consumer prices", prices(code, "core", seasonal=not usa), _PRICES,
               error=0.0002, digits=3, extras=price_index),
        series("UNRATE", "unemployment_rate", M, "percent", "unemployment rate", lambda e: e.unemployment(code),
               RELEASES[50].publishing if usa else _LABOUR, error=0.05, additive=True, digits=1, extras=_ADJUSTED,
               missing=skipped),
        series("IP", "industrial_production_index", M, "index", "industrial production",
               level("industry", code, 95, 0.6 * country.growth, 1.5, 0.6),
               RELEASES[13].publishing if usa else _MONTHLY, error=0.004, extras=_ADJUSTED | _INDEX),
        series("RGDP", "real_gdp", Q, money, "real gross domestic product",
               lambda e: e.average(e.output(code, real=True) * rate, 3), _ACCOUNTS, error=0.003, digits=3,
               extras=accounts | {"price_basis": "2010 prices"}),
        series("GDP", "nominal_gdp", Q, money, "nominal gross domestic product",
               lambda e: e.average(e.output(code, real=False) * rate, 3), _ACCOUNTS, error=0.003, digits=3,
               extras=accounts | {"price_basis": "current"}),
        series("GDPUSD", "gdp_current_usd", A, "usd", "gross domestic product in US dollars",
               # At the average exchange rate of each month.
               lambda e: e.average(e.output(code, real=False) * 1e9 / (1 if usa else e.exchange(code)), 12), _YEARLY, error=0.003, digits=0,
               extras={"price_basis": "current"}),
        series("POLICY", "policy_rate", D if daily else M, "percent", "policy rate",
               policy(code) if daily else lambda e: e.month_end(e.policy(code)), _SAME_DAY, digits=3),
        series("FX", "usd_exchange_rate", M, "per_usd", "local currency per US dollar, average of the month",
               lambda e: e.exchange(code), digits=4),
        series("CONF", "consumer_confidence", M, "points", "consumer confidence", swing("confidence", code, -8, 3, 4),
               digits=1, extras=_ADJUSTED),
        series("LTR", "long_term_rate_10y", M, "percent", "10-year rate at the end of the month",
               lambda e: e.month_end(e.yields(code, 10))),
        series("REER", "effective_exchange_rate_real", M, "index", "real effective exchange rate",
               level("reer", code, 100, 0, 0.3, 5.0), Publishing(lag=18), extras=_INDEX),
        series("HOUSE", "house_price_index", Q, "index", "house prices",
               level("houses", code, 90, country.inflation + 1, 1.2, 2.0, 3), Publishing(85, (0, 3)), error=0.003,
               extras=_INDEX, withdrawn=withdrawn),
        series("CREDSH", "total_credit_pct_gdp", Q, "percent", "credit to the private sector, share of GDP",
               swing("credit", code, credit_share, -1.0, 6, 3), Publishing(lag=80), digits=1),
        series("CREDIT", "total_credit", Q, "local_currency", "credit to the private sector",
               lambda e: e.average(e.output(code, real=False) * credit(e) / 100, 3), Publishing(lag=80), digits=1,
               extras={"scale": 9}),
        series("DEBT", "government_debt_pct_gdp", Q, "percent", "general government debt, share of GDP",
               swing("debt", code, _between(f"{code}/debt", 40, 120), -1.2, 5, 3), Publishing(110, (0, 3)), error=0.004,
               digits=1),
        series("BUDGET", "fiscal_balance_pct_gdp", A, "percent", "general government balance, share of GDP",
               swing("budget", code, -2.5, 0.6, 1.2, 12), _YEARLY, error=0.2, additive=True, digits=1),
        series("CA", "current_account_pct_gdp", A, "percent", "current account, share of GDP",
               swing("external", code, _between(f"{code}/external", -3, 4), -0.3, 1.5, 12), _YEARLY, error=0.2,
               additive=True, digits=1),
        series("POP", "population", A, "persons", "population",
               level("people", code, country.people * 1e6, 0.5, 0, 0.01, 12), _YEARLY, digits=0),
    ]  # fmt: skip
    yield from (row for row in every if row.indicator not in absent)
    if daily and code not in {"USA", "JPN"}:
        yield from _curve(country, ("3m", "2y", "5y", "10y", "30y"), _SAME_DAY)


#: Two holidays on which the simulated Federal Reserve prints no yields.
_NO_YIELDS = frozenset(f"{year}-{day}" for year in range(2010, 2201) for day in ("07-04", "11-11"))


def _united_states() -> Iterator[SimulatedSeries]:
    """Yield what only the United States publish, and the yields of the Treasury a second time."""
    series = functools.partial(_simulated, COUNTRIES["USA"])
    paths = {}
    for row in msgspec.convert(table("releases")["usa_series"], list[_SeriesOfRelease]):
        paths[row.code] = row.path()
        yield series(
            row.code, row.indicator, row.frequency, row.unit, row.words, row.path(), RELEASES[row.release].publishing,
            digits=row.digits, error=row.error, extras=row.extras,
        )  # fmt: skip
    personal_income = RELEASES[54].publishing
    yield from (
        series("TRADE", "trade_balance", M, "usd_millions", "trade balance", lambda e: paths["EXP"](e) - paths["IMP"](e),
               RELEASES[51].publishing, error=0.01, digits=0, extras=_ADJUSTED),
        series("CPINSA", "cpi_index_nsa", M, "index", "consumer prices, not adjusted", prices("USA", seasonal=True),
               Publishing(lag=14), digits=3, extras=_INDEX),
        series("PCE", "pce_price_index", M, "index", "pce price index", prices("USA", "pce"), personal_income,
               error=0.0003, digits=3, extras=_ADJUSTED | _INDEX),
        series("PCECORE", "core_pce_price_index", M, "index", "core pce price index", prices("USA", "core"), personal_income,
               error=0.0003, digits=3, extras=_ADJUSTED | _INDEX),
        series("PPI", "ppi_index", M, "index", "ppi index", prices("USA", "ppi"), RELEASES[46].publishing,
               error=0.0003, digits=3, extras=_ADJUSTED | _INDEX),
        series("CLAIMS", "initial_jobless_claims", W, "persons", "initial claims for unemployment insurance",
               # Whole thousands.
               lambda e: 1000 * np.round(e.weekly(230 * np.exp(-0.14 * e.cycle("USA"))) + 4 * np.sin(np.arange(len(e.weeks)))),
               RELEASES[180].publishing, digits=0, snapshot=True, extras=_ADJUSTED),
        series("ASSETS", "central_bank_assets", W, "usd_millions", "assets of the central bank",
               lambda e: e.weekly(e.trending("assets", "USA", 2300000, 7.0, -2.0, 2.0)), _DAY_AFTER, digits=0, snapshot=True),
        series("UPPER", "policy_rate_upper", D, "percent", "policy rate upper", policy("USA", 0.125), _SAME_DAY),
        series("LOWER", "policy_rate_lower", D, "percent", "policy rate lower", policy("USA", -0.125), _SAME_DAY),
    )  # fmt: skip
    for years in (5, 10, 30):
        yield series(
            f"R{years}Y", f"gov_real_yield_{years}y", D, "percent", f"{years}-year real yield",
            bond("USA", years, -2.1 - years / 100), _SAME_DAY, extras={"curve_type": "par"},
        )  # fmt: skip
    yield from _curve(COUNTRIES["USA"], ("2y", "5y", "10y", "30y"), _DAY_AFTER, snapshot=True, missing=_NO_YIELDS)


def _oil(base: float) -> Path:
    """Return US dollars per barrel, dearer when money is."""
    return lambda e: base * np.exp(0.15 * (e.yields("USA", 5) - 2.5) + 0.08 * (e.yields("CAN", 1) - 2))


def _elsewhere() -> list[SimulatedSeries]:
    """Return commodities, and a series that its publisher ended."""
    world = functools.partial(_simulated, Country("WLD", "World"))
    return [
        world("BRENT", "oil_price_brent", D, "usd_per_barrel", "oil price brent", _oil(78.0), _DAY_AFTER),
        world("WTI", "oil_price_wti", D, "usd_per_barrel", "oil price wti", _oil(74.0), _DAY_AFTER),
        world("ZINC", "zinc_price", M, "usd_per_tonne", "zinc price", level("zinc", "USA", 2100, 1.5, 3.0, 8.0), _DAY_AFTER),
        _simulated(
            COUNTRIES["GBR"], "TURN", "retail_turnover_index", M, "index", "retail turnover, stopped",
            level("turnover", "GBR", 95, 1.0, 0.5, 0.6), Publishing(lag=35), last=date(2020, 12, 1),
            extras=_INDEX | _ADJUSTED,
        ),
    ]  # fmt: skip


def _licensed() -> list[SimulatedSeries]:
    """Return the series whose values are withheld."""
    usa = functools.partial(_simulated, COUNTRIES["USA"], source=LICENSED)
    return [
        usa("HY", "high_yield_spread", D, "percentage_points", "high-yield spread",
            # Wider where the curve is flat.
            lambda e: np.maximum(2.2, 5.0 - 0.9 * (e.yields("USA", 10) - e.yields("USA", 0.25))), _DAY_AFTER, snapshot=True),
        usa("NFCI", "financial_conditions_index", W, "index", "financial conditions",
            lambda e: e.weekly(e.swinging("conditions", "USA", -0.4, -0.12, 0.25)), Publishing(lag=4), snapshot=True, digits=5),
        usa("CONF", "consumer_confidence", M, "points", "consumer confidence", swing("confidence", "USA", 85, 3, 4),
            digits=1, extras=_ADJUSTED),
        usa("POT", "potential_gdp", Q, "usd_billions", "potential gross domestic product",
            lambda e: e.average(e.output("USA", real=True) / np.exp(e.cycle("USA") / 100), 3), Publishing(40, (0, 6)),
            error=0.001, digits=1, extras={"annualized": True, "price_basis": "2010 prices"}),
        # The same cells as the public feed's: a withheld row must never win over a public one.
        _simulated(
            COUNTRIES["CAN"], "Y10Y", "gov_yield_10y", D, "percent", "10y government bond yield",
            bond("CAN", 10, 0.01), _DAY_AFTER, snapshot=True,
            extras={"curve_type": "benchmark", "compounding": "semi_annual"}, source=LICENSED,
        ),
        *(
            _simulated(
                country, "GAP", "output_gap", A, "percent", "output gap",
                functools.partial(Economy.gap, code=country.code), _OUTLOOK, error=0.5, additive=True, digits=1, source=LICENSED,
            )
            for country in COUNTRIES.values()
        ),
    ]  # fmt: skip


def _irregular() -> list[SimulatedSeries]:
    """Return what real feeds have too: years without a survey, an end without notice, a late first load."""
    brazil = functools.partial(_simulated, COUNTRIES["BRA"])
    # Nobody was asked from 2019 to the summer of 2026.
    unasked = frozenset(
        np.arange("2019-01", "2026-08", dtype="datetime64[M]").astype("datetime64[D]").astype(str).tolist()
    )
    return [
        brazil("PART", "labor_force_participation_rate", M, "percent", "labour force participation",
               swing("PART", "BRA", 62.0, 0.15, 0.3), Publishing(lag=30), digits=1, missing=unasked),
        # The public curve stopped in 2014, the licensed one goes on: what may be shown is old.
        brazil("Y10Y", "gov_yield_10y", D, "percent", "10y government bond yield", bond("BRA", 10), _DAY_AFTER,
               silent=date(2014, 6, 30), extras={"curve_type": "benchmark"}),
        brazil("Y10Y", "gov_yield_10y", D, "percent", "10y government bond yield", bond("BRA", 10, 0.01), _DAY_AFTER,
               snapshot=True, first=date(2020, 1, 1), extras={"curve_type": "benchmark"}, source=LICENSED),
        _simulated(
            COUNTRIES["DEU"], "VACANCY", "job_openings", M, "thousands", "job openings",
            level("VACANCY", "DEU", 480, 2.0, 4.0, 2.0), Publishing(lag=38), digits=0, snapshot=True, loaded=date(2026, 3, 31),
        ),
    ]  # fmt: skip


def all_series() -> list[SimulatedSeries]:
    """Return all series of the two feeds in FRED's format, in a fixed order."""
    headline = [series for country in COUNTRIES.values() for series in _headline_series(country)]
    return [*headline, *_united_states(), *_elsewhere(), *_licensed(), *_irregular()]


# Further daily series for load tests

#: Slug, maturity in years, and the spread on the yield of that maturity.
_DAILY = (
    *((f"gov_yield_{tenor}", float(years), 0.0) for tenor, years in TENORS.items()),
    *((f"gov_par_yield_{years}y", float(years), 0.04) for years in (2, 5, 10, 20, 30)),
    *((f"gov_real_yield_{years}y", float(years), -2.0) for years in (5, 10, 30)),
    ("overnight_rate", 0.01, 0.0),
    ("money_market_rate_3m", 0.25, 0.2),
)
#: The United States and Japan have their curves in other feeds: nothing is added to those.
_OTHER_FEEDS = {"country_usa", "country_jpn"}


def extra_series(present: Iterable[SimulatedSeries]) -> Iterator[SimulatedSeries]:
    """Yield a series of every daily slug for every country from 1960, except for the pairs that `present` is about."""
    taken = {(series.indicator, series.entity) for series in present}
    for slug, years, spread in _DAILY:
        code, words = f"X{slug.upper().replace('_', '')}", f"{slug.replace('_', ' ')} (load test)"
        for country in COUNTRIES.values():
            in_other_feed = slug.startswith("gov_yield_") and country.entity in _OTHER_FEEDS
            if (slug, country.entity) not in taken and not in_other_feed:
                path = bond(country.code, years, spread)
                yield _simulated(country, code, slug, D, "percent", words, path, _SAME_DAY, first=EPOCH, snapshot=True)


def fill_up(candidates: Iterable[SimulatedSeries], economy: Economy, rows: int, wanted: int) -> list[SimulatedSeries]:
    """
    Choose as many candidates as bring `rows` to the `wanted` observations, the last one cut at its beginning.

    Raises ValueError naming the most there is.
    """
    chosen: list[SimulatedSeries] = []
    missing = wanted - rows
    for series in candidates:
        if missing <= 0:
            return chosen
        days = economy.days[-min(missing, len(economy.days)) :]
        chosen.append(replace(series, first=days[0].astype(object)))
        missing -= len(days)
    if missing > 0:
        raise ValueError(f"observations: at most {wanted - missing}, not {wanted}")
    return chosen
