"""
Whether a count of shares outstanding can be one: filers leave placeholders (1, 100, 1,000 shares of a shell to be), and slip by thousands.

What tells are the average shares of the periods that end with it, the shares that earnings per share imply, and the counts
before and after. A count 50 times off all that the same report says is none; one that is off by a power of ten is none
where its neighbours say so too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from almanac.derived.companies.facts import KnownFacts
from almanac.derived.companies.precision import spelled

#: Tags that tell of the number of shares of a period.
AVERAGES = (
    "us-gaap:WeightedAverageNumberOfSharesOutstandingBasic",
    "us-gaap:WeightedAverageNumberOfDilutedSharesOutstanding",
    "us-gaap:WeightedAverageNumberOfShareOutstandingBasicAndDiluted",
    "us-gaap:WeightedAverageLimitedPartnershipUnitsOutstanding",
    "ifrs-full:WeightedAverageShares",
    "ifrs-full:AdjustedWeightedAverageShares",
)
PER_SHARE = ("us-gaap:EarningsPerShareBasic", "us-gaap:EarningsPerShareDiluted", "ifrs-full:BasicEarningsLossPerShare")
INCOMES = ("us-gaap:NetIncomeLoss", "us-gaap:ProfitLoss", "ifrs-full:ProfitLossAttributableToOwnersOfParent")
#: Days before and after a count within which another one is its neighbour.
NEIGHBOUR_DAYS = 200
#: Days before the end of a period within which the averages of another one are those before.
AVERAGES_DAYS = 400
#: Times by which a count differs from all that tells of it and is none; less than the least differs by nothing.
_NONE, _LEAST = 50.0, 7.0
#: Earnings per share below this are too coarse to tell how many shares there are.
COARSE = 0.05


def doubt(known_facts: KnownFacts, tag: str, day: int, end: int, count: float) -> str | None:
    """Why a count of a tag, dated `day`, is not that of the period that ends on `end`; None where it may be."""
    if count <= 0:
        return f"{spelled(count)} shares"
    implied = [*_of_the_period(known_facts, end)]
    beside = [*_neighbours(known_facts, tag, day)]
    agrees = any(_times(count, other) < _LEAST for other in implied)
    if agrees or not (implied or beside):
        return None
    off = [_times(count, other) for other in implied]
    if all(map(_is_slip, off)) and any(_times(count, other) < _LEAST for other in _averages_before(known_facts, end)):
        return None  # it is the averages that slipped since
    if off and min(off) >= _NONE:
        of_one_size = max(implied) < _LEAST * min(implied)
        if of_one_size or not any(_times(count, other) < 2 for other in beside):
            return f"{spelled(count)} shares, the average is {spelled(implied[0])}"
    slipped = beside and all(_is_slip(_times(count, other)) for other in beside)
    if slipped and (off or len(beside) > 1):
        return f"{spelled(count)} shares, a slip by powers of ten beside the counts before and after"
    return None


def _of_the_period(known_facts: KnownFacts, end: int) -> Iterator[float]:
    for tag in AVERAGES:
        for fact in known_facts.tags.get(tag, {}).get(end, {}).values():
            if fact.latest.value > 0:
                yield fact.latest.value
    for tag in PER_SHARE:
        for start, fact in known_facts.tags.get(tag, {}).get(end, {}).items():
            if abs(fact.latest.value) >= COARSE:
                incomes = (known_facts.fact(income, start, end) for income in INCOMES)
                income = next((fact for fact in incomes if fact is not None), None)
                if income is not None and income.latest.value * fact.latest.value > 0:
                    yield income.latest.value / fact.latest.value


def _averages_before(known_facts: KnownFacts, end: int) -> Iterator[float]:
    """Averages of the period before, as they were given first."""
    for tag in AVERAGES:
        days = known_facts.tags.get(tag, {})
        last = max((day for day in days if end - AVERAGES_DAYS <= day < end), default=None)
        if last is not None:
            yield from (fact.states[0].value for fact in days[last].values() if fact.states[0].value > 0)


def _neighbours(known_facts: KnownFacts, tag: str, day: int) -> Iterator[float]:
    """Return the counts of that tag next before and next after a day."""
    days = known_facts.tags.get(tag, {})
    near = [other for other in days if other != day and abs(other - day) <= NEIGHBOUR_DAYS and None in days[other]]
    for other in (
        max((other_day for other_day in near if other_day < day), default=None),
        min((other_day for other_day in near if other_day > day), default=None),
    ):
        if other is not None and days[other][None].latest.value > 0:
            yield days[other][None].latest.value


def _times(one: float, other: float) -> float:
    return max(one / other, other / one)


def _is_slip(times: float) -> bool:
    """Return whether a ratio is near ten, a hundred, a thousand or a further power of ten."""
    power = math.log10(times)
    return power > 0.8 and abs(power - round(power)) < 0.1
