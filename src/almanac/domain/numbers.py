"""
How computed numbers are rounded: once, where they are computed, so that the value stored, compared and served is one.

What is published is never touched. Sums, differences and spreads of published numbers are exact in decimals; everything
else that is computed, from a quotient to a difference of computed numbers, has twelve significant digits.

How numbers are rounded for the eye, in sentences and on pages alike, is `rounded`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

#: Significant digits of a computed number: beyond what any publisher states, short of the noise of binary fractions.
DIGITS = 12
#: Wide enough for any sum of floats to come out whole.
_WIDE = Context(prec=700)
#: Below this every whole number is a float, so that floats add them without a loss.
_WHOLE = 2.0**53
#: From here on a number's shortest text has an exponent.
_PLAIN = 1e16

#: A number as it is stored, or one made exact.
Number = float | Decimal


def exact(value: Number) -> Decimal:
    """Return the number that its shortest text says. Raises ValueError for NaN and infinities, which are never data."""
    # An integer and a decimal are what they are; of a float only the shortest text tells what was meant.
    found = Decimal(float.__repr__(value)) if isinstance(value, float) else Decimal(value)
    if not found.is_finite():
        raise ValueError(f"{value} is not a number that can be shown")
    return found


def rounded(value: Number, digits: int) -> Decimal:
    """
    Round to so many decimals, half away from zero, never to a negative zero.

    The shortest decimal text is rounded, which is what a publisher wrote: 2.675 is 2.68, whatever its binary fraction is.
    """
    found = exact(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _WIDE)
    return abs(found) if found.is_zero() else found


def plain(value: float) -> float | int:
    """
    Turn a number into one that an encoder writes without `.0` where it is whole, as rows of observations have them.

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
    """A value to twelve significant digits, never a negative zero; infinities and NaN as they are."""
    return float(f"{value:.{DIGITS}g}") + 0.0


def exact_sum(*terms: float, times: int = 1) -> float:
    """
    The sum of finite numbers, `times` as much, exact in decimals of their shortest text: 5.3 − 5.25 is 0.05.

    The float nearest to it, never a negative zero. A difference is a sum with the subtrahend's sign turned.
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
    """`exact_sum` of each row of at least two columns of one length, without Python code for each."""
    decimals = [map(Decimal, map(float.__repr__, column)) for column in columns]
    totals = functools.reduce(functools.partial(map, _WIDE.add), decimals)
    return [total + 0.0 for total in map(float, totals)]


def difference(value: float, other: float, *, computed: bool) -> float:
    """A value less another: exact of published numbers, to twelve significant digits where one was `computed`."""
    exact = exact_sum(value, -other)
    return significant(exact) if computed else exact


def mean(values: Sequence[float]) -> float:
    """The mean of finite numbers, at least one, to twelve significant digits."""
    return significant(exact_sum(*values) / len(values))


def mean_difference(these: Sequence[float], those: Sequence[float]) -> float:
    """
    The mean of some finite numbers less that of others, at least one each: equal means leave no trace of a rounding.

    A step of a computation, and not rounded yet.
    """
    these_, those_ = _WIDE.multiply(_total(these), len(those)), _WIDE.multiply(_total(those), len(these))
    return float(_WIDE.subtract(these_, those_)) / (len(these) * len(those)) + 0.0


def _total(terms: Sequence[float]) -> Decimal:
    total = Decimal()
    for term in terms:
        # Not `repr`, of which the float of an array has its own idea.
        total = _WIDE.add(total, Decimal(float.__repr__(term)))
    return total
