"""
Rounding of computed numbers. It happens once, at the computation, so the stored, compared and served values are equal.

Published numbers are never changed. Sums, differences and spreads of published numbers are exact in decimals. All other
computed numbers, such as quotients and differences of computed numbers, have twelve significant digits.

`rounded` rounds numbers for people, in sentences and on pages.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

#: Significant digits of a computed number: more than any publisher states, fewer than the noise of binary fractions.
DIGITS = 12
#: Precise enough for an exact sum of any floats.
_WIDE = Context(prec=700)
#: Below this every whole number is a float, so floats add them exactly.
_WHOLE = 2.0**53
#: From here on a number's shortest text has an exponent.
_PLAIN = 1e16

#: A stored number, or an exact one.
Number = float | Decimal


def exact(value: Number) -> Decimal:
    """Return the number that its shortest text says. Raises ValueError for NaN and infinities, which are never data."""
    # Integers and decimals are exact already. A float means the number of its shortest text.
    found = Decimal(float.__repr__(value)) if isinstance(value, float) else Decimal(value)
    if not found.is_finite():
        raise ValueError(f"{value} is not a number that can be shown")
    return found


def rounded(value: Number, digits: int) -> Decimal:
    """
    Round to `digits` decimals, half away from zero, never to a negative zero.

    It rounds the shortest decimal text of the number, which is what the publisher wrote: 2.675 gives 2.68 whatever its
    binary fraction.
    """
    found = exact(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _WIDE)
    return abs(found) if found.is_zero() else found


def plain(value: float) -> float | int:
    """
    Turn a whole float into an int, so that an encoder writes it without `.0` as rows of observations do.

    >>> plain(35655000.0), plain(0.5), plain(-0.0)
    (35655000, 0.5, 0)
    """
    return int(value) if value.is_integer() and abs(value) < _PLAIN else value


def shortest(value: float) -> str:
    """Return the shortest JSON number that reads back as the same float: no `.0`, no `+`, no padded exponent, no negative zero."""
    text = repr(value + 0.0)
    if text.endswith(".0"):
        return text[:-2]
    if "e" in text:
        mantissa, exponent = text.split("e")
        return f"{mantissa.removesuffix('.0')}e{int(exponent)}"
    return text


def significant(value: float) -> float:
    """Round to twelve significant digits, never to a negative zero. Infinities and NaN stay as they are."""
    return float(f"{value:.{DIGITS}g}") + 0.0


def exact_sum(*terms: float, times: int = 1) -> float:
    """
    Return `times` the sum of finite numbers, computed exactly from their shortest decimal texts: 5.3 − 5.25 is 0.05.

    The result is the nearest float and never a negative zero. Negate a term to subtract it.
    """
    plain = sum(terms) * times
    if -_WHOLE < plain < _WHOLE:
        for term in terms:  # no generator: this is asked of every sum that there is
            if not (term.is_integer() and -_WHOLE < term < _WHOLE):
                break
        else:
            return plain + 0.0
    return float(_WIDE.multiply(_total(terms), times)) + 0.0


def exact_sums(columns: Sequence[Sequence[float]]) -> list[float]:
    """Return the `exact_sum` of each row of two or more equally long columns, without running Python code for each row."""
    decimals = [map(Decimal, map(float.__repr__, column)) for column in columns]
    totals = functools.reduce(functools.partial(map, _WIDE.add), decimals)
    return [total + 0.0 for total in map(float, totals)]


def difference(value: float, other: float, *, computed: bool) -> float:
    """
    Return `value` less `other`: exact if both are published numbers, to twelve significant digits if one was
    `computed`.
    """
    exact = exact_sum(value, -other)
    return significant(exact) if computed else exact


def mean(values: Sequence[float]) -> float:
    """Return the mean of at least one finite number, to twelve significant digits."""
    return significant(exact_sum(*values) / len(values))


def mean_difference(these: Sequence[float], those: Sequence[float]) -> float:
    """
    Return the mean of `these` less the mean of `those`, each at least one finite number.

    Equal means give exactly zero. The result is an intermediate step and is not rounded to twelve digits.
    """
    these_, those_ = _WIDE.multiply(_total(these), len(those)), _WIDE.multiply(_total(those), len(these))
    return float(_WIDE.subtract(these_, those_)) / (len(these) * len(those)) + 0.0


def _total(terms: Sequence[float]) -> Decimal:
    total = Decimal()
    for term in terms:
        # `float.__repr__`, because a numpy float has its own `repr`.
        total = _WIDE.add(total, Decimal(float.__repr__(term)))
    return total
