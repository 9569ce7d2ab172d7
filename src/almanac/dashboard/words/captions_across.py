"""Captions by rule of charts that are no lines over time: yield curves, stacked counts, dot plots. Three sentences at most."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from statistics import quantiles
from typing import NamedTuple

from almanac.dashboard.words.captions import NOTHING, SPANS
from almanac.dashboard.words.units import UnitWords
from almanac.domain.numbers import exact, exact_sum, rounded
from almanac.reports.wording import country, listed, sentence

#: From so many values on their middle half is told; so many names are told of those who share one.
_QUARTERED, _NAMED = 8, 3


class CurveStep(NamedTuple):
    """A point of a yield curve; `value` percent a year, None: absent."""

    tenor: str
    value: float | None
    day: date | None = None


def curve_caption(
    place: str, steps: Sequence[CurveStep], before: Sequence[CurveStep] = (), *, day: str, notes: Sequence[str] = ()
) -> str:
    """
    The caption of a yield curve. `before`: the curve a year earlier; `day`: of the newest yield, written; `notes`: parts
    of a sentence on peers that are stale or withheld.
    """
    there = [(step.tenor, step.value) for step in steps if step.value is not None]
    if not there:
        return sentence(f"no yield of {country(place)} is shown")
    unit = UnitWords("Percent", sign="%", rate=True)
    (low_tenor, low), (high_tenor, high) = min(there, key=_second), max(there, key=_second)
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
    The caption of stacked counts: `what` is counted (one, many), each column has its period and a count for each of `parts`.

    Latest is the last column, `so_far` where it is not over; the range is the busiest and the total; trust the shares of
    all parts but the first (the one that is as it should be).
    """
    totals = [(name, sum(counts)) for name, counts in columns]
    total = sum(count for _, count in totals)
    if not total:
        return sentence(f"there are no {what[1]} yet" if not columns else f"no {what[1]} from {_ends(columns)}")
    last, last_count = totals[-1]
    busiest, most = max(totals, key=_second)
    first = f"{_count(last_count, what)} {'so far ' if so_far else ''}on {last}"
    second = f"{_count(total, what)} in all from {_ends(columns)}, the most on {busiest}: {most:,}"
    if len(columns) == 1:
        second = ""
    sums = [sum(counts[index] for _, counts in columns) for index in range(len(parts))]
    shares = [
        f"{_share(part, total)} {'were ' if index == 0 else ''}{name}"
        for index, (name, part) in enumerate(zip(parts[1:], sums[1:], strict=True))
    ]
    third = listed(shares)
    return " ".join(sentence(part) for part in (first, second, third) if part)


def dots_caption(name: str, rows: Sequence[tuple[str, float | None]], unit: UnitWords, digits: int) -> str:
    """The caption of a dot plot: `name` of each row, highest and lowest, how many are inverted (below zero), and what is missing."""
    there = [(row, value) for row, value in rows if value is not None]
    absent = [row for row, value in rows if value is None]
    if not there:
        return NOTHING
    (low_row, low), (high_row, high) = min(there, key=_second), max(there, key=_second)
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
    """The caption of an indicator over all entities: `name` of each as texts have it; highest, lowest, and the middle half."""
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


def _share(part: int, total: int) -> str:
    share = exact(100 * part) / exact(total)
    return "none" if not part else "less than 0.1%" if share < exact(0.1) else f"{rounded(share, 1)}%"


def _holders(rows: Sequence[tuple[str, float]], value: float) -> str:
    """Who has a value; of more than three, how many."""
    names = [name for name, one in rows if one == value]
    return listed(names) if len(names) <= _NAMED else f"{len(names)} of {len(rows)}"


def _second(pair: tuple[str, float]) -> float:
    return pair[1]
