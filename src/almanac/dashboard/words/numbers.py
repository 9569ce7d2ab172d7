"""Numbers as people read them: a true minus sign, commas from a thousand on, rounded half away from zero, as sentences tell them."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal
from typing import NamedTuple

from almanac.domain.numbers import Number, exact, rounded
from almanac.reports.wording import figure

MINUS = "−"
#: Wide enough for any float to come out whole.
_WIDE = Context(prec=700)


class Scale(NamedTuple):
    """A power of ten and its words: `million`, and `millions` at the head of a table."""

    power: int
    word: str
    plural: str


NO_SCALE = Scale(0, "", "")
SCALES = (
    Scale(3, "thousand", "thousands"),
    Scale(6, "million", "millions"),
    Scale(9, "billion", "billions"),
    Scale(12, "trillion", "trillions"),
)
_SCALE_OF = {scale.power: scale for scale in (NO_SCALE, *SCALES)}
#: Below this a key figure is in millions, from it on in billions.
_IN_BILLIONS = Decimal(10**10)


def read_whole(text: str | None, digits: int = 5) -> int | None:
    """A whole number as an address has it, of so many plain digits at most; None for anything else."""
    return int(text) if text and len(text) <= digits and text.isascii() and text.isdigit() else None


def places(value: Number) -> int:
    """Decimals that a number is stated with: 2 of 4.38, none of 41208.0."""
    exponent = _WIDE.normalize(exact(value)).as_tuple().exponent
    return max(0, -int(exponent))


def number(value: Number, digits: int | None = None) -> str:
    """`41,208`, `−6.4`. `digits`: decimals; None: as many as it is stated with."""
    return figure(value, places(value) if digits is None else digits)


def change(value: Number, digits: int | None = None) -> str:
    """`+0.4`, `−0.3`, `0.0`: only what is a change wears a plus."""
    text = number(value, digits)
    return f"+{text}" if rounded(value, places(value) if digits is None else digits) > 0 else text


def percent(value: Number, digits: int | None = None) -> str:
    """`2.1%`."""
    return f"{number(value, digits)}%"


def fraction(value: Number, digits: int | None = None) -> str:
    """A fraction as a percentage, exactly: 0.15 is `15%`."""
    return percent(_WIDE.scaleb(exact(value), 2), digits)


def scale(power: int) -> Scale:
    """The scale of a power of ten. Raises ValueError where there is no word for it."""
    if power not in _SCALE_OF:
        raise ValueError(f"there is no word for 10 to the {power}; there is for {', '.join(map(str, _SCALE_OF))}")
    return _SCALE_OF[power]


def common_scale(values: Iterable[Number], least: int = 6) -> Scale:
    """The one scale that all of a table or an axis are told in: that of the largest, from 10 to the `least` on."""
    largest = max((abs(exact(value)) for value in values), default=Decimal(0))
    fitting = [one for one in SCALES if one.power >= least and largest >= Decimal(10) ** one.power]
    return fitting[-1] if fitting else NO_SCALE


def table_scale(values: Iterable[Number]) -> Scale:
    """
    The one scale of a column, in which none is told as nothing: the largest in which the smallest is at least a tenth,
    so long as the largest stays below ten million.

    >>> table_scale([4_900e9, 14e9]).word, table_scale([4_900e9, 14e6]).word, table_scale([4_900e9, 3e3]).word
    ('billion', 'million', 'million')
    """
    sizes = sorted(size for value in values if (size := abs(exact(value))))
    if not sizes:
        return NO_SCALE
    fitting = NO_SCALE
    for one in (scale for scale in SCALES if scale.power >= 6):
        short = sizes[-1] < Decimal(10) ** (fitting.power + 7)
        if sizes[-1] < Decimal(10) ** one.power or (short and 10 * sizes[0] < Decimal(10) ** one.power):
            break
        fitting = one
    return fitting


def in_scale(value: Number, scale_: Scale) -> Decimal:
    """A number in thousands, millions or billions, exactly."""
    return _WIDE.scaleb(exact(value), -scale_.power)


def many(count: int, one: str, several: str = "") -> str:
    """`1 source`, `26 sources`, `2 countries` where the plural is no mere `s`."""
    return f"{number(count)} {one if count == 1 else several or one + 's'}"


def in_words(value: Number, digits: int | None = None) -> str:
    """`512.48 billion`, `4.2 million`, `41,208`: from a million on with the word for its scale."""
    fitting = common_scale([value])
    text = number(in_scale(value, fitting), digits)
    return f"{text} {fitting.word}".rstrip()


def compact(value: Number, digits: int | None = None) -> str:
    """
    For key figures only: `4,212m`, `1.2m`, `391bn`, `12.5bn`; below a million as it is, with `digits`.

    Millions up to ten thousand of them, one decimal while there are fewer than three digits before it.
    """
    size = abs(exact(value))
    if size < 10**6:
        return number(value, digits)
    if size < _IN_BILLIONS:
        return f"{number(in_scale(value, scale(6)), 1 if size < 10**7 else 0)}m"
    return f"{number(in_scale(value, scale(9)), 1 if size < 10**11 else 0)}bn"


def full(value: Number) -> str:
    """The whole number as a program reads it, for `data-value`: never rounded, a hyphen for the minus."""
    found = exact(value)
    return "0" if found.is_zero() else f"{_WIDE.normalize(found):f}"
