"""
The operators that formulas of the catalogue are made of.

An operator states which cells it looks up for an output period (`slots`) and how it combines their values (`apply`).
`apply` works on floats and on numpy arrays with the same operations in the same order, so the vectorised and the
cell-by-cell path give the same bits. Results are rounded as `domain.numbers` says: sums and differences of published
numbers are exact in decimals, everything else has twelve significant digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from almanac.domain import numbers
from almanac.domain.periods import Frequency, Period, ordinal

Floats = npt.NDArray[np.float64]
Number = Any  # a float, or an array of floats
#: Days a look-up may go back from its target in daily and weekly data.
LOOK_BACK_DAYS = 7


@dataclass(frozen=True, slots=True)
class Slot:
    """
    One look-up: an input, some months before the output's period.

    `within` takes the `last` value, the `mean` or the `sum` of the values inside that period, from an input of the same
    or a higher frequency. `optional` says that the operator works without the value. `move` looks up the last change of
    at least that size between neighbouring values, after the cell `months` ago; it is 0 if there was none and that
    cell, or one of the days before it, has a value. `breaks` are ordinals of periods that start a new definition; a
    change across one is ignored.
    """

    input: int
    months: int = 0
    optional: bool = False
    within: str = ""
    move: float = 0.0
    breaks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Operator:
    """
    The arithmetic of a formula. `apply` takes one value per slot and returns a value, or None if there is none.

    `vector` says that every slot is required and `apply` is plain arithmetic, so it accepts whole arrays. `note`
    returns row-level metadata as JSON object text from the same values. `money` says that the inputs are amounts,
    converted to whole units of one currency, with flows as the part that falls into their period. With `words` the
    result is a text, and `apply` returns its index among them.
    """

    slots: tuple[Slot, ...]
    apply: Callable[..., Number]
    vector: bool = True
    note: Callable[..., str | None] | None = None
    same_source: bool = False
    money: bool = False
    words: tuple[str, ...] = ()


class GapNote(msgspec.Struct, frozen=True, rename="camel"):
    """The row-level metadata of a result: how many of the periods it looks at have no value."""

    missing_periods: int


class FormulaError(Exception):
    """A formula names an operator or parameter that doesn't exist, or a lag that can't be used. The message says which."""


_MONTHS = {"m": 1, "q": 3, "y": 12}


def lag_months(text: str, frequency: Frequency) -> int:
    """
    Return a lag such as `1y`, `3m` or `1q` in months. `1p` is one period of a monthly or lower frequency. Raises
    FormulaError.
    """
    count, letter = text[:-1], text[-1:]
    if not count.isdecimal() or letter not in {*_MONTHS, "p"}:
        raise FormulaError(f"lag {text!r}: write a number and one of p, m, q, y")
    if letter == "p":
        if not frequency.months:
            raise FormulaError("a lag of one period is for monthly, quarterly and annual data")
        return int(count) * frequency.months
    return int(count) * _MONTHS[letter]


def fits(lag: str, frequency: Frequency) -> bool:
    """Return whether a lag is a whole number of periods (a month ago isn't, in quarterly data)."""
    if lag.endswith("p"):
        return frequency.months > 0
    return not frequency.months or lag_months(lag, frequency) % frequency.months == 0


def _power(x: Number, n: int) -> Number:
    """
    Raise to a small whole power by repeated multiplication, because `**` may differ in the last bit between scalars and
    arrays.
    """
    result = x
    for _ in range(n - 1):
        result = result * x
    return result


def _growth(params: Mapping[str, Any], frequency: Frequency) -> Operator:
    """100·((x_t / x_{t−lag})^power − 1)."""
    power = int(params.get("power", 1))

    def apply(now: Number, base: Number) -> Number:
        return significant(100.0 * (_power(now / base, power) - 1.0))

    return Operator((Slot(0), Slot(0, lag_months(params["lag"], frequency))), apply)


def _change(params: Mapping[str, Any], frequency: Frequency) -> Operator:
    """x_t − x_{t−lag}."""
    return Operator((Slot(0), Slot(0, lag_months(params["lag"], frequency))), lambda now, base: exact_sum(now, -base))


def _difference(params: Mapping[str, Any], frequency: Frequency) -> Operator:
    """Subtract b from a, both of one period."""
    return Operator(
        (Slot(0), Slot(1)), lambda a, b: exact_sum(a, -b), same_source=bool(params.get("same_source", False))
    )


def _butterfly(params: Mapping[str, Any], frequency: Frequency) -> Operator:
    """2·b − a − c, of one period, source and curve: positive when the middle yields more than the wings."""
    return Operator((Slot(1), Slot(0), Slot(2)), lambda b, a, c: exact_sum(b, b, -a, -c), same_source=True)


def _sum(params: Mapping[str, Any], frequency: Frequency) -> Operator:
    """Add a and b, both of one period and at least one of them computed."""
    return Operator((Slot(0), Slot(1)), lambda a, b: significant(exact_sum(a, b)))


def _real_rate(params: Mapping[str, Any], frequency: Frequency) -> Operator:
    """Subtract the inflation of the period from the rate at its end (ex post)."""

    def apply(inflation: float, rate: float) -> float:
        return numbers.difference(rate, inflation, computed=True)

    return Operator((Slot(1), Slot(0, within="last")), apply, vector=False)


def _sahm(params: Mapping[str, Any], frequency: Frequency) -> Operator:
    """
    mean₃(u)_t − min(mean₃(u)_{t−12} … mean₃(u)_{t−1}), after Sahm (2019), each mean over those of its months that have
    a value.

    A mean needs `least_months` values, the minimum `least_means` means. FRED computes it in this way: it has 0.35 for
    November 2025 without a rate for October. `missingPeriods` counts the months without a value among the fifteen.
    """
    least_months, least_means = int(params["least_months"]), int(params["least_means"])
    slots = tuple(Slot(0, months, optional=months > 0) for months in range(15))

    def apply(*u: float | None) -> float | None:
        threes = [[value for value in u[lag : lag + 3] if value is not None] for lag in range(13)]
        before = [there for there in threes[1:] if len(there) >= least_months]
        if len(threes[0]) < least_months or len(before) < least_means:
            return None
        lowest = min(before, key=lambda there: sum(there) / len(there))
        return numbers.significant(numbers.mean_difference(threes[0], lowest))

    def note(*u: float | None) -> str | None:
        missing = sum(value is None for value in u)
        return msgspec.json.encode(GapNote(missing)).decode() if missing else None

    return Operator(slots, apply, vector=False, note=note)


#: Months back to each of the last four quarters.
_YEAR = (0, 3, 6, 9)


def _share_of_output(params: Mapping[str, Any], frequency: Frequency) -> Operator:
    """100·(sum of flows over twelve months) / (sum of output over the same four quarters), both in whole units of one currency."""
    output = tuple(Slot(1, months) for months in _YEAR)
    flow = tuple(Slot(0, months, within="sum") for months in _YEAR)

    def apply(*x: float) -> float:
        return numbers.significant(100.0 * sum(x[4:]) / sum(x[:4]))

    return Operator((*output, *flow), apply, vector=False, money=True)


def _credit_impulse(params: Mapping[str, Any], frequency: Frequency) -> Operator:
    """
    100·(ΔC_t/G_t − ΔC_{t−4}/G_{t−4}): ΔC the change of credit over four quarters, G the output of four quarters.

    After Biggs, Mayer and Pick (2009): the change in the flow of new credit, not in its stock.
    """
    credit = (Slot(0), Slot(0, 12), Slot(0, 24))
    output = tuple(Slot(1, months) for months in (*_YEAR, *(12 + months for months in _YEAR)))

    def apply(now: float, year: float, two: float, *g: float) -> float:
        flow, flow_before = numbers.exact_sum(now, -year), numbers.exact_sum(year, -two)
        return numbers.significant(100.0 * (flow / sum(g[:4]) - flow_before / sum(g[4:])))

    return Operator((*credit, *output), apply, vector=False, money=True)


def _taylor(params: Mapping[str, Any], frequency: Frequency) -> Operator:
    """
    Apply the Taylor rule, neutral rate + π + 0.5·(π − π*) + 0.5·gap, with π the mean inflation of the period; the
    neutral rate and the target π* are 2 after Taylor (1993).
    """
    neutral, target = float(params.get("neutral", 2)), float(params.get("target", 2))

    def apply(gap: float, inflation: float) -> float:
        return numbers.significant(neutral + inflation + 0.5 * (inflation - target) + 0.5 * gap)

    return Operator((Slot(1), Slot(0, within="mean")), apply, vector=False)


def _cycle(params: Mapping[str, Any], frequency: Frequency) -> Operator:
    """
    Name the direction of the last move of at least `move` within `lag`: hiking or cutting, or on_hold if there was none
    and a value from as long ago is known.
    """
    breaks = tuple(sorted(ordinal(Period.ending(day, frequency).key, frequency) for day in params.get("breaks", ())))
    move = Slot(0, lag_months(params["lag"], frequency), move=float(params["move"]), breaks=breaks)

    def apply(now: Number, last: Number) -> Number:
        # Sign without branches: floats and arrays alike.
        return 1.0 + (last > 0) - (last < 0)

    return Operator((Slot(0), move), apply, words=("cutting", "on_hold", "hiking"))


_OPERATORS: dict[str, Callable[[Mapping[str, Any], Frequency], Operator]] = {
    "growth": _growth,
    "change": _change,
    "difference": _difference,
    "spread_to": _difference,
    "butterfly": _butterfly,
    "sum": _sum,
    "real_rate": _real_rate,
    "sahm": _sahm,
    "share_of_output": _share_of_output,
    "credit_impulse": _credit_impulse,
    "taylor": _taylor,
    "cycle": _cycle,
}


def operator(name: str, params: Mapping[str, Any], frequency: Frequency) -> Operator:
    """
    Return the operator of a formula for data of a frequency. Raises FormulaError for an unknown operator or a missing
    parameter.
    """
    make = _OPERATORS.get(name)
    if make is None:
        raise FormulaError(f"unknown operator {name!r}; there are {', '.join(sorted(_OPERATORS))}")
    try:
        return make(params, frequency)
    except KeyError as missing:
        raise FormulaError(f"operator {name!r} needs the parameter {missing}") from None


# -- the two rounding rules of `domain.numbers`, for floats and whole arrays with the same bits ---------------------------

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
