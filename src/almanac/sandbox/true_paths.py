"""Paths by name: each function gives the recipe of one true path, to be run on an economy when it is needed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from almanac.sandbox.economy import Economy
from almanac.sandbox.noise import Floats, uniforms

Path = Callable[[Economy], Floats]


def between(name: str, low: float, high: float) -> float:
    """A number between the two that belongs to the name: a country's habit."""
    return low + (high - low) * float(uniforms(name, 1)[0])


def level(name: str, code: str, base: float, growth: float, beta: float, noise: float, months: int = 1) -> Path:
    """`Economy.trending`, averaged over so many months."""
    return lambda e: e.average(e.trending(name, code, base, growth, beta, noise), months)


def swing(name: str, code: str, centre: float, beta: float, spread: float, months: int = 1) -> Path:
    """`Economy.swinging`, averaged over so many months."""
    return lambda e: e.average(e.swinging(name, code, centre, beta, spread), months)


def bond(code: str, years: float, beside: float = 0.0) -> Path:
    """The yield of a maturity, percent, and what is added to it."""
    return lambda e: e.yields(code, years) + beside


def policy(code: str, beside: float = 0.0) -> Path:
    """The policy rate of each day, percent, and what is added to it."""
    return lambda e: e.policy(code) + beside


def prices(code: str, variant: str = "", *, seasonal: bool = False) -> Path:
    """A price index, 2015 = 100."""
    return lambda e: e.prices(code, variant, seasonal=seasonal)


def product(code: str, rate: float, *, real: bool) -> Path:
    """GDP of each quarter, billions of local currency; `rate` 1 at a yearly rate, 0.25 as produced."""
    return lambda e: e.average(e.output(code, real=real) * rate, 3)


def dollars(code: str) -> Path:
    """Nominal GDP of each year, US dollars at the average exchange rate of each month."""
    return lambda e: e.average(e.output(code, real=False) * 1e9 / (1 if code == "USA" else e.exchange(code)), 12)


def credit(code: str, share: Path) -> Path:
    """Credit outstanding, billions of local currency: a share (percent, monthly) of a year's nominal GDP."""
    return lambda e: e.average(e.output(code, real=False) * share(e) / 100, 3)


def oil(base: float) -> Path:
    """US dollars per barrel; dearer when money is."""
    return lambda e: base * np.exp(0.15 * (e.yields("USA", 5) - 2.5) + 0.08 * (e.yields("CAN", 1) - 2))


def gap(code: str) -> Path:
    """Output gap of each year, projections too, percent."""
    return lambda e: e.gap(code)
