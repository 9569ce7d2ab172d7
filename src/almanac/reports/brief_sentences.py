"""
Sentences about single readings, made by rule. Every number told is the value, the reading before, their difference, the
percentile, the rank or the count of the reading the sentence is about, rounded.
"""

from __future__ import annotations

from typing import NamedTuple

from almanac.domain.numbers import exact_sum
from almanac.domain.periods import Frequency, Period
from almanac.reports.brief_measures import SPANS, MeasureSpec
from almanac.reports.wording import amount, earlier, figure, place, rounded, sentence, within

#: What grows faster or slower; other things rise by more or less.
_OUTPUT = {"Real GDP", "output", "Industrial production"}
#: What grows or shrinks; its parts rise or fall.
_WHOLE = {"Real GDP", "output"}
#: Fewer countries are no company to be ranked in.
_FEW = 5
_UNITS = {
    "%": {"percent"}, "% of GDP": {"percent"}, "percentage points": {"percentage_points"}, "thousand": {"thousands"},
}  # fmt: skip


class Ranking(NamedTuple):
    """Place of a value among those of `of` countries, 1 the highest. `tied`: another has the same."""

    rank: int
    of: int
    tied: bool


class MeasureReading(NamedTuple):
    """
    The latest public reading of a measure. `period` and `previous_period` are keys.

    `freshness`: fresh, stale or unknown. `percentile`: 0 to 100.
    """

    measure: MeasureSpec
    value: float
    unit: str
    period: int
    frequency: Frequency
    freshness: str
    previous: float | None = None
    previous_period: int | None = None
    percentile: float | None = None
    ranking: Ranking | None = None
    #: Place of its sentence in the text: words that come again are varied by it.
    turn: int = 0

    @property
    def told(self) -> float:
        """The value as it is told."""
        return rounded(self.value, self.measure.digits)

    @property
    def fits(self) -> bool:
        """Whether it is in the unit that the words for its measure are about."""
        wanted = _UNITS.get(self.measure.unit)
        return wanted is None or self.unit in wanted

    @property
    def when(self) -> str:
        """`in October 2026`."""
        return within(Period.from_key(self.period), self.frequency)

    def over(self) -> str:
        """`over the year to October 2026`: of a change over a year. A calendar year needs no more words."""
        if self.frequency is Frequency.ANNUAL:
            return self.when
        return f"over the year to {self.when.partition(' ')[2]}"


def reading_sentence(reading: MeasureReading, before: MeasureReading | None = None) -> str:
    """The sentence of a reading, with capital and full stop. `before`: the reading that the sentence before was about."""
    return sentence(_KINDS[reading.measure.kind](reading, before))


def stale_sentence(reading: MeasureReading) -> str:
    """The sentence of a reading that is out of date: what it was, and nothing of where it stands or is going."""
    alone = reading_sentence(reading._replace(previous=None, previous_period=None)).removesuffix(".")
    return f"{alone}; this is the last reading, and it is stale."


def change_clause(reading: MeasureReading, before: MeasureReading) -> str | None:
    """A difference over a longer time, as the end of the sentence on the level of the same period; None: it is of another one."""
    if reading.measure.kind != "change" or before.measure.kind != "level" or before.period != reading.period:
        return None
    return f"; {_change_of(_THAT_IS, reading)}"


_THAT_IS = "that is"


def comparison(reading: MeasureReading) -> str | None:
    """Where a reading stands among countries and in its own past; None where there is nothing to say."""
    ranking, noun = reading.ranking, reading.measure.noun
    if ranking is None or noun is None or ranking.of < _FEW:
        alone = _past("this", reading.percentile)
        return None if alone is None else sentence(alone)
    where, past = _among(ranking, noun), _past("it", reading.percentile)
    return sentence(where if past is None else f"{where}; {past}")


def _among(ranking: Ranking, noun: str) -> str:
    """
    A rank in words, counted from the highest, with what kind of place it is.

    Nobody says `the 31st-highest of 35`: in the lower half the place is told instead.
    """
    rank, count, tied = ranking
    joint, nth = "joint " if tied else "", f"{place(rank)}-highest"
    if rank == 1:
        return f"this is the {joint}highest {noun} of the {count} countries compared"
    if rank == count:
        return f"none of the {count} countries compared has a lower {noun}"
    if 4 * rank <= count:
        return f"this is among the highest: the {joint}{nth} {noun} of the {count} countries compared"
    if 4 * rank > 3 * count:
        return f"this is one of the lowest {noun}s of the {count} countries compared, in {joint}{place(rank)} place"
    if abs(2 * rank - count - 1) * 10 <= count:
        return f"this is close to the middle of the {count} countries compared, with the {joint}{nth} {noun}"
    if 2 * rank > count:
        return f"among the {count} countries compared this {noun} ranks {joint}{place(rank)}"
    return f"this is the {joint}{nth} {noun} of the {count} countries compared"


def _past(it: str, percentile: float | None) -> str | None:
    """Where a rate of growth stands in its own past, `it` being what it is called; None where that is not known."""
    if percentile is None:
        return None
    if percentile in {0, 100}:
        return f"{it} is {'higher' if percentile else 'lower'} than at any time in its own past decade"
    near = round(percentile)
    if near in {0, 100}:
        return f"{it} is at the {'top' if near else 'bottom'} of its own past decade"
    kind = "high, " if percentile >= 85 else "low, " if percentile <= 15 else ""
    return f"within its own past decade {it} is {kind}at the {place(near)} percentile"


# -- kinds --------------------------------------------------------------------------------------------------------------


def _growth(reading: MeasureReading, before: MeasureReading | None) -> str:
    """`Real GDP grew by 1.2% over the year to the third quarter of 2026, slower than the 1.6% a quarter earlier`."""
    measure, value = reading.measure, reading.told
    if value == 0:
        base = f"{measure.subject} {'were' if measure.plural else 'was'} {_still(reading)} {reading.over()}"
    else:
        size = amount(abs(reading.value), measure.digits, measure.unit)
        base = f"{measure.subject} {_verb(measure, up=value > 0)} by {size} {reading.over()}"
    return base + _compared(reading)


def _pace(reading: MeasureReading, before: MeasureReading | None) -> str:
    """A growth rate at annual rates, beside the one over a year."""
    measure, value = reading.measure, reading.told
    same = before is not None and before.period == reading.period
    when = f"in that {_unit_of_time(reading.frequency)} alone" if same else reading.when
    if value == 0:
        return f"{when} {measure.subject} was {_still(reading)}{_compared(reading)}"
    size = amount(abs(reading.value), measure.digits, measure.unit)
    return f"{when} {measure.subject} {_verb(measure, up=value > 0)} at an annual rate of {size}{_compared(reading)}"


def _compared(reading: MeasureReading) -> str:
    """How a rate of growth compares with the one before, as the end of a sentence."""
    if reading.previous is None:
        return ""
    measure, value, was = reading.measure, reading.told, rounded(reading.previous, reading.measure.digits)
    then, size = _then(reading), amount(abs(was), measure.digits, measure.unit)
    if value == was:
        if value == 0:
            return f", as {then}"
        about = "" if reading.value == reading.previous else "about "
        return f", {about}the same {'rate' if value > 0 else 'fall'} as {then}"
    if was == 0:
        return f", after {'no' if reading.previous == 0 else 'hardly any'} change {then}"
    if value == 0 or (value > 0) != (was > 0):
        return f", after {_move(measure, up=was > 0)} of {size} {then}"
    if value < 0:
        return f", a {'larger' if value < was else 'smaller'} fall than the {size} {then}"
    much = "much " if abs(exact_sum(reading.value, -reading.previous)) >= measure.large else ""
    if measure.subject in _OUTPUT:
        return f", {much}{'faster' if value > was else 'slower'} than the {size} {then}"
    return f", {much}{'more' if value > was else 'less'} than the {size} {then}"


def _level(reading: MeasureReading, before: MeasureReading | None) -> str:
    """`The unemployment rate edged up to 4.2% in October 2026, from 4.1% a month earlier`."""
    measure, value = reading.measure, reading.told
    told = amount(reading.value, measure.digits, measure.unit)
    when = _again(reading, before)
    if reading.previous is None:
        return f"{measure.subject} stood at {told} {when}"
    was = rounded(reading.previous, measure.digits)
    if was == value:
        same = "unchanged from" if reading.previous == reading.value else "little changed from"
        return f"{measure.subject} was {told} {when}, {same} {_as_noun(_then(reading))}"
    verb = _moved(measure, exact_sum(reading.value, -reading.previous))
    return f"{measure.subject} {verb} to {told} {when}, from {figure_of(was, measure)} {_then(reading)}"


def figure_of(value: float, measure: MeasureSpec) -> str:
    """A number of a measure without the words of its unit."""
    return figure(value, measure.digits) + ("%" if measure.unit.startswith("%") else "")


def _balance(reading: MeasureReading, before: MeasureReading | None) -> str:
    """`The current account showed a deficit of 3.0% of GDP in 2025, wider than the 2.4% a year earlier`."""
    measure, value = reading.measure, reading.told
    if value == 0:
        base = f"{measure.subject} was {'' if reading.value == 0 else 'almost '}in balance {reading.when}"
    else:
        size = amount(abs(reading.value), measure.digits, measure.unit)
        base = f"{measure.subject} showed a {_side(value)} of {size} {reading.when}"
    if reading.previous is None:
        return base
    was = rounded(reading.previous, measure.digits)
    size, then = figure_of(abs(was), measure), _then(reading)
    if was == value:
        return f"{base}, {'' if reading.value == reading.previous else 'about '}the same as {then}"
    if was == 0:
        return f"{base}, after {'' if reading.previous == 0 else 'almost '}being in balance {then}"
    if value == 0 or (was > 0) != (value > 0):
        return f"{base}, after a {_side(was)} of {size} {then}"
    return f"{base}, {_width(value, was)} than the {size} {then}"


def _change(reading: MeasureReading, before: MeasureReading | None) -> str:
    """`In October 2026 the rate was 0.4 percentage points higher than a year before`: a difference that stands alone."""
    return _change_of(f"{reading.when} {reading.measure.subject} was", reading)


def _change_of(start: str, reading: MeasureReading) -> str:
    span = SPANS[reading.measure.slug]
    if reading.told == 0:
        if start == _THAT_IS:
            return f"it was {'' if reading.value == 0 else 'about '}the same {span}"
        return f"{start} {'the same as' if reading.value == 0 else 'little different from'} {span}"
    size = amount(abs(reading.value), reading.measure.digits, reading.measure.unit)
    return f"{start} {size} {'higher' if reading.told > 0 else 'lower'} than {span}"


def _slope(reading: MeasureReading, before: MeasureReading | None) -> str:
    value = reading.told
    when = _again(reading, before)
    if value == 0:
        flat = "flat" if reading.value == 0 else "almost flat"
        return f"the curve was {flat} between two and ten years {when}"
    size = amount(abs(reading.value), reading.measure.digits, reading.measure.unit)
    if value > 0:
        return f"{when} the curve sloped upwards, the ten-year yield lying {size} above the two-year one"
    return f"{when} the curve was inverted, the ten-year yield lying {size} below the two-year one"


def _count(reading: MeasureReading, before: MeasureReading | None) -> str:
    """`Nonfarm payrolls rose by 142 thousand in October 2026, after a rise of 98 thousand a month earlier`."""
    measure, value = reading.measure, reading.told
    size = amount(abs(reading.value), measure.digits, measure.unit)
    base = (
        f"{measure.subject} {_verb(measure, up=value > 0)} by {size}"
        if value
        else f"{measure.subject} {'did not change' if reading.value == 0 else 'hardly changed'}"
    )
    base = f"{base} {reading.when}"
    if reading.previous is None:
        return base
    was = rounded(reading.previous, measure.digits)
    if was == 0:
        return f"{base}, after no change {_then(reading)}"
    if value == was:
        return f"{base}, as {_then(reading)}"
    return f"{base}, after a {'rise' if was > 0 else 'fall'} of {figure(abs(was), measure.digits)} thousand {_then(reading)}"


_KINDS = {
    "growth": _growth, "pace": _pace, "level": _level, "balance": _balance, "change": _change, "slope": _slope,
    "count": _count,
}  # fmt: skip


# -- words --------------------------------------------------------------------------------------------------------------


def _then(reading: MeasureReading) -> str:
    return earlier(reading.period, reading.previous_period or 0, reading.frequency, reading.turn)


def _as_noun(then: str) -> str:
    """`a month earlier` and `the day before` stand as they are after `from`; `at the previous reading` does not."""
    return then.removeprefix("at ")


def _again(reading: MeasureReading, before: MeasureReading | None) -> str:
    """When; of the same period as the sentence before, by a shorter word."""
    if before is not None and (before.period, before.frequency) == (reading.period, reading.frequency):
        return (
            "on the same day"
            if reading.frequency is Frequency.DAILY
            else f"in the same {_unit_of_time(reading.frequency)}"
        )
    return reading.when


def _unit_of_time(frequency: Frequency) -> str:
    return {
        Frequency.ANNUAL: "year", Frequency.SEMIANNUAL: "half-year", Frequency.QUARTERLY: "quarter",
        Frequency.MONTHLY: "month", Frequency.WEEKLY: "week",
    }.get(frequency, "day")  # fmt: skip


def _verb(measure: MeasureSpec, *, up: bool) -> str:
    if measure.subject in _WHOLE:
        return "grew" if up else "shrank"
    return "rose" if up else "fell"


def _move(measure: MeasureSpec, *, up: bool) -> str:
    """A move as a noun, before its size."""
    if measure.subject in _WHOLE:
        return "growth" if up else "a contraction"
    return "a rise" if up else "a fall"


def _still(reading: MeasureReading) -> str:
    """Of a change that is told as zero."""
    return "unchanged" if reading.value == 0 else "little changed"


def _moved(measure: MeasureSpec, change: float) -> str:
    """A verb for a move, by its size."""
    size = abs(change)
    if size >= measure.large:
        return "jumped" if change > 0 else "dropped"
    if size <= measure.large / 4:
        return "edged up" if change > 0 else "edged down"
    return "rose" if change > 0 else "fell"


def _side(value: float) -> str:
    return "surplus" if value > 0 else "deficit"


def _width(value: float, was: float) -> str:
    if value > 0:
        return "larger" if value > was else "smaller"
    return "wider" if value < was else "narrower"
