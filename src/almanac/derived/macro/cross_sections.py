"""
Formulas that compare the members of a group of entities for the same period.

All results of a period are computed together. At every instant at which a value of the group changed, the values known
then are compared again, and an entity gets a new vintage if its own result differs from the one before. So derive(as_of
T) = (derive)(as_of T) holds here too. The cost of an arrival is bounded by the size of the group and the affected
periods.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

import msgspec

from almanac.derived.macro.input_series import InputSeries, as_known, result, withdrawal
from almanac.derived.macro.operators import FormulaError
from almanac.domain.numbers import mean_difference, significant
from almanac.domain.observations import AHEAD, State, Vintage, number, settle
from almanac.domain.periods import Frequency, key_at

#: Factor that turns a median absolute deviation into the standard deviation of a normal distribution.
_NORMAL = 1.4826


@dataclass(frozen=True, slots=True)
class PeerComparison:
    """
    A comparison within a group.

    `others` is how many other entities must have a value. With `years`, each also needs a value for the same period
    that many years before. Results are rounded to `decimals`, or not at all if it is None. `compare` takes the values
    of the group and returns a function from a place in it to that entity's result, or None if it has none.
    """

    others: int
    compare: Callable[[Sequence[float]], Callable[[int], float | None]]
    years: int = 0
    decimals: int | None = None

    def base(self, output: int) -> int:
        """
        Return the ordinal of the same period `years` before. Monthly and lower frequencies only, because it counts in
        months.
        """
        return output - 12 * self.years

    def fits(self, frequency: Frequency) -> bool:
        """Return whether periods of this frequency can be looked up years before."""
        return not self.years or frequency.months > 0


class PeerNote(msgspec.Struct, frozen=True, rename="camel"):
    """The row-level metadata of a result: the number of other entities it was compared with."""

    peer_count: int


class Scored(NamedTuple):
    """One vintage of a result, with each entity in the comparison as (entity, index of the series among its candidates)."""

    vintage: Vintage
    used: tuple[tuple[str, int], ...]


def _zscores(values: Sequence[float]) -> Callable[[int], float | None]:
    centre = median(values)
    spread = _NORMAL * median(abs(value - centre) for value in values)
    return lambda place: (values[place] - centre) / spread if spread else None


def _spreads(values: Sequence[float]) -> Callable[[int], float | None]:
    def spread(place: int) -> float | None:
        others = [value for index, value in enumerate(values) if index != place]
        return significant(mean_difference([values[place]], others))

    return spread


def _peer_zscore(params: Mapping[str, Any]) -> PeerComparison:
    """(x − median)/(1.4826·MAD) over a group of entities with a value for the same period, rounded; MAD the median absolute deviation."""
    return PeerComparison(
        int(params["minimum"]) - 1, _zscores, int(params.get("years", 0)), int(params.get("decimals", 2))
    )


def _peer_spread(params: Mapping[str, Any]) -> PeerComparison:
    """X − the mean of the others of a group with a value for the same period, at least `minimum` of them."""
    return PeerComparison(int(params["minimum"]), _spreads)


PEER_COMPARISONS: dict[str, Callable[[Mapping[str, Any]], PeerComparison]] = {
    "peer_zscore": _peer_zscore,
    "peer_spread": _peer_spread,
}


def peer_comparison(name: str, params: Mapping[str, Any]) -> PeerComparison:
    """Return the comparison that a formula names. Raises FormulaError if a parameter is missing."""
    try:
        return PEER_COMPARISONS[name](params)
    except KeyError as missing:
        raise FormulaError(f"operator {name!r} needs the parameter {missing}") from None


class _Contribution(NamedTuple):
    """
    An entity's contribution at a moment: its value or None, the index of its candidate, the vintages used and all
    vintages looked at.
    """

    value: float | None
    choice: int
    used: tuple[Vintage, ...]
    looked: tuple[Vintage, ...]


#: For each candidate the histories of the cell itself and of the one years before (the same list if none is needed).
_Cells = Sequence[tuple[Sequence[Vintage], Sequence[Vintage]]]


def compare(
    comparison: PeerComparison, frequency: Frequency, group: Mapping[str, Sequence[InputSeries]], outputs: Iterable[int],
    allowance_days: int,
) -> dict[str, dict[int, list[Scored]]]:  # fmt: skip
    """
    Return the vintages of each entity for these output ordinals, by entity and period key. Entities without a result
    are left out.

    `group` maps an entity to its candidate series in order of preference. Sums are taken in the order of the entities.
    """
    results: dict[str, dict[int, list[Scored]]] = defaultdict(dict)
    for output in outputs:
        key = key_at(output, frequency)
        for entity, made in _period(comparison, group, output).items():
            used = {scored.vintage.known: scored.used for scored in made}
            served = settle((scored.vintage for scored in made), key, allowance_days)
            results[entity][key] = [Scored(vintage, used[vintage.known]) for vintage in served]
    return results


def result_of(
    comparison: PeerComparison, group: Mapping[str, Sequence[InputSeries]], output: int, entity: str, moment: int
) -> tuple[Vintage | None, dict[str, tuple[int, tuple[Vintage, ...]]]]:
    """
    Return one entity's result as known at a moment, and for each entity compared its candidate's index and the vintages
    used. The result is None if there is none.
    """
    entries = {name: _entry(comparison, _cells(comparison, several, output), moment) for name, several in group.items()}
    present = [name for name, entry in entries.items() if entry.value is not None]
    scores = _scores(comparison, entries, present)
    value = scores(present.index(entity)) if scores and entity in present else None
    if value is None:
        return None, {}
    return _vintage(comparison, entries, present, moment, value), {
        name: (entries[name].choice, entries[name].used) for name in present
    }


def _period(
    comparison: PeerComparison, group: Mapping[str, Sequence[InputSeries]], output: int
) -> dict[str, list[Scored]]:
    """Compute all vintages of one period's results, for all entities at once."""
    cells = {name: found for name, several in group.items() if (found := _cells(comparison, several, output))}
    moments: dict[int, set[str]] = defaultdict(set)
    for name, found in cells.items():
        for pair in found:
            for history in pair:
                for vintage in history:
                    moments[vintage.known].add(name)
    entries = dict.fromkeys(cells, _Contribution(None, 0, (), ()))
    states: dict[str, State] = {}
    made: dict[str, list[Scored]] = defaultdict(list)
    for moment in sorted(moments):
        for name in moments[moment]:
            entries[name] = _entry(comparison, cells[name], moment)
        present = [name for name, entry in entries.items() if entry.value is not None]
        scores = _scores(comparison, entries, present)
        places = {name: place for place, name in enumerate(present)} if scores else {}
        if not places and not states:
            continue
        gone = _nothing(entries, moment)
        flags = _vintage(comparison, entries, present, moment, 0.0) if places else gone
        used = tuple((name, entries[name].choice) for name in present) if places else ()
        for name in entries:
            value = scores(places[name]) if scores and name in places else None
            vintage = gone if value is None else flags._replace(value=number(value))
            if vintage.state == states.get(name) or (vintage.withdrawn and name not in states):
                continue
            states[name] = vintage.state
            made[name].append(Scored(vintage, made[name][-1].used if vintage.withdrawn else used))
    return made


def _cells(comparison: PeerComparison, several: Sequence[InputSeries], output: int) -> _Cells:
    base = comparison.base(output)
    return [(series.cells.get(output, ()), series.cells.get(base, ())) for series in several]


def _entry(comparison: PeerComparison, cells: _Cells, moment: int) -> _Contribution:
    """
    Return the first candidate that has a value for the period, forecasts and projections excluded, and if the
    comparison needs it, one for the period years before.
    """
    looked: list[Vintage] = []
    for choice, (own, before) in enumerate(cells):
        found = [
            known for history in ((own, before) if comparison.years else (own,)) if (known := as_known(history, moment))
        ]
        looked += found
        if len(found) == (2 if comparison.years else 1) and not found[0].flags & AHEAD:
            values = [one.value for one in found]
            if None not in values:
                return _Contribution(values[0], choice, tuple(found), tuple(looked))
    return _Contribution(None, 0, (), tuple(looked))


def _scores(
    comparison: PeerComparison, entries: Mapping[str, _Contribution], present: Sequence[str]
) -> Callable[[int], float | None] | None:
    """Return a function from a place among those present to its result, or None if too few entities have a value."""
    if len(present) <= comparison.others:
        return None
    score = comparison.compare([value for name in present if (value := entries[name].value) is not None])

    def rounded(place: int) -> float | None:
        value = score(place)
        if value is None or not math.isfinite(value):
            return None
        return value + 0.0 if comparison.decimals is None else round(value, comparison.decimals) + 0.0

    return rounded


def _vintage(
    comparison: PeerComparison, entries: Mapping[str, _Contribution], present: Sequence[str], moment: int, value: float
) -> Vintage:
    """Build the result of this moment, with the flags and times that follow from its inputs."""
    used = [vintage for name in present for vintage in entries[name].used]
    looked = (v for entry in entries.values() for v in entry.looked)
    note = msgspec.json.encode(PeerNote(len(present) - 1)).decode()
    return result(moment, value, None, used, looked, note)


def _nothing(entries: Mapping[str, _Contribution], moment: int) -> Vintage:
    """
    Build a withdrawal for the moment from which the comparison is impossible: the entity's own value or too many others
    are gone.
    """
    looked = [vintage for entry in entries.values() for vintage in entry.looked]
    return withdrawal(moment, looked)
