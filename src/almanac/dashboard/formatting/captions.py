"""Captions of charts: sentences by rule about one line, several lines, or many places on one day."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from statistics import quantiles
from typing import NamedTuple

from almanac.dashboard.formatting.numbers import UnitWords
from almanac.dashboard.formatting.values import ChartPoint, counted, missing, with_values
from almanac.domain.numbers import Number, exact, exact_sum, mean, rounded
from almanac.domain.periods import Frequency
from almanac.reports.briefs import WHOLE
from almanac.reports.measures import MEASURES
from almanac.reports.wording import country, listed, sentence

#: Of every chart that has nothing in it.
NOTHING = "There is no value to draw."
#: Places or indicators that a sentence names before it says how many more there are.
_NAMED = 3
_YIELD = re.compile(r"gov_(?P<kind>par_|real_)?yield_(?P<count>[0-9]+)(?P<unit>[my])")
_BONDS = {
    None: "government bonds",
    "par_": "government bonds at par",
    "real_": "inflation-linked government bonds",
}
SPANS = {"m": ("month", "months"), "y": ("year", "years")}


class Topic(NamedTuple):
    """
    The subject of a chart, for its caption.

    `name`: the indicator's; `slug`: its slug; `place`: the company, or the country as it stands within a sentence
    (`almanac.reports.wording.country`), empty for neither; `digits`: the column's precision. `stale_days`: days since the newest period ended, where the series is stale; `ended`: it is discontinued.
    """

    name: str
    slug: str
    place: str
    unit: UnitWords
    digits: int
    stale_days: int | None = None
    ended: bool = False

    def say(self, value: Number) -> str:
        """Return a value in a sentence."""
        return self.unit.sentence(value, self.digits)

    def level(self, value: Number) -> Number:
        """Round a value as sentences do, to compare what they say."""
        return rounded(value, self.digits + (2 if self.unit.fraction else 0))


def line_caption(topic: Topic, points: Sequence[ChartPoint], *, bounded: bool = False) -> str:
    """
    Return the caption of one line: `Real GDP of Borealia grew 2.1% in the year to 2026 Q3, 0.3 percentage points less than …`

    `bounded`: the chart ends before the newest period, so that a range is no longer `since`.
    """
    shown = with_values(points)
    if not shown:
        return _nothing(points)
    return " ".join(
        part for part in (_latest(topic, shown), _range(topic, shown, bounded), _trust(topic, points)) if part
    )


def lines_caption(topic: Topic, lines: Sequence[tuple[str, Sequence[ChartPoint]]]) -> str:
    """Return the caption of several lines in one unit, each with its name: who is highest and lowest now, the range of all, what is missing."""
    shown = [(name, with_values(points)) for name, points in lines]
    full = [(name, points) for name, points in shown if points]
    if not full:
        return _nothing([point for _, points in lines for point in points])
    if len(full) == 1:
        alone = next(points for name, points in lines if name == full[0][0])
        return line_caption(topic._replace(place=full[0][0]), alone)
    ranked = sorted(full, key=lambda line: line[1][-1].value or 0.0)
    (low_name, low), (high_name, high) = ranked[0], ranked[-1]
    first = (
        f"{_subject(topic, None)} was highest in {high_name}, at {topic.say(_value(high[-1]))} {_when(high[-1])}, "
        f"and lowest in {low_name}, at {topic.say(_value(low[-1]))} {_when(low[-1])}"
    )
    lowest, highest = _extremes([point for _, points in full for point in points])
    of = {id(point): name for name, points in full for point in points}
    second = (
        f"The lines range from {topic.say(_value(lowest))} ({of[id(lowest)]}, {lowest.period}) "
        f"to {topic.say(_value(highest))} ({of[id(highest)]}, {highest.period})"
    )
    empty = [name for name, points in shown if not points]
    third = f"{listed(empty)} {'has' if len(empty) == 1 else 'have'} no value to draw" if empty else ""
    return " ".join(sentence(part) for part in (first, second, third) if part)


def few(names: Sequence[str]) -> str:
    """Up to three names: `Germany, Japan and 3 more`."""
    if len(names) <= _NAMED:
        return listed(list(names))
    return f"{', '.join(names[: _NAMED - 1])} and {len(names) - _NAMED + 1} more"


# -- parts of a sentence -----------------------------------------------------------------------------------------------


def _latest(topic: Topic, shown: Sequence[ChartPoint]) -> str:
    """Return what the newest value is, and its change on the one before."""
    newest = shown[-1]
    value = _value(newest)
    kind = _kind(topic)
    told = topic.say(value)
    if kind == "growth":
        start = f"{_subject(topic, kind)} {_grew(topic, value)} {'in' if newest.frequency is Frequency.ANNUAL else 'in the year to'} {newest.period}"
    elif kind == "yield":
        start = f"{_subject(topic, kind)} yielded {told} {_when(newest)}"
    else:
        start = f"{_subject(topic, kind)} stood at {told} {_when(newest)}"
    if len(shown) == 1:
        return sentence(start)
    return sentence(f"{start}, {_compared(topic, value, shown[-2], kind)}")


def _compared(topic: Topic, value: float, before: ChartPoint, kind: str | None) -> str:
    """Return a change by its sign; below half of the last digit shown there is none."""
    moved = exact(value) - exact(_value(before))
    if topic.level(moved) == 0:
        return f"as {_when(before)}" if kind == "growth" else f"unchanged from {before.period}"
    size = topic.unit.difference(moved, topic.digits)
    words = ("more", "less") if kind == "growth" else ("higher", "lower")
    return f"{size} {words[moved < 0]} than {_when(before)}"


def _range(topic: Topic, shown: Sequence[ChartPoint], bounded: bool) -> str:
    if len(shown) < 2:
        return ""
    low, high = _extremes(shown)
    first = shown[0]
    since = date.fromordinal(first.end).year if shown[-1].end - first.end > 730 else first.period
    when = f"from {first.period} to {shown[-1].period}" if bounded else f"since {since}"
    it = "the rate" if _kind(topic) in {"growth", "yield"} or topic.unit.rate else "it"
    if topic.level(_value(low)) == topic.level(_value(high)):
        return sentence(f"{when} {it} has stayed at {topic.say(_value(low))}")
    return sentence(
        f"{when} {it} has ranged from {topic.say(_value(low))} ({low.period}) to {topic.say(_value(high))} ({high.period})"
    )


def _trust(topic: Topic, points: Sequence[ChartPoint]) -> str:
    """Revisions first, then what is not there; one sentence."""
    shown = with_values(points)
    frequency = points[-1].frequency
    clauses = []
    dated = [point for point in shown if point.first is not None]
    revised = [point for point in dated if point.revised]
    if revised:
        average = mean([abs(exact_sum(_value(point), -(point.first or 0.0))) for point in revised])
        by = topic.unit.difference(average, _enough(average, topic), again=True)
        of = f"{len(revised):,} of {counted(len(dated), frequency)}"
        one = f"{of} differs from its first publication, by {by}"
        clauses.append(one if len(revised) == 1 else f"{of} differ from their first publication, by {by} on average")
    withheld = sum(point.state == "withheld" for point in points)
    if withheld:
        clauses.append(f"{counted(withheld, frequency)} {'is' if withheld == 1 else 'are'} withheld")
    gaps = missing(points)
    if gaps:
        clauses.append(f"the line has {gaps:,} {'gap' if gaps == 1 else 'gaps'} where no value is known")
    if topic.ended:
        clauses.append(f"the series ended with {shown[-1].period}")
    elif topic.stale_days is not None:
        clauses.append(f"it is stale: the newest period ended {topic.stale_days:,} days ago")
    return sentence("; ".join(clauses)) if clauses else ""


def _nothing(points: Sequence[ChartPoint]) -> str:
    withheld = sum(point.state == "withheld" for point in points)
    if not withheld:
        return NOTHING
    return f"The values of {counted(withheld, points[-1].frequency)} are withheld; their periods are in the table."


def _kind(topic: Topic) -> str | None:
    measure = MEASURES.get(topic.slug)
    if _YIELD.fullmatch(topic.slug):
        return "yield"
    return "growth" if measure is not None and measure.kind == "growth" else None


def _subject(topic: Topic, kind: str | None) -> str:
    """`Real GDP of the United States`, `10-year government bonds of Japan`; others by the indicator's name."""
    of = f" of {topic.place}" if topic.place else ""
    match = _YIELD.fullmatch(topic.slug)
    if kind == "yield" and match is not None:
        return f"{match['count']}-{SPANS[match['unit']][0]} {_BONDS[match['kind']]}{of}"
    measure = MEASURES.get(topic.slug)
    if measure is not None and (kind == "growth" or measure.kind == "level") and "'" not in measure.subject:
        return f"{measure.subject}{of}"
    return f"{topic.name}{of}"


def _grew(topic: Topic, value: float) -> str:
    """`grew 2.1%`, `fell 0.3%`, `was unchanged`: what is a whole grows, prices and the like rise."""
    measure, level = MEASURES[topic.slug], topic.level(value)
    if level == 0:
        return f"{'were' if measure.plural else 'was'} unchanged"
    up = "grew" if measure.subject in WHOLE else "rose"
    return f"{up if level > 0 else 'fell'} {topic.say(abs(exact(value)))}"


def _when(point: ChartPoint) -> str:
    on = point.frequency in {Frequency.DAILY, Frequency.WEEKLY} or point.start is None
    return f"{'on' if on else 'in'} {point.period}"


def _enough(average: float, topic: Topic) -> int:
    """Decimals of an average: the column's, and as many more as it takes not to say zero."""
    digits = topic.digits
    while rounded(average, digits + (2 if topic.unit.fraction else 0)) == 0 and digits < topic.digits + 4:
        digits += 1
    return digits


def _extremes(shown: Iterable[ChartPoint]) -> tuple[ChartPoint, ChartPoint]:
    """Return the lowest and the highest, the earliest of equal ones."""
    shown = list(shown)
    values = [_value(point) for point in shown]
    return shown[values.index(min(values))], shown[values.index(max(values))]


def _value(point: ChartPoint) -> float:
    if point.value is None:
        raise ValueError(f"the value of {point.period} may not be told: it is {point.state}")
    return point.value


#: From so many values on their middle half is told; so many names are told of those who share one.
_QUARTERED, _NAMED_PLACES = 8, 3


class CurveStep(NamedTuple):
    """A point of a yield curve; `value` percent a year, None: absent."""

    tenor: str
    value: float | None
    day: date | None = None


def curve_caption(
    place: str, steps: Sequence[CurveStep], before: Sequence[CurveStep] = (), *, day: str, notes: Sequence[str] = ()
) -> str:
    """
    Return the caption of a yield curve. `before`: the curve a year earlier; `day`: of the newest yield, written; `notes`: parts
    of a sentence on peers that are stale or withheld.
    """
    there = [(step.tenor, step.value) for step in steps if step.value is not None]
    if not there:
        return sentence(f"no yield of {country(place)} is shown")
    unit = UnitWords("Percent", sign="%", rate=True)
    (low_tenor, low), (high_tenor, high) = min(there, key=lambda pair: pair[1]), max(there, key=lambda pair: pair[1])
    if len(there) == 1:
        first = f"government bonds of {country(place)} yielded {unit.sentence(low, 2)} at {_tenor(low_tenor)} on {day}"
    else:
        first = (
            f"government bonds of {country(place)} yielded from {unit.sentence(low, 2)} at {_tenor(low_tenor)} "
            f"to {unit.sentence(high, 2)} at {_tenor(high_tenor)} on {day}"
        )
    was = {step.tenor: step.value for step in before}
    moves = [
        (tenor, exact_sum(float(value), -float(old))) for tenor, value in there if (old := was.get(tenor)) is not None
    ]
    second = f"A year earlier they were {listed([_moved(tenor, move, unit) for tenor, move in moves])}" if moves else ""
    absent = [_tenor(step.tenor) for step in steps if step.value is None]
    third = "; ".join([*([f"no yield is shown at {listed(absent)}"] if absent else []), *notes])
    return " ".join(sentence(part) for part in (first, second, third) if part)


def columns_caption(
    what: tuple[str, str],
    columns: Sequence[tuple[str, Sequence[int]]],
    parts: Sequence[str],
    *,
    so_far: bool = False,
) -> str:
    """
    Return the caption of stacked counts: `what` is counted (one, many), each column has its period and a count for each of `parts`.

    Latest is the last column, `so_far` where it is not over; the range is the busiest and the total; trust the shares of
    all parts but the first (the one that is as it should be).
    """
    totals = [(name, sum(counts)) for name, counts in columns]
    total = sum(count for _, count in totals)
    if not total:
        return sentence(f"there are no {what[1]} yet" if not columns else f"no {what[1]} from {_ends(columns)}")
    last, last_count = totals[-1]
    busiest, most = max(totals, key=lambda pair: pair[1])
    first = f"{_count(last_count, what)} {'so far ' if so_far else ''}on {last}"
    second = f"{_count(total, what)} in all from {_ends(columns)}, the most on {busiest}: {most:,}"
    if len(columns) == 1:
        second = ""
    sums = [sum(counts[index] for _, counts in columns) for index in range(len(parts))]
    shares: list[str] = []
    for name, part in zip(parts[1:], sums[1:], strict=True):
        share = exact(100 * part) / exact(total)
        told = "none" if not part else "less than 0.1%" if share < exact(0.1) else f"{rounded(share, 1)}%"
        shares.append(f"{told} {'' if shares else 'were '}{name}")
    third = listed(shares)
    return " ".join(sentence(part) for part in (first, second, third) if part)


def dots_caption(name: str, rows: Sequence[tuple[str, float | None]], unit: UnitWords, digits: int) -> str:
    """Return the caption of a dot plot: `name` of each row, highest and lowest, how many are inverted (below zero), and what is missing."""
    there = [(row, value) for row, value in rows if value is not None]
    absent = [row for row, value in rows if value is None]
    if not there:
        return NOTHING
    (low_row, low), (high_row, high) = min(there, key=lambda pair: pair[1]), max(there, key=lambda pair: pair[1])
    first = f"{name} is {unit.sentence(high, digits)} in {high_row}"
    if len(there) > 1:
        first = (
            f"{name} is highest in {high_row}, at {unit.sentence(high, digits)}, "
            f"and lowest in {low_row}, at {unit.sentence(low, digits)}"
        )
    below = sum(value < 0 for _, value in there)
    second = (
        ("None is inverted" if not below else f"{below} of {len(there)} {'is' if below == 1 else 'are'} inverted")
        if len(there) > 1
        else ""
    )
    third = f"{listed(absent)} {'has' if len(absent) == 1 else 'have'} no data" if absent else ""
    return " ".join(sentence(part) for part in (first, second, third) if part)


def across_caption(rows: Sequence[tuple[str, float]], unit: UnitWords, digits: int) -> str:
    """Return the caption of an indicator over all entities: `name` of each as texts have it; highest, lowest, and the middle half."""
    if not rows:
        return NOTHING
    if len(rows) == 1:
        return sentence(f"{unit.sentence(rows[0][1], digits)} in {rows[0][0]}, the only one that can be ranked")
    values = sorted(value for _, value in rows)
    low, high = values[0], values[-1]
    first = f"Highest in {_holders(rows, high)}, at {unit.sentence(high, digits)}; lowest in {_holders(rows, low)}, at {unit.sentence(low, digits)}"
    second = ""
    if len(values) >= _QUARTERED:
        lower, _, upper = quantiles(values, n=4, method="inclusive")
        second = f"The middle half of {len(values)} lies between {unit.sentence(lower, digits)} and {unit.sentence(upper, digits)}"
    return " ".join(sentence(part) for part in (first, second) if part)


# -- words --------------------------------------------------------------------------------------------------------------


def _tenor(tenor: str) -> str:
    """`10y` as `10 years`."""
    count, words = tenor[:-1], SPANS.get(tenor[-1:])
    return tenor if words is None or not count.isdigit() else f"{count} {words[count != '1']}"


def _moved(tenor: str, move: float, unit: UnitWords) -> str:
    if rounded(move, 4) == 0:
        return f"the same at {_tenor(tenor)}"
    return f"{unit.difference(move, 0)} {'lower' if move > 0 else 'higher'} at {_tenor(tenor)}"


def _count(count: int, what: tuple[str, str]) -> str:
    return f"{count:,} {what[count != 1]}" if count else f"no {what[1]}"


def _ends(columns: Sequence[tuple[str, Sequence[int]]]) -> str:
    return f"{columns[0][0]} to {columns[-1][0]}"


def _holders(rows: Sequence[tuple[str, float]], value: float) -> str:
    """Return the names of those that have a value; if there are more than three, their number."""
    names = [name for name, one in rows if one == value]
    return listed(names) if len(names) <= _NAMED_PLACES else f"{len(names)} of {len(rows)}"
