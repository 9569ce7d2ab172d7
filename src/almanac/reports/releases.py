"""
Release summaries: a publication's numbers beside those before and the ten years behind them. Pure.

All numbers are those known at one moment. `figures` computes the numbers of one reading, `headline` the sentence.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from almanac.domain.numbers import difference
from almanac.domain.periods import Frequency, Period
from almanac.reports.briefs import reading_sentence
from almanac.reports.decade import DecadePlace
from almanac.reports.measures import MEASURES, MeasureReading, MeasureSpec
from almanac.reports.wording import span

#: Words for units that a headline's measure doesn't assume. Other units have none.
_WORDS = {
    "percent": "%",
    "percentage_points": "percentage points",
    "points": "points",
    "thousands": "thousand",
    "usd": "US dollars",
    "usd_millions": "million US dollars",
    "usd_billions": "billion US dollars",
    "local_currency_millions": "million in its own currency",
    "local_currency_billions": "billion in its own currency",
}


class Point(NamedTuple):
    """One vintage of one cell. `value` None means withdrawn. `known` is in unix seconds."""

    period: int
    known: int
    value: float | None


class ReleaseFigures(NamedTuple):
    """The numbers of one reading, in the unit of its series. `percentile` is 0 to 100, `usual` the size of its usual move."""

    actual: float | None = None
    previous: float | None = None
    revised_previous: float | None = None
    change: float | None = None
    z_score: float | None = None
    percentile: float | None = None
    usual: float | None = None


_NOWHERE = DecadePlace()


class HeadlineParts(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs of a release's headline sentence."""

    place: str
    slug: str
    name: str
    unit: str | None
    frequency: Frequency
    period: int
    before: int | None
    withheld: bool
    figures: ReleaseFigures


def figures(
    points: Iterable[Point | tuple[int, int, float | None]],
    period: int,
    before: int | None,
    first: int,
    at: int,
    *,
    vintages: bool,
    standing: DecadePlace = _NOWHERE,
    usual: float | None = None,
    computed: bool = False,
) -> ReleaseFigures:
    """
    Compute the numbers of a period's reading as known at `at`. `first` is when the release made it known.

    `points` are vintages of the series, in any order. `before` is the period before, or None if it must not be shown.
    `previous` is its value as known just before the release; `revised_previous` is its value known at `at` if that
    differs and the source keeps `vintages`. `change` is against the newer of the two. `computed` says that the numbers
    were computed (see `domain.numbers.difference`).
    """
    earlier: tuple[int, float | None] | None = None
    known: dict[int, tuple[int, float | None]] = {}
    for of, when, value in points:
        if when <= at and (of not in known or when > known[of][0]):
            known[of] = (when, value)
        if of == before and when < first and (earlier is None or when > earlier[0]):
            earlier = (when, value)
    actual = known[period][1] if period in known else None
    now = known[before][1] if before is not None and before in known else None
    was = None if earlier is None else earlier[1]
    previous = now if was is None or not vintages else was
    revised = now if vintages and was is not None and now is not None and now != was else None
    base = previous if revised is None else revised
    change = difference(actual, base, computed=computed) if actual is not None and base is not None else None
    return ReleaseFigures(actual, previous, revised, change, *standing, usual)


def headline(one: HeadlineParts) -> str:
    """
    Return one sentence on a release, the same that a brief would say about its reading.

    The comparison uses the newer of the two values of the period before.
    """
    measure = MEASURES.get(one.slug) or MeasureSpec(one.slug, "level", one.name, digits=2, unit="")
    when = span(Period.from_key(one.period), one.frequency)
    figures_ = one.figures
    if one.withheld or figures_.actual is None:
        what = f"{measure.subject[0].upper()}{measure.subject[1:]} for {when}"
        be, its, have = ("were", "their", "have") if measure.plural else ("was", "its", "has")
        if one.withheld:
            return f"{one.place}: {what} {be} published; {its} value may not be redistributed."
        return f"{one.place}: {what} {have} no value."
    revised = figures_.revised_previous is not None
    before = figures_.revised_previous if revised else figures_.previous
    reading = MeasureReading(
        measure, figures_.actual, one.unit, one.period, one.frequency, "fresh",
        None if one.before is None else before, one.before, usual=figures_.usual, revised=revised,
    )  # fmt: skip
    if not reading.fits:
        kind = measure.kind if measure.kind == "balance" else "level"
        reading = reading._replace(measure=measure._replace(kind=kind, digits=1, unit=_WORDS.get(one.unit or "", "")))
    return f"{one.place}: {reading_sentence(reading)}"
