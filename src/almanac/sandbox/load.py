"""Further daily series for load tests: every slug that can be daily, for every entity, from 1960."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from almanac.sandbox.country_series import TENORS, D, one
from almanac.sandbox.economy import Economy
from almanac.sandbox.noise import EPOCH
from almanac.sandbox.places import LANDS
from almanac.sandbox.series import Publishing, Simulated
from almanac.sandbox.true_paths import bond

#: Slug, maturity in years, and what is added to the yield of that maturity.
_DAILY = (
    *((f"gov_yield_{tenor}", float(years), 0.0) for tenor, years in TENORS.items()),
    *((f"gov_par_yield_{years}y", float(years), 0.04) for years in (2, 5, 10, 20, 30)),
    *((f"gov_real_yield_{years}y", float(years), -2.0) for years in (5, 10, 30)),
    ("overnight_rate", 0.01, 0.0),
    ("money_market_rate_3m", 0.25, 0.2),
)
#: The United States and Japan have their curves in other feeds: nothing is added to those.
_OTHER_FEEDS = {"country_usa", "country_jpn"}


def taken(series: list[Simulated]) -> set[tuple[str, str]]:
    """The (indicator, entity) pairs that the series are about."""
    return {(each.indicator, each.entity) for each in series}


def extra_series(present: set[tuple[str, str]]) -> Iterator[Simulated]:
    """Yield all of them, in a fixed order, without the (indicator, entity) pairs that the world has anyway."""
    for slug, years, beside in _DAILY:
        for land in LANDS.values():
            if (slug, land.entity) not in present and not (
                slug.startswith("gov_yield_") and land.entity in _OTHER_FEEDS
            ):
                words = f"{slug.replace('_', ' ')} (load test)"
                code = f"X{slug.upper().replace('_', '')}"
                path = bond(land.code, years, beside)
                yield one(land, code, slug, D, "percent", words, path, Publishing(), first=EPOCH, snapshot=True)


def enough(candidates: Iterator[Simulated], economy: Economy, own: int, observations: int) -> list[Simulated]:
    """Choose as many of the candidates as bring `own` rows to `observations`, the last one cut at its beginning.

    Raises ValueError naming the most there is.
    """
    chosen: list[Simulated] = []
    missing = observations - own
    for series in candidates:
        if missing <= 0:
            return chosen
        days = economy.days[-min(missing, len(economy.days)) :]
        first: date = days[0].astype(object)
        chosen.append(replace(series, first=first))
        missing -= len(days)
    if missing > 0:
        raise ValueError(f"observations: at most {observations - missing}, not {observations}")
    return chosen
