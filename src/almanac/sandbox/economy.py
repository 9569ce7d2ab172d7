"""The simulated economy: one true path for every quantity, before anybody publishes it.

All paths begin at a fixed day and are computed forwards, so the value of a period is the same on whatever day the
world is looked at. Axes: business days from 1960, weeks (ending Saturday), months, quarters and years from 2005.
"""

from __future__ import annotations

import functools
from datetime import date, timedelta

import msgspec
import numpy as np

from almanac.domain.periods import Frequency
from almanac.sandbox.data import csv_rows
from almanac.sandbox.noise import CALENDAR, Days, Floats, business_days, normals, wander

#: Where the axes of weeks, months, quarters and years begin.
FIRST_YEAR = 2005
#: Years past the present that projections reach.
HORIZON = 2

#: The world's interest level by year, percent; later years keep the last.
_RATES = (
    (1960, 1970, 1981, 1990, 2000, 2008, 2012, 2016, 2020.5, 2022, 2023.8, 2026),
    (4.0, 7.0, 12.5, 8.0, 5.4, 3.8, 2.2, 1.6, 0.9, 1.7, 4.2, 3.8),
)
#: What the whole world's prices did beside each country's own habit, by year, percentage points.
_PRICES = (
    (2005, 2008.5, 2009.5, 2012, 2015, 2020.4, 2022.6, 2024, 2026),
    (0.2, 1.4, -1.4, 0.3, -0.8, -0.9, 4.2, 0.9, 0.2),
)
#: Depth of the shock of 2020 in the first months from March, percent of output; it then fades by 15 % a month.
_SHOCK = (-4.0, -13.0, -10.0, -6.5)
#: Ids in the catalogue of codes that are no country's.
_REGIONS = {"EUR": "region_euro_area", "WLD": "region_world"}


class Country(msgspec.Struct, frozen=True):
    """A country or the euro area, with the long-run numbers that its paths return to. All are invented."""

    code: str
    name: str
    #: Inflation and real growth in the long run, percent a year.
    inflation: float = 0.0
    growth: float = 0.0
    #: Interest level above the world's, percentage points.
    premium: float = 0.0
    unemployment: float = 0.0
    #: Local currency per US dollar.
    exchange: float = 0.0
    #: Nominal GDP of 2010, billions of local currency.
    output: float = 0.0
    #: Millions of people in 2010.
    people: float = 0.0
    #: Whether it shares the euro, and so has no policy rate and no exchange rate of its own.
    euro: bool = False
    #: Kind and compounding of its yield curve in the FRED feed, if it has one.
    curve_type: str = ""
    compounding: str = ""

    @property
    def entity(self) -> str:
        """Return its id in the catalogue."""
        return _REGIONS.get(self.code, f"country_{self.code.lower()}")


#: By code, the euro area among them.
COUNTRIES = {country.code: country for country in msgspec.convert(csv_rows("countries"), list[Country], strict=False)}
#: The scopes of `/rates`.
SCOPES = ("AUS", "CAN", "CHE", "EUR", "GBR", "JPN", "USA")


class Economy:
    """Every path up to the day before `today` (daily) or through the period `today` lies in (all others)."""

    def __init__(self, today: date) -> None:
        self.today = today
        self.days: Days = business_days(today - timedelta(days=1))
        self._day_years = 1970 + self.days.astype(np.int64) / 365.2425
        months = (today.year - FIRST_YEAR) * 12 + today.month
        self._months = np.datetime64(f"{FIRST_YEAR}-01", "M") + np.arange(months)
        self._month_years = FIRST_YEAR + np.arange(months) / 12
        first = date(FIRST_YEAR, 1, 1)
        self.weeks: Days = np.datetime64(first) + 7 * np.arange((today - first).days // 7 + 1)
        # Paths that are computed once, because hundreds of files and series are cut from them.
        self.cycle = functools.cache(self._cycle)
        self.policy = functools.cache(self._policy)
        self.kept_yields = functools.cache(self.yields)
        self._factors = functools.cache(self._curve_factors)

    def periods(self, frequency: Frequency) -> tuple[Days, Days]:
        """Return first and last day of each period of an axis. Days and weeks have their last day in both."""
        if frequency is Frequency.DAILY:
            return self.days, self.days
        if frequency is Frequency.WEEKLY:
            return self.weeks, self.weeks
        if frequency is Frequency.ANNUAL:  # reaches into the years that are only projected
            years = np.datetime64(f"{FIRST_YEAR}", "Y") + np.arange(self.today.year - FIRST_YEAR + 1 + HORIZON)
            return _days(years), _days(years + 1) - 1
        step = frequency.months
        starts = self._months[: len(self._months) // step * step : step]
        return _days(starts), _days(starts + step) - 1

    def average(self, monthly: Floats, months: int) -> Floats:
        """Return the mean of each complete quarter (3) or year (12)."""
        whole = len(monthly) // months * months
        means: Floats = monthly[:whole].reshape(-1, months).mean(axis=1)
        return means

    def weekly(self, monthly: Floats) -> Floats:
        """Return for each week the value of the month that its last day lies in."""
        spread: Floats = monthly[(self.weeks.astype("datetime64[M]") - self._months[0]).astype(int)]
        return spread

    # Interest rates, by business day

    def _curve_factors(self, code: str) -> tuple[Floats, Floats, Floats]:
        """Return level, slope (long minus short) and curvature of a yield curve, percent."""
        count = len(self.days)
        world = np.interp(self._day_years, *_RATES) + 0.3 * np.sin(2 * np.pi * self._day_years / 7.3)
        local = wander(f"{code}/level", count, 0.9985, 0.45)
        level = world + COUNTRIES[code].premium + local + wander("level", count, 0.998, 0.2)
        slope = 1.1 + wander(f"{code}/slope", count, 0.998, 0.45) - 0.9 * np.cos(2 * np.pi * self._day_years / 9.1)
        return level + 0.6, slope, wander(f"{code}/curvature", count, 0.997, 0.35)

    def yields(self, code: str, years: float) -> Floats:
        """Return the yield of a maturity, percent (Nelson and Siegel 1987, decay 2.5 years), with some noise."""
        level, slope, curvature = self._factors(code)
        ratio = years / 2.5
        short = -np.expm1(-ratio) / ratio
        noise = 0.012 * normals(f"{code}/{years}", len(self.days))
        result: Floats = level - slope * short + curvature * (short - np.exp(-ratio)) + noise
        return result

    def _policy(self, code: str) -> Floats:
        """Return the central bank's rate: steps of a quarter point at a meeting every thirty business days, percent."""
        level, slope, _ = self._factors(code)
        wanted = (level - slope)[::30]
        floor = -0.5 if COUNTRIES[code].premium < 0 else 0.25
        # The American target is a range a quarter point wide; its middle lies between the steps.
        middle = 0.125 if code == "USA" else 0.0
        rate = round(float(wanted[0]) * 4) / 4
        rates = []
        for target in wanted.tolist():
            move = max(-0.75, min(0.75, target - rate))
            if abs(move) > 0.2:
                rate = max(floor, rate + round(move * 4) / 4)
            rates.append(rate + middle)
        return np.repeat(np.array(rates), 30)[: len(self.days)]

    def month_end(self, daily: Floats) -> Floats:
        """Return the value of each month's last business day, and of the newest one in the month that still runs."""
        ends = np.busday_offset(_days(self._months + 1), -1, roll="forward", busdaycal=CALENDAR)
        picked: Floats = daily[np.minimum(np.searchsorted(self.days, ends), len(self.days) - 1)]
        return picked

    # Activity and prices, by month

    def _cycle(self, code: str) -> Floats:
        """Return output above its trend, percent, with the shock of 2020."""
        count = len(self._months)
        since = np.arange(count) - ((2020 - FIRST_YEAR) * 12 + 2)
        fading = _SHOCK[-1] * 0.85 ** np.maximum(since - len(_SHOCK) + 1, 0)
        sudden = np.array(_SHOCK)[np.clip(since, 0, len(_SHOCK) - 1)]
        shock = np.where(since < 0, 0.0, np.where(since < len(_SHOCK), sudden, fading))
        depth = 0.8 + 0.4 * ((len(code) + sum(map(ord, code))) % 10) / 10
        return wander("cycle", count, 0.97, 0.7) + wander(f"{code}/cycle", count, 0.96, 0.8) + depth * shock

    def activity(self, code: str) -> Floats:
        """Return real output, 1 in early 2010."""
        grown: Floats = np.exp(COUNTRIES[code].growth / 100 * (self._month_years - 2010) + self.cycle(code) / 100)
        return grown

    def inflation(self, code: str, variant: str = "") -> Floats:
        """Return the yearly pace of prices in each month, percent."""
        count = len(self._months)
        damping = 0.6 if variant == "core" else 1.0
        world = np.interp(self._month_years, *_PRICES) * damping
        pace: Floats = COUNTRIES[code].inflation + world + wander(f"{code}/inflation", count, 0.96, 0.5)
        return pace + (wander(f"{code}/{variant}", count, 0.95, 0.3) if variant else 0.0)

    def prices(self, code: str, variant: str = "", *, seasonal: bool = False) -> Floats:
        """Return a price index, 2015 = 100."""
        logs = np.cumsum(
            self.inflation(code, variant) / 1200 + 0.0004 * normals(f"{code}/{variant}/month", len(self._months))
        )
        if seasonal:
            logs = logs + 0.0035 * np.sin(2 * np.pi * (np.arange(len(logs)) % 12 - 2) / 12)
        base = (2015 - FIRST_YEAR) * 12
        index: Floats = 100 * np.exp(logs) / np.exp(logs[base : base + 12]).mean()
        return index

    def unemployment(self, code: str) -> Floats:
        """Return the unemployed in percent of the labour force, which falls by half of what output rises."""
        count = len(self._months)
        path = COUNTRIES[code].unemployment - 0.5 * self.cycle(code) + wander(f"{code}/unemployment", count, 0.985, 0.6)
        return np.maximum(path, 1.2)

    def exchange(self, code: str) -> Floats:
        """Return local currency per US dollar. The members of the euro area share one path."""
        area = COUNTRIES["EUR"] if COUNTRIES[code].euro else COUNTRIES[code]
        drift = (area.inflation - 2.4) / 100 * 0.8 * (self._month_years - 2015)
        noise = wander(f"{area.code}/exchange", len(self._months), 0.985, 0.09)
        rate: Floats = area.exchange * np.exp(drift + noise)
        return rate

    def output(self, code: str, *, real: bool) -> Floats:
        """Return GDP at a yearly rate, billions of local currency; if `real`, at the prices of 2010."""
        volume = COUNTRIES[code].output * self.activity(code)
        prices = self.prices(code)
        start = (2010 - FIRST_YEAR) * 12
        return volume if real else volume * prices / prices[start]

    def trending(self, name: str, code: str, base: float, growth: float, beta: float, spread: float) -> Floats:
        """Return a level that grows by `growth` percent a year from `base` in 2010 and moves `beta` times the cycle."""
        noise = wander(f"{code}/{name}", len(self._months), 0.8, spread)
        moves = growth * (self._month_years - 2010) + beta * self.cycle(code) + noise
        level: Floats = base * np.exp(moves / 100)
        return level

    def swinging(self, name: str, code: str, centre: float, beta: float, spread: float) -> Floats:
        """Return a rate or a balance that returns to `centre` and moves `beta` times the cycle."""
        return centre + beta * self.cycle(code) + wander(f"{code}/{name}", len(self._months), 0.95, spread)

    def gap(self, code: str) -> Floats:
        """Return the output gap of each year, projected ones too, percent of potential output."""
        years = self.periods(Frequency.ANNUAL)[0].astype("datetime64[Y]").astype(int) + 1970
        shock = np.select([years == 2020, years == 2021], [-4.5, -1.5], 0.0)
        return shock + wander("gap", len(years), 0.6, 0.7) + wander(f"{code}/gap", len(years), 0.6, 0.9)


def _days(dates: Days) -> Days:
    return dates.astype("datetime64[D]")
