"""Numbers and units as text: signs, separators, decimals, and the unit of a value in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from typing import Any, NamedTuple

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
    """Return a whole number as an address has it, of so many plain digits at most; None for anything else."""
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
    """Return a fraction as a percentage, exactly: 0.15 is `15%`."""
    return percent(_WIDE.scaleb(exact(value), 2), digits)


def scale(power: int) -> Scale:
    """Return the scale of a power of ten. Raises ValueError where there is no word for it."""
    if power not in _SCALE_OF:
        raise ValueError(f"there is no word for 10 to the {power}; there is for {', '.join(map(str, _SCALE_OF))}")
    return _SCALE_OF[power]


def common_scale(values: Iterable[Number], least: int = 6) -> Scale:
    """Return the one scale that all of a table or an axis are told in: that of the largest, from 10 to the `least` on."""
    largest = max((abs(exact(value)) for value in values), default=Decimal(0))
    fitting = [one for one in SCALES if one.power >= least and largest >= Decimal(10) ** one.power]
    return fitting[-1] if fitting else NO_SCALE


def table_scale(values: Iterable[Number]) -> Scale:
    """
    Return the one scale of a column, in which none is told as nothing: the largest in which the smallest is at least a tenth,
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
    """Return a number in thousands, millions or billions, exactly."""
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
    """Return the whole number as a program reads it, for `data-value`: never rounded, a hyphen for the minus."""
    found = exact(value)
    return "0" if found.is_zero() else f"{_WIDE.normalize(found):f}"


#: A publisher that states more decimals has not rounded at all, so we do.
UNROUNDED = 6
#: Decimals beyond which two numbers are told alike.
_APART = 6
_SLUG = "indicator_"
#: Interest rates are told to the hundredth, whatever they are called.
_RATES = re.compile(
    r"yield|policy_rate(_upper|_lower|_change.*)?$|overnight_rate|long_term_rate|money_market|sovereign_spread"
)
_REAL_RATE = "real_policy_rate"
#: Ratios that people think of in percent; the others are multiples.
_SHARES = re.compile(r"_margin$|^return_on_|_growth_|_cagr_|_to_revenue$|_change_yoy$|^accruals_")
#: Scores have each their own precision; z-scores and other numbers without a unit have `_UNITLESS` decimals.
_SCORES = {"piotroski_f": 0, "score": 1, "altman_z2": 2, "beneish_m": 2}
_UNITLESS = 2
_MONEY = re.compile(
    r"(?P<currency>[a-z]{3}|local_currency)(?:_(?P<scale>millions|billions)|_per_(?P<per>share|tonne|barrel|ounce))?"
)
_POWERS = {"millions": 6, "billions": 9}
#: Names of three letters that are no currency.
_NO_MONEY = {"day"}


class UnitWords(NamedTuple):
    """
    A unit with its currency and scale.

    `sign` follows a number at once, `before` and `after` stand around it with a space; `computed` are the decimals that
    what we computed is told with, `least` those that anything published has at least; `move` is what a difference is in.
    """

    head: str
    sign: str = ""
    before: str = ""
    after: str = ""
    computed: int = 1
    least: int = 0
    move: str = ""
    #: Short for `move`, where it was said before.
    moves: str = ""
    #: Power of ten of its numbers.
    power: int = 0
    #: A fraction that is shown as a percentage.
    fraction: bool = False
    #: Told as yields are: a difference in basis points.
    rate: bool = False

    def digits(self, values: Iterable[Number | None], *, computed: bool = False) -> int:
        """Return the one precision of a column: as published, of what we computed our own."""
        if computed or self.fraction:
            return self.computed
        most = max((places(value) for value in values if value is not None), default=self.least)
        return self.computed if most > UNROUNDED else max(most, self.least)

    def cell(self, value: Number, digits: int) -> str:
        """In a table, whose head has the unit: `2.1`; a fraction as its percentage, `11.8`."""
        return number(self.scaled(value), digits)

    def scaled(self, value: Number) -> Decimal:
        """Return what a number is told as: a fraction as its percentage, exactly."""
        return exact(value).scaleb(2) if self.fraction else exact(value)

    def figure(self, value: Number, digits: int | None = None) -> str:
        """In a key figure: `2.1%`, `USD 4,212m`, `JPY 151.2`. `digits`: None for as many as it is stated with."""
        if self.fraction:
            return self._percentage(value, digits)
        if self.power or (self.before and not self.after):
            text = compact(rounded(value, places(value)).scaleb(self.power) if self.power else value, digits)
        else:
            text = f"{number(value, digits)}{self.sign}"
        return f"{self.before} {text}".strip()

    def sentence(self, value: Number, digits: int | None = None) -> str:
        """In running text: `2.1%`, `0.3 percentage points`, `USD 512.48 billion`, `142 thousand`."""
        if self.fraction:
            return self._percentage(value, digits)
        told = number(value, digits)
        if self.power:
            told = f"{told} {scale(self.power).word}"
        elif self.before and not self.after:
            told = in_words(value, 2) if abs(exact(value)) >= 10**6 else told
        after = _singular(self.after, value, digits)
        return " ".join(part for part in (self.before, f"{told}{self.sign}", after) if part)

    def difference(self, value: Number, digits: int, *, again: bool = False) -> str:
        """
        Return the size of a change in running text: `0.3 percentage points`, `again` `0.3 points`; yields in `bp`; money as money.

        A change of a yield is in the unit of the yield, of which a hundredth is a basis point.
        """
        if self.rate:
            points = abs(rounded(value, 4)) * 100
            return f"{number(points, 0 if points == points.to_integral_value() else 1)} bp"
        if self.fraction:
            return f"{fraction(abs(exact(value)), digits).removesuffix('%')} {self.moves if again else self.move}"
        if self.move:
            words = _singular(self.moves if again else self.move, value, digits)
            return f"{number(abs(exact(value)), digits)} {words}"
        return self.sentence(abs(exact(value)), digits)

    def key_change(self, value: Number, digits: int) -> tuple[str, str]:
        """Return a change as a key figure and what it is in: `−0.3` and `percentage points`, `+15.8bn` and `USD`."""
        if self.rate:
            return change(rounded(value, 4) * 100, 0), "bp"
        if self.fraction:
            return change(rounded(value, digits + 2) * 100, digits), self.move
        if self.before and not self.after and not self.power and abs(exact(value)) >= 10**6:
            return f"{'+' if value > 0 else ''}{compact(value)}", self.head
        return change(value, digits), self.move or self.head

    def _percentage(self, value: Number, digits: int | None) -> str:
        return fraction(value, self.computed if digits is None else digits)


def unit(name: str | None, indicator: str | None = None, *, currency: str | None = None, power: int = 0) -> UnitWords:
    """
    Return a unit of the interface. `indicator`: id or slug, for some are told in a way of their own; `power`: `metadata.scale`.

    A unit that is not known keeps its name.
    """
    slug = (indicator or "").removeprefix(_SLUG)
    if name is None or name == "text":
        return UnitWords("", computed=_SCORES.get(slug, _UNITLESS))
    money = _MONEY.fullmatch(name)
    if money is not None and name not in _NO_MONEY:
        return _money(money, currency, power)
    if name in {"per_usd", "per_eur"}:
        base = name[-3:].upper()
        return UnitWords(
            f"{currency or 'Local currency'} per {base}", before=currency or "", after=f"per {base}", computed=4
        )
    if name == "ratio" and _SHARES.search(slug):
        return UnitWords("Percent", move="percentage points", moves="points", fraction=True)
    if name in {"percent", "percentage_points"} and slug != _REAL_RATE and _RATES.search(slug):
        return _UNITS[name]._replace(computed=2, least=2, rate=name == "percent")
    if name == "points" and slug in _SCORES:
        return UnitWords("Points", computed=_SCORES[slug])
    found = _UNITS.get(name) or UnitWords(name.replace("_", " ").capitalize(), after=name.replace("_", " "))
    if not power:
        return found
    words = scale(found.power + power)
    return found._replace(head=f"{words.plural.capitalize()} of {found.head.lower()}", power=words.power)


def unit_of(row: Mapping[str, Any]) -> UnitWords:
    """Return the unit of an observation, a series or a field: with the currency and scale that its metadata say."""
    metadata = row.get("metadata") or {}
    found = unit(
        row.get("unit"),
        row.get("indicatorId") or row.get("field"),
        currency=row.get("currency") or metadata.get("currency"),
        power=metadata.get("scale") or 0,
    )
    return found._replace(head=f"{found.head}, annual rate") if metadata.get("annualized") else found


def category(name: str) -> str:
    """Return what a category of indicators is called."""
    return _CATEGORIES.get(name) or name.replace("_", " ").capitalize()


def computed(row: Mapping[str, Any]) -> bool:
    """Return whether an observation was computed by us, and so is told with our precision."""
    return bool(row.get("derivedFrom"))


#: Categories whose names in the interface are no words of ours.
_CATEGORIES = {"fx": "Exchange rates", "labor": "Labour"}
_POINTS = ("percentage points", "points")
_UNITS = {
    "percent": UnitWords("Percent", sign="%", least=1, move=_POINTS[0], moves=_POINTS[1]),
    "percentage_points": UnitWords(
        "Percentage points", after=_POINTS[0], least=1, move=_POINTS[0], moves=_POINTS[1]
    ),
    "index": UnitWords("Index", least=1, move="index points", moves="points"),
    "points": UnitWords("Points", after="points", move="points", moves="points"),
    "thousands": UnitWords("Thousands", power=3, computed=0),
    "persons": UnitWords("Persons", after="persons", computed=0),
    "shares": UnitWords("Shares", after="shares", computed=0),
    "ratio": UnitWords("Ratio", computed=2),
    "months": UnitWords("Months", after="months"),
    "years": UnitWords("Years", after="years"),
}  # fmt: skip
_LOCAL = "local_currency"


def _money(match: re.Match[str], currency: str | None, power: int) -> UnitWords:
    """Money by its ISO code, never by a sign; local currency of which no code is told keeps its words."""
    named = match["currency"]
    code = named.upper() if named != _LOCAL else currency or ""
    power += _POWERS.get(match["scale"] or "", 0)
    head = code or "Local currency"
    if match["per"]:
        return UnitWords(f"{head} per {match['per']}", before=code, after=f"per {match['per']}", computed=2)
    if power:
        head = f"{head} {scale(power).plural}"
    return UnitWords(head, before=code, computed={0: 0, 3: 0, 6: 0}.get(power, 1), power=power)


def _singular(words: str, value: Number, digits: int | None) -> str:
    """`1 percentage point`, where the number is told as exactly one."""
    one = abs(rounded(value, places(value) if digits is None else digits)) == 1 and not digits
    return words.removesuffix("s") if one and words.endswith("s") else words


def distinguish_units(row: Mapping[str, Any], one: float, other: float) -> tuple[UnitWords, int]:
    """Return the unit of a record, and as many decimals as it takes to tell two of its numbers apart."""
    unit = unit_of(row)
    digits = unit.digits([one, other])
    while one != other and digits < _APART and unit.cell(one, digits) == unit.cell(other, digits):
        digits += 1
    return unit, digits
