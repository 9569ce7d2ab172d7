"""
How precisely a number is stated, as far as its digits tell: filings' `decimals` are not in the facts.

Statements are written in units, thousands or millions, never coarser; amounts per share to the cent or finer.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

#: No statement rounds money to more than this, whatever zeros its numbers end in.
COARSEST: Final = 1_000_000.0
#: Whole numbers below this are amounts per share that end on the full unit, not numbers rounded to tens.
_PER_SHARE: Final = 1_000.0
_CENT: Final = 0.01
#: Units of a filing that numbers are rounded to in its text, at least.
_TEXT: Final = 100
#: Part of a number that its unit is at most, where the sum of its column moves it.
_COLUMN: Final = 0.005


@functools.lru_cache(maxsize=1 << 14)
def granularity(value: float) -> float:
    """Return the power of ten a value seems to be rounded to: 1000 for 12000; at most 10^9."""
    if value == 0 or not value.is_integer():
        return 0.0
    whole, power = int(abs(value)), 1
    while whole % 10 == 0 and power < 1_000_000_000:
        whole //= 10
        power *= 10
    return float(power)


def unit(value: float) -> float:
    """
    Return the unit a value is stated in.

    >>> [unit(value) for value in (1_899_200_000.0, 1_899_000_000.0, 5e9, 0.4975, 2.0)]
    [100000.0, 1000000.0, 1000000.0, 0.0001, 0.01]
    """
    if value.is_integer() and abs(value) >= _PER_SHARE:
        return min(granularity(value), COARSEST)
    exponent = Decimal(repr(value)).as_tuple().exponent
    return min(10.0**exponent, _CENT) if isinstance(exponent, int) else _CENT


def agree(one: float, other: float) -> bool:
    """Return whether one of two numbers is the other as it is stated, or rounded: nobody can say that they differ."""
    if one == other:
        return True
    if not one or not other:
        return False
    # The half itself rounds either way; a binary fraction of it is no difference.
    return abs(one - other) <= 0.5 * max(unit(one), unit(other)) * (1 + 1e-9) and unit(one) != unit(other)


def usual_unit(values: Iterable[float]) -> float:
    """
    Return the unit that a filing states its numbers in: one in four has no digits left below it.

    >>> usual_unit([12_345e6, 678e6, 9_100e6, 1_000e6])
    1000000.0
    """
    units = sorted(granularity(value) for value in values if value)
    return min(units[len(units) // 4], COARSEST) if units else COARSEST


def quotes(value: float, exact: float, usual: float) -> bool:
    """
    Tell whether a number only quotes an exact one in text: rounded to a hundred and more of `usual`, its filing's unit.

    >>> quotes(12_300e6, 12_345.6e6, 1e5), quotes(12_400e6, 12_345.6e6, 1e5)
    (True, False)
    """
    coarse = granularity(value)
    return coarse >= _TEXT * usual and coarse > granularity(exact) and abs(value - exact) <= coarse / 2


def foots(value: float, exact: float, usual: float, units: int = 1) -> bool:
    """
    Tell whether a number is an exact one in the coarser `usual` unit, so many units off at most: its column adds up then.

    >>> foots(5_300e6, 5_300.748e6, 1e6), foots(5_300e6, 5_301.748e6, 1e6), foots(5e6, 5.748e6, 1e6)
    (True, False, False)
    """
    in_units = granularity(exact) < usual <= granularity(value)
    return in_units and usual <= _COLUMN * abs(exact) and abs(value - exact) <= units * usual


def repeats(one: float, other: float) -> bool:
    """Return whether two lines of sheets are one, or one is rounded so that its sheet adds up: a unit off then, not half of one."""
    return one == other or (unit(one) != unit(other) and abs(one - other) <= max(unit(one), unit(other)))


def rounding(values: Iterable[float]) -> float:
    """How far a sum of these may be off: half a unit for each, a unit being at most a million."""
    return 0.5 * sum(min(granularity(value), COARSEST) for value in values if value and math.isfinite(value)) + 1e-6


def footed(values: Iterable[float]) -> float:
    """
    How far a sum of these may be off on one sheet: a whole unit for each. Numbers are rounded so that their column comes to
    its rounded sum, and a sheet may hold lines of a filing in thousands beside lines that a later one gives in millions.
    """
    return 2 * rounding(values)


def spelled(value: float) -> str:
    """Return a number for people: whole ones with their thousands apart, others to four digits, without the zeros that end them."""
    return f"{value:,.0f}" if value.is_integer() else f"{value:,.4f}".rstrip("0").rstrip(".")
