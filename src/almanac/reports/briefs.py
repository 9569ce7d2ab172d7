"""
Country briefs: a headline and six sections of text and readings, written by rule.

Nothing is looked up or random here: the same readings give the same words. Every number in a sentence is a rounded
figure of its reading: the value, the reading before, their difference, the percentile, the rank or the count.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from almanac.domain.periods import Frequency
from almanac.reports.measures import Key, MeasureReading, MeasureSpec, Ranking, SectionSpec
from almanac.reports.wording import amount, country, earlier, figure, listed, place, rounded, sentence

#: Subjects that grow faster or slower; others rise by more or less.
_OUTPUT = {"Real GDP", "output", "Industrial production"}
#: Subjects that grow or shrink; others rise or fall.
WHOLE = {"Real GDP", "output"}
#: With fewer countries a rank says nothing.
_FEW = 5


#: Percentage points from which two figures look different, and from which a change is mentioned.
_APART, _HARDLY = 0.2, 0.05


class BriefSubject(NamedTuple):
    """The subject of a brief. `shares` is true if it uses the euro and has no central bank of its own."""

    name: str
    shares: bool


class SectionReadings(NamedTuple):
    """
    The readings of a section.

    `readings` are the public ones, in the order of the measures. `withheld` is true if others exist that must not be
    shown, `beyond` if all of them are older than the plan reaches.
    """

    readings: Sequence[MeasureReading]
    withheld: bool = False
    beyond: bool = False


def ranking(value: float, among: Sequence[float]) -> Ranking | None:
    """Rank a value among ascending values that include it; 1 is the highest. Return None if it is the only one."""
    if len(among) < 2:
        return None
    above = len(among) - bisect_right(among, value)
    return Ranking(above + 1, len(among), len(among) - bisect_left(among, value) - above > 1)


def section_text(
    section: SectionSpec,
    subject: BriefSubject,
    found: SectionReadings,
    curves: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """
    Return the text of a section.

    `curves` maps a yield's slug to the kinds of curve it was ranked among, its own first.
    """
    parts: list[str] = []
    who = country(subject.name)
    if section.key == "rates" and subject.shares:
        parts.append(
            sentence(
                f"{who} shares the euro and has no policy rate of its own: for that and for the curve see the brief of "
                "the euro area, /briefs/EUR"
            )
        )
    usable = [one for one in found.readings if one.fits]
    current = [one for one in usable if one.freshness != "stale"]
    before: MeasureReading | None = None
    behind: list[str] = []
    for turn, one in enumerate(current):
        one = one._replace(turn=turn)
        clause = None if before is None else change_clause(one, before)
        if clause is not None:
            parts[-1] = parts[-1].removesuffix(".") + clause + "."
            continue
        parts += behind
        parts.append(reading_sentence(one, before))
        behind = _add_context(one, (curves or {}).get(one.measure.slug, ()), first=turn == 0)
        before = one
    parts += behind
    parts += [stale_sentence(one) for one in usable if one.freshness == "stale"]
    if not usable:
        parts.append(_nothing(section, who, found))
    return " ".join(parts)


def _add_context(one: MeasureReading, kinds: Sequence[str], *, first: bool) -> list[str]:
    """
    Return the sentences after a reading's own: its rank and percentile, and a warning if unlike yields were ranked
    together.
    """
    if not first and one.measure.noun is None:
        return []
    where = comparison(one)
    if where is None:
        return []
    return [where, _unlike(kinds)] if len(set(kinds)) > 1 and one.ranking is not None else [where]


def _unlike(kinds: Sequence[str]) -> str:
    own, others = kinds[0], sorted(set(kinds[1:]) - {kinds[0]})
    return sentence(
        f"mind that this is a {own} yield, while others are {listed(others)} yields, which are not quite alike"
    )


def _nothing(section: SectionSpec, who: str, found: SectionReadings) -> str:
    if found.withheld:
        return sentence(f"the readings of {section.topic} held for {who} may not be shown")
    if found.beyond:
        return sentence(f"the readings of {section.topic} held for {who} are older than this plan reaches")
    if found.readings:
        return sentence(f"the readings of {section.topic} held for {who} are in units that are not put into words here")
    # No source is promised, because nobody knows whether one would have data.
    return sentence(f"there is nothing on {section.topic} for {who}")


def headline(subject: BriefSubject, sections: Mapping[Key, Sequence[MeasureReading]]) -> str:
    """
    Return one sentence on growth, inflation and unemployment, without what is stale or absent.

    A change in jobs is mentioned if it is far larger than usual.
    """
    who = country(subject.name)
    growth = _first([one for one in sections["growth"] if not one.measure.plural], "growth")  # sales are no output
    prices = _first(sections["inflation"], "growth")
    jobs = next((one for one in sections["labor"] if one.measure.slug == "unemployment_rate" and _good(one)), None)
    shock = _first([one for one in sections["labor"] if one.big], "count")
    heads = [(one, _trend(one)) for one in (growth, prices) if one is not None]
    facts = _facts([one for one in (growth, prices) if one is not None], jobs, shock)
    if not facts:
        return _no_headline(who, [one for found in sections.values() for one in found])
    said = [(one, trend) for one, trend in heads if trend is not None]
    if not said:
        return sentence(f"in {who}, {facts}")
    joined = _joined([trend for _, trend in said])
    return sentence(f"in {who}, {joined}: {facts}")


def _no_headline(who: str, readings: Sequence[MeasureReading]) -> str:
    if any(_good(one) for one in readings):
        return sentence(f"there are no current readings of growth, inflation or unemployment for {who}")
    newest = max(readings, key=lambda one: one.period, default=None)
    if newest is None:
        return sentence(f"there are no readings to show for {who}")
    when = newest.when.partition(" ")[2]
    return sentence(f"the readings held for {who} are stale, the newest being of {when}")


def _first(readings: Sequence[MeasureReading], kind: str) -> MeasureReading | None:
    return next((one for one in readings if one.measure.kind == kind and _good(one)), None)


def _good(one: MeasureReading) -> bool:
    return one.fits and one.freshness != "stale"


class _Trend(NamedTuple):
    """The parts of a trend clause, such as `growth`, `is`, `slowing`, and its direction (-1, 0 or 1)."""

    subject: str
    verb: str
    doing: str
    way: int


def _joined(trends: Sequence[_Trend]) -> str:
    """Join one or two trends: `growth is slowing while inflation is easing`, or `growth and inflation are holding steady`."""
    words = [f"{one.subject} {one.verb} {one.doing}" for one in trends]
    if len(trends) == 1:
        return words[0]
    one, two = trends
    if one.doing == two.doing:
        return f"{one.subject} and {two.subject} are {one.doing}"
    return f"{words[0]} {'and' if one.way == two.way else 'while'} {words[1]}"


def _trend(one: MeasureReading) -> _Trend | None:
    """Return the trend of growth or inflation, or None if there is no earlier reading to compare with."""
    if one.previous is None:
        return None
    value = one.told
    way = ((one.move > 0) - (one.move < 0)) if one.moved else 0
    if one.measure.plural:
        if value <= 0:
            return _Trend("prices", "are", "falling" if value else "flat", -1 if value else 0)
        return _Trend("inflation", "is", ("holding steady", "picking up", "easing")[way], way)
    if value <= 0:
        return _Trend("output", "is", "shrinking" if value else "flat", -1 if value else 0)
    return _Trend("growth", "is", ("holding steady", "quickening", "slowing")[way], way)


def _facts(rates: Sequence[MeasureReading], jobs: MeasureReading | None, shock: MeasureReading | None) -> str:
    """Return the figures behind a headline as one list."""
    told = [_small(growth_clause(one)) for one in rates]
    when = "" if jobs is None else jobs.when
    if jobs is not None:
        if rates and rates[-1].frequency is jobs.frequency is Frequency.MONTHLY and rates[-1].period == jobs.period:
            when = "in the same month"
        told.append(_unemployment(jobs, when))
    if shock is not None:
        same = jobs is not None and (jobs.period, jobs.frequency) == (shock.period, shock.frequency)
        told.append(_small(count_clause(shock)) + ("" if same else f" {shock.when}"))
    return listed(told)


def _unemployment(jobs: MeasureReading, when: str) -> str:
    """Return the clause on the unemployment rate. After an unusually large move it also says where the rate came from."""
    rate = amount(jobs.value, jobs.digits, jobs.measure.unit)
    if not jobs.big or not jobs.moved:
        return f"unemployment was {rate} {when}"
    went = "jumped" if jobs.move > 0 else "dropped"
    return f"unemployment {went} from {figure(jobs.was, jobs.digits)}% to {rate} {when}"


def _small(text: str) -> str:
    return text[0].lower() + text[1:]


# -- sentences of single readings ---------------------------------------------------------------------------------------


def reading_sentence(reading: MeasureReading, before: MeasureReading | None = None) -> str:
    """Return the sentence of a reading, with a capital and a full stop. `before` is the reading of the sentence before."""
    return sentence(_KINDS[reading.measure.kind](reading, before) + reading.gap)


def stale_sentence(reading: MeasureReading) -> str:
    """Return the sentence of a stale reading: its value alone, without comparison or rank."""
    alone = reading_sentence(reading._replace(previous=None, previous_period=None, since=None)).removesuffix(".")
    return f"{alone}; this is the last reading, and it is stale."


def change_clause(reading: MeasureReading, before: MeasureReading) -> str | None:
    """
    Return a long-term difference as the end of the sentence on the level. Return None if that sentence is of another
    period or already ends with a gap.
    """
    if (
        reading.measure.kind != "change"
        or before.measure.kind != "level"
        or before.period != reading.period
        or before.gap
    ):
        return None
    return f"; {_change_of(_THAT_IS, reading)}"


_THAT_IS = "that is"


def comparison(reading: MeasureReading) -> str | None:
    """
    Return the sentence on a reading's rank among countries and its percentile in its own past, or None if there is
    neither.
    """
    ranking, noun = reading.ranking, reading.measure.noun
    # A level's place in its decade isn't mentioned, because its sentence already says where it came from.
    percentile = reading.percentile if reading.measure.growth else None
    if ranking is None or noun is None or ranking.of < _FEW:
        alone = _past("this", percentile)
        return None if alone is None else sentence(alone)
    where, past = _among(ranking, noun), _past("it", percentile)
    return sentence(where if past is None else f"{where}; {past}")


def _among(ranking: Ranking, noun: str) -> str:
    """
    Put a rank into words, counted from the highest, and say what part of the field it is in.

    Nobody says "the 31st-highest of 35", so in the lower half the text names the place instead.
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
    """
    Return the clause on a growth rate's place in its past decade, or None if it isn't known. `it` is the clause's
    subject.
    """
    if percentile is None:
        return None
    if percentile in {0, 100}:
        return f"{it} is {'higher' if percentile else 'lower'} than at any time in its own past decade"
    near = int(rounded(percentile, 0))
    if near in {0, 100}:
        return f"{it} is at the {'top' if near else 'bottom'} of its own past decade"
    kind = "high, " if percentile >= 85 else "low, " if percentile <= 15 else ""
    return f"within its own past decade {it} is {kind}at the {place(near)} percentile"


# -- kinds --------------------------------------------------------------------------------------------------------------


def growth_clause(reading: MeasureReading, when: str | None = None) -> str:
    """
    Return a clause such as `Real GDP grew by 1.2% over the year to the third quarter of 2026`. `when` replaces the
    words for the year.
    """
    measure, when = reading.measure, when or reading.over()
    if reading.told == 0:
        return f"{measure.subject} {_be(measure)} {_still(reading)} {when}"
    return f"{measure.subject} {_verb(measure, up=reading.told > 0)} by {reading.size} {when}"


def _growth(reading: MeasureReading, before: MeasureReading | None) -> str:
    """Return the clause of a growth rate beside the rate before: `…, slower than the 1.6% a quarter earlier`."""
    same = before is not None and before.measure.kind == "growth" and _together(reading, before)
    when = f"{'in' if reading.frequency is Frequency.ANNUAL else 'over'} the same year" if same else None
    return growth_clause(reading, when) + _compared(reading)


def _pace(reading: MeasureReading, before: MeasureReading | None) -> str:
    """Return the clause of an annualised growth rate, which follows the one over a year."""
    measure = reading.measure
    same = before is not None and before.period == reading.period
    when = f"in that {_unit_of_time(reading.frequency)} alone" if same else reading.when
    if reading.told == 0:
        return f"{when} {measure.subject} was {_still(reading)}{_compared(reading)}"
    verb = _verb(measure, up=reading.told > 0)
    return f"{when} {measure.subject} {verb} at an annual rate of {reading.size}{_compared(reading)}"


def _compared(reading: MeasureReading) -> str:
    """Return the end of a sentence that compares a growth rate with the one before."""
    if reading.previous is None:
        return ""
    measure, value, was, then = reading.measure, reading.told, reading.was, _then(reading)
    if value == was:
        if value == 0:
            return f", as {then}"
        about = "" if reading.value == reading.previous else "about "
        return f", {about}the same {'rate' if value > 0 else 'fall'} as {then}"
    if was == 0:
        return f", after {'no' if reading.previous == 0 else 'hardly any'} change {then}"
    if value == 0 or (value > 0) != (was > 0):
        return f", after {_move(measure, up=was > 0)} {_over_what(reading)} {_then(reading._replace(turn=0))}"
    before = f"{_size_before(reading, 'the')} {then}"
    if not reading.moved:
        return f", {_hardly(reading)} {before}"
    much = "much " if reading.big else ""
    if value < 0:
        return f", a {much}{'larger' if value < was else 'smaller'} fall than {before}"
    if measure.subject in _OUTPUT:
        return f", {much}{'faster' if value > was else 'slower'} than {before}"
    return f", {much}{'more' if value > was else 'less'} than {before}"


def _hardly(reading: MeasureReading) -> str:
    """
    Return the words before the figure that a reading has hardly moved from, judged by its usual move.

    If the two figures look far apart all the same, the text only compares them: nobody calls 2.4% little different from
    4.2%, nor 0.2% from 0.6%.
    """
    apart = abs(reading.told - reading.was)
    far = apart >= _APART and apart > max(abs(reading.told), abs(reading.was)) / 4
    return "compared with" if far else "little different from"


def _over_what(reading: MeasureReading) -> str:
    """
    Return the rate before with its span, for a rate that changed sign. The span is needed because the rate isn't of the
    month or quarter named.
    """
    size = _size_before(reading, "a")
    if reading.measure.kind == "pace":
        return f"at an annual rate of {size}"
    return f"of {size}" if reading.frequency is Frequency.ANNUAL else f"of {size} over the year"


def _level(reading: MeasureReading, before: MeasureReading | None) -> str:
    """Return a clause such as `The unemployment rate edged up to 4.2% in October 2026, from 4.1% a month earlier`."""
    measure = reading.measure
    told = amount(reading.value, reading.digits, measure.unit)
    when = _again(reading, before)
    if reading.previous is None:
        return f"{measure.subject} stood at {told} {when}"
    if reading.told == reading.was:
        same = "unchanged from" if reading.previous == reading.value else "little changed from"
        # `at the previous reading` cannot follow `from`.
        return f"{measure.subject} {_be(measure)} {told} {when}, {same} {_then(reading).removeprefix('at ')}"
    earlier_ = f"{_figure_before(reading, 'a')} {_then(reading)}"
    if not reading.moved:
        return f"{measure.subject} {_be(measure)} {told} {when}, little changed from {earlier_}"
    return f"{measure.subject} {_moved(reading)} to {told} {when}, from {earlier_}"


def _figure_before(reading: MeasureReading, article: str) -> str:
    """
    Return the figure of the reading before without the words of its unit: `4.1%`, or `a revised 4.1%` if it was
    revised.
    """
    text = figure(reading.was, reading.digits) + ("%" if reading.measure.unit.startswith("%") else "")
    return f"{article} revised {text}" if reading.revised else text


def _size_before(reading: MeasureReading, article: str) -> str:
    """
    Return the reading before without its sign: `1.6%`, or `the 1.6%` with the article `the`; if it was revised `a
    revised 1.6%` or `the revised 1.6%`.
    """
    text = _figure_before(reading._replace(previous=abs(reading.was)), article)
    return f"the {text}" if article == "the" and not reading.revised else text


def _balance(reading: MeasureReading, before: MeasureReading | None) -> str:
    """
    Return a clause such as `The current account showed a deficit of 3.0% of GDP in 2025, wider than the 2.4% a year
    earlier`.
    """
    measure, value, was = reading.measure, reading.told, reading.was
    if value == 0:
        base = f"{measure.subject} was {'' if reading.value == 0 else 'almost '}in balance {reading.when}"
    else:
        base = f"{measure.subject} showed a {_side(value)} of {reading.size} {reading.when}"
    if reading.previous is None:
        return base
    then = _then(reading)
    if was == value:
        return f"{base}, {'' if reading.value == reading.previous else 'about '}the same as {then}"
    if was == 0:
        return f"{base}, after {'' if reading.previous == 0 else 'almost '}being in balance {then}"
    if value == 0 or (was > 0) != (value > 0):
        return f"{base}, after a {_side(was)} of {_size_before(reading, 'a')} {then}"
    how = f"{_width(value, was)} than" if reading.moved else _hardly(reading)
    return f"{base}, {how} {_size_before(reading, 'the')} {then}"


def _change(reading: MeasureReading, before: MeasureReading | None) -> str:
    """
    Return the clause of a difference that stands alone: `In October 2026 the rate was 0.4 percentage points higher than
    a year before`.
    """
    return _change_of(f"{reading.when} {reading.measure.subject} was", reading)


def _change_of(start: str, reading: MeasureReading) -> str:
    since = reading.measure.since
    if abs(reading.told) < _HARDLY:
        if start == _THAT_IS:
            return f"it was {'' if reading.value == 0 else 'about '}the same {since}"
        return f"{start} {'the same as' if reading.value == 0 else 'little different from'} {since}"
    size = amount(abs(reading.value), reading.measure.digits, reading.measure.unit)
    return f"{start} {size} {'higher' if reading.told > 0 else 'lower'} than {since}"


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


def count_clause(reading: MeasureReading) -> str:
    """Return the clause of a count that is itself a change: `Nonfarm payrolls rose by 142 thousand`."""
    if reading.told == 0:
        return f"{reading.measure.subject} {'did not change' if reading.value == 0 else 'hardly changed'}"
    return f"{reading.measure.subject} {_moved(reading)} by {reading.size}"


def _count(reading: MeasureReading, before: MeasureReading | None) -> str:
    """
    Return the clause of a count beside the one before: `… in October 2026, after a rise of 98 thousand a month
    earlier`.
    """
    base = f"{count_clause(reading)} {reading.when}"
    if reading.previous is None:
        return base
    was, then = reading.was, _then(reading)
    if was == 0:
        return f"{base}, after {'no' if reading.previous == 0 else 'hardly any'} change {then}"
    if reading.told == was:
        return f"{base}, as {then}"
    size = f"{_size_before(reading, 'a')} {reading.measure.unit}"
    return f"{base}, after a {'rise' if was > 0 else 'fall'} of {size} {then}"


_KINDS = {
    "growth": _growth, "pace": _pace, "level": _level, "balance": _balance, "change": _change, "slope": _slope,
    "count": _count,
}  # fmt: skip


# -- words --------------------------------------------------------------------------------------------------------------


def _then(reading: MeasureReading) -> str:
    return earlier(reading.period, reading.previous_period or 0, reading.frequency, reading.turn)


def _again(reading: MeasureReading, before: MeasureReading | None) -> str:
    """Return the words for the period, shorter if the sentence before was about the same period."""
    if before is not None and _together(reading, before):
        return (
            "on the same day"
            if reading.frequency is Frequency.DAILY
            else f"in the same {_unit_of_time(reading.frequency)}"
        )
    return reading.when


def _together(reading: MeasureReading, before: MeasureReading) -> bool:
    """Return whether two readings are of one period."""
    return (before.period, before.frequency) == (reading.period, reading.frequency)


def _unit_of_time(frequency: Frequency) -> str:
    return {
        Frequency.ANNUAL: "year", Frequency.SEMIANNUAL: "half-year", Frequency.QUARTERLY: "quarter",
        Frequency.MONTHLY: "month", Frequency.WEEKLY: "week",
    }.get(frequency, "day")  # fmt: skip


def _be(measure: MeasureSpec) -> str:
    return "were" if measure.plural else "was"


def _verb(measure: MeasureSpec, *, up: bool) -> str:
    if measure.subject in WHOLE:
        return "grew" if up else "shrank"
    return "rose" if up else "fell"


def _move(measure: MeasureSpec, *, up: bool) -> str:
    """Return a move as a noun, to stand before its size."""
    if measure.subject in WHOLE:
        return "growth" if up else "a contraction"
    return "a rise" if up else "a fall"


def _still(reading: MeasureReading) -> str:
    """Return the words for a change that rounds to zero."""
    return "unchanged" if reading.value == 0 else "little changed"


def _moved(reading: MeasureReading) -> str:
    """Return the verb for a move, chosen by the usual size of its moves."""
    up = reading.move > 0
    if reading.big:
        return "jumped" if up else "dropped"
    if reading.usual is not None and abs(reading.move) < reading.usual:
        return "edged up" if up else "edged down"
    return "rose" if up else "fell"


def _side(value: float) -> str:
    return "surplus" if value > 0 else "deficit"


def _width(value: float, was: float) -> str:
    if value > 0:
        return "larger" if value > was else "smaller"
    return "wider" if value < was else "narrower"
