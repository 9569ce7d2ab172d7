"""The two rounding rules of `domain.numbers`, for floats and whole arrays with the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from almanac.domain import numbers

Floats = npt.NDArray[np.float64]
Number = Any  # a float, or an array of floats

#: Powers of ten that are exact floats: multiplying or dividing by one rounds just once, as parsing a decimal does.
_TENS = 10.0 ** np.arange(23)
#: Possible error of a scaled value. That close to the middle between two neighbours, the text decides.
_OFF = 1e-3
#: Decimals to try, and the limit for whole numbers below which such a decimal is its float's shortest text.
_PLACES, _SHORT = [3, 6, 9], 1e15


def significant(value: Number) -> Number:
    """Round to twelve significant digits (`domain.numbers.significant`)."""
    return numbers.significant(value) if isinstance(value, float) else _significant(value)


def exact_sum(*terms: Number) -> Number:
    """Add exactly in decimals (`domain.numbers.exact_sum`). In arrays, NaN and infinities stay as they are."""
    return numbers.exact_sum(*terms) if isinstance(terms[0], float) else _exact_sum(*terms)


def _significant(values: Floats) -> Floats:
    size = np.abs(values)
    there = np.isfinite(values) & (size > 0)
    with np.errstate(all="ignore"):
        power = numbers.DIGITS - 1 - np.floor(np.log10(size, where=there, out=np.zeros_like(size)))
    sure = there & (np.abs(power) < len(_TENS))
    tens = np.where(sure, power, 0).astype(np.int64)
    up, down = _TENS[np.maximum(tens, 0)], _TENS[np.maximum(-tens, 0)]
    scaled = np.where(sure, size, 0.0) * up / down
    whole = np.rint(scaled)
    # The logarithm of a value near a power of ten may be rounded to the wrong side.
    sure &= (whole >= 10.0 ** (numbers.DIGITS - 1)) & (whole <= 10.0**numbers.DIGITS)
    sure &= np.abs(np.abs(scaled - whole) - 0.5) > _OFF
    rounded: Floats = np.where(sure, np.copysign(whole * down / up, values), values) + 0.0
    for place in np.flatnonzero(there & ~sure).tolist():
        rounded[place] = numbers.significant(float(values[place]))
    return rounded


def _exact_sum(*terms: Floats) -> Floats:
    """
    Add terms with few decimals as whole numbers, and divide the sum once; add the others as decimals.

    This is exact because a decimal of at most fifteen digits that rounds to a float is that float's shortest text.
    """
    with np.errstate(all="ignore"):
        total: Floats = np.sum(terms, axis=0) + 0.0
        left = np.isfinite(terms).all(axis=0)
        for ten in _TENS[_PLACES]:
            if not left.any():
                return total
            wholes = [np.rint(term * ten) for term in terms]
            short = left.copy()
            for term, whole in zip(terms, wholes, strict=True):
                short &= (whole / ten == term) & (np.abs(whole) < _SHORT)
            total = np.where(short, np.sum(wholes, axis=0) / ten + 0.0, total)
            left &= ~short
    if left.any():
        total[left] = numbers.exact_sums([term[left].tolist() for term in terms])
    return total
