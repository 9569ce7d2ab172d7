"""
Briefs of countries: headline, six sections of text and readings, all by rule from the readings given.

Nothing is looked up here and nothing chosen by chance: the same readings give the same words.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from almanac.domain.periods import Frequency
from almanac.reports.brief_measures import Key, SectionSpec
from almanac.reports.brief_sentences import (
    change_clause,
    comparison,
    count_clause,
    growth_clause,
    reading_sentence,
    stale_sentence,
)
from almanac.reports.measure_readings import MeasureReading, Ranking
from almanac.reports.wording import amount, country, figure, listed, sentence


class BriefSubject(NamedTuple):
    """Who a brief is about. `shares`: it uses the euro and has no central bank of its own."""

    name: str
    shares: bool


class SectionReadings(NamedTuple):
    """What there is of a section.

    `readings`: public ones, in the order of the measures. `withheld`: there are readings that may not be shown.
    `beyond`: there are readings, but all are older than the plan reaches.
    """

    readings: Sequence[MeasureReading]
    withheld: bool = False
    beyond: bool = False


def ranking(value: float, among: Sequence[float]) -> Ranking | None:
    """Place of a value among all, its own included, which come in ascending order; 1 is the highest. None where it is alone."""
    if len(among) < 2:
        return None
    above = len(among) - bisect_right(among, value)
    return Ranking(above + 1, len(among), len(among) - bisect_left(among, value) - above > 1)


def section_text(
    section: SectionSpec, place: BriefSubject, found: SectionReadings, curves: Mapping[str, Sequence[str]] | None = None
) -> str:
    """
    The text of a section.

    `curves`: for a yield, by its slug, the kinds of curve that it was ranked among, its own first.
    """
    parts: list[str] = []
    who = country(place.name)
    if section.key == "rates" and place.shares:
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
    """What is said behind the sentence of a reading: where it stands, and what to mind about that."""
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
    # No source is promised: whether one would have it nobody knows before it was asked.
    return sentence(f"there is nothing on {section.topic} for {who}")


def headline(place: BriefSubject, sections: Mapping[Key, Sequence[MeasureReading]]) -> str:
    """
    One sentence on growth, inflation and work; what is stale or absent is left out of it.

    Jobs that came or went are in it where they are far more than usual.
    """
    who = country(place.name)
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
    """What something does, as `growth`, `is`, `slowing`; and which way that is."""

    subject: str
    verb: str
    doing: str
    way: int


def _joined(trends: Sequence[_Trend]) -> str:
    """`growth is slowing while inflation is easing`; where they do the same, `growth and inflation are holding steady`."""
    words = [f"{one.subject} {one.verb} {one.doing}" for one in trends]
    if len(trends) == 1:
        return words[0]
    one, two = trends
    if one.doing == two.doing:
        return f"{one.subject} and {two.subject} are {one.doing}"
    return f"{words[0]} {'and' if one.way == two.way else 'while'} {words[1]}"


def _trend(one: MeasureReading) -> _Trend | None:
    """What growth or inflation is doing; None where there is nothing to compare with."""
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
    """The figures behind a headline, in one breath."""
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
    """The rate; where it went far more than usual, from where."""
    rate = amount(jobs.value, jobs.digits, jobs.measure.unit)
    if not jobs.big or not jobs.moved:
        return f"unemployment was {rate} {when}"
    went = "jumped" if jobs.move > 0 else "dropped"
    return f"unemployment {went} from {figure(jobs.was, jobs.digits)}% to {rate} {when}"


def _small(text: str) -> str:
    return text[0].lower() + text[1:]
